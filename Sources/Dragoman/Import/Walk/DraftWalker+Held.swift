import DragomanGraph

/// Records that are to be rejected if their targets do not come (`onUnresolved: reject`), and
/// records whose identity contains a to-one that is not there yet.
extension DraftWalker {
  /// Whether a record must wait: a target that it needs is not there, or an earlier record about the
  /// same objects waits.
  func mustHold(
    _ object: Int,
    isTombstone: Bool = false,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws -> Bool {
    if !held.isEmpty, held.concerns(batch.keys(of: object, isTombstone: isTombstone, plan)) {
      return true
    }
    guard plan.needsTargets, !isTombstone else { return false }
    let missing = try batch.needs(of: object, plan, all: false).filter { try !isStored($0) }
    if missing.isEmpty { return false }
    return !missing.allSatisfy(batch.keys(of: object, isTombstone: false, plan).makes)
  }

  /// Keeps a record until the end.
  ///
  /// It counts as read when it is known what becomes of it.
  func hold(
    _ object: Int,
    isTombstone: Bool = false,
    record index: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws {
    let record = batch.records.records[index]
    try backend.keep(held: ordinal)
    let made = HeldRecords.Record(
      batch: batch,
      object: object,
      isTombstone: isTombstone,
      origin: batch.records.origin(at: record.start, record: record.number),
      ordinal: ordinal,
      reject: tally.rejects == nil ? nil : RejectedRecord(record, in: batch),
      keys: batch.keys(of: object, isTombstone: isTombstone, plan),
      needs: isTombstone ? [] : batch.needs(of: object, plan, all: true)
    )
    // Hooks are given the records.
    held.add(made, plan, keepsRecord: !Backend.isBulk)
    tally.counts.read -= 1
  }

  /// Writes the held records whose targets came, and rejects the rest.
  ///
  /// Records may need each other: the largest set is written in which nobody needs anyone who is
  /// neither stored nor in it.
  func applyHeld(unless cancellation: Cancellation?) throws {
    let records = held.takeAll()
    guard !records.isEmpty else { return }
    let deletesOthers = records.map { record in
      record.isTombstone
        || record.batch.plan.map { record.batch.deletesUnlinked(by: record.object, $0) } ?? false
    }
    var schedule = try HeldSchedule(
      records,
      losesTargets: deletesOthers.contains(true),
      isStored: isStored
    )
    func settle(_ record: HeldRecords.Record, _ plan: ImportPlan, _ number: Int) throws {
      var isWritten = false
      if let lack = schedule.lack(of: number) {
        try tally.reject(unresolved(lack, record, plan), held: record)
      } else {
        isWritten = try writeHeld(record, plan)
        // What its lists let go is gone before others look for it.
        if deletesOthers[number] { try flushAll(record.batch) }
      }
      try schedule.settle(number, isWritten: isWritten, deletesOthers: deletesOthers[number])
    }
    try takeUp(records, unless: cancellation, next: { try schedule.next() }, write: settle)
  }

  /// Takes up records that were kept or set aside, as if each were read now.
  ///
  /// - Parameters:
  ///   - records: The records.
  ///   - cancellation: Stops between two of them.
  ///   - next: The number of the next one that is taken up; nil: that was all.
  ///   - write: Writes a record, or rejects it.
  /// - Throws: What `write` throws; `CancellationError`; what storing the links of a batch throws.
  func takeUp(
    _ records: [HeldRecords.Record],
    unless cancellation: Cancellation?,
    next: () throws -> Int?,
    write: (HeldRecords.Record, ImportPlan, Int) throws -> Void
  ) throws {
    var last: DraftBatch?
    while let number = try next() {
      if cancellation?.isCancelled == true { throw CancellationError() }
      let record = records[number]
      guard let plan = record.batch.plan else { continue }
      if let last, last !== record.batch { try leave(last) }
      last = record.batch
      try prepare(for: plan)
      tally.counts.read += 1
      ordinal = record.ordinal
      // Its links and references that wait know it by its place among the others.
      recordNumber = number
      issuePlace = record.issuePlace ?? tally.issues.takePlace()
      try write(record, plan, number)
    }
    if let last { try leave(last) }
  }

  /// Stores what the records of a batch staged, and counts it.
  func leave(_ batch: DraftBatch) throws {
    try flushAll(batch)
    if let plan = batch.plan { try settleTally(plan) }
  }

  /// Writes a held record.
  ///
  /// - Returns: Whether its objects are there.
  func writeHeld(_ record: HeldRecords.Record, _ plan: ImportPlan) throws -> Bool {
    try flushCrossed(record.batch)
    do {
      if record.isTombstone {
        try delete(record.object, in: record.batch, plan)
      } else {
        try attempt(record.object, in: record.batch, plan, isUndoable: true)
      }
      return true
    } catch let stop as RecordStop {
      if case .waits = stop, let need = record.needs.first(where: \.isIdentity) {
        try tally.reject(unresolved(need, record, plan), held: record)
        return false
      }
      let issue = try settle(stop, record.object, in: record.batch, plan) { _ in record.origin }
      if let issue { try tally.reject(issue, held: record) }
      return issue == nil
    }
  }

  // MARK: - Needs

  /// Whether a target is stored by now.
  private func isStored(_ need: HeldRecords.Need) throws -> Bool {
    try backend.exists(need.entity, columns: need.columns, values: need.values)
  }

  private func unresolved(
    _ need: HeldRecords.Need,
    _ record: HeldRecords.Record,
    _ plan: ImportPlan
  ) -> ImportIssue {
    let draft = record.batch.objects[record.object]
    let entity = plan.entities[draft.plan]
    let owner = plan.model.entities[need.link.owner].name
    return ImportIssue(
      code: .linkUnresolved,
      entity: entity.name,
      attribute: need.link.name,
      origin: record.origin,
      path: nil,
      value: need.text,
      message: "\(owner).\(need.link.name) names an object that nobody is.",
      tried: [],
      map: nil,
      help: "import the missing object too, or give the relationship another `onUnresolved`",
      key: OutcomeIssue.key(of: record.batch, start: draft.start, entity),
      isReject: true
    )
  }
}

extension ImportPlan {
  /// Whether some relationship rejects records whose targets do not come.
  var needsTargets: Bool {
    entities.contains { $0.links.contains { $0.onUnresolved == .reject } }
  }
}
