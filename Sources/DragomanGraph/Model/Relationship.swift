/// A link from one entity to another.
///
/// docs/file.md says how links are stored. Two relationships that name each other as `inverse` are
/// two views of the same links.
public struct Relationship: Sendable, Hashable, Adjustable {
  /// How many objects the relationship may hold.
  public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
    /// At most one.
    case toOne
    /// Any number.
    case toMany
  }

  /// What becomes of the targets when the owner is deleted.
  public enum DeleteRule: String, Sendable, Hashable, Codable, CaseIterable {
    /// The targets' inverse is cleared.
    case nullify
    /// The targets are deleted too.
    case cascade
    /// The owner cannot be deleted while it has targets.
    case deny
    /// Nothing; SQLite refuses the commit if a link dangles.
    case noAction
  }

  /// The local name, unique among the entity's attributes and relationships.
  public var name: String
  /// The name of the target entity.
  public var destination: String
  /// To-one or to-many.
  public var kind: Kind
  /// Whether a to-many keeps its order.
  public var isOrdered: Bool
  /// Whether a to-many may hold the same target more than once; false by default.
  public var allowsRepeats = false
  /// The name of the relationship of the target that points back, if there is one.
  public var inverse: String?
  /// What becomes of the targets when the owner is deleted.
  public var deleteRule: DeleteRule
  /// Whether an object must have a target (at least one) when it is saved.
  public var isRequired: Bool
  /// How many targets a to-many may have; nil is any number.
  public var maximumCount: Int?
  /// The name this relationship had before, for migration.
  public var renamedFrom: String?

  /// Makes a relationship.
  public init(
    name: String,
    destination: String,
    kind: Kind,
    isOrdered: Bool = false,
    inverse: String? = nil,
    deleteRule: DeleteRule = .nullify,
    isRequired: Bool = false
  ) {
    self.name = name
    self.destination = destination
    self.kind = kind
    self.isOrdered = isOrdered
    self.inverse = inverse
    self.deleteRule = deleteRule
    self.isRequired = isRequired
  }

  /// A link to at most one object.
  public static func toOne(
    _ name: String,
    _ destination: String,
    inverse: String? = nil,
    deleteRule: DeleteRule = .nullify,
    isRequired: Bool = false
  ) -> Relationship {
    Relationship(
      name: name,
      destination: destination,
      kind: .toOne,
      inverse: inverse,
      deleteRule: deleteRule,
      isRequired: isRequired
    )
  }

  /// Links to any number of objects.
  public static func toMany(
    _ name: String,
    _ destination: String,
    inverse: String? = nil,
    isOrdered: Bool = false,
    deleteRule: DeleteRule = .nullify,
    isRequired: Bool = false
  ) -> Relationship {
    Relationship(
      name: name,
      destination: destination,
      kind: .toMany,
      isOrdered: isOrdered,
      inverse: inverse,
      deleteRule: deleteRule,
      isRequired: isRequired
    )
  }
}

extension Relationship: Codable {
  /// Reads a relationship; what files of earlier versions do not have gets its default.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      name: try values.decode(String.self, forKey: .name),
      destination: try values.decode(String.self, forKey: .destination),
      kind: try values.decode(Kind.self, forKey: .kind),
      isOrdered: try values.decodeIfPresent(Bool.self, forKey: .isOrdered) ?? false,
      inverse: try values.decodeIfPresent(String.self, forKey: .inverse),
      deleteRule: try values.decodeIfPresent(DeleteRule.self, forKey: .deleteRule) ?? .nullify,
      isRequired: try values.decodeIfPresent(Bool.self, forKey: .isRequired) ?? false
    )
    allowsRepeats = try values.decodeIfPresent(Bool.self, forKey: .allowsRepeats) ?? false
    maximumCount = try values.decodeIfPresent(Int.self, forKey: .maximumCount)
    renamedFrom = try values.decodeIfPresent(String.self, forKey: .renamedFrom)
  }
}
