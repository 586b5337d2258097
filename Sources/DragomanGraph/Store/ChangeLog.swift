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
    /// The entity of the row's object.
    public let entity: String
    /// Its attributes, inherited ones first.
    public let attributes: [Attribute]
    /// The names of the attributes that are its identity; empty where it has none.
    public let identity: [String]
    /// The values before, in the order of the attributes; nil for a new row.
    public let old: [StoredValue]?
    /// The values after; nil for a row that was deleted.
    public let new: [StoredValue]?
  }

  /// One entity whose rows are observed, and where its values stand in the temporary table.
  private struct Subject {
    let name: String
    let attributes: [Attribute]
    let identity: [String]
    let places: [Int]
  }

  private enum Kind: Int {
    case inserted = 0
    case old = 1
    case new = 2
    case deleted = 3
  }

  /// Names are never taken from users.
  private static let table = "_dragoman_changes"
  /// The columns of the temporary table before those of the values.
  private static let firstValue = 4

  private let database: Database
  private let path: String?
  /// For each table its root entity, and the sub-entities by name.
  private var families: [(root: Subject, others: [String: Subject])] = []
  private let select: Statement
  private let clear: Statement

  /// Begins to note; needs an open transaction, after `grow(to:)`.
  init(layout: ModelLayout, database: Database, path: String?) throws {
    self.database = database
    self.path = path
    try Self.end(on: database)
    let roots = layout.entities.filter { $0.root == $0.index }
    let columns = roots.map { Self.columns(of: $0, in: layout) }
    let width = columns.map(\.count).max() ?? 0
    let values = (0..<width).map { ", c\($0)" }.joined()
    try database.execute(
      sql:
        "CREATE TEMP TABLE \(Self.table) (place INTEGER PRIMARY KEY, family, kind, entity\(values))"
    )
    for (number, root) in roots.enumerated() {
      for statement in Self.triggers(of: root, columns[number], number: number) {
        try database.execute(sql: statement)
      }
      let subjects = root.family.map { Self.subject(layout.entities[$0], columns[number]) }
      families.append(
        (subjects[0], Dictionary(subjects.map { ($0.name, $0) }) { first, _ in first })
      )
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
      var before: [StoredValue]?
      let rows = try Row.fetchCursor(select)
      while let row = try rows.next() {
        guard let kind = Kind(rawValue: row[2]) else { continue }
        let family = families[row[1]]
        let subject = (row[3] as String?).flatMap { family.others[$0] } ?? family.root
        let values = subject.places.map { StoredValue(row[$0] as DatabaseValue) }
        if kind == .old {
          before = values
          continue
        }
        let change = Change(
          entity: subject.name,
          attributes: subject.attributes,
          identity: subject.identity,
          old: kind == .deleted ? values : kind == .new ? before : nil,
          new: kind == .deleted ? nil : values
        )
        try body(change)
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

  /// The columns of the attributes of a whole family, which shares a table.
  private static func columns(of root: EntityLayout, in layout: ModelLayout) -> [String] {
    root.family.flatMap { layout.entities[$0].entity.attributes.map(\.column) }
  }

  private static func subject(_ entity: EntityLayout, _ columns: [String]) -> Subject {
    let placeOfColumn = Dictionary(
      columns.enumerated().map { ($1, $0 + firstValue) },
      uniquingKeysWith: { first, _ in first }
    )
    let known = entity.attributes.compactMap { attribute in
      placeOfColumn[attribute.column].map { (attribute, $0) }
    }
    return Subject(
      name: entity.name,
      attributes: known.map(\.0),
      identity: entity.uniqueKeys.first?.map(\.name) ?? [],
      places: known.map(\.1)
    )
  }

  /// The triggers of one table.
  private static func triggers(
    of root: EntityLayout,
    _ columns: [String],
    number: Int
  ) -> [String] {
    func note(_ kind: Kind, _ row: String) -> String {
      let places = columns.indices.map { ", c\($0)" }.joined()
      let values = columns.map { ", \(row).\(Schema.quoted($0))" }.joined()
      let entity = root.hasEntityColumn ? "\(row)._entity" : "NULL"
      return "INSERT INTO \(table) (family, kind, entity\(places))"
        + " VALUES (\(number), \(kind.rawValue), \(entity)\(values));"
    }
    let events = [
      ("INSERT", note(.inserted, "NEW")),
      ("UPDATE", note(.old, "OLD") + " " + note(.new, "NEW")),
      ("DELETE", note(.deleted, "OLD")),
    ]
    return events.map { event, body in
      "CREATE TEMP TRIGGER \(table)_\(event.lowercased())_\(number) AFTER \(event)"
        + " ON main.\(Schema.quoted(root.table)) BEGIN \(body) END"
    }
  }
}

extension StoredValue {
  /// The value as SQLite gave it.
  init(_ value: DatabaseValue) {
    switch value.storage {
    case .null: self = .null
    case .int64(let integer): self = .integer(integer)
    case .double(let real): self = .real(real)
    case .string(let text): self = .text(text)
    case .blob(let data): self = .blob(Array(data))
    }
  }
}
