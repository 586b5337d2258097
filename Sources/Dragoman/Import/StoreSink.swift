import DragomanGraph

/// The writing half of an import, straight into the store: rows are bound as they are, no object is
/// made.
final class StoreSink {
  private let session: WriteSession
  private let request: ImportRequest
  private let model: Model
  private let rejects: RejectsFile?
  private let maximumRejects: Int?
  private let changeLog: ChangeLog?
  private var writers: [String: EntityWriter] = [:]
  private var pruners: [String: EntityPruner] = [:]
  private(set) var pruned = 0
  private var issues = IssueLog()
  /// The counts so far; `report()` completes them.
  private(set) var counts = ImportLedgerEntry.Counts()
  private var entities: [String: ImportReport.EntityCounts] = [:]

  init(
    session: WriteSession,
    request: ImportRequest,
    model: Model,
    maximumRejects: Int?,
    rejects: RejectsFile?,
    changeLog: ChangeLog? = nil
  ) {
    self.session = session
    self.request = request
    self.model = model
    self.maximumRejects = maximumRejects
    self.rejects = rejects
    self.changeLog = changeLog
  }

  /// Writes the rows of a batch, in the order of the feed, and takes note of its rejects.
  ///
  /// - Throws: `StoreError`, or `ImportError` where more records were rejected than is admitted.
  func apply(_ batch: DraftBatch) throws {
    guard let plan = batch.plan else { return }
    var reported = 0
    for (index, draft) in batch.drafts.enumerated() {
      counts.read += 1
      switch draft {
      case .row(let source, let start):
        try write(batch, record: index, start: start, plan.sources[source].entity, deletes: false)
      case .tombstone(let source, let start):
        try write(batch, record: index, start: start, plan.sources[source].entity, deletes: true)
      case .reject(let issue):
        for passedOver in batch.issues[reported..<issue] { issues.add(passedOver) }
        reported = issue + 1
        try reject(batch.issues[issue], record: index, in: batch)
      }
    }
    for passedOver in batch.issues[reported...] { issues.add(passedOver) }
    for (group, count) in batch.repeatedIssues { issues.add(count, of: group) }
  }

  /// The report of everything applied so far.
  func report() -> ImportReport {
    var report = ImportReport()
    report.counts = counts
    report.pruned = pruned
    report.entities = entities
    report.issues = issues.groups
    report.status = counts.rejected > 0 ? .rejected : .done
    return report
  }

  private func write(
    _ batch: DraftBatch,
    record index: Int,
    start: Int,
    _ plan: EntityPlan,
    deletes: Bool
  ) throws {
    let writer = try writer(for: plan)
    let outcome = try batch.values.withUnsafeBufferPointer { values in
      guard let arena = batch.records.arena.baseAddress else {
        throw StoreError(.refused, "A batch has lost its memory.")
      }
      let row = UnsafeBufferPointer(rebasing: values[start..<start + plan.slots.count])
      let outcome =
        deletes ? try writer.delete(row, arena: arena) : try writer.write(row, arena: arena)
      if outcome != .deleted { try pruners[plan.name]?.see(row, arena: arena) }
      return outcome
    }
    if let changeLog, [.inserted, .updated, .deleted].contains(outcome) {
      let record = batch.records.records[index]
      try tell(changeLog, at: batch.records.origin(at: record.start, record: record.number))
    }
    switch outcome {
    case .inserted:
      counts.inserted += 1
      entities[plan.name, default: .init()].inserted += 1
    case .updated:
      counts.updated += 1
      entities[plan.name, default: .init()].updated += 1
    case .unchanged:
      counts.unchanged += 1
      entities[plan.name, default: .init()].unchanged += 1
    case .skipped:
      counts.skipped += 1
    case .deleted:
      counts.deleted += 1
    case .keyExists, .duplicate, .incomplete, .tooLarge:
      let issue = describe(outcome, batch, record: index, start: start, plan)
      try reject(issue, record: index, in: batch)
    }
  }

