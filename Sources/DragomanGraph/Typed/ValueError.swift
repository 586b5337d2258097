/// What went wrong between a Swift value and its row, naming the entity and the property.
public struct ValueError: Error, Sendable, CustomStringConvertible {
  /// A stable name for the kind of error.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The name.
    public let rawValue: String

    /// Makes a code; the ones that values use are static members.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The stored value is of another type than the property.
    public static let type = Code(rawValue: "box.type")
    /// The value does not fit the property, or the attribute, without losing something.
    public static let range = Code(rawValue: "box.range")
    /// There is no value, and the property is no optional.
    public static let null = Code(rawValue: "box.null")
    /// The Swift type does not describe the entity of the model.
    public static let schema = Code(rawValue: "box.schema")
    /// The object that a value or reference names is not there (any more).
    public static let stale = Code(rawValue: "box.stale")
    /// A value would hold itself.
    public static let cycle = Code(rawValue: "box.cycle")
  }

  /// The kind of error.
  public let code: Code
  /// A full sentence for people.
  public let message: String
  /// The name of the entity.
  public let entity: String
  /// The name of the property, if it is one.
  public let property: String?
  /// The object concerned, if it is stored.
  public let object: ObjectID?
  /// What to do about it, where there is something to do.
  public let help: String?

  /// Makes an error.
  public init(
    _ code: Code,
    _ message: String,
    entity: String,
    property: String? = nil,
    object: ObjectID? = nil,
    help: String? = nil
  ) {
    self.code = code
    self.message = message
    self.entity = entity
    self.property = property
    self.object = object
    self.help = help
  }

  /// The message and the help on one line.
  public var description: String {
    "\(code.rawValue): \(message)\(help.map { " (\($0))" } ?? "")"
  }
}

extension ValueError: TellingError {}

/// What an `AttributeValue` throws when a value does not fit; the row adds entity and property.
public struct ValueMismatch: Error, Sendable, CustomStringConvertible {
  /// What kind of mismatch it is: `.type`, `.range` or `.null`.
  public let code: ValueError.Code
  /// What was expected, with an article: "a UUID".
  public let expected: String
  /// What was found.
  public let found: String

  /// A stored value of another type; null is told apart.
  public init(expected: String, found: ColumnValue) {
    if case .null = found { code = .null } else { code = .type }
    self.expected = expected
    self.found = found.summary
  }

  /// A value that is told in words.
  init(_ code: ValueError.Code, expected: String, found: String) {
    self.code = code
    self.expected = expected
    self.found = found
  }

  /// A value of the right type that does not fit.
  public init(expected: String, beyond value: String) {
    code = .range
    self.expected = expected
    found = value
  }

  /// Expected and found.
  public var description: String { "expected \(expected), found \(found)" }
}

extension ColumnValue {
  /// How messages name the value: its kind and its spelling, cut after 40 characters.
  var summary: String {
    switch self {
    case .null: "null"
    case .integer(let integer): "the integer \(integer)"
    case .real(let real): "the number \(real)"
    case .text(let bytes):
      "the text " + StoredValue.text(String(decoding: bytes, as: UTF8.self)).summary
    case .blob(let bytes): MessageWords.count(bytes.count, "byte")
    }
  }
}

extension StoredValue {
  /// Lends the value as SQLite would hand it out.
  func withColumn<T>(_ body: (ColumnValue) throws -> T) rethrows -> T {
    switch self {
    case .null: return try body(.null)
    case .integer(let integer): return try body(.integer(integer))
    case .real(let real): return try body(.real(real))
    case .text(var text):
      return try text.withUTF8 { try body(.text(UnsafeRawBufferPointer($0))) }
    case .blob(let bytes): return try bytes.withUnsafeBytes { try body(.blob($0)) }
    }
  }
}
