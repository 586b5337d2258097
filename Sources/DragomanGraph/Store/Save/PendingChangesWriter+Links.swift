/// Rows of tables of links; the links of to-ones are columns and come with their objects.
extension PendingChangesWriter {
  /// Rows of a table of links; the links of to-ones are columns and come with their objects.
  func write(_ links: PendingLinks, of key: LinkKey) throws {
    let link = layout.links[key.link]
    guard case .joinTable(let join, let isOwner) = link.storage else { return }
    let table = Schema.quoted(join.name)
    if let list = links.list {
      guard isOwner else {
        return join.hasInversePosition ? try reorder(list, of: key.owner, in: table) : ()
      }
      let inverse = try inversePositions(of: key.owner, join)
      try clear(join, "owner", key.owner)
      for (position, target) in list.enumerated() {
        try insert(key.owner, target, at: position, join)
      }
      try restore(inverse, of: key.owner, join)
    } else if isOwner {
      let removal = try statement("DELETE FROM \(table) WHERE owner = ?1 AND target = ?2")
      for target in links.removed.sorted() {
        removal.bind(integer: key.owner, 1)
        removal.bind(integer: target, 2)
        try removal.run()
      }
      for target in links.addedKeys { try insert(key.owner, target, at: nil, join) }
    }
  }

  private func insert(
    _ owner: Int64,
    _ target: Int64,
    at position: Int?,
    _ join: RelationshipLayout.JoinTable
  ) throws {
    let table = Schema.quoted(join.name)
    let sql =
      position == nil
      ? "INSERT OR IGNORE INTO \(table) (owner, target) VALUES (?1, ?2)"
      : "INSERT INTO \(table) (owner, target, position) VALUES (?1, ?2, ?3)"
    let statement = try statement(sql)
    statement.bind(integer: owner, 1)
    statement.bind(integer: target, 2)
    if let position { statement.bind(integer: Int64(position), 3) }
    try statement.run()
  }

  /// The places that an owner has among its targets' inverses, which are ordered too.
  private func inversePositions(
    of owner: Int64,
    _ join: RelationshipLayout.JoinTable
  ) throws -> [(target: Int64, position: Int64)] {
    guard join.hasInversePosition else { return [] }
    let statement = try statement(
      "SELECT target, inverse_position FROM \(Schema.quoted(join.name))"
        + " WHERE owner = ?1 AND inverse_position IS NOT NULL"
    )
    statement.bind(integer: owner, 1)
    var found: [(target: Int64, position: Int64)] = []
    try statement.forEachRow { found.append((columnInteger($0, 0), columnInteger($0, 1))) }
    return found
  }

  private func restore(
    _ positions: [(target: Int64, position: Int64)],
    of owner: Int64,
    _ join: RelationshipLayout.JoinTable
  ) throws {
    for (target, position) in positions {
      let statement = try statement(
        "UPDATE \(Schema.quoted(join.name)) SET inverse_position = ?3"
          + " WHERE owner = ?1 AND target = ?2"
      )
      statement.bind(integer: owner, 1)
      statement.bind(integer: target, 2)
      statement.bind(integer: position, 3)
      try statement.run()
    }
  }

  private func reorder(_ list: [Int64], of target: Int64, in table: String) throws {
    let statement = try statement(
      "UPDATE \(table) SET inverse_position = ?3 WHERE owner = ?1 AND target = ?2"
    )
    for (position, owner) in list.enumerated() {
      statement.bind(integer: owner, 1)
      statement.bind(integer: target, 2)
      statement.bind(integer: Int64(position), 3)
      try statement.run()
    }
  }
}
