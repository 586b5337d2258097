import DragomanGraph

/// The writing half of an import, straight into the store: rows are bound as they are, no object is
/// made.
///
/// `StoreSink+Records` writes a record whole or not at all, `StoreSink+Objects` its objects,
/// `StoreSink+Links` stores what links them, `StoreSink+Held` keeps the records that wait for their
/// targets, `StoreSink+Issues` says what was refused.
///
/// One thread has it, and no access to what is marked runs code of others: exclusive access needs no
/// check at run time.
final class StoreSink: CountingSink {
  let session: WriteSession
  let request: ImportRequest
  let model: Model
  let rejects: RejectsFile?
  let maximumRejects: Int?
  let changeLog: ChangeLog?
  /// Up to which place of the log who changed it, where only what all came to is told.
  var netMarks: [NetMark] = []
  /// Remembers what the feed has; nil where nothing is to be pruned.
  let pruner: EntityPruner?
  var coverage = Coverage()
  var pruned = 0
  var issues = IssueLog()
  @exclusivity(unchecked) var contradictions = Contradictions<ObjectPlace>()
  /// The counts so far; `report()` completes them.
  @exclusivity(unchecked) var counts = ImportLedgerEntry.Counts()
  @exclusivity(unchecked) var entities: [String: ImportReport.EntityCounts] = [:]
  @exclusivity(unchecked) var relationships: [String: ImportReport.RelationshipCounts] = [:]

  /// The targets of the plan at hand: those of records, and those of nested records.
  @exclusivity(unchecked) private var targets: [(record: EntityTarget?, nested: EntityTarget?)] = []
  private var knownTargets: [String: EntityTarget] = [:]
  private var planFormat: ForeignFormat?
  /// The stages by `Entity.relationship`.
  var stages: [String: LinkStage] = [:]
  /// The stages in the order in which they are flushed.
  var allStages: [LinkStage] = []
  /// What becomes of references by stage that nobody has.
  var unresolvedPolicies: [String: UnresolvedPolicy] = [:]
  /// Stages whose links other rows write as well: never left full from record to record.
  var crossedStages: [LinkStage] = []
  var deleter: ObjectDeleter?
  var savepoint: Savepoint?
  /// How many records are written under one savepoint, as long as none is stopped.
  var runLength = 64
  /// How many records are written each by itself before the next run.
  var aloneCount = 0
  /// Before how many records what is staged is stored: some object comes again and again, each time
  /// with other links.
  var flushedCount = 0
  let held = HeldRecords()
  /// How often links were stored so far: an object has none before the next time.
  @exclusivity(unchecked) var flushCount = 0

  /// The objects written since the last tally.
  @exclusivity(unchecked) var written: [Written] = []
  /// Which of them have references that wait.
  @exclusivity(unchecked) var waits: [Wait] = []
  /// Objects that were counted as unchanged, and that have references that wait.
  var unchangedOwners: [ObjectPlace: (entity: String, isTop: Bool)] = [:]
  /// The owners that the record at hand staged, or the run of records.
  @exclusivity(unchecked) var staged: [(stage: LinkStage, owner: Int64)] = []
  /// The links that the record at hand counted, or the run of records.
  @exclusivity(unchecked) var linksOfRecord: [(name: String, linked: Int, unlinked: Int)] = []
  /// What was written of the objects of the lists at hand, one list behind the other.
  @exclusivity(unchecked) var listed: [Place] = []
  /// The targets of the link at hand.
  @exclusivity(unchecked) var listOfLink: ContiguousArray<LinkStage.Listed> = []
  /// Objects that the record at hand unlinked and that are to be deleted.
  @exclusivity(unchecked) var unlinked: [(key: Int64, entity: EntityLayout)] = []
  /// One row, on its way.
  @exclusivity(unchecked) var row: ContiguousArray<RowValue> = []
  /// The number of the record at hand.
  @exclusivity(unchecked) var recordNumber = 0
  /// Whether stages may be flushed in the middle of the record at hand.
  @exclusivity(unchecked) var mayFlush = true

  /// An object that was written.
  struct Written {
    let plan: Int
    var outcome: EntityWriter.Outcome
    let isTop: Bool
    /// `flushCount` when its row was written.
    let flushCount: Int
  }

  /// An object of the store: the root of its entity, and its primary key.
  struct ObjectPlace: Hashable {
    let root: Int
    let key: Int64

    init(_ root: Int, _ key: Int64) {
      self.root = root
      self.key = key
    }
  }

  /// An object with references that wait, and its number in `written`.
  struct Wait {
    let owner: ObjectPlace
    let number: Int
  }

  init(
    session: WriteSession,
    request: ImportRequest,
    model: Model,
    maximumRejects: Int?,
    rejects: RejectsFile?,
    changeLog: ChangeLog? = nil,
    pruner: EntityPruner? = nil
  ) {
    self.session = session
    self.request = request
    self.model = model
    self.maximumRejects = maximumRejects
    self.rejects = rejects
    self.changeLog = changeLog
    self.pruner = pruner
  }

