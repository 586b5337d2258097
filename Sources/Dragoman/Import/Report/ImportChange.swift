import DragomanGraph

/// One object that an import made, changed or deleted, attribute by attribute.
///
/// Values of `sensitive` attributes are masked: that they changed is told, not what they are.
public struct ImportChange: Sendable, Hashable {
  /// What happened to the object.
  public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
    /// It is new.
    case inserted
    /// Some of its values changed.
    case updated
    /// A record said that it is gone.
    case deleted
    /// The feed no longer has it.
    case pruned
  }

  /// The value of one attribute.
  public struct Value: Sendable, Hashable {
    /// The attribute.
    public var attribute: Attribute
    /// What it holds.
    public var value: StoredValue

    /// Makes a value.
    public init(_ attribute: Attribute, _ value: StoredValue) {
      self.attribute = attribute
      self.value = value
    }
  }

  /// An attribute before and after.
  public struct Field: Sendable, Hashable {
    /// The attribute.
    public var attribute: Attribute
    /// The value before; nil where there was no object.
    public var old: StoredValue?
    /// The value after; nil where there is no object any more.
    public var new: StoredValue?

    /// Makes a field.
    public init(_ attribute: Attribute, old: StoredValue?, new: StoredValue?) {
      self.attribute = attribute
      self.old = old
      self.new = new
    }
  }

  /// What happened to the links of one relationship.
  public struct Links: Sendable, Hashable {
    /// The relationship.
    public var relationship: String
    /// Whether it leads to one object at most.
    public var isToOne: Bool
    /// The keys of the targets that are linked no more.
    public var removed: [[Value]]
    /// The keys of the targets that are linked now.
    ///
    /// Where nothing is removed either, the targets are the same in another order.
    public var added: [[Value]]

    /// Makes a change of links.
    public init(
      _ relationship: String,
      isToOne: Bool,
      removed: [[Value]] = [],
      added: [[Value]] = []
    ) {
      self.relationship = relationship
      self.isToOne = isToOne
      self.removed = removed
      self.added = added
    }
  }

  /// What happened to the object.
  public var kind: Kind
  /// The entity.
  public var entity: String
  /// The entity that the object was of before, where that was another one of its family.
  public var formerEntity: String?
  /// The values of the entity's first unique key that has no null; where there is none, the object's primary key as
  /// `_pk`.
  public var key: [Value]
  /// What changed besides the key, in the order of the model: every value of an object that is new or
  /// gone unless it is null, else the values that differ; also the key that a stub of another one gets.
  public var fields: [Field]
  /// The relationships whose links changed, in the order of the model.
  ///
  /// The links of a to-many whose targets hold them are told with the targets, by their to-one.
  public var links: [Links]
  /// Where the record stands; nil for objects that were pruned, and for links that are stored with
  /// those of other records.
  public var origin: Origin?

  /// What stands for the value of a sensitive attribute.
  public static let mask = ForeignText.mask

  /// Makes a change.
  public init(
    _ kind: Kind,
    entity: String,
    key: [Value],
    fields: [Field],
    links: [Links] = [],
    origin: Origin? = nil
  ) {
    self.kind = kind
    self.entity = entity
    self.key = key
    self.fields = fields
    self.links = links
    self.origin = origin
  }

  /// A row's change in the words of an import; nil where nothing changed that the model has.
  init?(_ change: ChangeLog.Change, isPruning: Bool, origin: Origin?) {
    let identity = change.wholeKey
    var key: [String: [Value]] = [:]
    var fields: [Field] = []
    for (index, attribute) in change.attributes.enumerated() {
      let old = change.old?[index]
      let new = change.new?[index]
      let isKey = identity.contains { $0.utf8.elementsEqual(attribute.name.utf8) }
      if isKey {
        key[attribute.name] = [Value(attribute, Self.masked(new ?? old ?? .null, attribute))]
      }
      let isGiven = isKey && (old == nil || new == nil)
      if !isGiven, old != new, (old ?? .null) != .null || (new ?? .null) != .null {
        let field = Field(
          attribute,
          old: old.map { Self.masked($0, attribute) },
          new: new.map { Self.masked($0, attribute) }
        )
        fields.append(field)
      }
    }
    var links: [Links] = []
    for link in change.links {
      if identity.contains(where: { $0.utf8.elementsEqual(link.name.utf8) }) {
        let target = link.old.first ?? link.new.first
        key[link.name] = target.map { Self.values($0, of: link.name) }
        // Only that an object leaves its owner, or gets another one, is more than its key says.
        if change.old == nil || change.new == nil { continue }
      }
      if !link.isToOne || link.leadsElsewhere {
        links.append(
          Links(
            link.name,
            isToOne: link.isToOne,
            removed: link.old.map { Self.values($0) },
            added: link.new.map { Self.values($0) }
          )
        )
      }
    }
    switch (change.old, change.new) {
    case (nil, _): kind = .inserted
    case (_, nil): kind = isPruning ? .pruned : .deleted
    default:
      guard !fields.isEmpty || !links.isEmpty || change.formerEntity != nil else { return nil }
      kind = .updated
    }
    entity = change.entity
    formerEntity = change.formerEntity
    self.key =
      identity.isEmpty
      ? [Value(.primaryKey, change.primaryKey)]
      : identity.flatMap { key[$0] ?? [] }
    self.fields = fields
    self.links = links
    self.origin = origin
  }

  /// The values of a target's key; within the key of its owner they are named after the relationship.
  private static func values(
    _ target: ChangeLog.Target,
    of relationship: String? = nil
  ) -> [Value] {
    zip(target.key, target.values).map { attribute, value in
      var named = attribute
      if let relationship {
        named.name = target.key.count == 1 ? relationship : "\(relationship).\(attribute.name)"
      }
      return Value(named, masked(value, attribute))
    }
  }

  private static func masked(_ value: StoredValue, _ attribute: Attribute) -> StoredValue {
    attribute.isSensitive && value != .null ? .text(mask) : value
  }
}

extension ChangeLog.Change {
  /// The first unique key of which all values are there; empty where there is none.
  fileprivate var wholeKey: [String] {
    keys.first { names in
      names.allSatisfy { name in
        if let index = attributes.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
          return ((new ?? old)?[index] ?? .null) != .null
        }
        return links.contains {
          $0.name.utf8.elementsEqual(name.utf8) && !($0.old.isEmpty && $0.new.isEmpty)
        }
      }
    } ?? []
  }
}

extension ChangeLog.Links {
  /// Whether a to-one has another target than it had.
  ///
  /// One that has got another key meanwhile is the same; one that has the key of the former target stands for it.
  fileprivate var leadsElsewhere: Bool {
    old != new && old.map(\.primaryKey) != new.map(\.primaryKey)
      && (old.map(\.key) != new.map(\.key) || old.map(\.values) != new.map(\.values))
  }
}
