import Foundation
import Testing

/// `dragoman delete`, run as a user runs it.
@Suite struct DeleteCommandTests {
  private let folder: ToolFolder
  private static let map = """
    version: 1
    name: shop
    entities:
      Customer:
        unique: email
        attributes: { email: { sensitive: true }, city: city }
        relationships:
          orders: { entity: Order, kind: toMany, key: { number: orders }, inverse: customer, onDelete: deny }
      Company: { parent: Customer, attributes: { vat: vat } }
      Order:
        unique: number
        attributes: { number: { type: int64 }, note: note }
        relationships:
          lines: { entity: Line, kind: toMany, from: lines, inverse: order, onDelete: cascade }
      Line: { unique: [order, article], attributes: { article: article } }
      Tag:
        unique: name
        attributes: { name: name }
        relationships:
          orders: { entity: Order, kind: toMany, key: { number: orders }, onDelete: noAction }
    sources:
      customers: { format: json, entity: Customer, records: /customers }
      companies: { format: json, entity: Company, records: /companies }
      orders: { format: json, entity: Order, records: /orders }
      tags: { format: json, entity: Tag, records: /tags }
    """
  private static let feed = """
    {"customers":[{"email":"secret-a","city":"Oslo","orders":[1,2]},{"email":"secret-b","city":"Oslo"}],
    "companies":[{"email":"secret-c","city":"Oslo","vat":"v"}],
    "orders":[{"number":1,"note":"x\\u001b[31m","lines":[{"article":"p"},{"article":"q"}]},
      {"number":2,"lines":[]},{"number":3,"lines":[{"article":"p"}]}],
    "tags":[{"name":"hot","orders":[1]},{"name":"cold"}]}
    """

  init() throws {
    folder = try ToolFolder()
    try folder.write(Self.map, to: "m.map.yaml")
    try folder.write(Self.feed, to: "f.json")
    _ = try folder.run("import", "m.map.yaml", "f.json", "-d", "s.db", "-q")
  }

  private func count(_ entity: String) throws -> String {
    try folder.run("fetch", entity, "-d", "s.db", "--count").output
  }

