import DragomanGraph

/// What a draft means: which objects are made, changed, linked, left alone and deleted, in which
/// order, and what becomes of a record that is done by half.
///
/// The only place where that stands. Where the objects go is the backend's: rows in bulk
/// (`RowBackend`), or objects of a context (`ObjectBackend`).
///
/// `DraftWalker+Records` writes a record whole or not at all, `DraftWalker+Objects` its objects and
/// `DraftWalker+Lists` their to-manies, `DraftWalker+Links` stores what links them, `DraftWalker+Held`
/// keeps the records that wait for their targets, `DraftWalker+Plain` writes records without links,
/// `DraftWalker+Loads` keeps those aside that may be about objects of tables that are loaded; `ImportTally` counts.
///
/// Most of its properties are memory that is kept from record to record, so that a record allocates
/// nothing of its own. One thread has it, and no access to what is marked runs code of others:
/// exclusive access needs no check at run time.
///
/// Large because the meaning of an import stands here alone: what becomes of a record depends on all that came
/// before it.
final class DraftWalker<Backend: DraftBackend> {
  typealias Target = WalkTarget<Backend>
  typealias Stage = Backend.Stage

  let backend: Backend
  /// What happens to objects that exist; nil is the map's word.
  let mode: EntityWriter.Mode?
  /// What became of the records and objects so far.
  let tally: ImportTally
  @exclusivity(unchecked) var contradictions = Contradictions()

  /// The targets of the plan at hand: those of records, and those of nested records.
  @exclusivity(unchecked) private var targets: [(record: Target?, nested: Target?)] = []
  private var knownTargets: [String: Target] = [:]
  private var planFormat: ForeignFormat?
  let stages: WalkStages<Backend>
  /// How many records are written under one savepoint, as long as none is stopped.
  var runLength = 64
  /// How many records are written each by itself before the next run.
  var aloneCount = 0
  /// Before how many records what is staged is stored: some object comes again and again, each time
  /// with other links.
  var flushedCount = 0
  let held: HeldRecords
  /// The records that wait until tables are loaded (`DraftWalker+Loads`), and those that are written in the end.
  var setAside = HeldRecords()
  var settling: HeldRecords?
  /// By plan, what records are loaded into, as far as it is known; nil inside: they are not.
  var loadRules: [LoadRule<Backend>??] = []
  /// The batch that is being written.
  private(set) var batchAtHand: DraftBatch?
  /// What is known of the record at a place of it.
  @exclusivity(unchecked) var decided: (place: Int, decision: LoadDecision)?
  /// The primary keys of the objects of the record at hand, from the first one on, where they were reserved.
  @exclusivity(unchecked) var reservedKeys: ContiguousArray<Int64> = []
  @exclusivity(unchecked) var firstReserved = 0
  /// How often objects were deleted, or got another key: somebody may look for them in vain since.
  @exclusivity(unchecked) var lossCount = 0
  /// How often links were stored so far: an object has none before the next time.
  @exclusivity(unchecked) var flushCount = 0

  /// The owners that the record at hand staged, or the run of records.
  @exclusivity(unchecked) var staged: [(stage: Stage, owner: Int64)] = []
  /// The to-ones of the objects at hand that are columns of their rows, one object behind the other.
  @exclusivity(unchecked) var singles: ContiguousArray<Single> = []
  /// What was written of the objects of the lists at hand, one list behind the other.
  @exclusivity(unchecked) var listed: [WrittenPlace] = []
  /// The targets of the link at hand.
  @exclusivity(unchecked) var listOfLink: ContiguousArray<LinkStage.Listed> = []
  /// Whether something of the plan at hand deletes what it unlinks.
  var keepsGiven = false
  /// The objects that the record at hand has, nested or as to-ones, where that matters.
  @exclusivity(unchecked) var given: ContiguousArray<ObjectPlace> = []
  /// Objects that the record at hand unlinked and that are to be deleted.
  @exclusivity(unchecked) var unlinked: [(key: Int64, entity: EntityLayout)] = []
  /// The same of lists that were stored before its end, to make room for others.
  @exclusivity(unchecked) var loose: [(stage: Stage, keys: [Int64])] = []
  @exclusivity(unchecked) var isInRecord = false
  /// Whether what is done is undone again, and nothing of it is told.
  var isTrying = false
  /// One row, on its way.
  @exclusivity(unchecked) var row: ContiguousArray<RowValue> = []
  /// The number of the record at hand in its file, and in the import.
  @exclusivity(unchecked) var recordNumber = 0
  @exclusivity(unchecked) var ordinal = 0
  /// Where what is said of the record at hand stands among the issues.
  @exclusivity(unchecked) var issuePlace = 0
  /// Whether stages may be flushed in the middle of the record at hand.
  @exclusivity(unchecked) var mayFlush = true

