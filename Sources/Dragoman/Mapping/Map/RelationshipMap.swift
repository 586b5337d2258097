import DragomanGraph

/// How the links of one relationship are found in a record.
///
/// Large because each property is a word of the map language.
public struct RelationshipMap: Sendable, Hashable, Adjustable {
  /// What a to-many does with the targets it had before.
  public enum Assignment: String, Sendable, Hashable, Codable, CaseIterable {
    /// Exactly the record's targets.
    case replace
    /// The record's targets besides those already there.
    case union
  }

  /// What becomes of objects that `replace` unlinks.
  public enum Unlinked: String, Sendable, Hashable, Codable, CaseIterable {
    /// They stay.
    case keep
    /// They are deleted.
    case delete
  }

  /// Where one attribute of the target's key is taken from.
  ///
  /// In code, `["id": .path(ForeignPaths(json: [try ForeignPathParser(format: .json).parse("friends")]), split: nil)]`
  /// as the `key` of a to-many reads `friends: [1, 2]`, which names people by their `id`.
  public enum KeyPart: Sendable, Hashable {
    /// A path in the record; `split` cuts a string into several keys.
    case path(ForeignPaths, split: String?)
    /// An attribute of the owner.
    case attribute(String)
    /// The same value for all targets, written as a default is.
    case value(String)
  }

  /// The relationship's local name.
  public var name: String
  /// The target entity's name.
  public var entity: String
  /// To-one or to-many.
  public var kind: Relationship.Kind
  /// Where nested objects stand; nil where the relationship is given by keys.
  public var from: ForeignPaths?
  /// The target's key attributes and where each is taken from; nil for nested objects.
  public var key: [String: KeyPart]?
  /// The target's relationship that points back.
  public var inverse: String?
  /// The name before, for a migration.
  public var renamedFrom: String?
  /// Whether order is kept.
  public var isOrdered = false
  /// Whether a target may occur more than once.
  public var allowsRepeats = false
  /// What a to-many does with earlier targets; nil is `replace`.
  public var assign: Assignment?
  /// The delete rule of the owner; nil is `nullify`.
  public var onDelete: Relationship.DeleteRule?
  /// What becomes of what `replace` unlinks; nil is `keep`.
  public var onUnlink: Unlinked?
  /// What becomes of unresolved keys; nil is the file's.
  public var onUnresolved: UnresolvedPolicy?
  /// How the relationship is exported; nil is the file's.
  public var export: ImportMap.ExportOptions.Inclusion?
  /// The policies.
  public var policies = ValuePolicies()
  /// Where the relationship stands in the map file.
  @NotCompared public var position: MapPosition? = nil

  /// Makes a relationship map.
  public init(
    name: String,
    entity: String,
    kind: Relationship.Kind,
    from: ForeignPaths? = nil,
    key: [String: KeyPart]? = nil,
    inverse: String? = nil,
    assign: Assignment? = nil
  ) {
    self.name = name
    self.entity = entity
    self.kind = kind
    self.from = from
    self.key = key
    self.inverse = inverse
    self.assign = assign
  }
}
