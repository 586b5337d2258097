/// One part of a unique key as references give it: a column, and how its value is found.
///
/// The value of an attribute is the column's own. Where the part is a to-one, references give the key
/// of its target, and the column has that object's `_pk`: `"order" = (SELECT _pk FROM "Order" WHERE
/// "number" = ?)`.
package struct KeyColumn: Sendable, Hashable {
  /// A look-up of an object by the one column of its unique key.
  struct LookUp: Sendable, Hashable {
    let table: String
    let column: String
    /// The names that `_entity` may have; empty where all may be.
    let entities: [String]
  }

  /// The name of the property.
  package let name: String
  /// The column.
  package let column: String
  /// The attribute whose value references give.
  package let attribute: Attribute
  /// The look-ups from that value to the column's, the last one first.
  let lookUps: [LookUp]

  /// Describes a part of a key; nil where it is a to-one whose target has no key of one part.
  package init?(_ part: EntityLayout.KeyPart, of entity: EntityLayout, in layout: ModelLayout) {
    name = part.name
    column = part.column
    var (part, entity) = (part, entity)
    var lookUps: [LookUp] = []
    // A chain of to-ones that leads back to itself has no end.
    for _ in 0...layout.entities.count {
      switch part.property {
      case .attribute(let slot):
        attribute = entity.attributes[slot]
        self.lookUps = lookUps
        return
      case .relationship(let slot):
        entity = layout.entities[entity.relationships[slot].destination]
        guard let identity = entity.uniqueKeys.first, identity.count == 1 else { return nil }
        part = identity[0]
        lookUps.append(
          LookUp(table: entity.table, column: part.column, entities: entity.familyNames(in: layout))
        )
      }
    }
    return nil
  }

  /// The test that a row has the part, given the expression of the value.
  func test(_ value: String) -> String { "\(Schema.quoted(column)) = \(self.value(value))" }

  /// What the column has, given the expression of the value.
  func value(_ value: String) -> String {
    lookUps.reversed().reduce(value) { value, lookUp in
      let tests = ["\(Schema.quoted(lookUp.column)) = \(value)"] + Schema.test(lookUp.entities)
      return
        "(SELECT _pk FROM \(Schema.quoted(lookUp.table)) WHERE \(tests.joined(separator: " AND ")))"
    }
  }
}

extension EntityLayout {
  /// The names of the entity and of everything below it, where its table has others as well.
  package func familyNames(in layout: ModelLayout) -> [String] {
    root == index ? [] : family.map { layout.entities[$0].name }
  }
}

extension Schema {
  /// The test of `_entity`, where there is one.
  static func test(_ entities: [String]) -> [String] {
    entities.isEmpty
      ? [] : ["_entity IN (\(entities.map(literal).joined(separator: ", ")))"]
  }
}

extension Sequence<KeyColumn> {
  /// Whether a part of the key is not to be shown.
  package var isSensitive: Bool { contains { $0.attribute.isSensitive } }
}
