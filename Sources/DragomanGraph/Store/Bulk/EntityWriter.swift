import GRDB
import GRDBSQLite

/// Writes the rows of one entity in bulk: one prepared statement a shape, no `SELECT` a record.
///
/// A *shape* is the set of attributes that a row gives. Rows of one shape run one statement:
///
/// ```sql
/// INSERT INTO "Person" (_pk, _v, "id", "name") VALUES (?, 1, ?, ?)
/// ON CONFLICT ("id") DO UPDATE SET "name" = excluded."name", _v = _v + 1
/// WHERE "name" IS NOT excluded."name"
/// ```
///
/// so that SQLite itself finds the object, compares, and dirties no page when nothing changed.
/// What it did is read off the connection: the row id that was set to 0 before tells insert from
/// update, and no change at all means unchanged (https://www.sqlite.org/c3ref/changes.html).
///
/// Where rows have links, that statement is expensive for a new object (`insertOnly`): after a row
/// that made an object, the next one is tried as a plain `INSERT … ON CONFLICT DO NOTHING` first.
///
/// Large because the hot path keeps its last shape, statement and key at hand instead of looking them up for
/// each row.
public final class EntityWriter {
  /// What happens to objects that exist.
  public enum Mode: String, Sendable, Hashable, Codable, CaseIterable {
    /// Attributes that the record gives are set.
    case upsert
    /// The record is refused.
    case insert
    /// The object is left untouched.
    case ignore
    /// The object gets exactly the attributes of the record: those that it does not give get their default.
    case replace
  }

  /// What became of a row.
  public enum Outcome: Sendable, Hashable {
    /// A new object.
    case inserted
    /// An object was changed.
    case updated
    /// The object was already so.
    case unchanged
    /// The object exists and was left alone: by mode `ignore`, or because it is newer.
    case skipped
    /// The object was deleted.
    case deleted
    /// Mode `insert`: an object with this key exists.
    case keyExists
    /// Another unique key of the entity is taken by another object; the columns, as SQLite says.
    case duplicate(String)
    /// The object with this key is of another branch of the entity's family: of which one.
    case otherEntity(String)
    /// The object with this key is deleted in main, which has not saved that: none may be stored beside it.
    case deletedAbove
    /// A required attribute is not given, and no object with this key exists.
    case incomplete(String)
    /// The row is larger than SQLite takes.
    case tooLarge
    /// The text of a property holds U+0000, which the store cannot hold.
    case holdsNUL(String)
    /// A decimal has more digits than the store can hold; of which property.
    case hasTooManyDigits(String)
  }

  /// Whether rows are refused that a server cannot hold: they go on to one.
  package var isForServer = false

  /// The statements for rows of one shape that delete, or only look.
  private struct Deletion {
    let delete: PreparedSentence
    let find: PreparedSentence
    let probe: PreparedSentence
    let keeper: PreparedSentence?
  }

  let database: Database
  let path: String?
  private let statements: EntityStatements
  private let keys: PrimaryKeys
  let note: RowNote?
  private let lookUpCount: Int
  /// The primary key of the object of the last row, where the writer notes objects; of a new
  /// object always.
  @exclusivity(unchecked) package internal(set) var key: Int64?
  private var prepared: [Shape: Prepared] = [:]
  @exclusivity(unchecked) private var lastShape: Shape?
  @exclusivity(unchecked) private var last: Prepared?
  private var deletions: [Shape: Deletion] = [:]
  /// Where the table is loaded if it is empty; nil: it is not, or no more.
  @exclusivity(unchecked) private var loads: TableLoads?
  @exclusivity(unchecked) private var loader: RowLoader?

  /// More shapes than this and the statements are made anew: each holds some ten kilobytes.
  ///
  /// Ten attributes that records may leave out are 1,024 shapes.
  private static let maximumShapeCount = 1_100

  init(
    database: Database,
    path: String?,
    statements: EntityStatements,
    keys: PrimaryKeys,
    note: RowNote? = nil,
    loads: TableLoads? = nil
  ) {
    self.loads = loads
    self.database = database
    self.path = path
    self.statements = statements
    self.keys = keys
    self.note = note
    lookUpCount = statements.slots.reduce(0) { count, slot in
      if case .key(let reference, _) = slot.kind { max(count, reference.number + 1) } else { count }
    }
  }

  /// What stood in a noted column before the last row updated its object, or left it alone.
  package func previous(_ column: Int) -> Int64? { note?.previous(column) }

  /// The values that the last row has overwritten, by the columns of their attributes.
  package var former: [(column: String, value: StoredValue)] {
    guard let note, let last, last.former.count == note.former.count else { return [] }
    return Array(zip(last.former, note.former))
  }

  /// The first primary key that the session can have given to an object of the table.
  package var firstKey: Int64 { keys.first }

  /// The target that a look-up of the last row found.
  package func target(_ number: Int) -> Int64? { note?.target(number) }

