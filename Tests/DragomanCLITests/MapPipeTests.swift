import Foundation
import Testing

/// Maps and databases under names that are no files.
@Suite struct MapPipeTests {
  private let folder: ToolFolder

  init() throws {
    folder = try ToolFolder()
    try folder.write(
      "version: 1\nentities: { P: { unique: id, attributes: { id: id } } }\n",
      to: "m.map.yaml"
    )
    try folder.write(#"[{"id":"1"}]"#, to: "p.json")
    try #require(mkfifo(folder.url.appendingPathComponent("pipe").path, 0o600) == 0)
  }

  @Test(
    "A map comes out of a pipe that somebody writes into",
    arguments: [
      "cat m.map.yaml | \"$D\" check /dev/stdin", "\"$D\" check /dev/stdin < m.map.yaml",
      "{ sleep 1.5; cat m.map.yaml; } | \"$D\" check /dev/stdin",
      "cat m.map.yaml > pipe & \"$D\" check pipe",
      "{ sleep 1.5; cat m.map.yaml; } > pipe & \"$D\" check pipe",
    ]
  )
  func piped(line: String) throws {
    let run = try folder.shell(line)
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.output.hasSuffix(": no faults, no warnings\n"))
  }

  @Test(
    "What can never be a map or a database is told, and nobody waits",
    arguments: [
      (["check", "pipe"], 66, "nobody writes into it"), (["check", "."], 66, "it is a folder"),
      (["check", "/dev/zero"], 66, "neither a file nor a pipe"),
      (["import", "pipe", "p.json", "-d", "p.db"], 66, "nobody writes into it"),
      (["info", "-d", "pipe"], 69, "no regular file"),
      (["import", "m.map.yaml", "p.json", "-d", "pipe"], 69, "no regular file"),
      (["import", "m.map.yaml", "p.json", "-d", "p.db", "--rejects", "pipe"], 73, "cannot be"),
    ]
  )
  func nobody(arguments: [String], status: Int, message: String) throws {
    let run = try folder.run(arguments)
    #expect(run.status == Int32(status))
    #expect(run.errors.contains(message), "\(run.errors)")
  }
}
