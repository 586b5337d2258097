import Foundation

/// Numbers, sizes, durations and moments as people read them, the same under every locale.
package enum Figures {
  /// `1,234,567`.
  package static func grouped(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var text = ""
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return number < 0 ? "-" + text : text
  }

  /// `1 row`, `2,000 rows`.
  package static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    "\(grouped(number)) \(number == 1 ? one : many ?? one + "s")"
  }

  /// A number with that many decimals: `0.25`.
  package static func decimals(_ number: Double, _ count: Int) -> String {
    String(format: "%.\(count)f", number)
  }

  /// A count of bytes: `512 B`, `1.2 MB`.
  package static func bytes(_ count: Int) -> String {
    guard count >= 1000 else { return "\(count) B" }
    var (value, unit) = (Double(count), "")
    // What is rounded to a thousand is one of the next unit.
    for name in ["kB", "MB", "GB", "TB"] where unit.isEmpty || value >= 999.95 {
      value /= 1000
      unit = name
    }
    return "\(decimals(value, 1)) \(unit)"
  }

  /// Text, with spaces before it up to a width.
  package static func padded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  /// `0.3 s`, `2 min 5 s`.
  package static func duration(_ seconds: Double) -> String {
    guard seconds >= 0, seconds.isFinite else { return "" }
    if seconds < 0.05 { return "< 0.1 s" }
    if seconds < 10 { return String(format: "%.1f s", seconds) }
    if seconds < 60 { return String(format: "%.0f s", seconds) }
    if seconds < 3600 { return "\(Int(seconds) / 60) min \(Int(seconds) % 60) s" }
    return "\(Int(seconds) / 3600) h \(Int(seconds) / 60 % 60) min"
  }

  /// `12 %`, `<1 %`.
  package static func share(_ part: Int, of whole: Int) -> String {
    guard whole > 0 else { return "" }
    let percent = Double(part) / Double(whole) * 100
    if percent > 0, percent < 1 { return "<1 %" }
    if percent > 99, percent < 100 { return ">99 %" }
    return "\(Int(percent.rounded())) %"
  }

  /// A moment of the ledger (`yyyy-MM-dd HH:mm:ss.ffffff`, UTC) to the minute.
  package static func moment(_ text: String) -> String { String(text.prefix(16)) }

  /// The same to the second.
  package static func second(_ text: String) -> String { String(text.prefix(19)) }

  /// A duration in seconds.
  package static func seconds(_ duration: Duration) -> Double {
    let (seconds, attoseconds) = duration.components
    return Double(seconds) + Double(attoseconds) / 1e18
  }

  /// The seconds between two moments of the ledger; nil where one is none.
  package static func seconds(from start: String, to end: String?) -> Double? {
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
