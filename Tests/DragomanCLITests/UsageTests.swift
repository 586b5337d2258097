import ArgumentParser
import Foundation
import Testing

@testable import DragomanCLI

/// What the tool says to who holds it wrong.
@Suite struct UsageTests {
  private let folder: ToolFolder

  init() throws {
    folder = try ToolFolder()
    try folder.write(
      "version: 1\nentities: { P: { unique: id, attributes: { id: } } }\n",
      to: "p.map.yaml"
    )
    try folder.write(#"[{"id":"a"}]"#, to: "p.json")
    try folder.write("<p><id>a</id></p>", to: "p.xml")
  }

  @Test(
    "A misspelt command is answered with the nearest one, whatever options stand behind it",
    arguments: [
      (["imprt", "p.map.yaml", "p.json", "-d", "p.db"], "Did you mean import?"),
      (["help", "fetsh"], "Did you mean fetch?"),
      (["Export", "--version"], "Did you mean export?"),
      (["frobnicate", "-q"], "The commands are import, fetch, export,"),
    ]
  )
  func commands(arguments: [String], help: String) throws {
    let run = try folder.run(arguments)
    #expect(run.status == 64)
    let command = arguments.first { $0 != "help" } ?? ""
    #expect(run.errors.hasPrefix("Error: There is no command \(command). \(help)"))
  }

  @Test("A value that begins with a dash is told to be taken for an option, with the way out")
  func dashes() throws {
    let run = try folder.run(["fetch", "P", "-d", "p.db", "--limit", "-1"])
    #expect(run.status == 64)
    #expect(
      run.errors.hasPrefix(
        "Error: Missing value for '--limit <limit>'; '-1' is taken for an option. A value that begins"
          + " with a dash: --limit='-1'\n"
      )
    )
    let last = try folder.run(["fetch", "P", "-d", "p.db", "--limit"])
    #expect(last.errors.hasPrefix("Error: Missing value for '--limit <limit>'\n"))
  }

  @Test("A list in round brackets is answered with the right ones")
  func brackets() throws {
    _ = try folder.run(["import", "p.map.yaml", "p.json", "-d", "p.db"])
    let run = try folder.run(["fetch", "P", "-d", "p.db", "--where", "id IN ('a', 'b')"])
    #expect(run.status == 64)
    #expect(run.errors.contains("a list is written { 1, 2 }"))
  }

  @Test(
    "A misspelt command of a command, or value of an option, is answered with the nearest one",
    arguments: [
      (["rejects", "rety", "r"], "Error: There is no command rejects rety. Did you mean retry?"),
      (["rejects", "frobnicate"], "The commands are retry, show."),
      (["fetch", "P", "-d", "p.db", "-f", "tabel"], "Did you mean 'table'? Please provide one of"),
      (
        ["import", "p.map.yaml", "p.json", "--mode", "upsrt"],
        "Did you mean 'upsert'? Please provide"
      ),
      (["completion", "bsh"], "The value 'bsh' is invalid for '<shell>'. Did you mean 'bash'? "),
      (["fetch", "P", "--colums", "id"], "Did you mean '--columns'?"),
      (["import", "--databse", "x"], "Unknown option '--databse'. Did you mean '--database'?"),
    ]
  )
  func words(arguments: [String], help: String) throws {
    let run = try folder.run(arguments)
    #expect(run.status == 64)
    #expect(run.errors.contains(help))
  }