  /// Writes one row.
  ///
  /// - Parameters:
  ///   - row: A value for each slot.
  ///   - arena: Where the values' text and bytes are.
  /// - Returns: What happened to the object.
  /// - Throws: `StoreError` where the store fails; a row that breaks a rule is an `Outcome`.
  public func write(
    _ row: UnsafeBufferPointer<RowValue>,
    arena: UnsafeRawPointer
  ) throws(StoreError) -> Outcome {
    try write(row, arena: arena, reserved: nil)
  }

  /// Writes one row; a new object has the primary key that was reserved for it (`reserveKey()`), if one was.
  package func write(
    _ row: UnsafeBufferPointer<RowValue>,
    arena: UnsafeRawPointer,
    reserved: Int64?
  ) throws(StoreError) -> Outcome {
    if isForServer, let misfit = statements.firstMisfit(in: row, arena) { return misfit }
    if let loader, loader.isOpen {
      let next = reserved ?? keys.next
      note?.clear(lookUpCount: lookUpCount)
      guard loader.step(row, arena, key: next) == SQLITE_DONE else {
        return try refusal(connection())
      }
      key = next
      if reserved == nil { keys.take() }
      return .inserted
    }
    let prepared = try prepare(row)
    let connection = try connection()
    let next = prepared.makesObjects || prepared.takesPlaces ? reserved ?? keys.next : nil
    var effect = Effect.none
    if let insertOnly = prepared.insertOnly, prepared.expectsNew {
      effect = run(insertOnly, row, arena, key: next, connection)
    }
    if effect == .none { effect = run(prepared.write, row, arena, key: next, connection) }
    prepared.expectsNew = effect == .inserted
    switch effect {
    case .failed:
      let refusal = try refusal(connection)
      guard case .duplicate = refusal,
        try completeStub(by: prepared, row, arena, key: next, connection)
      else { return refusal }
      if prepared.takesPlaces, reserved == nil { keys.take() }
      return .updated
    case .inserted:
      key = next
      if reserved == nil { keys.take() }
      return .inserted
    case .updated:
      key = note?.key
      if prepared.takesPlaces, reserved == nil { keys.take() }
      return .updated
    case .none: key = note?.key
    }
    if let other = try prepared.relative?.text(row, arena, path: path) {
      return .otherEntity(other)
    }
    if let missing = prepared.missing {
      if key == nil { key = try prepared.probe?.key(row, arena, path: path) }
      if key == nil || statements.mode == .replace {
        // Whatever it lacks, an older row leaves its object alone, unless each has to be whole.
        if statements.mode == .upsert, try isOlder(row, arena, prepared) { return .skipped }
        return .incomplete(missing)
      }
    }
    if try isOlder(row, arena, prepared) { return .skipped }
    switch statements.mode {
    case .upsert, .replace: return .unchanged
    case .ignore: return .skipped
    case .insert: return .keyExists
    }
  }

  /// Whether the object that has the row's key is newer than the row; then it is noted.
  func isOlder(
    _ row: UnsafeBufferPointer<RowValue>,
    _ arena: UnsafeRawPointer,
    _ prepared: Prepared
  ) throws(StoreError) -> Bool {
    guard let newer = try prepared.newer?.key(row, arena, path: path) else { return false }
    key = newer
    return true
  }

  /// Whether what becomes of a row can be told only when the table has its indexes again (`TableLoads.end()`).
  ///
  /// An empty table is loaded from the first question on, where the writer may do that. A row that is not
  /// undecided is to be written next.
  package func isUndecided(
    _ row: UnsafeBufferPointer<RowValue>,
    arena: UnsafeRawPointer,
    isTombstone: Bool
  ) throws(StoreError) -> Bool {
    guard let loader = try openLoader() else { return false }
    return isTombstone ? !loader.lacksObject(row, arena) : !loader.makesObject(row, arena)
  }

  /// Whether the table may be loaded, or is.
  package var isLoadable: Bool { loads != nil }

  /// Begins to load the table, if it is empty.
  ///
  /// Not within a savepoint: who undoes it would give the table its indexes back, and nobody would know.
  package func openLoad() throws(StoreError) { _ = try openLoader() }

  /// Takes a primary key for a row that is written later.
  package func reserveKey() -> Int64? {
    keys.take()
    return keys.next - 1
  }

  private func openLoader() throws(StoreError) -> RowLoader? {
    guard let loads else { return nil }
    if let loader, loader.isOpen { return loader }
    let load = try loads.load(of: statements.entity.table)
    loader = try StoreError.naming(path) {
      try load.map { try RowLoader(statements, $0, in: database) }
    }
    // It has rows by now, or cannot be loaded.
    if loader == nil { self.loads = nil }
    return loader
  }

  /// What a statement did.
  enum Effect {
    case inserted
    case updated
    case none
    case failed
  }

