import DragomanGraph

/// Objects that get another key than they had: who named them by the old one meant them.
extension DraftWalker {
  /// Stores links that lists name by keys, before the row at hand gives its object another key.
  ///
  /// - Throws: `RecordStop.full` where they cannot be stored now; what the store throws.
  func storeBeforeKeyChange(_ target: Target, in batch: DraftBatch) throws {
    // While held records are taken up, others may need the object by the key that it loses.
    guard !target.otherKeys.isEmpty, isNamedByOtherKeys || !held.taken.isEmpty,
      try changesKey(target, in: batch)
    else { return }
    lossCount += 1
    guard isNamedByOtherKeys else { return }
    guard mayFlush else { throw RecordStop.full }
    try flushStages(batch)
  }

  /// The same, before a record that is nothing but an object: it is not undone, so that nothing may be stored within it.
  func storeBeforeKeyChange(of object: Int, in batch: DraftBatch, _ plan: ImportPlan) throws {
    let target = try target(of: batch.objects[object].plan, in: plan, isNested: false)
    guard !target.otherKeys.isEmpty, isNamedByOtherKeys else { return }
    try composeKey(object, target, in: batch, plan, under: nil)
    if try changesKey(target, in: batch) { try flushAll(batch) }
  }

  /// Whether something staged names its targets by keys that they may lose.
  var isNamedByOtherKeys: Bool { stages.all.contains(where: \.namesByOtherKeys) }

  /// Whether the row at hand may give an object that is there a key that nobody has.
  private func changesKey(_ target: Target, in batch: DraftBatch) throws -> Bool {
    // A table that is loaded has nobody yet whom the row could be about.
    guard !backend.isLoading(target.plan.layout.table) else { return false }
    let arena = try Self.arena(of: batch)
    let memory = UnsafeRawBufferPointer(batch.records.arena)
    let isNew = try target.otherKeys.contains { key in
      guard key.slots.contains(where: { row[$0].kind != .absent }) else { return false }
      let values = key.slots.filter { ![.absent, .null].contains(row[$0].kind) }
        .map { row[$0].stored(in: memory) }
      guard values.count == key.columns.count else { return true }
      return try !backend.exists(target.plan.layout, columns: key.columns, values: values)
    }
    guard isNew else { return false }
    _ = try row.withUnsafeBufferPointer { try target.writer.find($0, arena: arena) }
    return target.writer.key != nil
  }
}
