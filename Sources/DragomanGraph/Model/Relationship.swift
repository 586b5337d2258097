/// A link from one entity to another.
///
/// The description is part of the model and of the stored file; importing links is the subject of
/// the relationship stage of the pipeline.
public struct Relationship: Sendable, Hashable, Codable {
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

  /// Makes a relationship.
  public init(
    name: String,
    destination: String,
    kind: Kind,
    isOrdered: Bool = false,
    allowsRepeats: Bool = false,
    inverse: String? = nil,
    deleteRule: DeleteRule = .nullify
  ) {
    self.name = name
    self.destination = destination
    self.kind = kind
    self.isOrdered = isOrdered
    self.allowsRepeats = allowsRepeats
    self.inverse = inverse
    self.deleteRule = deleteRule
  }
}
