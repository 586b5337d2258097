import DragomanPostgreSQL
import Foundation
import TestServer
import Testing

/// The tool with a server in place of a file.
@Suite("Commands on a server", .enabled(if: TestServer.isThere))
struct ServerCommandTests {
  private static let map = """
    version: 1
    entities:
      Person:
        unique: id
        attributes:
          id: { type: int64 }
          name: { type: string }
          salary: { type: decimal, scale: 2 }
          born: { type: date }
    """
  private static let feed = """
    [{"id": 1, "name": "Ana", "salary": 12.5, "born": "1990-02-28"},
     {"id": 2, "name": "Ben", "salary": 7},
     {"id": 3, "name": "Eve\\u0000"}]
    """

  private let folder: ToolFolder
  private let server: TestServer

  init() throws {
    folder = try ToolFolder()
    server = try #require(TestServer.shared)
    try folder.write(Self.map, to: "people.map.yaml")
    try folder.write(Self.feed, to: "people.json")
    try folder.write(#"[{"id": 1, "name": "Anna", "salary": 12.5}]"#, to: "later.json")
  }

  @Test("Import, fetch, export, info, history, schema and diff say what they say of a file")
  func commands() throws {
    let url = try server.schema()
    let imported = try folder.run("import", "people.map.yaml", "people.json", "-d", url)
    #expect(imported.status == 3)
    #expect(imported.errors.contains("error[value.nul]"))
    #expect(imported.errors.contains("inserted  2"))
    #expect(imported.errors.contains("rejected  1"))
    let again = try folder.run("import", "people.map.yaml", "later.json", "-d", url)
    #expect(again.status == 0)
    // The same in a file, but for what it cannot hold.
    #expect(try folder.run("import", "people.map.yaml", "people.json", "-d", "p.db").status == 0)
    #expect(
      try folder.run("delete", "Person", "--where", "id == 3", "--yes", "-d", "p.db").status == 0
    )
    #expect(try folder.run("import", "people.map.yaml", "later.json", "-d", "p.db").status == 0)
    for command in [
      ["fetch", "Person"], ["fetch", "Person", "--count"],
      ["fetch", "Person", "--where", "name BEGINSWITH[c] 'AN'", "--sort", "born"],
      ["export", "people.map.yaml", "-o", "-"], ["schema"],
      ["diff", "people.map.yaml", "people.json"],
    ] {
      let of = { (database: String) in try self.folder.run(command + ["-d", database]) }
      let (theirs, ours) = (try of(url), try of("p.db"))
      #expect(theirs.output == ours.output, "\(command)")
      #expect(theirs.status == ours.status, "\(command)")
    }
    let info = try folder.run("info", "-d", url)
    #expect(info.output.contains("Person  2"))
    let schema = TestServer.schema(of: url)
    #expect(info.output.hasPrefix("postgresql:///postgres?schema=\(schema):"))
    let history = try folder.run("history", "-d", url)
    #expect(history.output.contains("people.json") && history.output.contains("later.json"))
  }

  @Test("A dry run tells what would change and leaves nothing")
  func dryRun() throws {
    let url = try server.schema()
    let run = try folder.run("import", "people.map.yaml", "people.json", "-d", url, "--dry-run")
    #expect(run.status == 3)
    let tables =
      "SELECT count(*) FROM pg_class WHERE relnamespace = '\(TestServer.schema(of: url))'::regnamespace"
    #expect(try server.psql(tables) == "0")
    #expect(try folder.run("import", "people.map.yaml", "later.json", "-d", url).status == 0)
    let diff = try folder.run(
      "import",
      "people.map.yaml",
      "people.json",
      "-d",
      url,
      "--dry-run",
      "--diff",
      "--json"
    )
    #expect(diff.output.contains(#""Ana""#))
    #expect(try folder.run("fetch", "Person", "-d", url, "--count").output == "1\n")
  }