  init(
    _ backend: Backend,
    mode: EntityWriter.Mode?,
    maximumRejects: Int?,
    maximumWaitingByteCount: Int = .max,
    rejects: (any RejectsOutput)? = nil
  ) {
    self.backend = backend
    held = HeldRecords(maximumByteCount: maximumWaitingByteCount)
    stages = WalkStages(backend)
    self.mode = mode
    tally = ImportTally(maximumRejects: maximumRejects, rejects: rejects)
  }

  /// Writes the objects of a batch, in the order of the feed, and takes note of its rejects.
  ///
  /// - Throws: `StoreError`, `ContextError`, or `ImportError` where more records were rejected than is
  ///   admitted.
  func apply(_ batch: DraftBatch) throws {
    guard let plan = batch.plan else { return }
    try prepare(for: plan)
    backend.cover(batch, plan)
    try backend.begin(batch, plan)
    defer { backend.end() }
    var reported = 0
    var together = 0..<0
    decided = nil
    batchAtHand = batch
    for (index, draft) in batch.drafts.enumerated() {
      if together.contains(index) { continue }
      if try keepsAside(draft, at: index, in: batch, plan) { continue }
      if let range = try writeTogether(from: index, in: batch, plan) {
        together = range
        continue
      }
      // A run that was undone leaves its keys behind.
      if try keepsAside(draft, at: index, in: batch, plan) { continue }
      ordinal += 1
      if case .elsewhere = draft { continue }
      tally.counts.read += 1
      switch draft {
      case .row(let object):
        let target = try target(of: batch.objects[object].plan, in: plan, isNested: false)
        if target.isPlain {
          // Rows may get other keys.
          if !target.otherKeys.isEmpty, isNamedByOtherKeys { try flushAll(batch) }
          together = try writePlain(from: index, target, batch)
        } else {
          try writeRecord(object, record: index, in: batch, plan)
        }
      case .tombstone(let object):
        try writeTombstone(object, record: index, in: batch, plan)
      case .reject(let issue):
        for passedOver in batch.issues[reported..<issue] { tally.issues.add(passedOver) }
        reported = issue + 1
        try reject(batch.issues[issue], record: index, in: batch)
      case .elsewhere: break
      }
    }
    for passedOver in batch.issues[reported...] { tally.issues.add(passedOver) }
    for (group, count) in batch.repeatedIssues { tally.issues.add(count, of: group) }
    if backend.isLoading, hasLinksToStore { try endLoads() }
    try flushAll(batch)
    // Links are stored by then: what they changed is told with the batch.
    try backend.tell(at: nil)
    try settleTally(plan)
    batchAtHand = nil
  }

  /// Passes over a batch that an earlier import has committed, but for the records that it held until the
  /// end.
  ///
  /// What it has counted is not counted here.
  func skip(_ batch: DraftBatch, holding ordinals: Set<Int>) throws {
    guard let plan = batch.plan else { return }
    try prepare(for: plan)
    backend.cover(batch, plan)
    for (index, draft) in batch.drafts.enumerated() {
      tally.counts.read += 1
      ordinal += 1
      guard ordinals.contains(ordinal) else { continue }
      recordNumber = batch.records.records[index].number
      switch draft {
      case .row(let object): try hold(object, record: index, in: batch, plan)
      case .tombstone(let object):
        try hold(object, isTombstone: true, record: index, in: batch, plan)
      case .reject, .elsewhere: break
      }
    }
  }

