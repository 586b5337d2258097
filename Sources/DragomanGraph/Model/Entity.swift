/// A kind of object: its attributes, relationships and unique keys, and the table that stores it.
public struct Entity: Sendable, Hashable, Codable {
  /// The name, unique in its model.
  public var name: String
  /// The table's name; the entity's name unless the map says otherwise.
  public var table: String
  /// The attributes, in declared order, which is the order of the columns.
  public var attributes: [Attribute]
  /// The relationships, in declared order.
  public var relationships: [Relationship]
  /// The unique keys, each a list of attribute names; the first one is the identity.
  ///
  /// May be empty.
  public var uniqueKeys: [[String]]
  /// The name of the parent entity, if this is a sub-entity.
  public var parent: String?

  /// Makes an entity.
  public init(
    name: String,
    table: String? = nil,
    attributes: [Attribute],
    relationships: [Relationship] = [],
    uniqueKeys: [[String]] = [],
    parent: String? = nil
  ) {
    self.name = name
    self.table = table ?? name
    self.attributes = attributes
    self.relationships = relationships
    self.uniqueKeys = uniqueKeys
    self.parent = parent
  }

  /// The unique key by which records find their object: the first one declared.
  public var identity: [String]? { uniqueKeys.first }

  /// The attribute of that name, compared byte for byte.
  public func attribute(named name: String) -> Attribute? {
    attributes.first { $0.name.utf8.elementsEqual(name.utf8) }
  }
}
