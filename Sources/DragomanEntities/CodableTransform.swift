import DragomanGraph

/// Stores any `Codable` value as JSON: what `@Attribute(codable: true)` does.
public enum CodableTransform<Value: Codable & Sendable>: ValueTransform {
  /// The value as JSON.
  public static func stored(_ value: Value) throws -> JSON<Value> { JSON(value) }

  /// The value of the JSON.
  public static func value(_ stored: JSON<Value>) throws -> Value { stored.value }
}
