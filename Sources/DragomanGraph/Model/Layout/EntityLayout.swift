/// One entity of a layout: its slots, its table, its relatives.
///
/// Large because it is a table of what is known of an entity, worked out once so that nobody looks for it a
/// row.
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
  private let slots: NameTable<Property>

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

  init(
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
    let slots = NameTable(
      attributes.enumerated().map { ($1.name, Property.attribute($0)) }
        + relationships.enumerated().map { ($1.name, Property.relationship($0)) }
    )
    self.slots = slots
    var keys: [[KeyPart]] = []
    for key in lineage.flatMap({ model.entities[$0].uniqueKeys }) {
      let parts = key.compactMap { name -> KeyPart? in
        switch slots[name] {
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
  package func property(named name: String) -> Property? { slots[name] }

  /// The slot of the attribute of that name.
  package func attributeSlot(named name: String) -> Int? {
    if case .attribute(let slot) = slots[name] { slot } else { nil }
  }

  /// The column of the attribute of that name.
  package func attributeColumn(named name: String) -> Int? {
    if case .attribute(let slot) = slots[name] { attributeColumns[slot] } else { nil }
  }

  /// The link slot of the relationship of that name.
  package func linkSlot(named name: String) -> Int? {
    if case .relationship(let slot) = slots[name] { slot } else { nil }
  }

  /// The names of all properties, for messages.
  package var propertyNames: [String] { attributes.map(\.name) + relationships.map(\.name) }
}
