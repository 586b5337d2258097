import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Keys that stand in lists: their parts belong to the element that has them.
@Suite("Keys in lists") struct KeyListTests {
  /// A record `A` whose relationship `k` has the given key; targets are made as stubs.
  private static func fixture(
    _ key: String,
    parts: String = "[a, b]",
    onInvalid: String = "reject"
  ) throws -> ImportFixture {
    let attributes = parts == "n" ? "n: n" : "a: a, b: b"
    return try ImportFixture(
      """
      version: 1
      entities:
        A:
          unique: id
          attributes: { id: { from: { json: id, xml: "@id" } }, c: { from: { json: c, xml: "@c" } } }
          relationships:
            k: { entity: K, kind: toMany, ordered: true, key: { \(key) }, onUnresolved: stub, onInvalid: \(onInvalid) }
        K: { unique: \(parts), attributes: { \(attributes) } }
      sources:
        j: { format: json, entity: A }
        x: { format: xml, entity: A, records: /r/r }
      """
    )
  }

  /// The keys of the targets, in their order.
  private static func keys(_ fixture: ImportFixture, _ columns: String = "a || '|' || b") throws
    -> [String]
  {
    try sql(
      fixture.store,
      "SELECT \(columns) FROM A_k l JOIN K ON K._pk = l.target ORDER BY l.owner, l.position"
    )
  }