  func run(
    _ statement: PreparedSentence,
    _ row: UnsafeBufferPointer<RowValue>,
    _ arena: UnsafeRawPointer,
    key: Int64?,
    _ connection: OpaquePointer
  ) -> Effect {
    if let key { sqlite3_bind_int64(statement.handle, 1, key) }
    note?.clear(lookUpCount: lookUpCount)
    statement.bind(row, arena)
    sqlite3_set_last_insert_rowid(connection, 0)
    let code = sqlite3_step(statement.handle)
    let isChanged = sqlite3_changes(connection) > 0
    let isInserted = isChanged && sqlite3_last_insert_rowid(connection) != 0
    sqlite3_reset(statement.handle)
    guard code == SQLITE_DONE else { return .failed }
    return isInserted ? .inserted : isChanged ? .updated : .none
  }

  /// Deletes the object that has the row's key, unless it is newer than the row.
  ///
  /// - Returns: `.deleted`; `.unchanged` when there is no such object; `.skipped` when it is newer.
  /// - Throws: `StoreError` where the store fails.
  public func delete(
    _ row: UnsafeBufferPointer<RowValue>,
    arena: UnsafeRawPointer
  ) throws(StoreError) -> Outcome {
    // Of a row that is not undecided there is no object.
    if let loader, loader.isOpen { return .unchanged }
    let connection = try connection()
    guard let deletion = try prepareDeletion(row) else { return .unchanged }
    deletion.delete.bind(row, arena)
    let code = sqlite3_step(deletion.delete.handle)
    sqlite3_reset(deletion.delete.handle)
    guard code == SQLITE_DONE else { return try refusal(connection) }
    if sqlite3_changes(connection) > 0 { return .deleted }
    return try deletion.probe.finds(row, arena, path: path) ? .skipped : .unchanged
  }

  /// Finds the object that has the row's key and is not newer than the row, without deleting it.
  ///
  /// - Returns: `.deleted`, or what `delete` returns; `key` is the object's primary key, if there is one.
  /// - Throws: `StoreError` where the store fails.
  package func find(
    _ row: UnsafeBufferPointer<RowValue>,
    arena: UnsafeRawPointer
  ) throws(StoreError) -> Outcome {
    key = nil
    guard let deletion = try prepareDeletion(row) else { return .unchanged }
    key = try deletion.find.key(row, arena, path: path)
    if key != nil { return .deleted }
    key = try deletion.probe.key(row, arena, path: path)
    return key == nil ? .unchanged : .skipped
  }

  /// Finds the object that has the row's key, if the row leaves it alone: by mode `ignore`, or because
  /// it is newer.
  ///
  /// - Returns: Whether there is such an object; `key` is its primary key.
  /// - Throws: `StoreError` where the store fails.
  package func keeps(
    _ row: UnsafeBufferPointer<RowValue>,
    arena: UnsafeRawPointer
  ) throws(StoreError) -> Bool {
    key = try prepareDeletion(row)?.keeper?.key(row, arena, path: path)
    return key != nil
  }

  private func connection() throws(StoreError) -> OpaquePointer {
    guard let connection = database.sqliteConnection else {
      throw StoreError(.inputOutput, "The database is closed.", path: path)
    }
    return connection
  }

  /// A row that broke a rule of the table, or a failure of the store.
  private func refusal(_ connection: OpaquePointer) throws(StoreError) -> Outcome {
    let code = sqlite3_extended_errcode(connection)
    let message = String(cString: sqlite3_errmsg(connection))
    switch ResultCode(rawValue: code) {
    case .SQLITE_CONSTRAINT_UNIQUE:
      return .duplicate(message.replacing("UNIQUE constraint failed: ", with: ""))
    case .SQLITE_TOOBIG:
      return .tooLarge
    default:
      let error = DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
      throw StoreError(error, path: path)
    }
  }

  private func prepare(_ row: UnsafeBufferPointer<RowValue>) throws(StoreError) -> Prepared {
    let shape = Shape(row)
    if let last, shape == lastShape { return last }
    let found: Prepared
    if let known = prepared[shape] {
      found = known
    } else {
      if prepared.count >= Self.maximumShapeCount { prepared.removeAll() }
      let present = row.indices.filter { row[$0].kind != .absent }
      found = try StoreError.naming(path) { try Prepared(statements, present, in: database) }
      prepared[shape] = found
    }
    lastShape = shape
    last = found
    return found
  }

  /// nil where the row does not give the whole key.
  private func prepareDeletion(
    _ row: UnsafeBufferPointer<RowValue>
  ) throws(StoreError) -> Deletion? {
    let shape = Shape(row)
    if let known = deletions[shape] { return known }
    let present = row.indices.filter { row[$0].kind != .absent }
    guard let sentence = statements.delete(present), let find = statements.find(present),
      let keys = statements.keySlots(of: present)
    else { return nil }
    return try StoreError.naming(path) {
      let made = Deletion(
        delete: try PreparedSentence(sentence, in: database),
        find: try PreparedSentence(find, in: database),
        probe: try PreparedSentence(statements.probe(keys), in: database),
        keeper: try statements.keeper(keys, for: present).map {
          try PreparedSentence($0, in: database)
        }
      )
      if deletions.count >= Self.maximumShapeCount { deletions.removeAll() }
      deletions[shape] = made
      return made
    }
  }
}
