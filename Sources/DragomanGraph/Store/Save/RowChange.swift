/// How one row differs from the store.
struct RowChange: Sendable {
  /// What happened to it.
  enum Kind: UInt8, Sendable {
    case inserted
    case updated
    case deleted
  }

  /// What happened to it.
  var kind: Kind
  /// Its entity, as an index into the layout's entities.
  var entity: Int32
  /// Its version when it was read; 0 where it was not, or is not stored.
  var version: Int64
  /// The values set, by column; a deleted row keeps what was set before.
  var values: [Int: StoredValue]
  /// The row as it was imported or read; nil for an insertion: nulls, else: not known.
  var row: RowPlace?
  /// What an import says of it besides its values.
  var mark: RowMark?

  init(
    _ kind: Kind,
    _ entity: Int,
    version: Int64 = 0,
    values: [Int: StoredValue] = [:],
    row: RowPlace? = nil
  ) {
    self.kind = kind
    self.entity = Int32(entity)
    self.version = version
    self.values = values
    self.row = row
  }

  /// Whether this is an update that says nothing of the row itself.
  var isEmptyUpdate: Bool { kind == .updated && values.isEmpty && mark == nil }

  /// Whether this is an update that says nothing of the row but what it leads to.
  func isUpdateOfLinks(_ columns: [ModelLayout.LinkColumn]) -> Bool {
    kind == .updated && mark == nil
      && values.keys.allSatisfy { key in columns.contains { $0.column == key || $0.order == key } }
  }

  /// What the column holds, as far as this says; nil: as it is beneath.
  func value(_ column: Int) -> StoredValue? {
    if !values.isEmpty, let value = values[column] { return value }
    return kind == .inserted ? base(column) : nil
  }

  /// What the column held before.
  func base(_ column: Int) -> StoredValue { row?.stored(column) ?? .null }

  /// What the column holds in the row as a whole.
  func whole(_ column: Int) -> StoredValue { values[column] ?? base(column) }

  /// The owners, by a to-one, whose lists this row concerns: the one that it had, the one it gets.
  func owners(_ column: ModelLayout.LinkColumn) -> (Int64?, Int64?) {
    switch kind {
    case .inserted: return (whole(column.column).integer, nil)
    case .deleted: return (base(column.column).integer, values[column.column]?.integer)
    case .updated:
      let changed = values[column.column]
      guard changed != nil || column.order.map({ values[$0] != nil }) == true else {
        return (nil, nil)
      }
      return (base(column.column).integer, changed?.integer)
    }
  }
}
