import Foundation
import TestServer
import Testing

/// Processes that write into one database on a server at once, and those that end in the middle.
@Suite("Several processes on a server", .enabled(if: TestServer.isThere))
struct ServerWorkerTests {
  private static let map = """
    version: 1
    entities:
      Firm:
        unique: code
        attributes: { code: { type: string }, name: { type: string } }
        relationships:
          staff: { entity: Person, kind: toMany, inverse: firm }
      Person:
        unique: id
        attributes: { id: { type: int64 }, name: { type: string } }
        relationships:
          firm: { entity: Firm, kind: toOne, from: firm, inverse: staff }
          boss: { entity: Person, kind: toOne, key: { id: boss } }
          friends: { entity: Person, kind: toMany, key: { id: friends }, ordered: true, onUnresolved: clear }
    sources:
      people: { format: json, entity: Person }
    """
  private let folder: ToolFolder
  private let server: TestServer

  init() throws {
    folder = try ToolFolder()
    server = try #require(TestServer.shared)
    try folder.write(Self.map, to: "m.map.yaml")
    try folder.write(Self.feed(400), to: "feed.json")
    _ = try folder.run("import", "m.map.yaml", "feed.json", "-q", "-d", "f.db")
  }

  /// People of firms that lead to earlier and to later ones, some of them to nobody.
  static func feed(_ count: Int) -> String {
    let records = (0..<count).map { number -> String in
      let friends = (0..<number % 3).map { "\((number * 7 + $0 * 31) % (count + 20))" }
      return #"{"id": \#(number), "name": "n\#(number)", "boss": \#((number * 5) % (count + 20)), "#
        + #""firm": {"code": "f\#(number % 9)", "name": "Firm \#(number % 9)"}, "#
        + #""friends": [\#(friends.joined(separator: ", "))]}"#
    }
    return "[\(records.joined(separator: ",\n"))]"
  }

  /// The contents are those of the file.
  private func same(_ url: String, _ comment: Comment) throws {
    for command in [
      ["fetch", "Person", "--columns", "id,name,firm.code,boss.id", "--sort", "id"],
      ["fetch", "Firm", "--columns", "code,name", "--sort", "code"],
      ["export", "m.map.yaml", "--entity", "Person", "-q"],
    ] {
      let ours = try folder.run(command + ["-d", "f.db"])
      let theirs = try folder.run(command + ["-d", url])
      #expect(ours.status == 0 && theirs.output == ours.output, comment)
    }
    let schema = TestServer.schema(of: url)
    #expect(
      try server.psql(
        "SELECT count(*) FROM pg_class WHERE relname LIKE '\\_dragoman\\_run%'"
          + " AND relnamespace = '\(schema)'::regnamespace"
      ) == "0",
      comment
    )
  }

  @Test("Four processes with a partition each: the contents of one, and the history has four rows")
  func partitions() throws {
    let url = try server.schema()
    let run = try folder.shell(
      """
      for i in 1 2 3 4; do
        ( $D import m.map.yaml feed.json -d '\(url)' --partition $i/4 --batch-size 20 -q 2>>errors; echo $? >end$i ) &
      done
      # The test runner's threads leave no signals for `wait`.
      for i in 1 2 3 4; do while [ ! -s end$i ]; do sleep 0.05; done; done
      cat end? errors
      """
    )
    #expect(run.output == "0\n0\n0\n0\n", "\(run.output)")
    try same(url, "partitions")
    // One that was over, and is begun again, waits for nobody.
    let again = try folder.run(
      "import",
      "m.map.yaml",
      "feed.json",
      "-d",
      url,
      "--partition",
      "4/4",
      "-q"
    )
    #expect(again.status == 0, "\(again.errors)")
    try same(url, "again")
    let schema = TestServer.schema(of: url)
    #expect(
      try server.psql("SELECT source FROM \(schema)._dragoman_imports ORDER BY source")
        == [1, 2, 3, 4, 4].map { "feed.json (partition \($0)/4)" }.joined(separator: "\n")
    )
  }

  @Test("--workers is one command, one report, and the same contents")
  func workers() throws {
    let url = try server.schema()
    let run = try folder.run(
      "import",
      "m.map.yaml",
      "feed.json",
      "-d",
      url,
      "--workers",
      "3",
      "--batch-size",
      "20",
      "--json"
    )
    #expect(run.status == 0, "\(run.errors)")
    #expect(
      run.output.contains(#""read":400"#) || run.output.contains(#""read": 400"#),
      "\(run.output)"
    )
    try same(url, "workers")
    for (arguments, words) in [
      (["--workers", "2", "--partition", "1/2"], "not both"), (["--workers", "0"], "1 to 64"),
      (["--partition", "3/2"], "3/2"), (["--workers", "2", "--prune"], "cannot prune"),
    ] {
      let run = try folder.run(["import", "m.map.yaml", "feed.json", "-d", url] + arguments)
      #expect(run.status != 0 && run.errors.contains(words), "\(run.errors)")
    }
    let file = try folder.run("import", "m.map.yaml", "feed.json", "-d", "g.db", "--workers", "2")
    #expect(file.status == 64 && file.errors.contains("A file has one writer"), "\(file.errors)")
    #expect(try !folder.files.contains("g.db"))
  }

  @Test("A partition that is killed is gone on with by --resume, while the others go on")
  func killed() throws {
    let url = try server.schema()
    let schema = TestServer.schema(of: url)
    let run = try folder.shell(
      """
      ( sh -c "echo \\$\\$ >pid; exec $D import m.map.yaml feed.json -d '\(url)' --partition 1/3 --batch-size 2 -q"
        echo $? >victim ) &
      n=0
      while ! $D history -d '\(url)' 2>/dev/null | grep -q running && [ $((n+=1)) -lt 400 ]; do :; done
      kill -KILL $(cat pid)
      while [ ! -s victim ]; do sleep 0.05; done
      echo "victim $(cat victim)"
      for i in 2 3; do $D import m.map.yaml feed.json -d '\(url)' --partition $i/3 --batch-size 10 -q || echo failed; done
      $D import m.map.yaml feed.json -d '\(url)' --partition 1/3 --batch-size 10 --resume -q || echo failed
      """
    )
    #expect(!run.output.contains("failed"), "\(run.output) \(run.errors)")
    try same(url, "\(run.output) \(run.errors)")
    let rows = try server.psql(
      "SELECT count(*), count(*) FILTER (WHERE status = 'done') FROM \(schema)._dragoman_imports"
    )
    // Where it was killed before its first commit, nothing tells of it; where it was done by then, it has run twice.
    let expected = run.output.hasPrefix("victim 0\n") ? "4|4" : "3|3"
    #expect(rows == expected, "\(rows) \(run.output)")
  }
}
