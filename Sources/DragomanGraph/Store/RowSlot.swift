/// What one value of a row is for, and the column that it goes into.
///
/// A row of a writer is an attribute a value; where an entity has links, more values follow: the
/// target of a to-one, by its primary key or by its own unique key, and the place of the object
/// among the targets of an ordered to-many.
package struct RowSlot: Sendable, Hashable {
  /// What the value is.
  package enum Kind: Sendable, Hashable {
    /// A value of an attribute.
    case attribute(Attribute)
    /// The primary key of a target, or a place in an order: an integer of our own.
    case integer
    /// One part of a target's unique key: the statement itself looks the target up.
    case key(Reference, part: Int)
  }

  /// How a target is looked up by its key.
  package struct Reference: Sendable, Hashable {
    /// Tells the references of a row apart: `RowNote` keeps what each came to.
    package let number: Int
    /// The target's table.
    package let table: String
    /// The columns of the target's unique key, in the order of the parts.
    package let columns: [String]
    /// The names that `_entity` may have; empty where the table has no such column, or all may be.
    package let entities: [String]

    /// Describes a look-up.
    package init(number: Int, table: String, columns: [String], entities: [String]) {
      self.number = number
      self.table = table
      self.columns = columns
      self.entities = entities
    }

    /// `SELECT _pk …`, given the parameters of the parts.
    func select(_ parameters: [String]) -> String {
      let tests = zip(columns, parameters).map { "\(Schema.quoted($0)) = \($1)" }
      return "SELECT _pk FROM \(Schema.quoted(table)) WHERE "
        + (tests + entityTest).joined(separator: " AND ")
    }

    /// The test of `_entity`, where there is one.
    var entityTest: [String] {
      entities.isEmpty
        ? [] : ["_entity IN (\(entities.map(Schema.literal).joined(separator: ", ")))"]
    }
  }

  /// The name of the property, for messages.
  package let name: String
  /// The column.
  package let column: String
  /// What the value is.
  package let kind: Kind

  /// Describes a value of a row.
  package init(name: String, column: String, kind: Kind) {
    self.name = name
    self.column = column
    self.kind = kind
  }

  /// The slot of an attribute.
  package init(_ attribute: Attribute) {
    self.init(name: attribute.name, column: attribute.column, kind: .attribute(attribute))
  }

  /// Whether the value is no more than a further part of the key before it.
  var isFurtherPart: Bool {
    if case .key(_, let part) = kind { part > 0 } else { false }
  }
}

extension Schema {
  /// A text as SQL takes it, whatever is in it.
  static func literal(_ text: String) -> String {
    "'" + text.replacing("'", with: "''") + "'"
  }
}
