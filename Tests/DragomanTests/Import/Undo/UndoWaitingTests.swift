import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Imports taken back of whose objects some wait for others, which later imports bring, replace or let go.
@Suite("Imports taken back, and references that wait")
struct UndoWaitingTests {
  private static let map = UndoBesidesTests.waiting
    .replacing("friends }, ordered: true", with: "friends }, onUnresolved: pending")

  @Test(
    "A reference that waits for somebody else by now, or for nobody, is not taken back",
    arguments: [
      (#"{"id":1,"boss":8}"#, #"{"id":8}"#), (#"{"id":1,"friends":[8]}"#, #"{"id":8}"#),
      (#"{"id":1,"boss":8}"#, #"{"id":1,"boss":7}"#),
      (#"{"id":1,"friends":[8]}"#, #"{"id":1,"friends":[]}"#),
    ]
  )
  func overtaken(second: String, third: String) async throws {
    let fixture = try ImportFixture(Self.map)
    // Another one waits for the same, before and behind.
    try await fixture.run(
      #"[{"id":0,"boss":8,"friends":[8]},{"id":1,"boss":9,"friends":[9]},{"id":2,"boss":8,"friends":[8]}]"#
    )
    let first = try UndoPropertyTests.state(of: fixture.store)
    try await fixture.run("[\(second)]")
    let before = try UndoPropertyTests.state(of: fixture.store)
    try await fixture.run("[\(third)]")
    let report = try fixture.store.undoImport(2)
    #expect(report.conflicts.count == 1 && !report.isPossible)
    #expect(try fixture.store.undoImport(3).isPossible)
    #expect(try UndoPropertyTests.state(of: fixture.store) == before)
    #expect(try fixture.store.undoImport(2).isPossible)
    #expect(try UndoPropertyTests.state(of: fixture.store) == first)
  }

  @Test(
    "What does not wait any more waits again only where nothing came instead",
    arguments: [
      (#"{"id":1,"boss":5}"#, true), (#"{"id":1,"boss":7}"#, true),
      (#"{"id":1,"boss":9,"friends":[9]}"#, true), (#"{"id":1,"friends":[9]}"#, true),
      (#"{"id":2,"boss":9,"friends":[9]}"#, false), (#"{"id":1,"friends":[7]}"#, false),
    ]
  )
  func instead(third: String, isRefused: Bool) async throws {
    let fixture = try ImportFixture(Self.map)
    try await fixture.run(#"[{"id":1,"boss":9,"friends":[9]},{"id":5}]"#)
    let first = try UndoPropertyTests.state(of: fixture.store)
    try await fixture.run(#"[{"id":1,"boss":null,"friends":[]}]"#)
    try await fixture.run("[\(third)]")
    let last = try UndoPropertyTests.state(of: fixture.store)
    #expect(try fixture.store.undoImport(2).isPossible == !isRefused)
    if isRefused {
      #expect(try UndoPropertyTests.state(of: fixture.store) == last)
      #expect(try fixture.store.undoImport(3).isPossible)
      #expect(try fixture.store.undoImport(2).isPossible)
    } else {
      #expect(try fixture.store.undoImport(3).isPossible)
    }
    #expect(try UndoPropertyTests.state(of: fixture.store) == first)
  }

  @Test(
    "An object that has got something to wait for since does not go, whatever table it is in",
    arguments: ["", #"{"id":5}"#],
    [#"{"id":1,"boss":7,"friends":[7]}"#, #"{"id":1,"mentor":6}"#]
  )
  func owners(first: String, third: String) async throws {
    let fixture = try ImportFixture(Self.map)
    // A table that is empty is recorded otherwise than one that is not.
    try await fixture.run("[\(first)]")
    let before = try UndoPropertyTests.state(of: fixture.store)
    try await fixture.run(#"[{"id":1,"boss":8,"friends":[8]}]"#)
    try await fixture.run("[\(third)]")
    let last = try UndoPropertyTests.state(of: fixture.store)
    #expect(try !fixture.store.undoImport(2).isPossible)
    #expect(try UndoPropertyTests.state(of: fixture.store) == last)
    #expect(try fixture.store.undoImport(3).isPossible)
    #expect(try fixture.store.undoImport(2).isPossible)
    #expect(try UndoPropertyTests.state(of: fixture.store) == before)
  }

  @Test("What waits keeps its number while others come and go")
  func numbers() async throws {
    let fixture = try ImportFixture(UndoBesidesTests.waiting)
    let numbers = "SELECT owner, id FROM _dragoman_pending ORDER BY id"
    try await fixture.run(#"[{"id":1,"boss":7},{"id":2,"boss":8},{"id":3,"boss":9}]"#)
    #expect(try sql(fixture.store, numbers) == ["1|1", "2|2", "3|3"])
    try await fixture.run(#"[{"id":9},{"id":1,"boss":6},{"id":4,"boss":6,"mentor":5}]"#)
    #expect(try sql(fixture.store, numbers) == ["2|2", "1|5", "5|6", "5|7"])
    #expect(try fixture.store.undoImport(2).isPossible)
    #expect(try sql(fixture.store, numbers) == ["1|1", "2|2", "3|3"])
  }

  private static let pairs = """
    version: 1
    entities:
      A: { unique: id, attributes: { id: id }, relationships: { b: { entity: B, kind: toOne, KEY } } }
      B:
        unique: id
        attributes: { id: id }
        relationships: { a: { entity: A, kind: toOne, inverse: b, key: { id: a }, onUnresolved: pending } }
    sources: { as: { format: json, entity: A, records: /as }, bs: { format: json, entity: B, records: /bs } }
    """

  @Test(
    "A target that came into a table of its own, or by the other side, goes again",
    arguments: [
      [#"{"bs":[{"id":"b","a":"a"}]}"#, #"{"as":[{"id":"a"}]}"#],
      [#"{"as":[{"id":"1","b":"b"}],"bs":[{"id":"b","a":"9"}]}"#],
      [
        #"{"as":[{"id":"1"}],"bs":[{"id":"b","a":"9"}]}"#, #"{"as":[{"id":"1","b":"b"}]}"#,
        #"{"as":[{"id":"9"}]}"#,
      ],
    ]
  )
  func otherSide(imports: [String]) async throws {
    for key in ["key: { id: b }, onUnresolved: pending", "inverse: a, key: { id: b }"] {
      let fixture = try ImportFixture(Self.pairs.replacing("KEY", with: key))
      var states: [[String]] = []
      for text in imports {
        // Nothing is in the store before the first one, not even tables.
        try states.append(states.isEmpty ? [] : UndoPropertyTests.state(of: fixture.store))
        try await fixture.run(text)
      }
      let last = try UndoPropertyTests.state(of: fixture.store)
      for (number, state) in zip(1..., states).reversed() {
        #expect(try fixture.store.undoImport(Int64(number)).isPossible, "\(key), \(number)")
        let found = try UndoPropertyTests.state(of: fixture.store)
        #expect(number == 1 || found == state, "\(key), \(number)")
      }
      // Each undo is taken back, the last one first.
      let count = Int64(imports.count)
      for number in (count + 1...2 * count).reversed() {
        #expect(try fixture.store.undoImport(number).isPossible, "\(key), \(number)")
      }
      #expect(try UndoPropertyTests.state(of: fixture.store) == last, "\(key)")
    }
  }
}
