import HashTreeCollections

/// What a save wrote.
struct WrittenChanges: Sendable {
  /// The rows, with what they needed of the contexts above.
  var changes: ChangeSet
  /// What the store made of them.
  var outcome = SaveOutcome()

  /// What a column of a row holds by now; nil: not written.
  func value(_ column: Int, at place: RowKey) -> StoredValue? { changes[place]?.value(column) }
}

extension ChangeSet {
  // MARK: - Children

  /// Puts the changes of a child over these.
  ///
  /// - Returns: The rows whose to-ones are null now, since what they led to is gone.
  mutating func merge(_ upper: ChangeSet, _ layout: ModelLayout) -> [RowKey] {
    var cleared: [RowKey] = []
    for (place, change) in upper.sorted {
      let own = self[place]
      switch (own?.kind, change.kind) {
      case (nil, _): set(change, at: place, layout)
      case (.deleted, .deleted), (.deleted, .updated): break
      case (.inserted, .deleted):
        set(nil, at: place, layout)
        cleared += dropLinks(of: place, layout)
      case (_, .inserted): set(change, at: place, layout)
      case (_, .deleted):
        guard var joined = own else { continue }
        joined.kind = .deleted
        set(joined, at: place, layout)
      case (_, .updated):
        guard var joined = own else { continue }
        joined.values.merge(change.values) { $1 }
        if let mark = change.mark {
          joined.mark = joined.mark.map { $0.merging(mark) } ?? mark
          if mark.isSpecialized { joined.entity = change.entity }
        }
        set(joined, at: place, layout)
      }
      // What was deleted here already has its cause here.
      if let cause = upper.causes[place], deletes(place), own?.kind != .deleted {
        note(cause, for: place)
      }
    }
    let tables = layout.links.map {
      (layout.entities[$0.owner].tableIndex, layout.entities[$0.destination].tableIndex)
    }
    let known = self
    links.merge(upper.links) { owner, target in
      let (source, destination) = tables[owner.link]
      return known[RowKey(table: source, key: owner.owner)]?.kind == .inserted
        || known[RowKey(table: destination, key: target)]?.kind == .inserted
    }
    return cleared
  }

  /// What is said here of the rows and links that others speak of, too.
  ///
  /// - Parameters:
  ///   - others: The others.
  ///   - isWhole: Whether all columns of such a row are meant, or those that the others speak of; an
  ///     insertion is always whole.
  /// - Returns: That part.
  func part(of others: ChangeSet, isWhole: Bool) -> ChangeSet {
    var part = ChangeSet()
    for (table, rows) in others.tables where hasRows(in: table) {
      let own = self.rows(in: table)
      for (key, other) in rows {
        guard var change = own[key] else { continue }
        if !isWhole, change.kind == .updated {
          change.values = change.values.filter { other.values[$0.key] != nil }
        }
        part.keep(change, at: RowKey(table: table, key: key))
      }
    }
    part.links = links.part(of: others.links, isWhole: isWhole)
    return part
  }

  // MARK: - Saves

  /// Forgets what was written: what is as it was then goes, and what was changed or taken back since
  /// is a change of what is stored by now.
  ///
  /// - Parameters:
  ///   - written: What was written, by whomever.
  ///   - seen: These changes as they were when it was written.
  ///   - isOwn: Whether it is these changes that were written.
  ///   - yields: Whether columns that somebody else has written are not these changes' any more.
  ///   - layout: The model's.
  mutating func settle(
    _ written: WrittenChanges,
    seen: ChangeSet,
    isOwn: Bool,
    yields: Bool,
    _ layout: ModelLayout
  ) {
    if isEmpty, seen.isEmpty { return }
    links.settle(
      written.changes.links,
      written.outcome,
      seen: seen.links,
      isOwn: isOwn,
      yields: yields
    )
    for table in written.changes.tables.keys {
      for (key, change) in written.changes.rows(in: table) {
        let place = RowKey(table: table, key: key)
        let then = isOwn || drops == seen.drops ? seen[place] : nil
        let isGone = change.kind == .deleted && !written.outcome.kept.contains(place)
        if self[place] != nil || then != nil {
          var left = left(then, change, place, written, isOwn, yields, layout)
          if let kept = left {
            // Links alone are no reason to keep a row that somebody has deleted: they go with it.
            let isOver =
              isGone
              ? kept.isUpdateOfLinks(layout.linkColumns[place.table])
              : kept.isEmptyUpdate && !hasLinks(of: place, Int(kept.entity), layout)
            if isOver { left = nil }
          }
          set(left, at: place, layout)
        }
        if isGone, self[place] == nil { dropLinks(of: place, layout) }
      }
    }
  }

