import Foundation
import GRDB

extension SQLiteStore: ObjectStore {
  var isShared: Bool { path != nil }
  var holdsNUL: Bool { true }

  func read<T>(_ layout: ModelLayout, _ body: (any StoreReader) throws -> T) throws -> T {
    try withSnapshot(layout) { snapshot in
      try check(layout, in: snapshot.database)
      return try body(snapshot)
    }
  }

  /// Refuses a layout that the file was migrated away from: what it names is gone, or means something else.
  ///
  /// Runs `PRAGMA schema_version`, which such a migration changes, and reads the model where it has changed.
  ///
  /// - Throws: `StoreError`, `.migrated`.
  private func check(_ layout: ModelLayout, in database: Database) throws {
    let pragma = try RawStatement(kept: "PRAGMA schema_version", in: database)
    defer { pragma.reset() }
    let version = try pragma.step() ? pragma.row.integer(0) : 0
    var known = seen.withLock { $0 }
    if known?.schemaVersion != version {
      let model = try StoredModel.load(database)
      let now = SeenModel(schemaVersion: version, migrations: model.migrations)
      seen.withLock { $0 = now }
      known = now
    }
    if known?.migrations != layout.migrations { throw StoreError.migrated(at: path) }
  }

  /// Which model a file has, as far as its readers ask.
  struct SeenModel {
    /// `PRAGMA schema_version`.
    let schemaVersion: Int64
    /// How often the file was migrated so that what was made for the model before fits no more.
    let migrations: Int
  }

  func save<T>(_ body: (any StoreWriter) throws -> T) throws -> T {
    try write { try body($0) }
  }

  /// Runs `UPDATE _dragoman_keys` in a transaction of its own.
  func reserveKeys(_ count: Int64, of tables: [String]) throws -> [Int64] {
    try write { session in
      try session.begin()
      let starts = try tables.map { table in
        let keys = try PrimaryKeys(table: table, database: session.database)
        let start = keys.next
        keys.take(count)
        try keys.save(to: session.database)
        return start
      }
      try session.commit()
      return starts
    }
  }

  func releaseKeys(_ blocks: [(table: String, next: Int64, end: Int64)]) throws {
    try write { session in
      try session.begin()
      for block in blocks {
        try session.database.execute(
          sql: "UPDATE _dragoman_keys SET next = ? WHERE \"table\" = ? AND next = ?",
          arguments: [block.next, block.table, block.end]
        )
      }
      try session.commit()
    }
  }
}

extension WriteSession: StoreWriter {
  func read<T>(_ layout: ModelLayout, _ body: (any StoreReader) throws -> T) throws -> T {
    guard layout.migrations == self.layout.migrations else { throw StoreError.migrated(at: path) }
    return try naming { try body(StoreSnapshot(database, layout)) }
  }

  func write(
    _ changes: ChangeSet,
    _ layout: ModelLayout,
    _ policy: MergePolicy
  ) throws -> SaveOutcome {
    try check(layout)
    return try naming {
      try PendingChangesWriter(database, layout, in: self.layout, policy: policy).write(changes)
    }
  }

  /// A file keeps one run; where it is this session's own, there is no other.
  func otherRuns() throws -> OtherRuns {
    let isThere = try !keepsRun && naming { try database.hasTable(runName) }
    return OtherRuns(names: isThere ? [runName] : [], lastPending: 0)
  }

  /// Runs `DELETE` in the tables of what waits.
  func endWaiting(_ owners: [String: Set<Int64>], in runs: [String]) throws {
    guard !runs.isEmpty else { return }
    try naming {
      for (relationship, owners) in owners {
        for table in try LinkStage.waiting(of: relationship, in: database) {
          let delete = try RawStatement(
            kept: "DELETE FROM \(table) WHERE owner IN (SELECT value FROM json_each(?))",
            in: database
          )
          try delete.bind(list: owners, 1)
          try delete.run()
        }
      }
    }
  }

  /// Runs `PRAGMA foreign_key_check`.
  func danglingLink() throws -> (table: String, key: Int64?, target: String)? {
    let list = "PRAGMA foreign_key_check"
    guard database.isInsideTransaction, let row = try Row.fetchOne(database, sql: list) else {
      return nil
    }
    return (try row.stored(0, of: list), try row.stored(1, of: list), try row.stored(2, of: list))
  }

  /// Errors of SQLite become ours; all others stay what they are.
  private func naming<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as DatabaseError {
      throw StoreError(error, path: path)
    }
  }
}

extension WriteSession {
  /// The relationships with references that wait in the store, as `Entity.relationship`, and the
  /// attributes of their targets' key.
  ///
  /// Runs `SELECT` over `_dragoman_pending`.
  package func pendingRelationships() throws(StoreError) -> [(name: String, key: [String])] {
    try StoreError.naming(path) {
      try PendingReference.check(database)
      return try Row.fetchAll(
        database,
        sql: "SELECT DISTINCT relationship, (SELECT json_group_array(e.key)"
          + " FROM json_each(_dragoman_pending.key) AS e) FROM _dragoman_pending"
      ).map { row in
        let place = PendingReference.table
        let names: String = try row.stored(1, of: place)
        return (
          try row.stored(0, of: place),
          try JSONDecoder().decode([String].self, from: Data(names.utf8))
        )
      }
    }
  }

  /// Whether an object has these values of a key.
  package func exists(
    _ reference: KeyReference,
    _ values: [StoredValue]
  ) throws(StoreError) -> Bool {
    try StoreError.naming(path) {
      let statement = try RawStatement(kept: reference.sql, in: database)
      for (index, value) in values.enumerated() { try statement.bind(value, Int32(index) + 1) }
      defer { statement.reset() }
      return try statement.step()
    }
  }
}
