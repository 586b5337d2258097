import ArgumentParser
import DragomanGraph
import Foundation

/// `dragoman fetch`: prints the objects of an entity that satisfy a predicate.
struct FetchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch",
    abstract: "Print the objects of an entity.",
    usage: "dragoman fetch <entity> -d <database> [<options>]",
    discussion: """
      Predicates are written as for NSPredicate:

        dragoman fetch Person -d people.db --where 'salary > 1e5 AND city == "Oslo"'
        dragoman fetch Person -d people.db --sort lastName,-salary --limit 10 \\
          --where 'lastName BEGINSWITH[cd] $NAME' -p NAME=ó
        dragoman fetch Person -d people.db --columns lastName,company.name \\
          --where 'company.city == "Bergen" AND ANY phones.kind == "work"'

      On a terminal the objects come as a table, in a pipe as NDJSON. Without --sort they come in \
      the order in which they were inserted.
      """
  )

  @Argument(
    help: "The entity, as the map names it.",
    completion: .custom { words, _, _ in Suggestions(words).entities }
  )
  var entity: String

  @OptionGroup
  var databaseOptions: DatabaseOptions

  private var database: String { databaseOptions.named ?? "" }

  @OptionGroup
  var selection: SelectionOptions

  @Option(help: "How many objects to leave out at the beginning.")
  var offset = 0

  @Option(
    help: ArgumentHelp("The values to print; all attributes without it.", valueName: "a,b.c"),
    completion: .custom { words, _, start in Suggestions(words).paths(behind: start) }
  )
  var columns: String?

  @Flag(help: "Print only how many objects there are.")
  var count = false

  @Option(name: .shortAndLong, help: "The format; table on a terminal, ndjson in a pipe.")
  var format: FetchFormat?

  func validate() throws {
    if offset < 0 { throw ValidationError("--offset must be 0 or more.") }
    if count, format != nil { throw ValidationError("--count and --format exclude each other.") }
  }

  mutating func run() throws {
    try databaseOptions.resolve()
    let store = try SQLiteStore(
      at: .file(database),
      options: SQLiteStore.Options(isReadOnly: true, createsFile: false)
    )
    let output = OutputBuffer(descriptor: STDOUT_FILENO)
    do {
      try print(from: store, to: output, columnCount: Terminal.columnCount(of: STDOUT_FILENO))
      try output.flush()
    } catch let error as OutputError where error.isClosedPipe {
      // Whoever read has enough.
    }
  }

  /// Writes the answer; apart from `run()`, so that tests need no process.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - output: Where the answer goes; it is not flushed.
  ///   - columnCount: The width of the terminal; nil if the output is none.
  /// - Throws: `StoreError` and `OutputError`.
  func print(from store: SQLiteStore, to output: OutputBuffer, columnCount: Int?) throws {
    let request = try request().showingKeys(in: store.layout)
    if count { return try output.write("\(try store.count(request))\n") }
    let format = format ?? (columnCount == nil ? .ndjson : .table)
    var writer = format.writer(
      for: try store.attributes(of: request),
      to: output,
      columnCount: columnCount,
      isStyled: columnCount != nil && TextStyle.isShown(on: STDOUT_FILENO)
    )
    try store.forEachRow(request) { row in try writer.write(row.values) }
    try writer.finish()
  }

  /// The request that the options spell.
  func request() throws(StoreError) -> FetchRequest {
    var request = try selection.request(entity, columns: columns)
    request.offset = offset
    return request
  }
}
