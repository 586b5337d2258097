import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

@Suite struct CSVImportTests {
  /// A map of one entity `P` with the key `id` and one CSV source.
  private func fixture(_ attributes: String, source: String = "") throws -> ImportFixture {
    try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes:
            id: { type: int64 }
            \(attributes)
      sources:
        csv: { format: csv, entity: P\(source) }
      """
    )
  }

  @Test("Every sample of the stations arrives as it was meant")
  func sample() async throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let map = try ImportMap(contentsOf: root.appendingPathComponent("Maps/stations.map.yaml").path)
    let store = try SQLiteStore(at: .inMemory)
    let feed = root.appendingPathComponent("SampleData/stations.csv").path
    let report = try await Importer(map: map, store: store).run(ImportRequest([.file(feed)]))
    #expect(report.summary == "read 4, inserted 4")
    #expect(report.notices == [])
    let rows = try sql(store, "SELECT * FROM Station ORDER BY _pk").map { row in
      row.split(separator: "|", omittingEmptySubsequences: false).dropFirst(2)
        .joined(separator: "|")
    }
    #expect(
      rows == [
        "HAVN|Havnegata|12.50|1978-04-01|2026-11-12 08:30:00|1|1204|Key at the harbour office; ring twice",
        "BRYG|Bryggen \"Nord\"|7.00|1991-05-17|2026-11-02 13:05:00|1|86|null",
        "FYRT|Fyrtårnet|31.25|1964-09-23|null|0|null|Closed for the winter.\r\nThe ladder is loose.",
        "SKJR|Skjærgård|1004.75|2019-06-30|2026-10-20 06:00:00|1|12350|",
      ]
    )
    let again = try await Importer(map: map, store: store).run(ImportRequest([.file(feed)]))
    #expect(again.summary == "read 4, unchanged 4")
  }

  @Test(
    "Typed attributes take plain notation; nothing is null, and so are empty quotes but in strings",
    arguments: [
      ("int32", "007", "7"), ("int32", "", "null"), ("int32", "\"\"", "null"),
      ("double", "-1.5e3", "-1500.0"), ("decimal", "12.50", "12.5"), ("bool", "true", "1"),
      ("bool", "0", "0"), ("bool", "\"\"", "null"), ("date", "2026-11-21", "2026-11-21"),
      ("string", "", "null"), ("string", "\"\"", ""), ("string", "007", "007"),
      ("string, strings: { emptyAsNull: true }", "\"\"", "null"),
      ("json", "a", "\"a\""), ("json, from: .", "a", #"{"id":"1","v":"a"}"#),
      ("int32, from: $line", "a", "2"), ("int32, from: $index", "a", "0"),
      ("string, from: $file", "a", "feed1"), ("string, from: [w, v]", "a", "a"),
    ]
  )
  func values(type: String, cell: String, stored: String) async throws {
    let fixture = try fixture("v: { type: \(type) }")
    let report = try await fixture.run("id,v\n1,\(cell)\n")
    #expect(report.issueSummary == [])
    #expect(try fixture.rows() == ["1|\(stored)"])
  }

  @Test("A column is found by its whole name, whatever signs are in it")
  func columnNames() async throws {
    let fixture = try fixture(
      """
      a: { from: a.b }
            b: { from: "Speed [m/s]", type: double }
            c: { from: $amount }
            d: { from: { csv: "x, y", json: z } }
      """
    )
    _ = try await fixture.run("$amount,\"x, y\",id,a.b,Speed [m/s]\nc,d,1,a,2.5\n")
    #expect(try fixture.rows() == ["1|a|2.5|c|d"])
  }

  @Test("Rows that cannot be taken are rejected with their place; the rejects file has their cells")
  func rejects() async throws {
    let file = NSTemporaryDirectory() + "rejects-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: file) }
    let fixture = try fixture("n: { type: int32 }")
    let report = try await fixture.run("id,n,x\n1,2,\n2,two,\"a \"\"b\"\"\"\n3\n4,5,\"6\"7\n5,6,\n")
    {
      $0.options.rejectsFile = file
    }
    #expect(report.summary == "read 5, inserted 2, rejected 3")
    #expect(report.issueSummary == ["value.number 1", "record.syntax 2"])
    #expect(
      report.issues.flatMap(\.examples).map(\.origin.description) == [
        "feed1:3:3 (record 2, byte 14)", "feed1:4:1 (record 3, byte 28)",
        "feed1:5:8 (record 4, byte 37)",
      ]
    )
    let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
    let records = lines.map { line in
      line.range(of: "\"record\":").map { String(line[$0.upperBound...]) } ?? ""
    }
    let expected = [
      (#"{"id":"2","n":"two","x":"a \"b\""}"#, #","recordByte":12"#), (#""3""#, ""),
      (#""4,5,\"6\"7""#, #","recordByte":30"#),
    ]
    #expect(records == expected.map { $0 + #","source":"csv","format":"csv"\#($1)}"# })
  }

  @Test(
    "Columns that the map names and the file does not have are told",
    arguments: [
      (
        "id,fullname",
        [
          "feed1: there is no column “full_name” for P.name; did you mean “fullname”?",
          "feed1: there is no column “other”, “third” for P; there are id, fullname",
        ]
      ),
      (
        "id;full_name;other;third",
        [
          "feed1: there is one column only, “id;full_name;other;third”;"
            + " should the source say `separator: \";\"`?"
        ]
      ),
      ("id,full_name,other,third", []),
    ] as [(String, [String])]
  )
  func absentColumns(header: String, notices: [String]) async throws {
    let fixture = try fixture(
      "name: { from: full_name }\n      other: {}\n      third: third\n      n: { from: $line }"
    )
    do {
      #expect(try await fixture.run(header + "\n").notices == notices)
    } catch let failure as ImportFailure {
      // A header in which no column is known is another file; the notice still says why.
      #expect((failure.cause as? ImportError)?.code == .unmatched)
      #expect(header.contains(";") && failure.report.notices == notices)
    }
  }

  @Test("So are those of relationships, the discriminator and deletions")
  func absentColumnsBesides() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        T:
          unique: id
          deleteWhen: { from: opp, equals: "d" }
          discriminator: { from: knd, values: { u: U } }
          attributes: { id: id }
          relationships:
            p: { entity: T, kind: toOne, key: { id: parnt }, onUnresolved: pending }
            q: { entity: T, kind: toOne, key: { id: elsewhere }, onUnresolved: pending }
        U: { parent: T }
      sources: { csv: { format: csv, entity: T } }
      """
    )
    let report = try await fixture.run("id,parent,op,kind\n1,,x,\n")
    #expect(
      Set(report.notices) == [
        "feed1: there is no column “parnt” for T.p; did you mean “parent”?",
        "feed1: there is no column “knd” for T.discriminator; did you mean “kind”?",
        "feed1: there is no column “opp” for T.deleteWhen; did you mean “op”?",
        "feed1: there is no column “elsewhere” for T; there are id, parent, op, kind",
      ]
    )
    // A feed may do without the mark of a deletion.
    #expect(try await fixture.run("id,parnt,elsewhere,knd\n1,,,\n").notices.isEmpty)
  }

  @Test(
    "The export of a source in another encoding is UTF-8, says so, and comes back",
    arguments: ["csv", "ndjson", "json"]
  )
  func encodings(format: String) async throws {
    let separator = format == "csv" ? ", separator: \";\"" : ""
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { T: { unique: k, attributes: { k: k, n: n } } }
      sources: { s: { format: \(format), entity: T, encoding: windows-1252\(separator) } }
      """
    )
    let euro: [UInt8] = [0x80, 0xDC]
    let feed =
      format == "csv"
      ? Array("k;n\n1;".utf8) + euro + Array("\n".utf8)
      : Array((format == "json" ? "[" : "").utf8) + Array(#"{"k":"1","n":""#.utf8) + euro
        + Array((format == "json" ? "\"}]" : "\"}\n").utf8)
    let importer = Importer(map: fixture.map, store: fixture.store)
    #expect(try await importer.run(ImportRequest([.bytes(feed, name: "f")])).counts.inserted == 1)
    #expect(try fixture.rows("T", ["k", "n"]) == ["1|€Ü"])
    let format = try #require(ForeignFormat(rawValue: format))
    let export = try await Exporter(map: fixture.map, store: fixture.store)
      .bytes(ExportRequest(format: format))
    #expect(export.starts(with: [0xEF, 0xBB, 0xBF]))
    let again = try await importer.run(ImportRequest([.bytes(Array(export), name: "g")]))
    #expect(again.summary == "read 1, unchanged 1")
  }

  /// A feed of a source: what the source says, the bytes, and what is stored of them.
  struct Encoded: Sendable {
    var source: String
    var bytes: [UInt8]
    var stored: String

    init(_ source: String, _ bytes: [UInt8], _ stored: String) {
      self.source = source
      self.bytes = bytes
      self.stored = stored
    }

    static let all = [
      Encoded(", separator: \";\"", Array("id;v\n1;a,b\n".utf8), "a,b"),
      Encoded(", separator: \"\\t\"", Array("id\tv\n1\ta;b\n".utf8), "a;b"),
      Encoded(", encoding: windows-1252", Array("id,v\n1,".utf8) + [0x80, 0xE9, 0x0A], "€é"),
      Encoded(", encoding: UTF-16LE", wide("id,v\n1,a\n", [1, 0]), "a"),
      Encoded("", [0xFE, 0xFF] + wide("id,v\n1,a\n", [0, 1]), "a"),
      Encoded("", [0xEF, 0xBB, 0xBF] + Array("id,v\n1,a\n".utf8), "a"),
      // The mark says it, whatever the source expects.
      Encoded(
        ", encoding: windows-1252",
        [0xEF, 0xBB, 0xBF] + Array("id,v\n1,é\n".utf8),
        "é"
      ),
      Encoded(", encoding: UTF-16BE", [0xFF, 0xFE] + wide("id,v\n1,a\n", [1, 0]), "a"),
    ]

    /// ASCII as UTF-16; the 1 of the pattern is the sign.
    private static func wide(_ text: String, _ pattern: [UInt8]) -> [UInt8] {
      text.utf8.flatMap { byte in pattern.map { $0 * byte } }
    }
  }

  @Test(
    "Of several inputs of a source each is read in its own encoding, in batches, too",
    arguments: [ImportMap.ImportOptions.Commit.all, .batch]
  )
  func marks(commit: ImportMap.ImportOptions.Commit) async throws {
    let fixture = try fixture("v: v", source: ", encoding: windows-1252")
    let inputs: [ImportInput] = [
      .bytes(Array("id,v\n1,".utf8) + [0xE9, 0x0A] + Array("2,b\n".utf8), name: "a.csv"),
      .bytes([0xEF, 0xBB, 0xBF] + Array("id,v\n3,é\n4,ü\n".utf8), name: "b.csv"),
      .bytes(Array("id,v\n5,".utf8) + [0xFC, 0x0A], name: "c.csv"),
    ]
    var request = ImportRequest(inputs)
    request.options.commit = commit
    request.options.batchSize = commit == .batch ? 1 : nil
    _ = try await Importer(map: fixture.map, store: fixture.store).run(request)
    #expect(try fixture.rows() == ["1|é", "2|b", "3|é", "4|ü", "5|ü"])
  }

  @Test("Separators and encodings are the source's", arguments: Encoded.all)
  func encodings(feed: Encoded) async throws {
    let fixture = try fixture("v: v", source: feed.source)
    let request = ImportRequest([.bytes(feed.bytes, name: "feed")])
    let report = try await Importer(map: fixture.map, store: fixture.store).run(request)
    #expect(report.summary == "read 1, inserted 1")
    #expect(try fixture.rows() == ["1|\(feed.stored)"])
  }

  @Test(
    "The format is told by name and content, and JSON is never taken for CSV",
    arguments: [
      ("x.csv", "id,v", ["csv"], "csv"), ("x.CSV.gz", "id", ["json", "csv"], "csv"),
      ("x.tsv", "id\tv", [], "csv"), ("x.csv", "[id],v", ["csv"], "csv"),
      ("x.csv", "{\"id\":1}", ["json"], "json"), ("x.csv", "<r/>", [], "xml"),
      ("-", "id,v", ["csv"], "csv"), ("-", "id,v", ["json", "csv", "ndjson"], "csv"),
      ("-", "\"id\",\"v\"", ["json", "csv"], "csv"), ("-", "\"id\"\n", ["json", "csv"], "json"),
      ("-", "id,v", ["json"], "json"), ("-", "id,v", [], "json"),
      ("-", "[]", ["csv"], "json"), ("-", " {\"id\":1}\n{\"id\":2}", ["csv"], "ndjson"),
      ("-", "{\"id\":1}\n{\"id\":2}", ["csv", "json"], "ndjson"), ("-", "<r/>", ["csv"], "xml"),
      ("-", "12", ["json", "csv"], "json"), ("-", "true\r\n", ["json", "csv"], "json"),
      ("-", "1,2", ["json", "csv"], "csv"), ("x.ndjson", "{}", ["csv"], "ndjson"),
    ] as [(String, String, [String], String)]
  )
  func detection(name: String, text: String, sources: [String], format: String) throws {
    let sources = sources.compactMap { ForeignFormat(rawValue: $0) }
      .map { SourceMap(name: $0.rawValue, format: $0, entity: "P") }
    let found = try FormatDetection.format(
      of: PeekableSource(MemorySource(text)),
      name: name,
      sources: sources
    )
    #expect(found.rawValue == format)
  }

  @Test("A .tsv file is divided by tabs, where the map says nothing else")
  func tabs() async throws {
    let fixture = try fixture("v: v")
    let request = ImportRequest([.bytes(Array("id\tv\n1\ta,b\n".utf8), name: "x.tsv")])
    _ = try await Importer(map: fixture.map, store: fixture.store).run(request)
    #expect(try fixture.rows() == ["1|a,b"])
  }

  @Test("An open quote fails the import, and nothing of it is kept")
  func openQuote() async throws {
    let fixture = try fixture("v: v")
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run("id,v\n1,a\n2,\"b\n3,c\n")
    }
    #expect((failure?.cause as? ReadError)?.code == .csv)
    #expect(fixture.store.model.entities.isEmpty)
  }

  @Test(
    "A separator is one byte that is neither quote, line end nor NUL",
    arguments: [";;", "é", "\\\"", "\\r", "\\n", "\\r\\n", "\\0"]
  )
  func badSeparators(separator: String) {
    let faults = #expect(throws: MapFaults.self) {
      try fixture("v: v", source: ", separator: \"\(separator)\"")
    }
    #expect(faults?.faults.map(\.place) == ["sources.csv.separator"])
  }

  @Test("A JSON path that serves CSV too is doubted")
  func lint() throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          P: { unique: id, attributes: { id: id, v: { from: "a[0]" }, w: a.b } }
        sources: { c: { format: csv, entity: P }, j: { format: json, entity: P } }
        """
    )
    #expect(
      map.lint().map(\.message) == [
        "\"a[0]\" is a JSON path; in CSV it is the name of a column."
      ]
    )
  }
}
