import DragomanGraph
import Testing

@testable import Dragoman

/// Targets that only one owner may have, named by records before they are there: the last record that names
/// one has it, wherever batches end.
@Suite("Owners that named a target before it came") struct LateOwnerTests {
  /// How records come, and how many are committed together.
  static let ways: [(Way, Int?)] = [
    (.rows, nil), (.rows, 1), (.rows, 2), (.context, nil), (.ownContext, nil),
  ]

  private func fixture(_ rest: String) throws -> WalkFixture {
    try WalkFixture(
      """
      Owner:
        unique: id
        attributes: { id: { type: int64 } }
        relationships:
          parts: { entity: Part, kind: toMany, inverse: owner \(rest) }
          card: { entity: Card, kind: toOne, inverse: holder }
      Part: { unique: id, attributes: { id: { type: int64 }, size: { type: int64, required: true } } }
      Card:
        unique: id
        attributes: { id: { type: int64 }, size: { type: int64, required: true } }
        relationships: { holder: { entity: Owner, kind: toOne, inverse: card, from: [] } }
      """
    )
  }

  private func owners(_ fixture: WalkFixture) throws -> [String] {
    try fixture.rows(
      "SELECT p.id, o.id FROM Part p LEFT JOIN Owner o ON o._pk = p.owner ORDER BY p.id"
    )
  }

  @Test(
    "A part that a later record brings is that record's",
    arguments: ["", ", assign: union", ", ordered: true", ", ordered: true, assign: union"],
    ways
  )
  func parts(rest: String, way: (Way, Int?)) async throws {
    let fixture = try fixture(rest)
    // Without a size a part is a reference as long as nobody is that part.
    try await fixture.run(
      "Owner",
      [
        ["id": 1, "parts": [["id": 7], ["id": 8]]],
        ["id": 2, "parts": [["id": 6, "size": 1], ["id": 7, "size": 1]]],
        ["id": 3, "parts": [["id": 7]]],
        ["id": 4, "parts": [["id": 9]]],
        ["id": 5, "parts": [["id": 9]]],
        ["id": 4, "parts": [["id": 9, "size": 1]]],
        ["id": 6, "parts": [["id": 8, "size": 1]]],
        ["id": 6, "parts": []],
      ],
      by: way.0,
      batchSize: way.1
    )
    let last = rest.contains("union") ? "8|6" : "8|null"
    #expect(try owners(fixture) == ["6|2", "7|3", last, "9|4"])
    if rest.contains("ordered") {
      #expect(try fixture.rows("SELECT id, _parts_order FROM Part WHERE id = 9") == ["9|0"])
    }
  }

  @Test("So it is with references that wait from an earlier import", arguments: ways)
  func pending(way: (Way, Int?)) async throws {
    let fixture = try fixture(", onUnresolved: pending")
    try await fixture.run("Owner", [["id": 1, "parts": [["id": 7], ["id": 8]]]], by: way.0)
    try await fixture.run(
      "Owner",
      [["id": 2, "parts": [["id": 7, "size": 1]]], ["id": 3]],
      by: way.0,
      batchSize: way.1
    )
    #expect(try owners(fixture) == ["7|2"])
    #expect(try fixture.waiting() == [#"Owner.parts {"id":8}"#])
  }

  @Test("And with a to-one whose target has one owner", arguments: ways)
  func card(way: (Way, Int?)) async throws {
    let fixture = try fixture("")
    try await fixture.run(
      "Owner",
      [
        ["id": 1, "card": ["id": 7]], ["id": 2, "card": ["id": 7, "size": 1]],
        ["id": 3, "card": ["id": 8]], ["id": 4, "card": ["id": 8]], ["id": 5],
        ["id": 6, "card": ["id": 8, "size": 1]], ["id": 4, "card": ["id": 8]],
      ],
      by: way.0,
      batchSize: way.1
    )
    #expect(
      try fixture.rows(
        "SELECT c.id, o.id FROM Card c JOIN Owner o ON o.card = c._pk ORDER BY c.id"
      ) == ["7|2", "8|4"]
    )
  }
}
