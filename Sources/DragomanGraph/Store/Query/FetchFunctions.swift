import GRDB
import GRDBSQLite

/// The SQL functions and the collation that compiled filters use.
///
/// They are registered with SQLite itself rather than through GRDB, whose functions see a text only
/// up to its first NUL. All are deterministic, and direct-only: no schema can call them
/// (https://www.sqlite.org/c3ref/create_function.html).
///
/// - `dragoman_fold(text, options)`: the text without case (1), diacritics (2) or both (3).
/// - `dragoman_test(text, pattern, kind, options)`: `ENDSWITH`, `LIKE` and `MATCHES`, 0 or 1.
/// - `dragoman_code(value)`, `dragoman_value(code)`: a value as JSON holds it (`ListCode`), and back.
/// - `dragoman_pad(decimal, scale)`: the decimal with zeros up to that many digits behind the point.
/// - `COLLATE DRAGOMAN_DECIMAL`: canonical decimals by value. Named in queries only, never in a
///   schema, so that any SQLite tool can read the file.
enum FetchFunctions {
  static let decimalCollation = "DRAGOMAN_DECIMAL"
  /// What a statement that looked at too many rows (`dragoman_patience`) ends with.
  static let outOfPatience = "it looks at too many rows"

  /// Makes the functions and the collation known to a connection; every reader needs them.
  static func register(on database: Database) throws {
    let connection = database.sqliteConnection
    try add("dragoman_fold", argumentCount: 2, to: connection) { context, _, arguments in
      FetchFunctions.fold(context, arguments)
    }
    try add("dragoman_test", argumentCount: 4, to: connection) { context, _, arguments in
      FetchFunctions.test(context, arguments)
    }
    try add("dragoman_code", argumentCount: 1, to: connection) { context, _, arguments in
      guard let arguments else { return sqlite3_result_null(context) }
      let value = StoredValue(ColumnValue(arguments[0]))
      StoredValue.text(ListCode.code(value)).give(to: context)
    }
    try add("dragoman_value", argumentCount: 1, to: connection) { context, _, arguments in
      FetchFunctions.value(context, arguments)
    }
    try add("dragoman_pad", argumentCount: 2, to: connection) { context, _, arguments in
      FetchFunctions.pad(context, arguments)
    }
    try add("dragoman_patience", argumentCount: 2, to: connection) { context, _, arguments in
      FetchFunctions.patience(context, arguments)
    }
    try FetchAggregates.register(on: database)
    let code = sqlite3_create_collation_v2(
      connection,
      decimalCollation,
      SQLITE_UTF8,
      nil,
      { _, leftCount, left, rightCount, right in
        let order = DecimalText.order(
          UnsafeRawBufferPointer(start: left, count: Int(leftCount)),
          UnsafeRawBufferPointer(start: right, count: Int(rightCount))
        )
        return Int32(order.signum())
      },
      nil
    )
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }

  private typealias Arguments = UnsafeMutablePointer<OpaquePointer?>

  private static func add(
    _ name: String,
    argumentCount: Int32,
    to connection: OpaquePointer?,
    _ function:
      @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void
  ) throws {
    let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
    let code = sqlite3_create_function_v2(
      connection,
      name,
      argumentCount,
      flags,
      nil,
      function,
      nil,
      nil,
      nil
    )
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }

  // MARK: The functions

  private static func fold(_ context: OpaquePointer?, _ arguments: Arguments?) {
    guard let arguments, let text = text(arguments[0]) else { return sqlite3_result_null(context) }
    let options = Filter.Comparison.Options(rawValue: Int(sqlite3_value_int64(arguments[1])))
    StoredValue.text(TextFold.fold(text, options)).give(to: context)
  }

  /// The pattern is compiled once a statement and kept by SQLite beside its argument
  /// (https://www.sqlite.org/c3ref/get_auxdata.html).
  private static func test(_ context: OpaquePointer?, _ arguments: Arguments?) {
    guard let arguments, let text = text(arguments[0]) else { return sqlite3_result_null(context) }
    do {
      if let known = sqlite3_get_auxdata(context, 1) {
        let box = Unmanaged<TestBox>.fromOpaque(known).takeUnretainedValue()
        sqlite3_result_int(context, try box.test.admits(text) ? 1 : 0)
        return
      }
      guard let pattern = FetchFunctions.text(arguments[1]),
        let kind = TextTest.Kind(rawValue: Int(sqlite3_value_int64(arguments[2])))
      else { return sqlite3_result_null(context) }
      let options = Filter.Comparison.Options(rawValue: Int(sqlite3_value_int64(arguments[3])))
      let box = TestBox(try TextTest(kind, pattern, options))
      sqlite3_result_int(context, try box.test.admits(text) ? 1 : 0)
      sqlite3_set_auxdata(context, 1, Unmanaged.passRetained(box).toOpaque()) { box in
        if let box { Unmanaged<TestBox>.fromOpaque(box).release() }
      }
    } catch {
      sqlite3_result_error(context, error.message, -1)
    }
  }

  /// True, so many times a statement; then the statement is ended.
  ///
  /// SQLite keeps the count beside the argument.
  private static func patience(_ context: OpaquePointer?, _ arguments: Arguments?) {
    guard let arguments else { return sqlite3_result_null(context) }
    sqlite3_result_int(context, 1)
    guard let known = sqlite3_get_auxdata(context, 1) else {
      let count = UnsafeMutablePointer<Int64>.allocate(capacity: 1)
      count.initialize(to: 1)
      return sqlite3_set_auxdata(context, 1, count) { $0?.deallocate() }
    }
    let count = known.assumingMemoryBound(to: Int64.self)
    count.pointee += 1
    if count.pointee > sqlite3_value_int64(arguments[1]) {
      sqlite3_result_error(context, FetchFunctions.outOfPatience, -1)
    }
  }

  private static func value(_ context: OpaquePointer?, _ arguments: Arguments?) {
    guard let arguments, let code = text(arguments[0]) else { return sqlite3_result_null(context) }
    ListCode.value(of: code).give(to: context)
  }

  private static func pad(_ context: OpaquePointer?, _ arguments: Arguments?) {
    guard let arguments, let decimal = text(arguments[0]) else {
      return sqlite3_result_null(context)
    }
    let scale = Int(sqlite3_value_int64(arguments[1]))
    StoredValue.text(DecimalText.padded(decimal, scale: scale)).give(to: context)
  }

  private final class TestBox {
    let test: TextTest
    init(_ test: TextTest) { self.test = test }
  }

  /// The whole text of a value, NUL characters included; nil for null and blobs.
  static func text(_ value: OpaquePointer?) -> String? {
    let type = sqlite3_value_type(value)
    guard type != SQLITE_NULL, type != SQLITE_BLOB, let bytes = sqlite3_value_text(value) else {
      return nil
    }
    let count = Int(sqlite3_value_bytes(value))
    return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }
}
