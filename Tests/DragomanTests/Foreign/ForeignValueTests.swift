import Foundation
import Testing

@testable import Dragoman

@Suite struct ForeignValueTests {
  @Test("Literals keep the order of their members")
  func literals() {
    let value: ForeignValue = ["b": 1, "a": [nil, true, 1.5, "x"], "c": ["d": -2]]
    #expect(value.json == #"{"b":1,"a":[null,true,1.5,"x"],"c":{"d":-2}}"#)
    #expect(value["a"]?[3] == "x")
    #expect(value["a"]?[4] == nil)
    #expect(value["c"]?["d"]?.int64 == -2)
    #expect(value["e"] == nil)
  }

  @Test("Setting a member replaces it in its place, appends it, or removes it")
  func members() {
    var record: ForeignRecord = ["a": 1, "b": 2]
    record["a"] = "new"
    record["c"] = .null
    #expect(record.description == #"{"a":"new","b":2,"c":null}"#)
    record["b"] = nil
    #expect(record.keys == ["a", "c"])
    #expect(record["b"] == nil)
    #expect(record["c"] == .null)
  }

  @Test("Strings and names compare by their bytes, NaN equals itself")
  func equality() {
    let composed: ForeignValue = "caf\u{E9}"
    let decomposed: ForeignValue = "cafe\u{301}"
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed, "caf\u{E9}"]).count == 2)
    let record: ForeignRecord = ["\u{E9}": 1]
    #expect(record["e\u{301}"] == nil)
    #expect(record != ["e\u{301}": 1])
    #expect(ForeignValue.double(.nan) == .double(.nan))
    #expect(Set([ForeignValue.double(.nan), .double(.nan), .double(0), .double(-0.0)]).count == 2)
    #expect(ForeignValue.integer(1) != .double(1))
  }

  @Test(
    "JSON comes in without loss, and out as it was",
    arguments: [
      "null", "true", "0", "-9223372036854775808", "9223372036854775808", "1.0", "1e400", "-0",
      "0.1000000000000000055511151231257827", #""a\u0000\"é""#, "[]", "{}",
      #"{"a":{"b":[1,{"c":null}]},"a":2,"":""}"#,
    ]
  )
  func json(text: String) throws {
    #expect(try ForeignValue(json: text).json == text)
  }

  @Test("Whole numbers of 64 bits are integers, other numbers keep their digits")
  func numbers() throws {
    let value = try ForeignValue(json: "[7,7.0,7e0,7.5,9223372036854775808,-0,1e400,\"7\"]")
    #expect(
      value == [
        7, .number("7.0"), .number("7e0"), .number("7.5"), .unsigned(9_223_372_036_854_775_808),
        .number("-0"), .number("1e400"), "7",
      ]
    )
    #expect(value.array?.map(\.int64) == [7, 7, 7, nil, nil, 0, nil, nil])
    #expect(value.array?.map(\.double) == [7, 7, 7, 7.5, 9.223372036854775808e18, 0, nil, nil])
  }

  @Test(
    "Text that is not JSON, or no object, is refused",
    arguments: [
      ("", "json.syntax"), ("{", "input.truncated"), ("[1,]", "json.syntax"),
      ("1 2", "json.syntax"),
      ("[1]", "json.syntax"), ("nul", "json.syntax"),
    ]
  )
  func faults(text: String, code: String) {
    let error = #expect(throws: ReadError.self) { try ForeignRecord(json: text) }
    #expect(error?.code.rawValue == code)
  }

  @Test("Swift values are taken over by their type, never by their look")
  func any() throws {
    let date = Date(timeIntervalSince1970: 1_700_000_000.123456)
    let uuid = try #require(UUID(uuidString: "0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0"))
    let url = try #require(URL(string: "https://example.org/ä"))
    let values: [(Any, ForeignValue)] = [
      (true, true), (1, 1), (0, 0), (Int8(-1), -1), (UInt64.max, .number("18446744073709551615")),
      (1.5, 1.5), (1.0, 1.0), (Float(0.1), .number("0.1")), (Float.infinity, .double(.infinity)),
      (CGFloat(0.1), 0.1),
      (Decimal(string: "12345678901234567890.05") as Any, .number("12345678901234567890.05")),
      ("x", "x"), (Substring("y"), "y"), ("2024-01-01", "2024-01-01"), (NSNull(), nil),
      (Int?.none as Any, nil), (Int?.some(3) as Any, 3), (Int??.some(.none) as Any, nil),
      (Data([1, 2]), .data([1, 2])), ([UInt8(3)], .data([3])), (date, .date(date)),
      (uuid, "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"), (url, .string(url.absoluteString)),
      ([1, nil, 3] as [Int?], [1, nil, 3]), ([UInt8](), .data([])),
      // What can be cast to bytes is a list all the same.
      ([Int](), []), ([Any](), []), ([1, 2], [1, 2]), ([true], [true]), (NSArray(), []),
      (NSArray(array: [1]), [1]), ([NSNumber(value: 255)], [255]),
      (["b": 1, "a": [true]] as [String: Any], ["a": [true], "b": 1]),
      (["k": nil] as [String: Int?], ["k": nil]), (ForeignValue.integer(5), 5),
      (NSNumber(value: true), true), (NSNumber(value: 1), 1), (NSNumber(value: 1.5), 1.5),
      (NSDecimalNumber(string: "0.10"), .number("0.1")), ([1, 2, 3][1...], [2, 3]),
      (ContiguousArray(["a"]), ["a"]), (Word.a, "word"), ([Word.a], ["word"]),
    ]
    for (value, wanted) in values {
      let taken = try ForeignValue(any: value)
      #expect(taken == wanted, "\(type(of: value)) \(value)")
    }
  }

  private enum Word: String { case a = "word" }

  @Test("Values go back to Swift's own types, and come from there again")
  func back() throws {
    let record: ForeignRecord = [
      "a": nil, "b": true, "c": 7, "d": 0.5, "e": .number("12345678901234567890.05"), "f": "x",
      "g": .data([1]), "h": .instant(ForeignInstant(seconds: 5)), "i": [1, ["k": "v"]],
    ]
    let dictionary = record.dictionary
    #expect(dictionary["c"] as? Int == 7 && dictionary["f"] as? String == "x")
    #expect(try ForeignRecord(dictionary: dictionary) == record)
    #expect(try ForeignValue(any: ForeignValue.number("1e300").any) == 1e300)
  }

  @Test("What JSONSerialization makes is taken with its booleans")
  func serialization() throws {
    let text =
      #"{"a":true,"b":false,"c":1,"d":0,"e":1.5,"f":null,"g":["x",{"h":-1}],"i":[[],[1,2],[true]]}"#
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
    let dictionary = try #require(object as? [String: Any])
    #expect(
      try ForeignRecord(dictionary: dictionary) == [
        "a": true, "b": false, "c": 1, "d": 0, "e": 1.5, "f": nil, "g": ["x", ["h": -1]],
        "i": [[], [1, 2], [true]],
      ]
    )
  }

  @Test("What no record can hold is named by its path")
  func unknown() {
    struct Point {}
    let error = #expect(throws: ReadError.self) {
      try ForeignValue.records([["id": 1], ["id": 2, "at": ["home": [1, Point()]]]])
    }
    #expect(error?.code == .value)
    #expect(error?.message.hasPrefix("The value at [1].at.home[1] is of type Point") == true)
    var deep: Any = 1
    for depth in 0..<8000 { deep = depth % 2 == 0 ? [deep] : ["a": deep] as [String: Any] }
    let limit = #expect(throws: ReadError.self) { try ForeignValue(any: deep) }
    #expect(limit?.code == .limit)
    let set = #expect(throws: ReadError.self) { try ForeignValue(any: ["a": Set([1])]) }
    #expect(set?.help?.contains("Array(…)") == true)
  }

  @Test(
    "An instant is the nearest microsecond, whatever binary fraction a Date is",
    arguments: [
      (0, "1970-01-01 00:00:00"), (1_700_000_000.123456, "2023-11-14 22:13:20.123456"),
      (1_700_000_000.999999, "2023-11-14 22:13:20.999999"),
      (-0.000001, "1969-12-31 23:59:59.999999"),
      (1_700_000_000.9999999, "2023-11-14 22:13:21"), (-62_167_219_200, "0000-01-01 00:00:00"),
      (253_402_300_800, "253402300800 seconds since 1970"),
      (.infinity, "9223372036854775807 seconds since 1970"),
      (-1e300, "-9223372036854775808 seconds since 1970"),
      (.nan, "9223372036854775807 seconds since 1970"),
    ] as [(Double, String)]
  )
  func instants(seconds: Double, text: String) {
    let instant = ForeignInstant(Date(timeIntervalSince1970: seconds))
    #expect(instant.description == text)
  }

  @Test("Microseconds carry over into seconds, in both directions")
  func carry() {
    #expect(
      ForeignInstant(seconds: 1, microsecond: -1)
        == ForeignInstant(seconds: 0, microsecond: 999_999)
    )
    #expect(
      ForeignInstant(seconds: 1, microsecond: 2_000_001)
        == ForeignInstant(seconds: 3, microsecond: 1)
    )
    #expect(ForeignInstant(seconds: 1, microsecond: -2_000_000).seconds == -1)
    #expect(ForeignInstant(seconds: .max, microsecond: 1_000_000).seconds == .max)
    #expect(
      ForeignInstant(seconds: 0, microsecond: 500_000).date == Date(timeIntervalSince1970: 0.5)
    )
  }

  @Test("JSON has no dates, bytes or NaN: they are written as strings")
  func foreignToJSON() {
    let value: ForeignValue = [
      .instant(ForeignInstant(seconds: 1, microsecond: 5)), .data([0, 255]), .double(.nan),
      .double(-.infinity), .number("1,5"), .instant(ForeignInstant(seconds: .max)),
    ]
    #expect(
      value.json
        == #"["1970-01-01T00:00:01.000005Z","AP8=","nan","-inf","1,5","9223372036854775807"]"#
    )
  }
}
