/// What an import kept.
package struct KeptRun: Sendable {
  /// An owner of references that wait, counted as unchanged until they are resolved.
  package struct UnchangedOwner: Sendable {
    /// The root of its entity.
    package let root: Int
    /// Its primary key.
    package let key: Int64
    /// Its entity.
    package let entity: String
    /// Whether it is the object of a record, not one nested in it.
    package let isTop: Bool

    /// Describes one.
    package init(root: Int, key: Int64, entity: String, isTop: Bool) {
      self.root = root
      self.key = key
      self.entity = entity
      self.isTop = isTop
    }
  }

  /// Its name.
  package let name: String
  /// What it said of itself.
  package let state: String
  /// The records, by their number in the import, that are held until the end.
  package let held: Set<Int>
  /// The owners that the end may change.
  package let unchanged: [UnchangedOwner]
}

/// The ledger, and what an import in batches keeps in the store beside it, so that another one can go on
/// where it ended.
///
/// What it keeps are the tables `_dragoman_run…` (`ImportSession.runName`): one row of text that is the import's own
/// affair (`_dragoman_run`), the objects that the feed has so far, the references that wait, and the records and
/// owners that the end of the import has to look at again. They are written in the transactions of the
/// batches that they speak of, and go with the last one.
extension ImportSession {
  private var state: String { runName }
  private var held: String { "\(runName)_held" }
  private var unchanged: String { "\(runName)_unchanged" }

  /// What a run kept, if it did not come to its end.
  ///
  /// - Parameter name: One of `keptRunNames()`.
  /// - Returns: nil where nothing is kept.
  /// - Throws: `StoreError`; `.damaged` for values that no import writes.
  package func keptRun(named name: String) throws(StoreError) -> KeptRun? {
    guard try sql.hasTable(name),
      let text = try sql.rows(["state"], "FROM \(name)").first?
        .stored(0, of: name, as: String.self)
    else { return nil }
    let (held, unchanged) = ("\(name)_held", "\(name)_unchanged")
    let owners = try sql.rows(["root", "pk", "entity", "top"], "FROM \(unchanged)")
    return KeptRun(
      name: name,
      state: text,
      held: Set(try sql.integers("ordinal", "FROM \(held)").map { Int($0) }),
      unchanged: try owners.map { row throws(StoreError) in
        KeptRun.UnchangedOwner(
          root: try row.stored("root", of: unchanged),
          key: try row.stored("pk", of: unchanged),
          entity: try row.stored("entity", of: unchanged),
          isTop: try row.stored("top", of: unchanged, as: Int.self) != 0
        )
      }
    )
  }

  /// Forgets what the session's run kept.
  ///
  /// Needs an open transaction. Runs `DROP TABLE`.
  package func dropRun() throws(StoreError) { try dropRun(named: runName) }

  /// Forgets what a run kept.
  package func dropRun(named run: String) throws(StoreError) {
    for name in try sql.tables(beginning: run) where name == run || name.hasPrefix("\(run)_") {
      try sql.run("DROP TABLE \(Schema.quoted(name))")
    }
  }

  /// From here on, stages and the pruner keep in the store what they know from batch to batch.
  ///
  /// Where an import has kept it, they go on with it. Needs an open transaction. Runs `CREATE TABLE`.
  package func keepRun() throws(StoreError) {
    for table in [
      "\(state) (id INTEGER PRIMARY KEY, state TEXT)",
      "\(held) (ordinal INTEGER PRIMARY KEY)",
      "\(unchanged) (root INTEGER, pk BIGINT, entity TEXT, top INTEGER, PRIMARY KEY (root, pk))"
        + sql.keyedTable,
    ] { try sql.run("CREATE TABLE IF NOT EXISTS \(table)") }
    keepsRun = true
  }

  /// What the session's run says of itself by now; nil: it is gone.
  package func keptState() throws(StoreError) -> String? { try keptState(of: state) }

  /// What a run says of itself; nil: nothing yet, or it is gone.
  package func keptState(of name: String) throws(StoreError) -> String? {
    guard try sql.hasTable(name) else { return nil }
    return try sql.rows(["state"], "FROM \(name)").first?.stored(0, of: name, as: String.self)
  }

  /// Writes what the import says of itself, in place of what it said before.
  package func keep(state: String) throws(StoreError) {
    try sql.run(
      "INSERT INTO \(self.state) (id, state) VALUES (1, ?1) ON CONFLICT (id)"
        + " DO UPDATE SET state = excluded.state",
      [.text(state)]
    )
  }

  /// Remembers that a record is held until the end.
  package func keep(held ordinal: Int) throws(StoreError) {
    try sql.run(
      "INSERT INTO \(held) VALUES (?1) ON CONFLICT DO NOTHING",
      [.integer(Int64(ordinal))]
    )
  }

  /// Remembers that an owner is counted as unchanged, or that it is no more.
  package func keep(_ owner: KeptRun.UnchangedOwner, isUnchanged: Bool) throws(StoreError) {
    let place: [StoredValue] = [.integer(Int64(owner.root)), .integer(owner.key)]
    if isUnchanged {
      try sql.run(
        "INSERT INTO \(unchanged) (root, pk, entity, top) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (root, pk)"
          + " DO UPDATE SET entity = excluded.entity, top = excluded.top",
        place + [.text(owner.entity), .integer(owner.isTop ? 1 : 0)]
      )
    } else {
      try sql.run("DELETE FROM \(unchanged) WHERE root = ?1 AND pk = ?2", place)
    }
  }

  /// A row of the ledger.
  ///
  /// - Parameter id: Its number.
  /// - Returns: nil where it is gone.
  /// - Throws: `StoreError`; `.damaged` for values that no import writes.
  package func ledgerEntry(_ id: Int64) throws(StoreError) -> ImportLedgerEntry? {
    try sql.rows(ImportLedgerEntry.columns, "FROM _dragoman_imports WHERE id = ?1", [.integer(id)])
      .first
      .map { row throws(StoreError) in try ImportLedgerEntry(row) }
  }

  /// The last entry of the ledger that satisfies a test; a thousand are looked at.
  package func lastLedgerEntry(
    where test: (ImportLedgerEntry) -> Bool
  ) throws(StoreError) -> ImportLedgerEntry? {
    let rows = try sql.rows(
      ImportLedgerEntry.columns,
      "FROM _dragoman_imports ORDER BY id DESC LIMIT 1000"
    )
    for row in rows {
      let entry = try ImportLedgerEntry(row)
      if test(entry) { return entry }
    }
    return nil
  }
}