  @Test(
    "No message shows a password, and each says what to do",
    .enabled(if: TestServer.isPlain)
  )
  func refusals() throws {
    let schema = TestServer.schema(of: try server.schema())
    try server.psql(
      "CREATE ROLE locked_\(schema) LOGIN PASSWORD 'right'; CREATE ROLE weak_\(schema) LOGIN;"
        + " GRANT USAGE ON SCHEMA \(schema) TO weak_\(schema);"
        + " CREATE SCHEMA foreign_\(schema); CREATE TABLE foreign_\(schema).\"theirs\" (a int)"
    )
    let local = "127.0.0.1:\(server.port)/postgres"
    let cases: [(url: String, status: Int32, said: [String])] = [
      (
        "postgresql://locked_\(schema):wro%2Fngpw@\(local)", 77,
        ["error[store.permission]: postgresql://\(local): ", ".pgpass"]
      ),
      (
        "postgresql://locked_\(schema)@\(local)?passfile=/none", 77,
        ["store.permission", ".pgpass"]
      ),
      ("postgresql://u:wro%2Fngpw@no-such-host.invalid/db", 69, ["store.unreachable"]),
      ("postgresql://u:wro%2Fngpw@127.0.0.1:1/db", 69, ["store.unreachable", "refused"]),
      ("postgresql://u:wro%2Fngpw@host:port:x/db?bogus=1", 69, ["store.unreachable"]),
      ("postgresql://u:wro%2Fngpw@[::1/db", 69, ["store.unreachable"]),
      (
        server.url(schema: schema).replacingOccurrences(of: "/postgres?", with: "/nowhere?"), 66,
        ["store.missing", "createdb"]
      ),
      (server.url(schema: "nowhere"), 66, ["store.missing", "CREATE SCHEMA"]),
      (server.url(schema: "foreign_\(schema)"), 65, ["store.foreign", "theirs", "search_path"]),
      (server.url(schema: schema, user: "nobody_at_all"), 77, ["store.permission"]),
      (server.url(schema: schema, user: "weak_\(schema)"), 77, ["store.permission", "GRANT"]),
      (
        server.url(schema: schema, more: "%20-cdefault_transaction_read_only%3Don"), 77,
        ["store.permission", "read-write"]
      ),
    ]
    for (url, status, said) in cases {
      let run = try folder.run("import", "people.map.yaml", "later.json", "-d", url)
      #expect(run.status == status, "\(url): \(run.errors)")
      for word in said { #expect(run.errors.contains(word), "\(url): \(run.errors)") }
      #expect(
        !run.errors.contains("wro%2Fngpw") && !run.errors.contains("wro/ngpw"),
        "\(run.errors)"
      )
      #expect(run.errors.contains("help"), "\(run.errors)")
    }
  }

