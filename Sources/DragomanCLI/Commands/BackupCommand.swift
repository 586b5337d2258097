import ArgumentParser
import Dragoman
import DragomanGraph
import Foundation

/// `dragoman backup -d DB FILE`: copies a database that may be in use.
struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy a database into a file, also while it is in use.",
    discussion: """
      The copy is of one moment, and is there as a whole or not at all. An older backup is replaced; \
      what no backup made or was changed since only with --overwrite, the database itself and a \
      database in use never.

      Exit codes: 0 done, 66 no such database, 73 the file cannot be made or may not be replaced, \
      74 I/O error or disk full, 75 database busy; 129, 130, 143 stopped by a signal.
      """
  )

  @OptionGroup
  var databaseOptions: FileDatabaseOptions

  @Argument(help: "The file of the copy.")
  var file: String

  @Flag(help: "Replace the file though no backup made it.")
  var overwrite = false

  @Flag(name: .shortAndLong, help: "Print nothing but errors.")
  var quiet = false

  func validate() throws {
    if file == "-" || file.isEmpty { throw ValidationError("A backup is a file: name it.") }
  }

  mutating func run() throws {
    let database = try databaseOptions.resolved()
    let start = ContinuousClock().now
    let store = try database.openFile(
      for: "dragoman backup",
      SQLiteStore.Options(isReadOnly: true, createsFile: false),
      help: "pg_dump copies a database of PostgreSQL"
    )
    let signals = SignalWatch {}
    let result = Result { () throws(StoreError) in
      try store.backup(to: file, overwrites: overwrite) { signals.received != nil }
    }
    if case .failure(let error) = result, error.code == .stopped {
      Messages.print("Stopped. Nothing was made.\n")
      throw ExitCode(128 + (signals.received ?? SIGINT))
    }
    signals.end()
    let backup = try result.get()
    try store.close()
    guard !quiet else { return }
    let seconds = Figures.seconds(ContinuousClock().now - start)
    Messages.print(
      "Backed up \(database.shown) to \(file): \(Figures.count(backup.pageCount, "page"))"
        + " (\(Figures.bytes(backup.byteCount))) in \(Figures.decimals(seconds, 2)) s\n"
    )
    if !backup.isMarked {
      Messages.print(
        "note: \(file) cannot be marked as a backup: the next one over it wants --overwrite\n"
      )
    }
  }
}
