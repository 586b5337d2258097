import Synchronization

/// The clocks of zones that are named in the values themselves (`VV`), made once each.
final class ZoneClocks: Sendable {
  static let shared = ZoneClocks()

  private let clocks = Mutex<[String: ZoneClock?]>([:])
  /// Hostile values must not fill the memory with names; there are some 600 zones.
  private static let maximumCount = 2000

  /// The clock of a zone; nil where there is no such zone.
  func clock(named identifier: String) -> ZoneClock? {
    clocks.withLock { clocks in
      if let known = clocks[identifier] { return known }
      let clock = ZoneClock.find(identifier)
      if clocks.count < Self.maximumCount { clocks[identifier] = .some(clock) }
      return clock
    }
  }
}
