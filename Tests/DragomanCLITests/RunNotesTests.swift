import Foundation
import Testing

/// What `dragoman run` tells of several feeds, and what it refuses.
@Suite("Feeds that are run together") struct RunNotesTests {
  private let folder: ToolFolder

  init() throws {
    folder = try ToolFolder()
    try folder.write(
      """
      version: 1
      entities:
        P: { unique: id, attributes: { id: { type: int32 } } }
        Q: { unique: id, attributes: { id: { type: int32 } } }
      sources:
        de: { format: json, entity: P, records: /p }
        fr: { format: ndjson, entity: P }
        q: { format: csv, entity: Q }
      """,
      to: "m.map.yaml"
    )
    try folder.write(#"{"p":[{"id":1}]}"#, to: "de.json")
    try folder.write("{\"id\":2}\n", to: "fr.ndjson")
    try folder.write("id\n3\n", to: "q.csv")
  }

  private func run(_ settings: String, _ arguments: String...) throws -> ToolFolder.Run {
    try folder.write(settings, to: "dragoman.yaml")
    return try folder.run(["run", "--config", "dragoman.yaml"] + arguments)
  }

  @Test("Feeds that would prune each other's objects are named before they are run")
  func pruning() throws {
    let settings = """
      database: t.db
      defaults: { map: m.map.yaml, prune: true }
      feeds:
        de: { inputs: de.json }
        fr: { inputs: fr.ndjson, database: ./t.db }
        q: { inputs: q.csv }
        kept: { inputs: de.json, prune: false }
        away: { inputs: de.json, database: u.db }

      """
    let note = "note: de and fr both prune P in t.db: each deletes what only the other brings\n"
    let all = try run(settings, "--all")
    #expect(all.status == 0 && all.errors.hasPrefix(note + "de -> t.db"), "\(all.errors)")
    #expect(all.errors.components(separatedBy: "prune P").count == 2)
    #expect(try run(settings, "--all", "-q").errors.isEmpty)
    #expect(try !run(settings, "de", "q", "kept", "away").errors.contains("prune P"))
    let three = settings.replacing("prune: false", with: "prune: true")
    #expect(
      try run(three, "--all").errors.hasPrefix(
        "note: de, fr and kept all prune P in t.db: each deletes what only the others bring\n"
      )
    )
  }

  @Test("A dry run of several feeds of one database says that each is tried by itself")
  func dryRun() throws {
    let settings = """
      database: t.db
      defaults: { map: m.map.yaml }
      feeds: { de: { inputs: de.json }, q: { inputs: q.csv }, away: { inputs: q.csv, database: u.db } }

      """
    let note = "note: each feed is tried by itself, without what those before it would bring\n"
    #expect(try run(settings, "--all", "--dry-run").errors.hasPrefix(note + "de -> t.db"))
    for names in [["de"], ["de", "away"]] {
      let run = try folder.run(["run"] + names + ["--dry-run"])
      #expect(run.status == 0 && !run.errors.contains("by itself"), "\(run.errors)")
    }
  }

  @Test("What did not run is told behind the reason, and has a document", arguments: [false, true])
  func skipped(isBroken: Bool) throws {
    try folder.write(isBroken ? #"{"p":[{"id":1},"# : "", to: "cut.json")
    let inputs = isBroken ? "cut.json" : "none.json"
    let settings = """
      database: t.db
      defaults: { map: m.map.yaml }
      feeds: { a: { inputs: \(inputs) }, b: { inputs: de.json }, c: { inputs: q.csv } }

      """
    let run = try run(settings, "--all", "-q", "--json")
    #expect(run.status == (isBroken ? 65 : 66))
    #expect(run.errors.hasPrefix("error["), "\(run.errors)")
    #expect(run.errors.hasSuffix("note: b, c did not run\n"), "\(run.errors)")
    let documents = run.output.split(separator: "\n")
    #expect(documents.count == 3 && documents[0].contains(#""feed":"a""#), "\(run.output)")
    #expect(documents[0].contains(#""status":"failed""#))
    #expect(
      documents.dropFirst() == [
        #"{"feed":"b","status":"notRun","v":1}"#, #"{"feed":"c","status":"notRun","v":1}"#,
      ]
    )
  }

