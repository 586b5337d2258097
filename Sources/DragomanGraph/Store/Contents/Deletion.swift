/// What deleting the objects of a request does: which objects go, and what stands against it.
public struct Deletion: Sendable, Hashable {
  /// The objects of one entity that go.
  public struct Count: Sendable, Hashable {
    /// The objects' own entity.
    public let entity: String
    /// How many the request has.
    public let matched: Int
    /// How many go with them, by the delete rule `cascade`.
    public let cascaded: Int
  }

  /// A relationship whose delete rule does not let objects go.
  public struct Protection: Sendable, Hashable {
    /// The relationship, as `Entity.relationship`.
    public let relationship: String
    /// `deny`, or `noAction` where links would be left that lead nowhere.
    public let rule: Relationship.DeleteRule
    /// How many objects it protects: those that have targets which stay.
    public let objectCount: Int
    /// The first of them, in the order of their ids.
    public let examples: [Example]
  }

  /// An object with what it is known by.
  public struct Example: Sendable, Hashable {
    /// The object's identity.
    public let objectID: ObjectID
    /// The object's own entity.
    public let entity: String
    /// The first unique key of which it has all values.
    public let key: ObjectKey
  }

  /// The objects that go, or would, in the order of the model; empty where nothing matches.
  public let counts: [Count]
  /// What stands against it, in the order of the model; nothing is deleted then.
  public let protections: [Protection]
  /// Whether the objects are deleted.
  public internal(set) var isDone = false

  /// How many objects the request has.
  public var matchedCount: Int { counts.reduce(0) { $0 + $1.matched } }
  /// How many objects go with them.
  public var cascadedCount: Int { counts.reduce(0) { $0 + $1.cascaded } }
}
