import ArgumentParser
import Dragoman
import DragomanGraph
import Foundation

/// `dragoman history -d DB`: prints the imports into a database.
struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Print the imports into a database, oldest first.",
    discussion: """
      An import that is "stopped" ended between two batches, and one that is "cancelled" was stopped there \
      by a signal: import --resume goes on with it, until another import comes. One that is "undone" was \
      taken back. Where the database is a standby, one that is not at its end is "unfinished": whether it is \
      under way cannot be seen there. --changes prints what an import did, object by object, as far as it and \
      all later ones are recorded (see import --record).

      Exit codes: 0 done, 64 no such import, 65 no database of Dragoman or damaged, or what an import did \
      cannot be told, 66 no such file.
      """
  )

  @OptionGroup
  var databaseOptions: DatabaseOptions

  @Option(help: "How many of the last imports; all without it.")
  var limit: Int?

  @Option(help: ArgumentHelp("Print what this import did, value by value.", valueName: "run"))
  var changes: Int64?

  @Flag(help: "Print one JSON document on standard output; with --changes NDJSON.")
  var json = false

  func validate() throws {
    if let limit, limit < 0 { throw ValidationError("--limit must be 0 or more.") }
    if changes != nil, limit != nil {
      throw ValidationError("--changes is of one import: no --limit.")
    }
  }

  mutating func run() throws {
    try databaseOptions.resolve()
    let options = SQLiteStore.Options(isReadOnly: true, createsFile: false)
    let store = try databaseOptions.open(options, reading: changes == nil ? .history : .recorded)
    let output = OutputBuffer(descriptor: STDOUT_FILENO)
    do {
      if let changes {
        SignalWatch.removesTemporaryFolders()
        let writer = ChangeWriter(json ? .ndjson : .onTerminal, to: output)
        try databaseOptions.naming {
          try store.changes(ofImport: changes) { try writer.write($0) }
        }
        try store.close()
        return try writer.flush()
      }
      let entries = try store.history(limit: limit)
      try store.close()
      if json {
        let document = Document(imports: entries.map(LedgerEntryJSON.init))
        try output.write(JSONDocument.text(document) + "\n")
      } else {
        try Self.write(
          entries,
          to: output,
          columnCount: Terminal.columnCount(of: STDOUT_FILENO)
        )
      }
      try output.flush()
    } catch let error as OutputError where error.isClosedPipe {
      // Whoever read has enough.
    }
  }

  private struct Document: Encodable {
    let v = 1
    let imports: [LedgerEntryJSON]
  }

  /// The imports as a table; counts that are 0 throughout have no column.
  static func write(
    _ entries: [ImportLedgerEntry],
    to output: OutputBuffer,
    columnCount: Int?
  ) throws(OutputError) {
    let counts: [(String, KeyPath<ImportLedgerEntry, Int>)] = [
      ("inserted", \.counts.inserted), ("updated", \.counts.updated),
      ("unchanged", \.counts.unchanged), ("deleted", \.counts.deleted),
      ("skipped", \.counts.skipped), ("rejected", \.counts.rejected),
    ]
    let shown = counts.filter { column in entries.contains { $0[keyPath: column.1] != 0 } }
    var attributes = [
      Attribute(name: "id", type: .int64), Attribute(name: "started"), Attribute(name: "status"),
      Attribute(name: "map"), Attribute(name: "read", type: .int64),
    ]
    attributes += shown.map { Attribute(name: $0.0, type: .int64) }
    attributes.append(Attribute(name: "source"))
    var writer = TableRowWriter(
      attributes,
      to: output,
      columnCount: columnCount,
      isStyled: TextStyle.isShown(on: STDOUT_FILENO)
    )
    for entry in entries {
      var row: [StoredValue] = [
        .integer(entry.id ?? 0), .text(Figures.second(entry.started)),
        .text(entry.status.rawValue), .text(entry.map), .integer(Int64(entry.counts.read)),
      ]
      row += shown.map { .integer(Int64(entry[keyPath: $0.1])) }
      row.append(.text(entry.source))
      try writer.write(row)
    }
    try writer.finish()
  }
}
