import Foundation
import Testing

/// `dragoman export` of a part of what there is: columns, offsets, several entities.
@Suite("dragoman export, selections") struct ExportSelectionTests {
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
            state: { default: open, onMissing: default }
            kept: { default: "yes" }
            note: { onMissing: clear }
            pin: { sensitive: true }
          relationships:
            customer: { entity: Customer, kind: toOne, key: { code: customer }, onMissing: clear }
          discriminator: { from: kind, values: { rush: Rush } }
        Rush: { parent: Order, attributes: { fee: { type: int32 }, haste: { onMissing: reject } } }
        Customer: { unique: code, attributes: { code: code, name: name } }
      sources:
        customers: { format: json, entity: Customer, records: /customers }
        orders: { format: json, entity: Order, records: /orders }
      """,
      to: "m.map.yaml"
    )
    try folder.write(
      #"""
      {"customers": [{"code":"A","name":"Ada"},{"code":"B","name":"Bo"}],
       "orders": [{"number":1,"state":"sent","note":"x","pin":"7","customer":"A"},
        {"number":2,"note":"y","customer":"B","kind":"rush","fee":3,"haste":"h"}, {"number":3}]}
      """#,
      to: "f.json"
    )
    let made = try folder.run("import", "-q", "m.map.yaml", "f.json", "-d", "p.db")
    #expect(made.status == 0, "\(made.errors)")
  }

  private func export(_ arguments: String...) throws -> ToolFolder.Run {
    try folder.run(["export", "m.map.yaml", "-d", "p.db", "-f", "ndjson"] + arguments)
  }

  @Test("Columns are written beside the key and the word of a sub-entity, and nothing else")
  func columns() throws {
    let run = try export("--entity", "Order", "--columns", "note,fee")
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      run.output == #"""
        {"number":1,"note":"x"}
        {"number":2,"note":"y","fee":3,"kind":"rush"}
        {"number":3}

