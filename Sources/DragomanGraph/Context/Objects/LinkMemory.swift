/// What a context knows of stored links.
struct LinkMemory {
  /// Counts how often what objects know of their targets was forgotten.
  private(set) var round: UInt32 = 0
  /// Rows that were deleted while the context lived: links that still name them lead nowhere.
  var goneRows: Set<RowKey> = []
  /// What the overlay's `settles` were when anything was read last.
  private var settles = 0
  /// The places behind the last ones of ordered lists that were added to.
  var ends: [LinkKey: Int64] = [:]

  /// Forgets which targets there are: they are read again when they are asked for.
  mutating func forgetTargets() {
    round &+= 1
    ends = [:]
  }

  /// Forgets them where somebody has stored changes of this context since they were read.
  mutating func check(_ settles: Int) {
    guard settles != self.settles else { return }
    self.settles = settles
    forgetTargets()
  }
}

/// What an import works with in a context.
struct ImportMemory {
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
  /// Rows that the import at hand fills.
  var buffers: [Int: RowBuffer] = [:]
  var defaults: [Int: [RowDefault]] = [:]
  /// Records that are open; those of hooks that import lie inside the first.
  var recordCount = 0
  /// The rows to which something was done since the first of them began, and whether it was to delete.
  var log: [(place: RowKey, isDeletion: Bool)] = []
}
