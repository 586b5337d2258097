import Foundation
import Testing

/// The built tool, run as a user runs it, in a folder of its own.
@Suite struct ToolTests {
  private let folder: ToolFolder
  private static let map = """
    version: 1
    entities:
      Person:
        unique: id
        attributes:
          id: { type: int32 }
          name: name
          born: { type: date }
    """

  init() throws {
    folder = try ToolFolder()
    try folder.write(Self.map, to: "m.map.yaml")
    try folder.write(
      #"[{"id":1,"name":"Ada","born":"1815-12-10"},{"id":2,"name":"Bo"}]"#,
      to: "good.json"
    )
    try folder.write(
      "{\"id\":3,\"name\":\"Cy\"}\n{\"id\":4,\"born\":\"31/13/1979\"}\n",
      to: "dirty.ndjson"
    )
  }

  @Test("An import reports on standard error and leaves standard output to data")
  func imports() throws {
    let first = try folder.run("import", "m.map.yaml", "good.json", "-d", "p.db")
    #expect(first.status == 0)
    #expect(first.output.isEmpty)
    #expect(first.errors.hasSuffix("/s\n  inserted  2\n"))
    let again = try folder.run("import", "m.map.yaml", "good.json", "-d", "p.db")
    #expect(again.errors.hasSuffix("/s\n  unchanged 2\n"))
    let fetched = try folder.run("fetch", "Person", "-d", "p.db", "--where", "name == 'Ada'")
    #expect(fetched.output == "{\"id\":1,\"name\":\"Ada\",\"born\":\"1815-12-10\"}\n")
    #expect(try folder.run("import", "m.map.yaml", "good.json", "-d", "p.db", "-q").errors.isEmpty)
  }

