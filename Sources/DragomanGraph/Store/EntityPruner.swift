import GRDB
import GRDBSQLite

/// Remembers which objects of an entity a feed has, and deletes the others.
///
/// The keys are kept in a temporary table, not in memory: a feed may be larger than that.
public final class EntityPruner {
  /// Table names are never taken from users.
  private static let seenTable = "_dragoman_seen"

  private let database: Database
  private let path: String?
  private let table: String
  private let columns: [String]
  private let mark: PreparedSentence
  private let seen: String

  /// Makes the temporary table; `number` tells those of several entities apart.
  ///
  /// - Throws: What SQLite refuses.
  init(
    database: Database,
    path: String?,
    statements: EntityStatements,
    keySlots: [Int],
    number: Int
  ) throws {
    self.database = database
    self.path = path
    table = Schema.quoted(statements.entity.table)
    columns = keySlots.map { Schema.quoted(statements.slots[$0].column) }
    seen = "temp.\(Self.seenTable)\(number)"
    let names = columns.joined(separator: ", ")
    try database.execute(sql: "DROP TABLE IF EXISTS \(seen)")
    try database.execute(
      sql: "CREATE TABLE \(seen) (\(names), PRIMARY KEY (\(names))) WITHOUT ROWID"
    )
    let parameters = columns.map { _ in "?" }.joined(separator: ", ")
    mark = try PreparedSentence(
      EntityStatements.Sentence(
        sql: "INSERT OR IGNORE INTO \(seen) VALUES (\(parameters))",
        slots: keySlots
      ),
      in: database
    )
  }

  /// Remembers that the feed has the object of a row.
  public func see(
    _ row: UnsafeBufferPointer<RowValue>,
    arena: UnsafeRawPointer
  ) throws(StoreError) {
    mark.bind(row, arena)
    let code = sqlite3_step(mark.handle)
    sqlite3_reset(mark.handle)
    guard code == SQLITE_DONE || code == SQLITE_CONSTRAINT else {
      throw StoreError(DatabaseError(resultCode: ResultCode(rawValue: code)), path: path)
    }
  }

  /// How many objects there are, and how many of them the feed does not have.
  ///
  /// Runs two `SELECT count(*)`; objects without a key are never counted as missing.
  public func count() throws(StoreError) -> (all: Int, missing: Int) {
    do {
      let all = try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0
      let missing = try Int.fetchOne(
        database,
        sql: "SELECT count(*) FROM \(table) WHERE \(isMissing)"
      )
      return (all, missing ?? 0)
    } catch {
      throw StoreError(error, path: path)
    }
  }

  /// Deletes the objects that the feed does not have, and returns how many there were.
  ///
  /// Runs one `DELETE`.
  public func prune() throws(StoreError) -> Int {
    do {
      try database.execute(sql: "DELETE FROM \(table) WHERE \(isMissing)")
      let count = database.changesCount
      try database.execute(sql: "DROP TABLE \(seen)")
      return count
    } catch {
      throw StoreError(error, path: path)
    }
  }

  /// Deletes the objects that the feed does not have, by the delete rules of their relationships.
  ///
  /// Stubs stay: no feed has them.
  package func prune(
    with deleter: ObjectDeleter,
    _ entity: EntityLayout
  ) throws(StoreError) -> ObjectDeleter.Outcome {
    let stubs = entity.hasStubColumn ? " AND _stub IS NULL" : ""
    try deleter.mark("_pk FROM \(table) WHERE \(isMissing)\(stubs)", of: entity)
    let outcome = try deleter.delete()
    do {
      try database.execute(sql: "DROP TABLE \(seen)")
    } catch {
      throw StoreError(error, path: path)
    }
    return outcome
  }

  private var isMissing: String {
    let hasKey = columns.map { "\(table).\($0) IS NOT NULL" }
    let isSeen = columns.map { "seen.\($0) = \(table).\($0)" }
    return hasKey.joined(separator: " AND ")
      + " AND NOT EXISTS (SELECT 1 FROM \(seen) AS seen WHERE \(isSeen.joined(separator: " AND ")))"
  }
}
