import ArgumentParser
import Dragoman
import DragomanGraph
import Foundation

/// `dragoman undo -d DB [RUN]`: takes an import back.
struct UndoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "undo",
    abstract: "Take an import back: all objects are as before it.",
    discussion: """
      What an import does is recorded with it, for the last ten that changed something (see import \
      --record). An object that was changed since is named, and nothing is done then. An undo is in the \
      history, too, and can be taken back itself.

      Exit codes: 0 done, 64 no such import, 65 cannot be taken back, 66 no such database, 75 database \
      busy or the import still running.
      """
  )

  @OptionGroup
  var databaseOptions: DatabaseOptions

  @Argument(
    help: ArgumentHelp(
      "The import, by its number in the history; the last one without.",
      valueName: "run"
    )
  )
  var number: Int64?

  @Flag(help: "Do everything and keep nothing; print what would change on standard output.")
  var dryRun = false

  @Flag(help: "Print one JSON document on standard output; with --dry-run the changes as NDJSON.")
  var json = false

  @Flag(name: .shortAndLong, help: "Print nothing but errors.")
  var quiet = false

  mutating func run() throws {
    try databaseOptions.resolve()
    let output = OutputBuffer(descriptor: STDOUT_FILENO)
    let writer = ChangeWriter(json ? .ndjson : .onTerminal, to: output)
    if dryRun { SignalWatch.removesTemporaryFolders() }
    let report: UndoReport
    do {
      report = try undo { try writer.write($0) }
      try writer.flush()
    } catch let error as OutputError where error.isClosedPipe {
      // Whoever read has enough.
      return
    }
    // It is done, also where the document cannot be written.
    if report.isPossible, !quiet { Messages.print(UndoText.text(report, isDryRun: dryRun)) }
    if json, !dryRun { try OutputBuffer.print(JSONDocument.text(UndoReportJSON(report)) + "\n") }
    if !report.isPossible { throw ToolError(report) }
  }

  /// Takes the import back, or tells what that would change.
  private func undo(_ changes: (ImportChange) throws -> Void) throws -> UndoReport {
    if let server = try databaseOptions.server?.store() {
      defer { server.end() }
      guard dryRun else { return try server.undoImport(number) }
      return try withoutActuallyEscaping(changes) { changes in
        try server.undoImport(number, previewing: changes)
      }
    }
    let options = SQLiteStore.Options(createsFile: false, readsConcurrently: false)
    let store = try databaseOptions.open(options)
    let report =
      dryRun ? try store.previewUndo(number, changes: changes) : try store.undoImport(number)
    try store.close()
    return report
  }
}
