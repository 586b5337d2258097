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

  @Test(
    "What a to-one is shown by is sorted, filtered and named as its columns are",
    arguments: [
      (["--columns", "customer", "--sort", "-customer", "--limit", "1"], ["customer", "C-8"]),
      (
        ["--columns", "customer,customer.code", "--limit", "1"],
        ["customer,customer.code", "C-7,C-7"]
      ),
      (
        ["--columns", "number,customer.home,customer.home.land", "--limit", "1"],
        ["number,customer.home.land,customer.home.name", "1,NO,Oslo"]
      ),
      (
        ["--group", "customer.home", "--count", "--sort", "-customer.home.name", "--limit", "1"],
        ["customer.home.land,customer.home.name,count", "NO,Oslo,1"]
      ),
      (
        ["--group", "customer.home", "--count", "--sort", "-customer.home", "--limit", "1"],
        ["customer.home.land,customer.home.name,count", "NO,Oslo,1"]
      ),
      (
        ["--group", "customer.home", "--count", "--having", "customer.home.name == 'Oslo'"],
        ["customer.home.land,customer.home.name,count", "NO,Oslo,1"]
      ),
      (
        ["--columns", "customer", "--distinct", "--sort", "-customer.code", "--limit", "1"],
        ["customer", "C-8"]
      ),
    ]
  )
  func names(options: [String], lines: [String]) throws {
    let run = try folder.run(["fetch", "Order", "-d", "p.db", "-f", "csv"] + options)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output == lines.map { $0 + "\r\n" }.joined())
  }

  @Test("A to-one is shown by its key where an attribute has the name of the path to it")
  func dottedNames() throws {
    try folder.write(
      """
      version: 1
      entities:
        Land: { unique: iso, attributes: { iso: iso } }
        City:
          unique: name
          attributes: { name: name, "land.iso": li }
          relationships: { land: { entity: Land, kind: toOne, from: land } }
      sources: { c: { format: json, entity: City } }
      """,
      to: "dots.map.yaml"
    )
    try folder.write(#"[{"name": "Oslo", "li": "other", "land": {"iso": "NO"}}]"#, to: "dots.json")
    let made = try folder.run("import", "-q", "dots.map.yaml", "dots.json", "-d", "dots.db")
    #expect(made.status == 0, "\(made.errors)")
    for (options, line) in [
      (["--columns", "land"], #"{"land":"NO"}"#),
      (["--group", "land", "--count"], #"{"land":"NO","count":1}"#),
      (["--columns", "land.iso"], #"{"land.iso":"other"}"#),
      (["--columns", "#land.iso"], ##"{"#land.iso":"NO"}"##),
      (
        ["--columns", "name", "--where", ##"#"land.iso" == "other" AND land.iso == "NO""##],
        #"{"name":"Oslo"}"#
      ),
    ] {
      let run = try folder.run(["fetch", "City", "-d", "dots.db", "-f", "ndjson"] + options)
      #expect(run.status == 0 && run.output == line + "\n", "\(run.errors)")
    }
  }

  @Test("An object whose key is null is shown by its primary key, too")
  func nullKeys() throws {
    try folder.write(
      """
      version: 1
      entities:
        Part:
          unique: [a, b]
          attributes: { a: { from: a, required: false }, b: { from: b, required: false }, n: n }
        Thing:
          unique: id
          attributes: { id: id }
          relationships: { part: { entity: Part, kind: toOne, from: part } }
      sources: { t: { format: json, entity: Thing } }
      """,
      to: "nulls.map.yaml"
    )
    try folder.write(
      #"""
      [{"id": "1", "part": {"a": null, "b": null, "n": "one"}},
       {"id": "2", "part": {"a": null, "b": null, "n": "two"}}, {"id": "3"}]
      """#,
      to: "nulls.json"
    )
    let made = try folder.run("import", "-q", "nulls.map.yaml", "nulls.json", "-d", "nulls.db")
    #expect(made.status == 0, "\(made.errors)")
    for (options, output) in [
      (
        ["--columns", "id,part", "-f", "csv"],
        ["id,part.a,part.b,part._pk", "1,,,1", "2,,,2", "3,,,", ""].joined(separator: "\r\n")
      ),
      (
        ["--group", "part", "--count", "-f", "csv"],
        ["part.a,part.b,part._pk,count", ",,,1", ",,1,1", ",,2,1", ""].joined(separator: "\r\n")
      ),
      (["--columns", "part", "--distinct", "--count"], "3\n"),
    ] {
      let run = try folder.run(["fetch", "Thing", "-d", "nulls.db"] + options)
      #expect(run.status == 0 && run.output == output, "\(run.errors)")
    }
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
