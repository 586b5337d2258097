import Foundation

/// A model compiled for use: every entity with all that it inherits, in numbered slots, and the
/// place of each property in the file (docs/file.md).
///
/// Made once when a store is opened or grows; contexts, fetches and imports look things up here
/// and never search the model. Relationships whose inverse is declared on one side only get the
/// other side (`Model.completingInverses()`).
package final class ModelLayout: Sendable {
  /// The model, with every inverse declared on both sides.
  package let model: Model
  /// The entities, in declared order; an index into this list is how the rest refers to an entity.
  package let entities: [EntityLayout]
  /// The tables of objects; the entities of a family share one.
  package let tables: [TableLayout]
  /// All relationships, by their number.
  package let links: [RelationshipLayout]
  private let byName: [NameKey: Int]

  /// Compiles a model.
  ///
  /// What `Model.validate()` finds fault with is left out, so that a faulty model traps nowhere.
  package init(_ model: Model) {
    let model = model.completingInverses()
    self.model = model
    var byName: [NameKey: Int] = [:]
    for (index, entity) in model.entities.enumerated() where byName[NameKey(entity.name)] == nil {
      byName[NameKey(entity.name)] = index
    }
    self.byName = byName
    let links = LinkLayouts(model, byName)
    self.links = links.all
    let tables = TableLayout.tables(of: model, byName, links.byEntity)
    self.tables = tables
    entities = model.entities.indices.map { EntityLayout($0, in: model, byName, links, tables) }
  }

  /// The relationship that points back, if there is one.
  package func inverse(of link: RelationshipLayout) -> RelationshipLayout? {
    link.inverse.map { links[$0] }
  }

  /// Whether some relationship leads to objects of an entity's table, or starts from them.
  package func isLinked(_ entity: EntityLayout) -> Bool {
    entities.contains { other in
      other.relationships.contains { link in
        entities[link.owner].root == entity.root || entities[link.destination].root == entity.root
      }
    }
  }

  /// The entity of that name, compared byte for byte.
  package func entity(named name: String) -> EntityLayout? {
    byName[NameKey(name)].map { entities[$0] }
  }
}

