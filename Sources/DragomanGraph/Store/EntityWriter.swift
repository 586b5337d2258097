import GRDB
import GRDBSQLite

/// Writes the rows of one entity in bulk: one prepared statement a shape, no `SELECT` a record.
///
/// A *shape* is the set of attributes that a row gives. Rows of one shape run one statement:
///
///     INSERT INTO "Person" (_pk, _v, "id", "name") VALUES (?, 1, ?, ?)
///     ON CONFLICT ("id") DO UPDATE SET "name" = excluded."name", _v = _v + 1
///     WHERE "name" IS NOT excluded."name"
///
/// so that SQLite itself finds the object, compares, and dirties no page when nothing changed.
/// What it did is read off the connection: the row id that was set to 0 before tells insert from
/// update, and no change at all means unchanged (https://www.sqlite.org/c3ref/changes.html).
public final class EntityWriter {
  /// What happens to objects that exist.
  public enum Mode: String, Sendable, Hashable, Codable, CaseIterable {
    /// Attributes that the record gives are set.
    case upsert
    /// The record is refused.
    case insert
    /// The object is left untouched.
    case ignore
    /// The object becomes exactly the record: what it does not give gets the default.
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
    /// The object exists and was left alone.
    case skipped
    /// Mode `insert`: an object with this key exists.
    case keyExists
    /// Another unique key of the entity is taken by another object; the columns, as SQLite says.
    case duplicate(String)
    /// A required attribute is not given, and no object with this key exists.
    case incomplete(String)
    /// The row is larger than SQLite takes.
    case tooLarge
  }

  /// The statement for rows of one shape.
  private final class Prepared {
    let statement: Statement
    /// Which slot is bound to which parameter.
    let bindings: [(slot: Int, parameter: Int32)]
    /// The parameter of `_pk`; nil for statements that only update.
    let keyParameter: Int32?
    /// For statements that only update: finds out whether the object exists.
    let probe: Probe?

    init(
      statement: Statement,
      bindings: [(slot: Int, parameter: Int32)],
      keyParameter: Int32?,
      probe: Probe?
    ) {
      self.statement = statement
      self.bindings = bindings
      self.keyParameter = keyParameter
      self.probe = probe
    }
  }

  /// Finds out whether the object of a row exists that cannot make one.
  private struct Probe {
    let statement: Statement
    let keySlots: [Int]
    /// The required attribute that the row lacks.
    let missing: String
  }

  private let database: Database
  private let path: String?
  private let entity: Entity
  private let slots: [Attribute]
  private let mode: Mode
  private let keys: PrimaryKeys
  private var prepared: [Shape: Prepared] = [:]
  private var lastShape: Shape?
  private var last: Prepared?

  /// More shapes than this and the statements are made anew: each holds a few kilobytes.
  private static let maximumShapeCount = 200

  init(
    database: Database,
    path: String?,
    entity: Entity,
    slots: [Attribute],
    mode: Mode,
    keys: PrimaryKeys
  ) {
    self.database = database
    self.path = path
    self.entity = entity
    self.slots = slots
    self.mode = mode
    self.keys = keys
  }

  /// Writes one row.
  ///
  /// - Parameters:
  ///   - row: A value for each slot.
  ///   - arena: Where the values' text and bytes are.
  /// - Throws: `StoreError` where the store fails; a row that breaks a rule is an `Outcome`.
  public func write(
    _ row: UnsafeBufferPointer<RowValue>,
    arena: UnsafeRawPointer
  ) throws(StoreError) -> Outcome {
    let prepared = try prepare(row)
    guard let connection = database.sqliteConnection else {
      throw StoreError(.inputOutput, "The database is closed.", path: path)
    }
    let statement = prepared.statement.sqliteStatement
    if let parameter = prepared.keyParameter { sqlite3_bind_int64(statement, parameter, keys.next) }
    for (slot, parameter) in prepared.bindings {
      Self.bind(row[slot], to: statement, parameter, arena)
    }
    sqlite3_set_last_insert_rowid(connection, 0)
    let code = sqlite3_step(statement)
    let changed = code == SQLITE_DONE && sqlite3_changes(connection) > 0
    let inserted = changed && sqlite3_last_insert_rowid(connection) != 0
    sqlite3_reset(statement)
    guard code == SQLITE_DONE else { return try refusal(connection) }
    if inserted {
      keys.take()
      return .inserted
    }
    if changed { return .updated }
    if let probe = prepared.probe {
      let exists = try find(probe, row, arena)
      if !exists || mode == .replace { return .incomplete(probe.missing) }
    }
    switch mode {
    case .upsert, .replace: return .unchanged
    case .ignore: return .skipped
    case .insert: return .keyExists
    }
  }

