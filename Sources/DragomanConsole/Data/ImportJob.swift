import Dragoman
import DragomanGraph
import Foundation
import Synchronization

/// An import that is made from a page: checked, tried, and then done.
final class ImportJob: Sendable {
  /// How far it is.
  enum Phase: String, Sendable {
    case checking, checked, trying, tried, importing, done, failed

    /// Whether something runs.
    var isRunning: Bool { self == .checking || self == .trying || self == .importing }
  }

  /// Everything that a page shows of it.
  struct State: Sendable {
    var phase = Phase.checking
    var progress: ImportProgress?
    var coverage: FeedCoverage?
    var report: ImportReport?
    /// The first changes of a trial.
    var changes: [ImportChange] = []
    var changeCount = 0
    var failure: ConsoleError?
    var run: ImportRun?
    /// Whether a check came to its end: what was not checked is not imported.
    var isChecked = false
    /// Whether a trial came to its end.
    var isTried = false
    /// What was begun last: 0 the check, 1 the trial, 2 the import.
    var step = 0
    /// What the history has of the import; nil where nothing was kept.
    var kept: ImportLedgerEntry?
    /// What does the work.
    var task: Task<Void, Never>?
    /// How often something was begun.
    var beginCount = 0
    /// Whether what was begun last is to end, whatever of it runs by now.
    var isToEnd = false
    /// Counts everything that happens, so that a page knows whether something did.
    var version = 0

    /// Whether what was begun last was cancelled.
    var isCancelled: Bool { !phase.isRunning && report?.status == .cancelled }

    /// Whether the import did not begin: somebody else held the database for too long.
    var mayBeginAgain: Bool {
      phase == .failed && step == 2 && failure?.status == 503 && kept == nil
    }

    /// Whether what was begun last ended before its feed did.
    var isBroken: Bool { phase == .failed || isCancelled }

    /// What is told: of what runs how far it is, of what has ended what came of it.
    ///
    /// Of what ended before its feed it is what was kept, and nothing but what was read where nothing was.
    var counts: ImportLedgerEntry.Counts {
      if phase.isRunning { return progress?.counts ?? .init() }
      guard isBroken else { return report?.counts ?? .init() }
      if let kept { return kept.counts }
      var counts = ImportLedgerEntry.Counts()
      counts.read = report?.counts.read ?? 0
      return counts
    }
  }

  /// So many changes are kept.
  static let keptChangeCount = 200

  let id: String
  /// The feed's name.
  let name: String
  /// The map.
  let map: MapShelf.Item
  /// Where rejected records go.
  let rejectsPath: String
  private let importMap: ImportMap
  /// What the file of the map was when it was read.
  private let mapVersion: FileStatus.Version?
  /// What the feed's file was when it was checked.
  private let checkedFeed = Mutex<FileStatus.Version?>(nil)
  private let request: ImportRequest
  private let database: ConsoleDatabase
  private let state = Mutex(State())

  /// - Throws: `MapFaults` of a faulty map.
  init(
    id: String,
    input: ImportInput,
    map: MapShelf.Item,
    source: String,
    mode: EntityWriter.Mode?,
    folder: String,
    database: ConsoleDatabase
  ) throws {
    self.id = id
    self.map = map
    self.database = database
    name = input.name
    rejectsPath = "\(folder)/rejects-\(id).ndjson"
    mapVersion = FileStatus(map.path)?.version
    importMap = try map.map.get()
    request = ImportRequest([input], sources: source.isEmpty ? [] : [source], mode: mode)
  }

  /// What is known now.
  var now: State { state.withLock { $0 } }

  /// The feed's file as it is now; nil of what is none.
  private var feedVersion: FileStatus.Version? {
    guard case .file(let path)? = request.inputs.first else { return nil }
    return FileStatus(path)?.version
  }

  /// - Throws: `ConsoleError`, 409, where the map is not what was read, or, behind the check, the feed not what was checked.
  private func checkFiles(isChecked: Bool = true) throws(ConsoleError) {
    let isOtherMap = FileStatus(map.path)?.version != mapVersion
    guard isOtherMap || isChecked && feedVersion != checkedFeed.withLock({ $0 }) else { return }
    throw ConsoleError(
      409,
      "\(isOtherMap ? "The map \(map.name)" : "The feed \(name)") has changed since the check.",
      help: "begin another import: what was checked is what is imported"
    )
  }

  /// Reads the feed by the map and tells what is in it; nothing is kept.
  func check() {
    checkedFeed.withLock { $0 = feedVersion }
    begin(.checking) { [self] in
      let store = try await onThread { try SQLiteStore(at: .temporary) }
      let (report, coverage) = try await Importer(map: importMap, store: store).check(request)
      try await onThread { try store.close() }
      change {
        $0.report = report
        $0.coverage = coverage
        $0.phase = .checked
        $0.isChecked = report.status != .cancelled
      }
    }
  }

  /// Checks again what was cancelled or did not work.
  ///
  /// - Throws: `ConsoleError`, 409, while something else runs, after the end, or where the map has changed.
  func checkAgain() throws(ConsoleError) {
    try checkFiles(isChecked: false)
    try claim(.checking, after: [.checked, .tried, .failed])
    check()
  }

