import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

/// Rejects that are imported again: what their lines keep, and what becomes of them.
@Suite("Rejects that are imported again") struct RejectedAgainTests {
  private let path = FileManager.default.temporaryDirectory
    .appendingPathComponent("again-\(UUID().uuidString)").path

  private var text: String { get throws { try String(contentsOfFile: path, encoding: .utf8) } }

  /// A map of `P` with the key `id` and a number `n`.
  private static func map(
    _ attributes: String = "",
    n: String = "",
    sources: String = "{ format: json, entity: P, records: /p }",
    import options: String = ""
  ) -> String {
    """
    version: 1
    import: { \(options) }
    entities:
      P:
        unique: id
        attributes:
          id: { type: int64, from: { json: id, xml: "@id", csv: id } }
          n: { type: int32, from: { json: n, xml: n, csv: n }\(n) }
          \(attributes)
    sources: { s: \(sources) }
    """
  }

  /// Imports a feed, of which one record at least is rejected.
  private func reject(
    _ feed: [UInt8],
    by map: String,
    named name: String = "feed"
  ) async throws -> SQLiteStore {
    let fixture = try ImportFixture(map)
    let report = try await fixture.run {
      $0.inputs = [.bytes(feed, name: name)]
      $0.options.rejectsFile = path
    }
    #expect(report.counts.rejected > 0)
    return fixture.store
  }

  private func reject(_ feed: String, by map: String) async throws -> SQLiteStore {
    try await reject(Array(feed.utf8), by: map)
  }

  private func retry(
    by map: String,
    in store: SQLiteStore,
    change: (inout ImportRequest) -> Void = { _ in }
  ) async throws -> ImportReport {
    var request = ImportRequest([.rejects(path)])
    change(&request)
    return try await Importer(map: ImportMap(yaml: map), store: store).run(request)
  }

