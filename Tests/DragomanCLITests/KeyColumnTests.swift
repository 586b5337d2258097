import Foundation
import Testing

/// Columns that are objects, and entities that are nothing but links.
@Suite struct KeyColumnTests {
  private let folder: ToolFolder

  init() throws {
    folder = try ToolFolder()
    try folder.write(
      """
      version: 1
      entities:
        Order:
          unique: number
          attributes: { number: { type: int32 } }
          relationships: { customer: { entity: Customer, kind: toOne, from: customer } }
        Customer:
          unique: code
          attributes: { code: code, name: name }
          relationships: { home: { entity: City, kind: toOne, from: home } }
        City: { unique: [[land, name]], attributes: { land: land, name: name } }
        Membership:
          unique: [[member, city]]
          attributes: {}
          relationships:
            member: { entity: Customer, kind: toOne, key: { code: member } }
            city: { entity: City, kind: toOne, from: city }
      sources:
        orders: { format: json, entity: Order, records: /orders }
        members: { format: json, entity: Membership, records: /members }
      """,
      to: "m.map.yaml"
    )
    try folder.write(
      #"""
      {"orders": [
        {"number": 1, "customer": {"code": "C-7", "name": "Ada", "home": {"land": "NO", "name": "Oslo"}}},
        {"number": 2, "customer": {"code": "C-8", "name": "Bo"}}, {"number": 3}],
       "members": [{"member": "C-8", "city": {"land": "NO", "name": "Oslo"}}]}
      """#,
      to: "f.json"
    )
    let made = try folder.run("import", "-q", "m.map.yaml", "f.json", "-d", "p.db")
    #expect(made.status == 0, "\(made.errors)")
  }

  @Test(
    "A to-one column is the key of its object",
    arguments: [
      (
        ["Order", "--columns", "number,customer"],
        [
          #"{"number":1,"customer":"C-7"}"#, #"{"number":2,"customer":"C-8"}"#,
          #"{"number":3,"customer":null}"#,
        ]
      ),
      (
        ["Order", "--columns", "customer.home", "--where", "number == 1"],
        [#"{"customer.home.land":"NO","customer.home.name":"Oslo"}"#]
      ),
      (["Membership"], [#"{"member":"C-8","city.land":"NO","city.name":"Oslo"}"#]),
      (["Membership", "--columns", "member"], [#"{"member":"C-8"}"#]),
    ]
  )
  func columns(arguments: [String], lines: [String]) throws {
    let run = try folder.run(["fetch", "-d", "p.db", "-f", "ndjson"] + arguments)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output == lines.map { $0 + "\n" }.joined())
  }

  @Test("An export whose map has one source wants no choice of an entity")
  func oneSource() throws {
    let one = try folder.read("m.map.yaml")
      .replacing("  members: { format: json, entity: Membership, records: /members }", with: "")
    try folder.write(one, to: "one.map.yaml")
    let run = try folder.run("export", "one.map.yaml", "-d", "p.db", "-f", "ndjson")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.hasPrefix(#"{"number":1,"customer":{"code":"C-7","name":"Ada""#))
    let two = try folder.run("export", "m.map.yaml", "-d", "p.db")
    #expect(two.status == 64)
  }

  @Test("Objects of sub-entities are part of an export")
  func subentities() throws {
    try folder.write(
      """
      version: 1
      entities:
        Thing: { unique: id, attributes: { id: id }, discriminator: { from: kind, values: { c: Car } } }
        Car: { parent: Thing, attributes: { doors: doors } }
      sources: { json: { format: json, entity: Thing } }
      """,
      to: "t.map.yaml"
    )
    try folder.write(#"[{"id":"1","kind":"c","doors":"4"},{"id":"2","kind":"c"}]"#, to: "t.json")
    let made = try folder.run("import", "-q", "t.map.yaml", "t.json", "-d", "t.db")
    #expect(made.status == 0, "\(made.errors)")
    let thing = try folder.run("export", "t.map.yaml", "-d", "t.db", "--entity", "Thing")
    #expect(thing.status == 0 && thing.errors.isEmpty)
    #expect(
      thing.output == """
        [
        {"id":"1","doors":"4","kind":"c"},
        {"id":"2","kind":"c"}
        ]

        """
    )
    let car = try folder.run(
      "export",
      "t.map.yaml",
      "-d",
      "t.db",
      "--entity",
      "Car",
      "-f",
      "ndjson"
    )
    #expect(car.status == 0 && car.errors.isEmpty)
    #expect(car.output.hasPrefix(#"{"id":"1""#))
  }
}
