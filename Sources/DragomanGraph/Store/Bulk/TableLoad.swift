import GRDB

/// A table that is empty and is filled without its indexes: nothing is looked up, and SQLite's sorter makes the
/// indexes at the end.
///
/// Making an index of sorted keys writes each of its pages once; inserting random keys one by one reads and
/// writes pages all over it. What the unique indexes would have told, a filter of the keys does.
final class TableLoad {
  /// A unique index: the columns of its key.
  struct Key {
    let columns: [String]
  }

  /// The unique keys, in no order.
  let keys: [Key]
  /// The keys of the rows so far, and of those that are set aside.
  let filter = KeyFilter()
  /// Whether keys are not known any more: a row that is set aside may give an object another one.
  @exclusivity(unchecked) var isUnclear = false
  /// Whether the indexes are still away.
  @exclusivity(unchecked) private(set) var isOpen = true
  private let indexes: [String]

  /// Drops the indexes of a table.
  ///
  /// Runs `DROP INDEX`, in the open transaction.
  ///
  /// - Returns: nil where the table has rows, or something that the filter does not know how to stand for:
  ///   triggers, or unique indexes of expressions, of parts of the table or with another collation.
  /// - Throws: What SQLite refuses.
  init?(_ table: String, in database: Database) throws {
    let name = Schema.quoted(table)
    let hasRows = try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM main.\(name))")
    let hasTriggers = try Bool.fetchOne(
      database,
      sql: "SELECT EXISTS (SELECT 1 FROM main.sqlite_master WHERE type = 'trigger')"
    )
    guard hasRows == false, hasTriggers == false else { return nil }
    var keys: [Key] = []
    var indexes: [(name: String, sql: String)] = []
    for row in try Row.fetchAll(database, sql: "PRAGMA main.index_list(\(name))") {
      let index: String = row["name"]
      let sql = try String.fetchOne(
        database,
        sql: "SELECT sql FROM main.sqlite_master WHERE type = 'index' AND name = ?",
        arguments: [index]
      )
      // SQLite's own indexes cannot be dropped.
      guard let sql else { return nil }
      indexes.append((index, sql))
      guard row["unique"] == 1 else { continue }
      let parts = try Row.fetchAll(
        database,
        sql: "PRAGMA main.index_xinfo(\(Schema.quoted(index)))"
      ).filter { $0["key"] == 1 }
      let columns = parts.compactMap { part -> String? in
        let isPlain = part["coll"] == "BINARY"
        return isPlain ? part["name"] : nil
      }
      guard row["partial"] == 0, columns.count == parts.count else { return nil }
      keys.append(Key(columns: columns))
    }
    self.keys = keys
    // SQLite tells the newest first.
    self.indexes = indexes.reversed().map(\.sql)
    for index in indexes {
      try database.execute(sql: "DROP INDEX main.\(Schema.quoted(index.name))")
    }
  }

  /// Makes the indexes; the filter is given back before.
  ///
  /// Runs `CREATE INDEX`.
  func end(in database: Database) throws {
    guard isOpen else { return }
    isOpen = false
    filter.removeAll()
    for sql in indexes { try database.execute(sql: sql) }
  }
}

/// The tables of a transaction that are loaded.
///
/// They are loaded as long as nobody needs what is in them: whoever looks something up ends all loads before.
package final class TableLoads {
  private let database: Database
  private let path: String?
  private var loads: [String: TableLoad?] = [:]

  /// Kilobytes of page cache: rows are only added at the end, and SQLite sorts in portions of that size, a few
  /// at a time.
  private static let cacheKilobytes = 8192
  private var formerCache: Int?

  init(database: Database, path: String?) {
    self.database = database
    self.path = path
  }

  /// Whether tables are without their indexes.
  @exclusivity(unchecked) package private(set) var isOpen = false
  /// How often it was changed which tables are.
  @exclusivity(unchecked) package private(set) var changeCount = 0

  /// Whether a table is without its indexes.
  package func holds(_ table: String) -> Bool { loads[table]??.isOpen ?? false }

  /// The load of a table, begun by who asks first; nil where the table cannot be loaded, or no more.
  func load(of table: String) throws(StoreError) -> TableLoad? {
    if let known = loads[table] { return known?.isOpen == true ? known : nil }
    return try StoreError.naming(path) {
      let made = try TableLoad(table, in: database)
      loads[table] = .some(made)
      changeCount += 1
      if made != nil, !isOpen {
        isOpen = true
        formerCache = try Int.fetchOne(database, sql: "PRAGMA main.cache_size")
        try database.execute(
          sql: "PRAGMA main.cache_size=-\(Self.cacheKilobytes); PRAGMA threads=2"
        )
      }
      return made
    }
  }

  /// Makes the indexes of all tables that are loaded.
  ///
  /// - Throws: `StoreError` where the store fails.
  package func end() throws(StoreError) {
    guard isOpen else { return }
    isOpen = false
    changeCount += 1
    // A failure of the disk may have taken the transaction: nothing may be written outside of it.
    guard database.isInsideTransaction else {
      throw StoreError(.refused, "The transaction of the load is gone.", path: path)
    }
    try StoreError.naming(path) {
      for load in loads.values { try load?.end(in: database) }
      try database.execute(
        sql: "PRAGMA main.cache_size=\(formerCache ?? -2000); PRAGMA threads=0"
      )
    }
  }
}
