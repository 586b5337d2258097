import CSimdJSON
import Foundation

extension ForeignValue {
  /// Takes a Swift value over, with all that it holds.
  ///
  /// Taken are `nil` and `NSNull`, `Bool`, integers of every size, `Double`, `CGFloat`, `Float`, `Decimal`,
  /// `NSNumber`, strings, `Data`, `Date`, `UUID` and `URL` (as their text), arrays and
  /// dictionaries with string keys of all of these, enumerations by their raw value, and foreign values themselves. So
  /// the result of `JSONSerialization` is taken. A `Float` is taken by its shortest decimal digits. An array whose type
  /// is `[UInt8]` is bytes; one of another type is a list, whatever it holds. A set has no order: give an array of it.
  ///
  /// - Parameter value: The value.
  /// - Throws: `.value`, naming the path of what no record can hold; `.limit` where nesting is too
  ///   deep.
  public init(any value: Any) throws(ReadError) {
    self = try ForeignValueTaker.take(value, at: "", depth: 0)
  }

  /// Takes an array of dictionaries over, as records to import.
  ///
  /// - Throws: `.value`, naming the path of what no record can hold: `[3].address.at`.
  public static func records(_ values: [Any]) throws(ReadError) -> [ForeignValue] {
    guard case .array(let records) = try ForeignValue(any: values) else { return [] }
    return records
  }
}

extension ForeignRecord {
  /// Takes a dictionary over, with all that it holds; see `ForeignValue.init(any:)`.
  ///
  /// A Swift dictionary has no order: the members are sorted by the bytes of their names.
  /// - Throws: `.value`, naming the path of what no record can hold.
  public init(dictionary: [String: Any]) throws(ReadError) {
    self = try ForeignValueTaker.record(dictionary, at: "", depth: 0)
  }
}

extension ForeignValue {
  /// The value as Swift and `JSONSerialization` have it: `NSNull`, `Bool`, `Int`, `Double`, `Decimal`, `String`, `Data`,
  /// `Date`, an array or a dictionary of these.
  ///
  /// `.number` is a `Decimal` where that holds all of its digits, else the nearest `Double`. Bytes, dates, NaN and
  /// infinity are nothing that JSON has. `ForeignValue(any:)` takes it back.
  public var any: Any {
    switch self {
    case .null: NSNull()
    case .bool(let value): value
    case .integer(let value): Int(value)
    case .double(let value): value
    case .number(let digits): Self.number(digits)
    case .string(let text): text
    case .data(let bytes): Data(bytes)
    case .instant(let instant): instant.date
    case .array(let values): values.map(\.any)
    case .object(let record): record.dictionary
    }
  }

  private static func number(_ digits: String) -> Any {
    // `Decimal` cuts off what it does not hold: 38 digits it always does.
    let significand = digits.prefix { $0 != "e" && $0 != "E" }
    if significand.count(where: \.isNumber) <= 38, let decimal = Decimal(string: digits),
      !decimal.isNaN
    {
      return decimal
    }
    return ForeignValue.number(digits).double ?? .nan
  }
}

extension ForeignRecord {
  /// The members as Swift and `JSONSerialization` have them (`ForeignValue.any`).
  ///
  /// Of members whose names are equal for Swift it has the first.
  public var dictionary: [String: Any] {
    Dictionary(members.map { ($0.key, $0.value.any) }) { first, _ in first }
  }
}

/// Lets an optional in an `Any` be asked what it holds, whatever its type.
private protocol AnyOptional {
  var wrapped: Any? { get }
}

extension Optional: AnyOptional {
  fileprivate var wrapped: Any? { self }
}

