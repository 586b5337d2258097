import Foundation
import Testing

/// `dragoman check --coverage`: what samples have, and what the map makes of it.
@Suite("dragoman check --coverage") struct CheckCoverageTests {
  private let folder: ToolFolder

  init() throws {
    folder = try ToolFolder()
    try folder.write(
      """
      version: 1
      entities:
        Order:
          unique: number
          attributes:
            number: { type: int32 }
            placed: placed
            total: { type: decimal }
            iban: { sensitive: true }
            city: { from: { json: address.city, xml: address/city } }
          relationships:
            lines: { entity: Line, kind: toMany, from: lines, inverse: order }
          discriminator: { from: kind, values: { rush: Rush } }
        Rush: { parent: Order, attributes: { fee: { type: int32, onInvalid: clear } } }
        Line: { unique: [[order, sku]], attributes: { sku: sku }, relationships: { order: { entity: Order, kind: toOne, inverse: lines } } }
      sources:
        orders: { format: json, entity: Order, records: /data/orders }
        xml: { format: xml, entity: Order, records: /orders/order }
      """,
      to: "m.map.yaml"
    )
    try folder.write(
      #"""
      {"meta": {"version": 1}, "data": {"pages": 3, "orders": [
        {"number": 3, "placed": "2024-05-01", "total": 10, "iban": "NO1", "address": {"city": "Oslo", "zip": "1"},
         "lines": [{"sku": "a", "qty": 1}, {"sku": "b", "qty": 2, "gift": true}]},
        {"number": 20, "placed": "2024-04-30", "total": 9.5, "iban": "NO2", "kind": "rush", "fee": "x", "vip": null},
        {"number": 3, "placed": "2023-12-31", "total": -1, "tags": ["x", {"y": 1}], "address": {"zip": "2"}},
        {"number": 20, "placed": null, "\u001b[31mred": 1}]}}
      """#,
      to: "f.json"
    )
  }

  private struct Report: Decodable {
    struct Coverage: Decodable {
      struct Entity: Decodable {
        struct Attribute: Decodable {
          var name: String
          var values, null, absent, invalid, distinct: Int
          var isDistinctExact: Bool
          var smallest, largest, suggestion: String?
        }
        var name: String
        var objects, duplicates: Int
        var duplicateKeys: [String]
        var attributes: [Attribute]
      }
      struct Place: Decodable, Equatable {
        var entity: String?
        var path: String
        var count: Int
        var kind: String
      }
      var entities: [Entity]
      var unread: [Place]
    }
    var status: String
    var coverage: Coverage
  }

  private func report(_ arguments: String...) throws -> Report {
    let run = try folder.run(["check", "m.map.yaml", "--coverage", "--json"] + arguments)
    return try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
  }

  @Test("Each attribute has its values counted, of sub-entities and nested ones too")
  func attributes() throws {
    let report = try report("f.json")
    func entity(_ name: String) throws -> Report.Coverage.Entity {
      try #require(report.coverage.entities.first { $0.name == name })
    }
    let order = try entity("Order")
    #expect(order.objects == 3 && order.duplicates == 2 && order.duplicateKeys == ["3", "20"])
    func line(_ name: String, _ entity: Report.Coverage.Entity) throws -> String {
      let one = try #require(entity.attributes.first { $0.name == name })
      return
        "\(one.values) \(one.null) \(one.absent) \(one.invalid) \(one.distinct) \(one.smallest ?? "-")"
        + " \(one.largest ?? "-")"
    }
    #expect(try line("number", order) == "3 0 0 0 2 3 20")
    #expect(try line("total", order) == "2 0 1 0 2 -1 10")
    #expect(try line("placed", order) == "2 1 0 0 2 2023-12-31 2024-05-01")
    #expect(try line("city", order) == "1 0 2 0 1 Oslo Oslo")
    // Sensitive values are nowhere.
    #expect(try line("iban", order) == "1 0 2 0 1 - -")
    let rush = try entity("Rush")
    #expect(try rush.objects == 1 && line("fee", rush) == "0 1 0 1 0 - -")
    // The record of number 20 that is no rush order has the key of the one that is.
    #expect(rush.duplicates == 0)
    let lines = try entity("Line")
    #expect(try lines.objects == 2 && line("sku", lines) == "2 0 0 0 2 a b")
    #expect(order.attributes.first { $0.name == "placed" }?.suggestion == "type: date")
    #expect(order.attributes.first { $0.name == "city" }?.suggestion == nil)
  }

  @Test("What nothing reads is told with its number, in records and outside of them")
  func unread() throws {
    let places = try report("f.json").coverage.unread.map {
      "\($0.entity ?? "-") \($0.path) \($0.count) \($0.kind)"
    }
    #expect(
      Set(places) == [
        "- /meta 1 object", "- /data/pages 1 number", "Order address.zip 2 text",
        "Order vip 1 null",
        "Order tags 1 list", "Order ␛[31mred 1 number", "Order lines[*].qty 2 number",
        "Order lines[*].gift 1 boolean",
      ]
    )
  }

  @Test("XML has elements and attributes; several samples, of several formats, are added up")
  func xml() throws {
    try folder.write(
      """
      <orders at="now"><order lang="no"><number unit="x">7</number><address><city>Ås</city></address>
      <lines><sku>a</sku><qty>1</qty></lines><lines><sku>b</sku></lines></order></orders>
      """,
      to: "g.xml"
    )
    let places = try report("g.xml").coverage.unread.map {
      "\($0.entity ?? "-") \($0.path) \($0.count)"
    }
    #expect(
      Set(places) == [
        "- /orders/@at 1", "Order @lang 1", "Order number/@unit 1", "Order lines/qty 1",
      ]
    )
    let both = try report("f.json", "g.xml", "f.json").coverage
    #expect(both.entities.first { $0.name == "Order" }?.objects == 7)
    #expect(both.unread.first { $0.path == "address.zip" }?.count == 4)
  }

  @Test(
    "As text: a table an entity, and no value of a sensitive attribute, no escape of the feed's"
  )
  func text() throws {
    let run = try folder.run("check", "m.map.yaml", "f.json", "--coverage")
    #expect(run.output.contains("Order: 3 objects\nattribute  type"), "\(run.output)")
    #expect(run.output.contains("repeated keys: 2 (3; 20)\n"))
    #expect(run.output.contains("placed could be type: date\n"))
    #expect(run.output.contains("not read:\n"))
    #expect(run.output.contains("  Order: address.zip (text, 2)\n"))
    for text in [run.output, run.errors] {
      #expect(!text.contains("NO1") && !text.contains("\u{1B}"))
    }
    #expect(run.output.contains("•••"))
  }

  @Test("Empty and faulty samples, standard input, and no samples at all")
  func bad() throws {
    try folder.write(#"{"data":{"orders":[]}}"#, to: "e.json")
    let empty = try report("e.json")
    #expect(empty.coverage.entities.isEmpty && empty.coverage.unread.isEmpty)
    try folder.write("{\"data\":{\"orders\":[{", to: "cut.json")
    #expect(try folder.run("check", "m.map.yaml", "cut.json", "--coverage").status == 65)
    let run = try folder.run("check", "m.map.yaml", "-", "--coverage", input: "{}")
    #expect(run.status == 65 && run.errors.contains("cannot be read twice"))
    #expect(try folder.run("check", "m.map.yaml", "--coverage").status == 64)
  }

  @Test("A feed of which everything is read says so")
  func complete() throws {
    try folder.write(
      #"{"data":{"orders":[{"number":1,"placed":"x","total":1,"iban":"y","address":{"city":"z"},"kind":"","lines":[]}]}}"#,
      to: "c.json"
    )
    let run = try folder.run("check", "m.map.yaml", "c.json", "--coverage")
    #expect(run.output.contains("everything is read\n"), "\(run.output)")
  }

  @Test("What cannot be read twice is refused as that, before it is read")
  func pipe() throws {
    #expect(mkfifo(folder.url.appendingPathComponent("pipe.json").path, 0o600) == 0)
    let run = try folder.run("check", "m.map.yaml", "pipe.json", "--coverage")
    #expect(run.status == 65)
    #expect(run.errors.contains("pipe.json cannot be read twice, as the coverage of a feed wants."))
  }

  @Test("Records that are rejected when they are written are not among what is counted")
  func rejectedLater() throws {
    try folder.write(
      """
      version: 1
      entities:
        P: { unique: id, attributes: { id: { type: int32 }, name: { required: true }, n: { type: int32 } } }
      sources: { j: { format: json, entity: P } }
      """,
      to: "p.map.yaml"
    )
    try folder.write(
      #"""
      [{"id":1,"name":"a","n":1},{"id":2,"n":99},{"id":3,"name":null,"n":98},{"id":4,"name":"d","n":"x"},
       {"id":5,"name":"e","n":5}]
      """#,
      to: "p.json"
    )
    let run = try folder.run("check", "p.map.yaml", "p.json", "--coverage", "--json")
    let document = try #require(
      JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
    )
    let coverage = try #require(document["coverage"] as? [String: Any])
    let entity = try #require((coverage["entities"] as? [[String: Any]])?.first)
    #expect(entity["objects"] as? Int == 2, "\(run.output)")
    let attributes = try #require(entity["attributes"] as? [[String: Any]])
    let number = try #require(attributes.first { $0["name"] as? String == "n" })
    #expect(number["largest"] as? String == "5" && number["values"] as? Int == 2, "\(number)")
  }
}
