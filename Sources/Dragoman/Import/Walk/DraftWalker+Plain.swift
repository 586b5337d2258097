import DragomanGraph

/// Records without links, which may go into tables that are loaded: then some of them are set aside.
///
/// An empty table is filled without its indexes, which are made at the end (`TableLoads`). A record whose key
/// may have been there before is set aside with its place in the feed, and so is every later one with one of its
/// keys; all others commute with it. They are written in the order of the feed when the table has its indexes:
/// what becomes of each, and of its object, is what it would be without loading.
extension DraftWalker {
  /// Writes a record that is nothing but a row, and those behind it as far as they are such rows of the same entity.
  ///
  /// - Returns: Their places in the batch.
  func writePlain(from first: Int, _ target: Target, _ batch: DraftBatch) throws -> Range<Int> {
    guard case .row(let object) = batch.drafts[first] else { return first..<first }
    let plan = batch.objects[object].plan
    let arena = try Self.arena(of: batch)
    // A dictionary is asked once, and not for every row.
    var objects = ImportReport.EntityCounts()
    defer { tally.count(objects, of: target.plan.name) }
    return try batch.values.withUnsafeBufferPointer { values in
      var index = first
      while index < batch.drafts.count, case .row(let object) = batch.drafts[index],
        batch.objects[object].plan == plan
      {
        if index > first {
          tally.counts.read += 1
          ordinal += 1
        }
        let start = batch.objects[object].start
        let row = UnsafeBufferPointer(rebasing: values[start..<start + target.width])
        if try target.writer.isUndecided(row, arena: arena, isTombstone: false) {
          try setAside(object, target, isTombstone: false, record: index, in: batch)
        } else {
          let outcome = try target.writer.write(row, arena: arena)
          try take(outcome, of: object, record: index, in: batch, &objects)
        }
        index += 1
      }
      return first..<index
    }
  }

  /// Counts what became of a row.
  @inline(__always)
  private func take(
    _ outcome: EntityWriter.Outcome,
    of object: Int,
    record index: Int,
    in batch: DraftBatch,
    _ objects: inout ImportReport.EntityCounts
  ) throws {
    if backend.isObserved, [.inserted, .updated, .deleted].contains(outcome) {
      try tell(of: index, in: batch)
    }
    switch outcome {
    case .inserted:
      tally.counts.inserted += 1
      objects.inserted += 1
    case .updated:
      tally.counts.updated += 1
      objects.updated += 1
    case .unchanged:
      tally.counts.unchanged += 1
      objects.unchanged += 1
    case .skipped: tally.counts.skipped += 1
    case .deleted: tally.counts.deleted += 1
    default:
      try reject(RecordStop.refused(object: object, outcome), object, record: index, in: batch)
    }
  }

  /// Lends the values of an object, which are the whole row of a plain target.
  static func withRow<Result>(
    of object: Int,
    _ target: Target,
    in batch: DraftBatch,
    _ body: (RowValues, UnsafeRawPointer) throws -> Result
  ) throws -> Result {
    let start = batch.objects[object].start
    let arena = try arena(of: batch)
    return try batch.values.withUnsafeBufferPointer { values in
      try body(UnsafeBufferPointer(rebasing: values[start..<start + target.width]), arena)
    }
  }

  // MARK: - Loads

  /// Whether a draft is about more than the rows that are loaded.
  func needsTables(
    _ draft: DraftBatch.Draft,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws -> Bool {
    switch draft {
    case .reject: return false
    case .row(let object):
      return try !target(of: batch.objects[object].plan, in: plan, isNested: false).isPlain
    case .tombstone(let object):
      let target = try target(of: batch.objects[object].plan, in: plan, isNested: false)
      return !target.isPlain || backend.layout.isLinked(target.plan.layout)
    }
  }

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
  /// It counts as read when it is known what becomes of it. A new object gets the primary key that it would have
  /// without loading.
  func setAside(
    _ object: Int,
    _ target: Target,
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
      reservedKey: isTombstone ? nil : target.writer.reserveKey(),
      issuePlace: tally.issues.takePlace()
    )
    setAside.add(made, plan, keepsRecord: false)
    tally.counts.read -= 1
    let isMuch =
      setAside.count >= Self.setAsideCount || setAside.byteCount >= Self.setAsideByteCount
    // Where so many are rejected that the import ends, it ends at the record at which it would anyway.
    if isMuch || mayRejectTooMany { try endLoads(plan) }
  }

  /// Ends the loads before a reject that could be one too many.
  func settleSetAside(_ plan: ImportPlan?) throws {
    if !setAside.isEmpty, mayRejectTooMany { try endLoads(plan) }
  }

  /// Whether more records than admitted are rejected, if all are that were set aside.
  private var mayRejectTooMany: Bool {
    tally.maximumRejects.map { tally.counts.rejected + setAside.count >= $0 } ?? false
  }

  /// Makes the indexes of all tables that are loaded, and writes what was set aside.
  ///
  /// - Parameters:
  ///   - plan: The plan at hand; nil at the end of the import.
  ///   - cancellation: Stops between two records.
  /// - Throws: `StoreError`; `ImportError` where more records were rejected than is admitted.
  func endLoads(_ plan: ImportPlan?, unless cancellation: Cancellation? = nil) throws {
    guard backend.isLoading else { return }
    try backend.endLoads()
    let all = setAside
    setAside = HeldRecords()
    for record in all.takeAll() {
      if cancellation?.isCancelled == true { throw CancellationError() }
      guard let plan = record.batch.plan else { continue }
      try prepare(for: plan)
      tally.counts.read += 1
      if let issue = try write(setAside: record, plan) { try tally.reject(issue, held: record) }
    }
    if let plan { try prepare(for: plan) }
  }

  /// Writes a record that was set aside.
  ///
  /// - Returns: Why it is rejected; nil: it is not.
  private func write(setAside record: HeldRecords.Record, _ plan: ImportPlan) throws -> ImportIssue?
  {
    let (object, batch) = (record.object, record.batch)
    do {
      if record.isTombstone {
        try delete(object, in: batch, plan)
        return nil
      }
      let target = try target(of: batch.objects[object].plan, in: plan, isNested: false)
      let outcome = try Self.withRow(of: object, target, in: batch) {
        try target.writer.write($0, arena: $1, reserved: record.reservedKey)
      }
      switch outcome {
      case .inserted, .updated, .unchanged, .skipped, .deleted:
        tally.count(outcome, of: target.plan.name, isTop: true)
        return nil
      default: throw RecordStop.refused(object: object, outcome)
      }
    } catch let stop as RecordStop {
      return try settle(stop, object, in: batch, plan) { _ in record.origin }
    }
  }

  /// More records than this are not set aside, nor more bytes of them: a feed with many records about the same
  /// objects is written record by record from then on.
  private static var setAsideCount: Int { 16_384 }
  private static var setAsideByteCount: Int { 16 << 20 }
}