private enum ForeignValueTaker {
  static func take(_ value: Any, at path: String, depth: Int) throws(ReadError) -> ForeignValue {
    guard depth <= Int(JSON_MAX_DEPTH) else {
      throw ReadError(.limit, "The value is nested deeper than \(JSON_MAX_DEPTH) levels.")
    }
    // Before the numbers: a bridged NSNumber passes as any of them.
    if type(of: value) is NSNumber.Type, let number = value as? NSNumber {
      return take(number)
    }
    // By its type: every empty array, and one of small numbers, can be cast to it.
    if type(of: value) == [UInt8].self, let bytes = value as? [UInt8] { return .data(bytes) }
    switch value {
    case let optional as any AnyOptional:
      guard let wrapped = optional.wrapped else { return .null }
      return try take(wrapped, at: path, depth: depth + 1)
    case let value as ForeignValue: return value
    case let record as ForeignRecord: return .object(record)
    // By its type, too: the question whether a list is one goes through all that it holds.
    case _ where type(of: value) == NSNull.self: return .null
    case let text as String: return .string(text)
    case let text as Substring: return .string(String(text))
    case let flag as Bool: return .bool(flag)
    case let number as Double: return .double(number)
    case let number as CGFloat: return .double(Double(number))
    case let number as Float:
      return number.isFinite ? .number(number.description) : .double(Double(number))
    case let number as any BinaryInteger:
      return Int64(exactly: number).map { .integer($0) } ?? .number("\(number)")
    case let number as Decimal:
      return number.isNaN ? .double(.nan) : .number(number.description)
    case let date as Date: return .date(date)
    case let bytes as Data: return .data(Array(bytes))
    case let uuid as UUID: return .string(uuid.uuidString.lowercased())
    case let url as URL: return .string(url.absoluteString)
    case let dictionary as [String: Any]:
      return .object(try record(dictionary, at: path, depth: depth))
    case let elements as [Any]: return .array(try list(elements, at: path, depth: depth))
    case let slice as any RangeReplaceableCollection:
      return .array(try list(elements(of: slice), at: path, depth: depth))
    case let named as any RawRepresentable:
      return try take(named.rawValue, at: path, depth: depth + 1)
    default:
      throw ReadError(
        .value,
        "The value\(path.isEmpty ? "" : " at \(path)") is of type \(type(of: value)), which no"
          + " foreign record can hold.",
        help:
          "give a string, a number, a Bool, a Date, Data, nil, an Array (of a set: Array(…)) or a"
          + " dictionary with string keys in its place"
      )
    }
  }

  private static func list(
    _ elements: [Any],
    at path: String,
    depth: Int
  ) throws(ReadError) -> [ForeignValue] {
    var values: [ForeignValue] = []
    values.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      values.append(try take(element, at: "\(path)[\(index)]", depth: depth + 1))
    }
    return values
  }

  /// What a slice, or another list that is no `Array`, holds.
  private static func elements(of list: some RangeReplaceableCollection) -> [Any] { Array(list) }

  static func record(
    _ dictionary: [String: Any],
    at path: String,
    depth: Int
  ) throws(ReadError) -> ForeignRecord {
    var members: [ForeignRecord.Member] = []
    members.reserveCapacity(dictionary.count)
    let sorted = dictionary.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    for (key, value) in sorted {
      let place = path.isEmpty ? key : "\(path).\(key)"
      members.append(.init(key: key, value: try take(value, at: place, depth: depth + 1)))
    }
    return ForeignRecord(members)
  }

  private static func take(_ number: NSNumber) -> ForeignValue {
    if let decimal = number as? NSDecimalNumber {
      return decimal.decimalValue.isNaN ? .double(.nan) : .number(decimal.decimalValue.description)
    }
    // NSNumber's booleans are two objects of their own.
    if number === NSNumber(value: true) { return .bool(true) }
    if number === NSNumber(value: false) { return .bool(false) }
    switch String(cString: number.objCType) {
    case "f": return .number(number.floatValue.description)
    case "d": return .double(number.doubleValue)
    case "Q": return .unsigned(number.uint64Value)
    default: return .integer(number.int64Value)
    }
  }
}
