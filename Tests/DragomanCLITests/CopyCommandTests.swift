import Foundation
import TestServer
import Testing

/// `dragoman copy`, as its users call it.
@Suite("Copying")
struct CopyCommandTests {
  private let folder: ToolFolder

  init() throws {
    folder = try ToolFolder()
    try folder.write(
      """
      version: 1
      entities:
        City: { unique: name, attributes: { name: { type: string } } }
        Person:
          unique: id
          attributes: { id: { type: int64 }, name: { type: string } }
          relationships: { city: { entity: City, kind: toOne, key: { name: city }, onUnresolved: stub } }
      sources:
        people: { format: json, entity: Person }
      """,
      to: "p.map.yaml"
    )
    try folder.write(#"[{"id": 1, "name": "Ana", "city": "Rome"}, {"id": 2}]"#, to: "p.json")
    #expect(try folder.run("import", "p.map.yaml", "p.json", "-d", "p.db").status == 0)
  }

  @Test("A file is copied; the report says what, and the second time it is not replaced")
  func file() throws {
    let copied = try folder.run("copy", "-d", "p.db", "-d", "q.db")
    #expect(copied.status == 0 && copied.output == "")
    for line in [
      "Copied p.db to q.db", "  Person  2 objects", "  City    1 object",
      "  1 import in the history",
    ] {
      #expect(copied.errors.contains(line), "\(line) in \(copied.errors)")
    }
    let again = try folder.run("copy", "-d", "p.db", "-d", "q.db")
    #expect(again.status == 73 && again.errors.contains("error[store.output]"))
    #expect(
      try folder.run("fetch", "Person", "-d", "q.db").output
        == folder.run("fetch", "Person", "-d", "p.db").output
    )
    let json = try folder.run("copy", "-d", "p.db", "-d", "r.db", "--json", "--entity", "City")
    let document = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
    #expect(document?["objects"] as? Int == 1 && json.errors == "")
    let quiet = try folder.run("copy", "-d", "p.db", "-d", "s.db", "-q")
    #expect(quiet.status == 0 && quiet.output + quiet.errors == "")
  }

  @Test("Usage: two databases, entities that are there")
  func usage() throws {
    for arguments in [
      ["copy"], ["copy", "-d", "p.db"], ["copy", "-d", "p.db", "-d", "a", "-d", "b"],
    ] {
      let answer = try folder.run(arguments)
      #expect(answer.status == 64 && answer.errors.contains("Two databases"), "\(arguments)")
    }
    let entity = try folder.run("copy", "-d", "p.db", "-d", "q.db", "--entity", "Citi")
    #expect(entity.status == 64 && entity.errors.contains("did you mean \"City\"?"))
    let scheme = try folder.run("copy", "-d", "p.db", "-d", "mysql://secret@x/y")
    #expect(scheme.status == 64 && !scheme.errors.contains("secret"))
    #expect(try folder.run("copy", "-d", "none.db", "-d", "q.db").status == 66)
    let stream = try folder.run("copy", "-d", "p.db", "-d", "-")
    #expect(stream.status == 64 && stream.errors.contains("no stream"))
    let folderless = try folder.run("copy", "-d", "p.db", "-d", "none/q.db")
    #expect(folderless.status == 73 && folderless.errors.contains("error[store.output]"))
  }

  @Test("To a server and back", .enabled(if: TestServer.isThere))
  func server() throws {
    let url = try #require(TestServer.shared).schema()
    let there = try folder.run("copy", "-d", "p.db", "-d", url)
    #expect(there.status == 0, "\(there.errors)")
    #expect(
      try folder.run("fetch", "Person", "-d", url).output
        == folder.run("fetch", "Person", "-d", "p.db").output
    )
    #expect(try folder.run("copy", "-d", url, "-d", "back.db").status == 0)
    #expect(
      try folder.run("export", "p.map.yaml", "-d", "back.db", "-o", "-").output
        == folder.run("export", "p.map.yaml", "-d", "p.db", "-o", "-").output
    )
  }

  @Test(
    "A file that may not grow ends copies and backups with 74, and leaves nothing",
    .disabled(
      if: ProcessInfo.processInfo.environment["DRAGOMAN_SANITIZER"] == "thread",
      "the thread sanitizer maps files that are larger"
    ),
    arguments: ["copy", "backup"]
  )
  func limited(command: String) throws {
    let text = String(repeating: "x", count: 4_000)
    let people = (1...200).map { #"{"id": \#($0), "name": "\#(text)"}"# }
    try folder.write("[\(people.joined(separator: ","))]", to: "many.json")
    #expect(try folder.run("import", "p.map.yaml", "many.json", "-d", "p.db", "-q").status == 0)
    let target = command == "copy" ? "-d q.db" : "q.db"
    let run = try folder.shell("ulimit -f 200; $D \(command) -d p.db \(target); echo $?")
    #expect(run.output == "74\n", "\(run.output) \(run.errors)")
    #expect(try folder.files.filter { $0.hasPrefix("q.db") } == [])
    #expect(try folder.shell("$D \(command) -d p.db \(target) -q; echo $?").output == "0\n")
  }
}
