extension ServerDistribution {
  /// Says that the tables of entities are to be on all nodes.
  ///
  /// - Parameters:
  ///   - entities: Their names; those of sub-entities name the table of the whole family.
  ///   - layout: What the store is to hold.
  ///   - known: The tables that are there.
  /// - Throws: `StoreError`: `.badRequest` for an entity that is not there, `.modelConflict` for one whose table is
  ///   there and distributed otherwise.
  mutating func addReferences(
    of entities: [String],
    in layout: ModelLayout,
    besides known: [String]
  ) throws(StoreError) {
    for name in entities {
      guard let entity = layout.entity(named: name) else {
        throw StoreError(
          .badRequest,
          "There is no entity \(name), whose table was to be on all nodes.",
          help: "name one of \(layout.entities.map(\.name).sorted().joined(separator: ", "))"
        )
      }
      if isReference(entity.table) { continue }
      guard !known.contains(where: { hasSameBytes($0, entity.table) }) else {
        throw StoreError(
          .modelConflict,
          "The table \(entity.table) is distributed by its rows' keys: it cannot become one that is on all nodes.",
          help: "import into an empty database, or leave \(name) as it is"
        )
      }
      addReference(entity.table)
    }
  }

  /// What is said where nothing is distributed.
  static func missing(_ entities: [String]) -> StoreError {
    StoreError(
      .badRequest,
      "The tables of \(entities.joined(separator: ", ")) were to be on all nodes, but the database has no nodes: it is"
        + " not one of Citus, or was made before it was.",
      help: "name no entities for that"
    )
  }
}
