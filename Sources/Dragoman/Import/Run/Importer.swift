import DragomanGraph
import Foundation
import Logging

/// Imports feeds into a store by a map.
///
///     let map = try ImportMap(contentsOf: "Maps/people.map.yaml")
///     let store = try SQLiteStore(at: .file("people.db"))
///     let report = try await Importer(map: map, store: store).run(
///       ImportRequest([.file("SampleData/people.json")])
///     )
///
/// One record's way, each step one call into one file:
///
/// ```text
/// FeedReading        a thread: opens the input, tells its format
///   RecordReader     bytes -> RecordBatch (tape of values + origins)
/// BatchMapping       a thread: maps a batch while the next one is read
///   RecordMapper     RecordBatch -> DraftBatch (typed rows, rejects)
/// BatchQueue         hands the batch over
/// DraftWalker        a thread: what a draft means, counts, rejects
///   RowBackend       -> SQLite: one prepared statement a row shape
/// ```
public struct Importer: Sendable {
  let map: ImportMap
  let code: ImportCode
  private let place: Place
  private let logger: Logger

  /// Where the objects go.
  private enum Place: Sendable {
    case store(SQLiteStore)
    case server(ServerStore)
  }

  /// Makes an importer.
  ///
  /// - Parameters:
  ///   - map: What the feeds mean.
  ///   - closures: The closures that the map names.
  ///   - store: Where the objects go.
  ///   - logger: Told at level `debug` which format an input has, and of every commit.
  public init(
    map: ImportMap,
    closures: ClosureRegistry = ClosureRegistry(),
    store: SQLiteStore,
    logger: Logger = Logger(label: "dragoman")
  ) {
    self.init(map: map, code: ImportCode(computes: closures.computes), store: store, logger: logger)
  }

  /// Makes an importer of a mapper in code, for JSON, NDJSON and dictionaries.
  ///
  /// The store gets the mapper's whole model.
  public init(
    mapper: Mapper,
    store: SQLiteStore,
    logger: Logger = Logger(label: "dragoman")
  ) {
    self.init(map: mapper.importMap, code: mapper.importCode, store: store, logger: logger)
  }

  /// Makes an importer into a server.
  package init(
    map: ImportMap,
    closures: ClosureRegistry = ClosureRegistry(),
    server: ServerStore,
    logger: Logger = Logger(label: "dragoman")
  ) {
    self.map = map
    code = ImportCode(computes: closures.computes)
    place = .server(server)
    self.logger = logger
  }

  init(map: ImportMap, code: ImportCode, store: SQLiteStore, logger: Logger) {
    self.map = map
    self.code = code
    place = .store(store)
    self.logger = logger
  }

  /// Imports, and waits for the end.
  ///
  /// The work is done on threads of its own; the caller's is not blocked. Cancelling the
  /// caller's task stops it between two batches; under `commit: all` at once, and nothing is kept.
  /// - Throws: `ImportFailure` with the cause and the report until then. Under `commit: all` nothing
  ///   was written.
  public func run(_ request: ImportRequest) async throws(ImportFailure) -> ImportReport {
    let run = start(request)
    let result = await withTaskCancellationHandler {
      await run.task.value
    } onCancel: {
      run.cancel()
    }
    return try result.get()
  }

  /// Starts an import whose progress can be followed.
  public func start(_ request: ImportRequest) -> ImportRun {
    let cancellation = Cancellation()
    let (progress, continuation) = AsyncStream.makeStream(
      of: ImportProgress.self,
      bufferingPolicy: .bufferingNewest(1)
    )
    let task = Task.detached {
      await withCheckedContinuation { done in
        WorkThread.start("dragoman.write") {
          let result = Result { () throws(ImportFailure) in
            try self.importFeeds(request, cancellation) { continuation.yield($0) }
          }
          continuation.finish()
          done.resume(returning: result)
        }
      }
    }
    return ImportRun(progress: progress, task: task, cancellation: cancellation)
  }

