import GRDB
import GRDBSQLite

/// The SQL function `dragoman_migrated(value, conversion)`: a value in its new form, or NULL.
///
/// It lives on the connection while a migration checks and copies values, so that SQLite does both
/// in one statement a table.
enum ConversionFunction {
  static let name = "dragoman_migrated"

  /// Makes the function known to a connection, with these conversions, for as long as `body` runs.
  static func with<T>(
    _ conversions: [ValueConversion],
    on database: Database,
    _ body: () throws -> T
  ) throws -> T {
    let box = Unmanaged.passRetained(Box(conversions))
    // SQLite releases the box when the function goes, also where making it fails.
    let code = sqlite3_create_function_v2(
      database.sqliteConnection,
      name,
      2,
      SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
      box.toOpaque(),
      { context, _, arguments in ConversionFunction.convert(context, arguments) },
      nil,
      nil,
      { box in if let box { Unmanaged<Box>.fromOpaque(box).release() } }
    )
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    defer {
      sqlite3_create_function_v2(
        database.sqliteConnection,
        name,
        2,
        SQLITE_UTF8,
        nil,
        nil,
        nil,
        nil,
        nil
      )
    }
    return try body()
  }

  private final class Box: Sendable {
    let conversions: [ValueConversion]
    init(_ conversions: [ValueConversion]) { self.conversions = conversions }
  }

  private static func convert(
    _ context: OpaquePointer?,
    _ arguments: UnsafeMutablePointer<OpaquePointer?>?
  ) {
    guard let arguments, let data = sqlite3_user_data(context) else {
      return sqlite3_result_null(context)
    }
    let box = Unmanaged<Box>.fromOpaque(data).takeUnretainedValue()
    let index = Int(sqlite3_value_int64(arguments[1]))
    guard box.conversions.indices.contains(index) else { return sqlite3_result_null(context) }
    let value = StoredValue(ColumnValue(arguments[0]))
    (box.conversions[index].convert(value) ?? .null).give(to: context)
  }
}
