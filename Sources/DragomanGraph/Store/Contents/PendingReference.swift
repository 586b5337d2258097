/// A reference that waits in the store until its target comes, a row of `_dragoman_pending`.
///
/// Maps keep such references by `onUnresolved: pending`; the import that brings the target links it.
public struct PendingReference: Sendable, Hashable {
  /// The object that refers.
  public let owner: ObjectID
  /// What the owner is known by; empty where it is gone, or its entity has no unique key.
  public let ownerKey: ObjectKey
  /// The relationship with its entity: `Article.replaces`.
  public let relationship: String
  /// The entity that is referred to.
  public let target: String
  /// The key that nobody has yet.
  public let key: ObjectKey
}
