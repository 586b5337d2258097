import Foundation
import Testing

/// `dragoman import FEED -d DB --guess`: no map but what the feed tells.
@Suite struct ImportGuessTests {
  private static let customers =
    #"[{"id":1,"name":"Ada","since":"2024-05-01"},{"id":2,"name":"Bo","since":"2024-06-01"}]"#

  @Test("A first row that is none of names is told where the import is")
  func withoutHeader() throws {
    let folder = try ToolFolder()
    try folder.write("1,Ada,2024-01-05\n2,Eve,2024-01-06\n", to: "people.csv")
    let first = try folder.run("import", "people.csv", "-d", "people.db", "--guess")
    #expect(first.errors.contains("warning: The first row is taken for the names of the columns"))
    let again = try folder.run("import", "people.csv", "-d", "people.db", "--guess")
    #expect(!again.errors.contains("warning: The first row"))
  }

  @Test("A feed is in a database by one command, and its map lies beside it")
  func first() throws {
    let folder = try ToolFolder()
    try folder.write(Self.customers, to: "customers.json")
    let first = try folder.run("import", "customers.json", "-d", "shop.db", "--guess")
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.errors.contains("note: the map shop.map.yaml was guessed: 1 entity"))
    #expect(try folder.run("check", "shop.map.yaml", "customers.json").status == 0)
    let map = try folder.read("shop.map.yaml")
    // What a person has written stays, and counts.
    let mended = "# mine\n" + map.replacing("name:  name", with: "fullName: name")
    try folder.write(mended, to: "shop.map.yaml")
    try FileManager.default.removeItem(at: folder.url.appendingPathComponent("shop.db"))
    let second = try folder.run("import", "customers.json", "-d", "shop.db", "--guess")
    #expect(second.status == 0, "\(second.errors)")
    #expect(second.errors.contains("note: the map is shop.map.yaml"))
    #expect(try folder.read("shop.map.yaml") == mended)
    let rows = try folder.run(
      "fetch",
      "Customer",
      "-d",
      "shop.db",
      "--columns",
      "fullName",
      "-f",
      "csv"
    )
    #expect(rows.output == "fullName\r\nAda\r\nBo\r\n")
    // The next delivery of the feed is one of the same map.
    try folder.write(#"[{"id":3,"name":"Cy","since":"2024-07-01"}]"#, to: "customers-2.json")
    let third = try folder.run("import", "customers-2.json", "-d", "shop.db", "--guess", "--json")
    #expect(third.output.contains("\"inserted\":1"))
    #expect(try folder.read("shop.map.yaml") == mended)
  }

  @Test("An import that keeps nothing leaves the map as it was, or none")
  func failing() throws {
    let folder = try ToolFolder()
    try folder.write(Self.customers, to: "customers.json")
    let arguments = ["-d", "shop.db", "--guess", "--rejects", "customers.json"]
    let none = try folder.run(["import", "customers.json"] + arguments)
    #expect(none.status == 73 && !none.errors.contains("shop.map.yaml was guessed"), "\(none)")
    #expect(try folder.files == ["customers.json"])
    #expect(try folder.run("import", "customers.json", "-d", "shop.db", "--guess").status == 0)
    let before = try folder.read("shop.map.yaml")
    try folder.write(#"{"orders":[{"number":7,"total":12.50}]}"#, to: "orders.json")
    let run = try folder.run(["import", "orders.json"] + arguments.dropLast() + ["shop.db"])
    #expect(run.status == 73 && run.errors.contains("is the database itself"), "\(run)")
    #expect(try folder.read("shop.map.yaml") == before)
  }

  @Test("A feed of another shape is added to the map, with references to what the database holds")
  func second() throws {
    let folder = try ToolFolder()
    try folder.write(Self.customers, to: "customers.json")
    #expect(try folder.run("import", "customers.json", "-d", "shop.db", "--guess").status == 0)
    let before = try folder.read("shop.map.yaml")
    try folder.write(
      #"{"orders":[{"number":7,"customer_id":2,"total":12.50},{"number":8,"customer_id":1,"total":3.00}]}"#,
      to: "orders.json"
    )
    let run = try folder.run("import", "orders.json", "-d", "shop.db", "--guess")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.contains("note: the map shop.map.yaml has grown by 1 entity"))
    let after = try folder.read("shop.map.yaml")
    for line in before.split(separator: "\n") { #expect(after.contains(line)) }
    #expect(
      after.contains(
        "customer: { entity: Customer, kind: toOne, key: { id: customer_id }, onUnresolved"
      )
    )
    let rows = try folder.run(
      "fetch",
      "Order",
      "-d",
      "shop.db",
      "--columns",
      "number,customer.name",
      "-f",
      "csv"
    )
    #expect(rows.output == "number,customer.name\r\n7,Bo\r\n8,Ada\r\n")
    // Both feeds go by the one map.
    for feed in ["customers.json", "orders.json"] {
      #expect(try folder.run("check", "shop.map.yaml", feed).status == 0)
      let again = try folder.run("import", feed, "-d", "shop.db", "--guess", "--json")
      #expect(again.output.contains("\"unchanged\":2"), "\(again.errors)")
    }
    #expect(try folder.read("shop.map.yaml") == after)
  }