  @Test(
    "A record that could not be read, and can be by now, is JSON in its line, whatever is wrong with it"
  )
  func mendedText() async throws {
    defer { unlink(path) }
    let map = Self.map(sources: "{ format: ndjson, entity: P }")
    let store = try await reject(#"{"id":1,"n":"x"\#n{"id":2}"#, by: map)
    // What somebody does with an editor.
    let mended = try text.replacing(#"\"x\"""#, with: #"\"x\"}""#)
    try Data(mended.utf8).write(to: URL(fileURLWithPath: path))
    #expect(try await retry(by: map, in: store).summary == "read 1, rejected 1")
    #expect(try text.contains(#""record":{"id":1,"n":"x"}"#))
    try Data(text.replacing(#""n":"x"}"#, with: #""n":3}"#).utf8)
      .write(to: URL(fileURLWithPath: path))
    #expect(try await retry(by: map, in: store).summary == "read 1, inserted 1")
  }

  @Test("Bytes that are no UTF-8 stay as they are until the source names their encoding")
  func bytes() async throws {
    defer { unlink(path) }
    let map = Self.map("t: t", sources: "{ format: ndjson, entity: P }")
    let feed =
      Array("{\"id\":1,\"t\":\"x\"}\n{\"id\":2,\"t\":\"Andr".utf8) + [0xE9] + Array("\"}\n".utf8)
    let store = try await reject(feed, by: map, named: "feed.ndjson")
    let before = try text
    #expect(before.contains("\"recordBytes\":\"") && !before.contains("\u{FFFD}"))
    #expect(try await retry(by: map, in: store).summary == "read 1, rejected 1")
    #expect(try text == before)
    let mended = map.replacing("ndjson,", with: "ndjson, encoding: windows-1252,")
    #expect(try await retry(by: mended, in: store).summary == "read 1, inserted 1")
    #expect(try sql(store, "SELECT t FROM P ORDER BY id") == ["x", "André"])
    #expect(try text.isEmpty)
  }

  @Test(
    "A record that an older version wrote with U+FFFD for bytes that are no UTF-8 stays, and is told"
  )
  func lostBytes() async throws {
    defer { unlink(path) }
    let map = Self.map("t: t", sources: "{ format: ndjson, entity: P }")
    let lines = [#"{\"id\":1,\"t\":\"x\"}"#, #"{\"id\":2,\"t\":\"Andr\#u{FFFD}\"}"#].enumerated()
      .map {
        #"{"file":"feed.ndjson","line":\#($0 + 1),"byte":0,"index":\#($0),"entity":"P","code":"record.syntax","#
          + #""message":"The text is not valid UTF-8.","record":"\#($1)","source":"s","format":"ndjson"}"#
          + "\n"
      }
    try lines.joined().write(toFile: path, atomically: false, encoding: .utf8)
    let store = try SQLiteStore(at: .inMemory)
    let report = try await retry(by: map, in: store)
    #expect(report.summary == "read 1, inserted 1")
    #expect(
      report.notices.contains {
        $0.hasPrefix("1 reject stays: ") && $0.hasSuffix("import the feed again")
      }
    )
    #expect(try text == lines[1])
    // Somebody has looked at it: what it holds now is meant so.
    let line = try #require(try RejectLines(path).next())
    #expect(try line.replacingRecord(with: line.record()) == line.bytes)
    let mended = try line.replacingRecord(with: #"{"id":2,"t":"\#u{FFFD}!"}"#)
    try Data(mended).write(to: URL(filePath: path))
    #expect(try await retry(by: map, in: store).summary == "read 1, inserted 1")
    #expect(try text.isEmpty)
  }

  @Test("$line of what is nested in a record of XML is that of the feed")
  func nestedLines() async throws {
    defer { unlink(path) }
    let map = """
      version: 1
      entities:
        E:
          unique: id
          attributes: { id: { type: int64, from: "@id" }, age: { type: int16 } }
          relationships: { ps: { entity: P, kind: toMany, from: ps/p, inverse: e, ordered: true } }
        P:
          unique: [e, n]
          attributes: { n: { from: $index, type: int32 }, pl: { from: $line, type: int32 } }
          relationships: { e: { entity: E, kind: toOne, inverse: ps } }
      sources: { x: { format: xml, entity: E, records: /r/e } }
      """
    let feed = "<r>\n\n<e id='1'><ps>\n<p/>\n\n<p/></ps><age>x</age></e></r>"
    let store = try await reject(feed, by: map)
    try text.replacing("<age>x", with: "<age>3")
      .write(toFile: path, atomically: false, encoding: .utf8)
    #expect(try await retry(by: map, in: store).summary == "read 1, inserted 1")
    #expect(try sql(store, "SELECT pl FROM P ORDER BY n") == ["4", "6"])
  }

  @Test(
    "A row of CSV that is no UTF-8 stays, until an object of its columns is put beside its bytes"
  )
  func row() async throws {
    defer { unlink(path) }
    let map = Self.map("t: { from: { csv: t } }", sources: "{ format: csv, entity: P }")
    let feed = Array("id,n,t\n1,2,Andr".utf8) + [0xE9, 0x0A]
    let store = try await reject(feed, by: map, named: "feed.csv")
    let before = try text
    let mended = map.replacing("csv,", with: "csv, encoding: windows-1252,")
    #expect(try await retry(by: mended, in: store).summary == "read 1, rejected 1")
    #expect(try text == before)
    try before.replacing("{\"file\"", with: #"{"record":{"id":"1","n":"2","t":"André"},"file""#)
      .write(toFile: path, atomically: false, encoding: .utf8)
    #expect(try await retry(by: map, in: store).summary == "read 1, inserted 1")
    #expect(try sql(store, "SELECT t FROM P") == ["André"])
  }

  @Test(
    "An empty member name is a key, and none is none",
    arguments: [(#"{"p":{"":{"id":1,"n":"x"}}}"#, ""), (#"{"p":[{"id":1,"n":"x"}]}"#, "null")]
  )
  func key(feed: String, key: String) async throws {
    defer { unlink(path) }
    let map = Self.map("k: $key", sources: "{ format: json, entity: P, records: \"/p/*\" }")
    let listed = map.replacing("/p/*", with: "/p")
    let own = feed.contains("[") ? listed : map
    let store = try await reject(feed, by: own)
    let mended = own.replacing("csv: n }", with: "csv: n }, onInvalid: clear")
    #expect(try await retry(by: mended, in: store).summary == "read 1, inserted 1")
    #expect(try sql(store, "SELECT k FROM P") == [key])
  }

  @Test(
    "The line of a record, and members that somebody has added, outlast retries that do not ask for them"
  )
  func line() async throws {
    defer { unlink(path) }
    let store = try await reject("{\"p\":[\n{\"id\":1,\n\n\"n\":\"x\"}]}", by: Self.map())
    try text.replacing(",\"record\":", with: ",\"ticket\":\"OPS-17\",\"record\":")
      .write(toFile: path, atomically: false, encoding: .utf8)
    // It is rejected for another reason, which stands where the record does.
    let other = Self.map("r: { from: { json: r }, onMissing: reject }", n: ", onInvalid: clear")
    #expect(try await retry(by: other, in: store).summary == "read 1, rejected 1")
    let line = try text
    #expect(line.contains(#""line":2,"byte":7,"#) && line.contains(#""attribute":"r""#))
    #expect(line.contains(#""ticket":"OPS-17""#))
    let mended = Self.map("l: { type: int32, from: $line }", n: ", onInvalid: clear")
    #expect(try await retry(by: mended, in: store).summary == "read 1, inserted 1")
    #expect(try sql(store, "SELECT l FROM P") == ["2"])
  }

  @Test(
    "Of $root a line keeps what the map asks for, and what a mended one asks for besides is told",
    arguments: [
      (
        #"{"meta":{"a":"x","hush":"y"},"p":[{"id":1,"n":"bad"}]}"#,
        "{ format: json, entity: P, records: /p }"
      ),
      (
        #"<r><meta hush="y"><a>x</a><hush/></meta><p id="1"><n>bad</n></p></r>"#,
        "{ format: xml, entity: P, records: /r/p }"
      ),
    ]
  )
  func root(feed: String, source: String) async throws {
    defer { unlink(path) }
    func map(_ more: String, n: String) -> String {
      Self.map(
        "a: { from: { json: $root.meta.a, xml: $root/meta/a } }\n      \(more)",
        n: n,
        sources: source
      )
    }
    let store = try await reject(feed, by: map("", n: ""))
    #expect(try !text.contains("hush"))
    let other = "b: { from: { json: $root.meta.b, xml: $root/meta/b } }"
    let report = try await retry(by: map(other, n: ", onInvalid: clear"), in: store)
    #expect(report.summary == "read 1, inserted 1")
    #expect(try sql(store, "SELECT a, b FROM P") == ["x|null"])
    #expect(report.notices.count == 1)
    #expect(report.notices[0].hasPrefix("1 line of the rejects file does not hold $root"))
  }

  @Test("What a document declares of attributes and entities holds for its rejected records, too")
  func doctype() async throws {
    defer { unlink(path) }
    let feed = """
      <?xml version="1.0"?><!-- <!DOCTYPE no> -->
      <!DOCTYPE r [<!-- it's > --> <!ATTLIST p cur CDATA "EUR" t NMTOKENS #IMPLIED><!ENTITY e "whole">]>
      <r><p id="1" t=" a   b "><n>bad</n><v>&e;</v></p></r>
      """
    func map(_ n: String) -> String {
      Self.map(
        "c: { from: { xml: \"@cur\" } }\n      t: { from: { xml: \"@t\" } }\n      v: { from: { xml: v } }",
        n: n,
        sources: "{ format: xml, entity: P, records: /r/p }"
      )
    }
    let store = try await reject(feed, by: map(""))
    #expect(
      try await retry(by: map(", onInvalid: clear"), in: store).summary == "read 1, inserted 1"
    )
    #expect(try sql(store, "SELECT c, t, v FROM P") == ["EUR|a b|whole"])
  }

  @Test(
    "A declaration too long for the lines is told; a record that cannot be read lacks no `$root`"
  )
  func longDoctype() async throws {
    defer { unlink(path) }
    let entities = (0..<900).map { "<!ENTITY e\($0) \"value number \($0)\">" }.joined()
    let feed = """
      <!DOCTYPE r [\(entities)]>
      <r><head><b>1</b></head><p id="1"><n>bad</n></p><p id="2"><n>&e7;</n></p></r>
      """
    let map = Self.map(
      "b: { from: { xml: $root/head/b } }",
      sources: "{ format: xml, entity: P, records: /r/p }"
    )
    let store = try await reject(feed, by: map)
    let report = try await retry(by: map, in: store)
    #expect(report.counts.rejected == 2)
    #expect(
      report.notices == [
        "2 lines of the rejects file do not hold the document type declaration: it is too long; write out in the"
          + " records the attributes that it gives by default, and entities"
      ]
    )
  }

  /// A map of `A`, in which a `K` with a number and a link to an `R` may be nested.
  private static func nested(_ more: String) -> String {
    """
    version: 1
    entities:
      A: { unique: id, attributes: { id: { type: int64 } }\(more) }
      R: { unique: id, attributes: { id: { type: int64 } } }
    """
  }
  private static let ks = """
    , relationships: { ks: { entity: K, kind: toMany, inverse: a } } }
      K:
        unique: id
        attributes: { id: { type: int64 }, n: { type: int32 } }
        relationships: { r: { entity: R, kind: toOne, key: { id: r }, onUnresolved: reject } }
      X: { unique: id, attributes: { id: { type: int64 } }
    """
  private static let source = "\nsources: { s: { format: json, entity: A } }\n"

  @Test("A record goes in whose fault was in a nested entity that the mended map does not have")
  func withoutNested() async throws {
    defer { unlink(path) }
    let feed = #"[{"id":1,"ks":[{"id":2,"n":"x"}]}]"#
    let store = try await reject(feed, by: Self.nested(Self.ks) + Self.source)
    #expect(try text.contains(#""entity":"K""#) && text.contains(#""recordEntity":"A""#))
    let report = try await retry(by: Self.nested("") + Self.source, in: store)
    #expect(report.summary == "read 1, inserted 1")
  }

  @Test("A link of a nested record that leads to nobody is told as the nested one's, at its place")
  func nestedLink() async throws {
    defer { unlink(path) }
    let feed = "[{\"id\":1,\n\"ks\":[{\"id\":1},\n{\"id\":2,\"r\":9}]}]"
    _ = try await reject(feed, by: Self.nested(Self.ks) + Self.source)
    #expect(try text.contains(#""entity":"K","key":"2","code":"link.unresolved","attribute":"r""#))
    #expect(try text.contains(#""line":3,"#))
  }

  @Test("The number of rejects that a map admits is said of feeds; a request says it of retries")
  func maximum() async throws {
    defer { unlink(path) }
    let feed = #"{"p":[{"id":1,"n":"x"},{"id":2,"n":"x"},{"id":3,"n":"x"}]}"#
    let store = try await reject(feed, by: Self.map())
    try text.replacing(#""id":1,"n":"x""#, with: #""id":1,"n":1"#)
      .write(toFile: path, atomically: false, encoding: .utf8)
    let bounded = Self.map(import: "rejects: { max: 1 }")
    let failure = await #expect(throws: ImportFailure.self) {
      try await retry(by: bounded, in: store) { $0.options.maximumRejects = 1 }
    }
    #expect((failure?.cause as? ImportError)?.code == .tooManyRejects)
    #expect(try await retry(by: bounded, in: store).summary == "read 3, inserted 1, rejected 2")
  }

  @Test(
    "A record that is as deep, or as large, as a feed's may be can be tried again",
    arguments: ["ndjson", "xml", "large"]
  )
  func limits(kind: String) async throws {
    defer { unlink(path) }
    let (feed, source) =
      switch kind {
      case "ndjson":
        (
          #"{"id":1,"n":"x","v":"# + String(repeating: "[", count: 999)
            + String(repeating: "]", count: 999) + "}\n", "{ format: ndjson, entity: P }"
        )
      case "xml":
        (
          "<r><p id=\"1\"><n>x</n>" + String(repeating: "<v>", count: 254)
            + String(repeating: "</v>", count: 254) + "</p></r>",
          "{ format: xml, entity: P, records: /r/p }"
        )
      default:
        (
          "{\"big\":\"\(String(repeating: "b", count: 400_000))\",\"p\":[{\"id\":1,\"n\":\"x\","
            + "\"v\":\"\(String(repeating: "v", count: 300_000))\"}]}",
          "{ format: json, entity: P, records: /p }"
        )
      }
    let (big, options) = ("b: { from: { json: $root.big } }", "maxRecordSize: 1")
    let fixture = try ImportFixture(Self.map(big, sources: source, import: options))
    _ = try await fixture.run {
      $0.inputs = [.bytes(Array(feed.utf8), name: kind == "ndjson" ? "f.ndjson" : "f")]
      $0.options.rejectsFile = path
    }
    #expect(try text.split(separator: "\n").count == 1)
    let map = Self.map(big, n: ", onInvalid: clear", sources: source, import: options)
    #expect(try await retry(by: map, in: fixture.store).summary == "read 1, inserted 1")
  }

  @Test("A map that has got sources takes the rejects of when it had none")
  func laterSources() async throws {
    defer { unlink(path) }
    let map = Self.map(sources: "{ format: json, entity: P }")
    let without = String(map.prefix(upTo: try #require(map.range(of: "sources:")).lowerBound))
    let store = try await reject(#"[{"id":1,"n":"x"}]"#, by: without)
    let mended = map.replacing("csv: n }", with: "csv: n }, onInvalid: clear")
    #expect(try await retry(by: mended, in: store).summary == "read 1, inserted 1")
  }

  @Test("An element that is not well-formed is told without what is put around it")
  func malformed() async throws {
    defer { unlink(path) }
    let map = Self.map(sources: "{ format: xml, entity: P, records: /r/p }")
    let store = try await reject("<r><p id=\"1\"><n>bad</n></p></r>", by: map)
    try text.replacing("<n>bad</n></p>", with: "<n>1</n>")
      .write(toFile: path, atomically: false, encoding: .utf8)
    let report = try await retry(by: map, in: store)
    let message = report.issues.first?.examples.first?.message
    #expect(message?.contains("records") == false && message?.contains("not closed") == true)
  }

  @Test("Who writes a rejects file again has it alone, from the beginning to the end")
  func alone() async throws {
    defer { unlink(path) }
    let store = try await reject(#"{"p":[{"id":1,"n":"x"}]}"#, by: Self.map())
    let first = try RejectsReplacement(path)
    let before = try text
    let mended = Self.map(n: ", onInvalid: clear")
    let failure = await #expect(throws: ImportFailure.self) {
      try await retry(by: mended, in: store)
    }
    #expect((failure?.cause as? ImportError)?.code == .output)
    #expect(try text == before)
    #expect(try sql(store, "SELECT count(*) FROM P") == ["0"])
    withExtendedLifetime(first) {}
  }
}
