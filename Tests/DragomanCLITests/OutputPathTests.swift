import Foundation
import Testing

/// Outputs that are also something else: the database, the map, an input.
@Suite struct OutputPathTests {
  private let folder: ToolFolder

  init() throws {
    folder = try ToolFolder()
    try folder.write(
      """
      version: 1
      entities:
        Person: { unique: id, attributes: { id: { type: int32 }, name: name } }
      """,
      to: "m.map.yaml"
    )
    try folder.write(#"[{"id":1,"name":"Ada"},{"id":"x"}]"#, to: "feed.json")
    try folder.write("# notes\n", to: "notes.md")
    let made = try folder.shell(
      """
      "$D" import -q m.map.yaml feed.json -d p.db
      mkdir in && ln feed.json in/a.json && ln -s p.db link.db
      ln m.map.yaml hard.map && ln -s m.map.yaml link.map
      """
    )
    try #require(made.status == 0)
  }

  private func contents() throws -> [Data] {
    try ["p.db", "m.map.yaml", "feed.json", "notes.md"].map {
      try Data(contentsOf: folder.url.appendingPathComponent($0))
    }
  }

  /// The files, but for those that SQLite keeps beside a database.
  private func names() throws -> [String] {
    try folder.files.filter { !$0.contains(".db-") }
  }

  @Test(
    "No output replaces the database, the map, an input or what is no such output",
    arguments: [
      "p.db", "./in/../p.db", "hard.db", "link.db", "p.db-wal", "p.db-shm", "p.db-journal",
      "m.map.yaml", "hard.map", "link.map", "notes.md", "in",
    ]
  )
  func refused(path: String) throws {
    // A database with a second name is only read.
    if path == "hard.db" { _ = try folder.shell("ln p.db hard.db") }
    let before = try contents()
    let names = try names()
    for arguments in [
      [
        "import", "m.map.yaml", "in", "-d", path == "hard.db" ? "new.db" : "p.db", "--rejects",
        path,
      ],
      ["export", "m.map.yaml", "-d", "p.db", "-o", path],
      ["backup", "-d", "p.db", path],
    ] {
      let run = try folder.run(arguments)
      #expect(run.status == 73, "\(arguments): \(run.errors)")
      #expect(run.errors.contains("output]: "))
      #expect(try contents() == before, "\(arguments)")
    }
    #expect(try self.names() == names)
  }

  @Test("Rejects and backups are files: - is none")
  func standardOutput() throws {
    let names = try names()
    for arguments in [
      ["import", "m.map.yaml", "in", "-d", "p.db", "--rejects", "-"],
      ["backup", "-d", "p.db", "-"],
    ] {
      let run = try folder.run(arguments)
      #expect(run.status == 64, "\(arguments): \(run.errors)")
      #expect(run.errors.contains("file: name it"))
      #expect(try self.names() == names)
    }
  }

  @Test(
    "A rejects file is no input: by its path, out of a folder or on standard input",
    arguments: [
      "feed.json -d p.db --rejects feed.json", "feed.json -d p.db --rejects in/a.json",
      "in -d p.db --rejects feed.json", "'*.json' -d p.db --rejects in/a.json",
      "- -d p.db --rejects feed.json < feed.json",
      "in -d link.db --rejects p.db", "in -d new.db --rejects new.db",
    ]
  )
  func inputs(arguments: String) throws {
    let before = try contents()
    let run = try folder.shell("\"$D\" import m.map.yaml \(arguments)")
    #expect(run.status == 73, "\(run.errors)")
    #expect(try contents() == before)
    #expect(try !folder.files.contains("new.db"))
  }

  @Test("A rejects file that the map names is held to the same rule")
  func namedByTheMap() throws {
    let map = try folder.read("m.map.yaml")
    for name in ["feed.json", "notes.md", "p.db", "n.map.yaml"] {
      try folder.write(map + "\nimport: { rejects: { file: \(name) } }\n", to: "n.map.yaml")
      let before = try contents()
      let run = try folder.run("import", "n.map.yaml", "feed.json", "-d", "p.db")
      #expect(run.status == 73, "\(name): \(run.errors)")
      #expect(try contents() == before)
    }
  }

  @Test("A rejects file that the map names stays in its folder, also where a link leads out of it")
  func linkedFolder() throws {
    _ = try folder.shell(
      "mkdir -p maps/deep elsewhere && ln -s ../elsewhere maps/out && ln -s deep maps/in"
    )
    let map = try folder.read("m.map.yaml")
    let imported = { (name: String) in
      try folder.write(map + "\nimport: { rejects: { file: \(name) } }\n", to: "maps/n.map.yaml")
      return try folder.run("import", "maps/n.map.yaml", "feed.json", "-d", "new.db")
    }
    let refused = try imported("out/r.ndjson")
    #expect(refused.status == 73 && refused.errors.contains("out of the folder of the map"))
    #expect(try folder.shell("test ! -e new.db && ls elsewhere").output.isEmpty)
    for (name, place) in [("in/r.ndjson", "maps/deep/r.ndjson"), ("r.ndjson", "maps/r.ndjson")] {
      #expect(try imported(name).status == 3)
      #expect(try !folder.read(place).isEmpty)
    }
    // Whoever runs it may name any place.
    let own = try folder.run(
      "import",
      "maps/n.map.yaml",
      "feed.json",
      "-d",
      "new.db",
      "--rejects",
      "elsewhere/r.ndjson"
    )
    #expect(own.status == 3)
    #expect(try !folder.read("elsewhere/r.ndjson").isEmpty)
  }

  @Test("What was made as such an output is replaced night after night")
  func again() throws {
    for _ in 1...3 {
      for (arguments, status) in [
        (["import", "-q", "m.map.yaml", "feed.json", "-d", "p.db", "--rejects", "r.ndjson"], 3),
        (["export", "-q", "m.map.yaml", "-d", "p.db", "-o", "people.json"], 0),
        (["export", "-q", "m.map.yaml", "-d", "p.db", "-o", "people.csv.gz"], 0),
        (["export", "-q", "m.map.yaml", "-d", "p.db", "-o", "people.csv"], 0),
        (["export", "-q", "m.map.yaml", "-d", "p.db", "-o", "people.csv", "-f", "ndjson"], 0),
        (["backup", "-q", "-d", "p.db", "b.db"], 0),
      ] {
        let run = try folder.run(arguments)
        #expect(run.status == Int32(status), "\(arguments): \(run.errors)")
      }
    }
    #expect(try folder.read("r.ndjson").split(separator: "\n").count == 1)
    let clean = try folder.shell(
      "echo '[]' > none.json; \"$D\" import -q m.map.yaml none.json -d p.db --rejects r.ndjson"
    )
    #expect(clean.status == 0)
    #expect(try folder.read("r.ndjson").isEmpty)
  }

  @Test(
    "A file that was not made as such an output is replaced only if that is said",
    arguments: [
      ("cp feed.json out.json", "export", "-o out.json", "is not an export"),
      ("echo '<a/>' > out.json", "export", "-o out.json", "is not an export"),
      (
        "echo '{}' > other.json; ln -s other.json out.csv", "export", "-o out.csv",
        "is not an export"
      ),
      ("echo 1 > out.csv", "export", "-o out.csv", "is not an export"),
      ("gzip < feed.json > out.json.gz", "export", "-o out.json.gz", "is not an export"),
      (#""$D" backup -q -d p.db out.db"#, "export", "-o out.db", "is not an export"),
      (
        #""$D" export -q m.map.yaml -d p.db -o o.json; cp o.json out.json"#, "export",
        "-o out.json",
        "is not an export"
      ),
      (
        #""$D" export -q m.map.yaml -d p.db -o out.json; echo >> out.json"#, "export",
        "-o out.json",
        "was changed after"
      ),
      (
        #""$D" export -q m.map.yaml -d p.db -o out.json; touch -t 202001010000 out.json"#, "export",
        "-o out.json", "was changed after"
      ),
      ("cp p.db out.db", "backup", "out.db", "is not a backup"),
      ("echo notes > out.db", "backup", "out.db", "is not a backup"),
      (#""$D" export -q m.map.yaml -d p.db -o out.db"#, "backup", "out.db", "is not a backup"),
      (
        #"echo '[{"id":7}]' | "$D" import -q m.map.yaml - -d out.db"#, "backup", "out.db",
        "is not a backup"
      ),
      (
        #""$D" backup -q -d p.db out.db; echo '[{"id":7}]' | "$D" import -q m.map.yaml - -d out.db"#,
        "backup", "out.db", "was changed after"
      ),
    ]
  )
  func foreign(made: String, command: String, output: String, reason: String) throws {
    let path = try #require(output.split(separator: " ").last.map(String.init))
    let run = command == "export" ? "export -q m.map.yaml -d p.db" : "backup -q -d p.db"
    _ = try folder.shell(made)
    let before = try Data(contentsOf: folder.url.appendingPathComponent(path))
    let names = try names()
    let refused = try folder.shell("\"$D\" \(run) \(output)")
    #expect(refused.status == 73, "\(refused.errors)")
    #expect(refused.errors.contains(reason) && refused.errors.contains("--overwrite"))
    #expect(try Data(contentsOf: folder.url.appendingPathComponent(path)) == before)
    #expect(try self.names() == names)
    let replaced = try folder.shell(
      "\"$D\" \(run) --overwrite \(output) && \"$D\" \(run) \(output)"
    )
    #expect(replaced.status == 0, "\(replaced.errors)")
    let after = try Data(contentsOf: folder.url.appendingPathComponent(path))
    #expect(after != before || made.contains("cp o.json") || made.contains("touch"))
  }

  @Test("Nothing that is said replaces the database, the map or a database in use")
  func neverReplaced() throws {
    _ = try folder.shell("ln p.db hard.db")
    let before = try contents()
    for path in ["p.db", "hard.db", "link.db", "p.db-wal", "m.map.yaml", "hard.map", "link.map"] {
      let run = try folder.run("export", "m.map.yaml", "-d", "p.db", "--overwrite", "-o", path)
      #expect(run.status == 73, "\(path): \(run.errors)")
    }
    _ = try folder.shell(#"cp p.db used.db; echo x > used.db-wal"#)
    for path in ["p.db", "hard.db", "link.db", "p.db-wal", "used.db"] {
      let run = try folder.run("backup", "-d", "p.db", "--overwrite", path)
      #expect(run.status == 73, "\(path): \(run.errors)")
    }
    #expect(try contents() == before)
  }

  @Test("No output takes the place of a link, whether something stands behind it or not")
  func links() throws {
    _ = try folder.shell(
      "mkdir d && ln -s d/out out && ln -s p.db-journal journal && ln -s loop loop"
    )
    let before = try contents()
    for run in ["export m.map.yaml -d p.db -o", "backup -d p.db", "guess feed.json -o"] {
      for link in ["journal", "loop"] where link == "loop" || !run.hasPrefix("guess") {
        #expect(try folder.shell("\"$D\" \(run) \(link)").status == 73, "\(run) \(link)")
      }
      let made = try folder.shell("\"$D\" \(run) out && test -L out && test -s d/out && rm d/out")
      #expect(made.status == 0, "\(run): \(made.errors)")
    }
    #expect(try contents() == before)
  }

  @Test("Behind a linked folder .. is the system's, and a name of one letter is a name")
  func linkedFolders() throws {
    _ = try folder.shell(
      "mkdir -p s/deep && ln -s s/deep l && ln -s ../feed.json s/deep/f && ln -s e d"
    )
    let before = try contents()
    for run in [
      "export m.map.yaml -d p.db --overwrite -o", "backup -d p.db --overwrite",
      "guess feed.json --overwrite -o",
    ] {
      for (place, made) in [
        ("l/f", "s/feed.json"), ("l/../t", "s/t"), ("d", "e"), ("x", "x"), ("./y", "y"),
        ("l/z", "s/deep/z"),
      ] {
        let done = try folder.shell("\"$D\" \(run) \(place) && test -s \(made) && rm \(made)")
        #expect(done.status == 0, "\(run) \(place): \(done.errors)")
      }
      guard !run.hasPrefix("guess") else { continue }
      _ = try folder.shell("ln -s l/../../p.db-journal j")
      for place in ["j", "l/../../p.db-journal", "l/../../p.db", "l/../../p.db-wal"] {
        #expect(try folder.shell("\"$D\" \(run) \(place)").status == 73, "\(run) \(place)")
      }
    }
    let guessed = try folder.shell(#""$D" import --guess feed.json -d q && test -s q.map.yaml"#)
    #expect(guessed.status == 0, "\(guessed.errors)")
    #expect(try contents() == before)
  }

  @Test("A run that fails over its inputs leaves the rejects of the run before")
  func missingInput() throws {
    _ = try folder.run("import", "m.map.yaml", "feed.json", "-d", "p.db", "--rejects", "r.ndjson")
    let before = try folder.read("r.ndjson")
    #expect(before.contains(#""code":"value.type""#))
    try folder.write("", to: "empty.json")
    for rejects in ["r.ndjson", "new.ndjson"] {
      let run = try folder.run(
        "import",
        "m.map.yaml",
        "empty.json",
        "-d",
        "p.db",
        "--rejects",
        rejects
      )
      #expect(run.status == 65)
    }
    #expect(try folder.read("r.ndjson") == before)
    #expect(try !folder.files.contains("new.ndjson"))
  }

  @Test("Pipes and devices are written as they are")
  func streams() throws {
    let run = try folder.shell(
      """
      "$D" import -q m.map.yaml feed.json -d p.db --rejects /dev/null 2>/dev/null
      "$D" export -q m.map.yaml -d p.db -o /dev/null -f json && echo exported
      mkfifo pipe; cat pipe & "$D" import -q m.map.yaml feed.json -d p.db --rejects pipe 2>/dev/null
      wait
      """
    )
    #expect(run.output.hasPrefix("exported\n{\"file\":\"feed.json\""), "\(run.output)")
    var status = stat()
    #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
    #expect(status.st_mode & 0o666 == 0o666)
  }

  @Test("An export waits a moment for the reader of a pipe, and not for ever")
  func pipe() throws {
    let read = try folder.shell(
      """
      "$D" import -q m.map.yaml feed.json -d p.db 2>/dev/null
      mkfifo pipe; { sleep 0.3; cat pipe; } & "$D" export -q m.map.yaml -d p.db -o pipe -f ndjson; wait
      """
    )
    #expect(read.status == 0 && read.output.hasPrefix("{"), "\(read.errors)")
    let unread = try folder.run("export", "m.map.yaml", "-d", "p.db", "-o", "pipe")
    #expect(unread.status == 73 && unread.errors.contains("nobody reads it"), "\(unread.errors)")
  }

  @Test(
    "A database may have a name that SQLite takes for memory, or for a URI",
    arguments: [":memory:", "file:a.db", "file::memory:", "file:a.db?mode=memory"]
  )
  func strangeName(name: String) throws {
    let run = try folder.shell(
      """
      mkdir other; cd other; printf '[{"id":2,"name":"Bob"}]' > b.json
      "$D" import -q ../m.map.yaml ../feed.json -d '\(name)'
      "$D" import -q ../m.map.yaml b.json -d '\(name)' --commit batch
      "$D" fetch Person --count -d '\(name)' && "$D" backup -d '\(name)' 'file:copy' && "$D" fetch Person --count -d 'file:copy'
      ls | grep -v -e -shm -e -wal | LC_ALL=C sort
      """
    )
    let files = [name, "b.json", "file:copy"].sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    #expect(run.output == "2\n2\n" + files.map { $0 + "\n" }.joined(), "\(run)")
  }
}