  /// Counts the objects written, after their links are stored.
  func settleTally(_ plan: ImportPlan) throws {
    try tally.settle(plan) { try backend.keep($0, unchanged: $1) }
  }

  /// Counts what was written of a batch that broke off between two records.
  func settleBroken() throws {
    try endLoads()
    guard let batch = batchAtHand, let plan = batch.plan else { return }
    // An owner of which nothing but links would change is told by storing them.
    try flushAll(batch)
    try settleTally(plan)
  }

  /// Whether references wait for the end of the import.
  var isWaiting: Bool { !tally.waits.isEmpty || stages.all.contains { $0.isWaiting } }

  // MARK: - Plans

  /// Targets are kept by format: the same entity may have other links in another one.
  func prepare(for plan: ImportPlan) throws {
    guard planFormat != plan.format else { return }
    planFormat = plan.format
    targets = plan.entities.map { _ in (nil, nil) }
    loadRules = plan.entities.map { _ in nil }
    // What makes temporary tables is made here: a record that is undone would take them along.
    if plan.entities.contains(where: { !$0.links.isEmpty }) {
      for index in plan.entities.indices { _ = try target(of: index, in: plan, isNested: true) }
    }
    try backend.prepare(for: plan)
    stages.prepare(for: plan)
    keepsGiven = plan.entities.contains { $0.links.contains(where: \.deletesUnlinked) }
  }

  /// Where the objects of a plan go.
  func target(of index: Int, in plan: ImportPlan, isNested: Bool) throws -> Target {
    if let known = isNested ? targets[index].nested : targets[index].record { return known }
    let entity = plan.entities[index]
    let name = "\(plan.format.rawValue) \(entity.name) \(isNested)"
    let upsert = entity.overwritesExisting ? EntityWriter.Mode.upsert : .ignore
    let made =
      try knownTargets[name]
      ?? Target(
        entity,
        in: plan,
        mode: isNested ? upsert : mode ?? upsert,
        isNested: isNested,
        backend: backend,
        tally: tally,
        stage: { [stages] in try stages.stage(of: $0, in: plan) }
      )
    knownTargets[name] = made
    if isNested { targets[index].nested = made } else { targets[index].record = made }
    return made
  }

  // MARK: - Tombstones

