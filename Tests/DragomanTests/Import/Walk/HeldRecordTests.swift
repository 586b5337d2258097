import DragomanGraph
import Testing

@testable import Dragoman

/// Records that wait for their targets until the end (`onUnresolved: reject`, a to-one in the identity).
@Suite("Records that are held until the end of an import") struct HeldRecordTests {
  private static let orders = """
    version: 1
    entities:
      Customer:
        unique: id
        attributes: { id: { type: int64 }, name: name }
      Tag: { unique: name, attributes: { name: { from: "." } } }
      Order:
        unique: no
        deleteWhen: { from: { json: op, xml: "@op" }, equals: D }
        attributes: { no: { type: int64, from: { json: no, xml: "@no" } }, note: { from: { json: note } } }
        relationships:
          tags: { entity: Tag, kind: toMany, from: { json: tags } }
          seller: { entity: Customer, kind: toOne, key: { id: { json: cust } }, onUnresolved: reject }
          buyer: { entity: Customer, kind: toOne, key: { id: { xml: "@cust" } }, onUnresolved: reject }
    sources:
      orders: { format: json, entity: Order, records: /orders }
      xml: { format: xml, entity: Order, records: /orders/o }
      customers: { format: json, entity: Customer, records: /customers }
      csv: { format: csv, entity: Customer }
    """

  private static let all =
    "SELECT o.no, o.note, s.id, b.id FROM \"Order\" o LEFT JOIN Customer s ON s._pk = o.seller"
    + " LEFT JOIN Customer b ON b._pk = o.buyer ORDER BY o.no"

  @Test("They are written by the plan of their own format, whatever comes after them")
  func formats() async throws {
    let fixture = try ImportFixture(Self.orders)
    let report = try await fixture.run(
      #"{"orders":[{"no":1,"note":"n","tags":["a","b"],"cust":7},{"no":2,"cust":9}],"customers":[]}"#,
      #"<orders><o no="3" cust="7"/><o no="4" cust="8"/></orders>"#,
      "id,name\n7,Seven\n"
    )
    #expect(report.summary == "read 5, inserted 3, rejected 2")
    #expect(try sql(fixture.store, Self.all) == ["1|n|7|null", "3|null|null|7"])
    #expect(try sql(fixture.store, "SELECT count(*) FROM Order_tags") == ["2"])
    #expect(report.issues.flatMap(\.examples).map(\.key) == ["2", "4"])
  }

  @Test("A tombstone waits behind the record of its key", arguments: [true, false])
  func tombstone(customersFirst: Bool) async throws {
    let orders =
      #""orders":[{"no":1,"cust":7},{"no":1,"op":"D"},{"no":2,"cust":7},{"no":2,"op":"D"},{"no":2,"cust":7}]"#
    let customers = #""customers":[{"id":7}]"#
    let fixture = try ImportFixture(Self.orders)
    let report = try await fixture.run(
      customersFirst ? "{\(customers),\(orders)}" : "{\(orders),\(customers)}"
    )
    #expect(report.summary == "read 6, inserted 4, deleted 2")
    #expect(try sql(fixture.store, Self.all) == ["2|null|7|null"])
  }

  private static func people(_ boss: String, _ others: String = "") -> String {
    """
    Person:
      unique: [[id], [email]]
      attributes: { id: id, email: email, name: name }
      relationships:
        boss: { entity: Person, kind: toOne, \(boss), onUnresolved: reject }
        friend: { entity: Person, kind: toOne, from: friend }
        friends: { entity: Person, kind: toMany, from: friends }
    """
  }

  private static let bosses =
    "SELECT p.id, b.id FROM Person p LEFT JOIN Person b ON b._pk = p.boss ORDER BY p.id"

