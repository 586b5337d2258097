import Foundation

/// The time as the ledger writes it.
package enum ImportClock {
  /// Now, in UTC: `2026-11-21 04:05:06.123456`.
  package static func now() -> String {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    var seconds = time.tv_sec
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func padded(_ number: Int, _ width: Int) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    let date = [Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)]
    let clock = [Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec)]
    return date.map { padded($0, 2) }.joined(separator: "-") + " "
      + clock.map { padded($0, 2) }.joined(separator: ":") + "."
      + padded(Int(time.tv_nsec) / 1000, 6)
  }
}
