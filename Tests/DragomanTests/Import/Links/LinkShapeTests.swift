import DragomanGraph
import Testing

@testable import Dragoman

@Suite("Kinds of relationships") struct LinkShapeTests {
  private func pair(_ left: String, _ right: String = "") throws -> ImportFixture {
    try ImportFixture(
      """
      version: 1
      entities:
        B:
          unique: id
          attributes: { id: { type: int64 } }
          \(right.isEmpty ? "" : "relationships: { \(right) }")
        A:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { \(left) }
      sources:
        a: { format: json, entity: A, records: a }
        b: { format: json, entity: B, records: b }
      """
    )
  }

  @Test("One to one: the last owner has the target, whichever side stores it")
  func oneToOne() async throws {
    let sides = [
      (
        "b: { entity: B, kind: toOne, key: { id: b }, inverse: a }",
        "a: { entity: A, kind: toOne, key: { id: a }, inverse: b }"
      ),
      (
        "b: { entity: B, kind: toOne, from: b, inverse: a }",
        "a: { entity: A, kind: toOne, key: { id: a }, inverse: b }"
      ),
    ]
    for (number, (left, right)) in sides.enumerated() {
      let fixture = try pair(left, right)
      let target = number == 0 ? "4" : #"{"id":4}"#
      let feed =
        "{\"b\":[{\"id\":4}],\"a\":[{\"id\":1,\"b\":\(target)},{\"id\":2,\"b\":\(target)}]}"
      try await fixture.run(feed)
      let owners = "SELECT A.id FROM A JOIN B ON A.b = B._pk"
      let swapped = "SELECT A.id FROM A JOIN B ON B.a = A._pk"
      let isOnA = try sql(fixture.store, "SELECT 1 FROM pragma_table_info('A') WHERE name = 'b'")
      #expect(try sql(fixture.store, isOnA.isEmpty ? swapped : owners) == ["2"])
    }
  }

  @Test("Many to many from both sides, and a symmetric relationship")
  func manyToMany() async throws {
    let fixture = try pair(
      "bs: { entity: B, kind: toMany, key: { id: bs }, inverse: as }",
      "as: { entity: A, kind: toMany, key: { id: as }, inverse: bs }"
    )
    try await fixture.run(
      #"{"b":[{"id":4},{"id":5}],"a":[{"id":1,"bs":[4,5]},{"id":2}]}"#,
      #"{"b":[{"id":5,"as":[2]}],"a":[]}"#
    )
    let links =
      "SELECT A.id, B.id FROM A_bs l JOIN A ON A._pk = l.owner JOIN B ON B._pk = l.target ORDER BY 1, 2"
    let orders =
      "SELECT A.id, B.id FROM B_as l JOIN A ON A._pk = l.target JOIN B ON B._pk = l.owner ORDER BY 1, 2"
    let isA = try !sql(fixture.store, "SELECT 1 FROM sqlite_schema WHERE name = 'A_bs'").isEmpty
    #expect(try sql(fixture.store, isA ? links : orders) == ["1|4", "2|5"])
    let friends = try pair("friends: { entity: A, kind: toMany, key: { id: f }, inverse: friends }")
    try await friends.run(#"{"a":[{"id":1,"f":[2,3]},{"id":2},{"id":3}],"b":[]}"#)
    try await friends.run(#"{"a":[{"id":1,"f":[2]}],"b":[]}"#)
    #expect(
      try sql(
        friends.store,
        "SELECT x.id, y.id FROM A_friends l JOIN A x ON x._pk = l.owner JOIN A y ON y._pk = l.target"
          + " ORDER BY 1, 2"
      ) == ["1|2", "2|1"]
    )
  }

  @Test("A to-many by keys that is stored in its targets; the last owner wins")
  func inverseColumn() async throws {
    let fixture = try pair(
      "bs: { entity: B, kind: toMany, key: { id: bs }, inverse: a, ordered: true }"
    )
    let list = "SELECT A.id, B.id FROM B JOIN A ON A._pk = B.a ORDER BY 1, _bs_order"
    for (feed, expected) in [
      (
        #"{"a":[{"id":1,"bs":[6,4]},{"id":2,"bs":[5]}],"b":[{"id":4},{"id":5},{"id":6}]}"#,
        ["1|6", "1|4", "2|5"]
      ),
      (#"{"a":[{"id":2,"bs":[5,4]}],"b":[]}"#, ["1|6", "2|5", "2|4"]),
      (#"{"a":[{"id":1,"bs":[]},{"id":1,"bs":[6]},{"id":2,"bs":[4]}],"b":[]}"#, ["1|6", "2|4"]),
    ] {
      try await fixture.run(feed)
      #expect(try sql(fixture.store, list) == expected)
    }
  }

  @Test("Pruning follows the delete rules, and leaves what is only referred to")
  func pruning() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        C: { unique: [p, n], attributes: { n: { type: int64 } } }
        P:
          unique: id
          attributes: { id: { type: int64 } }
          relationships:
            cs: { entity: C, kind: toMany, inverse: p, onDelete: cascade }
            boss: { entity: P, kind: toOne, key: { id: boss }, onUnresolved: stub }
      sources: { json: { format: json, entity: P } }
      """
    )
    try await fixture.run(#"[{"id":1,"cs":[{"n":1},{"n":2}]},{"id":2,"boss":1,"cs":[{"n":3}]}]"#)
    let report = try await fixture.run(#"[{"id":2,"boss":9}]"#) { $0.prune = .init() }
    #expect(report.pruned == 3)
    #expect(try contents(of: fixture.store) == ["C: 3|2", "P: 1|9|null", "P: null|2|9"])
  }

  @Test("A list that unlinks and deletes is refused where a rule protects what it unlinks")
  func protected() async throws {
    let fixture = try pair(
      "b: { entity: B, kind: toOne, onUnlink: delete }",
      "cs: { entity: A, kind: toMany, key: { id: cs }, inverse: owner, onDelete: deny }"
    )
    try await fixture.run(#"{"a":[{"id":1,"b":{"id":4}}],"b":[]}"#)
    try await fixture.run(#"{"a":[],"b":[{"id":4,"cs":[1]}]}"#)
    let before = try contents(of: fixture.store)
    let report = try await fixture.run(#"{"a":[{"id":1,"b":null}],"b":[]}"#)
    #expect(report.issueSummary == ["link.denied 1"])
    #expect(try contents(of: fixture.store) == before)
  }
}