  @Test("Settings without feeds are told as that", arguments: ["feeds: {}", ""])
  func noFeeds(feeds: String) throws {
    for arguments in [["--all"], []] {
      try folder.write("database: t.db\n\(feeds)\n", to: "dragoman.yaml")
      let run = try folder.run(["run", "--config", "dragoman.yaml"] + arguments)
      #expect(run.status == 64)
      #expect(
        run.errors.hasPrefix("error[tool.feed]: dragoman.yaml: The settings name no feeds.\n"),
        "\(run.errors)"
      )
      #expect(!run.errors.contains("--all"))
    }
  }

  @Test(
    "A feed has no name that leads out of the folder",
    arguments: [#""../x""#, #""a/b""#, #""..""#, #"".""#, #""a\0b""#, #""""#]
  )
  func names(name: String) throws {
    let run = try run(
      "database: t.db\ndefaults: { map: m.map.yaml, rejects: \"{feed}.rej\" }\n"
        + "feeds: { \(name): { inputs: de.json } }\n",
      "--all"
    )
    #expect(run.status == 65)
    #expect(
      run.errors.hasPrefix("error[config.value]: dragoman.yaml:3:10: A feed cannot be called \""),
      "\(run.errors)"
    )
    #expect(run.errors.contains("rename it, or name its rejects file without {feed}"))
    #expect(try !folder.files.contains("t.db"))
  }

  @Test("A feed with a name that cannot stand for {feed} keeps nothing else from being done")
  func namesOfOthers() throws {
    let settings = """
      database: t.db
      defaults: { map: m.map.yaml }
      feeds: { a/b: { inputs: q.csv, rejects: "{feed}.rej" }, c/d: { inputs: q.csv }, e: { inputs: q.csv } }

      """
    #expect(try run(settings, "e").status == 0)
    #expect(try run(settings, "c/d").status == 0)
    #expect(try folder.run("info").status == 0)
    #expect(try run(settings, "a/b").status == 65)
  }

  @Test("An import that is refused says nothing of what it does not resume")
  func refused() throws {
    #expect(
      try run(
        "database: t.db\ndefaults: { map: m.map.yaml }\nfeeds: { b: { inputs: q.csv } }\n",
        "b"
      )
      .status == 0
    )
    let map = try folder.read("m.map.yaml").replacing("int32", with: "date")
    try folder.write(map, to: "other.map.yaml")
    let run = try folder.run("import", "other.map.yaml", "q.csv", "-d", "t.db", "--resume")
    #expect(run.status != 0 && !run.errors.contains("nothing to resume"), "\(run.errors)")
  }

  @Test("An import in batches that was stopped says so in the history, and to who ends it")
  func stopped() throws {
    try folder.write("{\"id\":1}\n{\"id\":2}\n{\"id\": ", to: "cut.ndjson")
    let settings = """
      database: t.db
      defaults: { map: m.map.yaml }
      feeds: { a: { inputs: cut.ndjson, commit: batch, batchSize: 1 }, b: { inputs: q.csv } }

      """
    #expect(try run(settings, "a").status == 65)
    #expect(try folder.run("history", "-d", "t.db").output.contains("  stopped  "))
    let info = try folder.run("info", "-d", "t.db", "--json")
    #expect(info.output.contains(#""status":"stopped""#), "\(info.output)")
    let other = try run(settings, "b")
    #expect(
      other.errors.contains("note: import 1 was stopped behind 2 records, and this one ends it: "),
      "\(other.errors)"
    )
    #expect(
      try folder.run("history", "-d", "t.db", "--json").output.contains(#""status":"stopped""#)
    )
    try folder.write("{\"id\":1}\n{\"id\":2}\n", to: "cut.ndjson")
    let again = try run(settings, "a", "--resume")
    #expect(
      again.errors.contains(
        "note: there is nothing to resume: import 1 was stopped, and import 2 has ended it; all is imported\n"
      ),
      "\(again.errors)"
    )
  }

  @Test("A file of a folder whose name is no UTF-8 is told as that", arguments: ["d", "'d/*'"])
  func fileNames(input: String) throws {
    let run = try folder.shell(
      "mkdir d && cp de.json d/a.json && cp de.json \"$(printf 'd/b\\351.json')\" || exit 9;"
        + " $D import m.map.yaml \(input) -d t.db"
    )
    // Some file systems take no such name.
    guard run.status != 9 else { return }
    #expect(run.status == 65)
    #expect(
      run.errors.contains("error[input.encoding]: The name of the file d/b\u{FFFD}.json is no")
    )
  }

  @Test("A second database on the command line is refused", arguments: ["-d", "--database"])
  func databases(option: String) throws {
    let run = try folder.run("import", "m.map.yaml", "de.json", "-d", "t.db", option, "u.db")
    #expect(run.status == 64 && run.errors.contains("a command has one database"), "\(run.errors)")
    #expect(try folder.files.allSatisfy { !$0.hasSuffix(".db") })
  }
}
