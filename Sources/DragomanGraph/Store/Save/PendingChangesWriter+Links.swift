/// Rows of tables of links; the links of to-ones are columns and come with their objects.
extension PendingChangesWriter {
  func write(_ links: LinkRows) throws {
    let byKey: (LinkKey, LinkKey) -> Bool = { ($0.link, $0.owner) < ($1.link, $1.owner) }
    for owner in links.owners.sorted(by: byKey) {
      guard let join = join(owner.link), !isDropped(owner.owner, layout.links[owner.link].owner),
        try !isGone(owner.owner, layout.links[owner.link].owner)
      else { continue }
      if let list = links.lists[owner] {
        try write(list, owner, join)
      } else {
        try write(links.pairs[owner]?.sorted { $0.key < $1.key } ?? [], owner, join)
      }
    }
    for target in links.places.keys.sorted(by: byKey) {
      guard let join = join(target.link) else { continue }
      let statement = try statement(
        "UPDATE \(Schema.quoted(join.name)) SET inverse_position = ?3"
          + " WHERE owner = ?1 AND target = ?2"
      )
      for (owner, place) in links.places[target]?.sorted(by: { $0.key < $1.key }) ?? [] {
        statement.bind(integer: owner, 1)
        statement.bind(integer: target.owner, 2)
        statement.bind(integer: place, 3)
        try statement.run()
      }
    }
  }

  private func join(_ link: Int) -> RelationshipLayout.JoinTable? {
    if case .joinTable(let join, isOwner: true) = layout.links[link].storage { join } else { nil }
  }

  /// Whether a link to this object may not be written: it is gone, and the store wins.
  private func isGone(_ key: Int64, _ entity: Int) throws -> Bool {
    try isGone(RowKey(table: layout.entities[entity].tableIndex, key: key))
  }

  /// Whether the policy gave up the changes of a row.
  private func isDropped(_ key: Int64, _ entity: Int) -> Bool {
    guard !outcome.dropped.isEmpty else { return false }
    return outcome.dropped.contains(RowKey(table: layout.entities[entity].tableIndex, key: key))
  }

  /// Whether a row is kept after all.
  private func isKept(_ key: Int64, _ entity: Int) -> Bool {
    guard !outcome.kept.isEmpty else { return false }
    return outcome.kept.contains(RowKey(table: layout.entities[entity].tableIndex, key: key))
  }

  private func write(
    _ targets: [(key: Int64, value: Bool)],
    _ owner: LinkKey,
    _ join: RelationshipLayout.JoinTable
  ) throws {
    let table = Schema.quoted(join.name)
    let removal = try statement("DELETE FROM \(table) WHERE owner = ?1 AND target = ?2")
    let insertion = try statement("INSERT OR IGNORE INTO \(table) (owner, target) VALUES (?1, ?2)")
    let link = layout.links[owner.link]
    let isOwnerKept = isKept(owner.owner, link.owner)
    for (target, isThere) in targets
    where isThere || !isOwnerKept && !isKept(target, link.destination) {
      if join.isSymmetric, isDropped(target, link.destination) { continue }
      if isThere, try isGone(target, link.destination) {
        outcome.merged.insert(
          RowKey(table: layout.entities[link.owner].tableIndex, key: owner.owner)
        )
        continue
      }
      let statement = isThere ? insertion : removal
      statement.bind(integer: owner.owner, 1)
      statement.bind(integer: target, 2)
      if try statement.run() == 0, isThere { outcome.known[owner, default: []].insert(target) }
    }
  }

  /// Writes all rows of an owner anew, with what others have changed of them; what the inverse has put
  /// in order stays so.
  private func write(
    _ list: LinkRows.List,
    _ owner: LinkKey,
    _ join: RelationshipLayout.JoinTable
  ) throws {
    let link = layout.links[owner.link]
    if isKept(owner.owner, link.owner) { return }
    let stored = try storedTargets(owner, join)
    let list = outcome.kept.isEmpty ? list : list.leaving { isKept($0, link.destination) }
    var (targets, isWhole) = list.over(stored)
    if !isWhole {
      switch policy {
      case .error:
        let spell = { (keys: [Int64]) in StoredValue.text("\(keys)") }
        conflicts.append(
          SaveConflict(
            object: layout.objectID(
              of: RowKey(table: layout.entities[link.owner].tableIndex, key: owner.owner)
            ),
            property: link.name,
            base: spell(list.base),
            ours: spell(list.targets),
            theirs: spell(stored)
          )
        )
      case .storeTrumps, .rollback:
        targets = list.moved(to: stored, over: list.base).over(list.targets).targets
      case .objectTrumps, .overwrite: break
      }
    }
    targets = try targets.filter { try stored.contains($0) || !isGone($0, link.destination) }
    outcome.lists[owner] = targets
    if targets == stored { return }
    let table = Schema.quoted(join.name)
    var inverse: [Int64: Int64] = [:]
    if join.hasInversePosition {
      let statement = try statement(
        "SELECT target, inverse_position FROM \(table)"
          + " WHERE owner = ?1 AND inverse_position IS NOT NULL"
      )
      statement.bind(integer: owner.owner, 1)
      try statement.forEachRow { inverse[$0.integer(0)] = $0.integer(1) }
    }
    let removal = try statement("DELETE FROM \(table) WHERE owner = ?1")
    removal.bind(integer: owner.owner, 1)
    try removal.run()
    let names =
      join.hasInversePosition
      ? ", inverse_position) VALUES (?1, ?2, ?3, ?4)" : ") VALUES (?1, ?2, ?3)"
    let insertion = try statement("INSERT INTO \(table) (owner, target, position" + names)
    for (position, target) in targets.enumerated() {
      insertion.bind(integer: owner.owner, 1)
      insertion.bind(integer: target, 2)
      insertion.bind(integer: Int64(position), 3)
      if join.hasInversePosition {
        try insertion.bind(inverse[target].map(StoredValue.integer) ?? .null, 4)
      }
      try insertion.run()
    }
  }

  private func storedTargets(
    _ owner: LinkKey,
    _ join: RelationshipLayout.JoinTable
  ) throws -> [Int64] {
    let statement = try statement(
      "SELECT target FROM \(Schema.quoted(join.name)) WHERE owner = ?1 ORDER BY position"
    )
    statement.bind(integer: owner.owner, 1)
    var targets: [Int64] = []
    try statement.forEachRow { targets.append($0.integer(0)) }
    return targets
  }
}