  @Test("Settings and the environment name a server, and no message shows its password")
  func settings() throws {
    let url = try server.schema().replacingOccurrences(of: "postgres@", with: "postgres:s3cret@")
    try folder.write(
      "database: \(url)\nfeeds:\n  people: { map: people.map.yaml, inputs: later.json }\n",
      to: "dragoman.yaml"
    )
    let name = "postgresql:///postgres?schema=\(TestServer.schema(of: url))"
    let run = try folder.run("run", "people")
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.contains("people -> \(name) (by "), "\(run.errors)")
    let imported = try folder.shell(
      "DRAGOMAN_DB='\(url)' $D import people.map.yaml later.json; $D fetch Person --count"
    )
    #expect(imported.output == "1\n")
    #expect(imported.errors.contains("\(name) (by DRAGOMAN_DB)"))
    #expect(!(run.errors + run.output + imported.errors).contains("s3cret"))
    let history = try server.psql("SELECT * FROM \(TestServer.schema(of: url))._dragoman_imports")
    #expect(history.contains("later.json") && !history.contains("s3cret"))
  }

  @Test("A table that somebody has changed is damage, and nothing is half-written")
  func changed() throws {
    let url = try server.schema()
    let schema = TestServer.schema(of: url)
    #expect(try folder.run("import", "people.map.yaml", "later.json", "-d", url).status == 0)
    try server.psql("ALTER TABLE \(schema).\"Person\" RENAME COLUMN born TO birthday")
    for command in [["import", "people.map.yaml", "people.json"], ["info"], ["fetch", "Person"]] {
      let run = try folder.run(command + ["-d", url])
      #expect(run.status == 65, "\(command): \(run.errors)")
      #expect(run.errors.contains("store.damaged") && run.errors.contains("born"), "\(run.errors)")
    }
    #expect(try server.psql("SELECT count(*) FROM \(schema).\"Person\"") == "1")
    try server.psql("ALTER TABLE \(schema).\"Person\" RENAME COLUMN birthday TO born")
    try server.psql("UPDATE \(schema)._dragoman_model SET format = 99")
    #expect(try folder.run("info", "-d", url).errors.contains("store.newer"))
    try server.psql("DELETE FROM \(schema)._dragoman_model")
    #expect(try folder.run("info", "-d", url).errors.contains("store.damaged"))
  }

  @Test("What works on files only is refused with what to do instead")
  func filesOnly() throws {
    let url = try server.schema()
    let run = try folder.run("backup", "copy.db", "-d", url)
    #expect(run.status == 64, "\(run.errors)")
    #expect(run.errors.contains("error[tool.server]") && run.errors.contains("pg_dump"))
  }

  @Test("undo, history --changes and fetch --as-of print what they print of a file")
  func undo() throws {
    let url = try server.schema()
    try folder.write(Self.feed.replacing("\\u0000", with: ""), to: "people.json")
    let commands = [
      ["import", "people.map.yaml", "people.json", "--record"],
      ["import", "people.map.yaml", "later.json", "--json"], ["history", "--changes", "1"],
      ["history", "--changes", "2", "--json"], ["fetch", "Person", "--as-of", "1", "--json"],
      ["fetch", "Person", "--as-of", "0", "--count"], ["undo", "--dry-run"],
      ["undo", "2", "--dry-run", "--json"], ["undo"], ["undo"], ["undo", "9"], ["undo", "2"],
      ["undo", "3"], ["fetch", "Person", "--json"], ["undo", "1"], ["undo", "4", "--json"],
      ["import", "people.map.yaml", "people.json", "--no-record"], ["history", "--changes", "1"],
      ["fetch", "Person", "--as-of", "1"],
    ]
    for command in commands {
      let runs = try [url, "p.db"].map { try folder.run(command + ["-d", $0]) }
      #expect(runs[0].status == runs[1].status, "\(command): \(runs[0].errors)")
      if command[0] == "import" { continue }
      let output = runs[0].output
      #expect(output == runs[1].output || output.contains("started"), "\(command): \(output)")
      let name = "postgresql:///postgres?schema=\(TestServer.schema(of: url))"
      let errors = runs[0].errors.replacing(name, with: "p.db")
      #expect(errors == runs[1].errors, "\(command)")
    }
  }

  @Test(
    "migrate prints the plans, the refusals and the exit codes of a file, and leaves the same contents"
  )
  func migrate() throws {
    let url = try server.schema()
    let name = "postgresql:///postgres?schema=\(TestServer.schema(of: url))"
    let feed = Self.feed.replacing("\\u0000", with: "")
    try folder.write(feed, to: "people.json")
    for database in [url, "p.db"] {
      #expect(
        try folder.run("import", "people.map.yaml", "people.json", "-d", database).status == 0
      )
    }
    try folder.write(
      Self.map.replacing("name: {", with: "surname: { renamedFrom: name,")
        .replacing("born: { type: date }", with: "born: { type: timestamp, required: true }"),
      to: "faulty.map.yaml"
    )
    try folder.write(
      Self.map.replacing("name: {", with: "surname: { from: name, renamedFrom: name,")
        .replacing("type: date", with: "type: timestamp").replacing(
          "      salary: { type: decimal, scale: 2 }\n",
          with: ""
        ),
      to: "new.map.yaml"
    )
    for (status, command) in [
      (0, ["migrate", "new.map.yaml", "--dry-run"]), (65, ["migrate", "faulty.map.yaml"]),
      (65, ["migrate", "faulty.map.yaml", "--json"]),
      (65, ["import", "new.map.yaml", "people.json"]),
      (0, ["migrate", "new.map.yaml", "--json", "--dry-run"]), (0, ["migrate", "new.map.yaml"]),
      (0, ["migrate", "new.map.yaml"]), (0, ["schema"]), (0, ["fetch", "Person"]),
      (0, ["export", "new.map.yaml", "-o", "-"]),
      (0, ["migrate", "new.map.yaml", "--drop", "--json"]), (0, ["schema"]),
      (1, ["diff", "new.map.yaml", "later.json"]),
      (0, ["import", "new.map.yaml", "later.json", "-q"]), (0, ["fetch", "Person"]),
    ] {
      let theirs = try folder.run(command + ["-d", url])
      let ours = try folder.run(command + ["-d", "p.db"])
      #expect(theirs.status == ours.status && ours.status == status, "\(command): \(ours.errors)")
      #expect(theirs.output.replacing(name, with: "p.db") == ours.output, "\(command)")
      // Reports of imports tell how long they took.
      guard command[0] == "migrate" else { continue }
      #expect(theirs.errors.replacing(name, with: "p.db") == ours.errors, "\(command)")
    }
    let refused = try folder.run("import", "people.map.yaml", "later.json", "-d", url)
    #expect(
      refused.status == 65 && refused.errors.contains("run `dragoman migrate`"),
      "\(refused.errors)"
    )
    #expect(
      try folder.run("migrate", "new.map.yaml", "-d", "postgresql://127.0.0.1:1/none").status == 69
    )
    let schema = TestServer.schema(of: url)
    try server.psql(
      "CREATE ROLE migrator_\(schema) LOGIN; GRANT USAGE ON SCHEMA \(schema) TO migrator_\(schema);"
        + " GRANT ALL ON ALL TABLES IN SCHEMA \(schema) TO migrator_\(schema)"
    )
    let theirs = server.url(schema: schema, user: "migrator_\(schema)")
    let forbidden = try folder.run("migrate", "people.map.yaml", "-d", theirs)
    #expect(forbidden.status == 77, "\(forbidden.errors)")
  }

  @Test(
    "A migration that is killed in the middle leaves what was there",
    .enabled(if: TestServer.isPlain)
  )
  func killedMigration() throws {
    let url = try server.schema()
    let schema = TestServer.schema(of: url)
    #expect(try folder.run("import", "people.map.yaml", "later.json", "-d", url).status == 0)
    // The server ends the statement before it sees that nobody waits for it.
    try server.psql(
      "SET search_path = \(schema); CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        + " PERFORM pg_sleep(2); RETURN NULL; END $$;"
        + " CREATE TRIGGER wait BEFORE UPDATE ON \"Person\" EXECUTE FUNCTION wait()"
    )
    let before = try folder.run("export", "people.map.yaml", "-o", "-", "-d", url).output
    try folder.write(
      Self.map.replacing("id: { type: int64 }", with: "id: { type: string }"),
      to: "new.map.yaml"
    )
    let theirs =
      "FROM pg_stat_activity WHERE query LIKE 'UPDATE %_dragoman_new_0%' AND state = 'active'"
      + " AND (SELECT oid FROM pg_namespace WHERE nspname = '\(schema)') IN (SELECT relnamespace FROM pg_class"
      + " JOIN pg_locks ON relation = pg_class.oid WHERE pg_locks.pid = pg_stat_activity.pid)"
    let process = Process()
    process.executableURL = ToolFolder.tool
    process.arguments = ["migrate", "new.map.yaml", "-d", url]
    process.currentDirectoryURL = folder.url
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    while try process.isRunning && server.psql("SELECT count(*) \(theirs)") == "0" {
      Thread.sleep(forTimeInterval: 0.02)
    }
    #expect(process.isRunning)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    while try server.psql("SELECT count(*) \(theirs)") != "0" {
      Thread.sleep(forTimeInterval: 0.02)
    }
    #expect(
      try folder.run("export", "people.map.yaml", "-o", "-", "-d", url).output == before
    )
    try server.psql("DROP TRIGGER wait ON \(schema).\"Person\"")
    #expect(try folder.run("migrate", "new.map.yaml", "-d", url).status == 0)
    #expect(
      try folder.run("fetch", "Person", "--where", "id == '1'", "--count", "-d", url).output
        == "1\n"
    )
  }

  @Test("An import whose connection is cut while it waits goes in")
  func cut() throws {
    let url = try server.schema()
    let schema = TestServer.schema(of: url)
    #expect(try folder.run("import", "people.map.yaml", "later.json", "-d", url).status == 0)
    try server.psql(
      "CREATE ROLE cut_\(schema) LOGIN; GRANT USAGE ON SCHEMA \(schema) TO cut_\(schema);"
        + " GRANT ALL ON ALL TABLES IN SCHEMA \(schema) TO cut_\(schema)"
    )
    let holder = try PostgreSQLHolder(server, schema)
    // The server itself looks and kills: who waits is refused after five seconds, and a process that
    // begins on a busy machine may come too late.
    let kill =
      "DO $$ BEGIN LOOP PERFORM pg_stat_clear_snapshot(); PERFORM pg_terminate_backend(pid) FROM pg_stat_activity"
      + " WHERE usename = 'cut_\(schema)' AND wait_event = 'advisory'; EXIT WHEN FOUND; PERFORM pg_sleep(0.01);"
      + " END LOOP; \(holder.killing); END $$"
    Thread.detachNewThread { [server] in _ = try? server.psql(kill) }
    let looking =
      "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'DO %cut_\(schema)%'"
    while try server.psql(looking) == "0" { Thread.sleep(forTimeInterval: 0.02) }
    let run = try folder.run(
      "import",
      "people.map.yaml",
      "people.json",
      "-d",
      server.url(schema: schema, user: "cut_\(schema)")
    )
    #expect(run.status == 3, "\(run.errors)")
    holder.end()
    #expect(try server.psql("SELECT count(*) FROM \(schema).\"Person\"") == "2")
    #expect(try folder.run("import", "people.map.yaml", "people.json", "-d", url).status == 3)
  }

  @Test("An import that writes keeps another one waiting five seconds, which is busy then")
  func busy() throws {
    let url = try server.schema()
    let schema = TestServer.schema(of: url)
    #expect(try folder.run("import", "people.map.yaml", "later.json", "-d", url).status == 0)
    let holder = try PostgreSQLHolder(server, schema)
    let run = try folder.run("import", "people.map.yaml", "people.json", "-d", url)
    #expect(run.status == 75, "\(run.errors)")
    #expect(run.errors.contains("store.busy"))
    holder.end()
  }
}

/// Somebody who holds the lock of writers.
private final class PostgreSQLHolder: Sendable {
  private let done = DispatchSemaphore(value: 0)
  private let server: TestServer
  private let schema: String

  init(_ server: TestServer, _ schema: String) throws {
    self.server = server
    self.schema = schema
    let begun =
      "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted"
      + " AND objid::bigint = (hashtext('\(schema)')::bigint & 4294967295)"
    let done = done
    Thread.detachNewThread {
      _ = try? server.psql(
        "SET search_path = \(schema); SELECT pg_advisory_lock(\(0x4452_4147), hashtext('\(schema)')); SELECT pg_sleep(1800)"
      )
      done.signal()
    }
    while try server.psql(begun) == "0" { Thread.sleep(forTimeInterval: 0.02) }
  }

  /// The statement that lets go, for a block of the server's own language.
  var killing: String {
    "PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%= \(schema); %pg_sleep%'"
      + " AND pid <> pg_backend_pid()"
  }

  func end() {
    _ = try? server.psql("DO $$ BEGIN \(killing); END $$")
    done.wait()
  }
}