  /// Writes the rows of a batch, in the order of the feed, and takes note of its rejects.
  ///
  /// - Throws: `StoreError`, or `ImportError` where more records were rejected than is admitted.
  func apply(_ batch: DraftBatch) throws {
    guard let plan = batch.plan else { return }
    try prepare(for: plan)
    cover(batch, plan)
    var reported = 0
    var together = 0..<0
    for (index, draft) in batch.drafts.enumerated() {
      if together.contains(index) { continue }
      if let range = try writeTogether(from: index, in: batch, plan) {
        together = range
        continue
      }
      counts.read += 1
      switch draft {
      case .row(let object):
        let target = try target(of: batch.objects[object].plan, in: plan, isNested: false)
        if target.isPlain {
          try writePlain(target, batch, record: index, object: object)
        } else {
          try writeRecord(object, record: index, in: batch, plan)
        }
      case .tombstone(let object):
        try delete(object, record: index, in: batch, plan)
      case .reject(let issue):
        for passedOver in batch.issues[reported..<issue] { issues.add(passedOver) }
        reported = issue + 1
        try reject(batch.issues[issue], record: index, in: batch)
      }
    }
    for passedOver in batch.issues[reported...] { issues.add(passedOver) }
    for (group, count) in batch.repeatedIssues { issues.add(count, of: group) }
    try flushAll(batch)
    // Links are stored by then: what they changed is told with the batch.
    if let changeLog { try tell(changeLog, at: nil) }
    tally(plan)
  }

  /// The report of everything applied so far.
  func report() -> ImportReport {
    var report = ImportReport()
    report.counts = counts
    report.pruned = pruned
    report.entities = entities
    report.relationships = relationships
    report.issues = issues.groups
    report.status = counts.rejected > 0 ? .rejected : .done
    return report
  }

  // MARK: - Plans

  /// Targets are kept by format: the same entity may have other links in another one.
  private func prepare(for plan: ImportPlan) throws {
    guard planFormat != plan.format else { return }
    planFormat = plan.format
    targets = plan.entities.map { _ in (nil, nil) }
    // What makes temporary tables is made here: a record that is undone would take them along.
    if plan.entities.contains(where: { !$0.links.isEmpty }) {
      for index in plan.entities.indices { _ = try target(of: index, in: plan, isNested: true) }
    }
    if plan.entities.contains(where: { $0.links.contains(where: \.deletesUnlinked) }) {
      _ = try madeDeleter()
    }
    crossedStages = crossed(in: plan)
  }

  /// Where the objects of a plan go.
  func target(of index: Int, in plan: ImportPlan, isNested: Bool) throws -> EntityTarget {
    if let known = isNested ? targets[index].nested : targets[index].record { return known }
    let entity = plan.entities[index]
    let name = "\(plan.format.rawValue) \(entity.name) \(isNested)"
    let upsert = entity.overwritesExisting ? EntityWriter.Mode.upsert : .ignore
    let made =
      try knownTargets[name]
      ?? EntityTarget(
        entity,
        in: plan.model,
        mode: isNested ? upsert : request.mode ?? upsert,
        isNested: isNested,
        notes: pruner != nil,
        session: session,
        stage: { try self.stage(of: $0, in: plan) }
      )
    knownTargets[name] = made
    if isNested { targets[index].nested = made } else { targets[index].record = made }
    return made
  }

  // MARK: - Records

  private func writePlain(
    _ target: EntityTarget,
    _ batch: DraftBatch,
    record index: Int,
    object: Int
  ) throws {
    let start = batch.objects[object].start
    let outcome = try batch.values.withUnsafeBufferPointer { values in
      guard let arena = batch.records.arena.baseAddress else { throw Self.lostMemory }
      let row = UnsafeBufferPointer(rebasing: values[start..<start + target.width])
      return try target.writer.write(row, arena: arena)
    }
    if let changeLog, [.inserted, .updated, .deleted].contains(outcome) {
      let record = batch.records.records[index]
      try tell(changeLog, at: batch.records.origin(at: record.start, record: record.number))
    }
    if let issue = describe(outcome, batch, object: object, record: index, target.plan) {
      try reject(issue, record: index, in: batch)
    } else {
      count(outcome, of: target.plan.name, isTop: true)
    }
  }

  /// Deletes the object of a tombstone.
  private func delete(
    _ object: Int,
    record index: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws {
    let target = try target(of: batch.objects[object].plan, in: plan, isNested: false)
    let isLinked = session.layout.isLinked(target.plan.layout)
    if isLinked { try flushAll(batch) }
    composeKey(object, target, in: batch, under: nil)
    guard let arena = batch.records.arena.baseAddress else { throw Self.lostMemory }
    var outcome = try row.withUnsafeBufferPointer { row in
      isLinked
        ? try target.writer.find(row, arena: arena) : try target.writer.delete(row, arena: arena)
    }
    if isLinked, outcome == .deleted, let key = target.writer.key {
      let deleter = try madeDeleter()
      try deleter.mark(key, of: target.plan.layout)
      if let denied = try deleter.delete().denied {
        try reject(
          denial(denied, batch, object: object, record: index, target.plan),
          record: index,
          in: batch
        )
        return
      }
    }
    if outcome == .skipped {
      if !isLinked, pruner != nil {
        _ = try row.withUnsafeBufferPointer { try target.writer.find($0, arena: arena) }
      }
      try see(target.writer.key, of: target.plan.layout)
    }
    if case .duplicate = outcome { outcome = .unchanged }
    if let changeLog, outcome == .deleted {
      let record = batch.records.records[index]
      try tell(changeLog, at: batch.records.origin(at: record.start, record: record.number))
    }
    count(outcome, of: target.plan.name, isTop: true)
  }

  func madeDeleter() throws -> ObjectDeleter {
    if let deleter { return deleter }
    let made = try session.deleter()
    deleter = made
    return made
  }

  // MARK: - Counting

  /// Counts the objects written, after their links are stored.
  func tally(_ plan: ImportPlan) {
    for wait in waits {
      let object = written[wait.number]
      unchangedOwners[wait.owner] =
        object.outcome == .unchanged ? (plan.entities[object.plan].name, object.isTop) : nil
    }
    waits.removeAll(keepingCapacity: true)
    for object in written {
      count(object.outcome, of: plan.entities[object.plan].name, isTop: object.isTop)
    }
    written.removeAll(keepingCapacity: true)
  }

  static let lostMemory = StoreError(.refused, "A batch has lost its memory.")
}
