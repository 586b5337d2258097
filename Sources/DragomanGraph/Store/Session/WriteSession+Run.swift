import GRDB

/// The ledger, and what an import in batches keeps in the file beside it, so that another one can go on
/// where it ended.
///
/// What it keeps are the tables `_dragoman_run…`: one row of text that is the import's own affair
/// (`_dragoman_run`), the objects that the feed has so far, the references that wait, and the records and
/// owners that the end of the import has to look at again. They are written in the transactions of the
/// batches that they speak of, and go with the last one.
extension WriteSession {
  private static let state = "main._dragoman_run"
  private static let held = "main._dragoman_run_held"
  private static let unchanged = "main._dragoman_run_unchanged"

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

  /// What an import kept.
  package struct KeptRun: Sendable {
    /// What it said of itself.
    package let state: String
    /// The records, by their number in the import, that are held until the end.
    package let held: Set<Int>
    /// The owners that the end may change.
    package let unchanged: [UnchangedOwner]
  }

  /// What the last import kept, if it did not come to its end.
  ///
  /// - Returns: nil where nothing is kept.
  /// - Throws: `StoreError`; `.damaged` for values that no import writes.
  package func keptRun() throws(StoreError) -> KeptRun? {
    try run {
      guard try database.hasTable("_dragoman_run"),
        let state = try database.storedValue(
          "SELECT state FROM \(Self.state)",
          of: "_dragoman_run",
          as: String.self
        )
      else { return nil }
      let owners = try Row.fetchAll(
        database,
        sql: "SELECT root, pk, entity, top FROM \(Self.unchanged)"
      )
      return KeptRun(
        state: state,
        held: try Set(
          Row.fetchAll(database, sql: "SELECT ordinal FROM \(Self.held)")
            .map { try $0.stored(0, of: Self.held) }
        ),
        unchanged: try owners.map { row in
          UnchangedOwner(
            root: try row.stored(0, of: Self.unchanged),
            key: try row.stored(1, of: Self.unchanged),
            entity: try row.stored(2, of: Self.unchanged),
            isTop: try row.stored(3, of: Self.unchanged, as: Int.self) != 0
          )
        }
      )
    }
  }

  /// Forgets what an import kept.
  ///
  /// Needs an open transaction. Runs `DROP TABLE`.
  package func dropRun() throws(StoreError) {
    try run {
      let names = try String.fetchAll(
        database,
        sql:
          "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name GLOB '_dragoman_run*'"
      )
      for name in names { try database.execute(sql: "DROP TABLE main.\(Schema.quoted(name))") }
    }
  }

  /// From here on, stages and the pruner keep in the file what they know from batch to batch.
  ///
  /// Where an import has kept it, they go on with it. Needs an open transaction. Runs `CREATE TABLE`.
  package func keepRun() throws(StoreError) {
    try run {
      try database.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS \(Self.state) (id INTEGER PRIMARY KEY, state TEXT);
          CREATE TABLE IF NOT EXISTS \(Self.held) (ordinal INTEGER PRIMARY KEY);
          CREATE TABLE IF NOT EXISTS \(Self.unchanged)
            (root INTEGER, pk INTEGER, entity TEXT, top INTEGER, PRIMARY KEY (root, pk)) WITHOUT ROWID;
          """
      )
    }
    keepsRun = true
  }

  /// Writes what the import says of itself, in place of what it said before.
  package func keep(state: String) throws(StoreError) {
    try run {
      try database.execute(
        sql: "INSERT OR REPLACE INTO \(Self.state) (id, state) VALUES (1, ?)",
        arguments: [state]
      )
    }
  }

  /// Remembers that a record is held until the end.
  package func keep(held ordinal: Int) throws(StoreError) {
    try run {
      try database.cachedStatement(sql: "INSERT OR IGNORE INTO \(Self.held) VALUES (?)")
        .execute(arguments: [ordinal])
    }
  }

  /// Remembers that an owner is counted as unchanged, or that it is no more.
  package func keep(_ owner: UnchangedOwner, isUnchanged: Bool) throws(StoreError) {
    try run {
      if isUnchanged {
        try database.cachedStatement(
          sql: "INSERT OR REPLACE INTO \(Self.unchanged) VALUES (?, ?, ?, ?)"
        ).execute(arguments: [owner.root, owner.key, owner.entity, owner.isTop ? 1 : 0])
      } else {
        try database.cachedStatement(
          sql: "DELETE FROM \(Self.unchanged) WHERE root = ? AND pk = ?"
        ).execute(arguments: [owner.root, owner.key])
      }
    }
  }

  /// The stored model as text; nil where there is none yet.
  package func storedModel() throws(StoreError) -> String? {
    try run {
      try StoredModel.text(database)
    }
  }

  // MARK: - The ledger

  /// Writes or rewrites a row of the import ledger.
  ///
  /// Needs an open transaction.
  ///
  /// Runs `INSERT` on the first call and `UPDATE` on later ones, into `_dragoman_imports`.
  public func record(_ entry: inout ImportLedgerEntry) throws(StoreError) {
    try StoreError.naming(path) { try entry.save(to: database) }
  }

  /// A row of the ledger.
  ///
  /// - Parameter id: Its number.
  /// - Returns: nil where it is gone.
  /// - Throws: `StoreError`; `.damaged` for values that no import writes.
  package func ledgerEntry(_ id: Int64) throws(StoreError) -> ImportLedgerEntry? {
    try run {
      try Row.fetchOne(
        database,
        sql: "SELECT * FROM _dragoman_imports WHERE id = ?",
        arguments: [id]
      ).map { try ImportLedgerEntry($0) }
    }
  }
}
