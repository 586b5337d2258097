import ArgumentParser
import Dragoman
import DragomanGraph
import Foundation
import Logging

/// `dragoman import`: imports feeds into a database by a map.
///
/// Large because each property is an option of the command.
struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import feeds into a database by a map.",
    discussion: """
      Inputs are files, folders, quoted globs, https URLs, or - for standard input; gzip and zstd are known \
      by their first bytes, JSON, NDJSON and XML by their content, CSV by its name too. They are applied in \
      the order of the arguments, and of several records about one object the later one wins; the files of a \
      folder or glob come in the order of their names, byte by byte: day-10.json before day-9.json, but \
      day-09.json before day-10.json.

        dragoman import Maps/people.map.yaml SampleData/people.json -d people.db
        dragoman import SampleData/orders.json -d orders.db --guess

      With --guess there is no map: it is guessed, and left beside the database (orders.map.yaml) to be \
      read and corrected. The next import with --guess goes by it, and adds to it what a feed of another \
      shape brings.

      Without --commit batch one command is one transaction: it is in the database as a whole or \
      not at all.

      Exit codes: 0 done, 3 done and some records rejected, 64 usage, 65 bad data, 66 no such \
      input, 69 a server or the database cannot be reached, 73 output cannot be created, 74 I/O error or \
      disk full, 75 database busy, 77 permission denied; 129, 130, 143 stopped by a signal.
      """
  )

  @Argument(
    help: "The map: a .map.yaml or .map.json file.",
    completion: .file(extensions: ["yaml", "json"])
  )
  var map: String

  @Argument(help: "The feeds.", completion: .file())
  var inputs: [String] = []

  @Flag(help: "Guess the map, which lies beside the database; all arguments are feeds.")
  var guess = false

  @OptionGroup
  var databaseOptions: DatabaseOptions

  /// The feeds that are arguments.
  private var feeds: [String] { guess ? [map] + inputs : inputs }

  private var database: String { databaseOptions.shown }

  @OptionGroup
  var sources: SourceOptions

  @Option(
    help: """
      What happens to objects that exist: upsert (the record changes them), insert (reject the record), \
      ignore (leave the object), replace (attributes of which the record gives no value get their default, also where the map keeps \
      what is stored; links stay as `onMissing` says). Without it upsert, but ignore for entities whose map says \
      `overwriteExisting: false`, which counts for nothing where a mode is given.
      """
  )
  var mode: EntityWriter.Mode?

  @Flag(help: "Do everything and keep nothing.")
  var dryRun = false

  @Flag(help: "With --dry-run: print what would change, value by value, on standard output.")
  var diff = false

  @Option(help: ArgumentHelp("Write rejected records to this file, as NDJSON.", valueName: "file"))
  var rejects: String?

  @Option(help: ArgumentHelp("Fail when more records than this are rejected.", valueName: "n"))
  var maxRejects: Int?

  @Option(help: "When to commit: all (at the end) or batch (after every batch).")
  var commit: ImportMap.ImportOptions.Commit?

  @Option(help: ArgumentHelp("Records a batch, with --commit batch.", valueName: "n"))
  var batchSize: Int?

  @Flag(
    help: """
      Go on with an import in batches that was stopped, behind its last committed record; the same map, \
      inputs and options are needed.
      """
  )
  var resume = false

  @Flag(
    inversion: .prefixedNo,
    help: """
      Keep in the database what the import does, so that dragoman undo can take it back, or with \
      --no-record do not; by default up to a million changed rows are kept.
      """
  )
  var record: Bool?

  @Option(help: ArgumentHelp("Stop after that many records.", valueName: "n"))
  var limit: Int?

  @Option(
    help: ArgumentHelp(
      """
      Import that part of the feeds only, by the records' keys: 2/4. Processes that share the parts among \
      them write into one database on a server at once.
      """,
      valueName: "i/n"
    )
  )
  var partition: ImportPartition?

  @Option(
    help: ArgumentHelp(
      "Write with that many workers at once into a database on a server: one process, all parts.",
      valueName: "n"
    )
  )
  var workers: Int?

  @Option(
    help: ArgumentHelp(
      """
      On Citus: make the table of this entity one that all nodes have as a whole, for small ones that many \
      others refer to; several times, if need be.
      """,
      valueName: "entity"
    )
  )
  var reference: [String] = []

  @OptionGroup
  var bounds: FeedBounds

  @OptionGroup
  var waiting: WaitingBound

  @OptionGroup
  var pruning: PruneOptions

  @OptionGroup
  var web: WebOptionGroup

  @Flag(help: "Import feeds of URLs again that have not changed since the last import.")
  var refetch = false

  @Option(help: "How progress is shown: auto, bar, plain, json or none.")
  var progress: ProgressDisplay.Style = .auto

  @Flag(help: "Print one JSON document on standard output.")
  var json = false

  @Flag(name: .shortAndLong, help: "Print no report and no progress; errors are printed.")
  var quiet = false

  @Flag(name: .shortAndLong, help: "Say on standard error what is being done.")
  var verbose = false

  @Option(help: .private)
  var feed: String?

  func validate() throws {
    if guess, let stated = feeds.first(where: ImportMap.isNamed) {
      throw ValidationError("\(stated) is a map: import by it, without --guess.")
    }
    if guess, feeds.contains("-") {
      throw ValidationError("--guess reads the feeds twice: save standard input as a file first.")
    }
    if sources.names(with: feeds).isEmpty {
      guard !ImportMap.isNamed(map) else {
        throw ValidationError("Missing expected argument '<inputs> ...'")
      }
      throw ValidationError(
        "The map comes before the feed. Without a map: dragoman import \(map) -d <database> --guess"
      )
    }
    if rejects == "-" { throw ValidationError("--rejects makes a file: name it.") }
    if let maxRejects, maxRejects < 0 { throw ValidationError("--max-rejects must be 0 or more.") }
    if diff && !dryRun { throw ValidationError("--diff needs --dry-run.") }
    if resume && (dryRun || commit == .all) {
      throw ValidationError("--resume goes on with batches: neither --dry-run nor --commit all.")
    }
    if pruning.prune && limit != nil {
      throw ValidationError("--prune needs the whole feed: no --limit.")
    }
    if let workers, !(1...64).contains(workers) {
      throw ValidationError("--workers must be 1 to 64.")
    }
    if workers != nil && partition != nil {
      throw ValidationError("--workers imports all parts, --partition one: not both.")
    }
    if diff && (workers ?? 1 > 1 || partition != nil) {
      throw ValidationError("--diff tells of the whole feed: neither --workers nor --partition.")
    }
    if let limit, limit < 0 { throw ValidationError("--limit must be 0 or more.") }
    if let batchSize, !(1...1_000_000).contains(batchSize) {
      throw ValidationError("--batch-size must be 1 to 1000000.")
    }
  }

  mutating func run() async throws {
    try databaseOptions.resolve(tells: !quiet && !dryRun)
    if workers ?? 1 > 1, databaseOptions.server == nil {
      throw ValidationError("A file has one writer: --workers is for a database on a server.")
    }
    if !reference.isEmpty, databaseOptions.server == nil {
      throw ValidationError("A file has no nodes: --reference is for a database of Citus.")
    }
    let guessed = try guess ? guessedMap() : nil
    let importMap = try guessed?.map ?? InputExpansion.map(map, before: inputs)
    let changes =
      diff
      ? ChangeWriter(json ? .ndjson : .onTerminal, to: OutputBuffer(descriptor: STDOUT_FILENO))
      : nil
    let choice = try sources.choice(
      of: feeds,
      in: importMap,
      besides: [rejects, importMap.rejectsPath]
    )
    var request = ImportRequest(
      choice.inputs,
      sources: choice.sources,
      mode: mode,
      options: .init(
        batchSize: batchSize,
        commit: commit,
        rejectsFile: rejects,
        maximumRejects: maxRejects,
        maximumWaitingByteCount: waiting.byteCount
      ),
      limit: limit,
      prune: pruning.rule,
      isDryRun: dryRun
    )
    request.sourcesByInput =
      sources.source.isEmpty ? guessed?.sources ?? [:] : choice.sourcesByInput
    request.changes = changes?.observer
    request.tellsNetChanges = true
    request.resumes = resume
    request.begunRejects = BegunRejects.current
    request.partition = partition
    if let record { request.recording = record ? .always : .never }
    bounds.apply(to: &request)
    if !dryRun { try guessed?.check() }
    request.web = web.options()
    request.web.isConditional = !refetch
    var logger = Logger(label: "dragoman", factory: { StreamLogHandler.standardError(label: $0) })
    logger.logLevel = verbose ? .debug : .warning
    let targets = try (0..<(workers ?? 1)).map { _ in try openTarget(importMap) }
    let importers = targets.map { $0.importer(importMap, logger) }
    let run =
      importers.count == 1
      ? ImportWorkers(importers[0].start(request)) : ImportWorkers(importers, request)
    let signals = SignalWatch { run.cancel() }
    defer { signals.end() }
    let display = ProgressDisplay(style: quiet || diff ? .none : progress)
    for await progress in run.progress { display.show(progress) }
    display.clear()

    let outcome = await run.outcome()
    for target in targets { try target.close(keeping: outcome) }
    // Of an import that kept nothing there is no map either.
    var unsaved: ExportError?
    if let guessed, dryRun || outcome.keepsSomething {
      do throws(ExportError) {
        if !dryRun { try guessed.save() }
        if !quiet, let note = guessed.note(isKept: !dryRun) { Messages.print(note) }
      } catch {
        unsaved = error
      }
    }
    if case .failure(let failure) = outcome, let error = failure.cause as? OutputError,
      error.isClosedPipe
    {
      // Whoever read the changes has enough.
      return
    }
    try changes?.flush()
    let hasRejectsFile = (rejects ?? importMap.rejectsPath) != nil
    try print(outcome, signal: signals.received, hasRejectsFile: hasRejectsFile)
    if let unsaved { throw unsaved }
    if let status = outcome.exitStatus(signal: signals.received) { throw ExitCode(status) }
  }

  /// The entities of which it deletes what its feeds do not have, as far as names tell; none where something is wrong,
  /// of which the import tells.
  var prunedEntities: [String] {
    guard pruning.prune, let importMap = try? ImportMap(contentsOf: map),
      let choice = try? sources.choice(of: feeds, in: importMap, besides: [rejects])
    else { return [] }
    var request = ImportRequest(choice.inputs, sources: choice.sources, prune: pruning.rule)
    request.sourcesByInput = choice.sourcesByInput
    return importMap.prunedEntities(by: request)
  }

  /// The map beside the database; feeds of the web are fetched for it, and once more for the import.
  private func guessedMap() throws -> GuessedMap {
    let names = sources.names(with: feeds)
    var request = ImportRequest(try InputExpansion.inputs(names, besides: [rejects]))
    bounds.apply(to: &request)
    request.web = web.options()
    return try GuessedMap(besides: databaseOptions, for: request.fetching(by: nil).inputs)
  }

  /// Opens what is imported into.
  ///
  /// A dry run makes no file: without one it goes into a temporary database. What it would change on a server is
  /// told of a copy.
  private func openTarget(_ importMap: ImportMap) throws -> ImportTarget {
    if let server = databaseOptions.server {
      if diff { return .file(try server.copy(of: .recorded)) }
      return .server(try server.store(references: reference))
    }
    let isMissing = !FileManager.default.fileExists(atPath: database)
    var options = SQLiteStore.Options(readsConcurrently: false)
    // What is committed in batches is there for everybody.
    let commits = commit ?? importMap.importOptions.commit ?? .all
    options.buildsAside = commits == .all && !resume
    return .file(
      try SQLiteStore(at: dryRun && isMissing ? .temporary : .file(database), options: options)
    )
  }

  private func print(
    _ outcome: Result<ImportReport, ImportFailure>,
    signal: Int32?,
    hasRejectsFile: Bool
  ) throws {
    let (report, failure): (ImportReport, ToolError?) =
      switch outcome {
      case .success(let report): (report, nil)
      case .failure(let failure): (failure.report, ToolError(failure))
      }
    if let failure { Messages.print(failure.text + "\n") }
    if !quiet {
      // What a migration has come between, or what cannot be read any more, is imported again from its beginning.
      let isResumable =
        if case .failure(let failure) = outcome, let cause = failure.cause as? StoreError {
          ![.migrated, .damaged].contains(cause.code)
        } else {
          true
        }
      Messages.print(
        ImportReportText(
          report: report,
          inputs: sources.names(with: feeds),
          database: database,
          signal: signal,
          isResumable: isResumable,
          hasRejectsFile: hasRejectsFile
        ).text
      )
    }
    if json {
      try OutputBuffer.print(try ImportReportJSON(report, failure: failure, feed: feed).text + "\n")
    }
  }
}

extension Result where Success == ImportReport, Failure == ImportFailure {
  /// The end of an import.
  init(of run: ImportRun) async {
    do throws(ImportFailure) {
      self = .success(try await run.report())
    } catch {
      self = .failure(error)
    }
  }

  /// Whether the database has something of the import.
  var keepsSomething: Bool {
    switch self {
    case .success(let report): report.status != .cancelled || report.committed > 0
    case .failure(let failure): failure.report.committed > 0
    }
  }
}

extension EntityWriter.Mode: ExpressibleByArgument {}
extension ImportMap.ImportOptions.Commit: ExpressibleByArgument {}
