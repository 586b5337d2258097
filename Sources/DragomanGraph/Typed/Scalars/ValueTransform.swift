/// A pair of functions by which an attribute holds a type that is none of ours.
///
///     enum ColorText: ValueTransform {
///       static func stored(_ color: Color) -> String { color.hexadecimal }
///       static func value(_ text: String) throws -> Color { try Color(hexadecimal: text) }
///     }
///
/// A field names it: `Field(3, "color", \Shirt.color, by: ColorText.self)`.
public protocol ValueTransform: Sendable {
  /// The type of the property.
  associatedtype Value: Sendable
  /// The type that is stored.
  associatedtype Stored: AttributeValue
  /// What is stored of a value.
  static func stored(_ value: Value) throws -> Stored
  /// The value of what is stored.
  static func value(_ stored: Stored) throws -> Value
}

/// A value that is stored through a `ValueTransform`.
public struct Transformed<Transform: ValueTransform>: AttributeValue {
  /// The value.
  public var value: Transform.Value

  /// Wraps a value.
  public init(_ value: Transform.Value) { self.value = value }

  /// The type of what is stored.
  public static var attributeType: AttributeType { Transform.Stored.attributeType }
  /// As what is stored.
  public static var isOptional: Bool { Transform.Stored.isOptional }
  /// As what is stored.
  public static func admits(_ type: AttributeType) -> Bool { Transform.Stored.admits(type) }

  /// Unboxes what is stored, and transforms it.
  public init(unboxing value: ColumnValue) throws {
    self.value = try Transform.value(Transform.Stored(unboxing: value))
  }

  /// Transforms the value, and boxes what is stored.
  public func box(into column: inout BoxingColumn) throws {
    try Transform.stored(value).box(into: &column)
  }
}
