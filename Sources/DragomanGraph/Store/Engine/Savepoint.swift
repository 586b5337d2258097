import GRDB

/// A savepoint inside of a transaction: what a record does, or a run of them, can be undone whole.
///
/// See https://www.sqlite.org/lang_savepoint.html.
package final class Savepoint {
  private let database: Database
  private let statements: [RawStatement]
  private let path: String?

  init(database: Database, path: String?) throws {
    self.database = database
    self.path = path
    statements = try ["SAVEPOINT", "RELEASE", "ROLLBACK TO"].map {
      try RawStatement("\($0) _dragoman_record", in: database)
    }
  }

  /// Runs `SAVEPOINT`.
  package func begin() throws(StoreError) { try run(0) }

  /// Keeps what was done since `begin`: runs `RELEASE`.
  package func release() throws(StoreError) { try run(1) }

  /// Undoes what was done since `begin`: runs `ROLLBACK TO` and `RELEASE`.
  ///
  /// Where the transaction has made a table, SQLite compiles every statement anew after it. GRDB notes
  /// what SQLite says of each, in a list that only grows until a statement is made by GRDB itself: one is
  /// made here, or the time that an undo takes would grow with their number.
  package func undo() throws(StoreError) {
    try run(2)
    try run(1)
    try StoreError.naming(path) { _ = try database.makeStatement(sql: "SELECT 1") }
  }

  private func run(_ number: Int) throws(StoreError) {
    do throws(DatabaseError) {
      try statements[number].run()
    } catch {
      throw StoreError(error, path: path)
    }
  }
}
