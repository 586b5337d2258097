import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// The bytes of exports, by small maps.
@Suite struct ExporterTests {
  private func exported(
    _ attributes: String,
    _ feed: String,
    _ request: ExportRequest = ExportRequest(format: .ndjson),
    defaults: String = ""
  ) async throws -> String {
    let fixture = try ImportFixture(attributes: attributes, defaults: defaults)
    let report = try await fixture.run(feed)
    try #require(report.counts.rejected == 0, "\(report.issues)")
    return String(
      decoding: try await Exporter(map: fixture.map, store: fixture.store).bytes(request),
      as: UTF8.self
    )
  }

  @Test(
    "Values are written in the first format that holds them",
    arguments: [
      (
        "a: { type: timestamp, dates: [dd.MM.yyyy HH:mm, iso8601] }", #""01.02.2024 10:30""#,
        #""01.02.2024 10:30""#
      ),
      (
        "a: { type: timestamp, dates: [dd.MM.yyyy HH:mm, iso8601] }", #""2024-02-01T10:30:05Z""#,
        #""2024-02-01T10:30:05Z""#
      ),
      ("a: { type: timestamp, dates: [unix-ms] }", "1700000000123", "1700000000123"),
      (
        "a: { type: timestamp, timeZone: Europe/Oslo }", #""2024-07-01T10:30:00Z""#,
        #""2024-07-01T12:30:00+02:00""#
      ),
      ("a: { type: decimal, numbers: { locale: de_DE } }", #""1234567,89""#, #""1.234.567,89""#),
      (
        "a: { type: decimal, numbers: { decimal: \".\", style: percent } }", #""5.5 %""#, #""5.5%""#
      ),
      ("a: { type: decimal, numbers: { decimal: \".\", style: percent } }", #""0%""#, #""0%""#),
      (
        "a: { type: decimal, numbers: { decimal: \".\", style: percent } }", #""-0.00 %""#, #""0%""#
      ),
      (
        "a: { type: decimal, numbers: { decimal: \".\", style: percent } }", #""100 %""#, #""100%""#
      ),
      (
        "a: { type: decimal, numbers: { decimal: \".\", style: percent } }", #""0.05 %""#,
        #""0.05%""#
      ),
      (
        "a: { type: decimal, numbers: { locale: de_DE, style: accounting } }", #""(1.428,00 €)""#,
        #""(1.428)""#
      ),
      ("a: { type: int64, numbers: { locale: en_IN } }", "12345678", #""1,23,45,678""#),
      ("a: { type: decimal }", "1234567890.12345678901234567890", "1234567890.1234567890123456789"),
      ("a: { type: double }", "0.1", "0.1"), ("a: { type: double }", "1e300", "1e+300"),
      ("a: { type: double }", "3", "3.0"), ("a: { type: double }", "-123456.789", "-123456.789"),
      ("a: { type: bool, trueValues: [Y], falseValues: [N] }", #""Y""#, #""Y""#),
      ("a: { type: bool }", "0", "false"),
      ("a: { type: enum, values: { FT: full, PT: part }, unknown: other }", #""XX""#, #""other""#),
      ("a: { type: enum, values: { FT: full, PT: part } }", #""PT""#, #""PT""#),
      ("a: { type: data }", #""\\x00ff""#, #""AP8=""#),
      ("a: { type: json }", #"{ "b": [1.50, null] }"#, #"{"b":[1.50,null]}"#),
      (
        "a: { type: string }", #""\u0000\u001f\"\\/\u00e9\u2028""#,
        #""\u0000\u001f\"\\/é"# + "\u{2028}\""
      ),
    ]
  )
  func values(attribute: String, given: String, written: String) async throws {
    let text = try await exported(attribute, #"{"id":1,"a":\#(given)}"#)
    #expect(text == #"{"id":1,"a":\#(written)}"# + "\n")
  }

  @Test(
    "Paths become nested objects and arrays, or literal names in a flat record",
    arguments: [
      (ExportStyle.Shape.nested, #"{"id":1,"o":{"b":"x"},"l":[null,"y"]}"#),
      (.flat, #"{"id":1,"o.b":"x","l[1]":"y"}"#),
    ]
  )
  func shapes(shape: ExportStyle.Shape, written: String) async throws {
    let text = try await exported(
      "b: { from: o.b }, c: { from: 'l[1]' }, d: { from: o.deep.d }".split(separator: ", ")
        .joined(separator: "\n      "),
      #"{"id":1,"o":{"b":"x"},"l":[0,"y"]}"#,
      ExportRequest(format: .ndjson, style: ExportStyle(shape: shape))
    )
    #expect(text == written + "\n")
  }

  @Test("Nulls are left out, or written, or written where a default would take their place")
  func nulls() async throws {
    let attributes = "a: {}\n      b: { type: bool, default: true }"
    let feed = #"{"id":1,"a":null,"b":null}"#
    let omitted = try await exported(attributes, feed)
    #expect(omitted == #"{"id":1,"b":null}"# + "\n")
    let written = try await exported(
      attributes,
      feed,
      ExportRequest(format: .ndjson, style: ExportStyle(nulls: .write))
    )
    #expect(written == #"{"id":1,"a":null,"b":null}"# + "\n")
    let xml = try await exported(attributes, feed, ExportRequest(format: .xml))
    #expect(xml.contains(#"<p id="1"><b xsi:nil="true"/></p>"#))
  }

  @Test("CSV tells null from the empty string, and quotes what needs it")
  func csv() async throws {
    let text = try await exported(
      "a: {}\n      b: {}",
      #"[{"id":1,"a":"","b":null},{"id":2,"a":"x,\"y\"","b":" z\n"}]"#,
      ExportRequest(format: .csv)
    )
    #expect(text == "id,a,b\r\n1,\"\",\r\n2,\"x,\"\"y\"\"\",\" z\n\"\r\n")
  }

  @Test(
    "A value that would not come back ends the export, by name",
    arguments: [
      (
        "a: {}", #""\u0001""#, ForeignFormat.xml,
        "a of P 1 holds a control character that the format does not have."
      ),
      ("a: { type: json }", "[1]", .xml, "a of P 1 is JSON that this format cannot hold."),
      (
        "a: { type: bool, trueValues: [Y] }", "false", .xml,
        "a of P 1 has no word in trueValues and falseValues."
      ),
      (
        "a: { from: { json: a, xml: text() } }", #""""#, .xml,
        "a of P 1 is empty, and would be read as missing."
      ),
    ]
  )
  func refusals(attribute: String, given: String, format: ForeignFormat, message: String)
    async throws
  {
    let error = await #expect(throws: ExportError.self) {
      _ = try await exported(attribute, #"{"id":1,"a":\#(given)}"#, ExportRequest(format: format))
    }
    #expect(error?.code == .value)
    #expect(error?.message == message)
  }

  @Test("An infinite number ends the export")
  func infinity() async throws {
    let fixture = try ImportFixture(attributes: "a: { type: double }")
    try await fixture.run(#"{"id":1,"a":1}"#)
    try fixture.store.write { session in
      try session.begin()
      try session.database.execute(sql: "UPDATE P SET a = 9e999")
      try session.commit()
    }
    let exporter = Exporter(map: fixture.map, store: fixture.store)
    let error = await #expect(throws: ExportError.self) {
      _ = try await exporter.bytes(ExportRequest())
    }
    #expect(error?.message == "a of P 1 is infinite, which no feed can say.")
    let lossy = try await exporter.bytes(ExportRequest(format: .ndjson, isLossy: true))
    #expect(String(decoding: lossy, as: UTF8.self) == #"{"id":1,"a":"Infinity"}"# + "\n")
  }

  @Test("Sensitive values are masked on demand")
  func masks() async throws {
    let text = try await exported(
      "a: { type: int64, sensitive: true }",
      #"[{"id":1,"a":5},{"id":2}]"#,
      ExportRequest(format: .ndjson).with { $0.masksSensitive = true }
    )
    #expect(text == #"{"id":1,"a":"•••"}"# + "\n{\"id\":2}\n")
  }

  @Test("Records come by the key, whatever the order of their arrival")
  func order() async throws {
    let text = try await exported("a: {}", #"[{"id":3},{"id":1},{"id":2}]"#)
    #expect(text == "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n")
    let sorted = try await exported(
      "a: {}",
      #"[{"id":3},{"id":1},{"id":2}]"#,
      ExportRequest(format: .ndjson, sortKeys: [SortKey("id", ascending: false)], limit: 2)
    )
    #expect(sorted == "{\"id\":3}\n{\"id\":2}\n")
  }

  @Test(
    "An empty store gives an empty document",
    arguments: [
      (ForeignFormat.json, "[]\n"), (.ndjson, ""), (.csv, "id,a\r\n"),
      (.xml, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<r>\n</r>\n"),
    ]
  )
  func empty(format: ForeignFormat, written: String) async throws {
    let text = try await exported("a: {}", "[]", ExportRequest(format: format))
    #expect(text == written)
  }

  @Test("A source's default namespace is that of names without a path, too")
  func namespaces() async throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          P:
            unique: id
            attributes: { id: { from: "@id" }, a: { from: a }, b: {} }
        sources:
          x: { format: xml, entity: P, records: /r/p, namespaces: { "": "urn:d" } }
        """
    )
    let store = try SQLiteStore(at: .inMemory)
    let feed = #"<r xmlns="urn:d"><p id="1"><a>x</a><b>y</b></p></r>"#
    let importer = Importer(map: map, store: store)
    _ = try await importer.run(ImportRequest([.bytes(Array(feed.utf8), name: "f.xml")]))
    let bytes = try await Exporter(map: map, store: store).bytes(ExportRequest(format: .xml))
    #expect(
      String(decoding: bytes, as: UTF8.self)
        .hasSuffix(
          #"<r xmlns="urn:d">"# + "\n" + #"<p id="1"><a>x</a><b>y</b></p>"# + "\n</r>\n"
        )
    )
    let again = try await importer.run(ImportRequest([.bytes(bytes, name: "e.xml")]))
    #expect(again.summary == "read 1, unchanged 1")
  }

  @Test(
    "A file that is named .tsv is divided by tabs, where the source does not say",
    arguments: [
      ("", "tsv", "id\ta\r\n1\tx\r\n"), ("", "TSV", "id\ta\r\n1\tx\r\n"),
      ("", "csv", "id,a\r\n1,x\r\n"), (", separator: \";\"", "tsv", "id;a\r\n1;x\r\n"),
    ]
  )
  func tabs(separator: String, ending: String, text: String) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: id, a: a } } }
      sources: { c: { format: csv, entity: P\(separator) }, j: { format: json, entity: P } }
      """
    )
    try await fixture.run(#"[{"id":"1","a":"x"}]"#)
    let path = NSTemporaryDirectory() + UUID().uuidString + "." + ending
    defer { unlink(path) }
    try await Exporter(map: fixture.map, store: fixture.store)
      .run(ExportRequest(format: .csv), to: .file(path))
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    let again = try await Importer(map: fixture.map, store: fixture.store)
      .run(ImportRequest([.bytes(Array(text.utf8), name: path)]))
    #expect(again.summary == "read 1, unchanged 1")
  }
}
