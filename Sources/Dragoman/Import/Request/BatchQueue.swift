import Foundation

/// Carries batches from the thread that reads to the thread that writes, and back for reuse.
///
/// There are a few batches in all, so that memory is bounded: a reader that is ahead waits.
// @unchecked: all state is guarded by the condition's lock, and a batch is used only by the thread
// that took it out of the queue.
final class BatchQueue<Batch: AnyObject>: @unchecked Sendable {
  private let condition = NSCondition()
  /// Counts what has come for the writer.
  private let arrived = DispatchSemaphore(value: 0)
  private var free: [Batch]
  private var filled: [Batch] = []
  private var ending: Result<Void, any Error>?
  private var isStopped = false

  /// Makes a queue for batches that are empty.
  init(_ batches: [Batch]) {
    free = batches
  }

  /// A batch to fill; nil when the writer has stopped.
  func takeFree() -> Batch? {
    condition.withLock {
      while free.isEmpty && !isStopped { condition.wait() }
      return isStopped ? nil : free.removeLast()
    }
  }

  /// Hands a filled batch to the writer.
  func put(_ batch: Batch) {
    condition.withLock {
      filled.append(batch)
    }
    arrived.signal()
  }

  /// Tells the writer that no more batches come, and why; what was said first counts.
  func finish(_ ending: Result<Void, any Error>) {
    condition.withLock {
      self.ending = self.ending ?? ending
    }
    arrived.signal()
  }

  /// The next batch to write; nil at the end, or when the import is cancelled.
  ///
  /// - Throws: What the reader failed with, after the batches before it.
  func next(unless cancellation: Cancellation) throws -> Batch? {
    while true {
      if cancellation.isCancelled { return nil }
      let batch = condition.withLock { filled.isEmpty ? nil : filled.removeFirst() }
      if let batch { return batch }
      if let ending = condition.withLock({ filled.isEmpty ? ending : nil }) {
        try ending.get()
        return nil
      }
      // A reader that waits for a pipe does not wake us: look for a cancellation by ourselves. The lock is free
      // meanwhile, whatever the clock says: a condition waits until a time of day, or not at all.
      _ = arrived.wait(timeout: .now() + .milliseconds(100))
    }
  }

  /// The batch that `next(unless:)` gives next, if it has come.
  var following: Batch? { condition.withLock { filled.first } }

  /// Gives a batch back to the reader.
  func reuse(_ batch: Batch) {
    condition.withLock {
      free.append(batch)
      condition.broadcast()
    }
  }

  /// Tells the reader to stop: the writer takes no more.
  func stop() {
    condition.withLock {
      isStopped = true
      condition.broadcast()
    }
  }
}

extension BatchQueue<DraftBatch> {
  /// A queue for an import: one batch is being read, one mapped and one written, and one may wait.
  convenience init() {
    self.init((0..<4).map { _ in DraftBatch() })
  }
}
