import HashTreeCollections

/// Everything that differs from the store, as one value: rows of tables and rows of tables of links.
///
/// It is persistent: a copy costs nothing and shares what is the same, so that a context hands its
/// changes to its children, keeps an old state to undo a record, or writes what it has on another
/// thread, by keeping a value. What a to-many leads to is computed from what is stored and from what
/// is said here of its targets' columns, or of its links' rows; there is no list of it that could
/// disagree.
struct ChangeSet: Sendable {
  /// The rows that differ, by table and key.
  private(set) var tables: TreeDictionary<Int, TreeDictionary<Int64, RowChange>> = [:]
  /// Of a to-one and an owner: the rows that came to the owner or went from it.
  ///
  /// Derived from `tables`.
  private(set) var touched: TreeDictionary<LinkKey, TreeSet<Int64>> = [:]
  /// The rows of which more is said than their values; derived from `tables`.
  private(set) var marked: TreeSet<RowKey> = []
  /// Deletions that came from a delete rule: what took them along.
  private(set) var causes: TreeDictionary<RowKey, RowKey> = [:]
  /// The rows of tables of links.
  var links = LinkRows()
  /// What is unsaved above while these changes are written: targets that it has taken from rows are free.
  var above: [ChangeSet] = []
  /// Counts how often everything was dropped.
  private(set) var drops = 0

  /// Whether nothing differs.
  var isEmpty: Bool { tables.isEmpty && links.isEmpty }

  /// How many rows of tables differ.
  var count: Int { tables.reduce(0) { $0 + $1.value.count } }

  /// What is said of a row.
  subscript(place: RowKey) -> RowChange? { tables[place.table]?[place.key] }

  /// The rows of a table that differ.
  func rows(in table: Int) -> TreeDictionary<Int64, RowChange> { tables[table] ?? [:] }

  /// Whether anything is said of a table.
  func hasRows(in table: Int) -> Bool { tables[table] != nil }

  /// All rows that differ.
  var places: [RowKey] {
    tables.flatMap { table, rows in rows.keys.map { RowKey(table: table, key: $0) } }
  }

  /// All rows that differ, by table and key, so that the same changes always come in the same order.
  var sorted: [(place: RowKey, change: RowChange)] {
    tables.sorted { $0.key < $1.key }.flatMap { table, rows in
      rows.sorted { $0.key < $1.key }.map { (RowKey(table: table, key: $0.key), $0.value) }
    }
  }

  /// Whether a row is deleted.
  func deletes(_ place: RowKey) -> Bool { self[place]?.kind == .deleted }

  /// Whether what is unsaved above deletes a row.
  func isDeletedAbove(_ place: RowKey) -> Bool { above.contains { $0.deletes(place) } }

  /// Whether what is unsaved above lets a column of a row lead elsewhere.
  func isMovedAbove(_ place: RowKey, _ column: Int, from target: Int64) -> Bool {
    above.contains { $0[place]?.values[column].map { $0 != .integer(target) } ?? false }
  }

  /// Says what a row is like now; nil: as it is stored.
  mutating func set(_ change: RowChange?, at place: RowKey, _ layout: ModelLayout) {
    let columns = layout.linkColumns[place.table]
    if !columns.isEmpty {
      let old = self[place]
      for column in columns {
        let before = old?.owners(column) ?? (nil, nil)
        let after = change?.owners(column) ?? (nil, nil)
        guard before != after else { continue }
        if let owner = before.0 { untouch(LinkKey(link: column.link, owner: owner), place.key) }
        if let owner = before.1 { untouch(LinkKey(link: column.link, owner: owner), place.key) }
        if let owner = after.0 { touch(LinkKey(link: column.link, owner: owner), place.key) }
        if let owner = after.1 { touch(LinkKey(link: column.link, owner: owner), place.key) }
      }
    }
    if change?.mark != nil {
      marked.insert(place)
    } else if !marked.isEmpty {
      marked.remove(place)
    }
    if let change {
      tables[place.table, default: [:]][place.key] = change
      if change.kind != .deleted, !causes.isEmpty { causes[place] = nil }
    } else {
      tables[place.table]?[place.key] = nil
      if tables[place.table]?.isEmpty == true { tables[place.table] = nil }
      if !causes.isEmpty { causes[place] = nil }
    }
  }