  @Test("CSV refers to numbers of the database, and a name that is taken is another one")
  func csv() throws {
    let folder = try ToolFolder()
    try folder.write(Self.customers, to: "customers.json")
    #expect(try folder.run("import", "customers.json", "-d", "shop.db", "--guess").status == 0)
    try folder.write("code,customer_id,visits\na,1,5\nb,2,7\n", to: "customers.csv")
    let run = try folder.run("import", "customers.csv", "-d", "shop.db", "--guess")
    #expect(run.status == 0, "\(run.errors)")
    let map = try folder.read("shop.map.yaml")
    #expect(map.contains("  Customer2:"))
    #expect(
      map.contains(
        "customer: { entity: Customer, kind: toOne, key: { id: customer_id }, onUnresolved"
      )
    )
  }

  @Test("A dry run writes neither map nor database, and a failing guess neither")
  func nothing() throws {
    let folder = try ToolFolder()
    try folder.write(Self.customers, to: "customers.json")
    try folder.write("<html></html>", to: "page.json")
    let dry = try folder.run("import", "customers.json", "-d", "shop.db", "--guess", "--dry-run")
    #expect(dry.status == 0, "\(dry.errors)")
    #expect(dry.errors.contains("note: the map shop.map.yaml would be written"))
    #expect(try folder.run("import", "page.json", "-d", "shop.db", "--guess").status == 65)
    #expect(try folder.run("import", "none.json", "-d", "shop.db", "--guess").status == 66)
    #expect(try folder.run("import", "-", "-d", "shop.db", "--guess", input: "[]").status == 64)
    let stated = try folder.run(
      "import",
      "a.map.yaml",
      "customers.json",
      "-d",
      "shop.db",
      "--guess"
    )
    #expect(stated.status == 64)
    #expect(stated.errors.contains("without --guess"))
    #expect(try folder.files == ["customers.json", "page.json"])
  }

  @Test("A map that nothing can be added to is told, and stays as it is")
  func unfit() throws {
    let folder = try ToolFolder()
    try folder.write(Self.customers, to: "customers.json")
    let map = """
      version: 1
      entities: { Person: { unique: id, attributes: { id: id } } }
      sources: { p: { format: json, entity: Person, records: /people } }

      """
    try folder.write(map, to: "shop.map.yaml")
    let run = try folder.run("import", "customers.json", "-d", "shop.db", "--guess")
    #expect(run.status == 65)
    #expect(run.errors.contains("map.shape") && run.errors.contains("shop.map.yaml"))
    #expect(try folder.read("shop.map.yaml") == map)
    #expect(try folder.files == ["customers.json", "shop.map.yaml"])
  }

  @Test(
    "A database that other maps have filled keeps its entities: names that are taken are not used again"
  )
  func taken() throws {
    let folder = try ToolFolder()
    try folder.write(
      """
      version: 1
      entities: { Customer: { unique: code, attributes: { code: code } } }

      """,
      to: "own.map.yaml"
    )
    try folder.write(#"[{"code":"a"}]"#, to: "codes.json")
    try folder.write(Self.customers, to: "customers.json")
    #expect(try folder.run("import", "own.map.yaml", "codes.json", "-d", "shop.db").status == 0)
    let run = try folder.run("import", "customers.json", "-d", "shop.db", "--guess")
    #expect(run.status == 0, "\(run.errors)")
    #expect(try folder.read("shop.map.yaml").contains("  Customer2:"))
  }
}
