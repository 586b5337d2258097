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
    if !held.isEmpty {
      let keys = batch.keys(of: object, isTombstone: isTombstone, plan)
      if held.concerns(keys, isTombstone: isTombstone) { return true }
    }
    guard plan.needsTargets, !isTombstone else { return false }
    let missing = try batch.needs(of: object, plan, all: false) { try !backend.exists($0, $1) }
    if missing.isEmpty { return false }
    return !batch.keys(of: object, isTombstone: false, plan).unmade(of: missing).isEmpty
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
    tally.counts.read -= 1
    let record = batch.records.records[index]
    let keys = batch.keys(of: object, isTombstone: isTombstone, plan)
    try backend.keep(held: ordinal)
    let made = HeldRecords.Record(
      batch: batch,
      object: object,
      isTombstone: isTombstone,
      origin: batch.records.origin(at: record.start, record: record.number),
      ordinal: ordinal,
      reject: tally.rejects == nil ? nil : RejectedRecord(record, in: batch),
      keys: keys,
      needs: isTombstone
        ? [] : keys.unmade(of: batch.needs(of: object, plan, all: true) { _, _ in true })
    )
    // Hooks are given the records.
    try held.add(made, plan, keepsRecord: !Backend.isBulk)
  }

  /// Writes the held records whose targets came, and rejects the rest.
  ///
  /// Records may need each other: the largest set is written in which nobody needs anyone who is
  /// neither stored nor in it.
  func applyHeld(unless cancellation: Cancellation?) throws {
    let records = held.takeAll()
    guard !records.isEmpty else { return }
    var schedule = try HeldSchedule(records, isStored: isStored)
    // Why records are refused that need others which need them.
    var stops: [Int: RecordStop] = [:]
    var last: DraftBatch?
    func next() throws -> Int? {
      while let number = try schedule.next() {
        if schedule.ring.isEmpty { return number }
        if let last { try flushAll(last) }
        let refused = try refused(of: schedule.ring, records, unless: cancellation)
        if refused.isEmpty { return number }
        for (number, why) in refused {
          switch why {
          case .lack(let need): try schedule.refuse(number, lacking: need)
          case .stop(let stop):
            stops[number] = stop
            try schedule.refuse(number, lacking: nil)
          }
        }
      }
      return nil
    }
    func takeUp(_ record: HeldRecords.Record, _ plan: ImportPlan, _ number: Int) throws {
      var isWritten = false
      last = record.batch
      let earlierCount = lossCount
      if let stop = stops[number] {
        isWritten = try settle(stop, held: record, plan)
      } else if let lack = schedule.lack(of: number) {
        try tally.reject(unresolved(lack, record, plan), held: record)
      } else {
        isWritten = try writeHeld(record, plan)
        // What its lists let go is gone before others look for it.
        if record.batch.deletesUnlinked(by: record.object, plan) { try flushAll(record.batch) }
      }
      try schedule.settle(number, isWritten: isWritten, hasLost: lossCount > earlierCount)
    }
    try self.takeUp(records, unless: cancellation, next: next, write: takeUp)
  }

  /// Why a record is not written that needs others which need it.
  private enum Refusal {
    case stop(RecordStop)
    /// What is not there, though all of them are written.
    case lack(HeldRecords.Need)
  }

  /// Which of records that need each other are refused, if they are written: the first one that is stopped, or all that
  /// lack something in the end.
  ///
  /// It is tried, and undone; who cancels that is told nothing of it.
  private func refused(
    of ring: [Int],
    _ records: [HeldRecords.Record],
    unless cancellation: Cancellation?
  ) throws -> [(number: Int, why: Refusal)] {
    guard backend.mayTry else { return [] }
    for number in ring { try records[number].batch.plan.map(prepare) }
    // What deletes makes temporary tables, which undoing would take along.
    if ring.contains(where: { records[$0].isTombstone }) { _ = try backend.delete([]) }
    let ring = ring.sorted()
    return try trying {
      var lacking: [Int: HeldRecords.Need] = [:]
      var schedule = try HeldSchedule(ring.map { records[$0] }, isStored: isStored)
      while let place = try schedule.next() {
        if cancellation?.isCancelled == true { return [] }
        let (number, earlierCount) = (ring[place], lossCount)
        lacking[number] = schedule.lack(of: place)
        if lacking[number] == nil, let stop = try stopping(records[number], number) {
          return [(number, .stop(stop))]
        }
        try schedule.settle(
          place,
          isWritten: lacking[number] == nil,
          hasLost: lossCount > earlierCount
        )
      }
      for (place, need) in schedule.unmet { lacking[ring[place]] = need }
      return ring.compactMap { number in lacking[number].map { (number, .lack($0)) } }
    }
  }

  /// Writes a record that is undone again: why it is rejected, if it is.
  private func stopping(_ record: HeldRecords.Record, _ number: Int) throws -> RecordStop? {
    guard let plan = record.batch.plan else { return nil }
    try prepare(for: plan)
    recordNumber = number
    do {
      if record.isTombstone {
        try delete(record.object, in: record.batch, plan)
      } else {
        _ = try write(record: record.object, in: record.batch, plan)
      }
      try flushStages(record.batch)
    } catch let stop as RecordStop {
      switch stop {
      // What it waits for is missing.
      case .skipped, .full, .waits: return nil
      case .refused, .keyless, .denied, .hook, .taken: return stop
      }
    }
    return nil
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
      return try settle(stop, held: record, plan)
    }
  }

  /// Rejects a held record that was stopped, unless it is skipped.
  ///
  /// - Returns: Whether its objects are there.
  private func settle(
    _ stop: RecordStop,
    held record: HeldRecords.Record,
    _ plan: ImportPlan
  ) throws -> Bool {
    if case .waits = stop,
      let need = try record.needs.first(where: { try $0.isIdentity && !isStored($0) })
    {
      try tally.reject(unresolved(need, record, plan), held: record)
      return false
    }
    let issue = try settle(stop, record.object, in: record.batch, plan) { _ in record.origin }
    if let issue { try tally.reject(issue, held: record) }
    return issue == nil
  }

  // MARK: - Needs

  /// Whether a target is stored by now.
  private func isStored(_ need: HeldRecords.Need) throws -> Bool {
    try backend.exists(need.reference, need.values)
  }

  private func unresolved(
    _ need: HeldRecords.Need,
    _ record: HeldRecords.Record,
    _ plan: ImportPlan
  ) -> ImportIssue {
    let draft = record.batch.objects[record.object + need.owner]
    let entity = plan.entities[draft.plan]
    let owner = plan.model.entities[need.link.layout.owner].name
    return ImportIssue(
      code: .linkUnresolved,
      entity: entity.name,
      attribute: need.link.name,
      origin: need.owner == 0 ? record.origin : record.place(of: draft.node),
      path: nil,
      value: need.text,
      message: "\(owner).\(need.link.name) refers to"
        + " \(MessageWords.withArticle(plan.model.entities[need.link.layout.destination].name))"
        + " that does not exist.",
      tried: [],
      map: nil,
      help: need.isIdentity
        ? "import the missing object first: it is a part of the identity; or let an attribute hold its key, and"
          + " be a part of the identity in its place (`key: { name: { attribute: ownName } }`)"
        : "import the missing object too, or give the relationship another `onUnresolved`",
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
