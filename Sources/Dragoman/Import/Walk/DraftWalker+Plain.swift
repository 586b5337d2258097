import DragomanGraph

/// Records that are nothing but a row.
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
          let key = target.writer.reserveKey()
          let keys = ContiguousArray(key.map { [$0] } ?? [])
          try setAside(object, keys, isTombstone: false, record: index, in: batch)
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
}
