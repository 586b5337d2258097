import DragomanGraph

/// Records that go into tables that are loaded: then some of them are set aside.
///
/// An empty table is filled without its indexes, which are made at the end (`TableLoads`). A record whose keys, or
/// those of the records nested in it, may have been there before is set aside with its place in the feed, and so is
/// every later one with one of its keys; all others commute with it. They are written in the order of the feed when
/// the tables have their indexes: what becomes of each, and of its objects, is what it would be without loading.
extension DraftWalker {
  /// What is known of a record before it is written.
  enum LoadDecision {
    /// All its objects are new, and have primary keys (`reservedKeys`).
    case isNew
    /// It is set aside.
    case isUndecided
    /// The loads are to be ended before.
    case needsTables
    /// Nothing of it is loaded.
    case isOrdinary
  }

  // MARK: - Deciding

  /// Sets a record aside where it may be about objects that are loaded; ends the loads where it asks for more.
  ///
  /// - Returns: Whether it is set aside.
  func keepsAside(
    _ draft: DraftBatch.Draft,
    at index: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws -> Bool {
    guard Backend.isBulk else { return false }
    switch draft {
    case .reject, .elsewhere: return false
    case .tombstone(let object):
      let target = try target(of: batch.objects[object].plan, in: plan, isNested: false)
      if !target.isPlain || backend.layout.isLinked(target.plan.layout) {
        try endLoads()
      }
      return false
    case .row(let object):
      let target = try target(of: batch.objects[object].plan, in: plan, isNested: false)
      if target.isPlain {
        // What was set aside does not find it yet.
        if !setAside.isEmpty, isLookedUp(target.plan.layout.table) { try endLoads() }
        return false
      }
      var decision = try decide(object, at: index, in: batch, plan)
      if case .needsTables = decision {
        try endLoads()
        decided = nil
        decision = try decide(object, at: index, in: batch, plan)
      }
      guard case .isUndecided = decision else { return false }
      tally.counts.read += 1
      ordinal += 1
      try setAside(object, reservedKeys, isTombstone: false, record: index, in: batch)
      return true
    }
  }

  /// Finds out whether a record may be loaded: once, since its keys are known from then on.
  func decide(
    _ object: Int,
    at index: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws -> LoadDecision {
    if let decided, decided.place == index { return decided.decision }
    reservedKeys.removeAll(keepingCapacity: true)
    let decision = try decide(object, in: batch, plan)
    decided = (index, decision)
    return decision
  }

  private func decide(
    _ object: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws -> LoadDecision {
    let rule = try loadRule(of: batch.objects[object].plan, in: plan)
    guard let rule, rule.isOpen, held.isEmpty, stages.crossed.isEmpty, !rule.looksUpLoaded(),
      namesNobody(object, in: batch, plan)
    else { return backend.isLoading ? .needsTables : .isOrdinary }
    if !rule.isOpened { try rule.open() }
    guard rule.isOpen else { return backend.isLoading ? .needsTables : .isOrdinary }
    firstReserved = object
    let target = try target(of: batch.objects[object].plan, in: plan, isNested: false)
    return try isNew(object, target, under: nil, in: batch, plan) ? .isNew : .isUndecided
  }

  /// Whether a record can be decided without beginning a load.
  func isReady(_ object: Int, in batch: DraftBatch, _ plan: ImportPlan) throws -> Bool {
    guard let rule = try loadRule(of: batch.objects[object].plan, in: plan) else { return true }
    return rule.isOpened || !rule.isOpen
  }

  /// Whether the targets of a record's to-manies are all nested in it.
  private func namesNobody(_ object: Int, in batch: DraftBatch, _ plan: ImportPlan) -> Bool {
    for index in object..<batch.objects[object].end {
      let links = plan.entities[batch.objects[index].plan].links
      for number in batch.objects[index].links {
        let link = batch.links[number]
        guard links[link.slot].isInTargets else { continue }
        for place in link.targets {
          guard case .object = batch.targets[place] else { return false }
        }
      }
    }
    return true
  }

  /// Whether an object and those nested in it surely are new; all get primary keys.
  private func isNew(
    _ object: Int,
    _ target: Target,
    under parent: Parent?,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws -> Bool {
    let draft = batch.objects[object]
    compose(draft, singlesFrom: singles.count, target, in: batch, under: parent)
    var isNew = try row.withUnsafeBufferPointer {
      try !target.writer.isUndecided($0, arena: Self.arena(of: batch), isTombstone: false)
    }
    guard let key = target.writer.reserveKey() else { return false }
    reservedKeys.append(key)
    for index in draft.links {
      let link = batch.links[index]
      let layout = target.plan.links[link.slot].layout
      guard case .inverseColumn(let column, _) = layout.storage else { continue }
      let nestedParent = Parent(link: layout, column: column, key: key, order: nil)
      for place in link.targets {
        guard case .object(let nested) = batch.targets[place] else { continue }
        let other = try self.target(of: batch.objects[nested].plan, in: plan, isNested: true)
        // All keys are to be known, whatever the others say.
        if try !self.isNew(nested, other, under: nestedParent, in: batch, plan) { isNew = false }
      }
    }
    return isNew
  }

  /// The primary key that was reserved for an object of the record at hand, if one was.
  @inline(__always)
  func reservedKey(of object: Int) -> Int64? {
    let place = object - firstReserved
    return reservedKeys.indices.contains(place) ? reservedKeys[place] : nil
  }

  private func loadRule(of index: Int, in plan: ImportPlan) throws -> LoadRule<Backend>? {
    if let known = loadRules[index] { return known }
    let made = try LoadRule(index, in: plan, backend) { [unowned self] in
      try target(of: $0, in: plan, isNested: $1)
    }
    loadRules[index] = .some(made)
    return made
  }

  /// Whether records that are loaded refer to objects of a table.
  private func isLookedUp(_ table: String) -> Bool {
    loadRules.contains { $0??.lookUps.contains(table) ?? false }
  }

  /// Whether something is staged that may look objects up: links that are not in rows which are loaded.
  var hasLinksToStore: Bool {
    stages.all.contains { stage in
      !stage.isEmpty
        && !loadRules.contains { rule in rule??.stages.contains { $0 === stage } ?? false }
    }
  }

  // MARK: - Setting aside

  /// Whether a tombstone is to be set aside.
  func isUndecided(
    tombstone object: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws -> Bool {
    let target = try target(of: batch.objects[object].plan, in: plan, isNested: false)
    return try Self.withRow(of: object, target, in: batch) {
      try target.writer.isUndecided($0, arena: $1, isTombstone: true)
    }
  }

  /// Keeps a record until the loads end.
  ///
  /// It counts as read when it is known what becomes of it. New objects get the primary keys that they would have
  /// without loading.
  func setAside(
    _ object: Int,
    _ reservedKeys: ContiguousArray<Int64>,
    isTombstone: Bool,
    record index: Int,
    in batch: DraftBatch
  ) throws {
    guard let plan = batch.plan else { return }
    let record = batch.records.records[index]
    let made = HeldRecords.Record(
      batch: batch,
      object: object,
      isTombstone: isTombstone,
      origin: batch.records.origin(at: record.start, record: record.number),
      ordinal: ordinal,
      reject: tally.rejects == nil ? nil : RejectedRecord(record, in: batch),
      keys: HeldRecords.Keys(),
      needs: [],
      reservedKeys: reservedKeys,
      issuePlace: tally.issues.takePlace()
    )
    try setAside.add(made, plan, keepsRecord: false)
    tally.counts.read -= 1
    let isMuch =
      setAside.count >= Self.setAsideCount || setAside.byteCount >= Self.setAsideByteCount
    // Where so many are rejected that the import ends, it ends at the record at which it would anyway.
    if isMuch || mayRejectTooMany { try endLoads() }
  }

  /// Ends the loads before a reject that could be one too many.
  func settleSetAside() throws {
    if !setAside.isEmpty, mayRejectTooMany { try endLoads() }
  }

  /// Whether more records than admitted are rejected, if all are that were set aside.
  private var mayRejectTooMany: Bool {
    tally.maximumRejects.map { tally.counts.rejected + setAside.count >= $0 } ?? false
  }

  // MARK: - The end of the loads

  /// Makes the indexes of all tables that are loaded, and writes what was set aside.
  ///
  /// Between two records only.
  ///
  /// - Parameter cancellation: Stops between two records that were set aside.
  /// - Throws: `StoreError`; `ImportError` where more records were rejected than is admitted.
  func endLoads(unless cancellation: Cancellation? = nil) throws {
    guard backend.isLoading else { return }
    try backend.endLoads()
    guard !setAside.isEmpty else { return }
    let atHand = (recordNumber, ordinal, issuePlace)
    // What is staged belongs to the batch at hand.
    if let batchAtHand { try leave(batchAtHand) }
    let all = setAside
    setAside = HeldRecords()
    settling = all
    defer {
      settling = nil
      (recordNumber, ordinal, issuePlace) = atHand
    }
    let records = all.takeAll()
    var numbers = records.indices.makeIterator()
    try takeUp(
      records,
      unless: cancellation,
      next: { numbers.next() },
      write: { record, plan, _ in try write(setAside: record, plan) }
    )
    if let plan = batchAtHand?.plan { try prepare(for: plan) }
  }

  /// Writes a record that was set aside, or rejects it.
  private func write(setAside record: HeldRecords.Record, _ plan: ImportPlan) throws {
    let (object, batch) = (record.object, record.batch)
    let target = try target(of: batch.objects[object].plan, in: plan, isNested: false)
    if record.isTombstone || !target.isPlain {
      (reservedKeys, firstReserved) = (record.reservedKeys, object)
      defer { reservedKeys.removeAll() }
      _ = try writeHeld(record, plan)
      return
    }
    let outcome = try Self.withRow(of: object, target, in: batch) {
      try target.writer.write($0, arena: $1, reserved: record.reservedKeys.first)
    }
    switch outcome {
    case .inserted, .updated, .unchanged, .skipped, .deleted:
      tally.count(outcome, of: target.plan.name, isTop: true)
    default:
      let stop = RecordStop.refused(object: object, outcome)
      let issue = try settle(stop, object, in: batch, plan) { _ in record.origin }
      if let issue { try tally.reject(issue, held: record) }
    }
  }

  /// More records than this are not set aside, nor more bytes of them: a feed with many records about the same
  /// objects is written record by record from then on.
  private static var setAsideCount: Int { 16_384 }
  private static var setAsideByteCount: Int { 16 << 20 }
}
