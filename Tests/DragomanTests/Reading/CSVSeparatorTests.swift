import Testing

@testable import Dragoman

/// A line `sep=;` above the names of the columns, as spreadsheets write it.
@Suite("Separators that CSV states") struct CSVSeparatorTests {
  @Test(
    "The first line states the separator unless the map does, and is no header",
    arguments: [
      ("sep=;\r\nid;n\r\n1;a\r\n", false, ["id", "n"]),
      ("\u{FEFF}\"SEP=|\"\nid|n\n1|a\n", false, ["id", "n"]),
      ("sep=\t\rid\tn\r1\ta\r", false, ["id", "n"]),
      ("sep=,\nid,n\n1,a", false, ["id", "n"]),
      ("sep=;\nid,n\n1,a\n", true, ["id", "n"]),
      ("sep=id,n\n1,a\n", false, ["sep=id", "n"]),
    ]
  )
  func stated(text: String, isDeclared: Bool, names: [String]) throws {
    let reader = CSVReader(
      source: MemorySource(Array(text.utf8), name: "a.csv"),
      isDeclared: isDeclared
    )
    let batch = RecordBatch()
    _ = try reader.read(into: batch, limit: 10)
    #expect(reader.header?.names == names)
    #expect(batch.records.count == 1 && batch.failures.isEmpty)
  }
}
