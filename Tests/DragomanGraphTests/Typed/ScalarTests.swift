import Foundation
import TestSupport
import Testing

@testable import DragomanGraph

/// Every type of property, into the file and back.
@MainActor @Suite struct ScalarTests {
  private let stack: Stack

  init() throws { stack = try Stack(everythingModel, at: .inMemory) }

  /// Values at the ends of their types.
  private nonisolated static let extremes: [Everything] = {
    var low = Everything(1)
    low.flag = true
    low.lasts = CalendarDuration(months: -14, days: -1, microseconds: -1)
    low.took = .microseconds(-1)
    low.int8 = .min
    low.int16 = .min
    low.int32 = .min
    low.int64 = .min
    low.float = -.greatestFiniteMagnitude
    low.double = -.greatestFiniteMagnitude
    low.decimal = Decimal(string: "-99999999999999999999999999999999999999") ?? 0
    low.instant = Date(timeIntervalSince1970: -62_167_219_200)
    low.day = Date(timeIntervalSince1970: -62_167_219_200)
    low.text = "e\u{301} \u{0} \"quoted\"\n"
    low.words = ["", "a\"b\\c", "\u{1}\u{1F600}", "null"]
    low.numbers = [.min, 0, .max]
    low.prices = [Decimal(string: "0.1") ?? 0, Decimal(string: "-12345678901234567890.5") ?? 0]
    low.holes = [nil, 0.1, -1e300, nil]
    low.address = Address(street: "Rue de l'Été 1", city: nil)
    low.color = Color(red: 255, green: 1)
    low.maybeColor = Color(red: 0, green: 2)
    low.foreign = JSON(["é": 1, "b": 2])
    var high = Everything(.max)
    high.int8 = .max
    high.int16 = .max
    high.int32 = .max
    high.int64 = .max
    high.uint8 = .max
    high.uint16 = .max
    high.uint32 = .max
    high.uint64 = UInt64(Int64.max)
    high.uint = UInt(Int64.max)
    high.float = .leastNonzeroMagnitude
    high.double = .infinity
    high.decimal = Decimal(string: "0.000000000000000000000000000000000001") ?? 0
    high.instant = Date(timeIntervalSince1970: 1_793_607_330.25)
    high.day = Date(timeIntervalSince1970: 951_782_400)
    high.data = Data([0, 255, 10])
    high.bytes = [0, 1, 255]
    high.uuid = UUID()
    high.lasts = CalendarDuration(microseconds: .max)
    high.took = .microseconds(Int64.max)
    high.url = URL(string: "https://example.com/a%20b?q=1#f") ?? high.url
    high.kind = .sedan
    high.level = .high
    high.maybe = -7
    high.maybeKind = .sedan
    return [Everything(0), low, high]
  }()

  @Test("Every type comes back as it was saved", arguments: extremes)
  func roundTrip(value: Everything) throws {
    var saved = value
    let id = try stack.main.save(&saved)
    #expect(saved.objectID == id)
    var expected = value
    expected.objectID = id
    #expect(try stack.main.query(Everything.self) == [expected])
    #expect(try stack.main.live(Everything.self, with: id)?.value == expected)
    #expect(try Everything(value.detached()) == value)
  }

