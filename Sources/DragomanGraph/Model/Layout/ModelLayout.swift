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
  /// How often the store of the model was migrated so that rows that were made for the model before fit no more.
  package let migrations: Int
  /// The entities, in declared order; an index into this list is how the rest refers to an entity.
  package let entities: [EntityLayout]
  /// The tables of objects; the entities of a family share one.
  package let tables: [TableLayout]
  /// All relationships, by their number.
  package let links: [RelationshipLayout]
  /// The columns of to-ones, by table.
  package let linkColumns: [[LinkColumn]]
  private let byName: NameTable<Int>

  /// A column that leads to other rows.
  package struct LinkColumn: Sendable, Hashable {
    /// The column.
    package let column: Int
    /// The number of the to-one.
    package let link: Int
    /// The column of the row's place among the targets of the inverse, where that is ordered.
    package let order: Int?
  }

  /// Compiles a model.
  ///
  /// What `Model.validate()` finds fault with is left out, so that a faulty model traps nowhere.
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - migrations: How often its store was migrated; 0 for a model that is in no store.
  package init(_ model: Model, migrations: Int = 0) {
    let model = model.completingInverses()
    self.model = model
    self.migrations = migrations
    var byName: [NameKey: Int] = [:]
    for (index, entity) in model.entities.enumerated() where byName[NameKey(entity.name)] == nil {
      byName[NameKey(entity.name)] = index
    }
    self.byName = NameTable(byName.map { ($0.key.name, $0.value) })
    let links = LinkLayouts(model, byName)
    self.links = links.all
    let tables = TableLayout.tables(of: model, byName, links.byEntity)
    self.tables = tables
    entities = model.entities.indices.map { EntityLayout($0, in: model, byName, links, tables) }
    linkColumns = tables.map { table in
      table.columns.enumerated().compactMap { column, layout in
        guard case .link(let link) = layout.kind else { return nil }
        let order = table.columns.firstIndex { other in
          if case .order(let list) = other.kind { links.all[list].inverse == link } else { false }
        }
        return LinkColumn(column: column, link: link, order: order)
      }
    }
  }

  /// The column of a to-one in the table of its owner; nil for links that are stored elsewhere.
  package func column(of link: RelationshipLayout) -> LinkColumn? {
    guard case .column = link.storage else { return nil }
    return linkColumns[entities[link.owner].tableIndex].first { $0.link == link.id }
  }

  /// The name of the column of the place that objects of a to-one have in its ordered inverse; nil: it has none.
  package func order(of link: RelationshipLayout) -> String? {
    column(of: link)?.order.map { tables[entities[link.owner].tableIndex].columns[$0].name }
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

  /// The relationship of a name like `Entity.relationship`, compared byte for byte; either may have dots.
  package func relationship(named name: String) -> RelationshipLayout? {
    for entity in entities {
      for link in entity.relationships where link.owner == entity.index {
        if "\(entity.name).\(link.name)".utf8.elementsEqual(name.utf8) { return link }
      }
    }
    return nil
  }

  /// Whether only one object may have a target by a relationship.
  package func isExclusive(_ link: RelationshipLayout) -> Bool {
    switch link.storage {
    case .inverseColumn: true
    case .joinTable: false
    case .column: inverse(of: link)?.isToOne ?? false
    }
  }

  /// Whether a delete rule may forbid that an object of a root entity's table is deleted: one of its own,
  /// or of what goes with it.
  package func mayDeny(_ root: Int) -> Bool {
    var (seen, next): (Set<Int>, [Int]) = ([root], [root])
    while let root = next.popLast() {
      for link in entities.filter({ $0.root == root }).flatMap(\.relationships) {
        if link.relationship.deleteRule == .deny { return true }
        let target = entities[link.destination].root
        if link.relationship.deleteRule == .cascade, seen.insert(target).inserted {
          next.append(target)
        }
      }
    }
    return false
  }

  /// The entity of that name, compared byte for byte.
  package func entity(named name: String) -> EntityLayout? {
    byName[name].map { entities[$0] }
  }
}

/// A name as a dictionary's key, compared and hashed by its bytes.
struct NameKey: Hashable {
  let name: String

  init(_ name: String) { self.name = name }

  static func == (left: NameKey, right: NameKey) -> Bool { hasSameBytes(left.name, right.name) }

  func hash(into hasher: inout Hasher) {
    var name = name
    name.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

/// Whether two texts have the same UTF-8 bytes, which Swift's `==` does not tell.
///
/// One comparison of memory: `elementsEqual` goes byte by byte.
package func hasSameBytes(_ left: String, _ right: String) -> Bool {
  var (left, right) = (left, right)
  return left.withUTF8 { left in
    right.withUTF8 { right in
      guard left.count == right.count else { return false }
      guard let a = left.baseAddress, let b = right.baseAddress else { return true }
      return memcmp(a, b, left.count) == 0
    }
  }
}