  /// Keeps a row as it is said elsewhere, for those who ask for rows only.
  mutating func keep(_ change: RowChange?, at place: RowKey) {
    if let change { tables[place.table, default: [:]][place.key] = change }
  }

  /// Sets a column that leads to no row and is no place in a list, of a row that differs already.
  mutating func set(_ value: StoredValue, _ column: Int, at place: RowKey) {
    tables[place.table]?[place.key]?.values[column] = value
  }

  /// Says why a row was deleted.
  mutating func note(_ cause: RowKey, for place: RowKey) { causes[place] = cause }

  private mutating func touch(_ key: LinkKey, _ row: Int64) {
    touched[key, default: []].insert(row)
  }

  private mutating func untouch(_ key: LinkKey, _ row: Int64) {
    touched[key]?.remove(row)
    if touched[key]?.isEmpty == true { touched[key] = nil }
  }

  /// Drops everything; what was written of it by others is no change that was taken back.
  mutating func removeAll() {
    let drops = drops + 1
    self = ChangeSet()
    self.drops = drops
  }

  // MARK: - Links

  /// Whether links in a table of their own differ that a row owns.
  func hasLinks(of place: RowKey, _ entity: Int, _ layout: ModelLayout) -> Bool {
    guard !links.isEmpty else { return false }
    return layout.entities[entity].relationships.contains { link in
      guard case .joinTable(_, isOwner: true) = link.storage else { return false }
      return links.has(owner: LinkKey(link: link.id, owner: place.key))
    }
  }

  /// The other ends of the links between a row and others of which anything is said here, but of the
  /// row's own columns: each an owner, and the relationship by which it has the row.
  func ends(
    of link: RelationshipLayout,
    at place: RowKey,
    _ layout: ModelLayout
  ) -> Set<LinkKey> {
    let row = LinkKey(link: link.id, owner: place.key)
    var ends: Set<LinkKey> = []
    if layout.entities[link.destination].tableIndex == place.table {
      let owners = Array(touched[row] ?? []) + links.owners(of: row).map(\.owner)
      for owner in owners { ends.insert(LinkKey(link: link.id, owner: owner)) }
    }
    if layout.entities[link.owner].tableIndex == place.table, let inverse = link.inverse {
      let targets = (links.pairs[row]?.keys).map(Array.init) ?? links.lists[row]?.targets ?? []
      for target in targets { ends.insert(LinkKey(link: inverse, owner: target)) }
    }
    return ends
  }

  /// Drops every link that leads to a row or from it, and is not stored: the row is deleted, or gone.
  ///
  /// - Returns: The rows whose to-ones are null now.
  @discardableResult
  mutating func dropLinks(of place: RowKey, _ layout: ModelLayout) -> [RowKey] {
    var cleared: [RowKey] = []
    let isStored = deletes(place)
    for link in layout.links {
      let owner = layout.entities[link.owner].tableIndex
      let target = layout.entities[link.destination].tableIndex
      if let column = layout.column(of: link) {
        guard target == place.table else { continue }
        for key in touched[LinkKey(link: link.id, owner: place.key)] ?? [] {
          let row = RowKey(table: owner, key: key)
          guard var change = self[row], change.kind != .deleted,
            change.value(column.column)?.integer == place.key
          else { continue }
          let isAsStored =
            change.kind == .updated && change.row != nil && change.base(column.column) == .null
          change.values[column.column] = isAsStored ? nil : .null
          let isOver =
            isAsStored && change.isEmptyUpdate && !hasLinks(of: row, Int(change.entity), layout)
          set(isOver ? nil : change, at: row, layout)
          cleared.append(row)
        }
      } else if case .joinTable(_, isOwner: true) = link.storage {
        let key = LinkKey(link: link.id, owner: place.key)
        if owner == place.table {
          let leaves = link.relationship.deleteRule == .noAction
          links.forget(owner: key, keepsRemovals: isStored, leavesStored: leaves)
        }
        if target == place.table {
          let leaves = layout.inverse(of: link)?.relationship.deleteRule == .noAction
          links.forget(target: key, keepsRemovals: isStored, leavesStored: leaves)
        }
      }
    }
    return cleared
  }
}