  @Test("A name that is no UTF-8 is refused: the tool would take it for another one")
  func bytes() throws {
    let run = try folder.shell(
      #"""
      "$D" import p.map.yaml p.json -d "$(printf 'q\377.db')"; echo $?
      "$D" export p.map.yaml -d p.db -o "$(printf 'q\376.json')"; echo $?
      """#
    )
    #expect(run.output == "64\n64\n")
    #expect(run.errors.hasPrefix(#"Error: q\xff.db is no UTF-8"#), "\(run)")
    #expect(try folder.files == ["p.json", "p.map.yaml", "p.xml"])
  }

  @Test("A name that leaves no room for the files beside a database makes no file")
  func longName() throws {
    for (count, status) in [(247, 0), (250, 69), (255, 69)] as [(Int, Int32)] {
      let name = String(repeating: "n", count: count)
      let run = try folder.run("import", "-q", "p.map.yaml", "p.json", "-d", name)
      #expect(run.status == status, "\(count): \(run)")
      #expect(status == 0 || run.errors.contains("name of the database is too long"), "\(run)")
      #expect(try folder.files.contains(name) == (status == 0))
    }
  }

  @Test("A folder for temporary files that is not there is named, and not made")
  func temporaryFolder() throws {
    let run = try folder.shell(
      """
      "$D" import -q p.map.yaml p.json -d p.db
      TMPDIR="$PWD/none" "$D" fetch P -d p.db --as-of 1; echo $?
      TMPDIR="$PWD/p.json" "$D" fetch P -d p.db --as-of 1; echo $?
      """
    )
    #expect(run.output == "73\n73\n")
    #expect(run.errors.contains("/none: No such file"), "\(run)")
    #expect(try !folder.files.contains("none"))
  }

  @Test("What is deleted is said to be, though the report cannot be written")
  func fullOutput() throws {
    guard FileManager.default.fileExists(atPath: "/dev/full") else { return }
    let run = try folder.shell(
      """
      "$D" import -q p.map.yaml p.json -d p.db
      "$D" delete P -d p.db --all --yes --json > /dev/full
      """
    )
    #expect(run.status == 74 && run.errors.contains("the objects are deleted"), "\(run)")
  }

  @Test(
    "Help and version are still to be had",
    arguments: [["--help"], ["help"], ["help", "import"], ["--version"]]
  )
  func help(arguments: [String]) throws {
    let run = try folder.run(arguments)
    #expect(run.status == 0 && run.errors.isEmpty && !run.output.isEmpty)
  }

  @Test(
    "A map that stands behind its feed is told from a faulty one",
    arguments: ["p.json", "p.xml"]
  )
  func swapped(feed: String) throws {
    for command in ["import", "diff"] {
      let run = try folder.run(command, feed, "p.map.yaml", "-d", "p.db")
      #expect(run.status == 64)
      #expect(
        run.errors.hasPrefix(
          "Error: \(feed) is no map. The map comes first, the feeds behind it: put p.map.yaml before \(feed).\n"
        )
      )
    }
    let alone = try folder.run("check", feed)
    #expect(alone.status == 65)
    #expect(alone.errors.contains("\(feed):1:1: This is no map: it "))
    #expect(alone.output == "\(feed): 1 fault, no warnings\n")
    #expect(try folder.files == ["p.json", "p.map.yaml", "p.xml"])
  }

  @Test("Maps in a folder of feeds are no feeds")
  func folders() throws {
    try folder.write(
      #"{"version":1,"entities":{"P":{"unique":"id","attributes":{"id":"id"}}}}"#,
      to: "q.map.json"
    )
    let run = try folder.run(
      "import",
      "p.map.yaml",
      ".",
      "-d",
      "../\(folder.url.lastPathComponent)/p.db"
    )
    // The XML file has no source; the map beside it is not even looked at.
    #expect(run.errors.contains("The map has no source for XML input."))
    try folder.write("[]", to: "p.xml")
    let again = try folder.run("import", "q.map.json", ".", "-d", "p.db", "--json", "-q")
    #expect(again.output.contains(#""read":1"#))
  }

  @Test(
    "A folder does not bring the rejects that an import into it wrote",
    arguments: [".", "*.ndjson"]
  )
  func rejectsInFolder(input: String) throws {
    let feeds = try ToolFolder()
    try folder.write(
      "version: 1\nentities: { P: { unique: id, attributes: { id: { type: int32 } } } }\n",
      to: "p.map.yaml"
    )
    try feeds.write("{\"id\":1}\n{\"id\":\"x\"}\n", to: "a.ndjson")
    try feeds.write("{\"file\":\"notes.txt\",\"id\":2}\n", to: "files.ndjson")
    for _ in 1...3 {
      let run = try feeds.run(
        "import",
        folder.url.path + "/p.map.yaml",
        input,
        "-d",
        folder.url.path + "/r.db",
        "--rejects",
        "rejected.ndjson"
      )
      #expect(run.status == 3)
      #expect(run.errors.contains("Read 3 records"))
      #expect(try feeds.read("rejected.ndjson").split(separator: "\n").count == 1)
    }
    // Kept under another name, they are still no feed; named one by one, they are what the user says.
    try feeds.write(try feeds.read("rejected.ndjson"), to: "old.ndjson")
    let run = try feeds.run(
      "import",
      folder.url.path + "/p.map.yaml",
      input,
      "-d",
      folder.url.path + "/r.db"
    )
    #expect(run.errors.contains("Read 3 records"))
    let named = try feeds.run(
      "import",
      folder.url.path + "/p.map.yaml",
      "old.ndjson",
      "-d",
      folder.url.path + "/r.db"
    )
    #expect(named.errors.contains("Read 1 record "))
  }

  @Test("A file that only begins as rejects do is not replaced")
  func lookalike() throws {
    let text = "{\"file\":\"a.txt\",\"size\":7}\n"
    try folder.write(text, to: "files.ndjson")
    let run = try folder.run(
      "import",
      "p.map.yaml",
      "p.json",
      "-d",
      "p.db",
      "--rejects",
      "files.ndjson"
    )
    #expect(run.status == 73)
    #expect(try folder.read("files.ndjson") == text)
  }

  @Test("check with a sample says of which paths its exit code speaks")
  func unmatchedPaths() throws {
    try folder.write(
      "version: 1\nentities: { P: { unique: id, attributes: { id: , name: nmae } } }\n",
      to: "w.map.yaml"
    )
    try folder.write(#"[{"id":"a","name":"b"}]"#, to: "w.json")
    let run = try folder.run("check", "w.map.yaml", "w.json")
    #expect(run.status == 65)
    #expect(
      run.errors.contains(
        "P.name: the path nmae matched 0 of 1 record\n  help     did you mean name?"
      )
    )
    #expect(run.output == "w.map.yaml: no faults, no warnings, 1 path that no record has\n")
    #expect(try folder.run("check", "p.map.yaml", "p.json").status == 0)
    // An import of the same feed is done; it warns.
    let imported = try folder.run("import", "w.map.yaml", "w.json", "-d", "w.db")
    #expect(imported.status == 0 && imported.errors.contains("did you mean name?"))
  }

  @Test(
    "check tells how many findings there are besides those that it prints, and how to see them",
    arguments: [(30, "29 more such notes"), (2, "1 more such note")]
  )
  func allFindings(count: Int, more: String) throws {
    let attributes = (0..<count).map { "a\($0): { type: date, dates: [dd.MM.yyyy, iso8601-date] }" }
    try folder.write(
      "version: 1\nentities: { P: { unique: id, attributes: { id: , \(attributes.joined(separator: ", ")) } } }\n",
      to: "many.map.yaml"
    )
    let some = try folder.run("check", "many.map.yaml")
    #expect(some.errors.contains("… and \(more): --all prints them"), "\(some.errors)")
    let all = try folder.run("check", "many.map.yaml", "--all")
    #expect(all.errors.split(separator: "\n").count { $0.hasPrefix("note:") } == count)
    #expect(!all.errors.contains("more"))
  }

  @Test("Paragraphs of help texts are wrapped by the terminal and not by hand; examples fit")
  func helpTexts() {
    let discussions = Tool.configuration.subcommands.map {
      ($0._commandName, $0.configuration.discussion)
    }
    for (name, discussion) in discussions {
      for paragraph in discussion.split(separator: "\n\n") {
        let lines = paragraph.split(separator: "\n")
        let isExample = lines.allSatisfy { $0.hasPrefix("  ") && $0.count < 80 }
        #expect(lines.count == 1 || isExample, "dragoman help \(name): \(paragraph)")
      }
    }
  }

  @Test("Examples of help texts stay whole in narrow terminals, and all words are the parser's")
  func examples() throws {
    for command in Tool.configuration.subcommands {
      let parsed = Tool.helpMessage(for: command, columns: 60)
      let narrow = HelpText.keepingExamples(parsed, of: command, columnCount: 60)
      #expect(
        narrow.split(whereSeparator: \.isWhitespace) == parsed.split(whereSeparator: \.isWhitespace)
      )
      let overview = narrow.split(separator: "\nUSAGE: ")[0].split(separator: "\n")
      let source = command.configuration.discussion.split(separator: "\n")
      #expect(overview.filter { $0.hasPrefix(" ") } == source.filter { $0.hasPrefix(" ") })
      #expect(overview.allSatisfy { $0.hasPrefix(" ") || $0.count < 60 })
    }
    for line in ["fetch --help", "help fetch", "fetch P -h", "help fetch P"] {
      let help = try folder.shell("COLUMNS=60 $D \(line)")
      #expect(
        help.output.hasPrefix("OVERVIEW: Print the objects of an entity, or groups and\nsums of")
      )
      #expect(
        help.output.contains(
          "\n  dragoman fetch Person -d people.db --where 'salary > 1e5 AND city == \"Oslo\"'\n"
        ),
        "\(line): \(help)"
      )
    }
  }

  @Test(
    "An option that there is not is answered with the one that it abbreviates, or the nearest",
    arguments: [
      (["import", "m", "f", "--db", "x"], "--database"),
      (["fetch", "P", "--db", "x"], "--database"),
      (["--vresion"], "--version"),
      (["fetch", "P", "--ofset", "1"], "--offset"),
    ]
  )
  func nearestOption(arguments: [String], wanted: String) throws {
    let run = try ToolFolder().run(arguments)
    #expect(run.status == 64 && run.errors.contains("Did you mean '\(wanted)'?"), "\(run.errors)")
  }

  @Test(
    "An option that is near to none is answered without a guess",
    arguments: [
      ["fetch", "P", "--xyz"], ["watch", "P", "--fooo"], ["fetch", "P", "--foo", "--limit"],
    ]
  )
  func strangeOption(arguments: [String]) throws {
    let run = try ToolFolder().run(arguments)
    #expect(run.status == 64 && run.errors.hasPrefix("Error: Unknown option '\(arguments[2])'\n"))
  }

  @Test(
    "Who asks for JSON gets a document of what failed, too, beside the message",
    arguments: [
      ["import", "bad.map.yaml", "p.json", "-d", "p.db", "--json"],
      ["import", "p.map.yaml", "none.json", "-d", "p.db", "--json"],
      ["check", "p.map.yaml", "none.json", "--json"], ["undo", "9", "-d", "p.db", "--json"],
      ["delete", "Nope", "-d", "p.db", "--where", "id == 1", "--yes", "--json"],
      ["info", "-d", "none.db", "--json"], ["rejects", "show", "none.ndjson", "--json"],
      ["migrate", "bad.map.yaml", "-d", "p.db", "--json"],
    ]
  )
  func failures(arguments: [String]) throws {
    #expect(try folder.run("import", "p.map.yaml", "p.json", "-d", "p.db").status == 0)
    try folder.write("version: 1\nentities: { P: { atributes: {} } }\n", to: "bad.map.yaml")
    let run = try folder.run(arguments)
    #expect(run.status != 0)
    let lines = run.output.split(separator: "\n")
    #expect(lines.count == 1, "\(run)")
    let document = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
    #expect(document?["v"] as? Int == 1 && document?["status"] as? String == "failed", "\(run)")
    #expect((document?["error"] as? String)?.hasPrefix("error[") == true, "\(run)")
    #expect(run.errors.contains("error["), "\(run)")
  }

  @Test("Rows have no document behind them, and each feed of a run has its own")
  func rowsAndRuns() throws {
    try folder.write("[{", to: "cut.json")
    #expect(try folder.run("import", "p.map.yaml", "p.json", "-d", "p.db").status == 0)
    for arguments in [
      ["fetch", "Nope", "-d", "p.db", "--json"],
      ["undo", "9", "-d", "p.db", "--dry-run", "--json"],
      ["history", "--changes", "9", "-d", "p.db", "--json"],
      ["diff", "p.map.yaml", "cut.json", "-d", "p.db", "--json"],
    ] {
      let rows = try folder.run(arguments)
      #expect(rows.status != 0 && rows.output.isEmpty, "\(rows)")
    }
    try folder.write(
      "database: r.db\nfeeds:\n  a: { map: p.map.yaml, inputs: [p.json] }\n  b: { map: p.map.yaml, inputs: [none.json] }\n",
      to: "dragoman.yaml"
    )
    let run = try folder.run("run", "--all", "--json")
    #expect(run.status == 66)
    let documents = run.output.split(separator: "\n")
    #expect(documents.count == 2, "\(run)")
    #expect(documents.first?.contains("\"status\":\"done\"") == true)
    #expect(documents.last?.contains("\"status\":\"failed\"") == true)
  }

  @Test("Pages of the manual that cannot be written are no wrong use of the tool")
  func manual() throws {
    let run = try folder.run("man", "none")
    #expect(run.status == 73 && run.errors.contains("error[export.output]"), "\(run)")
  }
}
