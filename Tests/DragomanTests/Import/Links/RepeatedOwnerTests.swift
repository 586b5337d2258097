import DragomanGraph
import Foundation
import GRDB
import GRDBSQLite
import Synchronization
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Objects that many records have in common, each time with a list of their own.
@Suite("Owners that come again and again") struct RepeatedOwnerTests {
  private static let map = """
    version: 1
    entities:
      Order:
        unique: id
        attributes: { id: { type: int64 } }
        relationships: { customer: { entity: Customer, kind: toOne } }
      Customer:
        unique: id
        attributes: { id: { type: int64 } }
        relationships:
          tags: { entity: Tag, kind: toMany }
          phones: { entity: Phone, kind: toMany, inverse: owner, ordered: true }
          friends: { entity: Customer, kind: toMany, key: { id: friends }, onUnresolved: stub }
          card: { entity: Card, kind: toOne, inverse: holder }
      Card: { unique: no, attributes: { no: { type: int64 } }, relationships: { holder: { entity: Customer, kind: toOne, inverse: card, key: { id: holder } } } }
      Tag: { unique: id, attributes: { id: id } }
      Phone: { unique: id, attributes: { id: id } }
    sources: { json: { format: json, entity: Order } }
    """

  /// Orders of one customer, whose tags take turns.
  private func feed(_ count: Int, turns: Int) -> String {
    let orders = (0..<count).map {
      #"{"id":\#($0),"customer":{"id":1,"tags":[{"id":"a"},{"id":"t\#($0 % turns)"}],"#
        + #""phones":[{"id":"p"},{"id":"q"}],"friends":[7,8],"card":{"no":5}}}"#
    }
    return "[\(orders.joined(separator: ","))]"
  }

