import Foundation
import Testing

/// `dragoman.yaml`, `DRAGOMAN_DB` and `dragoman run`.
@Suite struct SettingsTests {
  private let folder: ToolFolder

  init() throws {
    folder = try ToolFolder()
    try FileManager.default.createDirectory(
      at: folder.url.appendingPathComponent("sub/deep"),
      withIntermediateDirectories: true
    )
    try folder.write(
      "version: 1\nentities: { P: { unique: id, attributes: { id: { type: int64 }, n: n } } }\n"
        + "sources: { s: { format: json, entity: P }, t: { format: json, entity: P, records: /t } }\n",
      to: "p.map.yaml"
    )
    try folder.write(#"[{"id":1},{"id":2}]"#, to: "a.json")
    try folder.write(#"[{"id":2},{"id":"x"}]"#, to: "b.json")
    try folder.write(
      """
      database: p.db
      defaults:
        map: p.map.yaml
        source: s
        rejects: "{feed}.rejects"
      feeds:
        first: { inputs: a.json }
        second: { inputs: [b.json], prune: true, mode: upsert }

      """,
      to: "dragoman.yaml"
    )
  }

  /// Runs a line in a folder inside, with a home around.
  private func run(_ line: String, in inner: String = ".") throws -> ToolFolder.Run {
    try folder.shell(
      "HOME='\(folder.url.path)'; export HOME; unset DRAGOMAN_DB; cd \(inner); \(line)"
    )
  }

  @Test("Feeds run by their names, from any folder inside, and paths are those of the file")
  func feeds() throws {
    let run = try run("$D run first", in: "sub/deep")
    #expect(run.status == 0)
    #expect(run.errors.hasPrefix("first -> ../../p.db (by ../../dragoman.yaml)\nRead 2 records"))
    let count = try self.run("$D fetch P --count", in: "sub")
    #expect(count.status == 0 && count.errors.isEmpty && count.output == "2\n")
  }

  @Test("Each feed's document names it, also of one that failed before it was read")
  func documents() throws {
    try folder.write(
      """
      defaults: { database: p.db }
      feeds:
        first: { map: p.map.yaml, inputs: none.json }
        second: { map: none.yaml, inputs: none.json }

      """,
      to: "failing.yaml"
    )
    for (feed, code) in [("first", "input.missing"), ("second", "map.file")] {
      let run = try run("$D run \(feed) --config failing.yaml --json")
      #expect(run.status == 66)
      #expect(run.output.hasPrefix(#"{"error":"error[\#(code)]: "#), "\(run.output)")
      #expect(run.output.hasSuffix(#","feed":"\#(feed)","status":"failed","v":1}"# + "\n"))
    }
  }

  @Test("Settings that the command line names are there, and tabs are told")
  func unreadable() throws {
    for line in ["$D fetch P --config none.yaml", "$D fetch P -d p.db --config none.yaml"] {
      let run = try run(line)
      #expect(run.status == 66 && run.output.isEmpty)
      #expect(
        run.errors
          == "error[config.missing]: none.yaml: The settings cannot be read: there is no such file.\n"
      )
    }
    try folder.write("database: p.db\nfeeds:\n\tfirst: {}\n", to: "tabs.yaml")
    let run = try run("$D run first --config tabs.yaml")
    #expect(run.status == 65)
    #expect(run.errors.hasPrefix("error[config.file]: tabs.yaml:3:1: This is not YAML: "))
    #expect(run.errors.contains("lines are indented with spaces, not with tabs"))
  }

  @Test("Headers are told where they stand in the file, and never what they are")
  func headers() throws {
    func run(_ headers: String) throws -> ToolFolder.Run {
      let text = "database: p.db\nfeeds:\n  first:\n    map: p.map.yaml\n"
      try folder.write(
        text + "    inputs: https://localhost:1/a.json\n    headers: \(headers)\n",
        to: "web.yaml"
      )
      return try self.run("$D run first --config web.yaml")
    }
    for headers in ["{ X Y: s3cret }", "{ Authorization: Bearer s3cret }", "{ X-Y: s3-cret }"] {
      let run = try run(headers)
      #expect(run.status == 65 && run.output.isEmpty)
      #expect(run.errors.hasPrefix("error[config.value]: web.yaml:6:16: headers has the name of"))
      #expect(!run.errors.contains("cret") && !run.errors.contains("--header"))
    }
    let unset = try run("{ X-Y: DRAGOMAN_NO_SUCH }")
    #expect(unset.status == 65 && !unset.errors.contains("--header"))
    #expect(
      unset.errors.contains(
        "The environment variable DRAGOMAN_NO_SUCH, which headers of the feed first names, is not set."
      )
    )
    // On the command line it is a matter of the command line.
    let line = try self.run("$D check p.map.yaml https://localhost:1/a --header X=DRAGOMAN_NO_SUCH")
    #expect(line.status == 64 && line.errors.contains("DRAGOMAN_NO_SUCH of --header is not set"))
  }