  @Test("A deletion takes along what cascade says, and tells it by entity")
  func cascade() throws {
    let dry = try folder.run("delete", "Order", "-d", "s.db", "--where", "number < 3", "--dry-run")
    #expect(dry.status == 0 && dry.errors.isEmpty)
    #expect(
      dry.output == """
          Order  2
          Line   2  (2 by cascade)
        s.db: 4 objects would go; nothing was deleted.

        """
    )
    #expect(try count("Order") == "3\n")
    let run = try folder.run("delete", "Order", "-d", "s.db", "--where", "number < 3", "--yes")
    #expect(run.status == 0 && run.errors.isEmpty)
    #expect(run.output.hasSuffix("\ns.db: 4 objects deleted.\n"))
    #expect(try (count("Order"), count("Line")) == ("1\n", "1\n"))
    let again = try folder.run("delete", "Order", "-d", "s.db", "--where", "number < 3", "--yes")
    #expect(again.status == 0)
    #expect(again.output == "s.db: nothing matches, nothing was deleted.\n")
  }

  @Test("A dry run changes no byte of the file, and makes none")
  func dryRun() throws {
    let before = try Data(contentsOf: folder.url.appendingPathComponent("s.db"))
    _ = try folder.run("delete", "Order", "-d", "s.db", "--all", "--dry-run")
    #expect(try Data(contentsOf: folder.url.appendingPathComponent("s.db")) == before)
    let missing = try folder.run("delete", "Order", "-d", "t.db", "--all", "--yes")
    #expect(missing.status == 66 && missing.errors.hasPrefix("error[store.missing]: t.db: "))
    #expect(try !folder.files.contains("t.db"))
  }

  @Test("What deny keeps is named without sensitive values, and nothing is deleted")
  func deny() throws {
    for mode in ["--yes", "--dry-run"] {
      let run = try folder.run("delete", "Customer", "-d", "s.db", "--all", mode)
      #expect(run.status == 65)
      #expect(run.output.isEmpty)
      #expect(
        run.errors == """
          error[store.protected]: s.db: The delete rule deny of Customer.orders keeps 1 object that has \
          a target which would stay; nothing was deleted.
            object   Customer  email ••• (_pk 1)
            help     delete or unlink its targets first, or give the relationship another onDelete

          """
      )
    }
    #expect(try count("Customer") == "3\n")
  }

  @Test("A link that noAction would leave without a target is told before SQLite refuses it")
  func noAction() throws {
    let run = try folder.run("delete", "Tag", "-d", "s.db", "--where", "name == 'hot'", "--yes")
    #expect(run.status == 65)
    #expect(run.errors.contains("The delete rule noAction of Tag.orders keeps 1 object"))
    #expect(run.errors.contains("\n  object   Tag  name hot\n"))
    let other = try folder.run("delete", "Tag", "-d", "s.db", "--where", "name == 'cold'", "--yes")
    #expect(other.status == 0)
    #expect(try count("Tag") == "1\n")
  }

  @Test("Objects of sub-entities are counted for themselves, and a sub-entity alone can be meant")
  func subentities() throws {
    let both = try folder.run(
      "delete",
      "Customer",
      "-d",
      "s.db",
      "--where",
      "orders.@count == 0",
      "--dry-run",
      "--json"
    )
    #expect(
      both.output == """
        {"v":1,"status":"planned","dryRun":true,"entity":"Customer","matched":2,"cascaded":0,\
        "entities":{"Customer":{"matched":1,"cascaded":0},"Company":{"matched":1,"cascaded":0}},\
        "protected":[]}

        """
    )
    let one = try folder.run("delete", "Company", "-d", "s.db", "--all", "-y", "--json")
    #expect(one.status == 0)
    #expect(one.output.contains(#""status":"done""#))
    #expect(one.output.contains(#""entities":{"Company":{"matched":1,"cascaded":0}}"#))
    #expect(try (count("Customer"), count("Company")) == ("2\n", "0\n"))
  }

  @Test(
    "Who does not say which objects, or misspells, is answered with the nearest",
    arguments: [
      (["Order", "-y"], "Error: Which objects? Say --where PREDICATE, or --all"),
      (
        ["Order", "--all", "--where", "TRUEPREDICATE"],
        "Error: --all and --where exclude each other."
      ),
      (["Order", "--all", "-y", "--dry-run"], "Error: --dry-run and --yes exclude each other."),
      (["Ordr", "--all", "-y"], "did you mean \"Order\"?"),
      (["Order", "--where", "numbr == 1", "-y"], "did you mean \"number\"?"),
      (
        ["Order", "--where", "number == $N", "-p", "M=1", "-y"], "The predicate has no variable $M."
      ),
      (["Order", "--all"], "error[tool.terminal]: There is no terminal to ask at"),
    ]
  )
  func usage(arguments: [String], words: String) throws {
    let run = try folder.run(["delete"] + arguments + ["-d", "s.db"])
    #expect(run.status == 64)
    #expect(run.errors.contains(words))
    #expect(run.output.isEmpty)
    #expect(try count("Order") == "3\n")
  }

  @Test(
    "On a terminal it asks, and nothing but yes is a yes",
    arguments: [("y\n", 0, "2\n"), ("YES\n", 0, "2\n"), ("n\n", 130, "3\n"), ("\n", 130, "3\n")]
  )
  func question(answer: String, status: Int32, rest: String) throws {
    let terminal = try TestTerminal()
    let run = try terminal.run(
      ["delete", "Order", "-d", "s.db", "--where", "number == 3"],
      in: folder,
      typing: answer
    )
    #expect(run.status == status)
    #expect(
      run.errors.contains(
        "  Order  1\r\n  Line   1  (1 by cascade)\r\nDelete 2 objects from s.db? [y/N] "
      )
    )
    #expect(try count("Order") == rest)
  }

  @Test("Two predicates are refused; a deletion stands in the history and is taken back")
  func history() throws {
    let two = try folder.run(
      [
        "delete", "Order", "-d", "s.db", "--yes", "--where", "number == 1", "--where",
        "number == 3",
      ]
    )
    #expect(two.status == 64 && two.errors.contains("There is one --where"))
    #expect(try count("Order") == "3\n")
    _ = try folder.run("delete", "Order", "-d", "s.db", "--where", "number == 3", "--yes")
    #expect(try folder.run("history", "-d", "s.db").output.contains("delete Order"))
    #expect(
      try folder.run("fetch", "Order", "-d", "s.db", "--as-of", "1", "--count").output == "3\n"
    )
    #expect(
      try folder.run("undo", "-d", "s.db").errors.contains("Took back import 2 (delete Order)")
    )
    #expect(try count("Order") == "3\n")
  }
}