  @Test(
    "A URL that an import would refuse is refused",
    arguments: ["docs/index.html", "", "http://a b", "http:", "www.example.org"]
  )
  func urls(text: String) async throws {
    let main = stack.main
    let id = try main.save(Everything(1))
    let object = try main.object(with: id)
    let error = contextError { try object.setValue(.text(text), of: "url") }
    #expect(error?.code == .type)
    #expect(
      error?.description.hasSuffix(
        "cannot be \(StoredValue.text(text).summary). (a url is absolute: https://example.org/a)"
      ) == true
    )
    object["url"] = "https://example.org/\u{F8}"
    try main.save()
    guard let url = URL(string: text), url.absoluteString == text else { return }
    var value = Everything(1)
    value.url = url
    let refused = #expect(throws: ValueError.self) { try main.save(value) }
    #expect(refused?.description.contains("an absolute URL") == true)
    #expect(try stack.sql("SELECT url FROM Everything") == ["https://example.org/\u{F8}"])
  }

  @Test("Bulk and single saves write the same rows")
  func sameRows() async throws {
    let other = try Stack(everythingModel, at: .inMemory)
    try stack.main.saveAll(Self.extremes)
    for value in Self.extremes { try other.main.save(value) }
    let columns = everythingModel.entities[0].attributes.map { "\"\($0.name)\"" }
    let sql = "SELECT _v, \(columns.joined(separator: ", ")) FROM Everything ORDER BY key"
    #expect(try stack.sql(sql) == other.sql(sql))
    #expect(try stack.sql("SELECT count(*) FROM Everything") == ["3"])
  }

  @Test("The columns hold what docs/file.md says")
  func columns() throws {
    var value = Everything(1)
    value.instant = Date(timeIntervalSince1970: 1_793_607_330.25)
    value.day = Date(timeIntervalSince1970: 951_782_400)
    value.decimal = Decimal(string: "12.50") ?? 0
    value.words = ["b", "a"]
    value.numbers = [10, 9]
    value.prices = [Decimal(string: "0.10") ?? 0]
    value.holes = [nil, 1.5]
    value.address = Address(street: "a", city: "b/c")
    try stack.main.save(value)
    let names =
      "instant, day, decimal, uuid, url, kind, level, words, numbers, prices, holes, address"
    let rows = try stack.sql("SELECT \(names), color, maybeColor FROM Everything")
    #expect(
      rows == [
        [
          "2026-11-02 08:15:30.25", "2000-02-29", "12.5", "00010203-0405-0607-0809-0a0b0c0d0e0f",
          "file:///", "pickup", "1", #"["b","a"]"#, "[10,9]", #"["0.1"]"#, "[null,1.5]",
          #"{"city":"b/c","street":"a"}"#, "0/0", "-",
        ].joined(separator: "|").replacing("\"", with: "\\")
      ]
    )
  }

  @Test(
    "What does not fit is an error that names entity, attribute, expected and found",
    arguments: [
      ("int8", "300", "Everything.int8 takes an integer that Int8 holds; found 300"),
      ("uint8", "-1", "Everything.uint8 takes an integer that UInt8 holds; found -1"),
      ("int16", "'x'", "Everything.int16 takes an integer (Int16); found the text \"x\""),
      ("int64", "1.5", "Everything.int64 takes an integer (Int64); found the number 1.5"),
      ("flag", "2", "Everything.flag takes true or false; found the integer 2"),
      ("float", "0.1", "Everything.float takes a number that Float holds; found 0.1"),
      ("double", "'one'", "Everything.double takes a number (Double); found"),
      (
        "decimal", "'123456789012345678901234567890123456789.5'",
        "Everything.decimal takes a decimal of at most 38 digits; found 1234567890"
      ),
      ("decimal", "'abc'", "Everything.decimal takes a decimal; found the text \"abc\""),
      ("instant", "'2026-02-30 00:00:00'", "Everything.instant takes a date; found the text"),
      ("lasts", "'1 day'", "Everything.lasts takes a duration; found the text \"1 day\""),
      ("took", "'P1D'", "Everything.took takes a duration without months and days; found P1D"),
      ("uuid", "'no'", "Everything.uuid takes a UUID; found the text \"no\""),
      ("kind", "'truck'", "Everything.kind takes a raw value of Kind; found the text \"truck\""),
      ("level", "3", "Everything.level takes a raw value of Level; found the integer 3"),
      ("text", "NULL", "Everything.text takes a text (String); found null"),
      ("maybe", "'seven'", "Everything.maybe takes an integer (Int); found"),
      ("maybe", "x'07'", "Everything.maybe takes an integer (Int); found 1 byte"),
      ("maybeKind", "''", "Everything.maybeKind takes a raw value of Kind; found the text \"\""),
      ("words", "'[\"a\"'", "Everything.words takes a JSON array; found the text \"[\"a\"\""),
      ("words", "'{}'", "Everything.words takes a JSON array; found the text \"{}\""),
      (
        "numbers", "'[1, \"2\"]'", "Everything.numbers takes an integer (Int); found the text \"2\""
      ),
      ("words", "'[\"a\",1]'", "Everything.words takes a string; found the JSON 1"),
      ("words", "'[\"a\",[2]]'", "Everything.words takes a string; found the JSON [2]"),
      ("words", "'[true]'", "Everything.words takes a string; found the JSON true"),
      ("numbers", "'[true]'", "Everything.numbers takes an int64; found the JSON true"),
      ("numbers", "'[{}]'", "Everything.numbers takes an int64; found the JSON {}"),
      ("prices", "'[[1]]'", "Everything.prices takes a decimal; found the JSON [1]"),
      ("holes", "'[false]'", "Everything.holes takes a double; found the JSON false"),
      ("address", "'{\"city\":1}'", "Everything.address takes JSON of Address; found the text"),
      ("address", "'{\"city\":\"x\"}'", "\"{\"city\":\"x\"}\", where \"street\" is missing"),
      (
        "address", "'{\"street\":\"x\",\"city\":1}'",
        "1}\", where \"city\" is no String"
      ),
    ]
  )
  func misfits(column: String, literal: String, message: String) throws {
    let id = try stack.main.save(Everything(1))
    try stack.execute("UPDATE Everything SET \"\(column)\" = \(literal)")
    let error = valueError { try stack.main.query(Everything.self) }
    #expect(error?.description.contains(message) == true, "\(String(describing: error))")
    #expect(error?.entity == "Everything" && error?.property == column && error?.object == id)
  }

  @Test("A list of flags holds no numbers")
  func flags() throws {
    let read = { (text: String) in
      try StoredValue.text(text).withColumn { try [Bool](unboxing: $0) }
    }
    #expect(try read("[true, false]") == [true, false])
    #expect(throws: ValueMismatch.self) { try read("[1]") }
    #expect(throws: ValueMismatch.self) { try read(#"["true"]"#) }
  }

  @Test(
    "Decimals around the ends of 64-bit integers come back exactly",
    arguments: [
      "9300000000000000000", "-9300000000000000000", "9223372036854775807", "9223372036854775808",
      "-9223372036854775808", "-9223372036854775809", "9999999999999999999",
      "-9999999999999999999", "999999999999999999", "-999999999999999999", "1000000000000000000",
      "99999999999999999.9", "0.99999999999999999", "-0.9999999999999999",
    ]
  )
  func longDecimals(text: String) throws {
    let decimal = try StoredValue.text(text).withColumn { try Decimal(unboxing: $0) }
    #expect(decimal == Decimal(string: text))
    #expect(try decimal.stored(as: Attribute(name: "a", type: .decimal)) == .text(text))
  }

  @Test("A failure of a declared function comes through")
  func transform() throws {
    try stack.main.save(Everything(1))
    try stack.execute("UPDATE Everything SET color = 'red'")
    #expect(throws: UnknownColor.self) { try stack.main.query(Everything.self) }
  }

  @Test("What the attribute cannot hold is refused, and nothing is cut")
  func refused() throws {
    func refusal(_ change: (inout Everything) -> Void) -> String? {
      var value = Everything(1)
      change(&value)
      return valueError { try stack.main.save(value) }?.message
    }
    #expect(
      refusal { $0.uint64 = UInt64(Int64.max) + 1 }
        == "Everything.uint64 takes a 64-bit integer; found 9223372036854775808."
    )
    #expect(refusal { $0.double = .nan } == "Everything.double takes a number; found NaN.")
    #expect(refusal { $0.decimal = .nan }?.contains("Everything.decimal takes") == true)
    #expect(
      refusal { $0.day = Date(timeIntervalSince1970: 1) }?.contains("midnight in UTC") == true
    )
    #expect(
      refusal { $0.instant = .distantFuture.addingTimeInterval(1e12) }?.contains("years 0 to 9999")
        == true
    )
    #expect(refusal { $0.holes = [.infinity] }?.contains("a finite number") == true)
    #expect(try stack.main.count(Everything.self) == 0)
  }

  @Test("Instants keep their microseconds, and clocks' finer parts are rounded")
  func microseconds() throws {
    let seed = Seeds.seed()
    var generator = SplitMix(state: seed)
    for _ in 0..<500 {
      let text = TimestampText.text(
        Double(Int64.random(in: -3_000_000_000_000_000...3_000_000_000_000_000, using: &generator)),
        dayOnly: false
      )
      let stored = try #require(text)
      let date = try StoredValue.text(stored).withColumn { try Date(unboxing: $0) }
      #expect(
        try date.stored(as: Attribute(name: "a", type: .timestamp)) == .text(stored),
        "seed \(seed)"
      )
      #expect(CivilText.timestamp(stored) == stored, "seed \(seed)")
    }
    let now = Date(timeIntervalSince1970: 1_793_607_330.123_456_7)
    #expect(
      try now.stored(as: Attribute(name: "a", type: .timestamp)) == "2026-11-02 08:15:30.123457"
    )
  }

  @Test(
    "A negative zero is stored as 0, by whatever way it comes",
    arguments: [AttributeType.double, .float]
  )
  func negativeZero(type: AttributeType) throws {
    let attribute = Attribute(name: "a", type: type)
    let stored = try (-0.0).stored(as: attribute)
    let value = try type == .double ? stored : Float(-0.0).stored(as: attribute)
    #expect(stored.real?.sign == .plus && value.real?.sign == .plus)
    #expect(attribute.admitted(.real(-0.0))?.real?.sign == .plus)
    // A small number becomes 0 as a float.
    #expect(type == .double || attribute.admitted(.real(-1e-50))?.real?.sign == .plus)
    #expect(try ServerType.real.bytes(.real(-0.0)) == Array("0.0".utf8))
  }
}
