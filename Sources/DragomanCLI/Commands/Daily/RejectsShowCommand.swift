import ArgumentParser
import Dragoman
import DragomanGraph
import Foundation

/// `dragoman rejects show FILE`: what a rejects file holds, by reason.
struct RejectsShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract:
      "Print what a rejects file holds: counts by code and attribute, with a first example.",
    discussion: """
      `dragoman explain CODE` says what a code means.

      Exit codes: 0 done, 65 no rejects file, 66 no such file.
      """
  )

  @Argument(help: "The rejects file.", completion: .file())
  var file: String

  @Flag(help: "Print one JSON document on standard output.")
  var json = false

  func run() throws {
    let groups = try RejectGroups(of: file)
    if json { return try OutputBuffer.print(groups.json()) }
    let output = OutputBuffer(descriptor: STDOUT_FILENO)
    do {
      try groups.write(to: output, columnCount: Terminal.columnCount(of: STDOUT_FILENO))
      try output.flush()
    } catch let error as OutputError where error.isClosedPipe {
      // Whoever read has enough.
    }
  }
}
