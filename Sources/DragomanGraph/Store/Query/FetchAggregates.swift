import GRDB
import GRDBSQLite

/// The SQL functions `dragoman_sum_integer(x)`, `dragoman_avg_decimal(x)` and so on: `ValueSum` for SQL.
///
/// They differ from SQLite's own `sum` and `avg` in being exact, whatever the order of the rows, and in
/// taking decimals, which those would read as doubles.
enum FetchAggregates {
  /// Makes the functions known to a connection.
  static func register(on database: Database) throws {
    for kind in ValueSum.Kind.allCases {
      for isAverage in [false, true] {
        let code = sqlite3_create_function_v2(
          database.sqliteConnection,
          "dragoman_\(isAverage ? "avg" : "sum")_\(kind.word)",
          1,
          SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
          UnsafeMutableRawPointer(bitPattern: kind.rawValue << 1 | (isAverage ? 1 : 0)),
          nil,
          { context, _, arguments in FetchAggregates.step(context, arguments?[0]) },
          { context in FetchAggregates.finish(context) },
          nil
        )
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
      }
    }
  }

  private final class SumBox {
    var sum: ValueSum
    init(_ sum: ValueSum) { self.sum = sum }
  }

  private static func kind(_ context: OpaquePointer?) -> (kind: ValueSum.Kind, isAverage: Bool) {
    let code = Int(bitPattern: sqlite3_user_data(context))
    return (ValueSum.Kind(rawValue: code >> 1) ?? .real, code & 1 == 1)
  }

  /// SQLite keeps a pointer's worth of memory for each run of the aggregate, zero at first
  /// (https://www.sqlite.org/c3ref/aggregate_context.html).
  private static func memory(_ context: OpaquePointer?, _ byteCount: Int) -> UnsafeMutablePointer<
    UInt
  >? {
    sqlite3_aggregate_context(context, Int32(byteCount))?.assumingMemoryBound(to: UInt.self)
  }

  private static func step(_ context: OpaquePointer?, _ value: OpaquePointer?) {
    guard let memory = memory(context, MemoryLayout<UInt>.size) else {
      return sqlite3_result_error_nomem(context)
    }
    let box: SumBox
    if let known = UnsafeRawPointer(bitPattern: memory.pointee) {
      box = Unmanaged<SumBox>.fromOpaque(known).takeUnretainedValue()
    } else {
      box = SumBox(ValueSum(kind(context).kind))
      memory.pointee = UInt(bitPattern: Unmanaged.passRetained(box).toOpaque())
    }
    switch sqlite3_value_type(value) {
    case SQLITE_INTEGER: box.sum.add(.integer(sqlite3_value_int64(value)))
    case SQLITE_FLOAT: box.sum.add(.real(sqlite3_value_double(value)))
    case SQLITE_TEXT: box.sum.add(.text(FetchFunctions.text(value) ?? ""))
    default: break
    }
  }

  /// Also called, for the memory's sake, when a statement ends before its rows do.
  private static func finish(_ context: OpaquePointer?) {
    let (kind, isAverage) = kind(context)
    var sum = ValueSum(kind)
    if let memory = memory(context, 0), let known = UnsafeRawPointer(bitPattern: memory.pointee) {
      sum = Unmanaged<SumBox>.fromOpaque(known).takeRetainedValue().sum
      memory.pointee = 0
    }
    if isAverage { return sum.average.give(to: context) }
    do {
      try sum.sum().give(to: context)
    } catch {
      sqlite3_result_error(context, error.message, -1)
    }
  }
}
