import Foundation
import Testing

/// `dragoman undo`, `history --changes` and `import --record`, run as a user runs them.
@Suite struct UndoCommandTests {
  private let folder: ToolFolder

  init() throws {
    folder = try ToolFolder()
    try folder.write(
      """
      version: 1
      entities:
        Person:
          unique: id
          attributes: { id: { type: int32 }, name: name, pin: { from: pin, sensitive: true } }
      """,
      to: "m.map.yaml"
    )
    try folder.write(#"[{"id":1,"name":"Ada","pin":"s3cret"},{"id":2,"name":"Bo"}]"#, to: "a.json")
    try folder.write(#"[{"id":1,"name":"A\u001b[2J","pin":"n3w"},{"id":3}]"#, to: "b.json")
    _ = try folder.run("import", "m.map.yaml", "a.json", "-d", "p.db", "-q")
  }

  private func people() throws -> String {
    try folder.run("fetch", "Person", "-d", "p.db", "--columns", "id,name").output
  }

  @Test("An import is taken back, and its undo, too; sensitive values stay hidden")
  func backAndForth() throws {
    let before = try people()
    _ = try folder.run("import", "m.map.yaml", "b.json", "-d", "p.db", "-q")
    let behind = try people()
    let dry = try folder.run("undo", "-d", "p.db", "--dry-run", "--json")
    #expect(dry.status == 0 && dry.output.split(separator: "\n").count == 2)
    #expect(
      dry.errors == "Would take back import 2 (b.json)\n  Person  1 deleted, 1 changed back\n"
    )
    let changes = try folder.run("history", "-d", "p.db", "--changes", "2")
    #expect(changes.status == 0 && changes.output.contains("\"change\":\"updated\""))
    for text in [dry.output, changes.output] {
      #expect(!text.contains("s3cret") && !text.contains("n3w") && !text.contains("\u{1B}"))
    }
    #expect(try people() == behind)
    #expect(try folder.run("undo", "-d", "p.db", "-q").errors == "")
    #expect(try people() == before)
    let again = try folder.run("undo", "-d", "p.db", "3", "--json")
    #expect(again.output.hasPrefix(#"{"conflictCount":0,"conflicts":[],"entities":{"Person":"#))
    #expect(try people() == behind)
    let history = try folder.run("history", "-d", "p.db", "--json").output
    #expect(history.contains("\"status\":\"undone\""))
    #expect(history.contains("\"undoes\":2") && history.contains("\"undoes\":3"))
    // The import stands again, and can be taken back again.
    #expect(try folder.run("undo", "-d", "p.db").errors.hasPrefix("Took back import 2 (b.json)"))
    #expect(try people() == before)
  }

  @Test("No number is advised of an import of which nothing is kept")
  func notKept() throws {
    for _ in 1...2 {
      _ = try folder.run("import", "m.map.yaml", "b.json", "-d", "p.db", "-q", "--no-record")
    }
    let run = try folder.run("undo", "-d", "p.db")
    #expect(run.errors.contains("The last import, 3, changed nothing that could be taken back."))
    #expect(
      run.errors.contains("nothing is kept of 2 either, the last one that did"),
      "\(run.errors)"
    )
  }

  @Test("What is in the way is named with its key, and ends with 65")
  func inTheWay() throws {
    _ = try folder.run("import", "m.map.yaml", "b.json", "-d", "p.db", "-q")
    try folder.write(#"[{"id":1,"name":"later"}]"#, to: "c.json")
    _ = try folder.run("import", "m.map.yaml", "c.json", "-d", "p.db", "-q")
    let before = try people()
    for arguments in [["undo", "-d", "p.db", "2"], ["undo", "-d", "p.db", "2", "--dry-run"]] {
      let refused = try folder.run(arguments)
      #expect(refused.status == 65 && refused.output.isEmpty)
      #expect(refused.errors.hasPrefix("error[store.undo]: Import 2 cannot be taken back"))
      #expect(refused.errors.contains("\n    Person id 1 was changed since\n"))
    }
    let json = try folder.run("undo", "-d", "p.db", "2", "--json")
    #expect(json.status == 65 && json.output.contains(#""reason":"changed""#))
    #expect(try people() == before)
  }

  @Test(
    "Wrong numbers and missing databases are refused by their code",
    arguments: [
      (["undo", "-d", "none.db"], 66), (["undo", "-d", "p.db", "9"], 64),
      (["undo", "-d", "p.db", "x"], 64), (["history", "-d", "p.db", "--changes", "9"], 64),
      (["history", "-d", "p.db", "--changes", "1", "--limit", "2"], 64),
      (["undo", "-d", "m.map.yaml"], 65),
    ]
  )
  func refused(arguments: [String], status: Int) throws {
    let before = try people()
    #expect(try Int(folder.run(arguments).status) == status)
    #expect(try people() == before)
    #expect(!FileManager.default.fileExists(atPath: folder.url.path + "/none.db"))
  }

  @Test("fetch --as-of answers as the database was behind an import")
  func asOf() throws {
    let before = try people()
    _ = try folder.run("import", "m.map.yaml", "b.json", "-d", "p.db", "-q")
    let behind = try people()
    func fetch(_ run: String, _ more: String...) throws -> ToolFolder.Run {
      try folder.run(
        ["fetch", "Person", "-d", "p.db", "--columns", "id,name", "--as-of", run] + more
      )
    }
    #expect(try fetch("1").output == before && fetch("2").output == behind)
    #expect(try fetch("0").output.isEmpty)
    #expect(try fetch("7").status == 64 && people() == behind)
    // The copy's output does not replace the database either.
    #expect(try fetch("1", "-o", "p.db", "--overwrite").status == 73)
    #expect(try people() == behind)
    let count = try folder.run("fetch", "Person", "-d", "p.db", "--as-of", "1", "--count")
    #expect(count.output == "2\n")
  }

  @Test("Where no copy can be made, it is told in words")
  func noPlace() throws {
    try folder.write("", to: "file")
    for command in ["fetch Person --as-of 1", "history --changes 1"] {
      let run = try folder.shell("TMPDIR=$PWD/file/sub; export TMPDIR; $D \(command) -d p.db")
      #expect(run.status == 73)
      #expect(run.errors.contains("There is no place for temporary files in "))
      #expect(run.errors.contains("/file/sub: Not a directory."))
      #expect(!run.errors.contains("NSCocoaErrorDomain"))
    }
  }

  @Test("What a copy refuses is told of the database that was named")
  func namesOfCopies() throws {
    _ = try folder.run("import", "m.map.yaml", "b.json", "-d", "p.db", "-q", "--no-record")
    for arguments in [
      ["fetch", "Person", "--as-of", "0"], ["fetch", "Person", "--as-of", "1", "--count"],
      ["history", "--changes", "1"], ["history", "--changes", "2"],
    ] {
      let refused = try folder.run(arguments + ["-d", "p.db"])
      #expect(refused.status == 65 && refused.output.isEmpty)
      #expect(
        refused.errors.hasPrefix(
          "error[store.undo]: p.db: Of import 2 nothing is kept that could be taken back.\n"
        ),
        "\(refused.errors)"
      )
    }
  }

