import Foundation

/// Maps batches while the next ones are read, on a thread of its own, and hands them to the writer in their order.
// @unchecked: all state is guarded by the condition's lock; a batch, and the mappers of its plan, are used only by the
// thread that took it, until who reads has waited for it.
final class BatchMapping: @unchecked Sendable {
  private let queue: BatchQueue<DraftBatch>
  private let condition = NSCondition()
  private var waiting: [(batch: DraftBatch, plan: CompiledPlan)] = []
  private var isMapping = false
  private var isStarted = false
  private var isEnded = false

  init(_ queue: BatchQueue<DraftBatch>) {
    self.queue = queue
  }

  /// Maps a batch, and hands it to the writer.
  ///
  /// - Parameters:
  ///   - batch: The batch.
  ///   - plan: Whose mappers map it.
  ///   - isLast: Whether there is nothing to read meanwhile: a small input needs no other thread.
  func map(_ batch: DraftBatch, by plan: CompiledPlan, isLast: Bool) {
    if isLast {
      wait()
      return plan.map(batch, into: queue)
    }
    condition.withLock {
      waiting.append((batch, plan))
      condition.broadcast()
      guard !isStarted else { return }
      isStarted = true
      WorkThread.start("dragoman.map") { self.run() }
    }
  }

  /// Waits until all batches are mapped: from then on the mappers are the caller's.
  func wait() {
    condition.withLock {
      while isMapping || !waiting.isEmpty { condition.wait() }
    }
  }

  /// Ends the thread; all batches were waited for.
  func end() {
    condition.withLock {
      isEnded = true
      condition.broadcast()
    }
  }

  private func run() {
    while let (batch, plan) = take() {
      plan.map(batch, into: queue)
      condition.withLock {
        isMapping = false
        condition.broadcast()
      }
    }
  }

  private func take() -> (DraftBatch, CompiledPlan)? {
    condition.withLock {
      while waiting.isEmpty && !isEnded { condition.wait() }
      guard !waiting.isEmpty else { return nil }
      isMapping = true
      return waiting.removeFirst()
    }
  }
}

/// A plan with the mappers of its sources; mappers belong to one thread at a time.
final class CompiledPlan {
  let plan: ImportPlan
  /// The mappers of the sources.
  let mappers: [RecordMapper]
  private let set: MapperSet
  /// Tells which records are to be imported; nil: all.
  private let filter: PartitionFilter?

  /// What became of the paths.
  var outcomes: [UnmatchedPath.Outcome] { self.set.outcomes(format: plan.format) }

  init(_ plan: ImportPlan, mapFile: String?, _ partition: ImportPartition? = nil) throws {
    self.plan = plan
    filter = try partition.map { partition throws(ImportError) in
      try PartitionFilter(partition, plan)
    }
    let set = try MapperSet(plan, mapFile: mapFile)
    mappers = plan.sources.map { set.mappers[$0.plan] }
    self.set = set
  }

  /// Maps a record of a batch.
  ///
  /// - Throws: `ReadError`, as `MapperSet.checkPatterns(behind:of:)`.
  func map(_ index: Int, into batch: DraftBatch) throws(ReadError) {
    let mapper = mappers[batch.records.records[index].source]
    if let filter {
      let (mark, issues, repeated) = (batch.mark, batch.issues.count, batch.repeatedIssues)
      mapper.map(index, into: batch)
      if !filter.takesLast(of: batch) { batch.leaveLast(mark, issues: issues, repeated) }
    } else {
      mapper.map(index, into: batch)
    }
    try set.checkPatterns(behind: index, of: batch.records)
  }

  /// Maps the records of a batch, and hands it to the writer.
  fileprivate func map(_ batch: DraftBatch, into queue: BatchQueue<DraftBatch>) {
    do throws(ReadError) {
      for index in batch.records.records.indices { try map(index, into: batch) }
    } catch {
      queue.finish(.failure(error))
      return queue.reuse(batch)
    }
    batch.isStrange = batch.sources.contains { mappers[$0].use.isStrange }
    queue.put(batch)
  }
}
