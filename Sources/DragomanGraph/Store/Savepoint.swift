import GRDB
import GRDBSQLite

/// A savepoint inside of a transaction: what a record does, or a run of them, can be undone whole.
///
/// See https://www.sqlite.org/lang_savepoint.html.
package final class Savepoint {
  private let statements: [Statement]
  private let path: String?

  init(database: Database, path: String?) throws {
    self.path = path
    statements = try ["SAVEPOINT", "RELEASE", "ROLLBACK TO"].map {
      try database.makeStatement(sql: "\($0) _dragoman_record")
    }
  }

  /// Runs `SAVEPOINT`.
  package func begin() throws(StoreError) { try run(0) }

  /// Keeps what was done since `begin`: runs `RELEASE`.
  package func release() throws(StoreError) { try run(1) }

  /// Undoes what was done since `begin`: runs `ROLLBACK TO` and `RELEASE`.
  package func undo() throws(StoreError) {
    try run(2)
    try run(1)
  }

  private func run(_ number: Int) throws(StoreError) {
    let handle = statements[number].sqliteStatement
    let code = sqlite3_step(handle)
    sqlite3_reset(handle)
    guard code == SQLITE_DONE else {
      throw StoreError(DatabaseError(resultCode: ResultCode(rawValue: code)), path: path)
    }
  }
}
