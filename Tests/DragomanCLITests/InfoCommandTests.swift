import Foundation
import Testing

/// `dragoman info`, `history` and `schema`, run as a user runs them.
@Suite struct InfoCommandTests {
  private let folder: ToolFolder
  private static let map = """
    version: 1
    name: staff
    entities:
      Person:
        unique: id
        attributes: { id: { type: int64 }, name: { index: true } }
        relationships:
          badge: { entity: Badge, kind: toOne, key: { code: badge }, onUnresolved: pending }
          boss: { entity: Person, kind: toOne, key: { id: boss }, inverse: reports, onUnresolved: stub }
      Badge: { unique: code, attributes: { code: { sensitive: true } } }
    sources: { people: { format: json, entity: Person } }
    """

  init() throws {
    folder = try ToolFolder()
    try folder.write(Self.map, to: "m.map.yaml")
    let people = (1...7).map { #"{"id":\#($0),"name":"P\#($0)","boss":\#(100 + $0),"badge":"b"}"# }
    try folder.write("[\(people.joined(separator: ","))]", to: "p.json")
    _ = try folder.run("import", "m.map.yaml", "p.json", "-d", "p.db", "-q")
  }

  @Test("Info counts everything, lists the first of what waits, and masks sensitive keys")
  func text() throws {
    let info = try folder.run("info", "-d", "p.db")
    #expect(info.status == 0)
    #expect(info.errors.isEmpty)
    var lines = info.output.split(separator: "\n").map(String.init)
    #expect(lines.first?.wholeMatch(of: /p\.db: [0-9.]+ kB, format 1, 1 import/) != nil)
    let stamp = try #require(lines.firstIndex { $0.contains(" UTC, ") })
    #expect(
      lines[stamp].wholeMatch(
        of: #/  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, done: p\.json by staff/#
      ) != nil
    )
    lines.remove(at: stamp)
    #expect(
      lines.dropFirst().joined(separator: "\n") == """
        entities
          Person  14  unique id; index name; 7 stubs
          Badge    0  unique code
        relationships
          Person.badge    0  to one Badge; 7 pending
          Person.boss     7  to one Person
          Person.reports  7  to many Person
        stubs
          Person  id 101
          Person  id 102
          Person  id 103
          Person  id 104
          Person  id 105
          and 2 more (--all lists them)
        pending references
          Person.badge  id 1 -> Badge  code •••
          Person.badge  id 2 -> Badge  code •••
          Person.badge  id 3 -> Badge  code •••
          Person.badge  id 4 -> Badge  code •••
          Person.badge  id 5 -> Badge  code •••
          and 2 more (--all lists them)
        last import
          read 7, inserted 7
        """
    )
    let all = try folder.run("info", "-d", "p.db", "--all")
    #expect(all.output.contains("\n  Person  id 107\n"))
    #expect(all.output.contains("\n  Person.badge  id 7 -> Badge  code •••\n"))
    #expect(!all.output.contains("more"))
  }

  @Test("Info as JSON is one document with the same figures")
  func json() throws {
    let info = try folder.run("info", "-d", "p.db", "--json")
    #expect(info.status == 0)
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(info.output.utf8)) as? [String: Any]
    )
    #expect(document["v"] as? Int == 1)
    #expect(document["file"] as? String == "p.db")
    #expect(document["stubCount"] as? Int == 7)
    #expect(document["pendingCount"] as? Int == 7)
    #expect(
      info.output.contains(
        #""entities":[{"name":"Person","parent":null,"table":"Person","objects":14,"stubs":7,"#
          + #""uniqueKeys":[["id"]],"indexes":[["name"]]},"#
      )
    )
    #expect(
      info.output.contains(
        #""stubs":[{"entity":"Person","id":"dragoman:///Person/8","key":{"id":101}},"#
      )
    )
    #expect(
      info.output.contains(
        #""pending":[{"relationship":"Person.badge","owner":"dragoman:///Person/1","#
          + #""ownerKey":{"id":1},"target":"Badge","key":{"code":"•••"}},"#
      )
    )
    #expect((document["lastImport"] as? [String: Any])?["inserted"] as? Int == 7)
  }

  @Test("The history is a table with the counts that are not 0, or one JSON document")
  func history() throws {
    _ = try folder.run("import", "m.map.yaml", "p.json", "-d", "p.db", "-q")
    let table = try folder.run("history", "-d", "p.db")
    #expect(table.status == 0)
    let stamp = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/
    #expect(
      table.output.replacing(stamp, with: "yyyy-MM-dd HH:mm:ss") == """
        id  started              status  map    read  inserted  unchanged  source
        ──  ───────────────────  ──────  ─────  ────  ────────  ─────────  ──────
         1  yyyy-MM-dd HH:mm:ss  done    staff     7         7          0  p.json
         2  yyyy-MM-dd HH:mm:ss  done    staff     7         0          7  p.json

        """
    )
    let json = try folder.run("history", "-d", "p.db", "--limit", "1", "--json")
    #expect(json.output.hasPrefix(#"{"imports":[{"bytes":"#))
    #expect(json.output.hasSuffix(#","status":"done","unchanged":7,"updated":0}],"v":1}"# + "\n"))
  }

  @Test("The schema of a map is that of the database it makes", arguments: ["text", "json", "sql"])
  func sameSchema(format: String) throws {
    let map = try folder.run("schema", "-m", "m.map.yaml", "-f", format)
    let database = try folder.run("schema", "-d", "p.db", "-f", format)
    #expect(map.status == 0)
    #expect(map.output == database.output)
  }

  @Test(
    "The schema has five formats",
    arguments: [
      (
        "text",
        """
        Person
          id       int64, required
          name     string, indexed
          badge    to one Badge
          boss     to one Person, inverse reports
          reports  to many Person, inverse boss
          unique id

        Badge
          code  string, required, sensitive
          unique code

        """
      ),
      (
        "sql",
        """
        CREATE TABLE "Person" (_pk INTEGER PRIMARY KEY, _v INTEGER, _stub INTEGER, "id" INTEGER, \
        "name" TEXT, "badge" INTEGER REFERENCES "Badge" (_pk) DEFERRABLE INITIALLY DEFERRED, \
        "boss" INTEGER REFERENCES "Person" (_pk) DEFERRABLE INITIALLY DEFERRED);
        CREATE TABLE "Badge" (_pk INTEGER PRIMARY KEY, _v INTEGER, "code" TEXT);
        CREATE UNIQUE INDEX "Person_unique_id" ON "Person" ("id");
        CREATE INDEX "Person_name" ON "Person" ("name");
        CREATE INDEX "Person_badge" ON "Person" ("badge");
        CREATE INDEX "Person_boss" ON "Person" ("boss");
        CREATE UNIQUE INDEX "Badge_unique_code" ON "Badge" ("code");

        """
      ),
      (
        "mermaid",
        """
        erDiagram
          e0["Person"] {
            int64 id UK
            string name
          }
          e1["Badge"] {
            string code UK
          }
          e0 }o--o| e1 : "badge"
          e0 }o--o| e0 : "boss / reports"

        """
      ),
      (
        "dot",
        """
        digraph model {
          rankdir=LR;
          node [shape=box];
          e0 [label="Person\\nid: int64\\lname: string\\l"];
          e1 [label="Badge\\ncode: string\\l"];
          e0 -> e1 [label="badge", arrowhead=normal];
          e0 -> e0 [label="boss / reports", arrowhead=normal, dir=both, arrowtail=crow];
        }

        """
      ),
    ]
  )
  func schema(format: String, expected: String) throws {
    let schema = try folder.run("schema", "-m", "m.map.yaml", "-f", format)
    #expect(schema.status == 0)
    #expect(schema.output == expected)
  }

  @Test(
    "What is missing or contradictory is told with its exit code",
    arguments: [
      (["info", "-d", "none.db"], 66, "error[store.missing]: none.db: There is no such database."),
      (["history", "-d", "none.db"], 66, "error[store.missing]: none.db"),
      (["info", "-d", "p.json"], 65, "error[store.foreign]: p.json"),
      (["schema", "-d", "p.db", "-m", "m.map.yaml"], 64, "Error: Name either a map"),
      (["schema"], 64, "error[tool.database]: Which database?"),
    ]
  )
  func errors(arguments: [String], status: Int32, text: String) throws {
    let run = try folder.run(arguments)
    #expect(run.status == status)
    #expect(run.output.isEmpty)
    #expect(run.errors.hasPrefix(text))
  }
}
