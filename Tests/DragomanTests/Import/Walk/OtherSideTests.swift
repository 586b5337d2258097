import TestSupport
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// What a record says of a relationship from its other side: places in lists, links in between, `deny`.
@Suite("Links that are said from the other side, or not for long") struct OtherSideTests {
  private static let orders = """
    Order:
      unique: id
      attributes: { id: { type: int64 } }
      relationships: { lines: { entity: Line, kind: toMany, from: lines, ordered: true, inverse: order } }
    Line:
      unique: id
      attributes: { id: id, note: note }
      relationships: { order: { entity: Order, kind: toOne, key: { id: order }, inverse: lines, onUnresolved: pending } }
    """

  private static let lines = """
    SELECT o.id, group_concat(l.id, '') FROM (SELECT * FROM Line ORDER BY _lines_order IS NULL, _lines_order, _pk) l
    JOIN "Order" o ON o._pk = l."order" GROUP BY o.id ORDER BY o.id
    """

  @Test(
    "What names its owner comes behind the others, also where it moves, comes back or waits",
    arguments: Way.allCases
  )
  func behind(way: Way) async throws {
    let fixture = try WalkFixture(Self.orders)
    try await fixture.run("Order", [["id": 1, "lines": [["id": "b"], ["id": "a"]]]], by: way)
    try await fixture.run(
      "Line",
      [
        ["id": "d", "order": 1], ["id": "c", "order": 1], ["id": "x", "order": 2],
        ["id": "y", "order": 2],
      ],
      by: way
    )
    #expect(try fixture.rows(Self.lines) == ["1|badc"])
    try await fixture.run("Order", [["id": 2]], by: way)
    #expect(try fixture.rows(Self.lines) == ["1|badc", "2|xy"])
    let moved: [ForeignValue] = [
      ["id": "b", "order": 2], ["id": "d", "order": nil], ["id": "c", "note": "n"],
    ]
    try await fixture.run("Line", moved, by: way)
    #expect(try fixture.rows(Self.lines) == ["1|ac", "2|xyb"])
    #expect(
      try fixture.rows("SELECT id FROM Line WHERE \"order\" IS NULL AND _lines_order NOT NULL")
        == []
    )
    try await fixture.run("Line", [["id": "d", "order": 1], ["id": "b", "order": 1]], by: way)
    #expect(try fixture.rows(Self.lines) == ["1|acdb", "2|xy"])
    #expect(
      try await fixture.run("Line", moved, by: way).summary == "read 3, updated 2, unchanged 1"
    )
    // The list's own word is its order.
    try await fixture.run(
      "Order",
      [["id": 2, "lines": [["id": "y"], ["id": "b"], ["id": "x"]]]],
      by: way
    )
    #expect(try fixture.rows(Self.lines) == ["1|ac", "2|ybx"])
  }

  @Test("It comes behind what was joined, too", arguments: Way.allCases)
  func joined(way: Way) async throws {
    let fixture = try WalkFixture(
      Self.orders.replacing("from: lines,", with: "from: lines, assign: union,")
    )
    try await fixture.run("Order", [["id": 1]], by: way)
    let lines: [ForeignValue] = ["a", "b", "c", "d"].map { ["id": .string($0)] }
    try await fixture.run("Line", lines + [["id": "x", "order": 1]], by: way)
    try await fixture.run("Order", [["id": 1, "lines": .array(lines)]], by: way)
    try await fixture.run("Line", [["id": "y", "order": 1]], by: way)
    #expect(try fixture.rows(Self.lines) == ["1|xabcdy"])
  }

  @Test(
    "So does what is moved by a record that could not make it, and what is given twice",
    arguments: Way.allCases
  )
  func incomplete(way: Way) async throws {
    let fixture = try WalkFixture(
      Self.orders.replacing("note: note", with: "note: { from: note, required: true }")
    )
    try await fixture.run("Order", [["id": 1], ["id": 2]], by: way)
    try await fixture.run(
      "Line",
      ["a", "b", "c"].map { ["id": .string($0), "order": 1, "note": "n"] }
        + [["id": "x", "order": 2, "note": "n"]],
      by: way
    )
    try await fixture.run(
      "Line",
      [["id": "b", "order": 2], ["id": "a", "order": 2], ["id": "b", "order": 2]],
      by: way
    )
    #expect(try fixture.rows(Self.lines) == ["1|c", "2|xba"])
  }

  private static let people = """
    Person:
      unique: id
      attributes: { id: id }
      relationships: { knows: { entity: Person, kind: toMany, key: { id: knows } } }
    """

  @Test(
    "A reference that is taken back once its target is there was a link in between, in batches of any size",
    arguments: Way.allCases
  )
  func between(way: Way) async throws {
    let records: [ForeignValue] = [
      ["id": "d", "knows": ["e", "f"]], ["id": "e"], ["id": "c"], ["id": "d", "knows": ["c"]],
    ]
    let fixture = try WalkFixture(Self.people)
    try await fixture.run("Person", [["id": "d"]], by: way)
    let report = try await fixture.run("Person", records, by: way)
    #expect(report.summary == "read 4, inserted 2, updated 2")
    #expect(report.linkSummary == ["Person.knows +2 -1"])
    for size in 1...4 {
      let fixture = try WalkFixture(Self.people)
      try await fixture.run("Person", [["id": "d"]], by: way)
      let report = try await fixture.run("Person", records, by: way, batchSize: size)
      #expect(report.summary == "read 4, inserted 2, updated 2", "\(size)")
      #expect(report.linkSummary == ["Person.knows +2 -1"], "\(size)")
    }
  }

  @Test("A reference that another record overtakes was a link in between", arguments: Way.allCases)
  func overtaken(way: Way) async throws {
    let records: [ForeignValue] = [
      ["id": "a", "parts": ["c"]], ["id": "c"], ["id": "b", "parts": ["c"]],
    ]
    for size in [nil, 1, 2, 3] {
      let fixture = try WalkFixture(
        """
        Thing:
          unique: id
          attributes: { id: id }
          relationships:
            parts: { entity: Thing, kind: toMany, key: { id: parts }, inverse: whole }
        """
      )
      let report = try await fixture.run("Thing", records, by: way, batchSize: size)
      #expect(report.summary == "read 3, inserted 3")
      #expect(report.linkSummary == ["Thing.parts +2 -1"])
      #expect(
        try fixture.rows("SELECT w.id, p.id FROM Thing p JOIN Thing w ON w._pk = p.whole") == [
          "b|c"
        ]
      )
    }
  }

  @Test("What the same import has made is protected by `deny`", arguments: Way.allCases)
  func denied(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Thing:
        unique: id
        deleteWhen: { from: gone, equals: yes }
        attributes: { id: id }
        relationships:
          whole: { entity: Thing, kind: toOne, from: [], onDelete: deny, inverse: parts }
          parts: { entity: Thing, kind: toMany, key: { id: parts } }
      """
    )
    let report = try await fixture.run(
      "Thing",
      [
        ["id": "part"], ["id": "whole", "parts": ["part"]], ["id": "part", "gone": "yes"],
        ["id": "whole", "parts": []], ["id": "part", "gone": "yes"],
        ["id": "self", "parts": ["self"]], ["id": "self", "gone": "yes"],
      ],
      by: way
    )
    #expect(report.summary == "read 7, inserted 3, updated 1, deleted 2, rejected 1")
    #expect(report.issues.map(\.code) == [.linkDenied])
    #expect(try fixture.rows("SELECT id FROM Thing") == ["whole"])
  }

  @Test(
    "A one-to-one that is taken back was a link in between, and so was who claimed its target after it",
    arguments: Way.allCases
  )
  func claimed(way: Way) async throws {
    let records: [ForeignValue] = [
      ["id": "c"], ["id": "a", "boss": "c"], ["id": "b", "boss": "c"], ["id": "a", "boss": nil],
    ]
    for size in [nil, 1, 2, 4] {
      let fixture = try WalkFixture(
        """
        Person:
          unique: id
          attributes: { id: id }
          relationships:
            boss: { entity: Person, kind: toOne, key: { id: boss }, inverse: deputy }
            deputy: { entity: Person, kind: toOne, from: [] }
        """
      )
      let report = try await fixture.run("Person", records, by: way, batchSize: size)
      #expect(report.linkSummary == ["Person.boss +2 -1"], "\(size ?? 0)")
      #expect(
        try fixture.rows("SELECT p.id, b.id FROM Person p JOIN Person b ON b._pk = p.boss")
          == ["b|c"]
      )
    }
  }

  @Test("Files of earlier versions, where it has no place, have it behind the others, by its age")
  func earlier() async throws {
    let map =
      "version: 1\nentities:\n"
      + Self.orders.split(separator: "\n").map { "  \($0)\n" }.joined()
      + "sources:\n  orders: { format: json, entity: Order, records: /orders }\n"
      + "  lines: { format: json, entity: Line, records: /lines }\n"
    let stack = try Stack(ImportMap(yaml: map).model(), at: .inMemory)
    let fixture = try ImportFixture(map, in: stack.store)
    try await fixture.run(
      #"{"orders":[{"id":1,"lines":[{"id":"b"},{"id":"a"}]}],"lines":[{"id":"z","order":1},{"id":"y","order":1}]}"#
    )
    try fixture.store.write { session in
      try session.begin()
      try session.database.execute(
        sql: "UPDATE Line SET _lines_order = NULL WHERE id IN ('y', 'z')"
      )
      try session.commit()
    }
    let request = ExportRequest(entity: "Order", format: .json)
    let bytes = try await Exporter(map: fixture.map, store: fixture.store).bytes(request)
    let exported = String(decoding: bytes, as: UTF8.self)
    #expect(
      exported.matches(of: #/"(\w)"/#).map { String($0.1) } == ["b", "a", "z", "y"],
      "\(exported)"
    )
    let ids = try await MainActor.run {
      let order = try #require(try stack.main.fetch(FetchRequest("Order")).first)
      return try order.targets(of: "lines").map { $0["id"].text }
    }
    #expect(ids == ["b", "a", "z", "y"])
    // What has all of it in that order changes nothing.
    let again = try await fixture.run(
      #"{"orders":[{"id":1,"lines":[{"id":"b"},{"id":"a"},{"id":"z"},{"id":"y"}]}]}"#
    )
    #expect(again.summary == "read 1, unchanged 1")
  }
}