  @inline(__always)
  private static func bind(
    _ value: RowValue,
    to statement: OpaquePointer?,
    _ parameter: Int32,
    _ arena: UnsafeRawPointer
  ) {
    // A nil destructor is SQLITE_STATIC: the arena outlives the step.
    switch value.kind {
    case .absent, .null:
      sqlite3_bind_null(statement, parameter)
    case .integer:
      sqlite3_bind_int64(statement, parameter, value.integer)
    case .real:
      sqlite3_bind_double(statement, parameter, value.real)
    case .text:
      let text = (arena + value.offset).assumingMemoryBound(to: CChar.self)
      sqlite3_bind_text(statement, parameter, text, Int32(value.length), nil)
    case .blob:
      sqlite3_bind_blob(statement, parameter, arena + value.offset, Int32(value.length), nil)
    }
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

  private func find(
    _ probe: Probe,
    _ row: UnsafeBufferPointer<RowValue>,
    _ arena: UnsafeRawPointer
  ) throws(StoreError) -> Bool {
    let statement = probe.statement.sqliteStatement
    for (index, slot) in probe.keySlots.enumerated() {
      Self.bind(row[slot], to: statement, Int32(index + 1), arena)
    }
    defer { sqlite3_reset(statement) }
    switch sqlite3_step(statement) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code:
      throw StoreError(DatabaseError(resultCode: ResultCode(rawValue: code)), path: path)
    }
  }
}

// MARK: - Statements

extension EntityWriter {
  private func prepare(_ row: UnsafeBufferPointer<RowValue>) throws(StoreError) -> Prepared {
    let shape = Shape(row)
    if let last, shape == lastShape { return last }
    let found: Prepared
    if let known = prepared[shape] {
      found = known
    } else {
      if prepared.count >= Self.maximumShapeCount { prepared.removeAll() }
      do {
        found = try makeStatement(present: slots.indices.filter { row[$0].kind != .absent })
      } catch {
        throw StoreError(error, path: path)
      }
      prepared[shape] = found
    }
    lastShape = shape
    last = found
    return found
  }

  private func makeStatement(present: [Int]) throws -> Prepared {
    let given = Set(present.map { slots[$0].name })
    let lacking = entity.attributes.first {
      $0.isRequired && $0.defaultValue == nil && !given.contains($0.name)
    }
    if let lacking { return try makeUpdate(present, lacking: lacking.name) }

    let defaults = entity.attributes.filter { !given.contains($0.name) && $0.defaultValue != nil }
    let columns = present.map { slots[$0].column } + defaults.map(\.column)
    let parameters = (0..<columns.count).map { "?\($0 + 2)" }
    let sql =
      "INSERT INTO \(Schema.quoted(entity.table)) ("
      + (["_pk", "_v"] + columns.map(Schema.quoted)).joined(separator: ", ") + ") VALUES ("
      + (["?1", "1"] + parameters).joined(separator: ", ") + ")" + conflictClause(given: given)
    let statement = try database.makeStatement(sql: sql)
    for (index, attribute) in defaults.enumerated() {
      let parameter = Int32(2 + present.count + index)
      try Self.bind(attribute.defaultValue ?? .null, to: statement.sqliteStatement, parameter)
    }
    return Prepared(
      statement: statement,
      bindings: present.enumerated().map { ($1, Int32($0 + 2)) },
      keyParameter: 1,
      probe: nil
    )
  }

