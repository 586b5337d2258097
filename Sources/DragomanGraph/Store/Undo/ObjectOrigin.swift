/// What a recorded import did to one object.
///
/// See `SQLiteStore.origins(of:)`.
public struct ObjectOrigin: Sendable, Hashable {
  /// What happened to the object.
  public enum Kind: String, Sendable, Hashable {
    /// It is new.
    case inserted
    /// Some of its values or links changed.
    case updated
    /// It went.
    case deleted
  }

  /// An attribute before and after.
  public struct AttributeChange: Sendable, Hashable {
    /// The attribute.
    public let attribute: Attribute
    /// The value before; nil where there was no object.
    public internal(set) var old: StoredValue?
    /// The value after; nil where there is no object any more.
    public let new: StoredValue?
  }

  /// The links of a relationship.
  public struct Links: Sendable, Hashable {
    /// The relationship's name.
    public let relationship: String
    /// The objects that it is linked to no more.
    public internal(set) var removed: [ObjectID]
    /// The objects that it is linked to since.
    public internal(set) var added: [ObjectID]
  }

  /// The import's number in the ledger.
  public let run: Int64
  /// What happened.
  public internal(set) var kind: Kind
  /// The values that changed, in the order of the model; those of sensitive attributes, too.
  ///
  /// Empty where the import found the entity without objects: then only is recorded which objects it made.
  public internal(set) var attributes: [AttributeChange]
  /// The relationships whose links changed, in the order of the model.
  public internal(set) var links: [Links]
}