  @Test("A target may be nested in the record itself, or in another that waits")
  func nested() async throws {
    let itself: ForeignValue = ["id": "1", "boss": "2", "friends": [["id": "2"]]]
    let other: ForeignValue = ["id": "3", "boss": "4"]
    let holder: ForeignValue = ["id": "5", "boss": "3", "friends": [["id": "4"]]]
    for way in Way.allCases {
      let fixture = try WalkFixture(Self.people("key: { id: boss }"))
      let report = try await fixture.run("Person", [itself, other, holder], by: way)
      #expect(report.summary == "read 3, inserted 3")
      #expect(
        try fixture.rows(Self.bosses) == ["1|2", "2|null", "3|4", "4|null", "5|3"]
      )
      let again = try await fixture.run("Person", [itself, other, holder], by: way)
      #expect(again.summary == "read 3, unchanged 3")
    }
  }

  @Test("A target may be named by its second key", arguments: Way.allCases)
  func secondKey(way: Way) async throws {
    let fixture = try WalkFixture(Self.people("key: { email: boss }"))
    let records: [ForeignValue] = [
      ["id": "1", "email": "a", "boss": "b"], ["id": "2", "email": "b", "boss": "c"],
      ["id": "3", "email": "c"],
    ]
    #expect(try await fixture.run("Person", records, by: way).summary == "read 3, inserted 3")
    #expect(try fixture.rows(Self.bosses) == ["1|2", "2|3", "3|null"])
  }

  @Test("Two normal forms of a text are two keys", arguments: Way.allCases)
  func normalForms(way: Way) async throws {
    let fixture = try WalkFixture(Self.people("key: { id: boss }"))
    let records: [ForeignValue] = [
      ["id": "x", "boss": "e\u{301}"], ["id": "\u{E9}", "boss": "z"], ["id": "z"],
    ]
    let report = try await fixture.run("Person", records, by: way)
    #expect(report.summary == "read 3, inserted 2, rejected 1")
    #expect(try fixture.rows("SELECT hex(id) FROM Person ORDER BY 1") == ["7A", "C3A9"])
  }

  @Test("No character of a text divides the parts of a key", arguments: Way.allCases)
  func parts(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Pair:
        unique: [a, b]
        attributes: { a: a, b: b }
        relationships:
          other: { entity: Pair, kind: toOne, key: { a: oa, b: ob }, onUnresolved: reject }
      """
    )
    let records: [ForeignValue] = [
      ["a": "x", "b": "y", "oa": "1\u{1F}b=2", "ob": "3"],
      ["a": "1", "b": "2\u{1F}b=3", "oa": "x", "ob": "y"],
    ]
    #expect(try await fixture.run("Pair", records, by: way).summary == "read 2, rejected 2")
  }

  @Test("A later record that has the object nested in it waits, too", arguments: Way.allCases)
  func nestedLater(way: Way) async throws {
    let fixture = try WalkFixture(Self.people("key: { id: boss }"))
    let records: [ForeignValue] = [
      ["id": "1", "name": "old", "boss": "9"],
      ["id": "2", "friend": ["id": "1", "name": "new"]],
      ["id": "9"],
    ]
    #expect(try await fixture.run("Person", records, by: way).summary == "read 3, inserted 3")
    #expect(
      try fixture.rows("SELECT id, name FROM Person ORDER BY id") == ["1|new", "2|null", "9|null"]
    )
  }

  @Test("What a record needs is written before it, whatever the order of the feed")
  func order() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Customer: { unique: id, attributes: { id: { type: int64 } } }
        Order:
          unique: no
          attributes: { no: { type: int64 } }
          relationships: { customer: { entity: Customer, kind: toOne, key: { id: cust }, onUnresolved: reject } }
        Line:
          unique: [order, art]
          attributes: { art: art }
          relationships: { order: { entity: Order, kind: toOne, key: { no: order } } }
      sources:
        lines: { format: json, entity: Line, records: /lines }
        orders: { format: json, entity: Order, records: /orders }
        customers: { format: json, entity: Customer, records: /customers }
      """
    )
    let feed =
      #"{"lines":[{"order":1,"art":"A"},{"order":2,"art":"B"}],"orders":[{"no":1,"cust":7},{"no":2,"cust":8}],"customers":[{"id":7}]}"#
    let report = try await fixture.run(feed)
    #expect(report.summary == "read 5, inserted 3, rejected 2")
    #expect(
      try sql(
        fixture.store,
        "SELECT l.art, o.no FROM Line l JOIN \"Order\" o ON o._pk = l.\"order\""
      )
        == ["A|1"]
    )
    #expect(report.issues.map(\.count) == [1, 1])
  }

  @Test(
    "Who needs a record that is refused in the end is rejected with it",
    arguments: Way.allCases
  )
  func refused(way: Way) async throws {
    let fixture = try WalkFixture(Self.people("key: { id: boss }"))
    let records: [ForeignValue] = [
      ["id": "1", "boss": "2"], ["id": "2", "email": "same", "boss": "3"],
      ["id": "3", "email": "same"],
    ]
    let report = try await fixture.run("Person", records, by: way)
    #expect(report.summary == "read 3, inserted 1, rejected 2")
    #expect(try fixture.rows(Self.bosses) == ["3|null"])
  }

  @Test(
    "A reference that nobody has is told where it stands, though its record was written late",
    arguments: [
      // The second record may be about an object of the table that is loaded; the first one needs the second.
      ("", #"[{"id":0,"f":"x"},{"id":0,"f":"a"}]"#, 30),
      (
        ", q: { entity: P, kind: toOne, key: { id: q }, onUnresolved: reject }",
        #"[{"id":1,"q":2,"f":"a"},{"id":2}]"#, 19
      ),
    ]
  )
  func places(rest: String, feed: String, byte: Int) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        G: { unique: id, attributes: { id: id } }
        P:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { r: { entity: G, kind: toOne, key: { id: f } }\(rest) }
      sources: { p: { format: json, entity: P } }
      """
    )
    let report = try await fixture.run(feed)
    let places = report.issues.flatMap(\.examples).map(\.origin)
    #expect(places.map(\.byte) == [byte])
    #expect(places.map(\.column) == [byte + 1])
  }

  @Test(
    "Records about one object keep their order, whoever makes what the first of them needs",
    arguments: Way.allCases,
    [
      // The first record needs itself; the target of another one is nested in the last record about the same object.
      [
        ["id": 4, "friends": [3, 4]], ["id": 4], ["id": 4, "friends": [2]], ["id": 3], ["id": 2],
      ],
      [
        ["id": 4, "friends": [3]], ["id": 4],
        ["id": 4, "friends": [2], "kids": [["id": 3, "name": "c"]]],
        ["id": 2],
      ],
    ] as [[ForeignValue]]
  )
  func order(way: Way, records: [ForeignValue]) async throws {
    let fixture = try WalkFixture(
      """
      Person:
        unique: id
        attributes: { id: { type: int64 }, name: name }
        relationships:
          friends: { entity: Person, kind: toMany, key: { id: friends }, onUnresolved: reject }
          kids: { entity: Person, kind: toMany, from: kids }
      """
    )
    let report = try await fixture.run("Person", records, by: way)
    #expect(report.counts.rejected == 0)
    #expect(
      try fixture.rows(
        "SELECT p.id, f.id FROM Person_friends l JOIN Person p ON p._pk = l.owner JOIN Person f ON f._pk = l.target"
      ) == ["4|2"]
    )
  }

  @Test(
    "A record whose target is there by the end does not wait for another one about it",
    arguments: Way.allCases
  )
  func target(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Person:
        unique: id
        attributes: { id: { type: int64 } }
        relationships:
          boss: { entity: Person, kind: toOne, from: [] }
          team: { entity: Person, kind: toMany, key: { id: team }, onUnresolved: reject, inverse: boss }
      """
    )
    let records: [ForeignValue] = [
      ["id": 1, "team": [4]], ["id": 4], ["id": 4, "team": [1, 4]],
    ]
    let report = try await fixture.run("Person", records, by: way)
    #expect(report.summary == "read 3, inserted 2, updated 1")
    #expect(try fixture.rows(Self.bosses) == ["1|4", "4|4"])
  }

  @Test("A record counts as read and committed when it is known what becomes of it")
  func committed() async throws {
    let fixture = try ImportFixture(Self.orders)
    let good =
      #"{"orders":[{"no":1,"cust":7},{"no":2,"cust":7}],"customers":[{"id":7},{"id":8}]}"#
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run(good, #"{"orders":[}"#) {
        $0.options.commit = .batch
        $0.options.batchSize = 1
      }
    }
    #expect(failure?.report.committed == 2)
    #expect(failure?.report.summary == "read 2, inserted 2")
    let report = try await fixture.run(good) { $0.options.commit = .batch }
    #expect(report.committed == 4)
    #expect(report.summary == "read 4, inserted 2, unchanged 2")
  }

  @Test(
    "A held record is rejected whose target an earlier one of them deletes on its way",
    arguments: Way.allCases,
    [1, 100]
  )
  func deletedOnTheWay(way: Way, batchSize: Int) async throws {
    let fixture = try WalkFixture(
      """
      A:
        unique: k
        attributes: { k: k }
        relationships:
          r: { entity: A, kind: toMany, key: { k: "r[*]" }, inverse: r, onUnresolved: reject, onUnlink: delete, onDelete: cascade }
      """
    )
    // The third one lets a go, which takes c along that it names, and e itself.
    let report = try await fixture.run(
      "A",
      [
        ["k": "a"], ["k": "e", "r": ["a"]], ["k": "e", "r": ["c"]], ["k": "e", "r": ["c"]],
        ["k": "c", "r": ["a"]],
      ],
      by: way,
      batchSize: batchSize
    )
    #expect(report.summary == "read 5, inserted 3, updated 1, rejected 1")
    #expect(report.issues.map(\.code) == [.linkUnresolved])
    #expect(try fixture.rows("SELECT k FROM A") == [])
  }
}
