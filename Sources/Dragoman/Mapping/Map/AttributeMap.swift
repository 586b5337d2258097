import DragomanGraph

/// How one attribute is found in a record and converted.
public struct AttributeMap: Sendable, Hashable {
  /// The attribute's local name.
  public var name: String
  /// Where the value stands; nil is the attribute's own name.
  public var from: ForeignPaths?
  /// The attribute's type.
  public var type: AttributeType
  /// Whether null is refused; nil: only for attributes of the identity.
  public var isRequired: Bool?
  /// The value of a new object, as written in the map; converted by the type.
  public var defaultValue: String?
  /// Whether the column has an index.
  public var isIndexed: Bool
  /// The column's name; nil is the attribute's name.
  public var column: String?
  /// The date formats, tried in order; nil is the file's, then the type's.
  public var dates: [String]?
  /// The zone of values that carry none; nil is the file's, then UTC.
  public var timeZone: String?
  /// How numbers are written in strings; nil is the file's.
  public var numbers: NumberFormat?
  /// Whether plain numbers in strings are taken beside numbers, as which values are exported: the
  /// default mapper's effort.
  var takesNumberText = false
  /// How a map file says both.
  var writtenNumbers: NumberFormat? {
    get { numbers ?? (takesNumberText ? NumberFormat() : nil) }
    set { numbers = newValue }
  }
  /// A table of foreign words to local raw values, in declared order.
  public var values: [ValuePair]
  /// The local raw value of words that `values` does not have; nil: they are invalid.
  public var unknown: String?
  /// Words that mean true.
  public var trueValues: [String]
  /// Words that mean false.
  public var falseValues: [String]
  /// Decimals: digits after the point.
  public var scale: Int?
  /// Whether numbers and booleans are taken by a string attribute, spelled as in the source.
  public var coerce: Bool
  /// How strings are cleaned; nil members are the file's.
  public var strings: StringFormat
  /// The name of a closure that computes the value.
  public var compute: String?
  /// Whether the attribute is exported.
  public var isExported: Bool
  /// Whether values are masked in messages.
  public var isSensitive: Bool
  /// The attribute's former name, for migration.
  public var renamedFrom: String?
  /// The smallest value admitted, as written in the map.
  public var minimum: String?
  /// The largest value admitted, as written in the map.
  public var maximum: String?
  /// The number of Unicode scalars admitted, both ends included.
  public var length: ClosedRange<Int>?
  /// A regular expression that the whole string must match.
  public var pattern: String?
  /// The policies.
  public var policies: ValuePolicies
  /// Where the attribute stands in the map file.
  @NotCompared public var position: MapPosition?

  /// One row of a value table.
  public struct ValuePair: Sendable, Hashable {
    /// The word in the feed.
    public var foreign: String
    /// The raw value in the store.
    public var local: String

    /// Makes a row.
    public init(foreign: String, local: String) {
      self.foreign = foreign
      self.local = local
    }
  }

  /// Makes an attribute map; everything but the name has the grammar's default.
  public init(
    name: String,
    from: ForeignPaths? = nil,
    type: AttributeType = .string,
    isRequired: Bool? = nil,
    defaultValue: String? = nil,
    isIndexed: Bool = false,
    column: String? = nil,
    dates: [String]? = nil,
    timeZone: String? = nil,
    numbers: NumberFormat? = nil,
    values: [ValuePair] = [],
    unknown: String? = nil,
    trueValues: [String] = [],
    falseValues: [String] = [],
    scale: Int? = nil,
    coerce: Bool = false,
    strings: StringFormat = StringFormat(),
    compute: String? = nil,
    isExported: Bool = true,
    isSensitive: Bool = false,
    renamedFrom: String? = nil,
    minimum: String? = nil,
    maximum: String? = nil,
    length: ClosedRange<Int>? = nil,
    pattern: String? = nil,
    policies: ValuePolicies = ValuePolicies(),
    position: MapPosition? = nil
  ) {
    self.name = name
    self.from = from
    self.type = type
    self.isRequired = isRequired
    self.defaultValue = defaultValue
    self.isIndexed = isIndexed
    self.column = column
    self.dates = dates
    self.timeZone = timeZone
    self.numbers = numbers
    self.values = values
    self.unknown = unknown
    self.trueValues = trueValues
    self.falseValues = falseValues
    self.scale = scale
    self.coerce = coerce
    self.strings = strings
    self.compute = compute
    self.isExported = isExported
    self.isSensitive = isSensitive
    self.renamedFrom = renamedFrom
    self.minimum = minimum
    self.maximum = maximum
    self.length = length
    self.pattern = pattern
    self.policies = policies
    self.position = position
  }
}