  @Test("A server's own certificates are named by the settings, relative to them")
  func certificates() throws {
    try folder.write(
      """
      defaults: { database: p.db, map: p.map.yaml, certificates: none.pem, retries: 0 }
      feeds: { first: { inputs: "https://localhost:1/a.json" } }

      """,
      to: "web.yaml"
    )
    let run = try run("$D run first --config ../../web.yaml", in: "sub/deep")
    #expect(run.status != 0 && run.errors.contains("none.pem"), "\(run.errors)")
    #expect(!run.errors.contains("../none.pem"))
  }

  @Test("Files are named as the settings see them, wherever that is asked for")
  func fileNames() throws {
    try folder.write(
      """
      version: 1
      entities:
        L: { unique: [file, place], attributes: { file: $file, place: { from: $index, type: int64 }, m: m } }
      sources: { lines: { format: ndjson, entity: L } }

      """,
      to: "l.map.yaml"
    )
    try folder.write("{\"m\":\"a\"}\n{\"m\":\"b\"}\n", to: "sub/l.ndjson")
    try folder.write(
      "database: l.db\nfeeds: { logs: { map: l.map.yaml, inputs: \"sub/*.ndjson\" } }\n",
      to: "logs.yaml"
    )
    for (inner, line) in [
      (".", "$D run logs --config logs.yaml"), ("sub", "$D run logs --config ../logs.yaml"),
      ("sub/deep", "$D run logs --config ../../logs.yaml"),
      (".", "$D import l.map.yaml ./sub/l.ndjson -d l.db"),
      (".", "$D import l.map.yaml .//sub/./l.ndjson -d l.db"),
      (".", "$D import l.map.yaml ./sub/ -d l.db"),
    ] {
      let run = try run(line, in: inner)
      #expect(run.status == 0, "\(line): \(run.errors)")
    }
    #expect(try run("$D fetch L -d l.db --count").output == "2\n")
    // What the command line names is seen from where it is.
    #expect(try run("$D run logs --config ../logs.yaml -d own.db", in: "sub").status == 0)
    #expect(try run("$D fetch L -d sub/own.db --count").output == "2\n")
  }

  @Test("A byte order mark before settings and maps is left out")
  func byteOrderMarks() throws {
    for name in ["dragoman.yaml", "p.map.yaml"] {
      try folder.write("\u{FEFF}" + folder.read(name), to: name)
    }
    let run = try run("$D run first")
    #expect(run.status == 0 && run.errors.hasPrefix("first -> p.db"))
  }

