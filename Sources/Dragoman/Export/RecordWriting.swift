import DragomanGraph
import Foundation

/// What an export works with.
struct ExportWork {
  let request: ExportRequest
  let plan: ExportPlan
  let buffer: ExportBuffer
  let sink: any ExportSink
}

/// Writes batches of rows as records: on a thread of its own, while the next rows are read, where there are several
/// batches and nothing is asked of the store.
// @unchecked: all but the queue and the semaphore belongs to one thread at a time: to the one that writes, from its start
// until `finish(_:)` or `stop()` has waited for it, and to the one that reads before and after that.
final class RecordWriting: @unchecked Sendable {
  /// Writes a record; a closure, so that it is compiled for the encoder that it writes with.
  private let writeRecord: (RowBatch.Row) throws -> Void
  private let work: ExportWork
  private let cancellation: Cancellation
  private let queue: BatchQueue<RowBatch>
  private let mayHaveThread: Bool
  /// Whether the thread runs.
  private var isRunning = false
  private let hasEnded = DispatchSemaphore(value: 0)
  /// What the thread failed with.
  private var failure: (any Error)?
  @exclusivity(unchecked) private(set) var recordCount = 0
  @exclusivity(unchecked) private(set) var byteCount = 0

  /// Bytes are handed on in pieces of about this size.
  private static var pieceByteCount: Int { 128 << 10 }

  init(
    _ work: ExportWork,
    _ cancellation: Cancellation,
    writeRecord: @escaping (RowBatch.Row) throws -> Void
  ) {
    self.writeRecord = writeRecord
    self.work = work
    self.cancellation = cancellation
    let level = work.plan.level
    mayHaveThread = !level.asksStore
    // What records are linked to is in their batch: with links there are no more of them than two threads need.
    queue = BatchQueue((0..<(level.links.isEmpty ? 3 : 2)).map { _ in RowBatch(level) })
  }

  /// An empty batch.
  ///
  /// - Throws: What the writing failed with.
  func takeBatch() throws -> RowBatch {
    if let batch = queue.takeFree() { return batch }
    stop()
    throw failure ?? CancellationError()
  }

  /// Writes a batch, behind which others come.
  func write(_ batch: RowBatch) throws {
    guard mayHaveThread else {
      try writeRecords(of: batch)
      return queue.reuse(batch)
    }
    queue.put(batch)
    guard !isRunning else { return }
    isRunning = true
    WorkThread.start("dragoman.encode") { self.run() }
  }

  /// Writes the last batch; from then on the closure is the caller's.
  ///
  /// - Throws: What the writing failed with.
  func finish(_ last: RowBatch) throws {
    if isRunning {
      queue.put(last)
      queue.finish(.success(()))
      wait()
      if let failure { throw failure }
    } else {
      try writeRecords(of: last)
    }
  }

  /// Hands what is written to the output.
  func pass() throws {
    byteCount += work.buffer.count
    try work.sink.write(work.buffer.bytes)
    work.buffer.truncate(to: 0)
  }

  /// Ends the thread before its time.
  func stop() {
    queue.stop()
    queue.finish(.failure(CancellationError()))
    wait()
  }

  private func wait() {
    guard isRunning else { return }
    hasEnded.wait()
    isRunning = false
  }

  private func run() {
    defer { hasEnded.signal() }
    do {
      while let batch = try queue.next(unless: cancellation) {
        try writeRecords(of: batch)
        queue.reuse(batch)
      }
      if cancellation.isCancelled { throw Self.stopped }
    } catch {
      failure = error
      queue.stop()
    }
  }

  private func writeRecords(of batch: RowBatch) throws {
    for index in 0..<batch.count {
      try writeRecord(batch[index])
      recordCount += 1
      guard work.buffer.count >= Self.pieceByteCount else { continue }
      try pass()
      if cancellation.isCancelled { throw Self.stopped }
    }
    batch.removeAll()
  }

  private static var stopped: ExportError { ExportError(.cancelled, "The export was stopped.") }
}

extension ExportLevel {
  /// Whether the store is asked for objects while records are written.
  fileprivate var asksStore: Bool {
    links.contains { $0.unwritten?.ownKey != nil || $0.level.asksStore }
  }
}
