extension ResultSnapshot {
  /// The steps that lead from an earlier snapshot of the same results to this one.
  ///
  /// As few rows as possible are moved. Costs O(n log n). A snapshot does not know of values: rows
  /// that stay are updated where `updated` names them.
  /// - Parameters:
  ///   - old: The earlier snapshot.
  ///   - updated: Rows with other values; those that are not in both snapshots are passed over.
  /// - Returns: The difference: `old.applying(difference)` is this snapshot.
  public func difference(
    from old: ResultSnapshot,
    updated: Set<ObjectID> = []
  ) -> ResultDifference {
    let keys = Set(updated.map(\.primaryKey))
    var builder = DifferenceBuilder(from: old, to: self) { _, place in
      !keys.isEmpty && keys.contains(self.keys[place])
    }
    return builder.difference()
  }

  /// What differs from an earlier snapshot, sections left aside, as the standard library tells it.
  ///
  /// Removals have places of the old list, insertions those of the new one; a row that moved is
  /// both, and each names the other. `old.ids.applying(difference)` is `ids`.
  /// - Parameter old: The earlier snapshot.
  /// - Returns: The difference.
  public func collectionDifference(
    from old: ResultSnapshot
  ) -> CollectionDifference<ObjectID> {
    var places: [Int64: Int] = [:]
    for (place, key) in old.keys.enumerated() { places[key] = place }
    let before = keys.map { places[$0] ?? -1 }
    let stays = IncreasingRun.members(of: before, where: { $0 >= 0 })
    var changes: [CollectionDifference<ObjectID>.Change] = []
    for (place, key) in keys.enumerated() {
      let id = ObjectID(entity: entity, primaryKey: key)
      let known = places.removeValue(forKey: key)
      if stays[place] { continue }
      changes.append(.insert(offset: place, element: id, associatedWith: known))
      if let known {
        changes.append(.remove(offset: known, element: id, associatedWith: place))
      }
    }
    for (key, place) in places {
      let id = ObjectID(entity: entity, primaryKey: key)
      changes.append(.remove(offset: place, element: id, associatedWith: nil))
    }
    // The initializer refuses places that occur twice, which cannot be here.
    return CollectionDifference(changes) ?? ids.difference(from: old.ids)
  }
}
