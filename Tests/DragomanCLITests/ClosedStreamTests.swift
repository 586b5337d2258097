import Foundation
import Testing

/// Standard streams that are closed, full or read by nobody.
@Suite(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "there is no /dev/full"))
struct ClosedStreamTests {
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
    try folder.write(#"[{"id":1,"name":"Ada"}]"#, to: "good.json")
    try folder.write(#"[{"id":2,"name":"Bo"},{"id":"x"}]"#, to: "dirty.json")
    _ = try folder.run("import", "-q", "m.map.yaml", "good.json", "-d", "p.db")
  }

  private static let unheard = ["2>&-", "2>/dev/full", "2>&- >&- <&-", "2>&1 | true"]

  @Test("Messages that cannot be written change nothing", arguments: unheard)
  func messages(redirection: String) throws {
    for (command, status) in [
      ("import m.map.yaml good.json -d new.db", 0), ("import m.map.yaml dirty.json -d new.db", 3),
      ("import m.map.yaml good.json -d new.db -v", 0),
      ("import m.map.yaml good.json -d new.db --progress bar", 0),
      ("import m.map.yaml good.json -d new.db --progress json", 0),
      ("import m.map.yaml none.json -d new.db", 66),
      ("export m.map.yaml -d p.db -o out.json", 0), ("backup -d p.db b.db", 0), ("nonsense", 64),
      ("fetch Person -d none.db", 66),
    ] {
      let run = try folder.shell(
        "{ \"$D\" \(command); echo $? > status; } \(redirection); test -s status"
      )
      #expect(run.status == 0)
      #expect(try folder.read("status") == "\(status)\n", "\(command) \(redirection)")
    }
    #expect(try folder.run("fetch", "Person", "-d", "new.db", "--count").output == "2\n")
  }

  @Test("No message lands in the database, which would be the first free descriptor")
  func descriptors() throws {
    let run = try folder.shell("\"$D\" import m.map.yaml dirty.json -d new.db -v <&- >&- 2>&-")
    #expect(run.status == 3)
    #expect(
      try folder.run("fetch", "Person", "-d", "new.db").output == "{\"id\":2,\"name\":\"Bo\"}\n"
    )
    let bytes = try Data(contentsOf: folder.url.appendingPathComponent("new.db"))
    #expect(bytes.range(of: Data("rejected".utf8) + Data("  1".utf8)) == nil)
  }

  @Test(
    "Output that cannot be written is an error of its own",
    arguments: [
      "fetch Person -d p.db", "fetch Person -d p.db --count", "export m.map.yaml -d p.db",
      "info -d p.db", "history -d p.db", "schema -d p.db", "schema -m m.map.yaml",
      "check m.map.yaml", "check m.map.yaml --json", "migrate m.map.yaml -d p.db",
      "diff m.map.yaml dirty.json -d p.db", "watch Person -d p.db",
      "import m.map.yaml good.json -d p.db --json", "--help", "import --help", "--version",
    ]
  )
  func output(command: String) throws {
    for redirection in [">/dev/full", ">&-"] {
      let run = try folder.shell("\"$D\" \(command) \(redirection)")
      #expect(run.status == 74, "\(redirection): \(run.errors)")
      #expect(run.errors.contains("io]: The output cannot be written: "), "\(run.errors)")
    }
  }

  @Test("What was taken back is told, also where the document cannot be written")
  func undo() throws {
    let run = try folder.shell("\"$D\" undo -d p.db --json >/dev/full")
    #expect(run.status == 74 && run.errors.hasPrefix("Took back import 1 "), "\(run.errors)")
  }

  @Test("A closed standard input is an error, not an empty feed")
  func input() throws {
    let run = try folder.shell("\"$D\" import m.map.yaml - -d p.db <&-")
    #expect(run.status == 74)
    #expect(run.errors.hasPrefix("error[input.io]: Reading standard input failed"))
  }

  @Test("A reader that has enough changes no exit code")
  func closedPipe() throws {
    for (command, status) in [
      ("import -q m.map.yaml dirty.json -d p.db --json", 3), ("check m.map.yaml --json", 0),
      ("migrate m.map.yaml -d p.db", 0), ("fetch Person -d p.db", 0),
    ] {
      let run = try folder.shell("{ sleep 0.2; \"$D\" \(command); echo $? > status; } | true; wait")
      #expect(run.errors.contains("output.io") == false)
      while (try? folder.read("status"))?.isEmpty != false { usleep(10_000) }
      #expect(try folder.read("status") == "\(status)\n", "\(command)")
      try FileManager.default.removeItem(at: folder.url.appendingPathComponent("status"))
    }
  }
}
