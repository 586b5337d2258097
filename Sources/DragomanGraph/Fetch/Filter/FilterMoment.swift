import Foundation

/// A moment relative to now: `now() - 7 days`, `today() + 1 month`.
///
/// `now()` is the instant at which a fetch begins, `today()` the midnight in UTC before it. Steps are taken
/// one after the other in the Gregorian calendar in UTC: a month from 31 January is the last day of
/// February. Beside a date it is its day, beside a time of day the time.
public struct FilterMoment: Sendable, Hashable {
  /// A unit of calendar or clock.
  public enum Unit: String, Sendable, Hashable, CaseIterable {
    case second, minute, hour, day, week, month, year
  }

  /// A number of units, negative for the past.
  public struct Step: Sendable, Hashable {
    /// How many; at most `FilterMoment.maximumAmount`, forward or back.
    public var amount: Int
    /// Of what.
    public var unit: Unit

    /// Makes a step.
    public init(_ amount: Int, _ unit: Unit) {
      self.amount = amount
      self.unit = unit
    }
  }

  /// How large a step may be.
  public static let maximumAmount = 1_000_000_000

  /// Whether it begins with the day rather than the instant.
  public var isDay: Bool
  /// The steps from there.
  public var steps: [Step]
  /// What now is; nil: the instant at which the fetch begins.
  public var now: Date?

  /// Makes a moment.
  public init(isDay: Bool = false, _ steps: [Step] = [], now: Date? = nil) {
    self.isDay = isDay
    self.steps = steps
    self.now = now
  }

  /// The moment as a predicate spells it.
  var text: String {
    (isDay ? "today()" : "now()")
      + steps.map { step in
        let amount = step.amount.magnitude
        return
          " \(step.amount < 0 ? "-" : "+") \(amount) \(step.unit.rawValue)\(amount == 1 ? "" : "s")"
      }.joined()
  }

  /// What a column of the type holds at the moment; nil for other types, for the time of `today()`, and
  /// outside of the years 0000 to 9999.
  func stored(as type: AttributeType) -> String? {
    guard let instant = instant() else { return nil }
    switch type {
    case .timestamp: return instant
    case .date: return String(instant.prefix(10))
    case .time where !isDay: return String(instant.dropFirst(11))
    default: return nil
    }
  }

  private func instant() -> String? {
    let seconds = (now ?? Date()).timeIntervalSince1970
    // Beyond the year 30000 no step leads back into the calendar's range.
    guard seconds.magnitude < 1e12 else { return nil }
    let microseconds = Int((seconds * 1e6).rounded(.down))
    var moment = CivilMoment(microsecondsSince1970: microseconds)
    if isDay { moment.microsecond = 0 }
    for step in steps {
      guard step.amount.magnitude <= Self.maximumAmount.magnitude else { return nil }
      switch step.unit {
      case .second: moment.add(seconds: step.amount)
      case .minute: moment.add(seconds: step.amount * 60)
      case .hour: moment.add(seconds: step.amount * 3600)
      case .day: moment.add(days: step.amount)
      case .week: moment.add(days: step.amount * 7)
      case .month: moment.add(months: step.amount)
      case .year: moment.add(months: step.amount * 12)
      }
    }
    return moment.text
  }
}
