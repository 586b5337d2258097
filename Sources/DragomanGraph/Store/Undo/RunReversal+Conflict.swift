extension RunReversal {
  /// A row that was changed since, and how.
  struct Conflict: Hashable {
    /// The table of objects; its number in the model.
    let table: Int
    /// The object: of links their owner; nil where only the table is known.
    let key: Int64?
    /// The table of links, where it is about one.
    let links: String?
    let reason: Changeset.Conflict
  }

  /// A row whose former values another one has that is still to be changed back.
  struct Exchange {
    let table: Int
    let key: Int64
    let values: [(column: String, value: StoredValue)]
  }
}
