import DragomanGraph
import Testing

@testable import Dragoman

/// Links that cannot be as the feed has them: a reject or a named fault with its place, or the
/// last word of the feed; never half of a graph.
@Suite("Faulty links") struct FaultyLinkTests {
  private func people(_ relationships: String, phone: String = "unique: kind") throws
    -> ImportFixture
  {
    try ImportFixture(
      """
      version: 1
      entities:
        Company: { unique: id, attributes: { id: { type: int64 }, name: { required: true } } }
        Phone: { \(phone), attributes: { kind: kind } }
        Person:
          unique: id
          attributes: { id: { type: int64 }, name: name }
          relationships: { \(relationships) }
      sources:
        json: { format: json, entity: Person }
      """
    )
  }

  @Test("A cycle of nested objects is one graph, whoever comes first")
  func cycle() async throws {
    let fixture = try people("boss: { entity: Person, kind: toOne, inverse: reports }")
    let feed =
      #"[{"id":1,"name":"A","boss":{"id":2,"name":"B","boss":{"id":1,"boss":{"id":2}}}}]"#
    try await fixture.run(feed)
    let expected = ["Person: 1|A|2", "Person: 2|B|1"]
    #expect(try contents(of: fixture.store) == expected)
    #expect(try await fixture.run(feed).summary == "read 1, unchanged 1")
    #expect(try contents(of: fixture.store) == expected)
  }

  @Test("A cycle of nested lists is one graph, too")
  func cycleOfLists() async throws {
    let fixture = try people("friends: { entity: Person, kind: toMany, ordered: true }")
    let feed =
      #"[{"id":1,"friends":[{"id":2,"friends":[{"id":1},{"id":3}]},{"id":1}]}]"#
    try await fixture.run(feed)
    let expected = [
      "Person: 1|null", "Person: 2|null", "Person: 3|null", "Person_friends: 1|0|2",
      "Person_friends: 1|1|1", "Person_friends: 2|0|1", "Person_friends: 2|1|3",
    ]
    #expect(try contents(of: fixture.store) == expected)
    #expect(try await fixture.run(feed).summary == "read 1, unchanged 1")
  }

  @Test("A list that contains its owner, with a list of its own, is the last word")
  func listOfOwner() async throws {
    for isOrdered in [true, false] {
      let fixture = try people("friends: { entity: Person, kind: toMany, ordered: \(isOrdered) }")
      let feed =
        #"[{"id":1,"friends":[{"id":2,"friends":[{"id":1,"friends":[{"id":3}]}]},{"id":4}]}]"#
      for _ in 1...2 {
        try await fixture.run(feed)
        let friends = try sql(
          fixture.store,
          "SELECT (SELECT id FROM Person WHERE _pk = owner), (SELECT id FROM Person WHERE _pk = target)"
            + " FROM Person_friends ORDER BY 1, 2"
        )
        #expect(friends == ["1|2", "1|4", "2|1"])
      }
    }
  }

