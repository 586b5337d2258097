import CSQLiteSession
import GRDB
import GRDBSQLite

/// What notes which rows of a store are changed, and what was in them before.
protocol ChangeNotes: AnyObject {
  /// Whether there are as many notes as should be kept in one piece.
  func isFull() throws -> Bool
  /// What differs from when the notes were taken last; from here on they are taken anew.
  func take() throws -> Changeset
  /// Notes nothing any more.
  func end()
}

/// Notes which rows of some tables are changed, and what was in them before: SQLite's session extension
/// (https://www.sqlite.org/sessionintro.html).
final class ChangesetRecording: ChangeNotes {
  /// Why the notes are lost, where SQLite cannot tell them; the store can be written all the same.
  struct Loss: Error {
    let cause: DatabaseError
  }

  /// How many bytes of notes are kept in memory.
  private static let portionByteCount = 4 << 20

  private let tables: [String]
  private let database: Database
  private var handle: OpaquePointer?

  /// Why nothing can be noted here, in words; nil: SQLite has the extension.
  static let obstacle =
    dragoman_has_sessions() != 0
    ? nil : "the SQLite of this system cannot record what an import does"

  /// Begins to note; it must have ended before the connection has.
  init(of tables: [String], in database: Database) throws(DatabaseError) {
    self.tables = tables
    self.database = database
    try begin()
  }

  deinit { end() }

  private func begin() throws(DatabaseError) {
    end()
    try Changeset.check(sqlite3session_create(database.sqliteConnection, "main", &handle))
    for table in tables { try Changeset.check(sqlite3session_attach(handle, table)) }
  }

  func end() {
    if let handle { sqlite3session_delete(handle) }
    handle = nil
  }

  func isFull() -> Bool {
    handle.map { Int(clamping: sqlite3session_memory_used($0)) > Self.portionByteCount } ?? false
  }

  func take() throws -> Changeset {
    let changes = try changeset()
    if !changes.isEmpty { try begin() }
    return changes
  }

  private func changeset() throws(Loss) -> Changeset {
    var count: Int32 = 0
    var bytes: UnsafeMutableRawPointer?
    guard let handle else { return Changeset([]) }
    do {
      try Changeset.check(sqlite3session_changeset(handle, &count, &bytes))
    } catch {
      throw Loss(cause: error)
    }
    return Changeset(taking: bytes, count)
  }
}

/// Rows that differ between two states of a database, as SQLite's session extension writes them.
struct Changeset {
  /// What happened to a row.
  enum Operation {
    case inserted
    case updated
    case deleted
  }

  /// One row, lent while it is looked at.
  struct Row {
    let table: String
    let operation: Operation
    fileprivate let iterator: OpaquePointer

    /// The value of a column before; nil for a new row, and where it did not change.
    func old(_ column: Int32) -> StoredValue? { value(sqlite3changeset_old, column) }

    /// The value of a column after; nil for a row that is gone, and where it did not change.
    func new(_ column: Int32) -> StoredValue? { value(sqlite3changeset_new, column) }

    /// The value of a column of the key.
    func key(_ column: Int32) -> StoredValue? {
      operation == .inserted ? new(column) : old(column)
    }

    private func value(
      _ read: (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Int32,
      _ column: Int32
    ) -> StoredValue? {
      var value: OpaquePointer?
      guard read(iterator, column, &value) == SQLITE_OK, let value else { return nil }
      return StoredValue(ColumnValue(value))
    }

    fileprivate init?(_ iterator: OpaquePointer) {
      var name: UnsafePointer<CChar>?
      var (count, operation, isIndirect): (Int32, Int32, Int32) = (0, 0, 0)
      guard
        sqlite3changeset_op(iterator, &name, &count, &operation, &isIndirect) == SQLITE_OK,
        let name
      else { return nil }
      table = String(cString: name)
      self.iterator = iterator
      switch operation {
      case SQLITE_INSERT: self.operation = .inserted
      case SQLITE_UPDATE: self.operation = .updated
      default: self.operation = .deleted
      }
    }
  }

  /// Why a row was left as it is.
  enum Conflict {
    /// The row has other values than it had.
    case changed
    /// The row is gone.
    case gone
    /// There is a row with its key, or with a unique key that it has.
    case taken
    /// A constraint is in the way.
    case refused
  }

  /// The bytes as SQLite wrote them.
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Copies SQLite's memory and frees it.
  fileprivate init(taking memory: UnsafeMutableRawPointer?, _ count: Int32) {
    bytes = memory.map { Array(UnsafeRawBufferPointer(start: $0, count: Int(count))) } ?? []
    sqlite3_free(memory)
  }

  var isEmpty: Bool { bytes.isEmpty }

