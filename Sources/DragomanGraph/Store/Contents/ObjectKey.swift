/// What an object, or a reference to one, is known by: the values of a unique key.
///
/// A part that is a to-one relationship is spelled by the key of its target: `order.number`.
public struct ObjectKey: Sendable, Hashable {
  /// One value of a key.
  public struct Part: Sendable, Hashable {
    /// The attribute's name, with the relationships that lead to it: `order.number`.
    public let path: String
    /// The attribute; it tells the value's type, and whether it is sensitive.
    public let attribute: Attribute
    /// The value as it is stored.
    public let value: StoredValue

    init(_ path: String, _ attribute: Attribute, _ value: StoredValue) {
      self.path = path
      self.attribute = attribute
      self.value = value
    }
  }

  /// The values in the key's order; empty where the entity has no unique key.
  public let parts: [Part]

  init(_ parts: [Part]) { self.parts = parts }
}
