extension SQLiteStore {
  /// The objects that one object is linked to, in the relationship's order.
  ///
  ///     let orders = try store.targets(of: "orders", at: customer, limit: 20)
  ///
  /// Runs one `SELECT` over the table or column of the links.
  ///
  /// - Parameters:
  ///   - relationship: The relationship's name.
  ///   - owner: The object.
  ///   - offset: How many are passed over, 0 or more.
  ///   - limit: How many at most, 0 or more; nil: all, which are then all in memory.
  /// - Returns: The targets and the names of their own entities; empty where there are none, or no such object.
  /// - Throws: `StoreError`, `.badRequest` for a relationship that the entity, or a sub-entity of it, does not
  ///   have, with the nearest name.
  public func targets(
    of relationship: String,
    at owner: ObjectID,
    offset: Int = 0,
    limit: Int? = nil
  ) throws -> [(id: ObjectID, entity: String)] {
    let layout = layout
    let family = layout.entities.filter { hasSameBytes($0.rootName, owner.entity) }
    let links = family.flatMap(\.relationships)
    guard let link = links.first(where: { hasSameBytes($0.name, relationship) }) else {
      let near = nearest(to: relationship, in: links.map(\.name))
      throw StoreError(
        .badRequest,
        "\(owner.entity) has no relationship \"\(relationship)\".",
        help: near.map { "did you mean \($0)?" },
        path: path
      )
    }
    var found: [(id: ObjectID, entity: String)] = []
    var passed = 0
    guard limit != 0 else { return found }
    do {
      try withSnapshot(layout) { snapshot in
        let named = layout.entities[link.destination].hasEntityColumn
        let reader = try snapshot.links(link, reading: [])
        try reader.read(owners: [owner.primaryKey]) { _, row in
          guard passed >= offset else {
            passed += 1
            return
          }
          var entity = layout.entities[link.destination].name
          if named, case .text(let own) = row[0] { entity = own }
          found.append((row.objectID, entity))
          if found.count == limit { throw EnoughTargets() }
        }
      }
    } catch is EnoughTargets {
      // As many as are asked for.
    }
    return found
  }

  /// How many references wait for their target.
  ///
  /// Runs `SELECT count(*) FROM _dragoman_pending`.
  ///
  /// - Returns: The number of all relationships.
  /// - Throws: `StoreError` where the file cannot be read.
  public func pendingReferenceCount() throws(StoreError) -> Int {
    let layout = layout
    return try read { database in try ContentsReader(layout, database).pendingCount() }
  }
}

/// Ends a reading that has read what is asked for.
private struct EnoughTargets: Error {}