  /// What leads back.
  func inverted() throws(DatabaseError) -> Changeset {
    var count: Int32 = 0
    var inverted: UnsafeMutableRawPointer?
    try Self.check(sqlite3changeset_invert(Int32(clamping: bytes.count), bytes, &count, &inverted))
    return Changeset(taking: inverted, count)
  }

  /// Lends each row to the closure.
  func withRows(_ body: (Row) throws -> Void) throws {
    if isEmpty { return }
    var bytes = bytes
    try bytes.withUnsafeMutableBytes { buffer in
      var iterator: OpaquePointer?
      try Self.check(
        sqlite3changeset_start(&iterator, Int32(clamping: buffer.count), buffer.baseAddress)
      )
      guard let iterator else { return }
      defer { sqlite3changeset_finalize(iterator) }
      while true {
        switch sqlite3changeset_next(iterator) {
        case SQLITE_ROW: if let row = Row(iterator) { try body(row) }
        case SQLITE_DONE: return
        case let code: try Self.check(code)
        }
      }
    }
  }

  /// Makes the changes, and leaves the rows alone that are not as they were.
  ///
  /// - Parameters:
  ///   - database: The connection, in a transaction.
  ///   - table: The table whose changes are not made.
  ///   - left: Called with each row that is left alone.
  /// - Returns: Whether references of any table may lead nowhere now. SQLite does not ask again when the transaction
  ///   ends.
  /// - Throws: What SQLite refuses.
  func apply(
    to database: Database,
    without table: String,
    _ left: (Row, Conflict) -> Void
  ) throws(DatabaseError) -> Bool {
    if isEmpty { return false }
    // A trigger of somebody's may roll back everything (`RAISE(ROLLBACK)`), and SQLite goes on with the rest, each of
    // which would be for good.
    let watch = CommitBan()
    database.add(transactionObserver: watch)
    defer { database.remove(transactionObserver: watch) }
    var bytes = bytes
    let leavesReferences = try withoutActuallyEscaping(left) { left throws(DatabaseError) in
      let listener = Listener(table, database.sqliteConnection, left)
      let code = bytes.withUnsafeMutableBytes { buffer in
        sqlite3changeset_apply(
          database.sqliteConnection,
          Int32(clamping: buffer.count),
          buffer.baseAddress,
          { context, name in
            guard let context, let name else { return 1 }
            let listener = Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue()
            return hasSameBytes(String(cString: name), listener.table) ? 0 : 1
          },
          { context, kind, iterator in
            // 0 is SQLITE_CHANGESET_OMIT, 2 SQLITE_CHANGESET_ABORT. Links that lead nowhere are looked for at the end.
            guard let context else { return 2 }
            let listener = Unmanaged<Listener>.fromOpaque(context).takeUnretainedValue()
            if sqlite3_get_autocommit(listener.connection) != 0 { return 2 }
            if kind == DRAGOMAN_CHANGESET_FOREIGN_KEY { listener.leavesReferences = true }
            guard let iterator, let conflict = Conflict(kind), let row = Row(iterator) else {
              return 0
            }
            listener.left(row, conflict)
            return 0
          },
          Unmanaged.passUnretained(listener).toOpaque()
        )
      }
      try withExtendedLifetime(listener) { () throws(DatabaseError) in try Self.check(code) }
      return listener.leavesReferences
    }
    guard database.isInsideTransaction else {
      throw DatabaseError(
        resultCode: .SQLITE_ABORT,
        message: "a trigger has rolled back the transaction"
      )
    }
    return leavesReferences
  }

  /// Refuses each commit: a changeset is applied within a transaction that is somebody else's to end.
  private final class CommitBan: TransactionObserver {
    private struct Refusal: Error {}

    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseWillCommit() throws { throw Refusal() }
    func databaseDidCommit(_ database: Database) {}
    func databaseDidRollback(_ database: Database) {}
  }

  private final class Listener {
    let table: String
    let connection: OpaquePointer?
    let left: (Row, Conflict) -> Void
    var leavesReferences = false

    init(
      _ table: String,
      _ connection: OpaquePointer?,
      _ left: @escaping (Row, Conflict) -> Void
    ) {
      self.table = table
      self.connection = connection
      self.left = left
    }
  }

  fileprivate static func check(_ code: Int32) throws(DatabaseError) {
    guard code != SQLITE_OK else { return }
    throw DatabaseError(resultCode: ResultCode(rawValue: code))
  }
}

extension Changeset.Conflict {
  fileprivate init?(_ kind: Int32) {
    switch kind {
    case DRAGOMAN_CHANGESET_DATA: self = .changed
    case DRAGOMAN_CHANGESET_NOTFOUND: self = .gone
    case DRAGOMAN_CHANGESET_CONFLICT: self = .taken
    case DRAGOMAN_CHANGESET_CONSTRAINT: self = .refused
    default: return nil
    }
  }
}
