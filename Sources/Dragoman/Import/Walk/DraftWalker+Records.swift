import DragomanGraph

/// Records with others nested in them: each is written whole or not at all.
extension DraftWalker {
  /// Writes a record with everything nested in it, whole or not at all.
  func writeRecord(
    _ object: Int,
    record index: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws {
    try flushCrossed(batch)
    recordNumber = batch.records.records[index].number
    issuePlace = tally.issues.takePlace()
    if try mustHold(object, in: batch, plan) {
      try hold(object, record: index, in: batch, plan)
      return
    }
    do {
      let target = try target(of: batch.objects[object].plan, in: plan, isNested: false)
      try attempt(object, in: batch, plan, isUndoable: target.isUndoable)
      if backend.isObserved { try tell(of: index, in: batch) }
    } catch RecordStop.waits {
      try hold(object, record: index, in: batch, plan)
    } catch let stop as RecordStop {
      try reject(stop, object, record: index, in: batch)
    }
  }

  /// Rejects a record that was stopped, unless it is skipped.
  func reject(_ stop: RecordStop, _ object: Int, record index: Int, in batch: DraftBatch) throws {
    guard let plan = batch.plan else { return }
    let origin = { OutcomeIssue.origin(of: $0, record: index, in: batch) }
    if let issue = try settle(stop, object, in: batch, plan, origin) {
      try reject(issue, record: index, in: batch)
    }
  }

  /// Counts a rejected record and writes it to the rejects file.
  func reject(_ issue: ImportIssue, record index: Int, in batch: DraftBatch) throws {
    try settleSetAside()
    batch.refusedRecords.insert(index)
    try tally.reject(issue) { RejectedRecord(batch.records.records[index], in: batch) }
  }

  /// What becomes of a record that was stopped: why it is rejected, or nil where it is skipped.
  func settle(
    _ stop: RecordStop,
    _ object: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan,
    _ origin: (Int) -> Origin
  ) throws -> ImportIssue? {
    func issue(of object: Int) -> OutcomeIssue {
      let entity = plan.entities[batch.objects[object].plan]
      return OutcomeIssue(batch: batch, object: object, plan: entity, origin: origin(object))
    }
    switch stop {
    case .refused(let object, let outcome): return issue(of: object).refused(outcome)
    case .keyless(let object, let name): return issue(of: object).keyless(name)
    case .denied(let name): return issue(of: object).denied(by: name)
    case .hook(let object, let error): return issue(of: object).refused(by: error)
    case .taken(let object, let entity, let columns):
      return issue(of: object).taken(columns, by: entity)
    case .skipped, .waits, .full:
      tally.counts.skipped += 1
      let target = try target(of: batch.objects[object].plan, in: plan, isNested: false)
      if let key = target.writer.key {
        backend.didApply(key, of: target.plan.layout, ordinal: ordinal)
      }
      try see(object, at: target.writer.key, isNested: false, in: batch, plan)
      return nil
    }
  }

  /// Writes a record; what it did is undone where it is stopped.
  func attempt(
    _ object: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan,
    isUndoable: Bool
  ) throws {
    if flushedCount > 0 {
      flushedCount -= 1
      try flushAll(batch)
      return try attempt(object, in: batch, plan, isUndoable, mayFlush: true)
    }
    do {
      if !isUndoable { try storeBeforeKeyChange(of: object, in: batch, plan) }
      try attempt(object, in: batch, plan, isUndoable, mayFlush: !isUndoable)
    } catch RecordStop.full {
      // An owner of an earlier record comes again: that record's links are stored first, and then
      // the record may store its own. So it is with the next ones, most likely: to find that out by
      // undoing what each of them wrote would cost more than to store links earlier.
      flushedCount = Self.flushedRun
      try flushAll(batch)
      try attempt(object, in: batch, plan, isUndoable, mayFlush: true)
    }
  }

  private func attempt(
    _ object: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan,
    _ isUndoable: Bool,
    mayFlush: Bool
  ) throws {
    let mark = try begin(isUndoable, mayFlush: mayFlush)
    do {
      let key = try write(record: object, in: batch, plan)
      if isUndoable { try backend.release() }
      let layout = plan.entities[batch.objects[object].plan].layout
      backend.didApply(key, of: layout, ordinal: ordinal)
      contradictions.keep(in: &tally.issues)
    } catch let stop as RecordStop {
      try undo(to: mark)
      throw stop
    } catch {
      backend.abandon()
      throw error
    }
  }

  func write(record object: Int, in batch: DraftBatch, _ plan: ImportPlan) throws -> Int64 {
    unlinked.removeAll()
    given.removeAll(keepingCapacity: true)
    loose.removeAll(keepingCapacity: true)
    isInRecord = true
    defer { isInRecord = false }
    let key = try write(object, in: batch, plan, under: nil).key
    if keepsGiven {
      let root = plan.entities[batch.objects[object].plan].layout.root
      try deleteUnlinked(by: ObjectPlace(root, key), batch)
    }
    if !loose.isEmpty { try deleteLoose() }
    return key
  }

  /// Writes something, looks at it, and undoes it.
  ///
  /// Nothing may be staged.
  func trying<Result>(_ body: () throws -> Result) throws -> Result {
    let mark = try begin(true, mayFlush: true)
    let earlier = (lossCount, tally.counts, tally.entities)
    isTrying = true
    defer { isTrying = false }
    do {
      let result = try body()
      try undo(to: mark)
      (lossCount, tally.counts, tally.entities) = earlier
      return result
    } catch {
      backend.abandon()
      throw error
    }
  }

  /// Where a record, or a run of them, begins.
  private struct Mark {
    let isUndoable: Bool
    let writtenCount: Int
    let waitCount: Int
    let betweenCount: Int
  }

  private func begin(_ isUndoable: Bool, mayFlush: Bool) throws -> Mark {
    staged.removeAll(keepingCapacity: true)
    tally.mark()
    self.mayFlush = mayFlush
    if isUndoable {
      for stage in stages.all { stage.mark() }
      try backend.begin()
    }
    return Mark(
      isUndoable: isUndoable,
      writtenCount: tally.written.count,
      waitCount: tally.waits.count,
      betweenCount: tally.linkedBetween.count
    )
  }

  private func undo(to mark: Mark) throws {
    tally.written.removeLast(tally.written.count - mark.writtenCount)
    tally.waits.removeLast(tally.waits.count - mark.waitCount)
    tally.linkedBetween.removeLast(tally.linkedBetween.count - mark.betweenCount)
    tally.undo()
    contradictions.drop()
    guard mark.isUndoable else { return }
    try backend.undo()
    for stage in stages.all { stage.undo() }
    if mayFlush {
      for stage in stages.all { stage.forgetAll() }
    } else {
      for (stage, owner) in staged { stage.forget(owner) }
    }
  }

  /// Remembers the object of a draft that is left alone, at a primary key if there is one, and those
  /// nested in it: the feed has them all the same.
  func see(
    _ object: Int,
    at key: Int64?,
    isNested: Bool,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws {
    guard backend.isPruning else { return }
    let draft = batch.objects[object]
    let target = try target(of: draft.plan, in: plan, isNested: isNested)
    if let key { try backend.see(key, of: target.plan.layout) }
    for link in draft.links.map({ batch.links[$0] }) {
      let layout = target.plan.links[link.slot].layout
      var parent: Parent?
      if let key, case .inverseColumn(let column, _) = layout.storage {
        parent = Parent(link: layout, column: column, key: key, order: nil)
      }
      for place in link.targets {
        guard case .object(let nested) = batch.targets[place] else { continue }
        let other = try self.target(of: batch.objects[nested].plan, in: plan, isNested: true)
        _ = try find(nested, other, in: batch, plan, under: parent)
        try see(nested, at: other.writer.key, isNested: true, in: batch, plan)
      }
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
    guard Backend.isBulk, !backend.isObserved, stages.crossed.isEmpty else { return nil }
    if aloneCount > 0 {
      aloneCount -= 1
      return nil
    }
    guard try runObject(at: first, in: batch, plan) != nil,
      try runObject(at: first + 1, in: batch, plan) != nil
    else { return nil }
    let earlier = (count: tally.counts.read, ordinal: ordinal)
    var count = 0
    let mark = try begin(true, mayFlush: false)
    do {
      while count < runLength, let object = try runObject(at: first + count, in: batch, plan),
        try mayFollow(object, at: first + count, in: batch, plan)
      {
        tally.counts.read += 1
        ordinal += 1
        recordNumber = batch.records.records[first + count].number
        issuePlace = tally.issues.takePlace()
        _ = try write(record: object, in: batch, plan)
        count += 1
      }
      try backend.release()
      contradictions.keep(in: &tally.issues)
    } catch is RecordStop {
      try undo(to: mark)
      (tally.counts.read, ordinal) = earlier
      decided = nil
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
      try target(of: batch.objects[object].plan, in: plan, isNested: false).isUndoable,
      try !mustHold(object, in: batch, plan)
    else { return nil }
    return object
  }

  /// Whether a record can be written within a run, as far as tables are loaded.
  private func mayFollow(
    _ object: Int,
    at place: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws -> Bool {
    // Loads are begun and ended between runs only.
    guard try isReady(object, in: batch, plan) else { return false }
    switch try decide(object, at: place, in: batch, plan) {
    case .isNew, .isOrdinary: return true
    case .isUndecided, .needsTables: return false
    }
  }

  private static var longestRun: Int { 4_096 }
  private static var flushedRun: Int { 256 }
}

/// Why a record is not written: everything it did is undone.
enum RecordStop: Error {
  /// An object is refused, by its index.
  case refused(object: Int, EntityWriter.Outcome)
  /// A to-one that is a part of an object's key leads to nobody.
  case keyless(object: Int, relationship: String)
  /// The record's object is left alone.
  case skipped
  /// The identity contains a to-one whose target is not there yet.
  case waits
  /// The delete rule `deny` of a relationship protects what the record unlinks.
  case denied(String)
  /// A hook refuses the record.
  case hook(object: Int, any Error)
  /// A hook gives an object of an entity the key that another one has, by the names of its columns.
  case taken(object: Int, by: String, String)
  /// Links of an owner are staged by an earlier record: they are to be stored first.
  case full
}
