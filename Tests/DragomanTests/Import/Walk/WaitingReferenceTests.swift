import DragomanGraph
import Testing

@testable import Dragoman

/// References that wait for targets across imports, and stubs: the same whichever way records come.
@Suite("References that wait across imports, and stubs") struct WaitingReferenceTests {
  private static func people(_ entity: String, _ key: String, _ policy: String) -> String {
    """
    \(entity):
      unique: [[id], [email]]
      attributes: { id: { type: int64 }, email: email }
      relationships:
        boss: { entity: \(entity), kind: toOne, key: { \(key): boss }, onUnresolved: \(policy) }
    """
  }

  @Test(
    "They wait on, whatever later imports do with their own",
    arguments: Way.allCases,
    ["clear", "reject", "stub", "pending"]
  )
  func waitOn(way: Way, policy: String) async throws {
    let first = try WalkFixture(Self.people("Person", "email", "pending"))
    try await first.run("Person", [["id": 1, "email": "one", "boss": "two"]], by: way)
    let later = WalkFixture(Self.people("Person", "email", policy), in: first.stack)
    let report = try await later.run("Person", [["id": 3, "email": "three"]], by: way)
    #expect(report.issueSummary == [])
    #expect(try first.waiting() == [#"Person.boss {"email":"two"}"#])
    try await later.run("Person", [["id": 2, "email": "two"]], by: way)
    #expect(try first.waiting() == [])
    #expect(
      try first.rows("SELECT p.id, b.id FROM Person p JOIN Person b ON b._pk = p.boss") == ["1|2"]
    )
  }

  @Test(
    "They are found by their own key, whichever key the map at hand has",
    arguments: Way.allCases,
    ["Person", "Our.Person"]
  )
  func otherKey(way: Way, entity: String) async throws {
    let first = try WalkFixture(Self.people(entity, "email", "pending"))
    try await first.run(entity, [["id": 1, "email": "one", "boss": "two"]], by: way)
    let later = WalkFixture(Self.people(entity, "id", "pending"), in: first.stack)
    try await later.run(entity, [["id": 4, "email": "four", "boss": 5]], by: way)
    #expect(try first.waiting().count == 2)
    try await later.run(entity, [["id": 2, "email": "two"], ["id": 5, "email": "five"]], by: way)
    #expect(try first.waiting() == [])
    #expect(
      try first.rows(
        "SELECT p.id, b.id FROM \"\(entity)\" p JOIN \"\(entity)\" b ON b._pk = p.boss ORDER BY 1"
      ) == ["1|2", "4|5"]
    )
  }

  @Test("A record takes back what waits by another key", arguments: Way.allCases)
  func takenBack(way: Way) async throws {
    let first = try WalkFixture(Self.people("Person", "email", "pending"))
    try await first.run("Person", [["id": 1, "email": "one", "boss": "two"]], by: way)
    let later = WalkFixture(Self.people("Person", "id", "pending"), in: first.stack)
    try await later.run("Person", [["id": 1, "boss": nil], ["id": 2, "email": "two"]], by: way)
    #expect(try first.waiting() == [])
    #expect(try first.rows("SELECT id FROM Person WHERE boss NOT NULL") == [])
  }

  @Test("A stub has no version: its record completes it", arguments: Way.allCases)
  func version(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Order:
        unique: no
        attributes: { no: { type: int64 } }
        relationships: { customer: { entity: Customer, kind: toOne, key: { id: customer }, onUnresolved: stub } }
      Customer:
        unique: id
        version: rev
        attributes: { id: { type: int64 }, rev: { type: int64, default: 10 }, name: name }
      """
    )
    try await fixture.run("Order", [["no": 1, "customer": 7]], by: way)
    let report = try await fixture.run("Customer", [["id": 7, "rev": 3, "name": "real"]], by: way)
    #expect(report.summary == "read 1, updated 1")
    let older = try await fixture.run("Customer", [["id": 7, "rev": 2, "name": "old"]], by: way)
    #expect(older.summary == "read 1, skipped 1")
    #expect(try fixture.rows("SELECT rev, name, _stub FROM Customer") == ["3|real|null"])
  }

  @Test(
    "No stub is made of a key that a relative of another entity has; it is told",
    arguments: Way.allCases,
    ["Vehicle", "Bike"]
  )
  func relative(way: Way, other: String) async throws {
    let fixture = try WalkFixture(
      """
      Person:
        unique: id
        attributes: { id: { type: int64 } }
        relationships: { car: { entity: Car, kind: toOne, key: { id: car }, onUnresolved: stub } }
      Vehicle: { unique: [[id], [plate]], attributes: { id: { type: int64 }, plate: { default: none } } }
      Car: { parent: Vehicle }
      Bike: { parent: Vehicle }
      """
    )
    try await fixture.run(other, [["id": 7, "plate": "p"]], by: way)
    let report = try await fixture.run(
      "Person",
      [["id": 1, "car": 7], ["id": 2, "car": 8], ["id": 3, "car": 9]],
      by: way
    )
    #expect(report.summary == "read 3, inserted 3")
    #expect(report.issueSummary == ["link.unresolved 1"])
    #expect(
      try fixture.rows("SELECT _entity, id, plate, _stub FROM Vehicle ORDER BY id") == [
        "\(other)|7|p|null", "Car|8|null|1", "Car|9|null|1",
      ]
    )
  }

  @Test(
    "A tombstone ends the waiting of the references before it, of which stubs would be made",
    arguments: Way.allCases,
    [Int?.none, 1]
  )
  func tombstone(way: Way, batchSize: Int?) async throws {
    let fixture = try WalkFixture(
      """
      P:
        unique: id
        deleteWhen: { from: st, equals: gone }
        attributes: { id: { type: int64 } }
        relationships:
          boss: { entity: P, kind: toOne, key: { id: boss }, onUnresolved: stub }
          all: { entity: P, kind: toMany, key: { id: all }, ordered: true, onUnresolved: stub }
      """
    )
    let bosses = "SELECT p.id, b.id FROM P p LEFT JOIN P b ON b._pk = p.boss ORDER BY 1"
    let lists =
      "SELECT p.id, t.id FROM P_all l JOIN P p ON p._pk = l.owner JOIN P t ON t._pk = l.target"
      + " ORDER BY 1, l.position"
    func run(_ records: [ForeignValue]) async throws -> String {
      try await fixture.run("P", records, by: way, batchSize: batchSize).summary
    }
    let gone: ForeignValue = ["id": 3, "st": "gone"]
    let feed: [ForeignValue] = [["id": 5, "boss": 3, "all": [3, 4]], ["id": 4], gone]
    #expect(try await run(feed) == "read 3, inserted 2, unchanged 1")
    #expect(try fixture.rows(bosses) == ["4|null", "5|null"])
    #expect(try fixture.rows(lists) == ["5|4"])
    #expect(try await run(feed) == "read 3, unchanged 3")
    #expect(try fixture.rows(bosses) == ["4|null", "5|null"])
    // Who came in between is gone with its links, and who refers to it behind the tombstone makes a stub.
    let between: [ForeignValue] = [
      ["id": 5, "boss": 3], ["id": 3], gone, ["id": 7, "boss": 3],
    ]
    #expect(try await run(between) == "read 4, inserted 2, unchanged 1, deleted 1")
    #expect(try fixture.rows(bosses) == ["3|null", "4|null", "5|null", "7|3"])
    #expect(try fixture.rows(lists) == ["5|4"])
  }

  @Test("A tombstone ends it also where it comes in another format than the reference")
  func tombstoneOfAnotherFormat() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        A:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { p: { entity: P, kind: toOne, key: { id: p }, onUnresolved: stub } }
        P: { unique: id, deleteWhen: { from: st, equals: gone }, attributes: { id: { type: int64 } } }
      sources:
        a: { format: csv, entity: A }
        p: { format: json, entity: P }
      """,
      in: SQLiteStore(at: .inMemory)
    )
    try await fixture.run("id,p\n1,3\n", #"[{"id":3,"st":"gone"}]"#)
    #expect(try fixture.rows("P") == [])
  }

  @Test("A tombstone ends it also by a key with a to-one in it", arguments: Way.allCases)
  func tombstoneOfPart(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Line:
        unique: [order, n]
        deleteWhen: { from: op, equals: D }
        attributes: { n: { type: int64 } }
        relationships:
          order: { entity: Order, kind: toOne, key: { no: order } }
          next: { entity: Line, kind: toOne, key: { order: order, n: next }, onUnresolved: stub }
      Order: { unique: no, attributes: { no: { type: int64 } } }
      """
    )
    try await fixture.run("Order", [["no": 1], ["no": 2]], by: way)
    let records: [ForeignValue] = [
      ["order": 1, "n": 1, "next": 2], ["order": 2, "n": 1, "next": 2],
      ["order": 1, "n": 2, "op": "D"],
    ]
    let report = try await fixture.run("Line", records, by: way)
    #expect(report.summary == "read 3, inserted 2, unchanged 1")
    #expect(
      try fixture.rows(
        "SELECT o.no, l.n, l._stub, l.next IS NULL FROM Line l JOIN \"Order\" o ON o._pk = l.\"order\""
          + " ORDER BY 1, 2"
      ) == ["1|1|null|1", "2|1|null|0", "2|2|1|1"]
    )
  }

  @Test("A to-one that its other side has linked does not wait any more", arguments: Way.allCases)
  func otherSide(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      A: { unique: id, attributes: { id: id }, relationships: { b: { entity: B, kind: toOne, key: { id: b } } } }
      B:
        unique: id
        attributes: { id: id }
        relationships: { a: { entity: A, kind: toOne, inverse: b, key: { id: a }, onUnresolved: pending } }
      """
    )
    try await fixture.run("B", [["id": "x", "a": "late"], ["id": "y", "a": "later"]], by: way)
    #expect(try fixture.waiting().count == 2)
    try await fixture.run("A", [["id": "1", "b": "x"]], by: way)
    #expect(try fixture.waiting() == [#"B.a {"id":"later"}"#])
    try await fixture.run("A", [["id": "late"], ["id": "later"]], by: way)
    let pairs = "SELECT A.id, B.id FROM A JOIN B ON B._pk = A.b ORDER BY 1"
    #expect(try fixture.rows(pairs) == ["1|x", "later|y"])
    // Nobody has two, either where both come in one import.
    try await fixture.run("B", [["id": "z", "a": "last"]], by: way)
    try await fixture.run("A", [["id": "2", "b": "z"], ["id": "last"]], by: way)
    #expect(try fixture.rows(pairs).count { $0.hasSuffix("|z") } == 1)
  }

  @Test(
    "What joins a list with repeats waits once, however often its record comes",
    arguments: Way.allCases
  )
  func joined(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      B:
        unique: id
        attributes: { id: id }
        relationships:
          all: { entity: B, kind: toMany, repeats: true, assign: union, key: { id: all }, onUnresolved: pending }
      """
    )
    let record: ForeignValue = ["id": "c", "all": ["a", "c", "a"]]
    for records in [[record], [record, record], [record]] {
      try await fixture.run("B", records, by: way)
      #expect(try fixture.waiting() == [#"B.all {"id":"a"}"#, #"B.all {"id":"a"}"#])
    }
    for records in [[["id": "a"]], [record]] {
      try await fixture.run("B", records, by: way)
      #expect(try fixture.rows("SELECT count(*) FROM B_all") == ["3"])
      #expect(try fixture.waiting() == [])
    }
  }
}