  @Test(
    "An object is told once, with its links, by the import, the history and the preview of an undo"
  )
  func onceEach() throws {
    try folder.write(
      """
      version: 1
      entities:
        Order:
          unique: id
          attributes: { id: { type: int32 }, state: state }
          relationships:
            tags: { entity: Tag, kind: toMany, inverse: orders, key: { name: tags } }
            notes: { entity: Tag, kind: toMany, key: { name: notes }, ordered: true }
        Tag:
          unique: name
          attributes: { name: name }
          relationships: { orders: { entity: Order, kind: toMany, inverse: tags } }
      sources: { s: { format: json, entity: Order, records: /orders }, t: { format: json, entity: Tag, records: /tags } }
      """,
      to: "o.map.yaml"
    )
    try folder.write(
      #"{"tags":[{"name":"a"},{"name":"b"}],"orders":[{"id":1,"state":"new","tags":["a","b"],"notes":["a"]},{"id":2,"state":"new","tags":["a"]}]}"#,
      to: "o.json"
    )
    try folder.write(
      #"{"tags":[],"orders":[{"id":1,"state":"paid","tags":["b"],"notes":["a","b"]},{"id":2,"state":"new","tags":["b"],"notes":["b"]},{"id":3,"tags":["a"]}]}"#,
      to: "p.json"
    )
    _ = try folder.run("import", "o.map.yaml", "o.json", "-d", "o.db", "-q")
    let diff = try folder.run(
      "import",
      "o.map.yaml",
      "p.json",
      "-d",
      "o.db",
      "--dry-run",
      "--diff",
      "-q"
    )
    _ = try folder.run("import", "o.map.yaml", "p.json", "-d", "o.db", "-q")
    let history = try folder.run("history", "-d", "o.db", "--changes", "2")
    let preview = try folder.run("undo", "-d", "o.db", "--dry-run", "-q")
    func objects(_ run: ToolFolder.Run) -> [String] {
      run.output.split(separator: "\n").map {
        String($0.prefix { $0 != "}" }.drop { $0 != "," }.dropFirst())
      }
    }
    for run in [diff, history, preview] {
      #expect(
        Set(objects(run)) == [
          #""entity":"Order","key":{"id":1"#, #""entity":"Order","key":{"id":2"#,
          #""entity":"Order","key":{"id":3"#,
        ],
        "\(run)"
      )
      #expect(objects(run).count == 3, "\(run)")
    }
    let first = history.output.split(separator: "\n").first
    #expect(
      first
        == #"""
        {"change":"updated","entity":"Order","key":{"id":1},"attributes":{"state":{"old":"new","new":"paid"}},"relationships":{"tags":{"removed":[{"name":"a"}],"added":[]},"notes":{"removed":[],"added":[{"name":"b"}]}}}
        """#,
      "\(history)"
    )
  }

  @Test("--no-record keeps nothing, --record everything")
  func recorded() throws {
    _ = try folder.run("import", "m.map.yaml", "b.json", "-d", "p.db", "-q", "--no-record")
    let refused = try folder.run("undo", "-d", "p.db", "2")
    #expect(refused.status == 65 && refused.errors.contains("nothing is kept"))
    try folder.write(#"[{"id":1,"name":"later"}]"#, to: "c.json")
    _ = try folder.run("import", "m.map.yaml", "c.json", "-d", "p.db", "-q", "--record")
    #expect(try folder.run("undo", "-d", "p.db").status == 0)
  }
}
