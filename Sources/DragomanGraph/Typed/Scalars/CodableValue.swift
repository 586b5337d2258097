import Foundation

extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
  /// The type of the raw value; `enum` for strings.
  public static var attributeType: AttributeType {
    RawValue.attributeType == .string ? .enum : RawValue.attributeType
  }

  /// As the raw value.
  public static func admits(_ type: AttributeType) -> Bool { RawValue.admits(type) }

  /// Unboxes the case of a raw value.
  public init(unboxing value: ColumnValue) throws {
    guard let known = Self(rawValue: try RawValue(unboxing: value)) else {
      throw ValueMismatch(expected: "a raw value of \(Self.self)", beyond: value.summary)
    }
    self = known
  }

  /// Boxes the raw value.
  public func box(into column: inout BoxingColumn) throws { try rawValue.box(into: &column) }
}

extension AttributeValue where Self: RawRepresentable & CaseIterable, RawValue == String {
  /// The raw values of all cases.
  public static var allowedValues: [String]? { allCases.map(\.rawValue) }
}

/// A `Codable` type that an attribute holds as JSON.
///
///     struct Address: CodableValue {
///       var street: String
///       var city: String
///     }
///
/// In a `data` attribute it is the bytes of the same JSON.
public protocol CodableValue: AttributeValue, Codable {}

extension CodableValue {
  /// `json`.
  public static var attributeType: AttributeType { .json }

  /// `json` and `data`.
  public static func admits(_ type: AttributeType) -> Bool { type == .json || type == .data }

  /// Decodes JSON.
  public init(unboxing value: ColumnValue) throws {
    let data: Data
    switch value {
    case .text(let bytes), .blob(let bytes): data = Data(bytes)
    default: throw ValueMismatch(expected: "JSON of \(Self.self)", found: value)
    }
    do {
      self = try JSONDecoder().decode(Self.self, from: data)
    } catch {
      let reason = (error as? DecodingError)?.reason ?? "which throws \(error)"
      throw ValueMismatch(
        .type,
        expected: "JSON of \(Self.self)",
        found: "\(value.summary), \(reason)"
      )
    }
  }

  /// Encodes JSON, members in the order of their names: equal values are equal texts.
  public func box(into column: inout BoxingColumn) throws {
    let json: [UInt8]
    do {
      json = try JSONDocument.bytes(self)
    } catch {
      throw ValueMismatch(expected: "a value that JSON can hold", beyond: "\(Self.self): \(error)")
    }
    try json.withUnsafeBytes { try column.bytes($0) }
  }
}

extension DecodingError {
  /// What is wrong where, as a clause.
  fileprivate var reason: String {
    switch self {
    case .keyNotFound(let key, let context):
      "where \(Self.name(context.codingPath + [key])) is missing"
    case .valueNotFound(_, let context): "where \(Self.name(context.codingPath)) is null"
    case .typeMismatch(let type, let context):
      "where \(Self.name(context.codingPath)) is no \(type)"
    case .dataCorrupted(let context) where !context.codingPath.isEmpty:
      "where \(Self.name(context.codingPath)) cannot be decoded"
    default: "which cannot be decoded"
    }
  }

  private static func name(_ path: [any CodingKey]) -> String {
    guard !path.isEmpty else { return "the whole" }
    return
      "\"\(path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: "."))\""
  }
}

/// A value of a `Codable` type of another module, held as JSON.
public struct JSON<Value: Codable & Sendable>: CodableValue {
  /// The value.
  public var value: Value

  /// Wraps a value.
  public init(_ value: Value) { self.value = value }

  /// Decodes the value itself.
  public init(from decoder: any Decoder) throws {
    value = try decoder.singleValueContainer().decode(Value.self)
  }

  /// Encodes the value itself.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

extension JSON: Equatable where Value: Equatable {}
extension JSON: Hashable where Value: Hashable {}