  private func writer(for plan: EntityPlan) throws(StoreError) -> EntityWriter {
    if let known = writers[plan.name] { return known }
    guard let entity = model.entity(named: plan.name) else {
      throw StoreError(.modelConflict, "The store has no entity \(plan.name).")
    }
    let made = try session.writer(
      for: entity,
      slots: plan.slots.map(\.attribute),
      mode: request.mode ?? (plan.overwritesExisting ? .upsert : .ignore),
      version: plan.version
    )
    writers[plan.name] = made
    if request.prune != nil {
      pruners[plan.name] = try session.pruner(for: entity, slots: plan.slots.map(\.attribute))
    }
    return made
  }

  /// Deletes the objects that the feed does not have; nothing after a reject.
  ///
  /// - Returns: Why nothing was deleted, if that is so.
  /// - Throws: `ImportError.prune` where the feed is empty, or too much would be deleted.
  func prune(_ rule: ImportRequest.Prune) throws -> String? {
    if counts.rejected > 0 {
      return "nothing was pruned: of the feed, \(counts.rejected) records were rejected"
    }
    if counts.read == 0 {
      throw ImportError(.prune, "The feed is empty: pruning would delete everything.")
    }
    for (entity, pruner) in pruners.sorted(by: { $0.key < $1.key }) {
      if let share = rule.maximumShare {
        let (all, missing) = try pruner.count()
        guard Double(missing) <= share * Double(all) else {
          throw ImportError(
            .prune,
            "Pruning would delete \(missing) of \(all) objects of \(entity).",
            help: "if the feed is right, raise --prune-max"
          )
        }
      }
      pruned += try pruner.prune()
    }
    if let changeLog { try tell(changeLog, isPruning: true, at: nil) }
    return nil
  }

  /// Tells the observer what was done since the last time.
  private func tell(_ changeLog: ChangeLog, isPruning: Bool = false, at origin: Origin?) throws {
    try changeLog.drain { change in
      guard let change = ImportChange(change, isPruning: isPruning, origin: origin) else { return }
      try request.changes?(change)
    }
  }

  private func reject(_ issue: ImportIssue, record index: Int, in batch: DraftBatch) throws {
    counts.rejected += 1
    issues.add(issue)
    try rejects?.write(issue, batch.records.records[index], in: batch.records)
    if let maximumRejects, counts.rejected > maximumRejects {
      throw ImportError(
        .tooManyRejects,
        maximumRejects == 0
          ? "A record was rejected, and none may be."
          : "More than \(maximumRejects) records were rejected.",
        help: "mend the feed or the map, or raise --max-rejects"
      )
    }
  }

  /// A row that the store refused, in words.
  private func describe(
    _ outcome: EntityWriter.Outcome,
    _ batch: DraftBatch,
    record index: Int,
    start: Int,
    _ plan: EntityPlan
  ) -> ImportIssue {
    let record = batch.records.records[index]
    let key = key(of: batch, start: start, plan)
    let (code, attribute, message, help): (ImportIssue.Code, String?, String, String?) =
      switch outcome {
      case .duplicate(let columns):
        (
          .keyDuplicate, nil, "Another \(plan.name) has the same value of \(columns).",
          "the value is unique; find out which of the two records is right"
        )
      case .keyExists:
        (
          .keyExists, nil, "A \(plan.name) with this key exists, and the mode is insert.",
          "use --mode upsert to update it"
        )
      case .incomplete(let missing):
        (
          .incomplete, missing,
          "\(plan.name).\(missing) is required, the record does not give it, and there is no object with"
            + " this key whose value could stay.",
          "the feed must give it, or the map a default"
        )
      default:
        (.recordSize, nil, "The record is larger than the 1,000,000,000 bytes SQLite takes.", nil)
      }
    return ImportIssue(
      code: code,
      entity: plan.name,
      attribute: attribute,
      origin: batch.records.origin(at: record.start, record: record.number),
      path: nil,
      value: nil,
      message: message,
      tried: [],
      map: nil,
      help: help,
      key: key,
      isReject: true
    )
  }

  private func key(of batch: DraftBatch, start: Int, _ plan: EntityPlan) -> String? {
    let arena = UnsafeRawBufferPointer(batch.records.arena)
    let parts = plan.slots.indices.filter { plan.slots[$0].isKey }.map { index in
      plan.slots[index].attribute.isSensitive
        ? ForeignText.mask : batch.values[start + index].stored(in: arena).text
    }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}
