import DragomanGraph

/// How far an import is: the numbers of its report, while it runs.
public struct ImportProgress: Sendable, Hashable {
  /// The counts so far.
  public var counts: ImportLedgerEntry.Counts
  /// How many bytes of all inputs were read, before decompression.
  public var byteCount: Int
  /// How many bytes all inputs have; nil where one of them does not tell (a pipe).
  public var totalByteCount: Int?
  /// The time since the start.
  public var duration: Duration
}

/// An import under way.
public struct ImportRun: Sendable {
  /// The numbers after each batch; ends with the import.
  ///
  /// Only the newest is kept for a slow reader.
  public let progress: AsyncStream<ImportProgress>
  let task: Task<Result<ImportReport, ImportFailure>, Never>
  let cancellation: Cancellation

  /// The report, when the import has ended.
  ///
  /// - Throws: `ImportFailure` with the cause and the report until then.
  public func report() async throws(ImportFailure) -> ImportReport {
    try await task.value.get()
  }

  /// Asks the import to stop after the batch at hand; its report then says `cancelled`.
  public func cancel() { cancellation.cancel() }
}
