/// The permanent identity of one stored object: its entity and its row's `_pk`.
///
/// Ids are reserved before insertion, never reused and safe to pass between threads.
public struct ObjectID: Sendable, Hashable, Codable {
  /// The name of the object's entity.
  public let entity: String
  /// The row's primary key, 1 or more.
  public let primaryKey: Int64

  /// Makes the id of an existing row.
  public init(entity: String, primaryKey: Int64) {
    self.entity = entity
    self.primaryKey = primaryKey
  }
}
