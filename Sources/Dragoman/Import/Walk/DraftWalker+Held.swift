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
    let made = batch.keys(of: object, isTombstone: false, plan).made
    return !missing.allSatisfy { need in
      made.contains { $0.key == need.key && need.entity.family.contains($0.entity) }
    }
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
    let failed = try failures(among: records)
    // What was to be made, and was not after all.
    var lost: Set<HeldRecords.Key> = []
    // Who deletes others on the way may delete what those behind it need, unless one of them makes it anew.
    let deletesOthers = records.contains {
      $0.isTombstone || $0.batch.plan?.deletesUnlinked == true
    }
    var makerCounts: [HeldRecords.Key: Int] = [:]
    if deletesOthers {
      for (number, record) in records.enumerated() where failed[number] == nil {
        for (key, _) in record.keys.made { makerCounts[key, default: 0] += 1 }
      }
    }
    let order = try HeldOrder(records, without: { failed[$0] != nil }, isStored: isStored)
      .numbers()
    try takeUp(records, order, unless: cancellation) { record, plan, number in
      if deletesOthers { try flushStages(record.batch) }
      let missing =
        try failed[number]
        ?? record.needs.first { need in
          let mayBeGone = deletesOthers && makerCounts[need.key] ?? 0 == 0
          return try (lost.contains(need.key) || mayBeGone) && !isStored(need)
        }
      var isWritten = false
      if let missing {
        try tally.reject(unresolved(missing, record, plan), held: record)
      } else {
        isWritten = try writeHeld(record, plan)
      }
      for (key, _) in record.keys.made {
        if failed[number] == nil { makerCounts[key]? -= 1 }
        if isWritten { lost.remove(key) } else { lost.insert(key) }
      }
      if record.isTombstone, let key = record.keys.own { lost.insert(key) }
    }
  }

  /// Takes up records that were kept or set aside, as if each were read now.
  ///
  /// - Parameters:
  ///   - records: The records.
  ///   - order: Their numbers, in the order in which they are taken up.
  ///   - cancellation: Stops between two of them.
  ///   - write: Writes a record, or rejects it.
  /// - Throws: What `write` throws; `CancellationError`; what storing the links of a batch throws.
  func takeUp(
    _ records: [HeldRecords.Record],
    _ order: some Sequence<Int>,
    unless cancellation: Cancellation?,
    _ write: (HeldRecords.Record, ImportPlan, Int) throws -> Void
  ) throws {
    var last: DraftBatch?
    for number in order {
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

  /// The held records that are to be rejected, with what each of them lacks.
  ///
  /// Each need is looked at once, and once more when the last record fails that would make its target:
  /// a chain of records takes as long as the same records without one.
  private func failures(among records: [HeldRecords.Record]) throws -> [Int: HeldRecords.Need] {
    // By key, how many records make an object of which entity, and which records need one.
    var makers: [HeldRecords.Key: [Int: Int]] = [:]
    var needing: [HeldRecords.Key: [Int]] = [:]
    for (number, record) in records.enumerated() {
      for (key, entity) in record.keys.made {
        makers[key, default: [:]][entity, default: 0] += 1
      }
      for need in record.needs { needing[need.key, default: []].append(number) }
    }
    // By the target's entity and its key.
    var known: [Int: [HeldRecords.Key: Bool]] = [:]
    func isThere(_ need: HeldRecords.Need) throws -> Bool {
      if let made = makers[need.key],
        made.contains(where: { need.entity.family.contains($0.key) && $0.value > 0 })
      {
        return true
      }
      let stored = try known[need.entity.index]?[need.key] ?? isStored(need)
      known[need.entity.index, default: [:]][need.key] = stored
      return stored
    }
    var failed: [Int: HeldRecords.Need] = [:]
    var next = Array(records.indices.reversed())
    while let number = next.popLast() {
      guard failed[number] == nil,
        let need = try records[number].needs.first(where: { try !isThere($0) })
      else { continue }
      failed[number] = need
      for (key, entity) in records[number].keys.made {
        makers[key]?[entity]? -= 1
        if makers[key]?[entity] == 0 { next += needing[key] ?? [] }
      }
    }
    return failed
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

  /// Whether some relationship deletes what a record lets go.
  fileprivate var deletesUnlinked: Bool {
    entities.contains { $0.links.contains(where: \.deletesUnlinked) }
  }
}
