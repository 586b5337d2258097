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
    /// What does the work.
    var task: Task<Void, Never>?
    /// Counts everything that happens, so that a page knows whether something did.
    var version = 0
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
  private let request: ImportRequest
  private let database: String
  private let state = Mutex(State())

  /// - Throws: `MapFaults` of a faulty map.
  init(
    id: String,
    input: ImportInput,
    map: MapShelf.Item,
    source: String,
    mode: EntityWriter.Mode?,
    folder: String,
    database: String
  ) throws {
    self.id = id
    self.map = map
    self.database = database
    name = input.name
    rejectsPath = "\(folder)/rejects-\(id).ndjson"
    importMap = try map.map.get()
    request = ImportRequest([input], sources: source.isEmpty ? [] : [source], mode: mode)
  }

  /// What is known now.
  var now: State { state.withLock { $0 } }

  /// Reads the feed by the map and tells what is in it; nothing is kept.
  func check() {
    begin(.checking) { [self] in
      let store = try SQLiteStore(at: .temporary)
      let (report, coverage) = try await Importer(map: importMap, store: store).check(request)
      try store.close()
      change {
        $0.report = report
        $0.coverage = coverage
        $0.phase = .checked
      }
    }
  }

  /// Imports, tells what changes, and keeps nothing.
  ///
  /// - Throws: `ConsoleError`, 409, while something else runs.
  func tryOut() throws(ConsoleError) {
    try claim(.trying, after: [.checked, .tried, .failed])
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
      }
    }
  }

  /// Imports.
  ///
  /// - Throws: `ConsoleError`, 409, while something else runs, or after the end.
  func start() throws(ConsoleError) {
    try claim(.importing, after: [.checked, .tried])
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
    let now = now
    if let run = now.run { run.cancel() } else if now.phase == .checking { now.task?.cancel() }
  }

  private func run(_ request: ImportRequest) async throws -> ImportReport {
    let store = try SQLiteStore(
      at: .file(database),
      options: SQLiteStore.Options(createsFile: false, readsConcurrently: false)
    )
    let run = Importer(map: importMap, store: store).start(request)
    change { $0.run = run }
    for await progress in run.progress { change { $0.progress = progress } }
    let result: Result<ImportReport, ImportFailure>
    do throws(ImportFailure) {
      result = .success(try await run.report())
    } catch {
      result = .failure(error)
    }
    try store.close()
    return try result.get()
  }

  private func claim(_ phase: Phase, after earlier: [Phase]) throws(ConsoleError) {
    let isFree = state.withLock { state in
      guard earlier.contains(state.phase) else { return false }
      state.phase = phase
      return true
    }
    guard isFree else {
      throw ConsoleError(
        409,
        "That cannot be done now: this import is \(now.phase.rawValue).",
        help: "wait for its end, or begin another one"
      )
    }
  }

  private func begin(_ phase: Phase, _ body: @escaping @Sendable () async throws -> Void) {
    change {
      $0.phase = phase
      $0.progress = nil
      $0.failure = nil
      $0.changes = []
      $0.changeCount = 0
    }
    let task = Task { [self] in
      do {
        try await body()
      } catch {
        change {
          $0.failure = ConsoleError(error)
          $0.report = (error as? ImportFailure)?.report ?? $0.report
          $0.phase = .failed
        }
      }
      change {
        $0.run = nil
        $0.task = nil
      }
    }
    // Who is done already has no task any more.
    change { if $0.phase.isRunning { $0.task = task } }
  }

  private func change(_ body: (inout State) -> Void) {
    state.withLock {
      body(&$0)
      $0.version += 1
    }
  }
}
