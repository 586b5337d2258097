import DragomanGraph
import Testing

@testable import Dragoman

/// Relationships that feeds say nothing of, and targets that a record does not have.
@Suite("Sides that are not read") struct BareInverseTests {
  private func map(orders: String, customer: String) -> String {
    """
    version: 1
    entities:
      Customer:
        unique: id
        attributes: { id: id }
        relationships: { orders: { entity: Order, kind: toMany\(orders) } }
      Order:
        unique: id
        attributes: { id: id }
        relationships: { customer: { entity: Customer, kind: toOne\(customer) } }
    sources:
      customers: { format: json, entity: Customer, records: /customers }
      orders: { format: json, entity: Order, records: /orders }
    """
  }

  @Test(
    "A side without a path whose other side is read is not read",
    arguments: [
      (", inverse: customer", ", key: { id: customer }, inverse: orders"),
      ("", ", key: { id: customer }, inverse: orders"),
      (", from: [], inverse: customer", ", key: { id: customer }"),
    ],
    ["2", "[]", #""none""#, "null", #"[{"id":"x"}]"#]
  )
  func bare(sides: (String, String), value: String) async throws {
    let fixture = try ImportFixture(map(orders: sides.0, customer: sides.1))
    let feed =
      #"{"orders":[{"id":"1","customer":"a"}],"customers":[{"id":"a","orders":\#(value)}]}"#
    for _ in 1...2 {
      let report = try await fixture.run(feed)
      #expect(report.counts.rejected == 0)
      #expect(try fixture.rows("Order", ["id", "customer.id"]) == ["1|a"])
    }
    // An export has each link once.
    let request = ExportRequest(entity: "Customer", format: .json)
    let bytes = try await Exporter(map: fixture.map, store: fixture.store).bytes(request)
    #expect(!String(decoding: bytes, as: UTF8.self).contains("orders\": ["))
  }

  @Test(
    "A side that says where it stands is read, and so are two that name each other and say nothing",
    arguments: [
      (", from: orders, inverse: customer", ", key: { id: customer }, inverse: orders"),
      (", inverse: customer", ", inverse: orders"), (", inverse: customer", ""),
    ]
  )
  func read(sides: (String, String)) async throws {
    let fixture = try ImportFixture(map(orders: sides.0, customer: sides.1))
    try await fixture.run(#"{"orders":[],"customers":[{"id":"a","orders":[{"id":"1"}]}]}"#)
    #expect(try fixture.rows("Order", ["id", "customer.id"]) == ["1|a"])
  }

  @Test("A map that reads a relationship nowhere is written as it is read")
  func encoded() throws {
    let map = try ImportMap(yaml: map(orders: ", from: []", customer: ", key: { id: customer }"))
    #expect(map.entities[0].relationships[0].from?.isEmpty == true)
    #expect(try ImportMap(yaml: map.yaml()) == map)
  }

  @Test(
    "A record without the members that make its target says nothing of it; null clears it",
    arguments: [
      ("keep", "", "a"), ("clear", "", "null"), ("keep", #","team_id":null"#, "null"),
      ("keep", #","team_id":"b""#, "b"),
    ]
  )
  func record(policy: String, member: String, expected: String) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes: { id: id }
          relationships: { team: { entity: T, kind: toOne, from: ".", onMissing: \(policy) } }
        T: { unique: id, attributes: { id: team_id } }
      sources: { json: { format: json, entity: P } }
      """
    )
    try await fixture.run(#"[{"id":"1","team_id":"a"}]"#)
    let report = try await fixture.run(#"[{"id":"1"\#(member)}]"#)
    #expect(report.counts.rejected == 0)
    #expect(try fixture.rows("P", ["id", "team.id"]) == ["1|\(expected)"])
  }

  @Test("Without its target's members a record is rejected where the policy says so")
  func rejected() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes: { id: id }
          relationships: { team: { entity: T, kind: toOne, from: ".", onMissing: reject } }
        T: { unique: id, attributes: { id: team_id } }
      sources: { json: { format: json, entity: P } }
      """
    )
    let report = try await fixture.run(#"[{"id":"1","team_id":"a"},{"id":"2"}]"#)
    #expect(report.issueSummary == ["value.refused 1"])
  }
}
