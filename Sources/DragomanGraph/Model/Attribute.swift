/// The type of an attribute: which values it admits and how docs/file.md writes them.
public enum AttributeType: String, Sendable, Hashable, Codable, CaseIterable {
  /// UTF-8 text, kept byte for byte.
  case string
  /// −32,768 … 32,767, stored as INTEGER.
  case int16
  /// −2³¹ … 2³¹−1, stored as INTEGER.
  case int32
  /// −2⁶³ … 2⁶³−1, stored as INTEGER.
  case int64
  /// IEEE 754 binary64, stored as REAL; NaN is invalid.
  case double
  /// IEEE 754 binary32, stored as REAL; NaN is invalid.
  case float
  /// An exact decimal number of any precision, stored as canonical TEXT (`-12.5`).
  case decimal
  /// true or false, stored as INTEGER 1 or 0.
  case bool
  /// An instant with microseconds, stored as TEXT `yyyy-MM-dd HH:mm:ss[.ffffff]` in UTC.
  case timestamp
  /// A civil date without a zone, stored as TEXT `yyyy-MM-dd`.
  case date
  /// A time of day, stored as TEXT `HH:mm:ss[.ffffff]`.
  case time
  /// A span of time, stored as canonical TEXT of ISO 8601 (`P1Y2M3DT4H5M6.5S`); it has no order.
  case duration
  /// A UUID, stored as lowercase TEXT.
  case uuid
  /// A URL, stored as TEXT as given.
  case url
  /// Bytes, stored as BLOB.
  case data
  /// Any JSON value, stored as compact JSON TEXT.
  case json
  /// One of a declared set of raw values, stored as that raw value.
  case `enum`

  /// The declared type of the SQLite column (and so its affinity).
  public var columnType: String {
    switch self {
    case .int16, .int32, .int64, .bool: "INTEGER"
    case .double, .float: "REAL"
    case .data: "BLOB"
    case .string, .decimal, .timestamp, .date, .time, .duration, .uuid, .url, .json, .enum: "TEXT"
    }
  }

  /// Whether `<` means anything.
  package var isOrdered: Bool {
    switch self {
    case .bool, .data, .json, .duration: false
    default: true
    }
  }

  /// Whether values order and compare as numbers.
  public var isNumeric: Bool {
    switch self {
    case .int16, .int32, .int64, .double, .float, .decimal: true
    default: false
    }
  }
}

/// One stored property of an entity: its name, its type and the rules its values obey.
///
///     Attribute(name: "age", type: .int16, isRequired: true, rules: AttributeRules(minimum: 0))
///     Attribute(name: "town").with { $0.renamedFrom = "city" }
public struct Attribute: Sendable, Hashable, Adjustable {
  /// The local name, unique in its entity (case-insensitively, as SQLite's columns are).
  public var name: String
  /// What the attribute holds.
  public var type: AttributeType
  /// Whether null is refused.
  ///
  /// A rule of ours: the column itself has no NOT NULL (docs/file.md).
  public var isRequired: Bool
  /// The value of a new object whose record does not name the attribute; nil means null.
  public var defaultValue: StoredValue?
  /// Whether the column has an index of its own.
  public var isIndexed: Bool
  /// Enumerations only: the raw values admitted; nil admits any.
  public var allowedValues: [String]?
  /// What else its values must obey.
  public var rules: AttributeRules<StoredValue>
  /// The column's name; the attribute's name unless it is set.
  public var column: String
  /// Whether values are masked in every message, report and rejects file; false by default.
  public var isSensitive = false
  /// The name this attribute had before, for migration.
  public var renamedFrom: String?

  /// Makes an attribute; everything but name and type has the usual default.
  public init(
    name: String,
    type: AttributeType = .string,
    isRequired: Bool = false,
    defaultValue: StoredValue? = nil,
    isIndexed: Bool = false,
    allowedValues: [String]? = nil,
    rules: AttributeRules<StoredValue> = AttributeRules()
  ) {
    self.name = name
    self.type = type
    self.isRequired = isRequired
    self.defaultValue = defaultValue
    self.isIndexed = isIndexed
    self.allowedValues = allowedValues
    self.rules = rules
    column = name
  }

  /// The column that tells objects apart which have no unique key.
  package static var primaryKey: Attribute { Attribute(name: "_pk", type: .int64) }
}

extension Attribute: Codable {
  private enum CodingKeys: CodingKey {
    case name, type, isRequired, defaultValue, isIndexed, allowedValues, column, isSensitive
    case renamedFrom
  }

  /// Reads an attribute; its rules stand beside its other members.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      name: try values.decode(String.self, forKey: .name),
      type: try values.decode(AttributeType.self, forKey: .type),
      isRequired: try values.decode(Bool.self, forKey: .isRequired),
      defaultValue: try values.decodeIfPresent(StoredValue.self, forKey: .defaultValue),
      isIndexed: try values.decode(Bool.self, forKey: .isIndexed),
      allowedValues: try values.decodeIfPresent([String].self, forKey: .allowedValues),
      rules: try AttributeRules(from: decoder)
    )
    column = try values.decode(String.self, forKey: .column)
    isSensitive = try values.decode(Bool.self, forKey: .isSensitive)
    renamedFrom = try values.decodeIfPresent(String.self, forKey: .renamedFrom)
  }

  /// Writes the attribute as it is read.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(name, forKey: .name)
    try values.encode(type, forKey: .type)
    try values.encode(isRequired, forKey: .isRequired)
    try values.encodeIfPresent(defaultValue, forKey: .defaultValue)
    try values.encode(isIndexed, forKey: .isIndexed)
    try values.encodeIfPresent(allowedValues, forKey: .allowedValues)
    try values.encode(column, forKey: .column)
    try values.encode(isSensitive, forKey: .isSensitive)
    try values.encodeIfPresent(renamedFrom, forKey: .renamedFrom)
    try rules.encode(to: encoder)
  }
}
