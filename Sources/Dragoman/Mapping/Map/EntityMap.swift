import DragomanGraph

/// How records become objects of one entity.
///
/// Large because each property is a word of the map language.
public struct EntityMap: Sendable, Hashable, Adjustable {
  /// The entity's name.
  public var name: String
  /// The table's name; nil is the entity's name.
  public var table: String?
  /// The parent entity's name, for sub-entities.
  public var parent: String?
  /// The name before, for a migration.
  public var renamedFrom: String?
  /// How records are told apart that become sub-entities.
  public var discriminator: Discriminator?
  /// The unique keys; the first is the identity.
  public var uniqueKeys: [[String]]
  /// The attributes, in declared order.
  public var attributes: [AttributeMap]
  /// The relationships, in declared order.
  public var relationships: [RelationshipMap]
  /// The attribute that tells newer records from older ones.
  public var version: String?
  /// Which records are tombstones.
  public var deleteWhen: Tombstone?
  /// false leaves an existing object untouched; nil is true.
  public var overwriteExisting: Bool?
  /// Named closures.
  public var hooks = Hooks()
  /// What may change between two feeds; nil: anything, and nobody looks.
  public var contract: Contract?
  /// The policies.
  public var policies: ValuePolicies
  /// Where the entity stands in the map file.
  @NotCompared public var position: MapPosition? = nil

  /// Makes an entity map.
  public init(
    name: String,
    table: String? = nil,
    parent: String? = nil,
    uniqueKeys: [[String]] = [],
    attributes: [AttributeMap],
    relationships: [RelationshipMap] = [],
    policies: ValuePolicies = ValuePolicies()
  ) {
    self.name = name
    self.table = table
    self.parent = parent
    self.uniqueKeys = uniqueKeys
    self.attributes = attributes
    self.relationships = relationships
    self.policies = policies
  }

  /// Names of closures that a program registers.
  public struct Hooks: Sendable, Hashable {
    /// Run with each record before it is mapped.
    public var beforeRecord: [String]
    /// Run with each record and its object.
    public var afterRecord: [String]
    /// Run once at the end of the import.
    public var afterImport: [String]
    /// Run with each object and its output record.
    public var afterExport: [String]

    /// Makes a set of names.
    public init(
      beforeRecord: [String] = [],
      afterRecord: [String] = [],
      afterImport: [String] = [],
      afterExport: [String] = []
    ) {
      self.beforeRecord = beforeRecord
      self.afterRecord = afterRecord
      self.afterImport = afterImport
      self.afterExport = afterExport
    }
  }

  /// How records are told apart that become sub-entities.
  public struct Discriminator: Sendable, Hashable {
    /// Where the telling value stands.
    public var from: ForeignPaths
    /// Which value means which entity.
    public var values: [String: String]

    /// Makes a discriminator.
    public init(from: ForeignPaths, values: [String: String]) {
      self.from = from
      self.values = values
    }
  }

  /// Which records are tombstones: the value at `from`, spelled as in the source, equals `equals`.
  public struct Tombstone: Sendable, Hashable {
    /// Where the telling value stands.
    public var from: ForeignPaths
    /// What it must be.
    public var equals: String

    /// Makes a tombstone rule.
    public init(from: ForeignPaths, equals: String) {
      self.from = from
      self.equals = equals
    }
  }
}

/// Where a value stands, by format; in each list the first path that is present wins.
public struct ForeignPaths: Sendable, Hashable {
  /// The paths in JSON, NDJSON and dictionaries.
  public var json: [ForeignPath]
  /// The paths in XML.
  public var xml: [ForeignPath]
  /// The columns in CSV.
  public var csv: [ForeignPath]

  /// Makes a set of paths.
  public init(json: [ForeignPath] = [], xml: [ForeignPath] = [], csv: [ForeignPath] = []) {
    self.json = json
    self.xml = xml
    self.csv = csv
  }
}
