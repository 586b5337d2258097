/// One row of a fetch, lent to a closure: it reads straight from SQLite and cannot be kept.
public struct FetchedRow: ~Copyable {
  private let entity: EntityLayout
  private let namesEntity: Bool
  /// The number of columns.
  public let count: Int
  private let row: StoredRow
  private let orderName: [String]?
  private let placeCount: Int
  private let hasSensitivePlace: Bool

  init(_ plan: FetchPlan, _ row: StoredRow) {
    entity = plan.entity
    orderName = plan.orderName
    placeCount = plan.placeCount
    hasSensitivePlace = plan.hasSensitivePlaces
    namesEntity = plan.namesEntity
    count = plan.attributes.count
    self.row = row
  }

  /// A row of another statement: `_pk`, then `count` values.
  init(_ entity: EntityLayout, count: Int, _ row: StoredRow) {
    self.entity = entity
    namesEntity = false
    orderName = nil
    placeCount = 0
    hasSensitivePlace = false
    self.count = count
    self.row = row
  }

  /// The row's `_pk`, 0 where it is no object.
  package var primaryKey: Int64 { row.integer(0) }

  /// The identity of the object, which carries the name of its root entity.
  ///
  /// A row of a table (groups, aggregates, distinct rows) is no object: its key is 0.
  public var objectID: ObjectID {
    ObjectID(entity: entity.rootName, primaryKey: primaryKey)
  }

  /// The name of the object's own entity: that of the request, or of one of its sub-entities.
  public var entityName: String {
    if namesEntity, case .text(let name) = row.stored(Int32(count) + 1) { return name }
    return entity.name
  }

  /// The value of an attribute, by its place among the columns of the request, from 0.
  ///
  /// Texts come with all their bytes; what is not UTF-8 (SQLite does not check) is replaced by
  /// U+FFFD.
  public subscript(index: Int) -> StoredValue {
    precondition((0..<count).contains(index), "a fetched row has no column \(index)")
    return row.stored(Int32(index) + 1)
  }

  /// All values, in the order of the columns.
  public var values: [StoredValue] { (0..<count).map { self[$0] } }

  /// The row's place in the order of the request; nil where the fetch does not read places.
  var place: FetchCursor? {
    guard let orderName else { return nil }
    let first = Int32(count) + 1 + (namesEntity ? 1 : 0)
    return FetchCursor(
      order: orderName,
      values: (0..<Int32(placeCount)).map { row.stored(first + $0) },
      key: primaryKey,
      isSensitive: hasSensitivePlace
    )
  }

  /// The value of an attribute without a copy, by its place among the columns of the request.
  ///
  /// Reads `sqlite3_column_*`; nothing is allocated. Use it inside the closure only.
  @inline(__always)
  public func column(_ index: Int) -> ColumnValue {
    precondition((0..<count).contains(index), "a fetched row has no column \(index)")
    return row[Int32(truncatingIfNeeded: index) + 1]
  }

  /// Copies values out of the engine's memory: numbers as they are, texts and bytes one behind the other.
  ///
  /// - Parameters:
  ///   - columns: So many columns, from the first.
  ///   - values: Room for a value a column; a text or bytes begin at their offset, counted with `start`.
  ///   - start: What the offset of the first byte is.
  ///   - room: Memory for texts and bytes.
  /// - Returns: How many bytes were written; nil: the room is too small.
  package func copy(
    _ columns: Int,
    into values: UnsafeMutablePointer<RowValue>,
    at start: Int,
    _ room: UnsafeMutableRawBufferPointer
  ) -> Int? {
    precondition(columns <= count, "a fetched row has no \(columns) columns")
    var used = 0
    for index in 0..<columns {
      let value = row[Int32(truncatingIfNeeded: index) + 1]
      let bytes: UnsafeRawBufferPointer
      switch value {
      case .null:
        values[index] = .null
        continue
      case .integer(let integer):
        values[index] = .integer(integer)
        continue
      case .real(let real):
        values[index] = .real(real)
        continue
      case .text(let text): bytes = text
      case .blob(let blob): bytes = blob
      }
      guard room.count - used >= bytes.count else { return nil }
      let offset = UInt32(truncatingIfNeeded: start + used)
      let length = UInt32(truncatingIfNeeded: bytes.count)
      if case .text = value {
        values[index] = .text(at: offset, length: length)
      } else {
        values[index] = .blob(at: offset, length: length)
      }
      guard let source = bytes.baseAddress, let target = room.baseAddress else { continue }
      (target + used).copyMemory(from: source, byteCount: bytes.count)
      used += bytes.count
    }
    return used
  }
}
