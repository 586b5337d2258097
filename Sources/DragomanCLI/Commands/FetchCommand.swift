import ArgumentParser
import Dragoman
import DragomanGraph
import Foundation

/// `dragoman fetch`: prints the objects of an entity that satisfy a predicate, or a table of them.
struct FetchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch",
    abstract: "Print the objects of an entity, or groups and sums of them.",
    usage: "dragoman fetch <entity> -d <database> [<options>]",
    discussion: """
      Predicates are written as for NSPredicate:

        dragoman fetch Person -d people.db --where 'salary > 1e5 AND city == "Oslo"'
        dragoman fetch Person -d people.db --sort lastName,-salary --limit 10 \\
          --where 'lastName BEGINSWITH[cd] $NAME' -p NAME=ó
        dragoman fetch Person -d people.db --columns lastName,company.name \\
          --where 'company.city == "Bergen" AND ANY phones.kind == "work"'

      Groups have a row each:

        dragoman fetch Person -d people.db --group city --count --sum salary \\
          --sort -sum_salary

      On a terminal the objects come as a table of its width, in a pipe as NDJSON. Without --sort \
      they come in the order in which they were inserted, and groups by their values.

      Exit codes: 0 done, 64 a request that the database does not fit, 65 no database of Dragoman or \
      damaged, 66 no such database, 73 the output cannot be created, 74 I/O error or disk full.
      """
  )

  @Argument(
    help: "The entity, as the map names it.",
    completion: .custom { words, _, _ in Suggestions(words).entities }
  )
  var entity: String

  @OptionGroup
  var databaseOptions: DatabaseOptions

  @OptionGroup
  var selection: SelectionOptions

  @Option(help: "How many objects to leave out at the beginning.")
  var offset = 0

  @Option(
    help: ArgumentHelp("Begin behind the place that --next or --json told.", valueName: "place")
  )
  var after: String?

  @Flag(help: "With --limit: tell on standard error where the next page begins.")
  var next = false

  @OptionGroup
  var table: TableOptions

  @OptionGroup
  var destination: RowOutputOptions

  @Option(
    help: ArgumentHelp(
      "As it was behind this import, by its number in the history; 0: before the first one.",
      valueName: "run"
    )
  )
  var asOf: Int64?

  @Flag(help: "Print the SQL, its values and SQLite's plan instead of the rows.")
  var explain = false

  func validate() throws {
    if offset < 0 { throw ValidationError("--offset must be 0 or more.") }
    if next, selection.limit == nil { throw ValidationError("--next wants --limit.") }
    if next, explain || table.isNumber {
      throw ValidationError("--next goes with rows, not with --\(explain ? "explain" : "count").")
    }
    if table.isNumber || explain, destination.format != nil {
      throw ValidationError(
        "--\(explain ? "explain" : "count") and --format exclude each other; there is --json."
      )
    }
  }

  mutating func run() throws {
    try databaseOptions.resolve()
    let command = self
    let store = try databaseOptions.open(
      SQLiteStore.Options(isReadOnly: true, createsFile: false, readsConcurrently: false),
      reading: asOf == nil ? .request { try command.request().showingKeys(in: $0) } : .recorded
    )
    guard let asOf else { return try command.answer(from: store, over: store.path) }
    SignalWatch.removesTemporaryFolders()
    try command.databaseOptions.naming {
      try store.withCopy(asOf: asOf) { copy in try command.answer(from: copy, over: store.path) }
    }
  }

  /// Prints or writes the answer.
  ///
  /// - Parameters:
  ///   - store: The store, or a copy of it.
  ///   - database: The database, which no output may replace.
  /// - Throws: `StoreError`, and what the output refuses.
  private func answer(from store: SQLiteStore, over database: String?) throws {
    let columnCount = destination.columnCount
    guard let path = destination.file else {
      let output = OutputBuffer(descriptor: STDOUT_FILENO)
      do {
        let page = try print(from: store, to: output, columnCount: columnCount)
        try output.flush()
        tell(page)
      } catch let error as OutputError where error.isClosedPipe {
        // Whoever read has enough.
      }
      return
    }
    let file = try OutputFile(
      path,
      besides: OutputPlace.Kept.database(database),
      overwrites: destination.overwrite
    )
    defer { file.discard() }
    let signals = SignalWatch {}
    let output = OutputBuffer(file)
    do {
      let page = try print(from: store, to: output, columnCount: nil) {
        if let signal = signals.received { throw ExitCode(128 + signal) }
      }
      try output.flush()
      if let notice = try file.finish() {
        Messages.print("note: \(ToolWords.spelled(notice))\n")
      }
      if let count = page.count {
        Messages.print("\(path): \(Figures.count(count, "row"))\n")
      }
      tell(page)
    } catch let error as OutputError where error.isClosedPipe {
      // As above, behind a pipe with a name.
    }
  }

  /// What a page was, besides its rows.
  struct Page {
    /// How many rows it has; nil: none were asked for.
    var count: Int?
    /// Where the next one begins, if there is one.
    var next: FetchCursor?
  }

  /// Tells where the next page begins.
  private func tell(_ page: Page) {
    guard next, let place = page.next else { return }
    Messages.print(
      place.isSensitive
        ? "next: --json tells the place, since it holds values of a sensitive attribute\n"
        : "next: --after \(place.text)\n"
    )
  }

  /// Writes the answer; apart from `run()`, so that tests need no process.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - output: Where the answer goes; it is not flushed.
  ///   - columnCount: The width of the terminal; nil if the output is none.
  ///   - check: Called for each row; what it throws ends the fetch.
  /// - Returns: What the page was.
  /// - Throws: `StoreError` and `OutputError`.
  @discardableResult
  func print(
    from store: SQLiteStore,
    to output: OutputBuffer,
    columnCount: Int?,
    check: () throws -> Void = {}
  ) throws -> Page {
    let request = try request().showingKeys(in: store.layout)
    if explain {
      let text = ExplanationText(explanation: try store.explain(request, counts: table.isNumber))
      try output.write(destination.json ? try text.json() : text.text)
      return Page()
    }
    if table.isNumber {
      let count = try store.count(request)
      try output.write(destination.json ? "{\"v\":1,\"count\":\(count)}\n" : "\(count)\n")
      return Page()
    }
    let attributes = try store.attributes(of: request)
    var page = Page(count: 0)
    func rows(to writer: inout some RowWriter) throws {
      var count = 0
      page.next = try store.forEachRow(inPage: request) { row in
        try check()
        count += 1
        try writer.write(row.values)
      }
      page.count = count
    }
    if destination.json {
      var writer = JSONDocumentWriter(entity, attributes, to: output)
      try rows(to: &writer)
      writer.next = page.next
      try writer.finish()
    } else {
      var writer: any RowWriter = destination.format(columnCount: columnCount).writer(
        for: attributes,
        to: output,
        columnCount: destination.full ? nil : columnCount,
        isStyled: columnCount != nil && TextStyle.isShown(on: STDOUT_FILENO)
      )
      try rows(to: &writer)
      try writer.finish()
    }
    return page
  }

  /// The request that the options spell.
  func request() throws(StoreError) -> FetchRequest {
    var request = try selection.request(entity, columns: table.columns, having: table.having)
    table.apply(to: &request)
    request.offset = offset
    request.after = try after.map { (text) throws(StoreError) in try FetchCursor(text) }
    return request
  }
}