  @Test("A reject is told with its place, value, rule and a way out; the exit code is 3")
  func reject() throws {
    let result = try folder.run("import", "m.map.yaml", "dirty.ndjson", "-d", "p.db")
    #expect(result.status == 3)
    #expect(
      result.errors.hasPrefix(
        """
        error[value.date]: dirty.ndjson:2:16 (record 2, byte 36): Person.born
          problem  None of the declared formats takes the value as a date.
          value    "31/13/1979" at born
          key      4
          tried    iso8601-date
          map      m.map.yaml:8:7
          help     add the format to dates, or set onInvalid: clear
        Read 2 records (50 B) from dirty.ndjson in
        """
      )
    )
    #expect(result.errors.hasSuffix("  inserted  1\n  rejected  1\n"))
  }

  @Test("--json prints one document with the promised members")
  func json() throws {
    let result = try folder.run(
      "import",
      "m.map.yaml",
      "dirty.ndjson",
      "-d",
      "p.db",
      "--json",
      "-q"
    )
    #expect(result.errors.isEmpty)
    let parsed = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    let document = try #require(parsed as? [String: Any])
    for (name, value) in [
      ("v", 1), ("read", 2), ("inserted", 1), ("updated", 0), ("unchanged", 0), ("deleted", 0),
      ("skipped", 0), ("rejected", 1), ("pruned", 0), ("bytes", 50),
    ] {
      #expect(document[name] as? Int == value, "\(name)")
    }
    #expect(document["status"] as? String == "rejected")
    let issues = try #require(document["issues"] as? [[String: Any]])
    #expect(issues.map { $0["code"] as? String } == ["value.date"])
    #expect((document["entities"] as? [String: [String: Int]])?["Person"]?["inserted"] == 1)
  }

  @Test("Standard input, folders and globs are inputs")
  func inputs() throws {
    #expect(
      try folder.run("import", "m.map.yaml", "-", "-d", "a.db", input: "[{\"id\":9}]").status == 0
    )
    #expect(try folder.run("fetch", "Person", "-d", "a.db", "--count").output == "1\n")
    try FileManager.default.createDirectory(
      at: folder.url.appendingPathComponent("in"),
      withIntermediateDirectories: true
    )
    for number in 1...3 { try folder.write("{\"id\":\(number)}\n", to: "in/\(number).ndjson") }
    try folder.write("not a feed", to: "in/readme.txt")
    #expect(try folder.run("import", "m.map.yaml", "in", "-d", "b.db").status == 0)
    #expect(try folder.run("import", "m.map.yaml", "in/*.ndjson", "-d", "b.db").status == 0)
    #expect(try folder.run("fetch", "Person", "-d", "b.db", "--count").output == "3\n")
  }

  @Test(
    "Every kind of failure has its exit code, and makes no file",
    arguments: [
      (["import", "none.map.yaml", "good.json", "-d", "x.db"], 66, "map.file"),
      (["import", "m.map.yaml", "none.json", "-d", "x.db"], 66, "input.missing"),
      (["import", "m.map.yaml", "no*.json", "-d", "x.db"], 66, "input.missing"),
      (["import", "m.map.yaml", "cut.json", "-d", "x.db"], 65, "input.truncated"),
      (["import", "m.map.yaml", "page.json", "-d", "x.db"], 65, "input.format"),
      (["import", "faulty.map.yaml", "good.json", "-d", "x.db"], 65, "map.key"),
      (
        ["import", "m.map.yaml", "dirty.ndjson", "-d", "x.db", "--max-rejects", "0"], 65,
        "import.rejects"
      ),
      (["import", "m.map.yaml", "good.json", "-d", "none/x.db"], 69, "store.unreachable"),
      (["import", "m.map.yaml", "good.json", "-d", "."], 69, "store.unreachable"),
      (["import", "m.map.yaml", "good.json", "-d", "m.map.yaml"], 65, "store.foreign"),
      (
        ["import", "m.map.yaml", "good.json", "-d", "x.db", "--rejects", "none/r"], 73,
        "import.output"
      ),
      (["import", "m.map.yaml", "good.json", "-d", "x.db", "--source", "s"], 64, "import.request"),
      (["import", "m.map.yaml", "p=good.json", "-d", "x.db"], 66, "--source p=good.json"),
      (["import", "m.map.yaml", "good.json"], 64, "error[tool.database]: Which database?"),
      (["import", "m.map.yaml", "good.json", "-d", "x.db", "--limit", "-1"], 64, "--limit"),
      (["fetch", "Person", "-d", "x.db"], 66, "store.missing"),
      (["check", "faulty.map.yaml"], 65, "map.key"),
    ]
  )
  func failures(arguments: [String], status: Int32, text: String) throws {
    try folder.write(#"[{"id":1},{"id""#, to: "cut.json")
    try folder.write("<!DOCTYPE html><html></html>", to: "page.json")
    try folder.write(Self.map.replacing("unique", with: "uniqe"), to: "faulty.map.yaml")
    let process = try folder.run(arguments)
    #expect(process.status == status)
    #expect(process.errors.contains(text))
    #expect(!FileManager.default.fileExists(atPath: folder.url.appendingPathComponent("x.db").path))
  }

  @Test("A dry run makes no file, and changes none")
  func dryRun() throws {
    let database = folder.url.appendingPathComponent("p.db")
    let result = try folder.run("import", "m.map.yaml", "good.json", "-d", "p.db", "--dry-run")
    #expect(result.errors.hasSuffix("  inserted  2\nDry run: nothing was kept.\n"))
    #expect(!FileManager.default.fileExists(atPath: database.path))
    _ = try folder.run("import", "m.map.yaml", "good.json", "-d", "p.db")
    let before = try Data(contentsOf: database)
    _ = try folder.run(
      "import",
      "m.map.yaml",
      "dirty.ndjson",
      "-d",
      "p.db",
      "--dry-run",
      "--rejects",
      "r.ndjson"
    )
    #expect(try Data(contentsOf: database) == before)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
        == ["dirty.ndjson", "good.json", "m.map.yaml", "p.db"]
    )
  }

  @Test("check tries samples without keeping anything")
  func check() throws {
    let good = try folder.run("check", "m.map.yaml", "good.json")
    #expect(good.status == 0)
    #expect(good.output == "m.map.yaml: no faults, no warnings\n")
    let dirty = try folder.run("check", "m.map.yaml", "dirty.ndjson")
    #expect(dirty.status == 3)
    #expect(dirty.errors.contains("error[value.date]: dirty.ndjson:2:16"))
  }

  @Test("A diff tells by its exit code whether something would change, and changes nothing")
  func diffs() throws {
    #expect(try folder.run("import", "m.map.yaml", "good.json", "-d", "p.db").status == 0)
    let database = folder.url.appendingPathComponent("p.db")
    let before = try Data(contentsOf: database)
    let equal = try folder.run("diff", "m.map.yaml", "good.json", "-d", "p.db")
    #expect(equal.status == 0)
    #expect(equal.output.isEmpty)
    try folder.write(#"[{"id":1,"name":"Ida"},{"id":2,"name":"Bo"}]"#, to: "new.json")
    let differs = try folder.run("diff", "m.map.yaml", "new.json", "-d", "p.db", "-f", "text", "-q")
    #expect(differs.status == 1)
    #expect(differs.output == "~ Person 1\n    name  \"Ada\" → \"Ida\"\n")
    #expect(differs.errors.isEmpty)
    let rejects = try folder.run("diff", "m.map.yaml", "dirty.ndjson", "-d", "p.db")
    #expect(rejects.status == 3)
    #expect(try folder.run("diff", "m.map.yaml", "none.json", "-d", "p.db").status == 66)
    #expect(try folder.run("diff", "m.map.yaml", "good.json", "-d", "none.db", "-q").status == 1)
    #expect(
      !FileManager.default.fileExists(atPath: folder.url.appendingPathComponent("none.db").path)
    )
    #expect(try Data(contentsOf: database) == before)
  }

  @Test("A dry run with --diff prints the changes; --diff alone is refused")
  func dryRunDiffs() throws {
    let arguments = ["import", "m.map.yaml", "good.json", "-d", "p.db", "--diff"]
    #expect(try folder.run(arguments).status == 64)
    let dry = try folder.run(arguments + ["--dry-run", "--json"])
    #expect(dry.status == 0)
    let lines = dry.output.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(
      lines.first?.hasPrefix(#"{"change":"inserted","entity":"Person","key":{"id":1}"#) == true
    )
    #expect(lines.last?.contains(#""v":1"#) == true)
  }

  @Test("A backup is a database that can be asked; the database itself is no target")
  func backsUp() throws {
    #expect(try folder.run("import", "m.map.yaml", "good.json", "-d", "p.db").status == 0)
    let backup = try folder.run("backup", "-d", "p.db", "b.db")
    #expect(backup.status == 0)
    #expect(backup.output.isEmpty)
    #expect(backup.errors.hasPrefix("Backed up p.db to b.db: "))
    #expect(try folder.run("fetch", "Person", "-d", "b.db", "--count").output == "2\n")
    #expect(try folder.run("backup", "-d", "p.db", "p.db").status == 73)
    #expect(try folder.run("backup", "-d", "none.db", "c.db").status == 66)
    #expect(try folder.run("fetch", "Person", "-d", "p.db", "--count").output == "2\n")
  }

  @Test("migrate prints its plan, changes the file once, and refuses what the data forbids")
  func migrate() throws {
    _ = try folder.run("import", "m.map.yaml", "good.json", "-d", "p.db", "-q")
    let database = folder.url.appendingPathComponent("p.db")
    let before = try Data(contentsOf: database)
    let renamed = Self.map.replacing("name: name", with: "label: { renamedFrom: name }")
    try folder.write(renamed, to: "new.map.yaml")
    let refused = try folder.run("import", "new.map.yaml", "good.json", "-d", "p.db")
    #expect(refused.status == 65)
    #expect(refused.errors.contains("Person.name is called label in the map."))
    let plan = try folder.run("migrate", "new.map.yaml", "-d", "p.db", "--dry-run")
    #expect(
      plan.output == "1. Rename Person.name to label.\np.db: 1 step to do; nothing was changed.\n"
    )
    #expect(plan.status == 0)
    #expect(try Data(contentsOf: database) == before)
    let done = try folder.run("migrate", "new.map.yaml", "-d", "p.db", "--json")
    #expect(
      done.output == """
        {"dryRun":false,"faults":[],"status":"done","steps":[{"entity":"Person","kind":"rename",\
        "property":"label","sentence":"Rename Person.name to label."}],"v":1}

        """
    )
    let fetched = try folder.run(
      "fetch",
      "Person",
      "-d",
      "p.db",
      "--where",
      "label == 'Ada'",
      "--count"
    )
    #expect(fetched.output == "1\n")
    let again = try folder.run("migrate", "new.map.yaml", "-d", "p.db")
    #expect(again.output == "p.db has the model of new.map.yaml already.\n")
    try folder.write(
      renamed.replacing("renamedFrom: name", with: "type: int32"),
      to: "bad.map.yaml"
    )
    let impossible = try folder.run("migrate", "bad.map.yaml", "-d", "p.db")
    #expect(impossible.status == 65)
    #expect(
      impossible.errors == """
        error[store.model]: p.db: Person.label cannot become int32 from string: 2 values do not \
        convert (Ada of 1; Bo of 2).

        """
    )
    #expect(try folder.run("migrate", "m.map.yaml", "-d", "none.db").status == 66)
  }
}
