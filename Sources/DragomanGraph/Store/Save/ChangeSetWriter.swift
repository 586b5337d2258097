/// Writes the unsaved changes of a context into an engine, within one transaction.
///
/// What becomes of rows that others changed since they were read is decided here alone, by the merge policy; an
/// engine says what it has, and writes.
protocol ChangeSetWriter: AnyObject {
  var layout: ModelLayout { get }
  var policy: MergePolicy { get }
  var outcome: SaveOutcome { get set }
  var conflicts: [SaveConflict] { get set }
  /// Rows that are deleted by now.
  var deleted: Set<RowKey> { get }

  /// The row as the engine has it now; nil: it is not there.
  func stored(_ place: RowKey) throws -> (version: Int64, values: [StoredValue])?
  /// Whether a row is there, one that this save makes included.
  func isThere(_ place: RowKey) throws -> Bool
  /// Makes a row.
  func insert(_ place: RowKey, _ change: RowChange) throws
  /// Sets columns of a row that is there or that this save makes, in whatever version, and notes its new one.
  func set(_ values: [Int: StoredValue], at place: RowKey, of change: RowChange) throws
  /// The rows that lead to the target of a row, too, by a column, where that row leads there by now.
  func rivals(of place: RowKey, by column: Int, to target: Int64) throws -> [RowKey]
  /// Deletes a row in the version that was read; one that somebody changed is a matter of `settlesDeletion`.
  func deleteRow(_ place: RowKey, _ change: RowChange) throws
}

extension ChangeSetWriter {
  /// Whether what others did counts more than what is saved.
  var storeWins: Bool { policy == .storeTrumps || policy == .rollback }

  /// The place of an object.
  func rowKey(_ key: Int64, _ entity: Int) -> RowKey {
    RowKey(table: layout.entities[entity].tableIndex, key: key)
  }

  // MARK: - Rows

  /// Settles an update of a row that is not there in the version that was read.
  func settle(_ place: RowKey, _ change: RowChange) throws {
    outcome.merged.insert(place)
    guard let theirs = try stored(place) else {
      switch policy {
      case .error:
        conflict(
          place,
          base: .integer(change.version),
          ours: .integer(change.version + 1),
          theirs: .null
        )
      case .storeTrumps, .rollback:
        outcome.dropped.insert(place)
        outcome.gone.insert(place)
      case .objectTrumps, .overwrite: try insert(place, change)
      }
      return
    }
    let columns = layout.tables[place.table].columns
    var values = change.values
    switch policy {
    case .rollback:
      outcome.dropped.insert(place)
      return
    case .overwrite:
      for column in columns.indices where values[column] == nil {
        values[column] = change.base(column)
      }
    case .objectTrumps: break
    case .error, .storeTrumps:
      for (column, ours) in change.values.sorted(by: { $0.key < $1.key }) {
        let (base, theirs) = (change.base(column), theirs.values[column])
        guard theirs != base else { continue }
        // Two who count up come to the same number, and one is lost; two who link the same have done so.
        if theirs == ours, columns[column].attribute == nil { continue }
        if policy == .storeTrumps {
          values[column] = nil
        } else {
          conflict(place, columns[column].property, base: base, ours: ours, theirs: theirs)
        }
      }
    }
    if values.isEmpty {
      outcome.versions[place] = theirs.version
    } else if conflicts.isEmpty {
      try set(values, at: place, of: change)
    }
  }

  /// Deletes a row, after those whose deletion took it along, and not where one of these was given up.
  func delete(_ place: RowKey, in changes: ChangeSet) throws {
    // A chain of cascades may be long, and deletions of two contexts may have taken each other along.
    var chain = [place]
    var seen: Set<RowKey> = [place]
    while let cause = changes.causes[chain[chain.count - 1]], !deleted.contains(cause),
      !outcome.kept.contains(cause), seen.insert(cause).inserted
    {
      chain.append(cause)
    }
    for place in chain.reversed() {
      guard let change = changes[place], change.kind == .deleted, !deleted.contains(place),
        !outcome.kept.contains(place)
      else { continue }
      if let cause = changes.causes[place], outcome.kept.contains(cause) {
        outcome.kept.insert(place)
      } else {
        try deleteRow(place, change)
      }
    }
  }