  /// What is left of a change once a row was written.
  private func left(
    _ then: RowChange?,
    _ change: RowChange,
    _ place: RowKey,
    _ written: WrittenChanges,
    _ isOwn: Bool,
    _ yields: Bool,
    _ layout: ModelLayout
  ) -> RowChange? {
    let now = self[place]
    let version = written.outcome.versions[place] ?? 0
    if change.kind == .deleted {
      if written.outcome.kept.contains(place) { return isOwn ? nil : now }
      let isSame = then?.kind == .deleted && now?.kind == .deleted
      return isSame || then?.kind == .inserted ? nil : now
    }
    if let then, then.kind == .inserted {
      guard var left = now else {
        // Deleted since, when nothing of it was stored: now it is, with links that its owners lose.
        var gone = RowChange(.deleted, Int(then.entity), version: version)
        gone.row = written.row(of: place, layout)
        for column in layout.linkColumns[place.table]
        where layout.links[column.link].inverse != nil && gone.base(column.column) != .null {
          gone.values[column.column] = .null
        }
        return gone
      }
      guard left.kind == .inserted else { return now }
      let columns = layout.tables[place.table].columns.indices
      var values: [Int: StoredValue] = [:]
      for column in columns {
        let value = left.whole(column)
        if value != then.whole(column), value != written.value(column, at: place) {
          values[column] = value
        }
      }
      left = RowChange(.updated, Int(left.entity), version: version, values: values)
      left.row = written.row(of: place, layout)
      left.mark = now?.mark == then.mark ? nil : now?.mark
      return left
    }
    guard isOwn, let then else {
      guard var left = now, left.kind != .inserted else { return now }
      let cleared = written.outcome.cleared[place]?.count ?? 0
      if left.kind == .deleted {
        // Nobody has changed it but for links that were cleared, each of which has counted its version up.
        if cleared > 0, left.version + Int64(cleared) == version { left.version = version }
        left.row = left.row?.setting(change.values)
        return left
      }
      if yields { for column in change.values.keys { left.values[column] = nil } }
      // What differs here stays compared with what it was, unless a deletion has cleared it.
      let others = change.values.filter { cleared > 0 || left.values[$0.key] == nil }
      left.row = left.row?.setting(others)
      if others.count == change.values.count, change.version == left.version,
        !written.outcome.merged.contains(place)
      {
        left.version = version
      }
      return left
    }
    if then.kind == .deleted { return now }
    var values: [Int: StoredValue] = [:]
    for (column, value) in now?.values ?? [:] where then.values[column] != value {
      values[column] = value
    }
    for column in then.values.keys where now?.values[column] == nil {
      // Taken back since: what the row had is a change by now.
      values[column] = then.base(column)
    }
    var left = now ?? RowChange(.updated, Int(then.entity), version: version)
    if left.kind == .deleted {
      left.version = version
      return left
    }
    left.values = values
    if now != nil, written.outcome.merged.contains(place) {
      // Others had a part in the row: what is unsaved still was not compared with it, and will be.
      left.row = left.row?.setting(change.values)
    } else {
      left.version = version
      left.row = written.row(of: place, layout)
    }
    left.mark = now?.mark == then.mark ? nil : now?.mark
    return left
  }

  /// What of these was wanted earlier and is as it was then.
  ///
  /// An insertion is whole: its values are those of then, its links, which must lead somewhere, those
  /// of now.
  func left(of wanted: ChangeSet, _ layout: ModelLayout) -> ChangeSet {
    var left = ChangeSet()
    left.links = links.still(wanted.links)
    for (place, then) in wanted.sorted {
      guard var now = self[place], (now.kind == .deleted) == (then.kind == .deleted) else {
        continue
      }
      if now.kind == .inserted {
        let links = layout.linkColumns[place.table].map(\.column)
        for (column, value) in then.values where !links.contains(column) {
          now.values[column] = value
        }
      } else {
        now.values = then.values.filter { now.values[$0.key] == $0.value }
        // Nothing of it holds any more: its version is not to be raised for that.
        if now.isEmptyUpdate, !then.isEmptyUpdate,
          !left.hasLinks(of: place, Int(now.entity), layout)
        {
          continue
        }
      }
      // What is deleted here is stored yet, and nothing new leads there.
      for column in layout.linkColumns[place.table] where now.kind != .deleted {
        let target = layout.entities[layout.links[column.link].destination].tableIndex
        guard let key = now.value(column.column)?.integer,
          deletes(RowKey(table: target, key: key))
        else { continue }
        now.values[column.column] = now.kind == .inserted ? .null : nil
      }
      left.set(now, at: place, layout)
      if let cause = causes[place] { left.note(cause, for: place) }
    }
    return left
  }
}

extension WrittenChanges {
  /// A row as it was written; nil where others had a part in it.
  func row(of place: RowKey, _ layout: ModelLayout) -> RowPlace? {
    guard let change = changes[place], !outcome.merged.contains(place) else { return nil }
    guard change.kind == .inserted || change.row != nil else { return nil }
    let count = layout.tables[place.table].columns.count
    let buffer = RowBuffer(columnCount: count, capacity: 1)
    buffer.append(change.row, changes: change.values)
    return RowPlace(buffer: buffer, row: 0)
  }
}

extension RowPlace {
  /// The row with other values.
  func setting(_ values: [Int: StoredValue]) -> RowPlace {
    if values.isEmpty { return self }
    let made = RowBuffer(columnCount: buffer.columnCount, capacity: 1)
    made.append(self, changes: values)
    return RowPlace(buffer: made, row: 0)
  }
}
