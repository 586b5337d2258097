/// What the paths in a record are for: where a path leads nowhere in all of a feed, that is told.
extension EntityPlan {
  /// What one slot of the walker is for.
  struct PathUse: Sendable {
    let slot: Int
    /// The entity whose map has it: the entity itself, or one that it inherits from.
    let entity: String
    /// The attribute or relationship; `discriminator` or `deleteWhen`.
    let property: String
    /// Its paths as the map has them.
    let paths: [ForeignPath]
    /// Whether sub-entities do not inherit it.
    var isOwn = false
    /// Whether nothing is amiss where no record has it.
    var isImplied = false
    /// Whether the map itself says what holds for records that do not have it.
    var mayBeMissing = false
  }

  /// What the paths in a record are for.
  static func pathUses(
    _ slots: [Slot],
    _ links: [LinkPlan],
    _ tombstone: Tombstone?,
    _ discriminator: Discriminator?,
    _ lineage: [EntityMap]
  ) -> [PathUse] {
    var uses: [PathUse] = []
    for (index, slot) in slots.enumerated() where !slot.paths.isEmpty {
      let paths = slot.paths.map(\.path)
      guard paths.allSatisfy(\.leadsToMembers) else { continue }
      let owner = lineage.first { $0.attribute(named: slot.attribute.name) != nil }
      let map = owner?.attribute(named: slot.attribute.name)
      uses.append(
        PathUse(
          slot: index,
          entity: owner?.name ?? lineage[0].name,
          property: slot.attribute.name,
          // A name with dots is tried as a whole first.
          paths: paths.filter { path in
            paths.count == 1 || path.steps.count > 1 || !path.text.contains(".")
          },
          mayBeMissing: map?.policies.onMissing != nil
        )
      )
    }
    for link in links {
      let isSame = { (map: RelationshipMap) in map.name.utf8.elementsEqual(link.name.utf8) }
      let owner = lineage.first { $0.relationships.contains(where: isSame) }
      let map = owner?.relationships.first(where: isSame)
      for finding in link.findings where finding.paths.allSatisfy(\.path.leadsToMembers) {
        uses.append(
          PathUse(
            slot: finding.slot,
            entity: owner?.name ?? lineage[0].name,
            property: link.name,
            paths: finding.paths.map(\.path),
            isImplied: finding.isImplied,
            mayBeMissing: map?.policies.onMissing != nil
          )
        )
      }
    }
    if let discriminator, discriminator.criterion.leadsToMembers {
      uses.append(
        PathUse(
          slot: discriminator.criterion.slot,
          entity: lineage[0].name,
          property: "discriminator",
          paths: discriminator.criterion.paths.map(\.path),
          isOwn: true
        )
      )
    }
    if let tombstone, tombstone.criterion.leadsToMembers {
      uses.append(
        PathUse(
          slot: tombstone.criterion.slot,
          entity: (lineage.first { $0.deleteWhen != nil } ?? lineage[0]).name,
          property: "deleteWhen",
          paths: tombstone.criterion.paths.map(\.path),
          isImplied: true
        )
      )
    }
    return uses
  }
}

extension ForeignPath {
  /// Whether the path is one of members, which records may lack; what it is otherwise, every record has.
  var leadsToMembers: Bool {
    (root == .record || root == .parent || root == .document) && !steps.isEmpty
  }
}
