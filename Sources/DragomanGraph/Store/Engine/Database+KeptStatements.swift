import GRDB
import GRDBSQLite

extension Database {
  /// How many statements a connection keeps at most.
  static var keptStatementCount: Int { 256 }

  /// A statement that the connection keeps, found by its text or compiled.
  ///
  /// GRDB keeps every text that it was ever asked for, and texts name what is read: a program that asks for other
  /// columns all the time would never stop growing. When more are kept than `keptStatementCount` all are forgotten;
  /// whoever holds one goes on with it.
  func keptStatement(_ sql: String) throws -> Statement {
    let statement = try cachedStatement(sql: Self.mark + sql)
    // Only one that never ran may be new.
    let isNew = sqlite3_stmt_status(statement.sqliteStatement, SQLITE_STMTSTATUS_RUN, 0) == 0
    if isNew, keptStatements > Self.keptStatementCount { clearSchemaCache() }
    return statement
  }

  /// How many statements are kept now.
  ///
  /// SQLite goes through all that there are: O(n), a fraction of what compiling one takes.
  var keptStatements: Int {
    var count = 0
    var next = sqlite3_next_stmt(sqliteConnection, nil)
    while let statement = next {
      if let text = sqlite3_sql(statement), text.pointee == Self.mark.utf8.first.map(CChar.init) {
        count += 1
      }
      next = sqlite3_next_stmt(sqliteConnection, statement)
    }
    return count
  }

  /// What the texts of kept statements begin with, and no others.
  private static var mark: String { " " }
}
