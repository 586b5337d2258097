import DragomanGraph
import Foundation
import TestSupport

@testable import Dragoman

/// What a record says of one attribute.
enum SampleField: Hashable {
  case missing
  case null
  /// A value, as the store must hold it.
  case value(StoredValue)
  /// A value that the attribute does not take, and the issue that says so.
  case invalid(String)
}

/// A record, as an import gets it and as the naive import does.
struct SampleRecord: Hashable {
  enum Content: Hashable {
    case fields([SampleField], isTombstone: Bool)
    /// No record at all.
    case malformed
  }

  var foreign: ForeignValue
  var content: Content

  /// A random record of a scheme; keys are from a small pool, so that they meet.
  static func random(_ scheme: ImportScheme, _ random: inout SplitMix) -> SampleRecord {
    if random.chance(3) {
      let values: [ForeignValue] = [nil, 7, "text", [["k0": "a"]], true, .data([1])]
      return SampleRecord(
        foreign: values.randomElement(using: &random) ?? nil,
        content: .malformed
      )
    }
    var members: [ForeignRecord.Member] = []
    var nested: [ForeignRecord.Member] = []
    // A nested member that is missing, null or no record decides for all that stand in it.
    let inner: SampleField? =
      random.chance(92)
      ? nil : [.missing, .null, .invalid("value.path")].randomElement(using: &random)
    var fields: [SampleField] = []
    for (index, line) in scheme.lines.enumerated() {
      if line.isNested, let inner {
        fields.append(inner)
        continue
      }
      let isKey = scheme.uniqueKeys.contains { $0.contains(index) }
      let sample = SampleValue.random(line.attribute, isKey: isKey, &random)
      fields.append(sample.field)
      for value in sample.values {
        let member = ForeignRecord.Member(key: line.attribute.name, value: value)
        if line.isNested { nested.append(member) } else { members.append(member) }
      }
    }
    switch inner {
    case nil
    where scheme.lines.contains(where: \.isNested) && (!nested.isEmpty || random.chance(50)):
      members.append(.init(key: "in", value: .object(ForeignRecord(nested))))
    case .null: members.append(.init(key: "in", value: nil))
    case .invalid: members.append(.init(key: "in", value: "scalar"))
    default: break
    }
    var isTombstone = false
    if scheme.hasTombstones, random.chance(25) {
      isTombstone = random.chance(80)
      members.append(.init(key: "gone", value: isTombstone ? true : "no"))
    }
    members.append(.init(key: "unmapped", value: 1))
    members.shuffle(using: &random)
    return SampleRecord(
      foreign: .object(ForeignRecord(members)),
      content: .fields(fields, isTombstone: isTombstone)
    )
  }
}

/// Values of every type with what they must become: the only conversions that the naive import
/// knows.
struct SampleValue {
  /// The members of that name: usually one.
  var values: [ForeignValue]
  var field: SampleField