  /// How many statements SQLite starts, and how many of them undo what a record wrote.
  private func statements(_ count: Int, turns: Int) async throws -> (all: Int, undone: Int) {
    let fixture = try ImportFixture(Self.map)
    let counter = Mutex<(all: Int, undone: Int)>((0, 0))
    try fixture.store.write { session in
      session.database.trace { event in
        let isUndone = "\(event)".hasPrefix("ROLLBACK TO")
        counter.withLock {
          $0.all += 1
          $0.undone += isUndone ? 1 : 0
        }
      }
    }
    let report = try await fixture.run(feed(count, turns: turns))
    #expect(report.summary == "read \(count), inserted \(count)")
    #expect(
      try sql(fixture.store, "SELECT id FROM Phone ORDER BY owner, _phones_order") == ["p", "q"]
    )
    #expect(
      try sql(
        fixture.store,
        "SELECT t.id FROM Customer_tags JOIN Tag t ON t._pk = target ORDER BY t.id"
      )
        == ["a", "t\((count - 1) % turns)"]
    )
    return counter.withLock { $0 }
  }

  @Test("The same list again costs nothing but the rows of its objects")
  func same() async throws {
    let few = try await statements(200, turns: 1)
    let many = try await statements(1_200, turns: 1)
    // An order, its customer, the card, two tags and two phones; at most two tries of a row.
    #expect(many.all - few.all < 1_000 * 15)
    #expect(many.undone <= 2)
  }

  @Test("Another list each time costs some statements more, and undoes no record again and again")
  func another() async throws {
    let few = try await statements(200, turns: 3)
    let many = try await statements(1_200, turns: 3)
    #expect(many.all - few.all < 1_000 * 90)
    #expect(many.undone <= 20)
  }

  @Test("What another record did in between is not forgotten")
  func inBetween() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Order:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { customer: { entity: Customer, kind: toOne } }
        Customer:
          unique: id
          attributes: { id: { type: int64 } }
          relationships:
            phones: { entity: Phone, kind: toMany, inverse: owner }
            pens: { entity: Pen, kind: toMany, inverse: owner, key: { id: pens } }
        Phone: { unique: id, attributes: { id: id } }
        Pen: { unique: id, attributes: { id: id } }
      sources:
        orders: { format: json, entity: Order, records: /orders }
        pens: { format: json, entity: Pen, records: /pens }
      """
    )
    func order(_ id: Int, _ customer: Int, _ phones: [String], _ pens: [String]) -> String {
      let list = phones.map { #"{"id":"\#($0)"}"# }.joined(separator: ",")
      return #"{"id":\#(id),"customer":{"id":\#(customer),"phones":[\#(list)],"pens":\#(pens)}}"#
    }
    let orders = [
      order(1, 1, ["p", "q"], ["x"]), order(2, 2, ["q"], ["x"]), order(3, 1, ["p", "q"], ["x"]),
      order(4, 2, ["q"], ["x"]), order(5, 1, ["p", "q"], ["x"]), order(6, 1, ["p", "q"], ["x"]),
    ]
    let feed = #"{"pens":[{"id":"x"}],"orders":[\#(orders.joined(separator: ","))]}"#
    for _ in 1...2 {
      try await fixture.run(feed)
      let owners = try sql(
        fixture.store,
        "SELECT id, (SELECT id FROM Customer WHERE _pk = owner) FROM Phone UNION ALL"
          + " SELECT id, (SELECT id FROM Customer WHERE _pk = owner) FROM Pen ORDER BY 1"
      )
      #expect(owners == ["p|1", "q|1", "x|1"])
    }
  }

  @Test(
    "A chain of records that need each other fails in time that grows with its length",
    .timeLimit(.minutes(60))
  )
  func chain() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        N:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { next: { entity: N, kind: toOne, key: { id: next }, onUnresolved: reject } }
      """
    )
    let count = 20_000
    let records = (0..<count).map { #"{"id":\#($0),"next":\#($0 + 1)}"# }
    let report = try await fixture.run("[\(records.joined(separator: ","))]")
    #expect(report.summary == "read \(count), rejected \(count)")
  }

  @Test(
    "A list in order that grows by one a record, of keys that nobody has or that come later, is linear",
    arguments: ["stub", "pending", "clear"],
    [false, true]
  )
  func growing(policy: String, isMixed: Bool) async throws {
    /// How many steps of SQLite's machine the imports take: as many each time, however busy this one is.
    func steps(_ count: Int) async throws -> Double {
      let fixture = try ImportFixture(
        """
        version: 1
        entities:
          A:
            unique: id
            attributes: { id: { type: int32 } }
            relationships:
              bs: { entity: B, kind: toMany, key: { id: b }, assign: union, ordered: true, onUnresolved: \(policy) }
          B: { unique: id, attributes: { id: { type: int32 } } }
        sources:
          a: { format: json, entity: A, records: /a }
          b: { format: json, entity: B, records: /b }
        """
      )
      // Every second of them is there before, where they are mixed; else all come behind.
      let early = isMixed ? stride(from: 0, to: count, by: 2).map { $0 } : []
      let late = policy == "clear" ? (0..<count).map { $0 } : early
      func list(_ ids: [Int]) -> String { ids.map { #"{"id":\#($0)}"# }.joined(separator: ",") }
      let links = (0..<count).map { #"{"id":1,"b":[\#($0)]}"# }.joined(separator: ",")
      let feed = #"{"b":[\#(list(early))],"a":[\#(links)]}"#
      let counter = StepCounter()
      try fixture.store.write { counter.count(in: $0.database) }
      try await fixture.run(feed, #"{"a":[],"b":[\#(list(late))]}"#)
      try fixture.store.write { counter.end(in: $0.database) }
      let linked = try sql(
        fixture.store,
        "SELECT b.id FROM A_bs l JOIN B b ON b._pk = l.target ORDER BY l.position"
      )
      #expect(linked == (policy == "pending" ? early : Array(0..<count)).map(String.init))
      return Double(counter.steps)
    }
    let growth = try await steps(1_200) / steps(300)
    #expect(growth <= 5, "four times as many took \(growth) times as many steps")
  }
}

/// Counts the steps that the statements of a connection took.
private final class StepCounter: @unchecked Sendable {
  private(set) var steps = 0

  func count(in database: Database) {
    sqlite3_trace_v2(
      database.sqliteConnection,
      UInt32(SQLITE_TRACE_PROFILE),
      { _, context, statement, _ in
        if let context, let statement {
          let steps = sqlite3_stmt_status(OpaquePointer(statement), SQLITE_STMTSTATUS_VM_STEP, 1)
          Unmanaged<StepCounter>.fromOpaque(context).takeUnretainedValue().steps += Int(steps)
        }
        return 0
      },
      Unmanaged.passUnretained(self).toOpaque()
    )
  }

  func end(in database: Database) {
    sqlite3_trace_v2(database.sqliteConnection, 0, nil, nil)
  }
}
