/// Rows of tables of links; the links of to-ones are columns and come with their objects.
extension PendingChangesWriter {
  func write(_ links: LinkRows) throws {
    let byKey: (LinkKey, LinkKey) -> Bool = { ($0.link, $0.owner) < ($1.link, $1.owner) }
    for owner in links.owners.sorted(by: byKey) {
      guard let join = join(owner.link) else { continue }
      if let list = links.lists[owner] {
        try write(list.targets, owner, join)
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

  /// Whether a link goes with a row that is kept after all.
  private func isKept(_ owner: LinkKey, _ target: Int64) -> Bool {
    guard !outcome.kept.isEmpty else { return false }
    let link = layout.links[owner.link]
    let ends = [(link.owner, owner.owner), (link.destination, target)]
    return ends.contains { entity, key in
      outcome.kept.contains(RowKey(table: layout.entities[entity].tableIndex, key: key))
    }
  }

  private func write(
    _ targets: [(key: Int64, value: Bool)],
    _ owner: LinkKey,
    _ join: RelationshipLayout.JoinTable
  ) throws {
    let table = Schema.quoted(join.name)
    let removal = try statement("DELETE FROM \(table) WHERE owner = ?1 AND target = ?2")
    let insertion = try statement("INSERT OR IGNORE INTO \(table) (owner, target) VALUES (?1, ?2)")
    for (target, isThere) in targets where isThere || !isKept(owner, target) {
      let statement = isThere ? insertion : removal
      statement.bind(integer: owner.owner, 1)
      statement.bind(integer: target, 2)
      try statement.run()
    }
  }

  /// Writes all rows of an owner anew; what the inverse has put in order stays so.
  private func write(
    _ targets: [Int64],
    _ owner: LinkKey,
    _ join: RelationshipLayout.JoinTable
  ) throws {
    if !outcome.kept.isEmpty, isKept(owner, owner.owner) { return }
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
}