  private func writeTombstone(
    _ object: Int,
    record index: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws {
    if try mustHold(object, isTombstone: true, in: batch, plan) {
      return try hold(object, isTombstone: true, record: index, in: batch, plan)
    }
    if backend.isLoading, try isUndecided(tombstone: object, in: batch, plan) {
      return try setAside(object, [], isTombstone: true, record: index, in: batch)
    }
    do {
      try delete(object, in: batch, plan)
      if backend.isObserved { try tell(of: index, in: batch) }
    } catch let stop as RecordStop {
      try reject(stop, object, record: index, in: batch)
    }
  }

  /// Deletes the object of a tombstone.
  ///
  /// - Throws: `RecordStop`; what the store throws.
  func delete(_ object: Int, in batch: DraftBatch, _ plan: ImportPlan) throws {
    let target = try target(of: batch.objects[object].plan, in: plan, isNested: false)
    let layout = target.plan.layout
    if let missing = target.identity.first(where: { !gives(object, $0, target, in: batch) }) {
      throw RecordStop.keyless(object: object, relationship: missing.relationship)
    }
    let isLinked = backend.layout.isLinked(layout)
    if isLinked { try flushAll(batch) }
    // Objects that are there are left alone, or refuse the record, whatever it says of them.
    let isLeft = target.mode == .ignore || target.mode == .insert
    // A table that is loaded has nobody of the key, and no index to look for one.
    let isLoaded = target.writer.isLoadable && backend.isLoading(layout.table)
    var outcome =
      isLinked || isLeft && !isLoaded
      ? try find(object, target, in: batch, plan, under: nil)
      : try withKey(of: object, target, in: batch, plan, under: nil) {
        try target.writer.delete($0, arena: $1)
      }
    if isLeft, outcome != .unchanged { outcome = target.mode == .ignore ? .skipped : .keyExists }
    if isLinked, outcome == .deleted, let key = target.writer.key {
      try drop([(key, layout)])
    } else if outcome == .deleted {
      lossCount += 1
      tally.count(deleted: 1, of: layout.name)
    }
    if outcome == .skipped {
      if !isLinked, !isLeft { _ = try find(object, target, in: batch, plan, under: nil) }
      if let key = target.writer.key {
        try backend.see(key, of: layout)
        backend.didApply(key, of: layout, ordinal: ordinal)
      }
    }
    guard [.deleted, .skipped, .unchanged].contains(outcome) else {
      throw RecordStop.refused(object: object, outcome)
    }
    tally.count(outcome, of: target.plan.name, isTop: true)
    if !isLeft, outcome != .skipped {
      try stages.endWaiting(for: layout, before: ordinal) { batch.identity(of: object, plan) }
    }
  }

  /// Deletes objects by the delete rules.
  ///
  /// - Throws: `RecordStop.denied`; what the store throws.
  func drop(_ objects: [(key: Int64, entity: EntityLayout)]) throws {
    if objects.isEmpty { return }
    let outcome = try backend.delete(objects)
    if let denied = outcome.denied { throw RecordStop.denied(denied) }
    lossCount += 1
    for (name, count) in outcome.deleted { tally.count(deleted: count, of: name) }
  }

  /// Whether a draft names somebody by a to-one of its own row.
  private func gives(
    _ object: Int,
    _ column: LinkColumn,
    _ target: Target,
    in batch: DraftBatch
  ) -> Bool {
    batch.objects[object].links.map { batch.links[$0] }.contains { link in
      !link.targets.isEmpty
        && target.columnOfLink[link.slot].map { target.columns[$0].slot } == column.slot
    }
  }

  // MARK: - Keys

  /// Finds the object of a draft by the key that the draft gives.
  func find(
    _ object: Int,
    _ target: Target,
    in batch: DraftBatch,
    _ plan: ImportPlan,
    under parent: Parent?
  ) throws -> EntityWriter.Outcome {
    try withKey(of: object, target, in: batch, plan, under: parent) {
      try target.writer.find($0, arena: $1)
    }
  }

  func withKey<Result>(
    of object: Int,
    _ target: Target,
    in batch: DraftBatch,
    _ plan: ImportPlan,
    under parent: Parent?,
    _ body: (RowValues, UnsafeRawPointer) throws -> Result
  ) throws -> Result {
    try composeKey(object, target, in: batch, plan, under: parent)
    return try row.withUnsafeBufferPointer { try body($0, Self.arena(of: batch)) }
  }

  /// Tells who observes the import what a record changed.
  func tell(of index: Int, in batch: DraftBatch) throws {
    let record = batch.records.records[index]
    try backend.tell(at: batch.records.origin(at: record.start, record: record.number))
  }

  static func arena(of batch: DraftBatch) throws -> UnsafeRawPointer {
    guard let arena = batch.records.arena.baseAddress else { throw Self.lostMemory }
    return UnsafeRawPointer(arena)
  }

  static var lostMemory: StoreError { StoreError(.refused, "A batch has lost its memory.") }
}

/// An object where an import puts it: the root of its entity, and its primary key.
struct ObjectPlace: Hashable {
  let root: Int
  let key: Int64

  init(_ root: Int, _ key: Int64) {
    self.root = root
    self.key = key
  }
}

/// The relationship that an object is nested by, where its links are a column of the object.
struct Parent {
  let link: RelationshipLayout
  let column: String
  let key: Int64
  let order: (column: String, place: Int)?
}

/// What was written of an object.
struct WrittenPlace {
  let key: Int64
  /// How it stands with its parent, where its row has the link.
  var standing: LinkStage.Standing
  /// Whether another list has it that is not stored yet, so that the row is not enough.
  var isContested = false
  /// The other object that it was linked to in place of its parent.
  let formerParent: Int64?
}
