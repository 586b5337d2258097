import DragomanGraph
import Testing

@testable import Dragoman

@Suite("Nested records") struct NestedRecordTests {
  /// People with a company, phones (children) and skills (a table of links).
  private func people(_ phones: String = "", _ company: String = "") throws -> ImportFixture {
    try ImportFixture(
      """
      version: 1
      entities:
        Company:
          unique: id
          attributes: { id: { type: int64 }, name: name }
        Phone:
          unique: [owner, kind]
          attributes: { kind: kind, number: { required: true } }
        Skill: { unique: name, attributes: { name: { from: "." } } }
        Person:
          unique: id
          attributes: { id: { type: int64 }, name: name }
          relationships:
            company: { entity: Company, kind: toOne, inverse: employees \(company) }
            phones: { entity: Phone, kind: toMany, inverse: owner, ordered: true, onDelete: cascade \(phones) }
            skills: { entity: Skill, kind: toMany }
      sources:
        json: { format: json, entity: Person }
      """
    )
  }

  @Test("Targets become objects of their own, linked, by their own map")
  func links() async throws {
    let fixture = try people()
    let report = try await fixture.run(
      #"""
      [{"id":1,"name":"A","company":{"id":7,"name":"F"},"skills":["x","y"],
        "phones":[{"kind":"m","number":"1"},{"kind":"w","number":"2"}]},
       {"id":2,"name":"B","company":{"id":7},"skills":["y"],"phones":[]}]
      """#
    )
    #expect(
      try contents(of: fixture.store) == [
        "Company: 7|F", "Phone: m|1|1|0", "Phone: w|2|1|1", "Skill: x", "Skill: y",
        "Person: 1|A|7", "Person: 2|B|7",
        "Person_skills: 1|x", "Person_skills: 1|y", "Person_skills: 2|y",
      ]
    )
    #expect(report.summary == "read 2, inserted 2")
    #expect(
      report.entitySummary == [
        "Company: 1 inserted, 1 unchanged", "Person: 2 inserted", "Phone: 2 inserted",
        "Skill: 2 inserted, 1 unchanged",
      ]
    )
    #expect(report.linkSummary == ["Person.company +2", "Person.phones +2", "Person.skills +3"])
  }

  @Test(
    "What a record says of a list is what the list becomes",
    arguments: [
      ("", "m1.1 w2.2", "unchanged 1"),
      (
        #","phones":[{"kind":"m","number":"1"},{"kind":"w","number":"2"}]"#, "m1.1 w2.2",
        "unchanged 1"
      ),
      (
        #","phones":[{"kind":"w","number":"2"},{"kind":"m","number":"1"}]"#, "m1.2 w2.1",
        "updated 1"
      ),
      (
        #","phones":[{"kind":"m","number":"9"},{"kind":"w","number":"2"}]"#, "m9.1 w2.2",
        "unchanged 1"
      ),
      (#","phones":[{"kind":"w","number":"2"}]"#, "m1.null.unlinked w2.1", "updated 1"),
      (#","phones":[]"#, "m1.null.unlinked w2.null.unlinked", "updated 1"),
      (#","phones":null"#, "m1.null.unlinked w2.null.unlinked", "updated 1"),
      (
        #","phones":[{"kind":"h","number":"3"},{"kind":"m","number":"1"}]"#,
        "h3.1 m1.2 w2.null.unlinked", "updated 1"
      ),
    ]
  )
  func replacing(phones: String, expected: String, summary: String) async throws {
    let fixture = try people()
    try await fixture.run(
      #"[{"id":1,"phones":[{"kind":"m","number":"1"},{"kind":"w","number":"2"}]}]"#
    )
    let report = try await fixture.run("[{\"id\":1\(phones)}]")
    let rows = try sql(
      fixture.store,
      "SELECT kind || number || '.' || coalesce(_phones_order + 1, 'null') "
        + "|| CASE WHEN owner IS NULL THEN '.unlinked' ELSE '' END FROM Phone ORDER BY kind"
    )
    #expect(rows.joined(separator: " ") == expected)
    #expect(report.summary == "read 1, \(summary)")
  }

  @Test("onUnlink: delete deletes what is unlinked, and only that")
  func unlinking() async throws {
    let fixture = try people(", onUnlink: delete")
    try await fixture.run(
      #"[{"id":1,"phones":[{"kind":"m","number":"1"},{"kind":"w","number":"2"}]},"#
        + #"{"id":2,"phones":[{"kind":"m","number":"3"}]}]"#
    )
    let report = try await fixture.run(#"[{"id":1,"phones":[{"kind":"w","number":"2"}]}]"#)
    #expect(try sql(fixture.store, "SELECT number FROM Phone ORDER BY 1") == ["2", "3"])
    #expect(report.linkSummary == ["Person.phones -1"])
  }

  @Test("A thin copy changes nothing of a full object")
  func thin() async throws {
    let fixture = try people()
    try await fixture.run(#"[{"id":1,"company":{"id":7,"name":"F"}}]"#)
    let report = try await fixture.run(
      #"[{"id":2,"company":{"id":7}},{"id":1,"company":{"id":7}}]"#
    )
    #expect(report.summary == "read 2, inserted 1, unchanged 1")
    #expect(try sql(fixture.store, "SELECT id, name, _v FROM Company") == ["7|F|1"])
    #expect(try sql(fixture.store, "SELECT _v FROM Person") == ["1", "1"])
  }

  @Test("A list of links that changes changes its owner once")
  func ownerVersion() async throws {
    let fixture = try people()
    try await fixture.run(#"[{"id":1,"name":"A","skills":["x","y"]}]"#)
    let steps = [
      (#"[{"id":1,"skills":["y","x","x"]}]"#, "unchanged 1", "1"),
      (#"[{"id":1,"skills":["x","z"]}]"#, "updated 1", "2"),
      (#"[{"id":1,"name":"B","skills":[]}]"#, "updated 1", "3"),
    ]
    for (feed, summary, version) in steps {
      let report = try await fixture.run(feed)
      #expect(report.summary == "read 1, \(summary)")
      #expect(try sql(fixture.store, "SELECT _v FROM Person") == [version])
    }
  }

  @Test(
    "What is wrong inside refuses the whole record, with path and place",
    arguments: [
      (#""company":[{"id":7}]"#, "value.type", "company", 12),
      (#""company":7"#, "value.type", "company", 12),
      (#""company":{"id":"x"}"#, "value.type", "company.id", 18),
      (#""company":{"name":"x"}"#, "key.missing", "company.id", 12),
      (#""skills":["a"],"phones":{"kind":"m"}"#, "value.type", "phones", 26),
      (#""phones":[{"kind":"m","number":"1"},3]"#, "value.type", "phones", 38),
      (
        #""phones":[{"kind":"m","number":"1"},{"kind":"w","number":2}]"#, "value.type",
        "phones[1].number", 59
      ),
      (#""phones":[{"kind":"m","number":"1"},{"kind":"w"}]"#, "record.incomplete", nil, 38),
      (#""skills":["a",["b"]]"#, "value.type", "skills", 16),
    ]
  )
  func whole(members: String, code: String, path: String?, byte: Int) async throws {
    let fixture = try people()
    let report = try await fixture.run("[{\"id\":1,\(members)},{\"id\":2}]")
    #expect(report.summary == "read 2, inserted 1, rejected 1")
    let issue = try #require(report.issues.first?.examples.first)
    #expect(issue.code.rawValue == code)
    #expect(issue.path == path)
    #expect(issue.origin.byte == byte + 7)
    #expect(try contents(of: fixture.store) == ["Person: 2|null|null"])
  }

  @Test("An invalid relationship can be kept or cleared")
  func invalidPolicies() async throws {
    for (policy, company) in [("keep", "7"), ("clear", "null")] {
      let fixture = try people("", ", onInvalid: \(policy)")
      try await fixture.run(#"[{"id":1,"company":{"id":7}}]"#)
      let report = try await fixture.run(#"[{"id":1,"company":"seven"}]"#)
      #expect(report.issueSummary == ["value.type 1"])
      #expect(
        try sql(
          fixture.store,
          "SELECT c.id FROM Person LEFT JOIN Company c ON c._pk = company"
        ) == [company]
      )
    }
  }

  @Test("The same object twice in a feed behaves as two imports; the last one wins")
  func twice() async throws {
    let feeds = [
      #"{"id":1,"name":"A","skills":["x","y"],"phones":[{"kind":"m","number":"1"}]}"#,
      #"{"id":1,"skills":["z"],"phones":[{"kind":"w","number":"2"},{"kind":"m","number":"3"}]}"#,
      #"{"id":2,"skills":["x"],"company":{"id":7,"name":"F"}}"#,
      #"{"id":1,"skills":["y","z"],"company":{"id":7}}"#,
    ]
    let together = try people()
    let report = try await together.run("[\(feeds.joined(separator: ","))]")
    let apart = try people()
    var inserted = 0
    var updated = 0
    for feed in feeds {
      let one = try await apart.run("[\(feed)]")
      inserted += one.counts.inserted
      updated += one.counts.updated
    }
    #expect(try contents(of: together.store) == contents(of: apart.store))
    #expect(report.counts.inserted == inserted)
    #expect(report.counts.updated == updated)
  }

  @Test("Children may take values from their parent, and their key from a dictionary")
  func parentsAndKeys() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Rate:
          unique: [base, code]
          attributes:
            base: $parent.base
            code: $key
            rate: { from: ., type: double }
        Day:
          unique: base
          attributes: { base: base }
          relationships:
            rates: { entity: Rate, kind: toMany, from: rates.*, inverse: day }
      """ + "\nsources: { json: { format: json, entity: Day } }"
    )
    try await fixture.run(#"[{"base":"EUR","rates":{"USD":1.1,"NOK":11.5}}]"#)
    #expect(
      try contents(of: fixture.store)
        == ["Rate: EUR|NOK|11.5|EUR", "Rate: EUR|USD|1.1|EUR", "Day: EUR"]
    )
    try await fixture.run(#"[{"base":"EUR","rates":{}}]"#)
    #expect(try sql(fixture.store, "SELECT day FROM Rate") == ["null", "null"])
  }

  @Test("Records nest to any depth, one inside of another of the same entity")
  func depth() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Node:
          unique: id
          attributes: { id: { type: int64 } }
          relationships:
            children: { entity: Node, kind: toMany, inverse: parent, ordered: true }
      sources: { json: { format: json, entity: Node } }
      """
    )
    let depth = 490
    let text =
      (0..<depth).map { #"{"id":\#($0),"children":["# }.joined()
      + String(repeating: "]}", count: depth)
    let report = try await fixture.run(text)
    #expect(report.summary == "read 1, inserted 1")
    #expect(try sql(fixture.store, "SELECT count(*), count(parent) FROM Node") == ["490|489"])
  }

  @Test("One parent may have a hundred thousand children")
  func manyChildren() async throws {
    let fixture = try people()
    let skills = (0..<100_000).map { "\"s\($0)\"" }.joined(separator: ",")
    let feed = "[{\"id\":1,\"skills\":[\(skills)]}]"
    let first = try await fixture.run(feed)
    #expect(first.linkSummary == ["Person.skills +100000"])
    let second = try await fixture.run(feed)
    #expect(second.summary == "read 1, unchanged 1")
  }

  @Test("A target made of members of the owner itself: a flat record")
  func flat() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Company:
          unique: id
          attributes: { id: { from: company_id, type: int64 }, name: company_name }
        Person:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { company: { entity: Company, kind: toOne, from: . } }
      sources: { json: { format: json, entity: Person } }
      """
    )
    try await fixture.run(#"[{"id":1,"company_id":7,"company_name":"F"},{"id":2}]"#)
    #expect(try contents(of: fixture.store) == ["Company: 7|F", "Person: 1|7", "Person: 2|null"])
  }

