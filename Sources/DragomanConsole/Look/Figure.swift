import Foundation

/// Numbers, sizes, durations and moments as people read them.
enum Figure {
  /// `1,234,567`.
  static func grouped(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var text = ""
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return number < 0 ? "-" + text : text
  }

  /// `1 row`, `2,000 rows`.
  static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    "\(grouped(number)) \(number == 1 ? one : many ?? one + "s")"
  }

  /// `12 bytes`, `3.4 MB`.
  static func bytes(_ count: Int) -> String {
    guard count >= 1000 else { return Figure.count(count, "byte") }
    var (value, unit) = (Double(count), "")
    for name in ["kB", "MB", "GB", "TB"] where value >= 1000 {
      value /= 1000
      unit = name
    }
    return String(format: value < 9.95 ? "%.1f %@" : "%.0f %@", value, unit as NSString)
  }

  /// `0.3 s`, `2 min 5 s`.
  static func duration(_ seconds: Double) -> String {
    guard seconds >= 0, seconds.isFinite else { return "" }
    if seconds < 0.05 { return "< 0.1 s" }
    if seconds < 10 { return String(format: "%.1f s", seconds) }
    if seconds < 60 { return String(format: "%.0f s", seconds) }
    if seconds < 3600 { return "\(Int(seconds) / 60) min \(Int(seconds) % 60) s" }
    return "\(Int(seconds) / 3600) h \(Int(seconds) / 60 % 60) min"
  }

  /// `12 %`, `<1 %`.
  static func share(_ part: Int, of whole: Int) -> String {
    guard whole > 0 else { return "" }
    let percent = Double(part) / Double(whole) * 100
    if percent > 0, percent < 1 { return "<1 %" }
    if percent > 99, percent < 100 { return ">99 %" }
    return "\(Int(percent.rounded())) %"
  }

  /// A moment of the ledger (`yyyy-MM-dd HH:mm:ss.ffffff`, UTC) to the minute.
  static func moment(_ text: String) -> String { String(text.prefix(16)) }

  /// The seconds between two moments of the ledger; nil where one is none.
  static func seconds(from start: String, to end: String?) -> Double? {
    guard let end, let first = seconds(of: start), let last = seconds(of: end) else { return nil }
    return max(0, last - first)
  }

  private static func seconds(of text: String) -> Double? {
    let parts = text.split { "- :".contains($0) }
    guard parts.count == 6, let year = Int32(parts[0]), let second = Double(parts[5]) else {
      return nil
    }
    var time = tm()
    time.tm_year = year - 1900
    time.tm_mon = (Int32(parts[1]) ?? 1) - 1
    time.tm_mday = Int32(parts[2]) ?? 1
    time.tm_hour = Int32(parts[3]) ?? 0
    time.tm_min = Int32(parts[4]) ?? 0
    return Double(timegm(&time)) + second
  }
}