  @Test(
    "What is unlinked and deleted leaves no link behind that another record staged",
    arguments: [
      (#"[{"id":1,"clients":[{"id":7}]},{"id":2,"company":{"id":8}}]"#, []),
      // The record has it elsewhere.
      (#"[{"id":2,"clients":[{"id":7}],"company":{"id":8}}]"#, ["7|F"]),
      (#"[{"id":1,"clients":[{"id":7},{"id":9}]},{"id":2,"company":null,"clients":[]}]"#, []),
      // A later record brings it anew.
      (#"[{"id":2,"owned":[{"id":8}]},{"id":1,"clients":[{"id":7},{"id":9}]}]"#, ["7|null"]),
      (#"[{"id":1,"clients":[{"id":7},{"id":9}]},{"id":2,"owned":[]}]"#, []),
    ]
  )
  func deletedTargets(feed: String, left: [String]) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      defaults: { onNull: clear }
      entities:
        Company: { unique: id, attributes: { id: { type: int64 }, name: name } }
        Person:
          unique: id
          attributes: { id: { type: int64 }, name: name }
          relationships:
            owned: { entity: Company, kind: toMany, onUnlink: delete, ordered: true }
            company: { entity: Company, kind: toOne, onUnlink: delete }
            clients: { entity: Company, kind: toMany, ordered: true }
      sources: { json: { format: json, entity: Person } }
      """
    )
    try await fixture.run(#"[{"id":2,"company":{"id":7,"name":"F"},"owned":[{"id":7}]}]"#)
    try await fixture.run(feed)
    #expect(try sql(fixture.store, "PRAGMA foreign_key_check") == [])
    #expect(try sql(fixture.store, "SELECT id, name FROM Company WHERE id = 7") == left)
  }

  @Test("What helps where a part of an identity is missing is said, and helps")
  func missingIdentity() async throws {
    func fixture(_ entity: String) throws -> ImportFixture {
      try ImportFixture(
        """
        version: 1
        entities:
          D: \(entity)
          S: { unique: id, attributes: { id: id } }
        sources: { json: { format: json, entity: D } }
        """
      )
    }
    let feed = #"[{"d":"1","s":"x"},{"d":"2","s":"x"}]"#
    let faulty = try fixture(
      "{ unique: [svc, d], attributes: { d: d }, relationships: { svc: { entity: S, kind: toOne, key: { id: s }, onUnresolved: stub } } }"
    )
    let report = try await faulty.run(feed)
    #expect(report.summary == "read 2, rejected 2")
    let help = report.issues.first?.examples.first?.help
    #expect(help?.contains("`key: { name: { attribute: ownName } }`") == true, "\(help ?? "")")
    let mended = try fixture(
      "{ unique: [sid, d], attributes: { d: d, sid: s }, relationships: { svc: { entity: S, kind: toOne, key: { id: { attribute: sid } }, onUnresolved: stub } } }"
    )
    #expect(try await mended.run(feed).summary == "read 2, inserted 2")
    #expect(try await mended.run(feed).summary == "read 2, unchanged 2")
    #expect(try sql(mended.store, "SELECT count(svc), (SELECT count(*) FROM S) FROM D") == ["2|1"])
  }

  @Test(
    "What stands in place of nested records is told with what is wanted there",
    arguments: [
      ("phones", "[1]", "a list of objects, not a number"),
      ("phones", "7", "a list of objects, not a number"),
      ("phones.*", "[1]", "an object whose members are objects, not an array"),
      ("phones.*", #"{"a":null}"#, "an object whose members are objects, not null"),
    ]
  )
  func wanted(path: String, value: String, message: String) async throws {
    let fixture = try people("phones: { entity: Phone, kind: toMany, from: \(path) }")
    let report = try await fixture.run(#"[{"id":1,"phones":\#(value)}]"#)
    #expect(
      report.issues.flatMap(\.examples).map(\.message) == ["Person.phones wants \(message)."]
    )
  }

  @Test("A sensitive key is shown by no policy", arguments: ["clear", "reject"])
  func sensitiveKeys(policy: String) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Person:
          unique: ssn
          attributes: { ssn: { sensitive: true } }
          relationships: { boss: { entity: Person, kind: toOne, key: { ssn: boss }, onUnresolved: \(policy) } }
      sources: { json: { format: json, entity: Person } }
      """
    )
    let report = try await fixture.run(#"[{"ssn":"111-22","boss":"333-44"}]"#)
    #expect(report.issueSummary == ["link.unresolved 1"])
    #expect(!"\(report)".contains("333-44"))
  }

  @Test("A target of another branch of the family is none, and its record is rejected")
  func wrongBranch() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Thing:
          unique: id
          discriminator: { from: type, values: { n: Node, w: Way } }
          attributes: { id: { type: int64 } }
        Node: { parent: Thing }
        Way:
          parent: Thing
          relationships: { start: { entity: Node, kind: toOne, key: { id: start }, onUnresolved: reject } }
      sources:
        json: { format: json, entity: Thing }
      """
    )
    let report = try await fixture.run(
      #"[{"type":"w","id":1},{"type":"w","id":2,"start":1},{"type":"w","id":3,"start":4},{"type":"w","id":4},{"type":"w","id":5,"start":6},{"type":"n","id":6}]"#
    )
    #expect(report.summary == "read 6, inserted 4, rejected 2")
    #expect(try sql(fixture.store, "SELECT id FROM Thing ORDER BY 1") == ["1", "4", "5", "6"])
  }

  @Test(
    "A reference that is none refuses its record, with path and place",
    arguments: [
      (#""company":[{"id":7,"name":"F"}]"#, "value.type", "company", 19),
      (#""boss":[2]"#, "value.type", "boss", 16),
      (#""boss":{"id":2}"#, "value.type", "boss", 16),
      (#""boss":"two""#, "value.type", "boss", 16),
      (#""boss":2.5"#, "value.number", "boss", 16),
      (#""friends":[3,"x"]"#, "value.type", "friends", 22),
      (#""friends":[3,null]"#, "value.type", "friends", 22),
    ]
  )
  func references(members: String, code: String, path: String, byte: Int) async throws {
    let fixture = try people(
      "company: { entity: Company, kind: toOne },"
        + " boss: { entity: Person, kind: toOne, key: { id: boss } },"
        + " friends: { entity: Person, kind: toMany, key: { id: friends } }"
    )
    let report = try await fixture.run("[{\"id\":1,\(members)},{\"id\":3}]")
    #expect(report.summary == "read 2, inserted 1, rejected 1")
    let issue = try #require(report.issues.first?.examples.first)
    #expect(issue.code.rawValue == code)
    #expect(issue.path == path)
    #expect(issue.origin.byte == byte)
    #expect(issue.origin.record == 1)
    #expect(try contents(of: fixture.store) == ["Person: 3|null|null|null"])
  }

  @Test("A relationship to an entity that the map does not have is a fault of the map")
  func missingMap() throws {
    let faults = #expect(throws: MapFaults.self) {
      try people("company: { entity: Companie, kind: toOne }")
    }
    let fault = try #require(faults?.faults.first)
    #expect(fault.description.contains("Companie"))
    #expect(fault.suggestion == "Company")
    #expect(fault.position?.line == 8)
  }

  @Test("Two parents that claim one child: the last one has it, and the other's loss is counted")
  func claims() async throws {
    let nested = try people(
      "phones: { entity: Phone, kind: toMany, inverse: owner, ordered: true }"
    )
    let feed =
      #"[{"id":1,"phones":[{"kind":"a"},{"kind":"m"}]},{"id":2,"phones":[{"kind":"m"}]}]"#
    let first = try await nested.run(feed)
    #expect(first.linkSummary == ["Person.phones +3 -1"])
    let expected = ["Phone: a|1|0", "Phone: m|2|0", "Person: 1|null", "Person: 2|null"]
    #expect(try contents(of: nested.store) == expected)
    try await nested.run(feed)
    #expect(try contents(of: nested.store) == expected)

    let keys = try people(
      "reports: { entity: Person, kind: toMany, inverse: boss, key: { id: reports } }"
    )
    let report = try await keys.run(
      #"[{"id":1,"reports":[3]},{"id":2,"reports":[3]},{"id":3}]"#,
      #"[{"id":1,"reports":[3]}]"#
    )
    // As if each record came in an import of its own: 1 and 2 have it once it is there, and 1 takes it back.
    #expect(report.linkSummary == ["Person.reports +3 -2"])
    #expect(
      try contents(of: keys.store) == [
        "Person: 1|null|null", "Person: 2|null|null", "Person: 3|null|1",
      ]
    )
  }

  @Test("The last record has a child that an earlier one names by its key")
  func claimedByKey() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Phone: { unique: kind, attributes: { kind: kind, make: make } }
        Person:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { phones: { entity: Phone, kind: toMany, inverse: owner } }
      sources: { json: { format: json, entity: Person } }
      """
    )
    try await fixture.run(#"[{"id":1,"phones":[{"kind":"m","make":"a"}]}]"#)
    try await fixture.run(
      #"[{"id":4,"phones":[{"kind":"m"}]},{"id":5,"phones":[{"kind":"m","make":"b"}]}]"#
    )
    let owner = "SELECT (SELECT id FROM Person WHERE _pk = owner) FROM Phone"
    #expect(try sql(fixture.store, owner) == ["5"])
  }

  @Test("A hundred thousand children of one parent, in order, and moved")
  func manyChildren() async throws {
    let fixture = try people(
      "phones: { entity: Phone, kind: toMany, inverse: owner, ordered: true }",
      phone: "unique: [owner, kind]"
    )
    let phones = (0..<100_000).map { "{\"kind\":\"\($0)\"}" }
    let feed = { (list: [String]) in "[{\"id\":1,\"phones\":[\(list.joined(separator: ","))]}]" }
    let first = try await fixture.run(feed(phones))
    #expect(first.linkSummary == ["Person.phones +100000"])
    let second = try await fixture.run(feed(phones))
    #expect(second.summary == "read 1, unchanged 1")
    #expect(second.linkSummary == [])
    let third = try await fixture.run(feed(phones.reversed()))
    #expect(third.summary == "read 1, updated 1")
    #expect(third.linkSummary == [])
    #expect(
      try sql(fixture.store, "SELECT kind FROM Phone ORDER BY _phones_order LIMIT 2")
        == ["99999", "99998"]
    )
  }

  private func nested(_ levels: Int) -> String {
    (0..<levels).map { #"{"id":\#($0),"boss":"# }.joined() + "null"
      + String(repeating: "}", count: levels)
  }

  @Test("Five hundred levels are imported; more than a feed may have are named, and nothing is in")
  func depth() async throws {
    let fixture = try people("boss: { entity: Person, kind: toOne }")
    let report = try await fixture.run("[\(nested(500)),{\"id\":-1}]")
    #expect(report.summary == "read 2, inserted 2")
    #expect(try sql(fixture.store, "SELECT count(*), count(boss) FROM Person") == ["501|499"])
    let other = try people("boss: { entity: Person, kind: toOne }")
    let failure = await #expect(throws: ImportFailure.self) {
      try await other.run("[{\"id\":-1},\(nested(1100))]")
    }
    let error = failure?.cause as? ReadError
    #expect(error?.code == .limit)
    #expect(error?.origin?.record == 2)
    #expect(
      try sql(other.store, "SELECT count(*) FROM sqlite_schema WHERE name = 'Person'") == ["0"]
    )
  }

  @Test("What a refused record would have linked is not counted")
  func countsOfRefused() async throws {
    let fixture = try people(
      "company: { entity: Company, kind: toOne },"
        + " phones: { entity: Phone, kind: toMany, inverse: owner, ordered: true }",
      phone: "unique: [owner, kind]"
    )
    let report = try await fixture.run(
      #"[{"id":1,"company":{"id":7,"name":"F"},"phones":[{"kind":"m"}]},"#
        + #"{"id":2,"company":{"id":7},"phones":[{"kind":"m"},{"kind":"w"}]},"#
        + #"{"id":3,"phones":[{"kind":"x"}],"company":{"id":8,"name":null}}]"#
    )
    #expect(report.summary == "read 3, inserted 2, rejected 1")
    #expect(report.linkSummary == ["Person.company +2", "Person.phones +3"])
  }

  @Test("A record that the store refuses after its nested objects were written is undone whole")
  func undone() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Tag: { unique: name, attributes: { name: { from: . } } }
        Phone: { unique: kind, attributes: { kind: kind }, relationships: { tags: { entity: Tag, kind: toMany } } }
        Person:
          unique: [[id], [mail]]
          attributes: { id: { type: int64 }, mail: mail }
          relationships:
            main: { entity: Phone, kind: toOne }
            phones: { entity: Phone, kind: toMany, inverse: owner }
      sources: { json: { format: json, entity: Person } }
      """
    )
    let report = try await fixture.run(
      #"[{"id":1,"mail":"a"},{"id":2,"mail":"a","main":{"kind":"m","tags":["x"]}},"#
        + #"{"id":3,"mail":"c","main":{"kind":"n","tags":["y"]},"phones":[{"kind":"o","tags":["y","z"]}]}]"#
    )
    #expect(report.summary == "read 3, inserted 2, rejected 1")
    #expect(report.issueSummary == ["key.duplicate 1"])
    #expect(report.linkSummary == ["Person.main +1", "Person.phones +1", "Phone.tags +3"])
    #expect(
      try contents(of: fixture.store) == [
        "Tag: y", "Tag: z", "Phone: n|null", "Phone: o|3", "Person: 1|a|null", "Person: 3|c|n",
        "Phone_tags: n|y", "Phone_tags: o|y", "Phone_tags: o|z",
      ]
    )
  }
}
