import Foundation

/// Numbers as the reports print them, the same under every locale.
enum Figures {
  /// A whole number with thin groups of three: `1,234,567`.
  static func grouped(_ number: Int) -> String {
    var text = ""
    for (index, digit) in String(number.magnitude).reversed().enumerated() {
      if index > 0 && index % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return (number < 0 ? "-" : "") + String(text.reversed())
  }

  /// A number with that many decimals: `0.25`.
  static func decimals(_ number: Double, _ count: Int) -> String {
    String(format: "%.\(count)f", number)
  }

  /// A duration in seconds.
  static func seconds(_ duration: Duration) -> Double {
    let (seconds, attoseconds) = duration.components
    return Double(seconds) + Double(attoseconds) / 1e18
  }

  /// A count of bytes: `512 B`, `1.2 MB`.
  static func bytes(_ count: Int) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"]
    var value = Double(count)
    var unit = 0
    while value >= 1000 && unit < units.count - 1 {
      value /= 1000
      unit += 1
    }
    return unit == 0 ? "\(count) B" : "\(decimals(value, 1)) \(units[unit])"
  }

  /// Text, with spaces before it up to a width.
  static func padded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }
}
