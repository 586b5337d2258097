/// What a feed has otherwise than the last one by the same map: what its contract looks at.
public struct FeedDrift: Sendable, Hashable {
  /// The ways in which a feed changes.
  public enum Kind: String, Sendable, Hashable, Codable {
    /// A key that nothing reads and that no earlier feed had.
    case newKey
    /// A mapped key has values of a kind that it did not have before.
    case changedType
    /// A mapped key that the last feed had is in none of the records.
    case vanishedKey
  }

  /// What values look like in a feed.
  public enum ValueKind: String, Sendable, Hashable, Codable, CaseIterable {
    case text, number, boolean, date, list, object
  }

  /// Why a new key cannot become an attribute.
  public enum Obstacle: String, Sendable, Hashable, Codable {
    /// It stands inside of a list that no entity is made of.
    case list
    /// There are so many keys that they are not told apart.
    case manyKeys
    /// An object has it more than once.
    case repeated
    /// No path of a map can name it.
    case name
  }

  /// One change.
  public struct Change: Sendable, Hashable {
    /// What has changed.
    public var kind: Kind
    /// The entity.
    public var entity: String
    /// The path of a new key in its object, else the attribute or relationship.
    public var name: String
    /// What the contract says of it.
    public var rule: Contract.KeyRule
    /// How many such values there are; of a key that is gone: 0.
    public var count: Int
    /// The new kinds of values.
    public var values: [ValueKind]
    /// The kinds of values before.
    public var valuesBefore: [ValueKind] = []
    /// The attribute that a new key has become, as a line of a map: `fax: { from: fax_no, type: int64 }`.
    public var attribute: String?
    /// The namespaces that the line names and that no source of the entity declares, as a line for one:
    /// `namespaces: { v: "urn:vendor" }`.
    public var namespaces: String?
    /// Why a new key does not become an attribute where the contract says `evolve`.
    public var obstacle: Obstacle?
  }

  /// The import that the feed was compared with; nil: it is the first by this map under a contract.
  public var comparedWith: Int64?
  /// The changes, in the order of the map and of the feed.
  public var changes: [Change] = []
}

extension FeedDrift.Change {
  /// What has changed, as a part of a sentence: `Person has fax (12 texts), which nothing reads`.
  ///
  /// A key of a feed stands there on one line, with signs spelled out that a terminal would obey.
  public var message: String { message(isKept: true) }

  /// The same of an import that has kept nothing: what would have become of a new key.
  package func message(isKept: Bool) -> String {
    let name = ForeignText.shortened(name)
    switch kind {
    case .newKey:
      let found = "\(values.isEmpty ? "null" : Self.list(values)), \(times)"
      let fate =
        switch (rule, attribute) {
        case (.evolve, .some) where isKept: "it is an attribute from now on"
        case (.evolve, .some): "it would be an attribute"
        case (.evolve, nil) where obstacle == nil: "it becomes an attribute with its first value"
        case (.evolve, nil): "no attribute can read it: \(reason)"
        default: "nothing reads it"
        }
      return "\(entity) has \(name) (\(found)); \(fate)"
    case .changedType:
      let (found, known) = (Self.described(values), Self.described(valuesBefore))
      return "\(entity).\(name) has \(found) where it had \(known), \(times)"
    case .vanishedKey: return "no record has \(entity).\(name)"
    }
  }

  private var reason: String {
    switch obstacle {
    case .list: "it stands inside of a list"
    case .manyKeys: "it is one of too many keys"
    case .repeated: "an object has it more than once"
    case .name, nil: "no path can name it"
    }
  }

  private var times: String { count == 1 ? "once" : "\(count) times" }

  /// Kinds with an article: `an object or text`.
  private static func described(_ kinds: [FeedDrift.ValueKind]) -> String {
    let list = list(kinds)
    return (list.first.map { "aeiou".contains($0) } == true ? "an " : "a ") + list
  }

  private static func list(_ kinds: [FeedDrift.ValueKind]) -> String {
    kinds.map(\.rawValue).joined(separator: " or ")
  }
}
