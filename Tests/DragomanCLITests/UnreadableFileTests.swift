import Foundation
import Testing

/// A database on a disk that fails, run under `strace`, which lets reads fail.
@Suite struct UnreadableFileTests {
  private static let strace = "/usr/bin/strace"

  @Test("A read that the system refuses is failing I/O and never a damaged file")
  func readsThatFail() throws {
    let folder = try ToolFolder()
    try folder.write(
      """
      version: 1
      entities:
        P: { unique: id, attributes: { id: { type: int64 }, name: { index: true } } }
      """,
      to: "m.map.yaml"
    )
    let records = (0..<2000).map { "{\"id\":\($0),\"name\":\"name \($0)\"}" }
    try folder.write("[\(records.joined(separator: ","))]", to: "p.json")
    _ = try folder.run("import", "m.map.yaml", "p.json", "-d", "p.db", "-q")
    guard FileManager.default.isExecutableFile(atPath: Self.strace),
      try strace(folder, failingFrom: 1_000_000, ["info", "-d", "p.db"]).status == 0
    else {
      print("passed over: reads that fail; there is no strace that may trace")
      return
    }
    let commands = [
      ["info", "-d", "p.db"], ["history", "-d", "p.db"], ["fetch", "P", "-d", "p.db"],
      ["diff", "m.map.yaml", "p.json", "-d", "p.db"], ["backup", "-d", "p.db", "copy.db"],
      ["export", "m.map.yaml", "-d", "p.db"],
    ]
    for command in commands {
      var failures = 0
      // The first reads are those of the libraries.
      for number in [4, 5, 6, 7, 8, 9, 10, 12, 16, 20] {
        let run = try strace(folder, failingFrom: number, command)
        guard run.status != 0, run.status != 127 else { continue }
        failures += 1
        #expect(run.status == 74, "\(command[0]) \(number): \(run.errors)")
        #expect(run.errors.hasPrefix("error[store.io]: "), "\(command[0]) \(number): \(run.errors)")
      }
      #expect(failures > 0, "\(command[0])")
    }
  }

  private func strace(
    _ folder: ToolFolder,
    failingFrom number: Int,
    _ arguments: [String]
  ) throws -> ToolFolder.Run {
    let inject = "inject=pread64:error=EIO:when=\(number)+"
    return try folder.run(
      ["-f", "-o", "/dev/null", "-e", "trace=pread64", "-e", inject, ToolFolder.tool.path]
        + arguments,
      tool: URL(fileURLWithPath: Self.strace)
    )
  }
}
