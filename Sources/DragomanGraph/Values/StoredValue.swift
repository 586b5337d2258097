/// A value as the store holds it: one of SQLite's five storage classes.
///
/// Text is compared and hashed by its UTF-8 bytes, as SQLite's BINARY collation does, and not by
/// Unicode canonical equivalence, as Swift's `String` does: `"é"` composed and `"é"` decomposed are
/// two keys in the file, so they are two values here.
public enum StoredValue: Sendable {
  /// No value.
  case null
  /// A signed 64-bit integer: integers and booleans.
  case integer(Int64)
  /// An IEEE 754 double: `double` and `float` attributes. Never NaN.
  case real(Double)
  /// Text: strings and everything that docs/file.md stores as text (decimals, dates, UUIDs, JSON).
  case text(String)
  /// Bytes: `data` attributes.
  case blob([UInt8])
}

extension StoredValue: Hashable {
  /// Compares storage class and bytes; an integer never equals a real.
  public static func == (left: StoredValue, right: StoredValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.integer(let a), .integer(let b)): a == b
    case (.real(let a), .real(let b)): a == b
    case (.text(let a), .text(let b)): hasSameBytes(a, b)
    case (.blob(let a), .blob(let b)): a == b
    default: false
    }
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .integer(let value): hasher.combine(value)
    case .real(let value): hasher.combine(value)
    case .text(let value):
      var value = value
      value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
      hasher.combine(3)
    case .blob(let value): hasher.combine(value)
    }
  }
}

extension StoredValue: Codable {
  private enum Kind: String, Codable {
    case null
    case integer
    case real
    case text
    case blob
  }

  /// Reads `["integer", 1]`, `["text", "a"]`, …: the storage class is kept beside the value.
  public init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    switch try container.decode(Kind.self) {
    case .null: self = .null
    case .integer: self = .integer(try container.decode(Int64.self))
    case .real: self = .real(try container.decode(Double.self))
    case .text: self = .text(try container.decode(String.self))
    case .blob: self = .blob(try container.decode([UInt8].self))
    }
  }

  /// Writes the storage class and the value as a two-element array (`["null"]` for null).
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    switch self {
    case .null: try container.encode(Kind.null)
    case .integer(let value):
      try container.encode(Kind.integer)
      try container.encode(value)
    case .real(let value):
      try container.encode(Kind.real)
      try container.encode(value)
    case .text(let value):
      try container.encode(Kind.text)
      try container.encode(value)
    case .blob(let value):
      try container.encode(Kind.blob)
      try container.encode(value)
    }
  }
}
