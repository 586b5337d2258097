/// One table of objects: the columns behind `_pk`, `_v` and `_entity`.
///
/// All entities of a family share the table, so a row of it has a value for every column, whatever
/// the entity of its object; a column's place in the list is how contexts refer to a value.
package struct TableLayout: Sendable {
  /// A column, and what it holds.
  package struct Column: Sendable {
    /// What a column holds.
    package enum Kind: Sendable, Hashable {
      /// An attribute, by the entity that declares it and its place there.
      case attribute(entity: Int, Int)
      /// The target's `_pk` of a to-one, by the relationship's number.
      case link(Int)
      /// The place among the targets of an ordered to-many, by the relationship's number.
      case order(Int)
    }

    /// The column's name.
    package let name: String
    /// What it holds.
    package let kind: Kind
    /// The attribute, where it holds one.
    package let attribute: Attribute?
    /// The name of the property it belongs to.
    package let property: String

    /// The property of the row's object that changes with it; nil: a place in a list of another object.
    var ownProperty: String? { if case .order = kind { nil } else { property } }
  }

  /// The table's name.
  package let name: String
  /// The entity at the root of the family.
  package let root: Int
  /// Whether the table has the column `_entity`.
  package let hasEntityColumn: Bool
  /// The columns, in the order of the file.
  package let columns: [Column]

  /// The columns of all that an object needs: `_v`, `_entity` where it is, and the table's own.
  var objectColumns: [String] {
    ["_v"] + (hasEntityColumn ? ["_entity"] : []) + columns.map(\.name)
  }

  /// The tables of a model.
  static func tables(
    of model: Model,
    _ byName: [NameKey: Int],
    _ links: [[RelationshipLayout]]
  ) -> [TableLayout] {
    let roots = model.entities.indices.map { index in
      model.ancestors(of: model.entities[index]).last.flatMap { byName[NameKey($0.name)] } ?? index
    }
    return model.entities.indices.filter { roots[$0] == $0 }.map { root in
      var columns: [Column] = []
      let family = model.entities.indices.filter { roots[$0] == root }
      for entity in family {
        for (place, attribute) in model.entities[entity].attributes.enumerated() {
          columns.append(
            Column(
              name: attribute.column,
              kind: .attribute(entity: entity, place),
              attribute: attribute,
              property: attribute.name
            )
          )
        }
        for link in links[entity] {
          guard case .column(let name) = link.storage else { continue }
          columns.append(
            Column(name: name, kind: .link(link.id), attribute: nil, property: link.name)
          )
        }
      }
      for link in links.joined() where roots[link.destination] == root {
        guard case .inverseColumn(_, let order?) = link.storage else { continue }
        columns.append(
          Column(name: order, kind: .order(link.id), attribute: nil, property: link.name)
        )
      }
      return TableLayout(
        name: model.entities[root].table,
        root: root,
        hasEntityColumn: family.count > 1,
        columns: columns
      )
    }
  }
}