  /// Settles the deletion of a row that is there in another version than the one that was read.
  ///
  /// - Returns: Whether it is deleted all the same; one that is not is kept, or a conflict.
  func settlesDeletion(_ place: RowKey, _ change: RowChange, theirVersion: Int64) -> Bool {
    switch policy {
    case .error:
      conflict(place, base: .integer(change.version), ours: .null, theirs: .integer(theirVersion))
      return false
    case .storeTrumps, .rollback:
      outcome.kept.insert(place)
      return false
    case .objectTrumps, .overwrite: return true
    }
  }

  private func conflict(
    _ place: RowKey,
    _ property: String? = nil,
    base: StoredValue,
    ours: StoredValue,
    theirs: StoredValue
  ) {
    conflicts.append(
      SaveConflict(
        object: layout.objectID(of: place),
        property: property,
        base: base,
        ours: ours,
        theirs: theirs,
        isSensitive: layout.tables[place.table].columns.contains { column in
          column.property == property && column.attribute?.isSensitive == true
        }
      )
    )
  }

  // MARK: - Links

  /// Settles to-ones whose inverse is one, too, where somebody has given the target to another row meanwhile.
  func settleOneToOnes(_ rows: [(place: RowKey, change: RowChange)], in changes: ChangeSet) throws {
    for (place, change) in rows where change.kind != .deleted && !outcome.dropped.contains(place) {
      for column in layout.linkColumns[place.table]
      where layout.isExclusive(layout.links[column.link]) {
        guard let target = target(of: change, by: column) else { continue }
        for rival in try rivals(of: place, by: column.column, to: target) {
          try settle(rival, against: place, change, by: column, to: target, in: changes)
        }
      }
    }
  }

  /// The target that a save may give to a row by a column; nil: it gives it none.
  func target(of change: RowChange, by column: ModelLayout.LinkColumn) -> Int64? {
    // A row that is gone is written again as a whole.
    let isWhole = change.kind == .inserted || policy == .objectTrumps || policy == .overwrite
    return (isWhole ? change.whole(column.column) : change.values[column.column])?.integer
  }

  /// Settles to whom of two rows a target belongs that can have one.
  private func settle(
    _ rival: RowKey,
    against place: RowKey,
    _ change: RowChange,
    by column: ModelLayout.LinkColumn,
    to target: Int64,
    in changes: ChangeSet
  ) throws {
    let link = layout.links[column.link]
    // What is unsaved above has taken the target from it.
    let isOurs =
      policy == .objectTrumps || policy == .overwrite || changes.isDeletedAbove(rival)
      || changes.isMovedAbove(rival, column.column, from: target)
    let cleared: [Int: StoredValue] = [column.column: .null]
    if policy == .error && !isOurs || link.relationship.isRequired {
      conflict(
        rowKey(target, link.destination),
        layout.inverse(of: link)?.name,
        base: .null,
        ours: .integer(place.key),
        theirs: .integer(rival.key)
      )
      // Whose refresh lets go of it.
      conflict(
        place,
        link.name,
        base: change.base(column.column),
        ours: .integer(target),
        theirs: .null
      )
    } else if isOurs {
      try set(cleared, at: rival, of: RowChange(.updated, layout.tables[rival.table].root))
      outcome.merged.insert(rival)
      if changes[rival] == nil { outcome.cleared[rival, default: [:]].merge(cleared) { $1 } }
    } else {
      try set(cleared, at: place, of: change)
      outcome.merged.insert(place)
    }
  }

  /// Whether a link may not be written because somebody deleted what it leads to and the store wins.
  func isGone(_ place: RowKey) throws -> Bool { try storeWins && !isThere(place) }

  /// A change without the links that went with a row which is kept after all.
  func keepingLinks(_ change: RowChange, at place: RowKey) -> RowChange {
    guard !outcome.kept.isEmpty else { return change }
    var change = change
    for column in layout.linkColumns[place.table] where change.values[column.column] == .null {
      if let key = change.base(column.column).integer,
        outcome.kept.contains(rowKey(key, layout.links[column.link].destination))
      {
        change.values[column.column] = nil
        outcome.merged.insert(place)
      }
    }
    return change
  }

