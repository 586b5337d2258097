/// Rows of tables of links; the links of to-ones are columns and come with their objects.
extension PendingChangesWriter {
  func write(_ links: LinkRows) throws {
    let byKey: (LinkKey, LinkKey) -> Bool = { ($0.link, $0.owner) < ($1.link, $1.owner) }
    for owner in links.owners.sorted(by: byKey) {
      let place = rowKey(owner.owner, layout.links[owner.link].owner)
      guard let join = join(owner.link), !outcome.dropped.contains(place), try !isGone(place)
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

  private func write(
    _ targets: [(key: Int64, value: Bool)],
    _ owner: LinkKey,
    _ join: RelationshipLayout.JoinTable
  ) throws {
    let table = Schema.quoted(join.name)
    let removal = try statement("DELETE FROM \(table) WHERE owner = ?1 AND target = ?2")
    let insertion = try statement("INSERT OR IGNORE INTO \(table) (owner, target) VALUES (?1, ?2)")
    let link = layout.links[owner.link]
    let ownerPlace = rowKey(owner.owner, link.owner)
    let isOwnerKept = outcome.kept.contains(ownerPlace)
    for (key, isThere) in targets {
      let target = rowKey(key, link.destination)
      if !isThere, isOwnerKept || outcome.kept.contains(target) { continue }
      if join.isSymmetric, outcome.dropped.contains(target) { continue }
      if isThere, try isGone(target) {
        outcome.merged.insert(ownerPlace)
        continue
      }
      let statement = isThere ? insertion : removal
      statement.bind(integer: owner.owner, 1)
      statement.bind(integer: key, 2)
      if try statement.run() == 0, isThere { outcome.known[owner, default: []].insert(key) }
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
    let place = rowKey(owner.owner, link.owner)
    if outcome.kept.contains(place) { return }
    let reading = try statement(LinkQuery(link, in: layout).listsSQL(of: "= ?1"))
    reading.bind(integer: owner.owner, 1)
    var (stored, inverse): ([Int64], [Int64: StoredValue]) = ([], [:])
    try reading.forEachRow { row in
      stored.append(row.integer(1))
      if join.hasInversePosition { inverse[row.integer(1)] = row.stored(2) }
    }
    let targets = try settle(list, over: stored, of: place, link)
    outcome.lists[owner] = targets
    if targets == stored { return }
    let table = Schema.quoted(join.name)
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
        try insertion.bind(inverse[target] ?? .null, 4)
      }
      try insertion.run()
    }
  }
}
