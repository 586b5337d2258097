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
    switch box.conversions[index].convert(value(arguments[0])) {
    case nil, .null?: sqlite3_result_null(context)
    case .integer(let integer)?: sqlite3_result_int64(context, integer)
    case .real(let real)?: sqlite3_result_double(context, real)
    case .text(let text)?:
      sqlite3_result_text64(
        context,
        text,
        UInt64(text.utf8.count),
        RawStatement.transient,
        UInt8(SQLITE_UTF8)
      )
    case .blob(let bytes)?:
      if bytes.isEmpty { return sqlite3_result_zeroblob(context, 0) }
      sqlite3_result_blob64(context, bytes, UInt64(bytes.count), RawStatement.transient)
    }
  }

  private static func value(_ value: OpaquePointer?) -> StoredValue {
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: return .integer(sqlite3_value_int64(value))
    case SQLITE_FLOAT: return .real(sqlite3_value_double(value))
    case SQLITE_TEXT:
      let bytes = sqlite3_value_text(value)
      let count = Int(sqlite3_value_bytes(value))
      return .text(
        String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
      )
    case SQLITE_BLOB:
      let bytes = sqlite3_value_blob(value)
      let count = Int(sqlite3_value_bytes(value))
      return .blob(Array(UnsafeRawBufferPointer(start: bytes, count: count)))
    default: return .null
    }
  }
}