  static func random(
    _ attribute: Attribute,
    isKey: Bool,
    _ random: inout SplitMix
  ) -> SampleValue {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<(isKey ? 2 : 12): return SampleValue(values: [], field: .missing)
    case 15..<(isKey ? 17 : 23): return SampleValue(values: [nil], field: .null)
    case 30..<(isKey ? 32 : 36):
      if random.chance(10) {
        return SampleValue(values: [1, 2], field: .invalid("value.repeated"))
      }
      if let (value, code) = invalid(attribute).randomElement(using: &random) {
        return SampleValue(values: [value], field: .invalid(code))
      }
    default: break
    }
    let pool = valid(attribute)
    guard let (value, stored) = (isKey ? pool.prefix(5) : pool[...]).randomElement(using: &random)
    else { return SampleValue(values: [], field: .missing) }
    return SampleValue(values: [value], field: .value(stored))
  }

  /// A default, as a map file writes it and as the store holds it.
  static func `default`(of attribute: Attribute) -> (String, StoredValue)? {
    switch attribute.type {
    case .string: ("dflt", .text("dflt"))
    case .int16, .int32, .int64: ("1", .integer(1))
    case .double, .float: ("0.5", .real(0.5))
    case .decimal: ("1.5", .text(attribute.rules.scale == 2 ? "1.50" : "1.5"))
    case .bool: ("true", .integer(1))
    case .date: ("2024-02-29", .text("2024-02-29"))
    case .timestamp: ("2024-02-29T13:00:00Z", .text("2024-02-29 13:00:00"))
    case .enum: ("b", .text("b"))
    case .time, .duration, .uuid, .url, .data, .json: nil
    }
  }

  private static func valid(_ attribute: Attribute) -> [(ForeignValue, StoredValue)] {
    switch attribute.type {
    case .string:
      [
        ("a", .text("a")), ("\u{E9}", .text("\u{E9}")), ("e\u{301}", .text("e\u{301}")),
        ("A", .text("A")), ("dflt", .text("dflt")), ("", .text("")), (" a ", .text(" a ")),
        ("2024-01-01", .text("2024-01-01")), ("a\u{0}b", .text("a\u{0}b")), ("1", .text("1")),
      ]
    case .int16:
      [
        (1, .integer(1)), (.number("1.0"), .integer(1)), (.double(2), .integer(2)),
        (0, .integer(0)), (-1, .integer(-1)), (.number("1e2"), .integer(100)),
        (32767, .integer(32767)), (-32768, .integer(-32768)),
      ]
    case .int32:
      [
        (1, .integer(1)), (.number("-2147483648"), .integer(-2_147_483_648)),
        (.double(7), .integer(7)),
      ]
    case .int64:
      [
        (1, .integer(1)), (.number("1.00"), .integer(1)), (.double(2), .integer(2)),
        (.number("9007199254740993"), .integer(9_007_199_254_740_993)),
        (.integer(.max), .integer(.max)), (.integer(.min), .integer(.min)), (3, .integer(3)),
      ]
    case .double:
      [
        (.double(0.1), .real(0.1)), (1, .real(1)), (.number("1e3"), .real(1000)), (0, .real(0)),
        (.double(-0.0), .real(0)), (.number("0.30000000000000004"), .real(0.30000000000000004)),
      ]
    case .float:
      [
        (.double(0.1), .real(Double(Float(0.1)))), (.number("16777217"), .real(16_777_216)),
        (.double(-2.5), .real(-2.5)),
      ]
    case .decimal:
      attribute.rules.scale == 2
        ? [
          (.number("1.5"), .text("1.50")), (.number("1.50"), .text("1.50")), (1, .text("1.00")),
          (.double(1.25), .text("1.25")), (-3, .text("-3.00")), (.number("0.1e1"), .text("1.00")),
        ]
        : [
          (.number("1.50"), .text("1.5")), (.double(1.5), .text("1.5")), (1, .text("1")),
          (.number("1.0"), .text("1")), (-12, .text("-12")), (.number("-0.0"), .text("0")),
          (
            .number("123456789012345678901234567890.1230"),
            .text("123456789012345678901234567890.123")
          ),
        ]
    case .bool: [(true, .integer(1)), (false, .integer(0)), (1, .integer(1)), (0, .integer(0))]
    case .timestamp:
      [
        ("2024-02-29T12:00:00+01:00", .text("2024-02-29 11:00:00")),
        ("2023-11-14T22:13:20.250Z", .text("2023-11-14 22:13:20.25")),
        ("2024-02-29T12:00:00", .text("2024-02-29 12:00:00")),
        (.date(Date(timeIntervalSince1970: 0.5)), .text("1970-01-01 00:00:00.5")),
      ]
    case .date:
      [
        ("2024-02-29", .text("2024-02-29")), ("1815-12-10", .text("1815-12-10")),
        ("9999-12-31", .text("9999-12-31")),
      ]
    case .time: [("07:30", .text("07:30:00")), ("12:30:00.500", .text("12:30:00.5"))]
    case .duration:
      [("P1W", .text("P7D")), ("PT90M", .text("PT1H30M")), ("-P14M", .text("-P1Y2M"))]
    case .uuid:
      [
        (
          "123E4567-E89B-12D3-A456-426614174000", .text("123e4567-e89b-12d3-a456-426614174000")
        ),
        (
          "123e4567-e89b-12d3-a456-426614174000", .text("123e4567-e89b-12d3-a456-426614174000")
        ),
        (
          "00000000-0000-0000-0000-000000000000", .text("00000000-0000-0000-0000-000000000000")
        ),
      ]
    case .url:
      [("https://e.no/a?b=c", .text("https://e.no/a?b=c")), ("http://e.no", .text("http://e.no"))]
    case .data:
      [("AQID", .blob([1, 2, 3])), (.data([0, 255]), .blob([0, 255])), (.data([]), .blob([]))]
    case .json:
      [
        (1, .text("1")), ("x", .text("\"x\"")), (true, .text("true")), ([], .text("[]")),
        (["a": [1, nil, ["b": false]]], .text(#"{"a":[1,null,{"b":false}]}"#)),
      ]
    case .enum: [("a", .text("a")), ("b", .text("b"))]
    }
  }

  private static func invalid(_ attribute: Attribute) -> [(ForeignValue, String)] {
    switch attribute.type {
    case .string: [(1, "value.type"), (["a": 1], "value.type"), (true, "value.type")]
    case .int16: [(40_000, "value.range"), (.number("1.5"), "value.number"), ("36", "value.type")]
    case .int32: [(.number("2147483648"), "value.range"), (true, "value.type")]
    case .int64: [(.number("9223372036854775808"), "value.range"), (.double(0.5), "value.number")]
    case .double:
      [("1", "value.type"), (.double(.nan), "value.number"), (.number("1e999"), "value.range")]
    case .float: [(.number("1e40"), "value.range"), ([1], "value.type")]
    case .decimal:
      [(.double(.infinity), "value.number"), ("1", "value.type")]
        + (attribute.rules.scale == 2 ? [(.number("1.234"), "value.number")] : [])
    case .bool: [(2, "value.boolean"), ("true", "value.boolean")]
    case .timestamp: [("2024-02-30T00:00:00Z", "value.date"), (["a": 1], "value.type")]
    case .date: [("x", "value.date"), ("2024-02-30", "value.date")]
    case .time: [("25:00", "value.date")]
    case .duration: [("P", "value.text"), (60, "value.type")]
    case .uuid: [("x", "value.text"), (1, "value.type")]
    case .url: [("x y", "value.text")]
    case .data: [(1, "value.type"), ("!", "value.text")]
    case .json: [(.double(.nan), "value.number"), ([.double(.infinity)], "value.number")]
    case .enum: [("c", "value.word"), (["a": 1], "value.type")]
    }
  }
}