  /// The whole import, on the writing thread.
  private func importFeeds(
    _ request: ImportRequest,
    _ cancellation: Cancellation,
    progress: @escaping (ImportProgress) -> Void
  ) throws(ImportFailure) -> ImportReport {
    switch place {
    case .store(let store):
      var report = ImportReport()
      return try self.report(
        soFar: { report },
        of: {
          try store.write { session in
            let writing = writing(RowSink(session), request, cancellation, progress)
            defer { report = writing.report }
            return try writing.run()
          }
        }
      )
    case .server(let server):
      return try importFeeds(request, to: server, cancellation, progress)
    }
  }

  /// Imports into a server; where that ends the transaction or the connection, it is done again from what is
  /// committed, as `ImportRequest.resumes` does it, a few times.
  private func importFeeds(
    _ request: ImportRequest,
    to server: ServerStore,
    _ cancellation: Cancellation,
    _ progress: @escaping (ImportProgress) -> Void
  ) throws(ImportFailure) -> ImportReport {
    var request = request
    var patience = Patience()
    var committed = 0
    var run: String?
    while true {
      var report = ImportReport()
      do throws(ImportFailure) {
        if let loaded = try load(request, into: server, cancellation, progress) { return loaded }
        return try self.report(
          soFar: { report },
          of: {
            try server.importing { session in
              let writing = writing(ObjectSink(session, code), request, cancellation, progress)
              defer {
                report = writing.report
                if session.keepsRun { run = session.runName }
              }
              return try writing.run()
            }
          }
        )
      } catch {
        if error.report.committed > committed {
          committed = error.report.committed
          request.resumes = true
          request.ownRun = run
          patience.restart()
        }
        guard request.isRepeatable, !cancellation.isCancelled,
          patience.wait(after: error.cause, unless: { cancellation.isCancelled })
        else { throw error }
        logger.warning("what is not committed is done again: \(error.cause)")
      }
    }
  }

  /// A first import: into empty tables, by a temporary file that the server copies.
  ///
  /// - Returns: Nil where it is none, or asks for what only the usual way has; nothing was done then.
  private func load(
    _ request: ImportRequest,
    into server: ServerStore,
    _ cancellation: Cancellation,
    _ progress: @escaping (ImportProgress) -> Void
  ) throws(ImportFailure) -> ImportReport? {
    let commit = request.options.commit ?? map.importOptions.commit ?? .all
    guard request.mayLoad, commit == .all, !map.hasContract else { return nil }
    // Where nothing is noted later, what is recorded now is of no use; the usual way tells who wants it.
    let obstacle = server.recordingObstacle
    if obstacle != nil, request.recording == .always { return nil }
    var report = ImportReport()
    var status: ImportReport.Status?
    do {
      let check = { if cancellation.isCancelled { throw CancellationError() } }
      let isKept = try server.loading(code.model ?? map.model(), check) { file in
        try file.write { session in
          let sink = RowSink(session, isForServer: true)
          let request = request.with { if obstacle != nil { $0.recording = .never } }
          let writing = writing(sink, request, cancellation, progress)
          defer { report = writing.report }
          let ended = try writing.run()
          status = ended
          return ended == .done || ended == .rejected
        }
      }
      guard isKept != nil else { return nil }
      report.status = status ?? .failed
      return report
    } catch {
      // What the file has got, the server has not.
      report.committed = 0
      let isStopped = status != nil && error is CancellationError
      report.status = isStopped ? .cancelled : .failed
      if isStopped { return report }
      throw ImportFailure(cause: error, report: report)
    }
  }

  private func writing<Sink: ImportSink>(
    _ sink: Sink,
    _ request: ImportRequest,
    _ cancellation: Cancellation,
    _ progress: @escaping (ImportProgress) -> Void
  ) -> ImportWriting<Sink> {
    ImportWriting(
      sink,
      map: map,
      code: code,
      request: request,
      cancellation: cancellation,
      logger: logger,
      progress: progress
    )
  }

  /// The report of an import with what it ended with.
  private func report(
    soFar: () -> ImportReport,
    of run: () throws -> ImportReport.Status
  ) throws(ImportFailure) -> ImportReport {
    do {
      let status = try run()
      var report = soFar()
      report.status = status
      return report
    } catch {
      var report = soFar()
      report.status = .failed
      throw ImportFailure(cause: error, report: report)
    }
  }
}