  /// What to do where the key exists.
  private func conflictClause(given: Set<String>) -> String {
    guard let identity = entity.identity else { return "" }
    let target = identity.map(column(of:)).joined(separator: ", ")
    let settable = entity.attributes.filter { attribute in
      !identity.contains(attribute.name) && (mode == .replace || given.contains(attribute.name))
    }
    guard mode == .upsert || mode == .replace, !settable.isEmpty else {
      return " ON CONFLICT (\(target)) DO NOTHING"
    }
    let columns = settable.map { Schema.quoted($0.column) }
    let assignments = columns.map { "\($0) = excluded.\($0)" } + ["_v = _v + 1"]
    let differences = columns.map { "\($0) IS NOT excluded.\($0)" }
    return " ON CONFLICT (\(target)) DO UPDATE SET " + assignments.joined(separator: ", ")
      + " WHERE " + differences.joined(separator: " OR ")
  }

  /// A shape without a required attribute can complete an existing object, but make none.
  private func makeUpdate(_ present: [Int], lacking: String) throws -> Prepared {
    let table = Schema.quoted(entity.table)
    let identity = entity.identity ?? []
    let keySlots = identity.compactMap { name in present.first { slots[$0].name == name } }
    let keys = keySlots.map { Schema.quoted(slots[$0].column) }
    let isKeyed = !identity.isEmpty && keySlots.count == identity.count
    let updates = isKeyed && mode == .upsert
    let settable = updates ? present.filter { !keySlots.contains($0) } : []

    let keyTest =
      isKeyed
      ? keys.enumerated().map { "\($1) = ?\($0 + 1)" }.joined(separator: " AND ") : "0"
    let columns = settable.map { Schema.quoted(slots[$0].column) }
    let parameters = columns.indices.map { "?\(keys.count + $0 + 1)" }
    let assignments = zip(columns, parameters).map { "\($0) = \($1)" } + ["_v = _v + 1"]
    let differences = zip(columns, parameters).map { "\($0) IS NOT \($1)" }
    let sql =
      "UPDATE \(table) SET " + assignments.joined(separator: ", ") + " WHERE \(keyTest) AND ("
      + (differences.isEmpty ? "0" : differences.joined(separator: " OR ")) + ")"
    return Prepared(
      statement: try database.makeStatement(sql: sql),
      bindings: (isKeyed ? keySlots + settable : []).enumerated().map { ($1, Int32($0 + 1)) },
      keyParameter: nil,
      probe: Probe(
        statement: try database.makeStatement(sql: "SELECT 1 FROM \(table) WHERE \(keyTest)"),
        keySlots: isKeyed ? keySlots : [],
        missing: lacking
      )
    )
  }

  private func column(of name: String) -> String {
    Schema.quoted(entity.attribute(named: name)?.column ?? name)
  }

  /// Binds a constant, which the statement keeps over resets.
  private static func bind(
    _ value: StoredValue,
    to statement: OpaquePointer?,
    _ parameter: Int32
  ) throws {
    // SQLITE_TRANSIENT: SQLite keeps a copy.
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    let code =
      switch value {
      case .null: sqlite3_bind_null(statement, parameter)
      case .integer(let integer): sqlite3_bind_int64(statement, parameter, integer)
      case .real(let real): sqlite3_bind_double(statement, parameter, real)
      case .text(let text):
        sqlite3_bind_text(statement, parameter, text, Int32(text.utf8.count), transient)
      case .blob(let bytes):
        sqlite3_bind_blob(statement, parameter, bytes, Int32(bytes.count), transient)
      }
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }
}

/// Which slots of a row are given, as bits.
private struct Shape: Hashable {
  private var low: UInt64 = 0
  private var high: [UInt64] = []

  @inline(__always)
  init(_ row: UnsafeBufferPointer<RowValue>) {
    for slot in 0..<min(row.count, 64) where row[slot].kind != .absent {
      low |= 1 << UInt64(slot)
    }
    if row.count > 64 { addHigh(row) }
  }

  private mutating func addHigh(_ row: UnsafeBufferPointer<RowValue>) {
    high = Array(repeating: 0, count: (row.count - 1) / 64)
    for slot in 64..<row.count where row[slot].kind != .absent {
      high[slot / 64 - 1] |= 1 << UInt64(slot % 64)
    }
  }
}
