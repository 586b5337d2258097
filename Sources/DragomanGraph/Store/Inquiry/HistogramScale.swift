import GRDB

/// How values of a type become numbers that a histogram can divide, and back.
struct HistogramScale {
  /// The ranges of a histogram.
  struct Bins {
    let lower: Double
    let upper: Double
    let width: Double
    let count: Int
  }

  private let type: AttributeType

  /// Nil for types that have no distances.
  init?(_ type: AttributeType) {
    switch type {
    case .int16, .int32, .int64, .double, .float, .decimal, .timestamp, .date, .time:
      self.type = type
    case .bool, .string, .uuid, .url, .data, .json, .enum, .duration: return nil
    }
  }

  private var isCalendar: Bool { type == .timestamp || type == .date || type == .time }
  private var isWhole: Bool {
    type == .int16 || type == .int32 || type == .int64 || type == .date
  }

  /// SQL for the number of a value; days for dates and times
  /// (https://www.sqlite.org/lang_datefunc.html).
  func number(of value: String) -> String {
    isCalendar ? "julianday(\(value))" : "CAST(\(value) AS REAL)"
  }

  /// Up to twenty ranges; whole numbers and days are never divided.
  func bins(from lower: Double, to upper: Double) -> Bins {
    let span = upper - lower
    guard isWhole else { return Bins(lower: lower, upper: upper, width: span / 20, count: 20) }
    let width = max(1, ((span + 1) / 20).rounded(.up))
    let count = max(1, Int(((span + 1) / width).rounded(.up)))
    return Bins(lower: lower, upper: lower + Double(count) * width, width: width, count: count)
  }

  /// The value of a number.
  func value(of number: Double, _ database: Database) throws -> StoredValue {
    switch type {
    case .int16, .int32, .int64:
      return Int64(exactly: number.rounded()).map(StoredValue.integer) ?? .real(number)
    case .date, .timestamp, .time:
      let function = type == .date ? "date" : type == .time ? "time" : "datetime"
      var text: StoredValue = .null
      try FetchStatement.run("SELECT \(function)(?)", [.real(number)], database) { row in
        text = row.stored(0)
        return false
      }
      return text
    case .decimal: return .text(String(number))
    default: return .real(number)
    }
  }
}

extension StoredRow {
  /// A real number, nil for null.
  func number(_ column: Int32) -> Double? {
    switch stored(column) {
    case .real(let real): real
    case .integer(let integer): Double(integer)
    default: nil
    }
  }
}