        """#
    )
    let notes = run.errors.split(separator: "\n").filter { $0.contains("not among the columns") }
    #expect(
      notes.map { $0.replacing(" is not among the columns: an import of the export", with: "") }
        == [
          "note: Order.state gives it its default", "note: Order.customer unlinks what it has",
          "note: Rush.haste rejects its record",
        ]
    )
    #expect(
      try export("--entity", "Order", "--columns", "customer").errors
        .contains(
          "note: Order.note is not among the columns: an import of the export sets it to null"
        )
    )
    #expect(
      try export("--entity", "Order", "--columns", "customer", "--limit", "1").output
        == "{\"number\":1,\"customer\":\"A\"}\n"
    )
    #expect(
      try export("--entity", "Customer", "--columns", "code").output
        == "{\"code\":\"A\"}\n{\"code\":\"B\"}\n"
    )
  }

  @Test("Notes tell what an import of columns does, of each entity, and nothing that it does not")
  func fates() throws {
    try folder.write(
      """
      version: 1
      entities:
        O:
          unique: id
          attributes:
            id: { type: int32 }
            n: n
            k: { type: json }
            need: { required: true, onMissing: clear }
            inside: { from: k.x, onMissing: clear }
            other: { from: [zz, k], onMissing: clear }
            stem: { from: $file.stem, onMissing: clear }
          relationships:
            c: { entity: C, kind: toOne, key: { id: c }, onUnlink: delete }
            fixed: { entity: C, kind: toOne, key: { id: { value: A } }, onMissing: clear }
          discriminator: { from: kind, values: { s: S } }
        S: { parent: O, onMissing: clear, attributes: { x: x } }
        C: { unique: id, attributes: { id: id } }
      sources: { j: { format: json, entity: O }, c: { format: json, entity: C, records: /cs } }
      """,
      to: "o.map.yaml"
    )
    try folder.write(#"[{"id":1,"k":{"x":"y"},"need":"x","n":"N","kind":"s"}]"#, to: "o.json")
    _ = try folder.run("import", "o.map.yaml", "o.json", "-d", "o.db", "--source", "j", "-q")
    let run = try folder.run(
      "export",
      "o.map.yaml",
      "-d",
      "o.db",
      "--entity",
      "O",
      "--columns",
      "k",
      "-o",
      "k.json"
    )
    let notes = run.errors.split(separator: "\n").filter { $0.contains("not among the columns") }
    #expect(
      notes.map { $0.replacing(" is not among the columns: an import of the export", with: "") }
        .sorted() == [
          "note: O.need rejects its record", "note: S.c deletes what it has",
          "note: S.n sets it to null", "note: S.x sets it to null",
        ]
    )
  }

  @Test("An import of columns changes these alone")
  func back() throws {
    _ = try folder.run(
      "export",
      "m.map.yaml",
      "-d",
      "p.db",
      "--entity",
      "Customer",
      "--columns",
      "name",
      "-o",
      "n.json"
    )
    let changed = try folder.read("n.json").replacingOccurrences(of: "Ada", with: "Eve")
    try folder.write(changed, to: "c.json")
    let run = try folder.run("import", "m.map.yaml", "c.json", "-d", "p.db", "--json")
    #expect(
      run.output.contains("\"updated\":1") && run.output.contains("\"unchanged\":1"),
      "\(run.output)"
    )
    #expect(
      try folder.run("fetch", "Customer", "-d", "p.db", "-f", "csv").output
        == "code,name\r\nA,Eve\r\nB,Bo\r\n"
    )
  }

  @Test("An offset leaves out the first objects of the order")
  func offset() throws {
    #expect(
      try export("--entity", "Order", "--columns", "number", "--offset", "1", "--limit", "1").output
        == "{\"number\":2,\"kind\":\"rush\"}\n"
    )
    #expect(
      try export("--entity", "Order", "--columns", "number", "--sort=-number", "--offset", "2")
        .output
        == "{\"number\":1}\n"
    )
    #expect(try export("--entity", "Order", "--offset", "9").output.isEmpty)
  }

  @Test(
    "What makes no sense is refused",
    arguments: [
      (["--entity", "Order", "--columns", "nots"], 64, "did you mean \"note\"?"),
      (["--entity", "Order", "--columns", ""], 64, "no attribute or relationship"),
      (["--entity", "Order", "--offset=-1"], 64, "--offset must be 0 or more"),
      (["--entity", "Order,Customer"], 64, "Several entities go to a folder"),
      (["--entity", "Order", "--entity", "Customer", "-o", "x.json"], 64, "go to a folder"),
      (["--entity", "Order,Order", "-o", "out/"], 64, "named twice"),
      (["--entity", "Order,Custmer", "-o", "out/"], 64, "did you mean Customer?"),
      (["-o", "f.json/"], 73, "cannot be created"),
    ] as [([String], Int32, String)]
  )
  func refused(options: [String], status: Int32, words: String) throws {
    let run = try folder.run(["export", "m.map.yaml", "-d", "p.db"] + options)
    #expect(run.status == status, "\(run.errors)")
    #expect(run.errors.contains(words), "\(run.errors)")
    #expect(try folder.files.filter { !$0.hasPrefix("p.db") } == ["f.json", "m.map.yaml"])
  }

  @Test(
    "Several entities are files of a folder, which an import reads again",
    arguments: [[], ["--entity", "Order,Customer"]]
  )
  func several(entities: [String]) throws {
    let run = try folder.run(["export", "m.map.yaml", "-d", "p.db", "-o", "out/"] + entities)
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      Set(run.errors.split(separator: "\n")) == [
        "out/Customer.json: 2 records", "out/Order.json: 3 records",
      ]
    )
    let names = try FileManager.default.contentsOfDirectory(
      atPath: folder.url.appendingPathComponent("out").path
    )
    #expect(names.sorted() == ["Customer.json", "Order.json"])
    for database in ["p.db", "new.db"] {
      let again = try folder.run("import", "m.map.yaml", "out", "-d", database, "--json")
      #expect(again.status == 0, "\(again.errors)")
      let words = database == "p.db" ? "\"unchanged\":5" : "\"inserted\":5"
      #expect(again.output.contains(words), "\(again.output)")
    }
    #expect(try folder.run("diff", "m.map.yaml", "out", "-d", "p.db").status == 0)
    // A second export replaces them, and nothing that is somebody else's.
    #expect(
      try folder.run(["export", "m.map.yaml", "-d", "p.db", "-o", "out/"] + entities).status == 0
    )
    try folder.write("mine\n", to: "out/Order.json")
    let before = try folder.read("out/Customer.json")
    let refused = try folder.run(
      ["export", "m.map.yaml", "-d", "p.db", "-o", "out/", "--where", "FALSEPREDICATE"] + entities
    )
    #expect(refused.status == 73)
    #expect(try folder.read("out/Order.json") == "mine\n")
    #expect(try folder.read("out/Customer.json") == before)
  }

  @Test("Without a format each entity is written in one of its own sources")
  func severalFormats() throws {
    try folder.write(
      """
      version: 1
      entities:
        Customer: { unique: id, attributes: { id: id } }
        Bill: { unique: number, attributes: { number: number } }
      sources:
        customers: { format: json, entity: Customer }
        bills: { format: csv, entity: Bill }
      """,
      to: "two.map.yaml"
    )
    try folder.write(#"[{"id":"a"}]"#, to: "c.json")
    try folder.write("number\n1\n", to: "b.csv")
    for feed in ["c.json", "b.csv"] {
      let made = try folder.run("import", "-q", "two.map.yaml", feed, "-d", "two.db")
      #expect(made.status == 0, "\(made.errors)")
    }
    let all = try folder.run("export", "two.map.yaml", "-d", "two.db", "-o", "out/")
    #expect(all.status == 0, "\(all.errors)")
    #expect(try folder.read("out/Customer.json").contains("a"))
    #expect(try folder.read("out/Bill.csv").contains("1"))
    let again = try folder.run("import", "two.map.yaml", "out", "-d", "new.db", "--json")
    #expect(again.status == 0 && again.output.contains("\"inserted\":2"), "\(again.errors)")
    let one = try folder.run("export", "two.map.yaml", "-d", "two.db")
    #expect(one.status == 64 && one.errors.contains("which one is to be exported?"))
    let told = try folder.run("export", "two.map.yaml", "-d", "two.db", "-f", "csv")
    #expect(told.status == 0 && told.output == "number\r\n1\r\n", "\(told.errors)")
  }

  @Test("An encoding that is none is a fault of the map; a page of HTML is no CSV")
  func noEncodingNoTable() throws {
    try folder.write(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: id } } }
      sources: { c: { format: csv, entity: P, encoding: latn1 } }
      """,
      to: "enc.map.yaml"
    )
    let check = try folder.run("check", "enc.map.yaml")
    #expect(check.status == 65, "\(check.output)\(check.errors)")
    #expect(check.errors.contains("The encoding \"latn1\" is not known."))
    #expect(check.errors.contains("did you mean latin1?") || check.errors.contains("latin1"))
    try folder.write("<!DOCTYPE html>\n<html><body>x</body></html>", to: "login.csv")
    let map = try folder.read("enc.map.yaml").replacing("latn1", with: "utf-8")
    try folder.write(map, to: "enc.map.yaml")
    let page = try folder.run("import", "enc.map.yaml", "login.csv", "-d", "enc.db")
    #expect(page.status == 65 && page.errors.contains("looks like an HTML page"), "\(page.errors)")
  }

  @Test("A moment that happens to be unique is no key")
  func unsureKey() throws {
    try folder.write(
      "when,sensor,value\n2026-01-01T00:00:00Z,a,1.5\n2026-01-01T00:01:00Z,b,2.5\n2026-01-01T00:02:00Z,a,3.25\n",
      to: "s.csv"
    )
    let guess = try folder.run("guess", "s.csv")
    let key = guess.output.split(separator: "\n").first { $0.contains("unique: [file, place]") }
    #expect(key?.contains("# unsure: nothing names a record") == true, "\(guess.output)")
    #expect(key?.contains("unique here: when") == true, "\(guess.output)")
  }
}
