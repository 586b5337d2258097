import DragomanGraph
import Testing

@testable import Dragoman

/// Ordered lists whose targets are not all there when their record comes.
@Suite("Forward references in ordered lists") struct ForwardOrderTests {
  /// Lists in a table of their own, or in a column of their targets.
  enum Storage: String, CaseIterable, Sendable { case table, column }

  private func fixture(_ storage: Storage, _ rest: String) throws -> ImportFixture {
    try ImportFixture(
      """
      version: 1
      entities:
        B: { unique: id, attributes: { id: { type: int64 } } }
        A:
          unique: id
          attributes: { id: { type: int64 } }
          relationships:
            bs: { entity: B, kind: toMany, key: { id: bs }, ordered: true \(storage == .column ? ", inverse: a" : "") \(rest) }
      sources:
        a: { format: json, entity: A, records: a }
        b: { format: json, entity: B, records: b }
      """
    )
  }

  /// The lists, with their places: `1: 4 5`.
  private func lists(_ fixture: ImportFixture, _ storage: Storage) throws -> [String] {
    let rows = try sql(
      fixture.store,
      storage == .table
        ? "SELECT A.id, position, B.id FROM A_bs l JOIN A ON A._pk = l.owner"
          + " JOIN B ON B._pk = l.target ORDER BY 1, 2"
        : "SELECT A.id, _bs_order, B.id FROM B JOIN A ON A._pk = B.a ORDER BY 1, 2"
    )
    var lists: [String: [String]] = [:]
    for row in rows {
      let parts = row.split(separator: "|").map(String.init)
      #expect(parts[1] == "\(lists[parts[0], default: []].count)", "\(rows)")
      lists[parts[0], default: []].append(parts[2])
    }
    return lists.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.joined(separator: " "))" }
  }

  private func feed(_ lists: [(Int, String)], _ targets: Int...) -> String {
    let owners = lists.map { "{\"id\":\($0.0),\"bs\":[\($0.1)]}" }.joined(separator: ",")
    let made = targets.map { "{\"id\":\($0)}" }.joined(separator: ",")
    return "{\"a\":[\(owners)],\"b\":[\(made)]}"
  }

  @Test(
    "They stand where the record has them, and places have no gaps",
    arguments: Storage.allCases
  )
  func places(storage: Storage) async throws {
    let fixture = try fixture(storage, "")
    try await fixture.run(feed([], 4, 6))
    let first = try await fixture.run(feed([(1, "9,4,5,6,8")], 5))
    #expect(first.linkSummary == ["A.bs +3 ?2"])
    #expect(try lists(fixture, storage) == ["1: 4 5 6"])
    let again = try await fixture.run(feed([(1, "9,4,5,6,8")], 5))
    #expect(again.summary == "read 2, unchanged 2")
    #expect(again.linkSummary == ["A.bs ?2"])
    let later = try await fixture.run(feed([(1, "9,4,5,6,8")], 9))
    #expect(later.summary == "read 2, inserted 1, updated 1")
    #expect(later.linkSummary == ["A.bs +1 ?1"])
    #expect(try lists(fixture, storage) == ["1: 9 4 5 6"])
    // The same in another order of numbers: nothing changes.
    let known = try await fixture.run(feed([(1, "9,4,5,6")]))
    #expect(known.summary == "read 1, unchanged 1")
  }

  @Test("What is joined keeps the order of the feed", arguments: Storage.allCases)
  func union(storage: Storage) async throws {
    let fixture = try fixture(storage, ", assign: union")
    try await fixture.run(feed([(1, "4")], 4, 6, 7))
    let report = try await fixture.run(feed([(1, "5,6"), (1, "4,8,7"), (1, "9")], 5, 9))
    #expect(try lists(fixture, storage) == ["1: 4 5 6 7 9"])
    #expect(report.linkSummary == ["A.bs +4 ?1"])
    let again = try await fixture.run(feed([(1, "9,5,4")]))
    #expect(again.summary == "read 1, unchanged 1")
    #expect(try lists(fixture, storage) == ["1: 4 5 6 7 9"])
  }

  @Test(
    "What is joined and waits from import to import waits once, and comes in the order of its first record",
    arguments: Storage.allCases
  )
  func joinedWaiting(storage: Storage) async throws {
    let fixture = try fixture(storage, ", assign: union, onUnresolved: pending")
    for list in ["5,4", "5,4", "6,5", "4"] { try await fixture.run(feed([(1, list)])) }
    let waiting = "SELECT key FROM _dragoman_pending ORDER BY id"
    #expect(try sql(fixture.store, waiting) == ["{\"id\":5}", "{\"id\":4}", "{\"id\":6}"])
    try await fixture.run(feed([], 4, 5, 6))
    #expect(try lists(fixture, storage) == ["1: 5 4 6"])
    #expect(try sql(fixture.store, waiting) == [])
  }

  @Test(
    "A target that a record names by its key and has nested, too, has the place of its name",
    arguments: Storage.allCases,
    ["", ", assign: union"]
  )
  func namedAndNested(storage: Storage, rest: String) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        B: { unique: id, attributes: { id: { type: int64 }, name: { required: true } } }
        A:
          unique: id
          attributes: { id: { type: int64 } }
          relationships:
            bs: { entity: B, kind: toMany, ordered: true \(storage == .column ? ", inverse: a" : "") \(rest) }
      sources:
        a: { format: json, entity: A, records: a }
      """
    )
    let list = #"[{"id":4},{"id":5,"name":"x"},{"id":4,"name":"y"},{"id":4,"name":"z"}]"#
    for _ in 0..<2 {
      try await fixture.run(#"{"a":[{"id":1,"bs":\#(list)}]}"#)
      #expect(try lists(fixture, storage) == ["1: 4 5"])
    }
    #expect(try sql(fixture.store, "SELECT name FROM B ORDER BY id") == ["z", "x"])
  }

  @Test("A later record takes an earlier one's reference back, unless it joins")
  func takenBack() async throws {
    let replacing = try fixture(.table, "")
    try await replacing.run(feed([(1, "5,4"), (1, "4")], 4, 5))
    #expect(try lists(replacing, .table) == ["1: 4"])
    let joining = try fixture(.table, ", assign: union")
    try await joining.run(feed([(1, "5"), (1, "")], 4, 5))
    #expect(try lists(joining, .table) == ["1: 5"])
  }

  @Test("Repeats stand where the record has them")
  func repeats() async throws {
    let fixture = try fixture(.table, ", repeats: true")
    try await fixture.run(feed([], 4))
    let report = try await fixture.run(feed([(1, "5,4,5,4,6")], 5))
    #expect(try lists(fixture, .table) == ["1: 5 4 5 4"])
    #expect(report.linkSummary == ["A.bs +2 ?1"])
    let again = try await fixture.run(feed([(1, "5,4,5,4,6")]))
    #expect(again.summary == "read 1, unchanged 1")
  }

  @Test("Repeats of targets that nobody has yet stand where the record has them")
  func repeatsOfStubs() async throws {
    for policy in ["stub", "clear"] {
      let fixture = try fixture(.table, ", repeats: true, onUnresolved: \(policy)")
      try await fixture.run(feed([(2, "5,9"), (1, "4,5,6,5"), (3, "7,8,7")], 4, 5, 6, 7, 8, 9))
      #expect(try lists(fixture, .table) == ["1: 4 5 6 5", "2: 5 9", "3: 7 8 7"])
      let again = try await fixture.run(feed([(1, "4,5,6,5"), (3, "7,8,7")]))
      #expect(again.summary == "read 2, unchanged 2")
    }
    let stubs = try fixture(.table, ", repeats: true, onUnresolved: stub")
    try await stubs.run(feed([(2, "5,9"), (1, "4,5,6,5")]))
    #expect(try lists(stubs, .table) == ["1: 4 5 6 5", "2: 5 9"])
  }

  @Test("Stubs and references that wait in the store")
  func policies() async throws {
    let stubs = try fixture(.table, ", onUnresolved: stub")
    try await stubs.run(feed([(1, "9,4,8")], 4))
    #expect(try lists(stubs, .table) == ["1: 9 4 8"])
    let pending = try fixture(.table, ", onUnresolved: pending")
    try await pending.run(feed([(1, "9,4")], 4))
    #expect(try lists(pending, .table) == ["1: 4"])
    try await pending.run(feed([], 9))
    // Where it belongs is known to nobody any more.
    #expect(try lists(pending, .table) == ["1: 4 9"])
  }

  @Test("A target that another list takes leaves no gap that looks like a change")
  func taken() async throws {
    let fixture = try fixture(.column, "")
    try await fixture.run(feed([(1, "4,5,6"), (2, "")], 4, 5, 6))
    try await fixture.run(feed([(2, "4")]))
    let again = try await fixture.run(feed([(1, "5,6"), (2, "4")]))
    #expect(again.summary == "read 2, unchanged 2")
  }
}
