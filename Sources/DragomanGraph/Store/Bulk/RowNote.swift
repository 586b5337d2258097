import GRDB
import GRDBSQLite

/// What a statement that writes a row tells about the object it met, without a `SELECT`.
///
/// Three functions of SQL, direct-only, write into it while the statement runs:
///
/// - `_dragoman_found(_pk, column, …)`, in the `WHERE` of an update: the object's primary key, and
///   what stood in its link columns before. It is always true.
/// - `_dragoman_former(column, …)`, behind the test whether anything differs: the values that are
///   overwritten. It is always true.
/// - `_dragoman_link(number, _pk)`, around the look-up of a target by its key: what it came to.
///
/// See https://www.sqlite.org/c3ref/create_function.html.
final class RowNote {
  /// How many columns can be noted, and how many look-ups: functions of SQL take no more arguments.
  static let maximumCount = 90

  private static let null = Int64.min
  /// First the primary key and the noted columns, then the look-ups.
  private let cells: UnsafeMutablePointer<Int64>
  /// What the last row has overwritten.
  private(set) var former: [StoredValue] = []

  private init() {
    cells = .allocate(capacity: 2 * Self.maximumCount)
    cells.initialize(repeating: Self.null, count: 2 * Self.maximumCount)
  }

  deinit { cells.deallocate() }

  /// Makes the functions known to a connection, which keeps the note alive as long as they are.
  static func register(on database: Database) throws -> RowNote {
    let note = RowNote()
    try note.add("_dragoman_found", -1, to: database) { context, count, arguments in
      guard let note = RowNote.of(context), let arguments else { return }
      for index in 0..<min(Int(count), RowNote.maximumCount) {
        note.cells[index] = RowNote.value(arguments[index])
      }
      sqlite3_result_int(context, 1)
    }
    try note.add("_dragoman_former", -1, to: database) { context, count, arguments in
      guard let note = RowNote.of(context), let arguments else { return }
      note.former = (0..<Int(count)).map { StoredValue(ColumnValue(arguments[$0])) }
      sqlite3_result_int(context, 1)
    }
    try note.add("_dragoman_link", 2, to: database) { context, _, arguments in
      guard let note = RowNote.of(context), let arguments else { return }
      let number = Int(sqlite3_value_int64(arguments[0]))
      let target = RowNote.value(arguments[1])
      if (0..<RowNote.maximumCount).contains(number) {
        note.cells[RowNote.maximumCount + number] = target
      }
      sqlite3_result_value(context, arguments[1])
    }
    return note
  }

  private typealias Function =
    @convention(c) (
      OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?
    ) -> Void

  private func add(
    _ name: String,
    _ argumentCount: Int32,
    to database: Database,
    _ function: Function
  ) throws {
    let code = sqlite3_create_function_v2(
      database.sqliteConnection,
      name,
      argumentCount,
      SQLITE_UTF8 | SQLITE_DIRECTONLY,
      Unmanaged.passRetained(self).toOpaque(),
      function,
      nil,
      nil,
      { note in if let note { Unmanaged<RowNote>.fromOpaque(note).release() } }
    )
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }

  private static func of(_ context: OpaquePointer?) -> RowNote? {
    sqlite3_user_data(context).map { Unmanaged<RowNote>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func value(_ value: OpaquePointer?) -> Int64 {
    sqlite3_value_type(value) == SQLITE_NULL ? null : sqlite3_value_int64(value)
  }

  // MARK: - What was noted

  /// Forgets the last row.
  func clear(lookUpCount: Int) {
    cells[0] = Self.null
    if !former.isEmpty { former.removeAll(keepingCapacity: true) }
    for number in 0..<min(lookUpCount, Self.maximumCount) {
      cells[Self.maximumCount + number] = Self.null
    }
  }

  /// The primary key of the object that was there; nil: none was.
  var key: Int64? { cells[0] == Self.null ? nil : cells[0] }

  /// What stood in a noted column of the object that was there.
  func previous(_ column: Int) -> Int64? {
    guard column + 1 < Self.maximumCount else { return nil }
    let value = cells[column + 1]
    return value == Self.null ? nil : value
  }

  /// The target that a look-up found.
  func target(_ number: Int) -> Int64? {
    guard number < Self.maximumCount else { return nil }
    let value = cells[Self.maximumCount + number]
    return value == Self.null ? nil : value
  }
}
