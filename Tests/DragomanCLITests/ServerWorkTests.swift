import Foundation
import TestServer
import Testing

/// What commands do in a file they do on a server: the same words, exit codes and contents.
@Suite("Work on a server as in a file", .enabled(if: TestServer.isThere))
struct ServerWorkTests {
  private static let map = """
    version: 1
    entities:
      Firm:
        unique: code
        attributes: { code: { type: string }, name: { type: string } }
        relationships:
          staff: { entity: Person, kind: toMany, inverse: firm, onDelete: cascade }
          patrons: { entity: Person, kind: toMany, key: { id: patrons }, onDelete: deny }
      Person:
        unique: id
        attributes: { id: { type: int64 }, name: { type: string } }
        relationships:
          firm: { entity: Firm, kind: toOne, key: { code: firm }, onUnresolved: pending, inverse: staff }
    sources:
      people: { format: json, entity: Person, records: people }
      firms: { format: json, entity: Firm, records: firms }
    """
  private static let feed = """
    {"firms": [{"code": "a", "name": "Alpha"}, {"code": "b", "patrons": [5]}, {"code": "c"}],
     "people": [{"id": 1, "name": "Ana", "firm": "a"}, {"id": 2, "firm": "a"}, {"id": 3, "firm": "b"},
       {"id": 4, "firm": "x"}, {"id": 5}]}
    """

  private let folder: ToolFolder
  private let server: TestServer

  init() throws {
    folder = try ToolFolder()
    server = try #require(TestServer.shared)
    try folder.write(Self.map, to: "m.map.yaml")
    try folder.write(Self.feed, to: "all.json")
  }

