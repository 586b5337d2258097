/// A kind of object: its attributes, relationships and unique keys, and the table that stores it.
public struct Entity: Sendable, Hashable, Adjustable {
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
  /// Whether there are objects of sub-entities only.
  public var isAbstract: Bool
  /// Indexes over several attributes or to-ones, besides those of single attributes.
  public var indexes: [[String]] = []
  /// Whether references may make objects that hold their key only, until their record comes.
  public var admitsStubs = false
  /// The name this entity had before, for migration.
  public var renamedFrom: String?

  /// Makes an entity.
  public init(
    name: String,
    table: String? = nil,
    attributes: [Attribute],
    relationships: [Relationship] = [],
    uniqueKeys: [[String]] = [],
    parent: String? = nil,
    isAbstract: Bool = false
  ) {
    self.name = name
    self.table = table ?? name
    self.attributes = attributes
    self.relationships = relationships
    self.uniqueKeys = uniqueKeys
    self.parent = parent
    self.isAbstract = isAbstract
  }

  /// The unique key by which records find their object: the first one declared.
  public var identity: [String]? { uniqueKeys.first }

  /// The attribute of that name, compared byte for byte.
  public func attribute(named name: String) -> Attribute? {
    attributes.first { $0.name.utf8.elementsEqual(name.utf8) }
  }

  /// The relationship of that name, compared byte for byte.
  public func relationship(named name: String) -> Relationship? {
    relationships.first { $0.name.utf8.elementsEqual(name.utf8) }
  }
}

extension Entity: Codable {
  /// Reads an entity; what files of earlier versions do not have gets its default.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      name: try values.decode(String.self, forKey: .name),
      table: try values.decode(String.self, forKey: .table),
      attributes: try values.decode([Attribute].self, forKey: .attributes),
      relationships: try values.decode([Relationship].self, forKey: .relationships),
      uniqueKeys: try values.decode([[String]].self, forKey: .uniqueKeys),
      parent: try values.decodeIfPresent(String.self, forKey: .parent),
      isAbstract: try values.decodeIfPresent(Bool.self, forKey: .isAbstract) ?? false
    )
    indexes = try values.decodeIfPresent([[String]].self, forKey: .indexes) ?? []
    admitsStubs = try values.decodeIfPresent(Bool.self, forKey: .admitsStubs) ?? false
    renamedFrom = try values.decodeIfPresent(String.self, forKey: .renamedFrom)
  }
}
