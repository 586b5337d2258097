import Foundation
import Testing

@testable import DragomanGraph

/// Moments relative to now, in predicates.
@Suite("Predicates, relative dates")
struct FilterMomentTests {
  /// 2024-02-29T12:30:00.25Z.
  private static let leapDay = Date(timeIntervalSince1970: 1_709_209_800.25)

  @Test(
    "Steps go through clock and calendar in UTC",
    arguments: [
      ("now()", "2024-02-29 12:30:00.25"), ("today()", "2024-02-29 00:00:00"),
      ("now() - 7 days", "2024-02-22 12:30:00.25"), ("NOW() + 1 Week", "2024-03-07 12:30:00.25"),
      ("now() - 1 year", "2023-02-28 12:30:00.25"), ("now() + 4 years", "2028-02-29 12:30:00.25"),
      ("today() - 1 month", "2024-01-29 00:00:00"), ("today() + 1 month", "2024-03-29 00:00:00"),
      ("today() - 29 days + 1 month", "2024-02-29 00:00:00"),
      ("today() + 1 month - 29 days", "2024-02-29 00:00:00"),
      ("today() + 2 days - 1 month", "2024-02-02 00:00:00"),
      ("today() - 1 second", "2024-02-28 23:59:59"),
      ("now() + 11 hours + 30 minutes", "2024-03-01 00:00:00.25"),
      ("today() - 86400 seconds", "2024-02-28 00:00:00"),
      ("today() - 2024 years", "0000-02-29 00:00:00"),
      ("today() + 7975 years", "9999-02-28 00:00:00"),
      ("today() - 1000000000 seconds", "1992-06-21 22:13:20"),
      ("today() + 999999999 days - 999999999 days", "2024-02-29 00:00:00"),
    ]
  )
  func steps(text: String, expected: String) throws {
    let filter = try Filter(parsing: "t == \(text)").fixing(now: Self.leapDay)
    guard case .comparison(let comparison) = filter,
      case .value(.moment(let moment)) = comparison.right
    else {
      Issue.record("\(filter)")
      return
    }
    #expect(moment.stored(as: .timestamp) == expected)
  }

  @Test("The instant before 1970 rounds down, not towards 1970")
  func early() {
    let moment = FilterMoment(now: Date(timeIntervalSince1970: -0.25))
    #expect(moment.stored(as: .timestamp) == "1969-12-31 23:59:59.75")
    #expect(FilterMoment(now: Date(timeIntervalSince1970: 1e300)).stored(as: .timestamp) == nil)
    #expect(FilterMoment(now: Date(timeIntervalSince1970: .nan)).stored(as: .timestamp) == nil)
  }

  @Test("A timestamp, a date and a time of day take of the moment what they hold")
  func types() throws {
    let entity = Entity(
      name: "T",
      attributes: [
        Attribute(name: "t", type: .timestamp), Attribute(name: "d", type: .date),
        Attribute(name: "c", type: .time),
      ]
    )
    let store = try store(
      entity,
      [
        ["2024-02-29 12:30:00.25", "2024-02-29", "12:30:00.25"],
        ["2024-02-22 12:30:00", "2024-02-22", "12:30:00"], [.null, .null, .null],
      ]
    )
    func keys(_ predicate: String) throws -> [Int64] {
      let filter = try Filter(parsing: predicate).fixing(now: Self.leapDay)
      return try store.keys(FetchRequest("T", filter: filter))
    }
    #expect(try keys("t >= now() - 7 days") == [1])
    #expect(try keys("t >= today() - 1 week") == [1, 2])
    #expect(try keys("d >= now() - 7 days") == [1, 2])
    #expect(try keys("d IN {today(), today() - 1 day}") == [1])
    #expect(try keys("t BETWEEN {today(), now()}") == [1])
    #expect(try keys("now() == c") == [1])
    #expect(try keys("c < now()") == [2])
  }

  @Test(
    "What has no moment says so",
    arguments: [
      ("c == today()", "now() has a time of day, today() has none"),
      ("s == now()", "wants a string"),
      ("t > now() - 3000 years", "outside of the years 0000 to 9999"),
    ]
  )
  func refused(predicate: String, words: String) throws {
    let model = Model(entities: [
      Entity(
        name: "T",
        attributes: [
          Attribute(name: "t", type: .timestamp), Attribute(name: "c", type: .time),
          Attribute(name: "s"),
        ]
      )
    ])
    let filter = try Filter(parsing: predicate)
    let error = #expect(throws: StoreError.self) {
      try ResolvedRequest(FetchRequest("T", filter: filter), in: ModelLayout(model))
    }
    #expect(error?.description.contains(words) == true, "\(String(describing: error))")
  }

  @Test("Without an instant of its own now is the instant of the fetch")
  func now() throws {
    let entity = Entity(name: "T", attributes: [Attribute(name: "t", type: .timestamp)])
    let store = try store(entity, [["2020-01-01 00:00:00"], ["9000-01-01 00:00:00"]])
    let filter = try Filter(parsing: "t < now() AND t > today() - 1000 years")
    #expect(try store.keys(FetchRequest("T", filter: filter)) == [1])
    // A name that is a function's is a name without parentheses.
    #expect(
      try Filter(parsing: "now == 1 AND today == 2")
        == .and([.where("now", .equalTo, 1), .where("today", .equalTo, 2)])
    )
  }
}
