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
        case (.evolve, nil) where values.isEmpty: "it becomes an attribute with its first value"
        case (.evolve, nil):
          "it stands where no attribute can: inside of a list, or among too many keys"
        default: "nothing reads it"
        }
      return "\(entity) has \(name) (\(found)); \(fate)"
    case .changedType:
      let (found, known) = (Self.described(values), Self.described(valuesBefore))
      return "\(entity).\(name) has \(found) where it had \(known), \(times)"
    case .vanishedKey: return "no record has \(entity).\(name)"
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
