/// What a to-many of one owner leads to: what is stored, and what layers of changes say otherwise.
struct LinkView {
  private let layout: ModelLayout
  /// The nearest first.
  private let layers: [ChangeSet]
  private let link: RelationshipLayout
  private let owner: Int64

  init(
    _ layout: ModelLayout,
    _ layers: [ChangeSet],
    _ link: RelationshipLayout,
    _ owner: Int64
  ) {
    self.layout = layout
    self.layers = layers
    self.link = link
    self.owner = owner
  }

  /// The targets in order; those without one in the order of their keys.
  func targets(_ stored: StoredTargets) -> [Int64] {
    switch link.storage {
    case .column: return stored.keys
    case .inverseColumn: return rows(stored)
    case .joinTable(let join, isOwner: true) where join.hasPosition:
      let key = LinkKey(link: link.id, owner: owner)
      return layers.reversed().reduce(stored.keys) { beneath, layer in
        layer.links.lists[key]?.over(beneath).targets ?? beneath
      }
    case .joinTable(let join, let isOwner):
      let keys = pairs(stored.keys, isOwner)
      if isOwner || !join.hasInversePosition { return keys }
      return placed(keys, stored).map(\.key)
    }
  }

  /// The place behind the last one of an ordered list.
  func end(_ stored: StoredTargets) -> Int64 {
    let keys = targets(stored)
    let places = placed(keys, stored).map(\.place)
    return max(Int64(keys.count), (places.last { $0 != .max } ?? -1) + 1)
  }

  // MARK: - Columns of the targets

  private func rows(_ stored: StoredTargets) -> [Int64] {
    guard let inverse = layout.inverse(of: link), let column = layout.column(of: inverse) else {
      return stored.keys
    }
    let table = layout.entities[link.destination].tableIndex
    let layers = layers.filter { $0.hasRows(in: table) }
    guard !layers.isEmpty else { return stored.keys }
    let tables = layers.map { $0.rows(in: table) }
    /// Whether a row leads here; nil: nothing is said of it.
    func leadsHere(_ key: Int64) -> Bool? {
      for rows in tables {
        guard let change = rows[key] else { continue }
        if change.kind == .deleted { return false }
        if let value = change.value(column.column) { return value.integer == owner }
      }
      return nil
    }
    var keys = stored.keys.filter { leadsHere($0) ?? true }
    let known = Set(stored.keys)
    var added: Set<Int64> = []
    for layer in layers {
      for key in layer.touched[LinkKey(link: inverse.id, owner: owner)] ?? []
      where !known.contains(key) && leadsHere(key) == true {
        added.insert(key)
      }
    }
    keys += added
    if column.order == nil { return added.isEmpty ? keys : keys.sorted() }
    return placed(keys, stored).map(\.key)
  }

  // MARK: - Tables of links

  private func pairs(_ stored: [Int64], _ isOwner: Bool) -> [Int64] {
    let id = isOwner ? link.id : link.inverse ?? link.id
    let key = LinkKey(link: id, owner: owner)
    var said: [Int64: Bool] = [:]
    for layer in layers.reversed() {
      if isOwner {
        for (target, isThere) in layer.links.pairs[key] ?? [:] { said[target] = isThere }
      } else {
        for (owner, isThere) in layer.links.owners(of: key) { said[owner] = isThere }
      }
    }
    if said.isEmpty { return stored }
    let known = Set(stored)
    let added = said.filter { $0.value && !known.contains($0.key) }.keys
    let kept = stored.filter { said[$0] ?? true }
    return added.isEmpty ? kept : (kept + added).sorted()
  }

  // MARK: - Order

  /// Targets with their places, in order; those without one come last, in the order of their keys.
  private func placed(
    _ keys: [Int64],
    _ stored: StoredTargets
  ) -> [(place: Int64, key: Int64)] {
    let places = stored.places
    let placed = keys.map { (place: changedPlace(of: $0) ?? places[$0] ?? .max, key: $0) }
    return placed.sorted { ($0.place, $0.key) < ($1.place, $1.key) }
  }

  private func changedPlace(of key: Int64) -> Int64? {
    switch link.storage {
    case .inverseColumn:
      guard let inverse = layout.inverse(of: link), let column = layout.column(of: inverse),
        let order = column.order
      else { return nil }
      let place = RowKey(table: layout.entities[link.destination].tableIndex, key: key)
      // What came from another list and has the same place in this one says so in no change of this list:
      // a layer beneath may, or the row.
      var before: Int64?
      for layer in layers {
        guard let change = layer[place] else { continue }
        if let value = change.value(order) { return value.integer }
        if change.values[column.column] != nil { before = change.base(order).integer }
      }
      return before
    case .joinTable(_, isOwner: false):
      let target = LinkKey(link: link.inverse ?? link.id, owner: owner)
      for layer in layers {
        if let place = layer.links.places[target]?[key] { return place }
      }
      return nil
    default: return nil
    }
  }
}
