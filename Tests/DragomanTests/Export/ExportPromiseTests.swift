import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// docs/export.md: what is exported comes back, or the export says what does not.
@Suite("What an export promises") struct ExportPromiseTests {
  /// Imports a feed, changes the store, exports by the map and imports that again.
  ///
  /// - Returns: What became of the export: `fault: message`, else what the import of it did.
  private func roundTrip(
    _ yaml: String,
    _ feed: String,
    first: String? = nil,
    entity: String? = nil,
    format: ForeignFormat = .json,
    sql change: String? = nil
  ) async throws -> String {
    let before = try ImportFixture(first ?? yaml)
    let imported = try await before.run(feed)
    #expect(imported.counts.rejected == 0, "\(imported.issueSummary)")
    if let change { try before.store.execute(change) }
    let fixture = try ImportFixture(yaml, in: before.store)
    let request = ExportRequest(entity: entity, format: format)
    let exporter = Exporter(map: fixture.map, store: fixture.store)
    let bytes: [UInt8]
    do {
      bytes = try await exporter.bytes(request)
    } catch let error as ExportError {
      #expect(error.code == .value, "\(error)")
      // What is asked for in spite of it is written, and told.
      let path = NSTemporaryDirectory() + UUID().uuidString
      defer { unlink(path) }
      let lossy = try await exporter.run(request.with { $0.isLossy = true }, to: .file(path))
      #expect(!lossy.issues.isEmpty)
      return "fault: \(error.message)"
    }
    return try await fixture.run(String(decoding: bytes, as: UTF8.self)) {
      $0.options.rejectsFile = nil
    }.summary
  }

  @Test("A value that reading takes for a tombstone is told")
  func tombstone() async throws {
    let map =
      "version: 1\nentities: { A: { unique: id, attributes: { id: id, status: status }RULE } }"
    let rule = ", deleteWhen: { from: status, equals: deleted }"
    let plain = map.replacing("RULE", with: "")
    for (status, result) in [
      ("deleted", "fault: status of A 1 is the word that deletes its object when it is read."),
      ("live", "read 1, unchanged 1"),
    ] {
      let feed = #"[{"id":"1","status":"\#(status)"}]"#
      #expect(try await roundTrip(map.replacing("RULE", with: rule), feed, first: plain) == result)
    }
    // A place further inside, which reading also looks for by its whole name.
    for (status, result) in [
      ("deleted", "fault: status of A 1 is the word"), ("live", "read 1, unchanged 1"),
    ] {
      let inner = map.replacing("status: status", with: "status: meta.status")
      let found = try await roundTrip(
        inner.replacing("RULE", with: rule.replacing("from: status", with: "from: meta.status")),
        #"[{"id":"1","meta":{"status":"\#(status)"}}]"#,
        first: inner.replacing("RULE", with: "")
      )
      #expect(found.hasPrefix(result), "\(found)")
    }
    // A word that stands inside of another value.
    let inner = """
      version: 1
      entities: { A: { unique: id, attributes: { id: id, doc: { type: json } }RULE } }
      """
    let deep = ", deleteWhen: { from: doc.gone, equals: \"true\" }"
    for (doc, result) in [("true", "fault"), ("false", "read 1")] {
      let found = try await roundTrip(
        inner.replacing("RULE", with: deep),
        #"[{"id":"1","doc":{"gone":\#(doc)}}]"#,
        first: inner.replacing("RULE", with: "")
      )
      #expect(found.hasPrefix(result), "\(found)")
    }
  }

  @Test("A null whose second path another attribute stands at is written")
  func fallback() async throws {
    let map = """
      version: 1
      entities: { A: { unique: id, attributes: { id: id, name: name, nick: { from: [nick, name] } } } }
      sources:
        j: { format: json, entity: A }
        x: { format: xml, entity: A, records: /r/a }
        c: { format: csv, entity: A }
      """
    let feed = #"[{"id":"1","name":"Ada","nick":null},{"id":"2","nick":"x"},{"id":"3"}]"#
    for format in [ForeignFormat.json, .ndjson, .xml, .csv] {
      #expect(try await roundTrip(map, feed, format: format) == "read 3, unchanged 3", "\(format)")
    }
    // What null is read as there decides: here it keeps what a new object has.
    let kept = map.replacing("from: [nick, name]", with: "from: [nick, name], onNull: reject")
    let found = try await roundTrip(
      kept,
      #"[{"id":"1","name":"Ada"}]"#,
      sql: "UPDATE A SET nick = NULL"
    )
    #expect(found.hasPrefix("fault: nick of A 1 is null"), "\(found)")
  }

