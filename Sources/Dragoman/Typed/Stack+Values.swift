import DragomanGraph
import Logging

/// The values of imported objects, and what became of the records.
public struct ImportedValues<Value: EntityValue>: Sendable {
  /// The values, distinct, in the order of the records that name their objects first.
  public let values: [Value]
  /// What was inserted, updated, rejected, and why.
  public let report: ImportReport
}

extension Stack {
  /// Imports a feed straight into values of a Swift type.
  ///
  ///     let people: [Person] = try await stack.import("people.json", into: Person.self)
  ///
  /// It is stored in one transaction, and the values are read from what is stored: with their ids,
  /// defaults and nested values. What the type cannot hold, as 300 for an `Int8`, is an error, and nothing is stored.
  ///
  /// - Parameters:
  ///   - file: The file; JSON, NDJSON, CSV or XML, packed or not, as the map has sources.
  ///   - type: The type.
  ///   - map: What the feed means; nil: the entity's registered mapper, or the default one, which
  ///     takes properties by their own names.
  ///   - maximumRejects: More rejected records than this and nothing is imported: 0 unless told
  ///     otherwise, since the answer does not name them. `importValues` does. Without a map neither is anything
  ///     imported where a value does not fit its attribute, unless this is nil.
  /// - Returns: The values, distinct, in the order of the feed.
  /// - Throws: `MapFaults`, `ReadError`, `ImportError`, `StoreError`, `ValueError`;
  ///   `CancellationError` where the task is cancelled between two batches, and then nothing is
  ///   written.
  public func `import`<Value: EntityValue>(
    _ file: String,
    into type: Value.Type,
    by map: ImportMap? = nil,
    maximumRejects: Int? = 0
  ) async throws -> [Value] {
    try await imported(
      [.file(file)],
      into: type,
      by: map,
      maximumRejects: maximumRejects,
      admitsInvalid: map != nil || maximumRejects == nil
    ).values
  }

  /// Imports records in memory straight into values of a Swift type.
  ///
  /// - Throws: as `import(_:into:by:maximumRejects:)` of a file.
  public func `import`<Value: EntityValue>(
    _ records: [ForeignValue],
    into type: Value.Type,
    by map: ImportMap? = nil,
    maximumRejects: Int? = 0
  ) async throws -> [Value] {
    try await imported(
      [.records(records)],
      into: type,
      by: map,
      maximumRejects: maximumRejects,
      admitsInvalid: map != nil || maximumRejects == nil
    ).values
  }

  /// Imports feeds straight into values of a Swift type, and tells what became of the records.
  ///
  /// - Throws: as `import(_:into:by:maximumRejects:)`.
  public func importValues<Value: EntityValue>(
    _ inputs: [ImportInput],
    into type: Value.Type,
    by map: ImportMap? = nil,
    maximumRejects: Int? = nil
  ) async throws -> ImportedValues<Value> {
    try await imported(
      inputs,
      into: type,
      by: map,
      maximumRejects: maximumRejects,
      admitsInvalid: true
    )
  }

  private func imported<Value: EntityValue>(
    _ inputs: [ImportInput],
    into type: Value.Type,
    by map: ImportMap?,
    maximumRejects: Int?,
    admitsInvalid: Bool
  ) async throws -> ImportedValues<Value> {
    let name = Value.schema.name
    let meaning: (map: ImportMap, code: ImportCode)
    if let map {
      meaning = (map, ImportCode())
    } else {
      meaning = try mappers.importMap(for: name)
    }
    let cancellation = Cancellation()
    return try await withTaskCancellationHandler {
      try await writeInOneTransaction { context in
        let imported = try FeedContextImport(
          map: meaning.map,
          code: meaning.code,
          request: ImportRequest(inputs, options: .init(maximumRejects: maximumRejects)),
          context: context,
          cancellation: cancellation
        ).run()
        if !admitsInvalid, let issue = imported.report.firstInvalid {
          throw ImportError(invalid: issue)
        }
        try context.records.flush()
        // Before it is committed: what the type cannot hold is not to be in anybody's way.
        let values = try context.values(type, with: imported.ids)
        return ImportedValues(values: values, report: imported.report)
      }
    } onCancel: {
      cancellation.cancel()
    }
  }
}

extension ImportReport {
  /// The first value that did not fit its attribute, of a record that was taken.
  fileprivate var firstInvalid: ImportIssue? {
    issues.lazy.flatMap(\.examples).first { issue in
      !issue.isReject && issue.attribute != nil && issue.code.rawValue.hasPrefix("value.")
        && issue.code != .contradiction
    }
  }
}

extension ImportError {
  /// A value is left out, and nobody gets the report.
  fileprivate init(invalid issue: ImportIssue) {
    let name = [issue.entity, issue.attribute].compactMap(\.self).joined(separator: ".")
    let value = issue.value.map { ", \($0)" } ?? ""
    self.init(
      .tooManyRejects,
      "A value does not fit its attribute; \(issue.origin): [\(issue.code.rawValue)] \(name)\(value):"
        + " \(issue.message)",
      help: issue.help ?? "mend it, or ask for the report by importValues"
    )
  }
}

/// An import of feeds into a context: one thread reads and maps, the context's applies.
///
///     FeedReading   a thread: inputs -> DraftBatch
///     DraftWalker   DraftBatch -> objects, or rows where nobody can tell the difference
private struct FeedContextImport {
  let map: ImportMap
  let code: ImportCode
  let request: ImportRequest
  let context: ManagedObjectContext
  let cancellation: Cancellation

  func run() throws -> ImportedObjects {
    if request.retriedFile != nil {
      throw ImportError(.request, "A rejects file is imported again into a store, not as objects.")
    }
    if let rows = RowBackend(past: context, map, code) { return try run(rows) {} }
    let objects = ObjectBackend(context, code: code)
    let imported = try run(objects) { try context.records.flush() }
    try objects.others.tell()
    return imported
  }

  private func run(
    _ backend: some NamingBackend,
    flush: () throws -> Void
  ) throws -> ImportedObjects {
    let start = ContinuousClock().now
    let walker = DraftWalker(
      backend,
      mode: request.mode,
      maximumRejects: request.maximumRejects(by: map),
      maximumWaitingByteCount: request.maximumWaitingByteCount(by: map)
    )
    let isOutermost = context.finder.beginImport()
    defer { if isOutermost { context.finder.endImport() } }
    let queue = BatchQueue<DraftBatch>()
    let notices = NoticeLog()
    let reading = FeedReading(
      map: map,
      code: code,
      model: context.model,
      request: request,
      queue: queue,
      cancellation: cancellation,
      batchSize: 1000,
      committedCount: 0,
      notices: notices,
      retried: RetriedLines(),
      logger: Logger(label: "dragoman")
    )
    WorkThread.start("dragoman.read") { reading.run() }
    defer { queue.stop() }
    do {
      while let batch = try queue.next(unless: cancellation) {
        try walker.apply(batch)
        if !walker.isWaiting { try flush() }
        queue.reuse(batch)
      }
      // Half of a feed is not what was asked for.
      if cancellation.isCancelled { throw CancellationError() }
      try walker.finish()
    } catch let error as ImportError where error.code == .tooManyRejects {
      // Nobody gets the report.
      throw ImportError(error, rejected: walker.tally.report())
    }
    var report = walker.tally.report()
    report.notices += notices.all
    report.unmatchedPaths = notices.unmatchedPaths
    report.duration = ContinuousClock().now - start
    return ImportedObjects(ids: backend.objects, report: report)
  }
}
