/// What taking back an import did, or what is in its way.
public struct UndoReport: Sendable, Hashable {
  /// What became of the objects of an entity, those of its sub-entities among them.
  public struct Counts: Sendable, Hashable {
    /// Objects that the import had deleted, and that are back.
    public var restored = 0
    /// Objects that the import had made, and that are gone.
    public var deleted = 0
    /// Objects that have the values again that the import had changed.
    public var changed = 0

    /// Makes zeros.
    public init() {}
  }

  /// An object that was changed since the import.
  public struct Conflict: Sendable, Hashable {
    /// What is in the way.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
      /// It has other values or links than the import gave it.
      case changed
      /// It was deleted.
      case deleted
      /// Another object has its unique key by now.
      case taken
      /// An object that the import did not make refers to it.
      case referenced
    }

    /// The entity, or the root of its family.
    public let entity: String
    /// The object; nil where only the entity is known.
    public let object: ObjectID?
    /// What it is known by; nil where it has no unique key, or is gone.
    public let key: ObjectKey?
    /// The table of links, where it is about one.
    public let links: String?
    /// What is in the way.
    public let reason: Reason
  }

  /// The import, as the ledger has it.
  public let run: ImportLedgerEntry
  /// By entity; entities of which nothing changed are left out.
  public let entities: [String: Counts]
  /// What is in the way, a hundred objects at most; not empty: nothing was done.
  public let conflicts: [Conflict]
  /// How many there are.
  public let conflictCount: Int
  /// Whether the undo can be taken back itself: of more than a million rows it is not recorded.
  public package(set) var isRecorded = true

  /// Whether nothing is in the way.
  public var isPossible: Bool { conflictCount == 0 }
}