  @Test(
    "A nested record that gives the key only completes a stub where the key makes an object, and is a reference elsewhere",
    arguments: [
      ("name", "null", "{}", "null"),
      ("{ from: name, required: true }", "1", "{}", "1"),
      ("{ from: name, required: true, default: x }", "null", "{}", "null"),
      ("{ from: name, required: true }", "1", #"{"name":"F"}"#, "null"),
    ]
  )
  func nestedStub(name: String, afterKey: String, more: String, afterMore: String) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Company: { unique: id, attributes: { id: { type: int64 }, name: \(name) } }
        Person:
          unique: id
          attributes: { id: { type: int64 } }
          relationships:
            former: { entity: Company, kind: toOne, key: { id: former }, onUnresolved: stub }
            company: { entity: Company, kind: toOne }
      sources:
        json: { format: json, entity: Person }
      """
    )
    try await fixture.run(#"[{"id":1,"former":7}]"#)
    #expect(try sql(fixture.store, "SELECT _stub FROM Company") == ["1"])
    try await fixture.run(#"[{"id":2,"company":{"id":7}}]"#)
    #expect(try sql(fixture.store, "SELECT _stub FROM Company") == [afterKey])
    let company = more == "{}" ? #"{"id":7}"# : #"{"id":7,"name":"F"}"#
    try await fixture.run(#"[{"id":3,"company":\#(company)}]"#)
    #expect(try sql(fixture.store, "SELECT _stub FROM Company") == [afterMore])
  }
}