  /// Runs the same in a file and on a server, and compares what is said and what is there.
  @discardableResult
  private func both(_ url: String, _ commands: [[String]]) throws -> [ToolFolder.Run] {
    try commands.map { command in
      let ours = try folder.run(command.map { $0 == "FILE" ? "of-file" : $0 } + ["-d", "f.db"])
      let theirs = try folder.run(command.map { $0 == "FILE" ? "of-server" : $0 } + ["-d", url])
      let name = String(url.prefix { $0 != "?" })
      func said(_ run: ToolFolder.Run) -> String {
        var text = run.output + run.errors
        for (pattern, word) in [
          (#"postgresql://[^ :\n]*"#, "DB"), (#"f\.db"#, "DB"), ("of-server|of-file", "FILE"),
          (#"[0-9.,]+\w*/s"#, ""), (#"in [0-9.,]+ m?s, "#, ""), (" +", " "),
        ] { text = text.replacingOccurrences(of: pattern, with: word, options: .regularExpression) }
        return text
      }
      #expect(theirs.status == ours.status, "\(name) \(command) \(theirs.errors)")
      #expect(said(theirs) == said(ours), "\(command)")
      try same(url, "\(command)")
      return theirs
    }
  }

  /// The contents are the same.
  private func same(_ url: String, _ comment: Comment) throws {
    for command in [
      ["fetch", "Person", "--columns", "id,name,firm.code", "--sort", "id"],
      ["fetch", "Firm", "--columns", "code,name", "--sort", "code"],
    ] {
      let ours = try folder.run(command + ["-d", "f.db"])
      let theirs = try folder.run(command + ["-d", url])
      #expect(theirs.output == ours.output, comment)
    }
  }

  @Test("delete: cascades, what denies it, a dry run, nothing to delete, no such entity")
  func deletes() throws {
    let url = try server.schema()
    let runs = try both(
      url,
      [
        ["import", "m.map.yaml", "all.json", "-q"],
        ["delete", "Firm", "--where", "code == 'a'", "--dry-run"],
        ["delete", "Firm", "--where", "code == 'b'", "--yes"],
        ["delete", "Firm", "--where", "name LIKE[c] 'ALP*'", "--yes"],
        ["delete", "Person", "--where", "id == 4", "--yes", "--json"],
        ["delete", "Person", "--where", "id == 99", "--yes"],
        ["delete", "Nobody", "--all", "--yes", "--quiet"],
      ]
    )
    #expect(runs.map(\.status) == [0, 0, 65, 0, 0, 0, 64])
    let schema = TestServer.schema(of: url)
    #expect(try server.psql("SELECT count(*) FROM \(schema).\"Person\"") == "2")
    // What the deleted ones waited for is forgotten, and the history knows.
    #expect(try server.psql("SELECT count(*) FROM \(schema)._dragoman_pending") == "0")
    #expect(
      try server.psql("SELECT sum(deleted) FROM \(schema)._dragoman_imports WHERE source LIKE 'd%'")
        == "4"
    )
  }

  @Test("--prune deletes what the feed does not have, by the delete rules, and says why not")
  func prunes() throws {
    let url = try server.schema()
    try folder.write(
      #"{"firms": [{"code": "a"}, {"code": "b", "patrons": []}], "people": [{"id": 1, "firm": "a"}, {"id": 3, "firm": "b"}]}"#,
      to: "less.json"
    )
    try folder.write(#"{"firms": [{"code": "b", "patrons": [5]}], "people": []}"#, to: "deny.json")
    try folder.write(#"{"firms": [], "people": []}"#, to: "none.json")
    let runs = try both(
      url,
      [
        ["import", "m.map.yaml", "all.json", "-q"],
        ["import", "m.map.yaml", "none.json", "--prune"],
        ["import", "m.map.yaml", "less.json", "--prune", "--dry-run"],
        ["import", "m.map.yaml", "less.json", "--prune", "--commit", "batch", "--batch-size", "1"],
        ["import", "m.map.yaml", "all.json", "-q"],
        ["import", "m.map.yaml", "less.json", "--prune"],
      ]
    )
    #expect(runs.map(\.status) == [0, 65, 0, 0, 0, 0])
    let schema = TestServer.schema(of: url)
    #expect(try server.psql("SELECT count(*) FROM \(schema).\"Person\"") == "2")
    #expect(
      try server.psql(
        "SELECT count(*) FROM pg_class WHERE relname LIKE '\\_dragoman\\_run%'"
          + " AND relnamespace = '\(schema)'::regnamespace"
      ) == "0"
    )
  }

  @Test("rejects retry: what goes in leaves the file, the rest stays with its reason")
  func rejects() throws {
    let url = try server.schema()
    let bad = #"{"firms": [], "people": [{"id": "x"}, {"id": "7y"}, {"id": 6}]}"#
    try folder.write(bad, to: "bad.json")
    try both(url, [["import", "m.map.yaml", "bad.json", "--rejects", "FILE"]])
    for name in ["of-file", "of-server"] {
      try folder.write(try folder.read(name).replacing("\"7y\"", with: "7"), to: name)
    }
    let runs = try both(url, [["rejects", "retry", "FILE", "m.map.yaml"]])
    #expect(runs[0].status == 3)
    #expect(try folder.read("of-server") == folder.read("of-file"))
    #expect(try folder.read("of-server").split(separator: "\n").count == 1)
  }

  @Test("--resume goes on behind the last batch that is committed, with the counts of the whole")
  func resumes() throws {
    let url = try server.schema()
    let people = (1...40).map {
      $0 == 23 ? #"{"id": "no"}"# : #"{"id": \#($0), "name": "n", "firm": null}"#
    }
    try folder.write(#"{"people": [\#(people.joined(separator: ", "))]}"#, to: "long.json")
    let batches = ["--commit", "batch", "--batch-size", "4", "--rejects", "FILE"]
    let runs = try both(
      url,
      [
        ["import", "m.map.yaml", "long.json", "--max-rejects", "0"] + batches,
        ["import", "m.map.yaml", "long.json", "--resume"] + batches,
        ["import", "m.map.yaml", "long.json", "--resume"] + batches,
      ]
    )
    #expect(runs.map(\.status) == [65, 3, 3])
    #expect(runs[1].errors.contains("went on behind 20 records"), "\(runs[1].errors)")
    #expect(try folder.read("of-server") == folder.read("of-file"))
    let ledger = "SELECT status, committed, inserted, rejected FROM"
    #expect(
      try server.psql("\(ledger) \(TestServer.schema(of: url))._dragoman_imports ORDER BY id")
        == "done|40|39|1\ndone|40|0|1"
    )
  }

  @Test(
    "A feed that was stopped is gone on with, also when others were imported and resumed meanwhile"
  )
  func resumesBeside() throws {
    let url = try server.schema()
    let people = (1...40).map { $0 == 23 ? #"{"id": "no"}"# : #"{"id": \#($0), "firm": null}"# }
    try folder.write(#"{"people": [\#(people.joined(separator: ", "))]}"#, to: "long.json")
    let batches = ["--commit", "batch", "--batch-size", "4", "--rejects", "r", "-d", url]
    let long = ["import", "m.map.yaml", "long.json"] + batches
    #expect(try folder.run(long + ["--max-rejects", "0"]).status == 65)
    #expect(try folder.run("history", "-d", url).output.contains("  stopped  "))
    for more in [["--resume"], []] {
      let other = try folder.run(
        ["import", "m.map.yaml", "all.json", "--commit", "batch", "-d", url] + more
      )
      #expect(other.status == 0, "\(other.errors)")
      #expect(other.errors.contains("nothing to resume") == !more.isEmpty)
    }
    let resumed = try folder.run(long + ["--resume"])
    #expect(resumed.errors.contains("went on behind 20 records"), "\(resumed.errors)")
    let again = try folder.run(long + ["--resume"])
    #expect(again.errors.contains("nothing to resume"), "\(again.errors)")
  }

  @Test("A contract compares a feed with the last one, and lets attributes come")
  func contracts() throws {
    let url = try server.schema()
    let map = """
      version: 1
      entities:
        Person:
          contract: evolve
          unique: id
          attributes: { id: { type: int64 }, name: { type: string } }
      """
    try folder.write(map, to: "m.map.yaml")
    try folder.write(#"[{"id": 1, "name": "a"}]"#, to: "1.json")
    try folder.write(#"[{"id": 2, "name": "b", "age": 7}]"#, to: "2.json")
    try folder.write(#"[{"id": 2, "name": "b", "age": 8}]"#, to: "3.json")
    for feed in ["1.json", "2.json", "2.json", "3.json"] {
      // What would change is told by what is known of earlier feeds, too.
      let diffs = try ["f.db", url].map { try folder.run("diff", "m.map.yaml", feed, "-d", $0) }
      #expect(diffs[0].status == diffs[1].status, "\(feed): \(diffs[1].errors)")
      #expect(diffs[0].output == diffs[1].output, "\(feed)")
      let isNoted = diffs.map { $0.errors.contains("it would be an attribute") }
      #expect(isNoted[0] == isNoted[1], "\(feed): \(diffs[1].errors)")
      let ours = try folder.run("import", "m.map.yaml", feed, "-d", "f.db")
      let theirs = try folder.run("import", "m.map.yaml", feed, "-d", url)
      #expect(theirs.status == ours.status && ours.status == 0, "\(theirs.errors)")
      #expect(theirs.errors.contains("age") == ours.errors.contains("age"), "\(theirs.errors)")
    }
    let ours = try folder.run("fetch", "Person", "-d", "f.db")
    #expect(try folder.run("fetch", "Person", "-d", url).output == ours.output)
    #expect(ours.output.contains("age"))
  }

  @Test("import --guess leaves a map, which the next import goes by and adds to")
  func guesses() throws {
    let url = try server.schema()
    try folder.write(#"[{"id": 1, "city": "Bern"}, {"id": 2, "city": "Wien"}]"#, to: "visits.json")
    try folder.write(#"[{"no": "a", "visits": 1}, {"no": "b", "visits": 2}]"#, to: "bills.json")
    for feed in ["visits.json", "bills.json", "visits.json"] {
      let ours = try folder.run("import", feed, "--guess", "-d", "postgres2.db")
      let theirs = try folder.run("import", feed, "--guess", "-d", url)
      #expect(theirs.status == 0 && ours.status == 0, "\(theirs.errors)")
    }
    let map = "postgres.\(TestServer.schema(of: url)).map.yaml"
    #expect(try folder.read(map) == folder.read("postgres2.map.yaml"))
    let count = try folder.run("fetch", "Visit", "--count", "-d", url)
    #expect(count.output == "2\n", "\(count.errors)")
  }

  @Test("watch tells what is there, and what another process commits")
  func watches() throws {
    let url = try server.schema()
    _ = try folder.run("import", "m.map.yaml", "all.json", "-q", "-d", url)
    let run = try folder.shell(
      """
      $D watch Person -d '\(url)' --columns id,name --sort id --interval 0.05 > seen &
      n=0; while ! grep -q '"id":5' seen && [ $((n+=1)) -lt 400 ]; do sleep 0.05; done
      $D delete Person --where 'id == 2' --yes -d '\(url)' > /dev/null
      n=0; while ! grep -q deleted seen && [ $((n+=1)) -lt 400 ]; do sleep 0.05; done
      kill -TERM $!
      cat seen
      """
    )
    #expect(run.output.contains(#""event":"deleted""#), "\(run.output) \(run.errors)")
  }

  @Test("A schema whose name needs quotes, a role without array_nulls: the same contents")
  func oddities() throws {
    try server.psql("CREATE SCHEMA \"We ird\"")
    let url = server.url(schema: "%22We%5C%20ird%22", more: "%20-carray_nulls%3Doff")
    let runs = try both(
      url,
      [["import", "m.map.yaml", "all.json"], ["import", "m.map.yaml", "all.json"]]
    )
    #expect(runs.map(\.status) == [0, 0])
    #expect(try server.psql("SELECT count(*) FROM \"We ird\".\"Person\" WHERE name IS NULL") == "4")
  }

  @Test(
    "A trigger that swallows rows is told, and nothing is kept",
    .enabled(if: TestServer.isPlain)
  )
  func swallowed() throws {
    let url = try server.schema()
    let schema = TestServer.schema(of: url)
    _ = try folder.run("import", "m.map.yaml", "all.json", "-q", "-d", url)
    try server.psql(
      "CREATE FUNCTION \(schema).no() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
        + " CREATE TRIGGER no BEFORE UPDATE ON \(schema).\"Firm\" FOR EACH ROW EXECUTE FUNCTION \(schema).no()"
    )
    try folder.write(#"{"firms": [{"code": "a", "name": "Omega"}]}"#, to: "new.json")
    let run = try folder.run("import", "m.map.yaml", "new.json", "-d", url)
    #expect(run.status == 74 && run.errors.contains("trigger"), "\(run.errors)")
  }

  @Test("What waits goes with its owner, and comes behind what is there in an ordered list")
  func waiting() throws {
    let url = try server.schema()
    let map = """
      version: 1
      entities:
        Firm:
          unique: id
          attributes: { id: { type: int64 } }
          deleteWhen: { from: op, equals: D }
          relationships:
            boss: { entity: Person, kind: toOne, key: { code: boss }, inverse: bossOf, onUnresolved: pending }
        Person:
          unique: code
          attributes: { code: { type: string } }
          relationships:
            bossOf: { entity: Firm, kind: toMany, inverse: boss }
            friends: { entity: Person, kind: toMany, key: { code: friends }, ordered: true, assign: union, onUnresolved: pending }
      sources:
        people: { format: json, entity: Person, records: people }
        firms: { format: json, entity: Firm, records: firms }
      """
    try folder.write(map, to: "w.map.yaml")
    try folder.write(
      #"{"firms": [{"id": 2, "boss": "é"}], "people": [{"code": "X", "friends": ["p1", "X", "Y"]}]}"#,
      to: "1.json"
    )
    try folder.write(
      #"{"firms": [{"id": 2, "op": "D"}], "people": [{"code": "é"}, {"code": "Y"}]}"#,
      to: "2.json"
    )
    for feed in ["1.json", "2.json"] {
      let ours = try folder.run("import", "w.map.yaml", feed, "-d", "f.db")
      let theirs = try folder.run("import", "w.map.yaml", feed, "-d", url)
      #expect(ours.status == 0 && theirs.status == 0, "\(theirs.errors)")
    }
    let schema = TestServer.schema(of: url)
    #expect(
      try server.psql(
        "SELECT string_agg(t.code, ',' ORDER BY l.position) FROM \(schema).\"Person_friends\" AS l"
          // Apart: Citus joins no two tables whose rows do not lie beside each other.
          + " JOIN (SELECT * FROM \(schema).\"Person\" OFFSET 0) AS t ON t._pk = l.target"
      ) == "X,Y"
    )
    #expect(try server.psql("SELECT count(*) FROM \(schema)._dragoman_pending") == "1")
  }

  @Test("What waits, and what an import did, is told in the same order")
  func order() throws {
    let url = try server.schema()
    try folder.write(
      """
      version: 1
      entities:
        A:
          unique: id
          attributes: { id: { type: int64 }, v: { type: int32 } }
          relationships: { parts: { entity: A, kind: toMany, key: { id: parts }, onUnresolved: pending } }
      """,
      to: "o.map.yaml"
    )
    try folder.write(
      #"[{"id":0,"v":1,"parts":[90,80]},{"id":1,"v":1,"parts":[60,50]},{"id":2,"v":2,"parts":[40]}]"#,
      to: "1.json"
    )
    try folder.write(
      #"[{"id":3,"parts":[4]},{"id":1,"v":7,"parts":[61,50]},{"id":0,"v":5}]"#,
      to: "2.json"
    )
    for feed in ["1.json", "2.json"] {
      for database in ["f.db", url] {
        #expect(try folder.run("import", "o.map.yaml", feed, "-d", database).status == 0)
      }
    }
    let infos = try ["f.db", url].map { try folder.run("info", "--all", "-d", $0) }
    let told = infos.map { run in
      run.output.split(separator: "\n").filter { $0.contains(" -> A  id ") }
    }
    #expect(told[0] == told[1] && told[0].count == 6, "\(told)")
    // Citus records nothing.
    guard TestServer.isPlain else { return }
    let histories = try ["f.db", url].map { try folder.run("history", "--changes", "2", "-d", $0) }
    #expect(histories[0].output == histories[1].output)
    let kinds = histories[0].output.split(separator: "\n").map { $0.prefix { $0 != "," } }
    #expect(
      kinds == [#"{"change":"updated""#, #"{"change":"updated""#, #"{"change":"inserted""#]
    )
  }

  @Test(
    "What is no file is not taken for one, and no message shows a password",
    arguments: [
      "host=127.0.0.1 password=hunter2", "mysql://u:hunter2@h/db",
      "postgresql+psycopg://u:hunter2@h/db",
      "postgresql://u:hun@ter2@127.0.0.1:1/db", "postgresql://u:hun/ter2@127.0.0.1:1/db",
      "postgresql://u:hun?ter2@127.0.0.1:1/db", "POSTGRESQL://u:hunter2@127.0.0.1:1/db",
    ]
  )
  func secrets(database: String) throws {
    let run = try folder.run("import", "m.map.yaml", "all.json", "-d", database)
    #expect(run.status == 64 || run.status == 69, "\(run.errors)")
    #expect(!run.errors.contains("hun") && !run.errors.contains("ter2"), "\(run.errors)")
    #expect(try folder.files == ["all.json", "m.map.yaml"])
  }
}
