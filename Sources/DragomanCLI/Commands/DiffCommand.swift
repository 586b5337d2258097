import ArgumentParser
import Dragoman
import DragomanGraph
import Foundation

/// `dragoman diff MAP FEED… -d DB`: prints what an import would change.
struct DiffCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Print what an import would change, value by value.",
    usage: "dragoman diff <map> <inputs> ... -d <database> [<options>]",
    discussion: """
      The import is done in a transaction that is rolled back; the database file is neither changed \
      nor made. On a terminal the changes come as text, in a pipe as NDJSON.

      Exit codes: 0 nothing would change, 1 something would, 3 some records would be rejected (what \
      the others would change is printed); errors as of `dragoman import`.
      """
  )

  @Argument(
    help: "The map: a .map.yaml or .map.json file.",
    completion: .file(extensions: ["yaml", "json"])
  )
  var map: String

  @Argument(help: "The feeds.", completion: .file())
  var inputs: [String] = []

  @OptionGroup
  var databaseOptions: DatabaseOptions

  private var database: String { databaseOptions.shown }

  @OptionGroup
  var sources: SourceOptions

  @Option(help: "What would happen to objects that exist: upsert, insert, ignore, replace.")
  var mode: EntityWriter.Mode?

  @Option(help: ArgumentHelp("Stop after that many records.", valueName: "n"))
  var limit: Int?

  @OptionGroup
  var bounds: FeedBounds

  @OptionGroup
  var pruning: PruneOptions

  @OptionGroup
  var web: WebOptionGroup

  @Option(name: .shortAndLong, help: "The format; text on a terminal, ndjson in a pipe.")
  var format: ChangeFormat?

  @Flag(help: "Print the changes as NDJSON: --format ndjson.")
  var json = false

  @Flag(name: .shortAndLong, help: "Print no report; changes and errors are printed.")
  var quiet = false

  func validate() throws {
    if sources.names(with: inputs).isEmpty {
      throw ValidationError("Missing expected argument '<inputs> ...'")
    }
    if pruning.prune && limit != nil {
      throw ValidationError("--prune needs the whole feed: no --limit.")
    }
    if let limit, limit < 0 { throw ValidationError("--limit must be 0 or more.") }
    if json, format == .text {
      throw ValidationError("--json and --format text exclude each other.")
    }
  }

  mutating func run() async throws {
    try databaseOptions.resolve()
    let importMap = try InputExpansion.map(map, before: inputs)
    let writer = ChangeWriter(
      format ?? (json ? .ndjson : .onTerminal),
      to: OutputBuffer(descriptor: STDOUT_FILENO)
    )
    let choice = try sources.choice(of: inputs, in: importMap)
    var request = ImportRequest(
      choice.inputs,
      sources: choice.sources,
      mode: mode,
      limit: limit,
      prune: pruning.rule,
      isDryRun: true
    )
    request.sourcesByInput = choice.sourcesByInput
    request.changes = writer.observer
    request.tellsNetChanges = true
    bounds.apply(to: &request)
    request.web = web.options()
    let isMissing =
      databaseOptions.server == nil && !FileManager.default.fileExists(atPath: database)
    let options = SQLiteStore.Options(readsConcurrently: false)
    // What contracts know of earlier feeds decides, too.
    let store =
      isMissing
      ? try SQLiteStore(at: .temporary, options: options)
      : try databaseOptions.open(options, reading: .recorded)
    let run = Importer(map: importMap, store: store).start(request)
    let signals = SignalWatch { run.cancel() }
    let outcome = await Result(of: run)
    try store.close()
    try finish(outcome, writer, isMissing: isMissing, signal: signals.received)
  }

  private func finish(
    _ outcome: Result<ImportReport, ImportFailure>,
    _ writer: ChangeWriter,
    isMissing: Bool,
    signal: Int32?
  ) throws {
    do {
      if case .failure(let failure) = outcome, let error = failure.cause as? OutputError {
        throw error
      }
      try writer.flush()
    } catch let error as OutputError where error.isClosedPipe {
      // Whoever read has seen a difference, and has enough.
      throw ExitCode(Self.differs)
    }
    let report = try outcome.get()
    if !quiet {
      if isMissing { Messages.print("note: there is no \(database); everything is new\n") }
      Messages.print(
        ImportReportText(
          report: report,
          inputs: sources.names(with: inputs),
          database: database,
          signal: signal
        ).text
      )
    }
    if let status = exitStatus(of: report, writer.count, signal: signal) {
      throw ExitCode(status)
    }
  }

  /// The exit code of a comparison that found something, as of diff(1).
  private static let differs: Int32 = 1

  private func exitStatus(
    of report: ImportReport,
    _ changeCount: Int,
    signal: Int32?
  ) -> Int32? {
    // A stub is an object of its key alone; what pruning or a record deletes is told, too.
    let isOther = changeCount > 0 || report.entities.values.contains { $0.stubs > 0 }
    return switch report.status {
    case .cancelled: 128 + (signal ?? SIGINT)
    case .rejected: ToolError.ExitStatus.someRejected.rawValue
    default: isOther ? Self.differs : nil
    }
  }
}

extension ChangeFormat: ExpressibleByArgument {
  /// Text for people who look at a terminal, NDJSON for programs that read a pipe.
  static var onTerminal: ChangeFormat { Terminal.isTerminal(STDOUT_FILENO) ? .text : .ndjson }
}
