import GRDBSQLite

/// One row of a fetch, lent to a closure: it reads straight from SQLite and cannot be kept.
public struct FetchedRow: ~Copyable {
  private let entity: EntityLayout
  private let namesEntity: Bool
  /// The number of columns.
  public let count: Int
  let statement: OpaquePointer

  init(_ plan: FetchPlan, _ statement: OpaquePointer) {
    entity = plan.entity
    namesEntity = plan.namesEntity
    count = plan.attributes.count
    self.statement = statement
  }

  /// A row of another statement: `_pk`, then `count` values.
  init(_ entity: EntityLayout, count: Int, _ statement: OpaquePointer) {
    self.entity = entity
    namesEntity = false
    self.count = count
    self.statement = statement
  }

  /// The row's `_pk`, 0 where it is no object.
  package var primaryKey: Int64 { sqlite3_column_int64(statement, 0) }

  /// The identity of the object, which carries the name of its root entity.
  ///
  /// A row of a table (groups, aggregates, distinct rows) is no object: its key is 0.
  public var objectID: ObjectID {
    ObjectID(entity: entity.rootName, primaryKey: sqlite3_column_int64(statement, 0))
  }

  /// The name of the object's own entity: that of the request, or of one of its sub-entities.
  public var entityName: String {
    if namesEntity, case .text(let name) = value(Int32(count) + 1) { return name }
    return entity.name
  }

  /// The value of an attribute, by its place among the columns of the request, from 0.
  ///
  /// Texts come with all their bytes; what is not UTF-8 (SQLite does not check) is replaced by
  /// U+FFFD.
  public subscript(index: Int) -> StoredValue {
    precondition((0..<count).contains(index), "a fetched row has no column \(index)")
    return value(Int32(index) + 1)
  }

  private func value(_ column: Int32) -> StoredValue {
    switch Self.column(column, of: statement) {
    case .null: .null
    case .integer(let integer): .integer(integer)
    case .real(let real): .real(real)
    case .text(let bytes): .text(String(decoding: bytes, as: UTF8.self))
    case .blob(let bytes): .blob(Array(bytes))
    }
  }

  /// All values, in the order of the columns.
  public var values: [StoredValue] { (0..<count).map { self[$0] } }
}
