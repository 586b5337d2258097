import DragomanGraph
import Testing

@testable import Dragoman

@Suite("Keys of targets") struct KeyTests {
  private func people(_ rest: String, entity: String = "") throws -> ImportFixture {
    try ImportFixture(
      """
      version: 1
      entities:
        Team:
          unique: [[id], [code]]
          attributes: { id: { type: int64, from: { json: id, xml: "@id" } }, code: { from: { json: code, xml: "@code" } }, name: name }
        Person:
          unique: id
          attributes: { id: { type: int64, from: { json: id, xml: "@id" } } }
          relationships:
            \(rest)
      sources:
        people: { format: json, entity: Person, records: people }
        teams: { format: json, entity: Team, records: teams }
        xml: { format: xml, entity: Person, records: /r/p }
        xmlTeams: { format: xml, entity: Team, records: /r/t }
      """
    )
  }

  @Test("Forward references and cycles are resolved at the end of the import")
  func forward() async throws {
    let fixture = try people(
      "team: { entity: Team, kind: toOne, key: { id: team_id } }\n"
        + "      boss: { entity: Person, kind: toOne, key: { id: boss_id }, inverse: reports }"
    )
    let feed = #"""
      {"people":[{"id":1,"team_id":4,"boss_id":2},{"id":2,"boss_id":1},{"id":3,"boss_id":3}],
       "teams":[{"id":4,"code":"d"}]}
      """#
    let report = try await fixture.run(feed)
    #expect(report.summary == "read 4, inserted 4")
    #expect(report.linkSummary == ["Person.boss +3", "Person.team +1"])
    #expect(
      try contents(of: fixture.store)
        == ["Team: 4|d|null", "Person: 1|4|2", "Person: 2|null|1", "Person: 3|null|3"]
    )
    let again = try await fixture.run(feed)
    #expect(again.summary == "read 4, unchanged 4")
    #expect(again.linkSummary == [])
  }

  @Test(
    "Keys are found by any unique key of the target, in lists, texts, and attributes",
    arguments: [
      (#"{ id: team_ids }"#, #"{"people":[{"id":1,"team_ids":[4,5]}]}"#),
      (#"{ id: "team_ids[*]" }"#, #"{"people":[{"id":1,"team_ids":[4,5]}]}"#),
      (#"{ code: teams }"#, #"{"people":[{"id":1,"teams":["d","e"]}]}"#),
      (#"{ id: "teams[*].id" }"#, #"{"people":[{"id":1,"teams":[{"id":4},{"id":5}]}]}"#),
      (#"{ id: { from: teams, split: whitespace } }"#, #"{"people":[{"id":1,"teams":" 4\n 5 "}]}"#),
      (#"{ id: { from: teams, split: "," } }"#, #"{"people":[{"id":1,"teams":"4, 5"}]}"#),
      (#"{ id: { json: x, xml: "t/@ref" } }"#, #"<r><p id="1"><t ref="4"/><t ref="5"/></p></r>"#),
      (
        #"{ id: { from: { json: x, xml: "@teams" }, split: whitespace } }"#,
        #"<r><p id="1" teams="4 5"/></r>"#
      ),
    ]
  )
  func spellings(key: String, feed: String) async throws {
    let fixture = try people("teams: { entity: Team, kind: toMany, key: \(key) }")
    try await fixture.run(#"{"teams":[{"id":4,"code":"d"},{"id":5,"code":"e"}],"people":[]}"#)
    let report = try await fixture.run(feed)
    #expect(report.issueSummary == [])
    #expect(
      try contents(of: fixture.store) == [
        "Team: 4|d|null", "Team: 5|e|null", "Person: 1", "Person_teams: 1|4", "Person_teams: 1|5",
      ]
    )
  }

  @Test(
    "A reference that nobody has is cleared, makes a stub, or waits",
    arguments: [
      ("clear", ["Person: 1|4", "Person: 2|null"], "link.unresolved 1", 0),
      ("stub", ["Person: 1|4", "Person: 2|9"], "", 1),
      ("pending", ["Person: 1|4", "Person: 2|null"], "", 0),
    ]
  )
  func unresolved(policy: String, expected: [String], issues: String, stubs: Int) async throws {
    let fixture = try people(
      "team: { entity: Team, kind: toOne, key: { id: team_id }, onUnresolved: \(policy) }"
    )
    let feed = #"{"people":[{"id":1,"team_id":4},{"id":2,"team_id":9}],"teams":[{"id":4}]}"#
    let report = try await fixture.run(feed)
    #expect(try contents(of: fixture.store).filter { $0.hasPrefix("Person") } == expected)
    #expect(report.issueSummary.joined() == issues)
    #expect(report.entities["Team"]?.stubs == stubs)
    #expect(report.relationships["Person.team"]?.unresolved == 1)
    let again = try await fixture.run(feed)
    #expect(again.summary == "read 3, unchanged 3")

    // The target comes in a later import.
    let later = try await fixture.run(#"{"people":[],"teams":[{"id":9,"name":"late"}]}"#)
    let isKept = policy != "clear"
    #expect(
      try sql(
        fixture.store,
        "SELECT t.name FROM Person p JOIN Team t ON t._pk = p.team WHERE p.id = 2"
      )
        == (isKept ? ["late"] : [])
    )
    #expect(later.summary == (policy == "stub" ? "read 1, updated 1" : "read 1, inserted 1"))
    #expect(try sql(fixture.store, "SELECT count(*) FROM _dragoman_pending") == ["0"])
    if policy == "stub" {
      #expect(try sql(fixture.store, "SELECT _stub FROM Team WHERE id = 9") == ["null"])
    }
  }

  @Test("reject holds a record until the end; who needs each other is written together")
  func rejecting() async throws {
    let fixture = try people(
      "boss: { entity: Person, kind: toOne, key: { id: boss_id }, onUnresolved: reject }"
    )
    let report = try await fixture.run(
      #"{"people":[{"id":1,"boss_id":2},{"id":2,"boss_id":1},{"id":3,"boss_id":9},{"id":4,"boss_id":3},{"id":5}],"#
        + #""teams":[]}"#
    )
    #expect(report.summary == "read 5, inserted 3, rejected 2")
    #expect(report.issueSummary == ["link.unresolved 2"])
    #expect(report.issues.first?.examples.map(\.origin.record) == [3, 4])
    #expect(
      try contents(of: fixture.store) == ["Person: 1|2", "Person: 2|1", "Person: 5|null"]
    )
  }

  @Test("Ordered links keep the feed's order, repeats included, and store a new order")
  func order() async throws {
    let fixture = try people(
      "teams: { entity: Team, kind: toMany, key: { id: teams }, ordered: true, repeats: true }"
    )
    let list = { (store: SQLiteStore) in
      try sql(
        store,
        "SELECT group_concat(id, ' ') FROM (SELECT id FROM Person_teams JOIN Team ON _pk = target"
          + " ORDER BY position)"
      ).joined()
    }
    let teams = #""teams":[{"id":4},{"id":5},{"id":6}]"#
    for (keys, summary) in [
      ("4,5,4", "inserted 4"), ("4,5,4", "unchanged 4"), ("5,4,4", "updated 1, unchanged 3"),
      ("6", "updated 1, unchanged 3"),
    ] {
      let report = try await fixture.run("{\"people\":[{\"id\":1,\"teams\":[\(keys)]}],\(teams)}")
      #expect(report.summary == "read 4, \(summary)")
      #expect(try list(fixture.store) == keys.replacing(",", with: " "))
    }
  }

  @Test("union adds to what is there")
  func union() async throws {
    let fixture = try people(
      "teams: { entity: Team, kind: toMany, key: { id: teams }, ordered: true, assign: union }"
    )
    let teams = #""teams":[{"id":4},{"id":5},{"id":6}]"#
    for keys in ["5", "4,5", "", "6,4"] {
      try await fixture.run("{\"people\":[{\"id\":1,\"teams\":[\(keys)]}],\(teams)}")
    }
    #expect(
      try sql(
        fixture.store,
        "SELECT id FROM Person_teams JOIN Team ON _pk = target ORDER BY position"
      )
        == ["5", "4", "6"]
    )
  }

  @Test("A composite key may take a part from the owner")
  func composite() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Person:
          unique: [country, id]
          attributes: { country: country, id: { type: int64 } }
          relationships:
            boss:
              entity: Person
              kind: toOne
              key: { country: { attribute: country }, id: boss }
      sources: { json: { format: json, entity: Person } }
      """
    )
    try await fixture.run(
      #"[{"country":"NO","id":1,"boss":2},{"country":"SE","id":1,"boss":2},{"country":"NO","id":2}]"#
    )
    #expect(
      try sql(
        fixture.store,
        "SELECT p.country, p.id, b.country, b.id FROM Person p LEFT JOIN Person b ON b._pk = p.boss"
          + " ORDER BY 1, 2"
      ) == ["NO|1|NO|2", "NO|2|null|null", "SE|1|null|null"]
    )
  }

  @Test("A part of a key may be a to-one of the target: references give that object's key")
  func keysThroughLinks() async throws {
    for policy in ["clear", "reject", "stub", "pending"] {
      let fixture = try ImportFixture(
        """
        version: 1
        entities:
          Order: { unique: number, attributes: { number: { type: int64 } } }
          Line:
            unique: [order, article]
            attributes: { article: article }
            relationships: { order: { entity: Order, kind: toOne, key: { number: order } } }
          Return:
            unique: id
            attributes: { id: { type: int64 } }
            relationships:
              line:
                entity: Line
                kind: toOne
                key: { order: order, article: article }
                onUnresolved: \(policy)
              others:
                entity: Line
                kind: toMany
                ordered: true
                key: { order: "others[*].order", article: "others[*].article" }
        sources:
          returns: { format: json, entity: Return, records: returns }
          lines: { format: json, entity: Line, records: lines }
          orders: { format: json, entity: Order, records: orders }
        """
      )
      let report = try await fixture.run(
        #"{"returns":[{"id":1,"order":7,"article":"a","others":[{"order":8,"article":"a"},{"order":7,"article":"b"}]},"#
          + #"{"id":2,"order":7,"article":"c"},{"id":3,"order":9,"article":"a"}],"#
          + #""orders":[{"number":7},{"number":8}],"#
          + #""lines":[{"order":7,"article":"a"},{"order":7,"article":"b"},{"order":8,"article":"a"}]}"#
      )
      let rows = try sql(
        fixture.store,
        "SELECT r.id, o.number, l.article FROM Return r LEFT JOIN Line l ON l._pk = r.line"
          + " LEFT JOIN \"Order\" o ON o._pk = l.\"order\" ORDER BY 1"
      )
      #expect(
        rows
          == [
            "clear": ["1|7|a", "2|null|null", "3|null|null"], "reject": ["1|7|a"],
            // The line of an order that nobody has is not made.
            "stub": ["1|7|a", "2|7|c", "3|null|null"],
            "pending": ["1|7|a", "2|null|null", "3|null|null"],
          ][policy]
      )
      #expect(
        try sql(
          fixture.store,
          "SELECT o.number, l.article FROM Return_others x JOIN Line l ON l._pk = x.target"
            + " JOIN \"Order\" o ON o._pk = l.\"order\" ORDER BY x.position"
        ) == ["8|a", "7|b"]
      )
      #expect(report.counts.rejected == (policy == "reject" ? 2 : 0))
      try await fixture.run(
        #"{"returns":[],"orders":[{"number":9}],"lines":[{"order":7,"article":"c"},{"order":9,"article":"a"}]}"#
      )
      let later = try sql(fixture.store, "SELECT count(line) FROM Return")
      #expect(later == [["clear": "1", "reject": "1", "stub": "2", "pending": "3"][policy] ?? ""])
    }
  }

  @Test("A to-one whose target has no key of one part can be no part of a key")
  func keysThroughNothing() throws {
    let faults = #expect(throws: MapFaults.self) {
      try ImportFixture(
        """
        version: 1
        entities:
          Place: { unique: [x, y], attributes: { x: x, y: y } }
          House:
            unique: [place, name]
            attributes: { name: name }
            relationships: { place: { entity: Place, kind: toOne } }
          Person:
            unique: id
            attributes: { id: id }
            relationships: { house: { entity: House, kind: toOne, key: { place: p, name: h } } }
        sources: { json: { format: json, entity: Person } }
        """
      )
    }
    #expect(faults?.faults.map(\.place) == ["entities.Person.relationships.house.key.place"])
  }

  @Test("A part of a key may be the same for all targets")
  func constants() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Thing: { unique: [kind, id], attributes: { kind: kind, id: { type: int64 } } }
        Box:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { balls: { entity: Thing, kind: toMany, key: { kind: { value: ball }, id: balls } } }
      sources:
        boxes: { format: json, entity: Box, records: boxes }
        things: { format: json, entity: Thing, records: things }
      """
    )
    try await fixture.run(
      #"{"boxes":[{"id":1,"balls":[2,3]}],"things":[{"kind":"ball","id":2},{"kind":"cube","id":3},{"kind":"ball","id":3}]}"#
    )
    #expect(
      try contents(of: fixture.store).filter { $0.hasPrefix("Box_") }
        == ["Box_balls: 1|ball,2", "Box_balls: 1|ball,3"]
    )
    let text = try fixture.map.yaml()
    #expect(text.contains("value: ball"))
    #expect(try ImportMap(yaml: text) == fixture.map)
  }

  @Test("A tombstone clears links, deletes children, and respects deny")
  func tombstones() async throws {
    for (rule, expected, summary) in [
      ("nullify", ["Person: 2|null"], "read 1, deleted 1"),
      ("cascade", [], "read 1, deleted 1"),
      ("deny", ["Person: 1|null", "Person: 2|1"], "read 1, rejected 1"),
    ] {
      let fixture = try people(
        "boss: { entity: Person, kind: toOne, key: { id: boss }, inverse: reports }\n"
          + "      reports: { entity: Person, kind: toMany, key: { id: r }, inverse: boss, onDelete: \(rule) }\n"
          + "    deleteWhen: { from: gone, equals: true }"
      )
      try await fixture.run(#"{"people":[{"id":1},{"id":2,"boss":1}],"teams":[]}"#)
      let report = try await fixture.run(#"{"people":[{"id":1,"gone":true}],"teams":[]}"#)
      #expect(try contents(of: fixture.store) == expected)
      #expect(report.summary == summary)
    }
  }

  @Test("Sub-entities share a table, told apart by the discriminator")
  func subEntities() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Party:
          unique: id
          discriminator: { from: kind, values: { p: Person, c: Company } }
          attributes: { id: { type: int64 }, name: name }
          relationships: { boss: { entity: Person, kind: toOne, key: { id: boss } } }
        Person: { parent: Party, attributes: { born: { type: int64 } } }
        Company: { parent: Party, attributes: { form: form } }
      sources: { json: { format: json, entity: Party } }
      """
    )
    let report = try await fixture.run(
      #"[{"id":1,"kind":"c","name":"F","form":"AS","boss":2},{"id":2,"kind":"p","born":1980,"boss":1},"#
        + #"{"id":3},{"id":4,"kind":"x"}]"#
    )
    #expect(report.summary == "read 4, inserted 3, rejected 1")
    #expect(
      try sql(fixture.store, "SELECT _entity, id, name, born, form, boss IS NOT NULL FROM Party")
        == ["Company|1|F|null|AS|1", "Person|2|null|1980|null|0", "Party|3|null|null|null|0"]
    )
    #expect(report.issueSummary == ["value.word 1", "link.unresolved 1"])
  }
}
