import DragomanGraph

/// How one attribute is found in a record and converted.
///
/// Large because each property is a word of the map language.
public struct AttributeMap: Sendable, Hashable, Adjustable {
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
  /// How values are written in the feed.
  public var format: ValueFormat
  /// What values must obey; the limits as written in the map.
  public var rules: AttributeRules<String>
  /// The name of a closure that computes the value.
  public var compute: String?
  /// Whether the attribute is exported; true by default.
  public var isExported = true
  /// Whether values are masked in messages; false by default.
  public var isSensitive = false
  /// Whether the column has an index; false by default.
  public var isIndexed = false
  /// The column's name; nil is the attribute's name.
  public var column: String?
  /// The attribute's former name, for migration.
  public var renamedFrom: String?
  /// What the attribute says for itself of the entity's contract.
  public var contract: AttributeContract?
  /// The policies.
  public var policies = ValuePolicies()
  /// Where the attribute stands in the map file.
  @NotCompared public var position: MapPosition? = nil

  /// Makes an attribute map; everything but the name has the grammar's default.
  public init(
    name: String,
    from: ForeignPaths? = nil,
    type: AttributeType = .string,
    isRequired: Bool? = nil,
    defaultValue: String? = nil,
    format: ValueFormat = ValueFormat(),
    rules: AttributeRules<String> = AttributeRules()
  ) {
    self.name = name
    self.from = from
    self.type = type
    self.isRequired = isRequired
    self.defaultValue = defaultValue
    self.format = format
    self.rules = rules
  }
}
