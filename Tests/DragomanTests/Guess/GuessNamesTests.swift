import Testing

@testable import Dragoman

/// Names that are made of those of files and lists.
@Suite("Names of a guess") struct GuessNamesTests {
  @Test(
    "A plural has its singular",
    arguments: [
      ("orders", "order"), ("cities", "city"), ("heroes", "hero"), ("curies", "curie"),
      ("gps", "gps"), ("shoes", "shoe"), ("addresses", "address"),
    ]
  )
  func singulars(plural: String, singular: String) {
    #expect(NameWords(plural).singular.words == [singular])
  }

  @Test(
    "An entity is not named after the date of its file",
    arguments: [
      ("orders-2024-01-31.json", "Order"), ("20240131_export_v2.json", "ExportV2"),
      ("orders20240131.json", "Order"), ("sales-2024.json", "Sale"),
      ("iso_3166-1.json", "Iso31661"), ("2024-01-31.json", "Record"),
    ]
  )
  func dates(file: String, name: String) throws {
    let guess = try MapGuess(of: [.bytes(Array(#"[{"id":1},{"id":2}]"#.utf8), name: file)])
    #expect(guess.map.entities.map(\.name) == [name])
  }
}
