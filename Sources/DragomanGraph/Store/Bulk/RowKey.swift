/// The place of an object: its table and its `_pk`.
package struct RowKey: Sendable, Hashable {
  /// The table, as an index into the layout's tables.
  package let table: Int
  /// The row's `_pk`.
  package let key: Int64

  /// Makes a key.
  package init(table: Int, key: Int64) {
    self.table = table
    self.key = key
  }
}

extension ModelLayout {
  /// The identity of the object at a place.
  func objectID(of place: RowKey) -> ObjectID {
    ObjectID(entity: entities[tables[place.table].root].name, primaryKey: place.key)
  }
}

/// One end of the links of a relationship: the relationship's number and the owner's `_pk`.
package struct LinkKey: Sendable, Hashable {
  /// The relationship's number in the layout.
  package let link: Int
  /// The owner's `_pk`.
  package let owner: Int64

  /// Makes a key.
  package init(link: Int, owner: Int64) {
    self.link = link
    self.owner = owner
  }
}

/// A row in a buffer.
struct RowPlace: Sendable {
  let buffer: RowBuffer
  private let number: Int32

  init(buffer: RowBuffer, row: Int) {
    self.buffer = buffer
    number = Int32(row)
  }

  /// The row's number; every object has one, so it is kept small.
  var row: Int { Int(number) }

  /// The value of a column, its text copied out.
  func stored(_ column: Int) -> StoredValue { buffer.stored(row, column) }
}
