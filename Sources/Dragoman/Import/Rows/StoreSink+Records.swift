import DragomanGraph

/// Records with others nested in them: each is written whole or not at all.
extension StoreSink {
  /// Writes a record with everything nested in it, whole or not at all.
  func writeRecord(
    _ object: Int,
    record index: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws {
    for stage in crossedStages where !stage.isEmpty { try flush(stage, batch) }
    recordNumber = batch.records.records[index].number
    let target = try target(of: batch.objects[object].plan, in: plan, isNested: false)
    if try mustHold(object, in: batch, plan) {
      try hold(object, record: index, in: batch, plan)
      return
    }
    do {
      try attempt(object, in: batch, plan, usesSavepoint: target.needsSavepoint)
      if let changeLog {
        let record = batch.records.records[index]
        try tell(changeLog, at: batch.records.origin(at: record.start, record: record.number))
      }
    } catch let stop as RecordStop {
      switch stop {
      case .refused(let refused, let outcome):
        let refusedPlan = plan.entities[batch.objects[refused].plan]
        if let issue = describe(outcome, batch, object: refused, record: index, refusedPlan) {
          try reject(issue, record: index, in: batch)
        }
      case .skipped:
        counts.skipped += 1
        try seeSkipped(object, in: batch, plan)
      case .waits:
        try hold(object, record: index, in: batch, plan)
      case .denied(let relationship):
        try reject(
          denial(relationship, batch, object: object, record: index, target.plan),
          record: index,
          in: batch
        )
      case .full: break
      }
    }
  }

  /// Writes a record; what it did is undone where it is stopped.
  func attempt(
    _ object: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan,
    usesSavepoint: Bool
  ) throws {
    let savepoint = try usesSavepoint ? madeSavepoint() : nil
    if flushedCount > 0 {
      flushedCount -= 1
      try flushAll(batch)
      return try attempt(object, in: batch, plan, savepoint, mayFlush: true)
    }
    do {
      try attempt(object, in: batch, plan, savepoint, mayFlush: !usesSavepoint)
    } catch RecordStop.full {
      // An owner of an earlier record comes again: that record's links are stored first, and then
      // the record may store its own. So it is with the next ones, most likely: to find that out by
      // undoing what each of them wrote would cost more than to store links earlier.
      flushedCount = Self.flushedRun
      try flushAll(batch)
      try attempt(object, in: batch, plan, savepoint, mayFlush: true)
    }
  }

  private func attempt(
    _ object: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan,
    _ savepoint: Savepoint?,
    mayFlush: Bool
  ) throws {
    let mark = try begin(savepoint, mayFlush: mayFlush)
    do {
      try write(record: object, in: batch, plan)
      try savepoint?.release()
      contradictions.keep(in: &issues)
    } catch let stop as RecordStop {
      try undo(savepoint, to: mark)
      throw stop
    }
  }

  private func write(record object: Int, in batch: DraftBatch, _ plan: ImportPlan) throws {
    unlinked.removeAll()
    _ = try write(object, in: batch, plan, under: nil)
    if !unlinked.isEmpty { try deleteUnlinked(batch) }
  }

  /// Where a record, or a run of them, begins.
  private struct Mark {
    let writtenCount: Int
    let waitCount: Int
  }

  private func begin(_ savepoint: Savepoint?, mayFlush: Bool) throws -> Mark {
    staged.removeAll(keepingCapacity: true)
    linksOfRecord.removeAll(keepingCapacity: true)
    contradictions.begin()
    self.mayFlush = mayFlush
    if savepoint != nil { for stage in allStages { stage.mark() } }
    try savepoint?.begin()
    return Mark(writtenCount: written.count, waitCount: waits.count)
  }

  private func undo(_ savepoint: Savepoint?, to mark: Mark) throws {
    written.removeLast(written.count - mark.writtenCount)
    waits.removeLast(waits.count - mark.waitCount)
    uncountLinks()
    guard let savepoint else { return }
    try savepoint.undo()
    for stage in allStages { stage.undo() }
    if mayFlush {
      for stage in allStages { stage.forgetAll() }
    } else {
      for (stage, owner) in staged { stage.forget(owner) }
    }
  }

  // MARK: - Records together

  /// Writes a run of records under one savepoint; nil where each is to be written by itself.
  ///
  /// For every savepoint SQLite keeps a copy of each page that is changed after it, a dozen for an
  /// object with a few others nested in it: a run of records changes most of its pages again and
  /// again. A record that is stopped undoes its run, which is then written record by record; the next
  /// runs are shorter.
  func writeTogether(
    from first: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws -> Range<Int>? {
    // Whoever observes the changes is told record by record.
    guard changeLog == nil, crossedStages.isEmpty else { return nil }
    if aloneCount > 0 {
      aloneCount -= 1
      return nil
    }
    guard try runObject(at: first, in: batch, plan) != nil,
      try runObject(at: first + 1, in: batch, plan) != nil
    else { return nil }
    let earlierCount = counts.read
    var count = 0
    let savepoint = try madeSavepoint()
    let mark = try begin(savepoint, mayFlush: false)
    do {
      while count < runLength, let object = try runObject(at: first + count, in: batch, plan) {
        counts.read += 1
        recordNumber = batch.records.records[first + count].number
        try write(record: object, in: batch, plan)
        count += 1
      }
      try savepoint.release()
      contradictions.keep(in: &issues)
    } catch is RecordStop {
      try undo(savepoint, to: mark)
      counts.read = earlierCount
      // What comes up to the record that was stopped is written alone. Where records are stopped
      // again and again, runs are tried now and then only.
      aloneCount = runLength > 4 ? count : 256
      runLength = max(4, runLength / 4)
      return nil
    }
    guard count > 0 else { return nil }
    runLength = min(Self.longestRun, runLength * 2)
    return first..<first + count
  }

  /// The record at a place, if it can take part in a run: one that is to be held writes nothing.
  private func runObject(
    at place: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws -> Int? {
    guard place < batch.drafts.count, case .row(let object) = batch.drafts[place],
      try target(of: batch.objects[object].plan, in: plan, isNested: false).needsSavepoint,
      try !mustHold(object, in: batch, plan)
    else { return nil }
    return object
  }

  private static let longestRun = 4_096
  private static let flushedRun = 256

  private func madeSavepoint() throws -> Savepoint {
    if let savepoint { return savepoint }
    let made = try session.savepoint()
    savepoint = made
    return made
  }
}
