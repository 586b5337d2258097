import GRDB
import GRDBSQLite

/// One state of a store, for several fetches that belong together: objects, and what they are linked
/// to.
package struct StoreSnapshot {
  private let database: Database
  /// The model of what the store holds.
  package let layout: ModelLayout

  fileprivate init(_ database: Database, _ layout: ModelLayout) {
    self.database = database
    self.layout = layout
  }

  /// Lends the objects of a request to the closure, one row after the other.
  ///
  /// The closure may read links of the same snapshot meanwhile.
  ///
  /// - Parameters:
  ///   - request: The objects; its columns say nothing here.
  ///   - attributes: What is read, of the entity or of its sub-entities; where an object may be of one of
  ///     these, the name of its own entity stands in one more column behind them.
  ///   - body: Gets each row.
  /// - Throws: `StoreError`, and what the closure throws.
  package func forEachRow(
    _ request: FetchRequest,
    reading attributes: [Attribute],
    _ body: (borrowing FetchedRow) throws -> Void
  ) throws {
    let plan = try FetchPlan(request, in: layout)
    let columns = attributes.map(\.column) + (plan.entity.hasEntityColumn ? ["_entity"] : [])
    var interruption: (any Error)?
    try FetchStatement.run(plan.objectsSQL(["_pk"] + columns), plan.arguments, database) { row in
      do {
        try body(FetchedRow(plan.entity, count: columns.count, row))
        return true
      } catch {
        interruption = error
        return false
      }
    }
    if let interruption { throw interruption }
  }

  /// The objects of an entity that hold their key only, until their record comes.
  ///
  /// Reads the table once, where it can have any.
  package func stubs(of entity: String) throws -> Set<Int64> {
    guard let entity = layout.entity(named: entity), entity.hasStubColumn else { return [] }
    let table = Schema.quoted(entity.table)
    return try Int64.fetchSet(database, sql: "SELECT _pk FROM \(table) WHERE _stub IS NOT NULL")
  }

  /// Prepares reading the targets of a relationship.
  ///
  /// - Parameters:
  ///   - link: The relationship.
  ///   - attributes: What is read, of the destination or of its sub-entities; the name of the target's own
  ///     entity stands behind them, where it may be one of these.
  /// - Returns: A reader, to be used inside of the snapshot's closure only.
  /// - Throws: What SQLite says of a table that is not as the model has it.
  package func links(
    _ link: RelationshipLayout,
    reading attributes: [Attribute]
  ) throws -> LinkReader {
    try LinkReader(link, attributes, in: layout, database)
  }
}

extension SQLiteStore {
  /// Lends one state of the store to the closure.
  package func withSnapshot<T>(_ body: (StoreSnapshot) throws -> T) throws -> T {
    // Kept apart, so that an error of the caller does not come back as one of the store.
    var result: Result<T, any Error>?
    let layout = layout
    do throws(StoreError) {
      try read { database in
        let snapshot = StoreSnapshot(database, layout)
        result = Result { try database.tellingOfUnreadFiles(path) { try body(snapshot) } }
      }
    } catch {
      // The end of a transaction that failed fails too, and knows less.
      guard case .failure? = result else { throw error }
    }
    guard let result else {
      throw StoreError(.refused, "The store was not read.", path: path)
    }
    do {
      return try result.get()
    } catch let error as DatabaseError {
      throw StoreError(error, path: path)
    }
  }
}

/// Reads the targets of one relationship for many owners at once.
///
/// Runs one statement a call, however many owners there are: their keys are one JSON array.
package final class LinkReader {
  private let database: Database
  private let statement: Statement
  private let entity: EntityLayout
  private let count: Int

  fileprivate init(
    _ link: RelationshipLayout,
    _ attributes: [Attribute],
    in layout: ModelLayout,
    _ database: Database
  ) throws {
    self.database = database
    let owner = layout.entities[link.owner]
    let target = layout.entities[link.destination]
    entity = target
    let columns =
      ["_pk"] + attributes.map(\.column) + (target.hasEntityColumn ? ["_entity"] : [])
    count = columns.count - 1
    var sql = "SELECT " + columns.map { "t.\(Schema.quoted($0))" }.joined(separator: ", ")
    let owners = "IN (SELECT value FROM json_each(?))"
    let table = Schema.quoted(target.table)
    var order: [String] = []
    switch link.storage {
    case .column(let column):
      sql += ", o._pk FROM \(Schema.quoted(owner.table)) o JOIN \(table) t"
      sql += " ON t._pk = o.\(Schema.quoted(column)) WHERE o._pk \(owners)"
      order = ["o._pk"]
    case .inverseColumn(let column, let position):
      let column = "t.\(Schema.quoted(column))"
      sql += ", \(column) FROM \(table) t WHERE \(column) \(owners)"
      order = [column] + (position.map { ["t.\(Schema.quoted($0))"] } ?? [])
    case .joinTable(let join, let isOwner):
      let (from, to) = isOwner ? ("owner", "target") : ("target", "owner")
      sql += ", j.\(from) FROM \(Schema.quoted(join.name)) j JOIN \(table) t ON t._pk = j.\(to)"
      sql += " WHERE j.\(from) \(owners)"
      order = ["j.\(from)"]
      if isOwner, join.hasPosition { order.append("j.position") }
      if !isOwner, join.hasInversePosition { order.append("j.inverse_position") }
    }
    // What has no order of its own comes by the unique key, whatever the history of the file is.
    order += (target.uniqueKeys.first ?? []).map { "t.\(Schema.quoted($0.column))" } + ["t._pk"]
    statement = try database.makeStatement(
      sql: sql + " ORDER BY " + order.joined(separator: ", ")
    )
  }

  /// Lends each target with the `_pk` of its owner; those of one owner come together and in order.
  package func read(
    owners: [Int64],
    _ body: (Int64, borrowing FetchedRow) throws -> Void
  ) throws {
    let handle = statement.sqliteStatement
    let list = "[" + owners.map(String.init).joined(separator: ",") + "]"
    sqlite3_reset(handle)
    defer {
      sqlite3_reset(handle)
      sqlite3_clear_bindings(handle)
    }
    sqlite3_bind_text(handle, 1, list, Int32(list.utf8.count), RawStatement.transient)
    while true {
      switch sqlite3_step(handle) {
      case SQLITE_ROW:
        let owner = sqlite3_column_int64(handle, Int32(count) + 1)
        try body(owner, FetchedRow(entity, count: count, handle))
      case SQLITE_DONE: return
      case let code:
        let message = String(cString: sqlite3_errmsg(database.sqliteConnection))
        throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
      }
    }
  }
}
