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
public struct Attribute: Sendable, Hashable, Codable {
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
  /// The column's name; the attribute's name unless the map says otherwise.
  public var column: String
  /// Decimals only: digits after the point, 0 …; nil keeps the digits as given.
  public var scale: Int?
  /// Enumerations only: the raw values admitted; nil admits any.
  public var allowedValues: [String]?
  /// The smallest value admitted, for types with an order.
  public var minimum: StoredValue?
  /// The largest value admitted, for types with an order.
  public var maximum: StoredValue?
  /// The number of Unicode scalars a string may have, at most.
  public var maximumLength: Int?
  /// The number of Unicode scalars a string must have, at least.
  public var minimumLength: Int?
  /// A regular expression that a string must match as a whole.
  public var pattern: String?
  /// Whether values are masked in every message, report and rejects file.
  public var isSensitive: Bool
  /// The name this attribute had before, for migration.
  public var renamedFrom: String?

  /// Makes an attribute; everything but name and type has the usual default.
  public init(
    name: String,
    type: AttributeType = .string,
    isRequired: Bool = false,
    defaultValue: StoredValue? = nil,
    isIndexed: Bool = false,
    column: String? = nil,
    scale: Int? = nil,
    allowedValues: [String]? = nil,
    minimum: StoredValue? = nil,
    maximum: StoredValue? = nil,
    minimumLength: Int? = nil,
    maximumLength: Int? = nil,
    pattern: String? = nil,
    isSensitive: Bool = false,
    renamedFrom: String? = nil
  ) {
    self.name = name
    self.type = type
    self.isRequired = isRequired
    self.defaultValue = defaultValue
    self.isIndexed = isIndexed
    self.column = column ?? name
    self.scale = scale
    self.allowedValues = allowedValues
    self.minimum = minimum
    self.maximum = maximum
    self.minimumLength = minimumLength
    self.maximumLength = maximumLength
    self.pattern = pattern
    self.isSensitive = isSensitive
    self.renamedFrom = renamedFrom
  }
}
