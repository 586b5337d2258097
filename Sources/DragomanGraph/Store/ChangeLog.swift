import GRDB

/// What a transaction did to the rows of a model's tables, row by row, with the values before and
/// after.
///
/// Temporary triggers write the values into a temporary table, so that rows that are not changed cost
/// nothing, and that every way to change a row is seen (`DELETE` of many, links too). Both are gone
/// with the connection, and never in the file. See https://www.sqlite.org/lang_createtrigger.html.
public final class ChangeLog {
  /// One row that was written.
  public struct Change: Sendable {
    /// The entity whose table the row is in.
    public let entity: Entity
    /// The values before, in the order of the entity's attributes; nil for a new row.
    public let old: [StoredValue]?
    /// The values after; nil for a row that was deleted.
    public let new: [StoredValue]?
  }

  private enum Kind: Int {
    case inserted = 0
    case old = 1
    case new = 2
    case deleted = 3
  }

  /// Names are never taken from users.
  private static let table = "_dragoman_changes"

  private let database: Database
  private let path: String?
  private let entities: [Entity]
  private let select: Statement
  private let clear: Statement

  /// Begins to note; needs an open transaction, after `grow(to:)`.
  init(model: Model, database: Database, path: String?) throws {
    self.database = database
    self.path = path
    var entities: [Entity] = []
    // Sub-entities share a table: it is observed once.
    for entity in model.entities where !entities.contains(where: { $0.table == entity.table }) {
      entities.append(entity)
    }
    self.entities = entities
    try Self.end(on: database)
    let width = entities.map(\.attributes.count).max() ?? 0
    let columns = (0..<width).map { ", c\($0)" }.joined()
    try database.execute(
      sql: "CREATE TEMP TABLE \(Self.table) (place INTEGER PRIMARY KEY, entity, kind\(columns))"
    )
    for number in entities.indices {
      for statement in Self.triggers(of: entities[number], number: number) {
        try database.execute(sql: statement)
      }
    }
    select = try database.makeStatement(sql: "SELECT * FROM temp.\(Self.table) ORDER BY place")
    clear = try database.makeStatement(sql: "DELETE FROM temp.\(Self.table)")
  }

  /// Hands over the changes since the last call, in the order in which they were made.
  ///
  /// - Parameter body: Called once a row; it must not write to the store.
  /// - Throws: What `body` throws, and `StoreError`.
  public func drain(_ body: (Change) throws -> Void) throws {
    do {
      var old: [StoredValue]?
      let rows = try Row.fetchCursor(select)
      while let row = try rows.next() {
        guard let kind = Kind(rawValue: row[2]), entities.indices.contains(row[1]) else { continue }
        let entity = entities[row[1]]
        let values = entity.attributes.indices.map { StoredValue(row[$0 + 3] as DatabaseValue) }
        switch kind {
        case .inserted: try body(Change(entity: entity, old: nil, new: values))
        case .old: old = values
        case .new: try body(Change(entity: entity, old: old, new: values))
        case .deleted: try body(Change(entity: entity, old: values, new: nil))
        }
      }
      try clear.execute()
    } catch let error as DatabaseError {
      throw StoreError(error, path: path)
    }
  }

  /// Stops noting: drops the triggers and the table of the connection, where there are any.
  static func end(on database: Database) throws {
    let names = try String.fetchAll(
      database,
      sql: "SELECT name FROM sqlite_temp_master WHERE type = 'trigger' AND name GLOB ?",
      arguments: ["\(table)_*"]
    )
    for name in names { try database.execute(sql: "DROP TRIGGER temp.\(Schema.quoted(name))") }
    try database.execute(sql: "DROP TABLE IF EXISTS temp.\(table)")
  }

  /// The triggers of one entity's table.
  static func triggers(of entity: Entity, number: Int) -> [String] {
    func note(_ kind: Kind, _ row: String) -> String {
      let columns = entity.attributes.indices.map { ", c\($0)" }.joined()
      let values = entity.attributes.map { ", \(row).\(Schema.quoted($0.column))" }.joined()
      return "INSERT INTO \(table) (entity, kind\(columns))"
        + " VALUES (\(number), \(kind.rawValue)\(values));"
    }
    let events = [
      ("INSERT", note(.inserted, "NEW")),
      ("UPDATE", note(.old, "OLD") + " " + note(.new, "NEW")),
      ("DELETE", note(.deleted, "OLD")),
    ]
    return events.map { event, body in
      "CREATE TEMP TRIGGER \(table)_\(event.lowercased())_\(number) AFTER \(event)"
        + " ON main.\(Schema.quoted(entity.table)) BEGIN \(body) END"
    }
  }
}

extension StoredValue {
  /// The value as SQLite gave it.
  fileprivate init(_ value: DatabaseValue) {
    switch value.storage {
    case .null: self = .null
    case .int64(let integer): self = .integer(integer)
    case .double(let real): self = .real(real)
    case .string(let text): self = .text(text)
    case .blob(let data): self = .blob(Array(data))
    }
  }
}