  /// Where the store wins a row leads no more to what somebody deleted; a required link is refused at the commit.
  func clearLinksToGone(of change: RowChange, at place: RowKey) throws {
    guard storeWins, !outcome.dropped.contains(place) else { return }
    let cleared = try clearedLinks(of: place.table) { column, link in
      let isNew = change.kind == .inserted
      guard !link.relationship.isRequired,
        let key = (isNew ? change.whole(column) : change.values[column])?.integer
      else { return false }
      return try isGone(rowKey(key, link.destination))
    }
    guard !cleared.isEmpty else { return }
    try set(cleared, at: place, of: change)
    outcome.merged.insert(place)
  }

  /// Rows that are kept lead no more to what is deleted in spite of that.
  func clearLinksOfKept(in changes: ChangeSet) throws {
    for place in outcome.kept {
      guard let row = try stored(place), let change = changes[place] else { continue }
      let cleared = clearedLinks(of: place.table) { column, link in
        row.values[column].integer.map { deleted.contains(rowKey($0, link.destination)) }
          ?? false
      }
      if !cleared.isEmpty { try set(cleared, at: place, of: change) }
    }
  }

  /// The columns of to-ones that are cleared, with those that hold their places.
  private func clearedLinks(
    of table: Int,
    _ isCleared: (Int, RelationshipLayout) throws -> Bool
  ) rethrows -> [Int: StoredValue] {
    var cleared: [Int: StoredValue] = [:]
    for column in layout.linkColumns[table]
    where try isCleared(column.column, layout.links[column.link]) {
      cleared[column.column] = .null
      if let order = column.order { cleared[order] = .null }
    }
    return cleared
  }

  /// What a list of links is to be, with what others have changed of it.
  func settle(
    _ list: LinkRows.List,
    over stored: [Int64],
    of owner: RowKey,
    _ link: RelationshipLayout
  ) throws -> [Int64] {
    let list =
      outcome.kept.isEmpty
      ? list : list.leaving { outcome.kept.contains(rowKey($0, link.destination)) }
    var (targets, isWhole) = list.over(stored)
    if !isWhole {
      switch policy {
      case .error:
        let spell = { (keys: [Int64]) in StoredValue.text("\(keys)") }
        conflict(
          owner,
          link.name,
          base: spell(list.base),
          ours: spell(list.targets),
          theirs: spell(stored)
        )
      case .storeTrumps, .rollback:
        targets = list.moved(to: stored, over: list.base).over(list.targets).targets
      case .objectTrumps, .overwrite: break
      }
    }
    let there = Set(stored)
    return try targets.filter { try there.contains($0) || !isGone(rowKey($0, link.destination)) }
  }

  /// The table of a relationship's links, where the relationship is the one that has it.
  func join(_ link: Int) -> RelationshipLayout.JoinTable? {
    if case .joinTable(let join, isOwner: true) = layout.links[link].storage { join } else { nil }
  }

  /// Whether links to what is deleted become null, whoever has made them since the context looked.
  func isNullified(_ link: RelationshipLayout) -> Bool {
    layout.inverse(of: link)?.relationship.deleteRule == .nullify && !link.relationship.isRequired
  }
}

extension ContextError {
  /// What is told of conflicts; nil: there are none.
  ///
  /// - Parameters:
  ///   - conflicts: The conflicts.
  ///   - other: Where the others' values are.
  init?(_ conflicts: [SaveConflict], with other: String = "in the store") {
    guard let first = conflicts.first else { return nil }
    let name = "\(first.object.entity) \(first.object.primaryKey)"
    let message: String
    if let property = first.property {
      message =
        (conflicts.count == 1
          ? "A property was changed elsewhere since this context read it:"
          : "\(conflicts.count) properties were changed elsewhere since this context read them;"
            + " the first is")
        + " \(property) of \(name): read \(first.shown(first.base)), here \(first.shown(first.ours)),"
        + " \(other) \(first.shown(first.theirs))."
    } else {
      // Who deleted it has no value for it.
      message =
        (first.theirs == .null
          ? "\(name) was deleted elsewhere since this context read it, and is changed here"
          : "\(name) was changed elsewhere since this context read it, and is deleted here")
        + (conflicts.count == 1
          ? "." : "; \(MessageWords.count(conflicts.count - 1, "more conflict")).")
    }
    self.init(
      .conflict,
      message,
      object: first.object,
      help: "refresh the object and save again, or choose a merge policy",
      conflicts: conflicts
    )
  }
}
