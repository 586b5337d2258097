/// One relationship of a layout, and where its links are stored.
package struct RelationshipLayout: Sendable, Hashable {
  /// Where links are stored.
  package enum Storage: Sendable, Hashable {
    /// In a column of the owner's own table: a to-one.
    case column(String)
    /// In the column of the inverse to-one, in the destination's table; a to-many that is ordered
    /// has a second column there.
    case inverseColumn(String, order: String?)
    /// In a table of its own, read from its owner column or, by the inverse, from its target
    /// column.
    case joinTable(JoinTable, isOwner: Bool)
  }

  /// A table of links: `(owner, [position,] target [, inverse_position])`.
  package struct JoinTable: Sendable, Hashable {
    /// The table's name, `Owner_relationship`.
    package let name: String
    /// The table that `owner` refers to.
    package let ownerTable: String
    /// The table that `target` refers to.
    package let targetTable: String
    /// Whether there is a column `position`: the relationship is ordered or allows repeats.
    package let hasPosition: Bool
    /// Whether there is a column `inverse_position`: the inverse is ordered.
    package let hasInversePosition: Bool
    /// Whether the relationship is its own inverse: each link then has a row in both directions.
    package let isSymmetric: Bool
  }

  /// Its number among all relationships of the model.
  package let id: Int
  /// The number of the relationship that points back, if there is one.
  package fileprivate(set) var inverse: Int?
  /// What the model says.
  package let relationship: Relationship
  /// The entity that declares it.
  package let owner: Int
  /// The entity it leads to.
  package let destination: Int
  /// Where its links are stored.
  package let storage: Storage

  /// The relationship's name.
  package var name: String { relationship.name }
  /// Whether its links are stored with it, and not with its inverse.
  package var isStoredByOwner: Bool {
    switch storage {
    case .column, .joinTable(_, isOwner: true): true
    case .inverseColumn, .joinTable: false
    }
  }
  /// Whether it leads to one object at most.
  package var isToOne: Bool { relationship.kind == .toOne }
  /// Whether it is its own inverse: storing the links of one object changes those of others.
  package var isSymmetric: Bool {
    if case .joinTable(let join, _) = storage { join.isSymmetric } else { false }
  }
}

/// Decides where the links of each relationship are stored.
struct LinkLayouts {
  private(set) var byEntity: [[RelationshipLayout]] = []
  private(set) var all: [RelationshipLayout] = []

  init(_ model: Model, _ byName: [NameKey: Int]) {
    var count = 0
    for (owner, entity) in model.entities.enumerated() {
      byEntity.append(
        entity.relationships.compactMap { relationship in
          guard let destination = byName[NameKey(relationship.destination)] else { return nil }
          count += 1
          return RelationshipLayout(
            id: count - 1,
            relationship: relationship,
            owner: owner,
            destination: destination,
            storage: Self.storage(of: relationship, owner, destination, model, byName)
          )
        }
      )
    }
    for (owner, links) in byEntity.enumerated() {
      for (place, link) in links.enumerated() {
        byEntity[owner][place].inverse = inverse(of: link, model, byName)
      }
    }
    all = byEntity.flatMap { $0 }
  }

  private func inverse(
    of link: RelationshipLayout,
    _ model: Model,
    _ byName: [NameKey: Int]
  ) -> Int? {
    let target = model.entities[link.destination]
    guard let found = Self.inverse(of: link.relationship, on: target, model),
      let entity = byName[NameKey(found.entity.name)]
    else { return nil }
    let name = NameKey(found.relationship.name)
    return byEntity[entity].first { NameKey($0.name) == name }?.id
  }

  private static func storage(
    of relationship: Relationship,
    _ owner: Int,
    _ destination: Int,
    _ model: Model,
    _ byName: [NameKey: Int]
  ) -> RelationshipLayout.Storage {
    let entity = model.entities[owner]
    let target = model.entities[destination]
    let inverse = inverse(of: relationship, on: target, model)
    switch (relationship.kind, inverse?.relationship.kind) {
    case (.toOne, .toOne):
      guard let inverse, let other = byName[NameKey(inverse.entity.name)] else {
        return .column(relationship.name)
      }
      let ours = (
        owner, entity.relationships.firstIndex { hasSameBytes($0.name, relationship.name) } ?? 0
      )
      let theirs = (
        other,
        inverse.entity.relationships.firstIndex { hasSameBytes($0.name, inverse.relationship.name) }
          ?? 0
      )
      let isKey = entity.uniqueKeys.contains { $0.contains(relationship.name) }
      let isTheirKey = inverse.entity.uniqueKeys.contains {
        $0.contains(inverse.relationship.name)
      }
      let isStoredHere = isKey != isTheirKey ? isKey : ours <= theirs
      return isStoredHere
        ? .column(relationship.name) : .inverseColumn(inverse.relationship.name, order: nil)
    case (.toOne, _):
      return .column(relationship.name)
    case (.toMany, .toOne):
      return .inverseColumn(
        inverse?.relationship.name ?? "",
        order: relationship.isOrdered ? "_\(relationship.name)_order" : nil
      )
    case (.toMany, _):
      return joinTable(relationship, of: owner, to: destination, inverse, model, byName)
    }
  }

  /// Many-to-many: the side whose lists may repeat a target owns the table, which has a place for each
  /// link then; else the one that is declared first.
  private static func joinTable(
    _ relationship: Relationship,
    of owner: Int,
    to destination: Int,
    _ inverse: (relationship: Relationship, entity: Entity)?,
    _ model: Model,
    _ byName: [NameKey: Int]
  ) -> RelationshipLayout.Storage {
    let entity = model.entities[owner]
    let table = { (index: Int) in
      (model.ancestors(of: model.entities[index]).last ?? model.entities[index]).table
    }
    var isOwner = true
    var isSymmetric = false
    if let inverse, let other = byName[NameKey(inverse.entity.name)] {
      let ours = (
        owner, entity.relationships.firstIndex { hasSameBytes($0.name, relationship.name) } ?? 0
      )
      let theirs = (
        other,
        inverse.entity.relationships.firstIndex { hasSameBytes($0.name, inverse.relationship.name) }
          ?? 0
      )
      isOwner =
        relationship.allowsRepeats == inverse.relationship.allowsRepeats
        ? ours <= theirs : relationship.allowsRepeats
      isSymmetric = ours == theirs
    }
    let first = isOwner ? relationship : inverse?.relationship ?? relationship
    let second = isOwner ? inverse?.relationship : relationship
    let firstTable = isOwner ? table(owner) : table(destination)
    return .joinTable(
      RelationshipLayout.JoinTable(
        name: "\(firstTable)_\(first.name)",
        ownerTable: firstTable,
        targetTable: isOwner ? table(destination) : table(owner),
        hasPosition: first.isOrdered || first.allowsRepeats,
        hasInversePosition: !isSymmetric && second.map { $0.isOrdered } ?? false,
        isSymmetric: isSymmetric
      ),
      isOwner: isOwner
    )
  }

  private static func inverse(
    of relationship: Relationship,
    on target: Entity,
    _ model: Model
  ) -> (relationship: Relationship, entity: Entity)? {
    guard let name = relationship.inverse else { return nil }
    for entity in [target] + model.ancestors(of: target) {
      if let found = entity.relationship(named: name) { return (found, entity) }
    }
    return nil
  }
}