  @Test(
    "Parts of a key come from one element of the list",
    arguments: [
      (#"[{"id":"1","ks":[{"a":"1"},{"b":"2"}]}]"#, 1, []),
      (#"[{"id":"1","ks":[{"a":"1"},{"a":"3","b":"4"},{"b":"6"}]}]"#, 1, []),
      (#"[{"id":"1","ks":[{"b":"2"}]}]"#, 1, []),
      (#"[{"id":"1","ks":[{"a":null,"b":"2"}]}]"#, 1, []),
      (#"[{"id":"1","ks":[{"b":"2","a":"1"},{"a":"3","b":"4"}]}]"#, 0, ["1|2", "3|4"]),
      (#"[{"id":"1","ks":[]}]"#, 0, []), (#"[{"id":"1","ks":null}]"#, 0, []),
      (#"[{"id":"1","ks":{"a":"1","b":"2"}}]"#, 1, []),
      (
        #"[{"id":"1","ks":[{"a":"1","b":"2"},{"a":["3","4"],"b":"5"}]}]"#, 0, ["1|2", "3|5", "4|5"]
      ),
      (#"[{"id":"1","ks":[{"a":"1","a":"9","b":"2"}]}]"#, 1, []),
    ]
  )
  func pairing(feed: String, rejected: Int, keys: [String]) async throws {
    let fixture = try Self.fixture(#"a: "ks[*].a", b: "ks[*].b""#)
    let report = try await fixture.run(feed)
    #expect(report.counts.rejected == rejected, "\(report.issueSummary)")
    #expect(try Self.keys(fixture) == keys)
    #expect(try fixture.rows("K").count == keys.count)
  }

  @Test(
    "Parts of a key come from one element of XML",
    arguments: [
      (#"<k a="1" b="2"/><k a="3"/><k b="4"/>"#, 1, []),
      (#"<k a="1" b="2"/><k b="6" a="5"/>"#, 0, ["1|2", "5|6"]),
      (#"<k a="1"/>"#, 1, []), (#"<k b="1"/>"#, 1, []), ("<k/>", 1, []), ("", 0, []),
    ]
  )
  func elements(inner: String, rejected: Int, keys: [String]) async throws {
    let fixture = try Self.fixture("a: k/@a, b: k/@b")
    let report = try await fixture.run("<r><r id='1'>\(inner)</r></r>")
    #expect(report.counts.rejected == rejected, "\(report.issueSummary)")
    #expect(try Self.keys(fixture) == keys)
  }

  @Test("An element without its key rejects the record, at its place")
  func missing() async throws {
    for (key, feed, place) in [
      (#"n: "ks[*].n""#, "[\n{\"id\":\"1\",\"ks\":[{\"n\":\"1\"},\n {\"m\":\"1\"}]}]", "3:2"),
      (#"n: "ks[*].n""#, "[\n{\"id\":\"1\",\"ks\":[\n{\"m\":\"1\"}]}]", "3:1"),
      ("n: tags/tag/@ref", "<r><r id='1'><tags>\n<tag/></tags></r></r>", "2:1"),
      ("n: tags/tag/@ref", "<r><r id='1'><tags>\n<tag/><tag ref='1'/></tags></r></r>", "2:1"),
      ("n: tag/text()", "<r><r id='1'>\n<tag/><tag>1</tag></r></r>", "2:1"),
    ] {
      let fixture = try Self.fixture(key, parts: "n")
      let report = try await fixture.run(feed)
      #expect(report.counts.rejected == 1, "\(feed)")
      let issue = try #require(report.issues.first?.examples.first)
      #expect("\(issue.origin.line):\(issue.origin.column)" == place, "\(feed)")
      #expect(issue.attribute == "k" && issue.code == .keyMissing)
      #expect(issue.message.contains("has no key"), "\(issue.message)")
    }
  }

  @Test("What onInvalid says holds for an element without its key, and links are not lost")
  func policy() async throws {
    let fixture = try Self.fixture(#"n: "ks[*].n""#, parts: "n", onInvalid: "keep")
    try await fixture.run(#"[{"id":"1","ks":[{"n":"1"},{"n":"2"}]}]"#)
    let report = try await fixture.run(#"[{"id":"1","ks":[{"m":"1"},{"n":"2"}]}]"#)
    #expect(report.summary == "read 1, unchanged 1" && report.issueSummary == ["key.missing 1"])
    #expect(try Self.keys(fixture, "n") == ["1", "2"])
  }

  @Test("A part with one value holds for all targets, however many there are")
  func shared() async throws {
    for (key, feed) in [
      (#"a: c, b: "ks[*].b""#, #"{"id":"1","c":"t","ks":[{"b":"1"},{"b":"2"}]}"#),
      (#"a: c, b: ks"#, #"{"id":"1","c":"t","ks":["1","2"]}"#),
      (#"a: c, b: { from: ks, split: "," }"#, #"{"id":"1","c":"t","ks":"1, 2"}"#),
      (
        #"a: "g[*].t", b: "g[*].ks[*].b""#,
        #"{"id":"1","g":[{"t":"t","ks":[{"b":"1"},{"b":"2"}]}]}"#
      ),
    ] {
      let fixture = try Self.fixture(key)
      let empty = feed.replacing(/"(ks|c)":\[.*?\]/, with: "\"ks\":[]")
        .replacing(#""1, 2""#, with: #""""#)
      let report = try await fixture.run("[\(feed)]")
      #expect(report.counts.rejected == 0, "\(key): \(report.issueSummary)")
      #expect(try Self.keys(fixture) == ["t|1", "t|2"], "\(key)")
      #expect(try await fixture.run("[\(feed)]").summary == "read 1, unchanged 1")
      let emptied = try await fixture.run("[\(empty)]")
      let left = try Self.keys(fixture)
      #expect(emptied.counts.rejected == 0 && left == [], "\(key): \(empty)")
    }
  }

  @Test(
    "In XML one element holds for all targets of a list beside it",
    arguments: [
      ("<t>t</t><ks><k>1</k><k>2</k></ks>", 0, ["t|1", "t|2"]), ("<t>t</t><ks/>", 0, []),
      ("<t>t</t><t>u</t><ks><k>1</k><k>2</k><k>3</k></ks>", 1, []),
    ]
  )
  func sharedElement(inner: String, rejected: Int, keys: [String]) async throws {
    let fixture = try Self.fixture("a: t, b: ks/k")
    let report = try await fixture.run("<r><r id='1'>\(inner)</r></r>")
    #expect(report.counts.rejected == rejected, "\(report.issueSummary)")
    #expect(try Self.keys(fixture) == keys)
  }

  @Test("Two lists side by side pair by their places, and are rejected where one is longer")
  func sideBySide() async throws {
    let fixture = try Self.fixture("a: as, b: bs")
    let report = try await fixture.run(
      #"[{"id":"1","as":["1","2"],"bs":["3","4"]},{"id":"2","as":["5"],"bs":["6","7"]}]"#
    )
    #expect(report.summary == "read 2, inserted 1, rejected 1")
    #expect(report.issueSummary == ["value.repeated 1"])
    #expect(try Self.keys(fixture) == ["1|3", "2|4"])
    let elements = try Self.fixture("a: a, b: b")
    let xml = "<r><r id='1'><a>1</a><b>2</b><b>3</b></r><r id='2'><a>1</a><b>2</b></r></r>"
    #expect(try await elements.run(xml).summary == "read 2, inserted 1, rejected 1")
    #expect(try Self.keys(elements) == ["1|2"])
  }

  @Test(
    "An element that is there and empty is an empty list, whatever else is in it",
    arguments: [
      (
        #"from: 'ps/p[@k="w"]'"#, #"<ps><p k="w">1</p></ps>"#,
        [#"<ps><p k="h">8</p></ps>"#, #"<ps><p k="h">8</p><p k="h">9</p></ps>"#, "<ps/>"]
      ),
      ("from: h/k", "<h><k>1</k></h>", ["<h/><h/>", "<h/>"]),
      ("key: { n: ps/p/@n }", #"<ps><p n="1"/></ps>"#, ["<ps/>", "<ps><x/></ps>", "<ps/><ps/>"]),
      ("key: { n: ps/p/text() }", "<ps><p>1</p></ps>", ["<ps/>"]),
    ]
  )
  func wrapper(source: String, first: String, emptied: [String]) async throws {
    for inner in emptied + [""] {
      let fixture = try ImportFixture(
        """
        version: 1
        entities:
          A: { unique: id, attributes: { id: "@id" }, relationships: { k: { entity: P, kind: toMany, \(source), onUnresolved: stub } } }
          P: { unique: n, attributes: { n: "text()" } }
        sources: { x: { format: xml, entity: A, records: /r/a } }
        """
      )
      try await fixture.run("<r><a id='1'>\(first)</a></r>")
      #expect(try sql(fixture.store, "SELECT count(*) FROM A_k") == ["1"])
      let report = try await fixture.run("<r><a id='1'>\(inner)</a></r>")
      #expect(report.counts.rejected == 0)
      let left = try sql(fixture.store, "SELECT count(*) FROM A_k")
      #expect(left == [inner.isEmpty ? "1" : "0"], "\(source): \(inner)")
    }
  }

  @Test("A text with more keys than a record may hold is rejected, not taken apart")
  func manyKeys() async throws {
    let fixture = try Self.fixture(#"n: { from: ks, split: "," }"#, parts: "n")
    let text = (0..<90_000).map { String($0) }.joined(separator: ",")
    let report = try await fixture.run(#"[{"id":"1","ks":"1,2"},{"id":"2","ks":"\#(text)"}]"#) {
      $0.options.maximumRecordByteCount = 2 << 20
    }
    #expect(report.summary == "read 2, inserted 1, rejected 1")
    #expect(report.issueSummary == ["record.size 1"])
  }
}

/// Targets that members of the owner make.
@Suite("Members of the owner make the target") struct OwnMembersTests {
  @Test("A child without its key rejects the record, and does not make the target missing")
  func child() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Order: { unique: id, attributes: { id: order }, relationships: { customer: { entity: Customer, kind: toOne, from: "." } } }
        Customer:
          unique: cid
          attributes: { cid: customer_id, name: customer_name }
          relationships: { referrals: { entity: Customer, kind: toMany, from: referrals } }
      sources: { j: { format: json, entity: Order } }
      """
    )
    let report = try await fixture.run(
      #"[{"order":"1","customer_id":"7","referrals":[{"customer_name":"x"}]},{"order":"2"},{"order":"3","customer_id":null}]"#
    )
    #expect(report.summary == "read 3, inserted 2, rejected 1")
    let issue = report.issues.first?.examples.first
    #expect(issue?.code == .keyMissing && issue?.path == "referrals[0].customer_id")
    #expect(try fixture.rows("Customer").isEmpty)
  }
}