  @Test(
    "Feeds that would empty each other's rejects are a fault of the settings, however they spell the file",
    arguments: [
      ("all.rejects", "all.rejects"), ("all.rejects", "./all.rejects"),
      ("all.rejects", "sub/../all.rejects"), ("link.rejects", "all.rejects"),
    ]
  )
  func sharedRejects(first: String, second: String) throws {
    let text = try folder.read("dragoman.yaml")
      .replacing("inputs: a.json", with: "inputs: a.json, rejects: \(first)")
      .replacing("inputs: [b.json]", with: "inputs: [b.json], rejects: \(second)")
    try folder.write(text, to: "dragoman.yaml")
    try folder.write("kept", to: "all.rejects")
    let run = try run("ln -s all.rejects link.rejects; $D run --all")
    #expect(
      run.status == 65
        && run.errors.contains("The feeds first and second have one rejects file, \(second)")
    )
    #expect(try folder.read("all.rejects") == "kept")
  }

  @Test(
    "Feeds of one map that names a rejects file share it within a run, and the next run makes it anew"
  )
  func rejectsOfOneMap() throws {
    let map = try folder.read("p.map.yaml") + "import: { rejects: { file: m.rejects } }\n"
    try folder.write(map, to: "p.map.yaml")
    try folder.write(#"[{"id":"y"}]"#, to: "a.json")
    let text = try folder.read("dragoman.yaml").replacing(
      "  rejects: \"{feed}.rejects\"\n",
      with: ""
    )
    try folder.write(text, to: "dragoman.yaml")
    for _ in 1...2 {
      #expect(try run("$D run --all").status == 3)
      let lines = try folder.read("m.rejects").split(separator: "\n")
      #expect(lines.map { $0.prefix(16) } == [#"{"file":"a.json""#, #"{"file":"b.json""#])
    }
    #expect(try run("$D run second").status == 3)
    #expect(try folder.read("m.rejects").split(separator: "\n").count == 1)
  }

  @Test("All feeds come in the order of the file; rejects of one make 3, and prune nothing")
  func all() throws {
    let run = try run("$D run --all")
    #expect(run.status == 3)
    #expect(run.errors.contains("first -> p.db"))
    #expect(run.errors.contains("second -> p.db"))
    #expect(run.errors.contains("note: nothing was pruned: of the feed, 1 record was rejected"))
    #expect(try folder.files.contains("second.rejects"))
    #expect(try self.run("$D fetch P --count").output == "2\n")
  }

  @Test("A feed in batches that was stopped goes on, if it is named alone")
  func resumed() throws {
    let records = (1...50).map { #"{"id":\#($0)}"# }
    try folder.write("[" + records[..<45].joined(separator: ",") + ",", to: "long.json")
    try folder.write(
      """
      database: p.db
      defaults: { map: p.map.yaml, source: s }
      feeds:
        first: { inputs: a.json, commit: all }
        long: { inputs: long.json, commit: batch, batchSize: 10 }

      """,
      to: "dragoman.yaml"
    )
    #expect(try run("$D run --all").status == 65)
    #expect(try run("$D fetch P --count").output == "45\n")
    #expect(try run("$D run --all --resume").status == 64)
    try folder.write("[" + records.joined(separator: ",") + "]", to: "long.json")
    let again = try run("$D run long --resume")
    #expect(again.status == 0, "\(again.errors)")
    #expect(again.errors.contains("note: went on behind 45 records that were read earlier"))
    #expect(try run("$D fetch P --count").output == "50\n")
    #expect(try run("$D run first --resume --dry-run").status == 64)
  }

  @Test("A dry run writes nothing; quiet prints nothing")
  func dryRun() throws {
    let run = try run("$D run first --dry-run -q")
    #expect(run.status == 0 && run.errors.isEmpty && run.output.isEmpty)
    #expect(try !folder.files.contains("p.db"))
  }

  @Test(
    "The flag counts before DRAGOMAN_DB, that before dragoman.yaml; who writes tells where it was named"
  )
  func precedence() throws {
    let byFile = try run("$D import p.map.yaml --source s a.json")
    #expect(byFile.errors.hasPrefix("note: the database is p.db (by dragoman.yaml)\n"))
    let byVariable = try run("DRAGOMAN_DB=v.db $D import p.map.yaml --source s a.json")
    #expect(byVariable.errors.hasPrefix("note: the database is v.db (by DRAGOMAN_DB)\n"))
    let byFlag = try run("DRAGOMAN_DB=v.db $D import p.map.yaml --source s a.json -d f.db")
    #expect(byFlag.errors.hasPrefix("Read 2 records"))
    #expect(try Set(folder.files).isSuperset(of: ["p.db", "v.db", "f.db"]))
    let feed = try run("DRAGOMAN_DB=w.db $D run first")
    #expect(feed.errors.hasPrefix("first -> w.db (by DRAGOMAN_DB)\n"))
    #expect(try run("$D run first -d x.db").errors.hasPrefix("first -> x.db\n"))
    #expect(try run("DRAGOMAN_DB= $D info").output.hasPrefix("p.db: "))
  }

  @Test("Without any of them the three ways are told")
  func none() throws {
    try FileManager.default.removeItem(at: folder.url.appendingPathComponent("dragoman.yaml"))
    let run = try run("$D fetch P")
    #expect(run.status == 64)
    #expect(
      run.errors == """
        error[tool.database]: Which database?
          help     say -d FILE, set DRAGOMAN_DB, or write database: into a dragoman.yaml

        """
    )
    let feed = try self.run("$D run first")
    #expect(
      feed.status == 66 && feed.errors.hasPrefix("error[config.missing]: There is no dragoman.yaml")
    )
  }

  @Test("Settings above the home are not looked for")
  func home() throws {
    let run = try folder.shell(
      "HOME='\(folder.url.path)/sub' ; export HOME; cd sub/deep; $D fetch P"
    )
    #expect(run.status == 64 && run.errors.hasPrefix("error[tool.database]"))
    let named = try folder.shell(
      "cd sub/deep; $D run first -q --config ../../dragoman.yaml; $D fetch P --count --config ../../dragoman.yaml"
    )
    #expect(named.status == 0 && named.output == "2\n")
  }

  @Test(
    "A name that there is not is answered with the nearest",
    arguments: [
      ("run frist", "There is no feed frist.\n  help     did you mean first?"),
      ("run", "Which feed?\n  help     there are first, second; --all runs all of them"),
      ("run first --all", "--all and names exclude each other"),
    ]
  )
  func names(line: String, words: String) throws {
    let run = try run("$D \(line)")
    #expect(run.status == 64)
    #expect(run.errors.contains(words))
  }

  @Test("All faults of the settings are told at once, with place and nearest word")
  func faults() throws {
    try folder.write(
      """
      databse: p.db
      defaults: { commit: batsh }
      feeds:
        one: { inputs: a.json, map: p.map.yaml, maxReject: 3 }
        two: { inputs: [], map: p.map.yaml, prune: maybe, batchSize: 0 }
        three: p.json

      """,
      to: "dragoman.yaml"
    )
    let run = try run("$D run one")
    #expect(run.status == 65)
    let heads = run.errors.split(separator: "\n").filter { $0.hasPrefix("error") }
    #expect(heads.count == 7)
    for words in [
      "error[config.key]: dragoman.yaml:1:1: There is no key \"databse\" here.",
      "did you mean \"database\"?",
      "error[config.value]: dragoman.yaml:2:21: commit is one of all, batch, not batsh.",
      "did you mean \"batch\"?",
      "error[config.key]: dragoman.yaml:4:43: There is no key \"maxReject\" here.",
      "did you mean \"maxRejects\"?",
      "error[config.key]: dragoman.yaml:5:3: The feed two has no inputs.",
      "dragoman.yaml:5:46: prune is true or false, not maybe.",
      "dragoman.yaml:5:64: batchSize is a number, 1 to 1000000, not 0.",
      "dragoman.yaml:6:10: The feed three is a mapping, not \"p.json\".",
    ] {
      #expect(run.errors.contains(words))
    }
    try folder.write("database: [\n", to: "dragoman.yaml")
    let broken = try self.run("$D fetch P")
    #expect(
      broken.status == 65
        && broken.errors.hasPrefix("error[config.file]: dragoman.yaml:2:1: This is not YAML")
    )
  }
}
