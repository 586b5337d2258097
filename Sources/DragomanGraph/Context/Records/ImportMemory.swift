/// What an import works with in a context.
///
/// Large because it is everything that a context has of imports, apart from what it has without them.
struct ImportMemory {
  /// A writing session that reads go through, while an import runs in it.
  var session: (any StoreWriter)?
  /// What was written into the open transaction.
  var flushed = Flushed()
  /// Objects with unsaved changes by their unique keys, while records are imported.
  var keys: KeyIndex?
  /// That of the last import, good while nothing is changed past imports.
  var lastKeys: (keys: KeyIndex, round: Int, layout: ModelLayout)?
  /// Objects with unsaved changes in the contexts above, by unique key.
  var above: [Lookup: [KeyIndex.Values: RowKey]] = [:]
  /// What the contexts above were when that was looked up.
  var aboveRound = 0
  /// Stored objects that were looked up by unique key.
  var probed: [Lookup: [KeyIndex.Values: ManagedObject?]] = [:]
  /// Stored objects that were asked for ahead.
  var asked: AskedKeys?
  /// Rows that the import at hand fills.
  var buffers: [Int: RowBuffer] = [:]
  var defaults: [Int: [RowDefault]] = [:]
  /// Records that are open; those of hooks that import lie inside the first.
  var recordCount = 0
  /// The rows to which something was done since the first of them began, and whether it was to delete.
  var log: [(place: RowKey, isDeletion: Bool)] = []
  /// Ends of relationships whose number of targets is looked at when the import ends.
  var counted: Set<LinkKey> = []
  /// What relationships with `deny` led to from objects that are gone without ever being stored.
  var denials: [Denial] = []

  /// Whom a relationship with `deny` led to from an object that is gone.
  struct Denial {
    /// How long the log was by then.
    let place: Int
    let root: Int
    let link: RelationshipLayout
    let targets: [ManagedObject]
  }
}
