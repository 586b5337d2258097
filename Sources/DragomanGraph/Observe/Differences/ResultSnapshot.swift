/// The results at one moment: ids in order, in sections.
///
/// A value that is safe to pass on.
///
///     for (number, section) in snapshot.sections.enumerated() {
///       print(section.value, snapshot.ids(in: number))
///     }
///
/// Holds 8 bytes a row, shared with the results that it is of until they change.
public struct ResultSnapshot: Sendable {
  /// A run of rows with the same section value.
  public struct Section: Sendable, Hashable {
    /// The value, as the first row of the section spells it; null where there are no sections.
    public let value: StoredValue
    /// How many rows it has: 1 or more, unless there are no sections.
    public let count: Int
  }

  /// What keys are of.
  let entity: String
  /// The primary keys of all rows, in order.
  let keys: [Int64]
  /// Where each section begins, and where the last one ends.
  let starts: [Int]
  /// What tells sections apart, as it is compared.
  let groups: [[StoredValue]]
  let values: [StoredValue]

  init(
    entity: String,
    keys: [Int64],
    starts: [Int],
    groups: [[StoredValue]],
    values: [StoredValue]
  ) {
    self.entity = entity
    self.keys = keys
    self.starts = starts
    self.groups = groups
    self.values = values
  }

  /// Results without rows, and without sections to put some in.
  init(emptyOf entity: String) {
    self.init(entity: entity, keys: [], starts: [0, 0], groups: [[]], values: [.null])
  }

  /// How many rows there are.
  public var count: Int { keys.count }
  /// Whether there are none.
  public var isEmpty: Bool { keys.isEmpty }
  /// How many sections there are; 1 where the results have none.
  public var sectionCount: Int { values.count }

  /// The sections, in order; a single one where the results have none.
  public var sections: [Section] {
    values.indices.map { Section(value: values[$0], count: starts[$0 + 1] - starts[$0]) }
  }

  /// The ids of all rows, in order.
  public var ids: [ObjectID] { keys.map { ObjectID(entity: entity, primaryKey: $0) } }

  /// The ids of the rows of one section, in order.
  ///
  /// - Parameter section: The section, from 0; must exist.
  /// - Returns: The ids.
  public func ids(in section: Int) -> [ObjectID] {
    keys[starts[section]..<starts[section + 1]].map { ObjectID(entity: entity, primaryKey: $0) }
  }

  /// The ids of some rows, by their places without sections, from 0; what is beyond the end is left
  /// out.
  public func ids(at places: Range<Int>) -> [ObjectID] {
    keys[places.clamped(to: keys.indices)].map { ObjectID(entity: entity, primaryKey: $0) }
  }

  /// The id of the row at a place, which must exist.
  public subscript(place: ResultPlace) -> ObjectID {
    ObjectID(entity: entity, primaryKey: keys[starts[place.section] + place.row])
  }

  /// Where a row is; nil for one that is not among them.
  ///
  /// Costs O(n).
  public func place(of id: ObjectID) -> ResultPlace? {
    guard id.entity.utf8.elementsEqual(entity.utf8),
      let place = keys.firstIndex(of: id.primaryKey)
    else { return nil }
    return self.place(place)
  }

  /// The section and row of a place in the whole.
  func place(_ flat: Int) -> ResultPlace {
    var low = 0
    var high = starts.count - 1
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= flat { low = middle } else { high = middle }
    }
    return ResultPlace(section: low, row: flat - starts[low])
  }
}

extension ResultSnapshot: Hashable {
  /// Compares ids, sections and how their values are spelled.
  public static func == (left: ResultSnapshot, right: ResultSnapshot) -> Bool {
    left.entity.utf8.elementsEqual(right.entity.utf8) && left.keys == right.keys
      && left.starts == right.starts && left.values == right.values
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(keys)
    hasher.combine(starts)
    hasher.combine(values)
  }
}

extension ResultSnapshot {
  /// The snapshot after a difference.
  ///
  /// Costs O(n) a step for the rows of the sections concerned.
  /// - Parameter difference: What happened.
  /// - Returns: The next snapshot; nil where a step does not fit: the difference is not one of this
  ///   snapshot.
  public func applying(_ difference: ResultDifference) -> ResultSnapshot? {
    var sections = (0..<sectionCount).map { index in
      Draft(value: values[index], keys: Array(keys[self.starts[index]..<self.starts[index + 1]]))
    }
    for change in difference.changes {
      guard Self.apply(change, to: &sections) else { return nil }
    }
    var starts = [0]
    for section in sections { starts.append((starts.last ?? 0) + section.keys.count) }
    return ResultSnapshot(
      entity: entity,
      keys: sections.flatMap(\.keys),
      starts: starts,
      groups: sections.map { [$0.value] },
      values: sections.map(\.value)
    )
  }

  private struct Draft {
    var value: StoredValue
    var keys: [Int64]
  }

  private static func apply(_ change: ResultChange, to sections: inout [Draft]) -> Bool {
    switch change {
    case .sectionInserted(let value, let place):
      guard (0...sections.count).contains(place) else { return false }
      sections.insert(Draft(value: value, keys: []), at: place)
    case .sectionDeleted(let place):
      guard sections.indices.contains(place), sections[place].keys.isEmpty else { return false }
      sections.remove(at: place)
    case .sectionMoved(let from, let to):
      guard sections.indices.contains(from), sections.indices.contains(to) else { return false }
      sections.insert(sections.remove(at: from), at: to)
    case .sectionUpdated(let value, let place):
      guard sections.indices.contains(place) else { return false }
      sections[place].value = value
    case .inserted(let id, let place):
      return insert(id, place, &sections)
    case .deleted(let id, let place):
      return remove(id, place, &sections)
    case .moved(let id, let from, let to):
      return remove(id, from, &sections) && insert(id, to, &sections)
    case .updated(let id, let place):
      return sections.indices.contains(place.section)
        && sections[place.section].keys.indices.contains(place.row)
        && sections[place.section].keys[place.row] == id.primaryKey
    }
    return true
  }

  private static func insert(
    _ id: ObjectID,
    _ place: ResultPlace,
    _ sections: inout [Draft]
  ) -> Bool {
    guard sections.indices.contains(place.section),
      (0...sections[place.section].keys.count).contains(place.row)
    else { return false }
    sections[place.section].keys.insert(id.primaryKey, at: place.row)
    return true
  }

  private static func remove(
    _ id: ObjectID,
    _ place: ResultPlace,
    _ sections: inout [Draft]
  ) -> Bool {
    guard sections.indices.contains(place.section),
      sections[place.section].keys.indices.contains(place.row),
      sections[place.section].keys[place.row] == id.primaryKey
    else { return false }
    sections[place.section].keys.remove(at: place.row)
    return true
  }
}

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
