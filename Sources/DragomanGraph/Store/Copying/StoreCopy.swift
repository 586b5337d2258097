/// What a copy of a store has copied: of each table how many rows, and a hash of them that both sides have.
public struct StoreCopy: Sendable, Hashable {
  /// The rows of one table.
  public struct Table: Sendable, Hashable {
    /// The table: that of an entity and its sub-entities, or of a relationship's links.
    public let name: String
    /// Whether its rows are links, and no objects.
    public let isLinks: Bool
    /// How many rows there are on both sides.
    public let rowCount: Int
    /// How many of them an earlier copy had brought that was stopped.
    public let resumedCount: Int
    /// A hash of all rows in the order of their keys, the same on both sides: 16 hexadecimal digits.
    public let digest: String
  }

  /// The tables, in the order of the model.
  public let tables: [Table]
  /// How many references wait for their target.
  public let pendingCount: Int
  /// How many imports the history tells of.
  public let importCount: Int
  /// The relationships whose links stay behind, as `Entity.relationship`: they lead to entities that are not copied.
  public let leftBehind: [String]

  /// How many objects there are.
  public var objectCount: Int { tables.reduce(0) { $0 + ($1.isLinks ? 0 : $1.rowCount) } }
}
