import Foundation
import GRDB

/// How values of a type become numbers that a histogram can divide, and back.
struct HistogramScale {
  /// The ranges of a histogram, in numbers that are multiplied by `factor`.
  struct Bins {
    let lower: Double
    let width: Double
    let count: Int
    /// Smaller than 1 where the distance of the smallest and the largest number would be infinite.
    var factor = 1.0
    /// What is added to a number, so that a whole one at the edge of two ranges is in the second one.
    var slack = 0.0
  }

  private static let count = 20.0

  private let type: AttributeType

  /// Nil for types that have no distances.
  init?(_ type: AttributeType) {
    switch type {
    case .int16, .int32, .int64, .double, .float, .decimal, .timestamp, .date, .time:
      self.type = type
    case .bool, .string, .uuid, .url, .data, .json, .enum, .duration: return nil
    }
  }

  /// SQL for the number of a value: days of dates, seconds of times
  /// (https://www.sqlite.org/lang_datefunc.html).
  func number(of value: String) -> String {
    switch type {
    case .date: "(strftime('%s', \(value)) / 86400)"
    // `julianday` rounds to milliseconds, and has no last one of the year 9999.
    case .timestamp: Self.seconds(of: value, length: 19)
    case .time: Self.seconds(of: value, length: 8)
    // Of what is larger than a double the last range has all.
    default: "max(-1.7e308, min(1.7e308, CAST(\(value) AS REAL)))"
    }
  }

  private static func seconds(of value: String, length: Int) -> String {
    "(strftime('%s', substr(\(value), 1, \(length))) + CAST('0' || substr(\(value), \(length + 1)) AS REAL))"
  }

  /// Up to twenty ranges; whole numbers, days and microseconds are never divided, and seconds only where there are
  /// fewer.
  func bins(from lower: Double, to upper: Double) -> Bins {
    switch type {
    case .int16, .int32, .int64, .date:
      let span = upper - lower + 1
      let width = max(1, (span / Self.count).rounded(.up))
      let count = max(1, Int((span / width).rounded(.up)))
      return Bins(lower: lower, width: width, count: count, slack: 0.5)
    case .timestamp, .time:
      let isWhole = upper - lower >= Self.count
      let unit = isWhole ? 1 : 1e-6
      let first = isWhole ? lower.rounded(.down) : lower
      let span = ((upper - first) / unit).rounded(isWhole ? .up : .toNearestOrEven)
      let width = max(1, (span / Self.count).rounded(.up))
      let count = max(1, Int((span / width).rounded(.up)))
      return Bins(lower: first, width: width * unit, count: count, slack: 0.5e-6)
    default:
      let factor = (upper - lower).isFinite ? 1 : 0.25
      return Bins(
        lower: lower * factor,
        width: (upper * factor - lower * factor) / Self.count,
        count: Int(Self.count),
        factor: factor
      )
    }
  }

  /// The value at the beginning of a range.
  func value(at place: Int, of bins: Bins, _ database: Database) throws -> StoredValue {
    let number = (bins.lower + Double(place) * bins.width) / bins.factor
    switch type {
    case .int16, .int32, .int64:
      return Int64(exactly: number.rounded()).map(StoredValue.integer) ?? .real(number)
    case .date: return try text("date", seconds: Int64(number) * 86_400, database)
    case .timestamp, .time:
      let microseconds = Int64((number * 1e6).rounded())
      let fraction = (microseconds % 1_000_000 + 1_000_000) % 1_000_000
      let whole = try text(
        type == .time ? "time" : "datetime",
        seconds: (microseconds - fraction) / 1_000_000,
        database
      )
      guard fraction > 0, case .text(var text) = whole else { return whole }
      text += ".\(String(1_000_000 + fraction).dropFirst())"
      while text.last == "0" { text.removeLast() }
      return .text(text)
    default:
      let spelled = Self.rounded(number, width: bins.width / bins.factor)
      return type == .decimal ? .text(String(spelled)) : .real(spelled)
    }
  }

  /// A number without the digits that only adding has made, unless ranges are that narrow.
  private static func rounded(_ number: Double, width: Double) -> Double {
    guard width > abs(number) * 1e-12 else { return number }
    return Double(String(format: "%.14g", number)) ?? number
  }

  private func text(
    _ function: String,
    seconds: Int64,
    _ database: Database
  ) throws -> StoredValue {
    var text: StoredValue = .null
    try FetchStatement.run("SELECT \(function)(?, 'unixepoch')", [.integer(seconds)], database) {
      text = $0.stored(0)
      return false
    }
    return text
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