  @Test("An earlier path that finds what something else wrote is told")
  func earlierPath() async throws {
    let map = """
      version: 1
      entities:
        A:
          unique: id
          attributes: { id: id, t: { from: ["a[*].n", "@t"] }, u: { from: ["$parent.u", u] } }
          relationships: { b: { entity: B, kind: toMany, from: a } }
        B: { unique: n, attributes: { n: n, v: v } }
      sources: { j: { format: json, entity: A } }
      """
    let found = try await roundTrip(
      map,
      #"[{"id":"1","@t":"x","a":[]}]"#,
      sql: """
        INSERT INTO B (n, v) VALUES ('7', 'v');
        INSERT INTO A_b (owner, target) SELECT A._pk, B._pk FROM A, B;
        """
    )
    #expect(found.hasPrefix("fault: t of A 1"), "\(found)")
  }

  @Test("A member whose name is the path of another attribute is told where they differ")
  func literalName() async throws {
    let map = "version: 1\nentities: { A: { unique: id, attributes: { id: id, p: /a.b, r: a.b } } }"
    let change = "UPDATE A SET r = 'R2'"
    let found = try await roundTrip(map, #"[{"id":"1","a.b":"P"}]"#, sql: change)
    #expect(found.hasPrefix("fault: r of A 1"), "\(found)")
    #expect(try await roundTrip(map, #"[{"id":"1","a.b":"P"}]"#) == "read 1, unchanged 1")
  }

  @Test("What is read back may be a key alone")
  func bareKey() async throws {
    let map = """
      version: 1
      entities:
        A: { unique: id, attributes: { id: id, p: /a.b, r: a.b }, relationships: { b: { entity: B, kind: toOne, from: b, export: key } } }
        B: { unique: id, attributes: { id: id, name: { required: true } } }
      sources: { j: { format: json, entity: A } }
      """
    let feed = #"[{"id":"1","a.b":"P","b":{"id":"x","name":"X"}}]"#
    #expect(try await roundTrip(map, feed) == "read 1, unchanged 1")
  }

  @Test("A null that the map rejects is left out, though nulls are written; a row has its cell")
  func rejectedNull() async throws {
    let map = """
      version: 1
      entities: { A: { unique: id, attributes: { id: id, n: { onNull: reject }, m: m } } }
      sources: { j: { format: json, entity: A }, c: { format: csv, entity: A } }
      """
    let fixture = try ImportFixture(map)
    try await fixture.run(#"[{"id":"1"}]"#)
    let bytes = try await Exporter(map: fixture.map, store: fixture.store)
      .bytes(ExportRequest(format: .ndjson, style: ExportStyle(nulls: .write)))
    #expect(String(decoding: bytes, as: UTF8.self) == #"{"id":"1","m":null}"# + "\n")
    let found = try await roundTrip(map, #"[{"id":"1"}]"#, format: .csv)
    #expect(found.hasPrefix("fault: n of A 1 is null"), "\(found)")
  }

  @Test(
    "A link that is null, and that the owner's own attribute makes, is told where the target is there"
  )
  func ownKey() async throws {
    let map = """
      version: 1
      entities:
        O: { unique: id, attributes: { id: id, cid: cid }, relationships: { c: { entity: C, kind: toOne, key: { cid: { attribute: cid } } } } }
        C: { unique: cid, attributes: { cid: cid } }
      sources: { o: { format: json, entity: O, records: /o }, c: { format: json, entity: C, records: /c } }
      """
    let late = try ImportFixture(map)
    try await late.run(#"{"o":[{"id":"1","cid":"7"},{"id":"2"}],"c":[]}"#)
    let exporter = Exporter(map: late.map, store: late.store)
    // Nobody has the key: the reference is dropped again.
    let bytes = try await exporter.bytes(ExportRequest(entity: "O"))
    let again = try await late.run(String(decoding: bytes, as: UTF8.self))
    #expect(again.summary == "read 2, unchanged 2")
    try await late.run(#"{"o":[],"c":[{"cid":"7"}]}"#)
    let error = await #expect(throws: ExportError.self) {
      try await exporter.bytes(ExportRequest(entity: "O"))
    }
    #expect(
      error?.message.hasPrefix("c of O 1 is null, and reading makes a link") == true,
      "\(error?.message ?? "")"
    )
  }

  @Test("A key that is null or empty is no key in a list of keys")
  func nullKey() async throws {
    let first = """
      version: 1
      entities:
        P: { unique: id, attributes: { id: id }, relationships: { tags: { entity: Tag, kind: LINK, from: tags } } }
        Tag: { unique: name, attributes: { name: { required: false }, x: x } }
      sources: { p: { format: json, entity: P } }
      """
    for (kind, feed) in [
      ("toMany", #"[{"id":"1","tags":[{"x":"1"},{"name":"n"}]}]"#),
      ("toMany", #"[{"id":"1","tags":[{"name":""},{"name":"n"}]}]"#),
      ("toOne", #"[{"id":"1","tags":{"x":"1"}}]"#),
      ("toOne", #"[{"id":"1","tags":{"name":""}}]"#),
    ] {
      let map = first.replacing("LINK", with: kind)
      for key in ["tags", kind == "toMany" ? "tags[*].n" : "tags.n"] {
        let byKey = map.replacing("from: tags", with: "key: { name: \"\(key)\" }")
        let found = try await roundTrip(byKey, feed, first: map)
        #expect(found.hasPrefix("fault: "), "\(feed): \(found)")
      }
    }
  }

  @Test(
    "A key that a text of keys cannot hold is told",
    arguments: [
      ("\",\"", "a ", false), ("\",\"", " a", false), ("\",\"", "a,b", false),
      ("\",\"", "a b", true),
      ("\",\"", "a\\nb", true), ("\",\"", "a\\t", false), ("whitespace", "x\\ty", false),
      ("whitespace", "x\\u000by", false), ("whitespace", "x,y", true), ("whitespace", "xé", true),
    ]
  )
  func splitKeys(separator: String, key: String, comesBack: Bool) async throws {
    let plain = """
      version: 1
      entities:
        P: { unique: id, attributes: { id: id }, relationships: { tags: { entity: Tag, kind: toMany, key: { name: KEY }, onUnresolved: stub } } }
        Tag: { unique: name, attributes: { name: name } }
      sources: { p: { format: json, entity: P } }
      """
    let found = try await roundTrip(
      plain.replacing("KEY", with: "{ from: tags, split: \(separator) }"),
      #"[{"id":"1","tags":["\#(key)","b"]}]"#,
      first: plain.replacing("KEY", with: "tags")
    )
    #expect(found.hasPrefix(comesBack ? "read 1, unchanged 1" : "fault: "), "\(found)")
  }

  @Test(
    "A text of keys is written beside parts that are constants or the owner's; what these do not say is told",
    arguments: ["json", "xml", "csv"]
  )
  func splitParts(format: String) async throws {
    let records = format == "xml" ? ", records: /r/p" : ""
    let map = """
      version: 1
      entities:
        P: { unique: id, attributes: { id: id }, relationships: { tags: { entity: Tag, kind: toMany, onUnresolved: stub, key: { kind: PART, name: { from: tags, split: "," } } } } }
        Tag: { unique: [kind, name], attributes: { kind: kind, name: name } }
      sources: { p: { format: \(format), entity: P\(records) }, j: { format: ndjson, entity: P } }
      """
    let feed = #"{"id":"1","tags":"a,b"}"#
    for part in ["{ value: t }", "{ attribute: id }"] {
      let own = map.replacing("PART", with: part)
      let format = try #require(ForeignFormat(rawValue: format))
      let found = try await roundTrip(own, feed, format: format)
      #expect(found.hasPrefix("read 1, unchanged 1"), "\(found)")
      // Tags of another kind are not found again.
      let other = map.replacing("PART", with: "{ value: u }")
      let lost = try await roundTrip(own, feed, first: other, format: format)
      #expect(lost.hasPrefix("fault: "), "\(lost)")
    }
  }

  @Test(
    "What CSV has no place for is told",
    arguments: [
      ("string", #"[{"text":null}]"#, "fault: text of N with _pk 1 is null"),
      (
        "string", #"[{"text":"a\u0000b"}]"#, "fault: text of N with _pk 1 holds a control character"
      ),
      ("int32", #"[{"text":1},{"text":null}]"#, "read 2, inserted 2"),
    ]
  )
  func csv(type: String, feed: String, result: String) async throws {
    let map =
      "version: 1\nentities: { N: { attributes: { text: { type: \(type) } } } }"
      + "\nsources: { c: { format: csv, entity: N }, j: { format: json, entity: N } }"
    let found = try await roundTrip(map, feed, format: .csv)
    #expect(found.hasPrefix(result), "\(found)")
  }

  @Test(
    "A value that breaks a rule of the map is told",
    arguments: [
      ("n: { type: int32, min: 5 }", "n = 1", "n"),
      ("n: { type: int32, max: 5 }", "n = 7", "n"),
      ("n: { length: { max: 2 } }", "n = 'abc'", "n"),
      ("n: { pattern: \"[a-c]+\" }", "n = 'abd'", "n"),
      ("n: { required: false }, id: { required: false }", "id = NULL", nil),
    ]
  )
  func rules(attributes: String, change: String, attribute: String?) async throws {
    let plain = "version: 1\nentities: { A: { unique: id, attributes: { id: id, n: NULL } } }"
    let first = plain.replacing(
      "NULL",
      with: attributes.contains("int32") ? "{ type: int32 }" : "n"
    )
    let named = attributes.contains("id:") ? attributes : "id: id, \(attributes)"
    let ruled = "version: 1\nentities: { A: { unique: id, attributes: { \(named) } } }"
    let found = try await roundTrip(
      ruled,
      #"[{"id":"1"}]"#,
      first: attribute == nil ? ruled : first,
      sql: "UPDATE A SET \(change)"
    )
    if let attribute {
      #expect(found.hasPrefix("fault: \(attribute) of A 1 breaks a rule"), "\(found)")
    } else {
      // It has no key: the import cannot know it again.
      #expect(found == "read 1, inserted 1")
    }
  }

  @Test("A key that is null, and that reading wants, is told")
  func requiredKey() async throws {
    let map = """
      version: 1
      entities: { A: { unique: id, attributes: { id: ID, n: n } } }
      """
    let found = try await roundTrip(
      map.replacing("ID", with: "id"),
      #"[{"id":null,"n":"x"}]"#,
      first: map.replacing("ID", with: "{ required: false }")
    )
    #expect(found.hasPrefix("fault: id of A"), "\(found)")
  }

  @Test("An export of objects without a key says that an import makes them once more")
  func withoutKey() async throws {
    let fixture = try ImportFixture("version: 1\nentities: { N: { attributes: { text: text } } }")
    try await fixture.run(#"[{"text":"a"}]"#)
    let path = NSTemporaryDirectory() + UUID().uuidString
    defer { unlink(path) }
    let report = try await Exporter(map: fixture.map, store: fixture.store)
      .run(ExportRequest(format: .json), to: .file(path))
    #expect(
      report.notices
        == ["N has no unique key: an import of the export makes its objects once more"]
    )
    #expect(report.losses.isEmpty && report.issues.isEmpty)
  }

  @Test("The key in a message is masked where the map or the store calls it sensitive")
  func maskedKey() async throws {
    let map =
      "version: 1\nentities: { A: { unique: id, attributes: { id: ID, s: { strings: TRIM } } } }"
    let plain = try ImportFixture(map.replacing("ID", with: "id").replacing("TRIM", with: "{}"))
    try await plain.run(#"[{"id":"SECRETKEY","s":" x"}]"#)
    let fixture = try ImportFixture(
      map.replacing("ID", with: "{ sensitive: true }").replacing("TRIM", with: "{ trim: true }"),
      in: plain.store
    )
    let error = await #expect(throws: ExportError.self) {
      try await Exporter(map: fixture.map, store: fixture.store).bytes(ExportRequest(format: .json))
    }
    #expect(
      error?.message.hasPrefix("s of A ••• has white space") == true,
      "\(error?.message ?? "")"
    )
  }
}