  /// Imports, tells what changes, and keeps nothing.
  ///
  /// - Throws: `ConsoleError`, 409, while something else runs, or where the map or the feed has changed.
  func tryOut() throws(ConsoleError) {
    try checkFiles()
    try claim(.trying, after: [.checked, .tried, .failed], isChecked: true)
    begin(.trying) { [self] in
      var request = request
      request.isDryRun = true
      request.tellsNetChanges = true
      request.changes = { [self] change in
        state.withLock { state in
          state.changeCount += 1
          if state.changes.count < Self.keptChangeCount { state.changes.append(change) }
        }
      }
      let report = try await run(request)
      change {
        $0.report = report
        $0.phase = .tried
        $0.isTried = report.status != .cancelled
      }
    }
  }

  /// Imports.
  ///
  /// - Throws: `ConsoleError`, 409, while something else runs, after the end, or where the map or the feed has changed.
  func start() throws(ConsoleError) {
    try checkFiles()
    try claim(
      .importing,
      after: now.mayBeginAgain ? [.failed] : [.checked, .tried],
      isChecked: true
    )
    begin(.importing) { [self] in
      var request = request
      request.options.rejectsFile = rejectsPath
      let report = try await run(request)
      change {
        $0.report = report
        $0.phase = .done
      }
    }
  }

  /// Ends what runs, after the batch at hand.
  func cancel() {
    let (run, task) = state.withLock { state in
      if state.phase.isRunning { state.isToEnd = true }
      return (state.run, state.phase == .checking ? state.task : nil)
    }
    if let run { run.cancel() } else { task?.cancel() }
  }

  private func run(_ request: ImportRequest) async throws -> ImportReport {
    let store = try await onThread { [database] in try database.openToWrite() }
    let run = Importer(map: importMap, store: store).start(request)
    change {
      $0.run = run
      // Who cancelled before had nothing to cancel.
      if $0.isToEnd { run.cancel() }
    }
    for await progress in run.progress { change { $0.progress = progress } }
    let result: Result<ImportReport, ImportFailure>
    do throws(ImportFailure) {
      result = .success(try await run.report())
    } catch {
      result = .failure(error)
    }
    let number: Int64?
    switch result {
    case .success(let report): number = report.number
    case .failure(let failure): number = failure.report.number
    }
    try await onThread { [self] in
      if let number {
        // What cannot be read of the history is no reason to call the import failed.
        let kept = (try? store.history())?.last { $0.id == number }
        change { $0.kept = kept }
      }
      try store.close()
    }
    return try result.get()
  }

  /// Threads that may wait for a database.
  private static let lanes = Lanes(count: 4)

  /// Runs blocking work on a thread of its own: never on the cooperative pool.
  private func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await Self.lanes.run { Result { try body() } }.get()
  }

  private func claim(
    _ phase: Phase,
    after earlier: [Phase],
    isChecked: Bool = false
  ) throws(ConsoleError) {
    let isFree = state.withLock { state in
      guard earlier.contains(state.phase), !isChecked || state.isChecked else { return false }
      state.phase = phase
      state.isToEnd = false
      return true
    }
    guard isFree else {
      throw ConsoleError(
        409,
        now.phase.isRunning || now.isChecked
          ? "That cannot be done now: this import is \(now.phase.rawValue)."
          : "That cannot be done now: this feed's check did not come to its end.",
        help: now.phase.isRunning ? "wait for its end" : "check it again, or begin another import"
      )
    }
  }

  private func begin(_ phase: Phase, _ body: @escaping @Sendable () async throws -> Void) {
    let number = change {
      $0.beginCount += 1
      $0.phase = phase
      ($0.run, $0.task) = (nil, nil)
      $0.progress = nil
      $0.failure = nil
      // What an earlier step found is not what came of this one.
      $0.report = nil
      $0.step = phase == .checking ? 0 : phase == .trying ? 1 : 2
      if phase == .checking { ($0.isChecked, $0.isTried) = (false, false) }
      $0.changes = []
      $0.changeCount = 0
      return $0.beginCount
    }
    let task = Task { [self] in
      do {
        try await body()
      } catch {
        let failure = error as? ImportFailure
        if (failure?.cause ?? error) is CancellationError {
          change {
            $0.report = failure?.report ?? ImportReport()
            $0.report?.status = .cancelled
            $0.phase = [.checked, .tried, .done][$0.step]
          }
        } else {
          change {
            $0.failure = ConsoleError(error)
            $0.report = failure?.report
            $0.phase = .failed
          }
        }
      }
      change {
        // The next step may have begun as soon as this one was told to be over.
        guard $0.beginCount == number else { return }
        ($0.run, $0.task) = (nil, nil)
      }
    }
    // Who is done already has no task any more.
    change {
      guard $0.phase.isRunning, $0.beginCount == number else { return }
      $0.task = task
      if $0.isToEnd, $0.phase == .checking { task.cancel() }
    }
  }

  private func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
    state.withLock { state in
      defer { state.version += 1 }
      return body(&state)
    }
  }
}
