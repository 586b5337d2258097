import Foundation
import Testing

@testable import DragomanGraph

/// Spans of time: what is one value, how it is written, and that nothing is made of it that it is not.
@Suite struct CalendarDurationTests {
  @Test(
    "Every spelling of a duration has one canonical text",
    arguments: [
      ("P1Y2M3DT4H5M6.5S", "P1Y2M3DT4H5M6.5S"), ("P1DT2H30M", "P1DT2H30M"), ("PT0.5S", "PT0.5S"),
      ("PT0,5S", "PT0.5S"), ("P1Y2M", "P1Y2M"), ("P14M", "P1Y2M"), ("P1W", "P7D"),
      ("P1M2W3D", "P1M17D"), ("PT90M", "PT1H30M"), ("PT3661S", "PT1H1M1S"), ("PT36H", "PT36H"),
      ("P36D", "P36D"), ("P0D", "PT0S"), ("-PT0S", "PT0S"), ("-P1DT1S", "-P1DT1S"),
      ("PT1.5H", "PT1H30M"), ("PT0.1M", "PT6S"), ("PT1H0.5M", "PT1H30S"), ("P007D", "P7D"),
      ("PT0.000001S", "PT0.000001S"), ("PT1.2500S", "PT1.25S"), ("PT60.0S", "PT1M"),
      ("P2147483647D", "P2147483647D"), ("PT9223372036854.775807S", "PT2562047788H54.775807S"),
    ]
  )
  func canonical(text: String, expected: String) throws {
    let duration = try #require(CalendarDuration(text))
    #expect(duration.description == expected)
    #expect(CalendarDuration(expected) == duration)
    #expect(expected.utf8.count <= CalendarDuration.capacity)
  }

  @Test(
    "What is no duration, or is none exactly, is refused",
    arguments: [
      "", "P", "PT", "P1", "1D", "P1DT", "P1H", "PT1D", "P1D1M", "PT1S1M", "P1M1M", "p1D", "P1d",
      "P-1D", "+P1D", "P 1D", "P1D ", "--P1D", "P1.5D", "P0.5Y", "PT1.S", "PT.5S", "PT1.5H1M",
      "PT0.0000001S", "PT1.0000000001H", "P2147483648D", "P178956971Y", "P306783379W",
      "P99999999999999999999D", "PT9223372036854.775808S", "PT99999999999999999999S",
      "P0001-02-03T04:05:06", "P１D",
    ]
  )
  func refused(text: String) { #expect(CalendarDuration(text) == nil) }

  @Test("Parts are exact and of one sign")
  func parts() {
    let duration = CalendarDuration("-P1Y2M3DT4S")
    #expect(duration?.months == -14 && duration?.days == -3 && duration?.microseconds == -4_000_000)
    #expect(CalendarDuration(months: 1, days: -1) == nil)
    #expect(CalendarDuration(days: -1, microseconds: 1) == nil)
    #expect(CalendarDuration(months: Int(Int32.max) + 1) == nil)
    #expect(CalendarDuration(microseconds: .min) == nil)
    #expect(
      CalendarDuration(months: .init(Int32.min) + 1, days: -9, microseconds: -.max)?.description
        == "-P178956970Y7M9DT2562047788H54.775807S"
    )
    #expect(CalendarDuration("P1M") != CalendarDuration("P30D"))
    #expect(CalendarDuration("P1D") != CalendarDuration("PT24H"))
  }

  @Test("Codable is the text, and says what is none")
  func codable() throws {
    let data = Data(#"["PT60S"]"#.utf8)
    let list = try JSONDecoder().decode([CalendarDuration].self, from: data)
    #expect(String(decoding: try JSONEncoder().encode(list), as: UTF8.self) == #"["PT1M"]"#)
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([CalendarDuration].self, from: Data(#"["1h"]"#.utf8))
    }
  }

  // MARK: - As an attribute

  private static func model(_ attribute: Attribute) -> Model {
    Model(entities: [Entity(name: "Film", attributes: [attribute])])
  }

  @Test("Objects take any spelling, hold the canonical one, and are found by value")
  @MainActor func objects() throws {
    let stack = try Stack(Self.model(Attribute(name: "lasts", type: .duration)), at: .inMemory)
    for text in ["PT90M", "P1D", "PT24H"] {
      let film = try stack.main.insert("Film")
      film["lasts"] = .text(text)
    }
    _ = try stack.main.insert("Film")
    try stack.main.save()
    func texts(_ predicate: String) throws -> [String?] {
      let request = FetchRequest("Film", filter: try Filter(parsing: predicate))
      return try stack.main.fetch(request).map { $0["lasts"].string }
    }
    #expect(try texts("lasts == 'PT1.5H'") == ["PT1H30M"])
    #expect(try texts("lasts IN {'P1D', 'PT5400S'}") == ["PT1H30M", "P1D"])
    #expect(try texts("lasts != 'P1D' AND lasts != nil") == ["PT1H30M", "PT24H"])
    #expect(try texts("lasts == nil") == [nil])
  }

  @Test(
    "Durations have no order, and whoever asks for one is told",
    arguments: ["lasts < 'P1D'", "lasts BETWEEN {'P1D', 'P2D'}", "lasts CONTAINS 'D'"]
  )
  @MainActor func order(predicate: String) throws {
    let stack = try Stack(Self.model(Attribute(name: "lasts", type: .duration)), at: .inMemory)
    let request = FetchRequest("Film", filter: try Filter(parsing: predicate))
    let error = #expect(throws: StoreError.self) { try stack.main.fetch(request) }
    #expect(error?.code == .badRequest)
    #expect(error?.message.contains("a duration") == true)
  }

  @Test(
    "Limits of what has no order are faults of the model",
    arguments: [AttributeType.duration, .bool]
  )
  func limits(type: AttributeType) {
    let value: StoredValue = type == .bool ? 1 : "P1D"
    let faults = Self.model(Attribute(name: "x", type: type, rules: AttributeRules(maximum: value)))
      .validate()
    #expect(faults.map(\.message) == ["A limit wants an order, and a \(type) has none."])
  }
}
