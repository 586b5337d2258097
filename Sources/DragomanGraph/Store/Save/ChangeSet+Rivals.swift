extension ChangeSet {
  /// Settles what others have changed above, in the same columns, since a child began: it did not know of it.
  ///
  /// Columns that were unsaved above by then are the child's to change: it has seen them. What was stored meanwhile
  /// is compared when these changes are.
  ///
  /// - Parameters:
  ///   - above: What is unsaved above now.
  ///   - seen: What was when the child began.
  ///   - rivals: What the child found otherwise than it was then where it set something, by rows and columns.
  ///   - policy: Whose values hold.
  ///   - layout: The model's.
  /// - Returns: What is in conflict by the policy `.error`.
  mutating func settle(
    beside above: ChangeSet,
    since seen: ChangeSet,
    rivals: [RowKey: [Int: StoredValue]],
    _ policy: MergePolicy,
    _ layout: ModelLayout
  ) -> [SaveConflict] {
    if policy == .objectTrumps || policy == .overwrite { return [] }
    var conflicts: [SaveConflict] = []
    for (place, change) in sorted {
      let before = seen[place]
      let object = layout.objectID(of: place)
      if change.kind == .updated, let before, before.kind == .updated {
        // What the child has set it has set in place of what it saw, which may have been stored since.
        let base = before.values.filter { change.values[$0.key] != nil }
        var rebased = change
        rebased.row = change.row?.setting(base)
        if !base.isEmpty { set(rebased, at: place, layout) }
      }
      let known = rivals[place] ?? [:]
      guard let theirs = above[place] ?? (known.isEmpty ? nil : RowChange(.updated, 0)) else {
        continue
      }
      let changed = theirs.columns(notIn: before).union(known.keys).sorted()
      if (change.kind == .deleted) != (theirs.kind == .deleted) {
        // A deletion of what was changed since, or a change of what was deleted since.
        let isOurs = change.kind == .deleted
        guard policy == .error, isOurs ? !changed.isEmpty : before?.kind != .deleted else {
          continue
        }
        conflicts.append(
          SaveConflict(
            object: object,
            property: nil,
            base: .integer(change.version),
            ours: isOurs ? .null : .integer(change.version),
            theirs: isOurs ? .integer(theirs.version) : .null
          )
        )
        continue
      }
      guard change.kind == .updated else { continue }
      let columns = layout.tables[place.table].columns
      func theirValue(_ column: Int) -> StoredValue {
        theirs.values[column] ?? known[column] ?? .null
      }
      let shared = changed.filter { column in
        guard let ours = change.values[column] else { return false }
        // Two who count up come to the same number; two who link the same have done so.
        return columns[column].attribute != nil || ours != theirValue(column)
      }
      guard !shared.isEmpty else { continue }
      switch policy {
      case .rollback: set(nil, at: place, layout)
      case .storeTrumps:
        var kept = self[place] ?? change
        for column in shared { kept.values[column] = nil }
        set(kept.isEmptyUpdate ? nil : kept, at: place, layout)
      case .error, .objectTrumps, .overwrite:
        conflicts += shared.map { column in
          SaveConflict(
            object: object,
            property: columns[column].property,
            base: before?.values[column] ?? change.base(column),
            ours: change.values[column] ?? .null,
            theirs: theirValue(column),
            isSensitive: columns[column].attribute?.isSensitive == true
          )
        }
      }
    }
    return conflicts
  }
}

extension RowChange {
  /// The columns that are set, and were not set so before.
  fileprivate func columns(notIn before: RowChange?) -> Set<Int> {
    Set(values.filter { column, value in before?.values[column] != value }.keys)
  }
}