/// One entity of a layout: its slots, its table, its relatives.
package final class EntityLayout: Sendable {
  /// What the model says.
  package let entity: Entity
  /// Its place in the layout's list of entities.
  package let index: Int
  /// The ancestor without a parent, which is the entity itself where it has none.
  package let root: Int
  /// The root's name: what object ids carry.
  package let rootName: String
  /// The table's name, which the whole family shares.
  package let table: String
  /// The table's place in the layout's list.
  package let tableIndex: Int
  /// The column of each attribute, by slot: an index into the table's columns.
  package let attributeColumns: [Int]
  /// The column of each relationship that has one in this table, by link slot.
  package let linkColumns: [Int?]
  /// Whether the table has the column `_entity`, which tells the sub-entities apart.
  package let hasEntityColumn: Bool
  /// Whether the table has the column `_stub`, which tells objects that hold their key only.
  package let hasStubColumn: Bool
  /// This entity and its ancestors, nearest first.
  package let lineage: [Int]
  /// This entity and everything below it.
  package let family: [Int]
  /// All attributes, the root's first; a slot is an index into this list.
  package let attributes: [Attribute]
  /// All relationships, the root's first; a link slot is an index into this list.
  package let relationships: [RelationshipLayout]
  /// The unique keys, its own first; the first one is the identity.
  package let uniqueKeys: [[KeyPart]]
  private let slots: [NameKey: Property]

  /// A property by its slot.
  package enum Property: Sendable, Hashable {
    /// An attribute, by its slot.
    case attribute(Int)
    /// A relationship, by its link slot.
    case relationship(Int)
  }

  /// A part of a unique key: a property that has a column.
  package struct KeyPart: Sendable, Hashable {
    /// The property.
    package let property: Property
    /// Its name.
    package let name: String
    /// Its column.
    package let column: String
  }

  /// The entity's name.
  package var name: String { entity.name }

  fileprivate init(
    _ index: Int,
    in model: Model,
    _ byName: [NameKey: Int],
    _ links: LinkLayouts,
    _ tables: [TableLayout]
  ) {
    let entity = model.entities[index]
    self.entity = entity
    self.index = index
    let indexOf = { (entity: Entity) in byName[NameKey(entity.name)] ?? index }
    let ancestors = model.ancestors(of: entity).map(indexOf)
    let lineage = [index] + ancestors
    let root = lineage.last ?? index
    self.lineage = lineage
    self.root = root
    rootName = model.entities[root].name
    table = model.entities[root].table
    let relatives = model.entities.indices.filter { other in
      model.ancestors(of: model.entities[other]).last.map(indexOf) == root
    }
    hasEntityColumn = !relatives.isEmpty
    hasStubColumn = ([root] + relatives).contains { model.entities[$0].admitsStubs }
    family =
      [index]
      + relatives.filter { other in
        other != index && model.ancestors(of: model.entities[other]).map(indexOf).contains(index)
      }
    let generations = lineage.reversed()
    let attributes = generations.flatMap { model.entities[$0].attributes }
    let relationships = generations.flatMap { links.byEntity[$0] }
    self.attributes = attributes
    self.relationships = relationships
    let tableIndex = tables.firstIndex { $0.root == root } ?? 0
    self.tableIndex = tableIndex
    let columns = tables.indices.contains(tableIndex) ? tables[tableIndex].columns : []
    var places: [TableLayout.Column.Kind: Int] = [:]
    for (place, column) in columns.enumerated() { places[column.kind] = place }
    attributeColumns = generations.flatMap { generation in
      model.entities[generation].attributes.indices.map {
        places[.attribute(entity: generation, $0)] ?? 0
      }
    }
    linkColumns = relationships.map { places[.link($0.id)] }
    var slots: [NameKey: Property] = [:]
    for (slot, attribute) in attributes.enumerated() {
      slots[NameKey(attribute.name)] = .attribute(slot)
    }
    for (slot, link) in relationships.enumerated() {
      slots[NameKey(link.name)] = .relationship(slot)
    }
    self.slots = slots
    var keys: [[KeyPart]] = []
    for key in lineage.flatMap({ model.entities[$0].uniqueKeys }) {
      let parts = key.compactMap { name -> KeyPart? in
        switch slots[NameKey(name)] {
        case .attribute(let slot):
          return KeyPart(property: .attribute(slot), name: name, column: attributes[slot].column)
        case .relationship(let slot):
          guard case .column(let column) = relationships[slot].storage else { return nil }
          return KeyPart(property: .relationship(slot), name: name, column: column)
        case nil: return nil
        }
      }
      if parts.count == key.count { keys.append(parts) }
    }
    uniqueKeys = keys
  }

  /// The property of that name, compared byte for byte.
  package func property(named name: String) -> Property? { slots[NameKey(name)] }

  /// The slot of the attribute of that name.
  package func attributeSlot(named name: String) -> Int? {
    if case .attribute(let slot) = slots[NameKey(name)] { slot } else { nil }
  }

  /// The link slot of the relationship of that name.
  package func linkSlot(named name: String) -> Int? {
    if case .relationship(let slot) = slots[NameKey(name)] { slot } else { nil }
  }

  /// The names of all properties, for messages.
  package var propertyNames: [String] { attributes.map(\.name) + relationships.map(\.name) }
}

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
  /// Whether it leads to one object at most.
  package var isToOne: Bool { relationship.kind == .toOne }
}

/// Decides where the links of each relationship are stored.
private struct LinkLayouts {
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
      let ours = (owner, entity.relationships.firstIndex { $0.name == relationship.name } ?? 0)
      let theirs = (
        other, inverse.entity.relationships.firstIndex { $0.name == inverse.relationship.name } ?? 0
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

  /// Many-to-many: the side that is declared first owns the table.
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
      let ours = (owner, entity.relationships.firstIndex { $0.name == relationship.name } ?? 0)
      let theirs = (
        other, inverse.entity.relationships.firstIndex { $0.name == inverse.relationship.name } ?? 0
      )
      isOwner = ours <= theirs
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

/// A name as a dictionary's key, compared and hashed by its bytes.
struct NameKey: Hashable {
  let name: String

  init(_ name: String) { self.name = name }

  static func == (left: NameKey, right: NameKey) -> Bool {
    // One comparison of memory: `elementsEqual` goes byte by byte, and every look-up comes here.
    var (left, right) = (left.name, right.name)
    return left.withUTF8 { left in
      right.withUTF8 { right in
        guard left.count == right.count else { return false }
        guard let a = left.baseAddress, let b = right.baseAddress else { return true }
        return memcmp(a, b, left.count) == 0
      }
    }
  }

  func hash(into hasher: inout Hasher) {
    var name = name
    name.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
