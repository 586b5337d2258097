import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// What identifies records, by what an import makes of their values, and over several deliveries.
@Suite struct GuessKeysTests {
  private static func input(_ text: String, _ name: String) -> ImportInput {
    .bytes(Array(text.utf8), name: name)
  }

  /// Imports the samples by their own map, twice: every record is one of its own, and the same again.
  private func counts(
    _ inputs: [ImportInput]
  ) async throws -> (map: ImportMap, inserted: Int, rejected: Int, unchanged: Int) {
    let map = try MapGuess(of: inputs).map
    let store = try SQLiteStore(at: .inMemory)
    let first = try await Importer(map: map, store: store).run(ImportRequest(inputs))
    let again = try await Importer(map: map, store: store).run(ImportRequest(inputs))
    return (map, first.counts.inserted, first.counts.rejected, again.counts.unchanged)
  }

  @Test(
    "What two texts mean alike is no key, so that every record of the sample is imported",
    arguments: [
      (
        "v.json",
        #"[{"version":"1.1","n":"a"},{"version":"1.9","n":"a"},{"version":"1.10","n":"b"}]"#
      ),
      ("v.csv", "version,released\n1.1,2024-01-01\n1.9,2024-01-01\n1.10,2024-01-02\n"),
      ("v.json", #"[{"n":-0},{"n":0},{"n":1}]"#), ("v.csv", "version\n1.50\n1.5\n2.25\n"),
      ("v.csv", "price\n1.50\n1.5\n2.25\n"),
      ("v.csv", "id,n\n1,a\n1.0,a\n2,b\n"), ("v.csv", "id,n\n1,a\n+1,a\n2,b\n"),
      ("v.csv", "id;n\n1.200,50;a\n1200,5;a\n7,25;b\n"),
      ("v.json", #"[{"id":1,"n":"a"},{"id":"1.0","n":"a"},{"id":2,"n":"b"}]"#),
      ("d.csv", "day,n\n1.2.2024,a\n01.02.2024,a\n13.02.2024,b\n"),
      ("d.csv", "day,n\n1/2/2024,a\n01/02/2024,a\n2/13/2024,b\n"),
      (
        "t.json",
        #"[{"at":"2024-02-03T03:04:05+02:00","n":"a"},{"at":"2024-02-03T01:04:05Z","n":"a"},{"at":"2024-02-04T01:04:05Z","n":"b"}]"#
      ),
      (
        "t.json",
        #"[{"at":"2024-02-03T03:04:05.0000001Z","n":"a"},{"at":"2024-02-03T03:04:05.0000002Z","n":"a"}]"#
      ),
      (
        "t.json",
        #"[{"at":"2024-02-03","n":"a"},{"at":"2024-02-03T00:00:00Z","n":"a"},{"at":"2024-02-04T01:04:05Z","n":"b"}]"#
      ),
      (
        "t.json",
        #"[{"n":"a","at":"2024-02-03T03:04:05+02:00"},{"n":"a","at":"2024-02-03T01:04:05Z"},{"n":"b","at":"2024-02-03T01:04:05Z"}]"#
      ),
    ]
  )
  func meanings(name: String, text: String) async throws {
    let found = try await counts([Self.input(text, name)])
    let total =
      text.count { $0 == (name.hasSuffix("json") ? "{" : "\n") } - (name.hasSuffix("csv") ? 1 : 0)
    #expect(found.inserted == total, "\(found)")
    #expect(found.unchanged == total, "\(found)")
  }

  @Test("Children and records that others refer to are told apart by what their values mean")
  func meaningsBelow() async throws {
    let children = #"""
      [{"id":1,"lines":[{"day":"1.2.2024","n":"a"},{"day":"01.02.2024","n":"a"},{"day":"13.02.2024","n":"a"}]}]
      """#
    let map = try await counts([Self.input(children, "c.json")]).map
    #expect(map.entities[1].uniqueKeys == [["c", "place"]])
    let shared = #"""
      [{"id":1,"by":{"id":1,"n":"Ann"}},{"id":2,"by":{"id":"1.0","n":"Bo"}},{"id":3,"by":{"id":1,"n":"Ann"}}]
      """#
    #expect(try await counts([Self.input(shared, "s.json")]).map.entities.map(\.name) == ["S"])
    let referred = #"""
      {"vs":[{"version":"1.1","n":"a"},{"version":"1.10","n":"a"}],"us":[{"id":1,"version":"1.10"},{"id":2,"version":"1.1"}]}
      """#
    let found = try await counts([Self.input(referred, "r.json")])
    #expect(found.inserted == 4)
    #expect(found.map.entities[0].attribute(named: "version")?.type == .string)
  }

  @Test("What two texts mean alike is no key either where one stands behind all rows that are kept")
  func meaningsFarBehind() throws {
    let count = 77_000
    func days(_ last: String) -> String {
      let days = (0..<count).map { "\($0 % 28 + 1).\($0 / 28 % 12 + 1).\(1800 + $0 / 336)" }
      return (["day"] + days + [last]).joined(separator: "\n") + "\n"
    }
    for (last, key) in [("31.12.1900", ["day"]), ("01.02.1900", ["file", "place"])] {
      let map = try MapGuess(of: [Self.input(days(last), "d.csv")]).map
      #expect(map.entities[0].attribute(named: "day")?.type == .date)
      #expect(map.entities[0].uniqueKeys == [key])
    }
    func makers(_ last: String) -> String {
      let records = (1...count).map { #"{"id":\#($0),"by":{"id":"\#($0 % 3)","n":"a"}}"# }
      return
        "[\(records.joined(separator: ",")),{\"id\":0,\"by\":{\"id\":\"\(last)\",\"n\":\"a\"}}]"
    }
    // Objects that two ids name for an import are nobody's own.
    for (last, names) in [("3", ["S", "By"]), ("1.0", ["S"])] {
      let map = try MapGuess(of: [Self.input(makers(last), "s.json")]).map
      #expect(map.entities.map(\.name) == names)
    }
  }

  @Test("Values that are spelled alike stay keys, however they are read")
  func sameSpelling() throws {
    for text in [
      "id,n\n01.02.2024,a\n02.02.2024,a\n13.02.2024,a\n",
      "id,n\n2024-01-01T00:00:00+02:00,a\n2024-01-02T00:00:00+02:00,a\n",
    ] {
      #expect(try MapGuess(of: [Self.input(text, "k.csv")]).map.entities[0].uniqueKeys == [["id"]])
    }
  }

  @Test("An id that another delivery has again is the key; what only differs between them is not")
  func deliveries() async throws {
    let monday = #"[{"id":1,"name":"Ann","city":"Oslo"},{"id":2,"name":"Bo","city":"Rome"}]"#
    let tuesday = #"[{"id":3,"name":"Cy","city":"Oslo"},{"id":1,"name":"Ann","city":"Bergen"}]"#
    let guess = try MapGuess(of: [Self.input(monday, "mon.json"), Self.input(tuesday, "tue.json")])
    #expect(guess.map.entities[0].uniqueKeys == [["id"]])
    #expect(
      guess.text.contains(
        "unique: id                                # unique in each sample, never missing"
      )
    )
    let people = ["people.json", "people-partial.json"].map {
      ImportInput.file(DocumentFile.root.appending(path: "SampleData/\($0)").path)
    }
    let map = try MapGuess(of: people).map
    #expect(map.entities[0].uniqueKeys == [["ticketNumber"]])
    // Within one sample an id that comes again is none.
    let torn = #"[{"id":1,"name":"Ann"},{"id":1,"name":"Bo"}]"#
    let both = [Self.input(torn, "a.json"), Self.input(#"[{"id":2,"name":"Cy"}]"#, "b.json")]
    #expect(try MapGuess(of: both).map.entities[0].uniqueKeys == [["name"]])
  }

  @Test("Without a key the place in each file is one, with the file")
  func places() async throws {
    let found = try await counts([
      Self.input(#"[{"a":"x"},{"a":"x"}]"#, "one.json"), Self.input(#"[{"a":"y"}]"#, "two.json"),
    ])
    #expect(found.map.entities[0].uniqueKeys == [["file", "place"]])
    #expect(found.inserted == 3)
    #expect(found.unchanged == 3)
  }
}
