/// What a store holds, counted: objects by entity, links by relationship, what waits, and imports.
///
/// Everything in it is of one moment.
public struct StoreContents: Sendable, Hashable {
  /// The objects of one entity.
  public struct EntityContents: Sendable, Hashable {
    /// The entity's name.
    public let name: String
    /// The entity it is a kind of; nil for most.
    public let parent: String?
    /// How many parents are above it.
    public let depth: Int
    /// The table its objects are in.
    public let table: String
    /// How many objects are of this very entity, stubs included and sub-entities not.
    public let objectCount: Int
    /// How many of them hold their key only.
    public let stubCount: Int
    /// The unique keys that the entity declares itself; the first one is the identity.
    public let uniqueKeys: [[String]]
    /// The other indexes that it declares.
    public let indexes: [[String]]
  }

  /// The links of one relationship.
  public struct RelationshipContents: Sendable, Hashable {
    /// The relationship with its entity: `Article.replaces`.
    public let name: String
    /// The entity it leads to.
    public let destination: String
    /// How many objects it leads to.
    public let kind: Relationship.Kind
    /// How many links there are; the inverse counts the same ones.
    public let linkCount: Int
    /// How many references wait for their target.
    public let pendingCount: Int
  }

  /// The format of the file, `PRAGMA user_version`; 0 where the store holds nothing yet.
  public let formatVersion: Int
  /// The size of the database in bytes, without its write-ahead log.
  public let byteCount: Int
  /// The entities, each before its sub-entities.
  public let entities: [EntityContents]
  /// The relationships, in the order of the entities.
  public let relationships: [RelationshipContents]
  /// Stubs: all, or the first ones of each entity, as was asked for.
  public let stubs: [Stub]
  /// References that wait, in the order of their owners and keys: all, or the first ones of each relationship, as was
  /// asked for.
  public let pendingReferences: [PendingReference]
  /// How many references wait.
  public let pendingCount: Int
  /// How many imports the ledger tells of.
  public let importCount: Int
  /// The last one; nil if there was none.
  public let lastImport: ImportLedgerEntry?
}
