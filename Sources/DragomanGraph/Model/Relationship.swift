/// A link from one entity to another.
///
/// docs/file.md says how links are stored. Two relationships that name each other as `inverse` are
/// two views of the same links.
public struct Relationship: Sendable, Hashable {
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
  /// Whether a to-many may hold the same target more than once.
  public var allowsRepeats: Bool
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
    allowsRepeats: Bool = false,
    inverse: String? = nil,
    deleteRule: DeleteRule = .nullify,
    isRequired: Bool = false,
    maximumCount: Int? = nil,
    renamedFrom: String? = nil
  ) {
    self.name = name
    self.destination = destination
    self.kind = kind
    self.isOrdered = isOrdered
    self.allowsRepeats = allowsRepeats
    self.inverse = inverse
    self.deleteRule = deleteRule
    self.isRequired = isRequired
    self.maximumCount = maximumCount
    self.renamedFrom = renamedFrom
  }

  /// A link to at most one object.
  public static func toOne(
    _ name: String,
    _ destination: String,
    inverse: String? = nil,
    deleteRule: DeleteRule = .nullify,
    isRequired: Bool = false,
    renamedFrom: String? = nil
  ) -> Relationship {
    Relationship(
      name: name,
      destination: destination,
      kind: .toOne,
      inverse: inverse,
      deleteRule: deleteRule,
      isRequired: isRequired,
      renamedFrom: renamedFrom
    )
  }

  /// Links to any number of objects.
  public static func toMany(
    _ name: String,
    _ destination: String,
    inverse: String? = nil,
    isOrdered: Bool = false,
    allowsRepeats: Bool = false,
    deleteRule: DeleteRule = .nullify,
    isRequired: Bool = false,
    maximumCount: Int? = nil,
    renamedFrom: String? = nil
  ) -> Relationship {
    Relationship(
      name: name,
      destination: destination,
      kind: .toMany,
      isOrdered: isOrdered,
      allowsRepeats: allowsRepeats,
      inverse: inverse,
      deleteRule: deleteRule,
      isRequired: isRequired,
      maximumCount: maximumCount,
      renamedFrom: renamedFrom
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
      allowsRepeats: try values.decodeIfPresent(Bool.self, forKey: .allowsRepeats) ?? false,
      inverse: try values.decodeIfPresent(String.self, forKey: .inverse),
      deleteRule: try values.decodeIfPresent(DeleteRule.self, forKey: .deleteRule) ?? .nullify,
      isRequired: try values.decodeIfPresent(Bool.self, forKey: .isRequired) ?? false,
      maximumCount: try values.decodeIfPresent(Int.self, forKey: .maximumCount),
      renamedFrom: try values.decodeIfPresent(String.self, forKey: .renamedFrom)
    )
  }
}
