extension WriteSession {
  /// Whether one of the owners, given by their root entity, has an object as a target of any relationship.
  ///
  /// Runs one `SELECT` a relationship that may lead to it.
  package func isLinked(
    _ key: Int64,
    of entity: EntityLayout,
    to owners: [Int: [Int64]]
  ) throws(StoreError) -> Bool {
    for link in layout.links where layout.entities[link.destination].root == entity.root {
      guard let keys = owners[layout.entities[link.owner].root] else { continue }
      let links = LinkQuery(link, in: layout)
      let found = try sql.integers(
        "1",
        "FROM \(links.name) WHERE \(links.other) = ? AND \(links.own) IN (SELECT value FROM json_each(?)) LIMIT 1",
        [.integer(key), .text("[\(keys.map(String.init).joined(separator: ","))]")]
      )
      if !found.isEmpty { return true }
    }
    return false
  }
}
