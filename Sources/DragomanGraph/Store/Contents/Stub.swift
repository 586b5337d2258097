/// An object that holds a key only, made for a reference whose target no feed has brought yet.
///
/// Maps make stubs by `onUnresolved: stub`; the record of the object, when it comes, fills it.
public struct Stub: Sendable, Hashable {
  /// The object's identity.
  public let objectID: ObjectID
  /// The object's own entity: the one asked for, or one of its sub-entities.
  public let entity: String
  /// What it is known by: the first unique key of which it has all values.
  public let key: ObjectKey
}
