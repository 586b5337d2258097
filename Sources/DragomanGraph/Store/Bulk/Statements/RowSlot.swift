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
    /// The primary key of a target: an integer of our own.
    case integer
    /// A place in an order, which only a new object gets: others are moved when the links are stored.
    case place
    /// One part of a target's unique key: the statement itself looks the target up.
    case key(Reference, part: Int)
  }

  /// How a target is looked up by its key.
  package struct Reference: Sendable, Hashable {
    /// Tells the references of a row apart: `RowNote` keeps what each came to.
    package let number: Int
    /// The target's table.
    package let table: String
    /// The parts of the target's unique key.
    package let columns: [KeyColumn]
    /// The names that `_entity` may have; empty where the table has no such column, or all may be.
    package let entities: [String]

    /// Describes a look-up.
    package init(number: Int, table: String, columns: [KeyColumn], entities: [String]) {
      self.number = number
      self.table = table
      self.columns = columns
      self.entities = entities
    }

    /// `SELECT _pk …`, given the parameters of the parts.
    func select(_ parameters: [String]) -> String {
      let tests = zip(columns, parameters).map { $0.test($1) }
      return "SELECT _pk FROM \(Schema.quoted(table)) WHERE "
        + (tests + Schema.test(entities)).joined(separator: " AND ")
    }
  }

  /// The name of the property, for messages.
  package let name: String
  /// The column.
  package let column: String
  /// What the value is.
  package let kind: Kind
  /// Of a to-one whose inverse is ordered, the column of the place among its target's.
  package let order: String?

  /// Describes a value of a row.
  package init(name: String, column: String, kind: Kind, order: String? = nil) {
    self.name = name
    self.column = column
    self.kind = kind
    self.order = order
  }

  /// The slot of an attribute.
  package init(_ attribute: Attribute) {
    self.init(name: attribute.name, column: attribute.column, kind: .attribute(attribute))
  }

  /// Whether the value is a link, or a part of one.
  var isLink: Bool {
    switch kind {
    case .attribute, .place: false
    case .integer, .key: true
    }
  }

  /// Whether the value is no more than a further part of the key before it.
  var isFurtherPart: Bool {
    if case .key(_, let part) = kind { part > 0 } else { false }
  }
}

extension Schema {
  /// A text as SQL takes it, whatever is in it.
  static func literal(_ text: String) -> String { text.enclosed(in: "'") }
}
