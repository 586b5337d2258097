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

  /// What happened to the object.
  public var kind: Kind
  /// The entity.
  public var entity: String
  /// The values of the entity's unique key; empty where it has none.
  public var key: [Value]
  /// What changed besides the key, in the order of the model: every value of an object that is new or
  /// gone unless it is null, else the values that differ.
  public var fields: [Field]
  /// Where the record stands; nil for objects that were pruned.
  public var origin: Origin?

  /// What stands for the value of a sensitive attribute.
  public static let mask = ForeignText.mask

  /// Makes a change.
  public init(_ kind: Kind, entity: String, key: [Value], fields: [Field], origin: Origin? = nil) {
    self.kind = kind
    self.entity = entity
    self.key = key
    self.fields = fields
    self.origin = origin
  }

  /// A row's change in the words of an import; nil where no attribute changed.
  init?(_ change: ChangeLog.Change, isPruning: Bool, origin: Origin?) {
    var key: [Value] = []
    var fields: [Field] = []
    for (index, attribute) in change.attributes.enumerated() {
      let old = change.old?[index]
      let new = change.new?[index]
      let isKey = change.identity.contains { $0.utf8.elementsEqual(attribute.name.utf8) }
      if isKey {
        key.append(Value(attribute, Self.masked(new ?? old ?? .null, attribute)))
      } else if old != new, (old ?? .null) != .null || (new ?? .null) != .null {
        let field = Field(
          attribute,
          old: old.map { Self.masked($0, attribute) },
          new: new.map { Self.masked($0, attribute) }
        )
        fields.append(field)
      }
    }
    switch (change.old, change.new) {
    case (nil, _): kind = .inserted
    case (_, nil): kind = isPruning ? .pruned : .deleted
    default:
      guard !fields.isEmpty else { return nil }
      kind = .updated
    }
    entity = change.entity
    self.key = key
    self.fields = fields
    self.origin = origin
  }

  private static func masked(_ value: StoredValue, _ attribute: Attribute) -> StoredValue {
    attribute.isSensitive && value != .null ? .text(mask) : value
  }
}
