import GRDB

/// What a transaction did to the rows of a model's tables, row by row, with the values before and
/// after.
///
/// Temporary triggers write the values into a temporary table, so that rows that are not changed cost
/// nothing, and that every way to change a row is seen (`DELETE` of many, links too). Both are gone
/// with the connection, and never in the file. See https://www.sqlite.org/lang_createtrigger.html.
///
/// Targets of links are told by their keys, as they were when the link changed.
public final class ChangeLog {
  /// One row that was written, or the links of one object in a table of links.
  public struct Change: Sendable {
    /// The entity of the row's object.
    public let entity: String
    /// The entity that the object was of before, where that was another one of its family.
    public internal(set) var formerEntity: String?
    /// Its attributes, inherited ones first.
    public let attributes: [Attribute]
    /// The names of the properties of its unique keys, the identity first; empty where it has none.
    public let keys: [[String]]
    /// Its primary key.
    public let primaryKey: StoredValue
    /// The values before, in the order of the attributes; nil for a new row.
    public let old: [StoredValue]?
    /// The values after; nil for a row that was deleted.
    public let new: [StoredValue]?
    /// Its to-ones, and the to-manys in tables of their own whose links changed.
    public internal(set) var links: [Links]
  }

  /// The links of one object by one relationship.
  public struct Links: Sendable {
    /// The relationship.
    public let name: String
    /// Whether it leads to one object at most.
    public let isToOne: Bool
    /// The targets that the object had and has no more, each as often as that; of a to-one that did not change
    /// the target that it has.
    public let old: [Target]
    /// The targets that it has and did not have, each as often as that; of a to-one that did not change the
    /// target that it has.
    ///
    /// Those of a list are in its order.
    public let new: [Target]
  }

  /// What a link leads to: an object by its first unique key that has no null, or by its primary key.
  public struct Target: Sendable, Hashable {
    /// The attributes of the key; of a primary key one that is called `_pk`.
    public let key: [Attribute]
    /// Their values.
    public let values: [StoredValue]
    /// Its primary key.
    public let primaryKey: StoredValue
  }

  private enum Kind: Int {
    case inserted = 0
    case old = 1
    case new = 2
    case deleted = 3
    case linked = 4
    case unlinked = 5
  }

  /// Names are never taken from users.
  static let table = "_dragoman_changes"
  /// The columns of the temporary table before those of the values.
  private static let firstValue = 4

  private let database: Database
  private let path: String?
  /// The observed tables; notes have their numbers.
  private let tables: [ObservedTable]
  private let select: Statement
  private let selectDeleted: Statement
  private let selectDoomed: Statement
  private let clear: Statement

  /// Begins to note; needs an open transaction, after `grow(to:)`.
  ///
  /// - Parameters:
  ///   - layout: The model.
  ///   - database: The connection.
  ///   - path: The file, for messages.
  ///   - others: Databases of the connection in which targets of links are looked for, too.
  /// - Throws: What SQLite refuses.
  init(layout: ModelLayout, database: Database, path: String?, others: [String]) throws {
    self.database = database
    self.path = path
    try Self.end(on: database)
    tables = ObservedTable.all(of: layout, lookingIn: ["main"] + others)
    let values = (0..<(tables.map(\.width).max() ?? 0)).map { ", c\($0)" }.joined()
    try database.execute(
      sql:
        "CREATE TEMP TABLE \(Self.table) (place INTEGER PRIMARY KEY, family, kind, entity\(values))"
    )
    for (number, table) in tables.enumerated() {
      for (event, notes) in Self.events(of: table) {
        let body = notes.map { Self.note($0.kind, $0.row, table, number) }.joined(separator: " ")
        try database.execute(
          sql:
            "CREATE TEMP TRIGGER \(Self.table)_\(event.prefix(6).lowercased())_\(number) AFTER \(event)"
            + " ON main.\(Schema.quoted(table.name)) BEGIN \(body) END"
        )
      }
    }
    select = try database.makeStatement(sql: "SELECT * FROM temp.\(Self.table) ORDER BY place")
    selectDeleted = try database.makeStatement(
      sql: "SELECT family, c0 FROM temp.\(Self.table) WHERE kind = \(Kind.deleted.rawValue)"
    )
    selectDoomed = try database.makeStatement(
      sql: [Kind.old, .deleted].map {
        "SELECT family, c0 FROM temp.\(Self.table) WHERE kind = \($0.rawValue)"
      }.joined(separator: " INTERSECT ")
    )
    clear = try database.makeStatement(sql: "DELETE FROM temp.\(Self.table)")
  }

  /// Hands over the changes since the last call, in the order in which they were made; links in
  /// tables of their own come behind, together for each object.
  ///
  /// - Parameter body: Called once a row; it must not write to the store.
  /// - Throws: What `body` throws, and `StoreError`.
  public func drain(_ body: (Change) throws -> Void) throws {
    do {
      var before: (values: [StoredValue], entity: String)?
      var lists = LinkNotes()
      let name = Self.table
      // What is changed on an object's way out, by the deletion of others, is not told for itself.
      var doomed: [Int: [Int64: [StoredValue]]] = [:]
      let changed = try Row.fetchCursor(selectDoomed)
      while let row = try changed.next() {
        let (number, key) = (try number(row, 0), try row.stored(1, of: name, as: Int64.self))
        doomed[number, default: [:]][key] = .some([])
      }
      let rows = try Row.fetchCursor(select)
      while let row = try rows.next() {
        let kind = Kind(rawValue: try row.stored(2, of: name))
        guard let kind else { continue }
        let number = try number(row, 1)
        let table = tables[number]
        let subject = table.subject(named: try row.stored(3, of: "\(table.objects)._entity"))
        let values = values(in: select, of: table)
        switch kind {
        case .linked, .unlinked:
          lists.add(kind == .linked ? 1 : -1, values, of: subject, in: table)
        case .inserted: try body(subject.change(old: nil, new: values))
        case .old:
          before = (values, subject.name)
          let key: Int64 = try row.stored(Self.firstValue, of: name)
          if doomed[number]?[key]?.isEmpty == true { doomed[number]?[key] = values }
        case .new:
          let key: Int64 = try row.stored(Self.firstValue, of: name)
          if doomed[number]?[key] != nil { continue }
          try body(subject.change(old: before?.values, new: values, formerly: before?.entity))
        case .deleted:
          let key: Int64 = try row.stored(Self.firstValue, of: name)
          let first = doomed[number]?[key] ?? []
          try body(subject.change(old: first.isEmpty ? values : first, new: nil))
        }
      }
      if !lists.isEmpty {
        let deleted = try Row.fetchCursor(selectDeleted)
        while let row = try deleted.next() {
          lists.drop(StoredValue(row[1] as DatabaseValue), in: tables[try number(row, 0)])
        }
      }
      for change in lists.changes { try body(change) }
      try clear.execute()
    } catch let error as DatabaseError {
      throw StoreError(error, path: path)
    }
  }

  /// How many notes there are; what comes later has a greater place.
  public func place() throws(StoreError) -> Int {
    try StoreError.naming(path) {
      try Int.fetchOne(
        try database.keptStatement("SELECT max(place) FROM temp.\(Self.table)")
      ) ?? 0
    }
  }

  /// Hands over what all changes came to, each object once, with its links in tables of their own.
  ///
  /// Its values are those before the first of them and after the last one. An object that was made and
  /// deleted is left out.
  ///
  /// Runs a `SELECT` an object that was changed; objects come in the order of their first changes, those
  /// of which nothing but such links changed behind.
  ///
  /// - Parameters:
  ///   - isSorted: Whether they come in the order of their tables and primary keys instead, new ones behind those
  ///     whose keys they may have: rows that are taken back change in any order.
  ///   - body: Called with the change and the place of its last note; where nothing but links in
  ///     tables of their own changed, the place is nil. It must not write to the store.
  /// - Throws: What `body` throws, and `StoreError`.
  public func drainNet(
    byKey isSorted: Bool = false,
    _ body: (Change, Int?) throws -> Void
  ) throws {
    do {
      let rowKinds = [Kind.inserted, .old, .new, .deleted].map { "\($0.rawValue)" }
      let isNew = "min(place) IS min(CASE kind WHEN \(Kind.inserted.rawValue) THEN place END)"
      let objects = try Row.fetchCursor(
        database,
        sql: "SELECT min(place), max(place) FROM temp.\(Self.table)"
          + " WHERE kind IN (\(rowKinds.joined(separator: ", "))) GROUP BY family, c0"
          + " ORDER BY \(isSorted ? "family, \(isNew), c0" : "1")"
      )
      let note = try database.makeStatement(
        sql: "SELECT * FROM temp.\(Self.table) WHERE place = ?"
      )
      var lists = try linkNotes()
      while let places = try objects.next() {
        guard let first = try self.note(places[0], note), let last = try self.note(places[1], note)
        else { continue }
        let old = first.kind == .inserted ? nil : first.values
        let isGone = last.kind == .deleted
        let links = lists.take(last.values[0], in: last.table)
        guard old != nil || !isGone else { continue }
        let former = first.table.subject(named: first.entity)
        let subject = isGone ? former : last.table.subject(named: last.entity).with(former)
        let change = subject.change(
          old: old,
          new: isGone ? nil : last.values,
          formerly: former.name
        )
        try body(subject.adding(links, to: change), places[1])
      }
      for change in lists.objects(byKey: isSorted) { try body(change, nil) }
      try clear.execute()
    } catch let error as DatabaseError {
      throw StoreError(error, path: path)
    }
  }

  /// What is noted of tables of links.
  private func linkNotes() throws -> LinkNotes {
    var lists = LinkNotes()
    let links = try database.makeStatement(
      sql: "SELECT * FROM temp.\(Self.table) WHERE kind IN (\(Kind.linked.rawValue),"
        + " \(Kind.unlinked.rawValue)) ORDER BY place"
    )
    let rows = try Row.fetchCursor(links)
    while let row = try rows.next() {
      let table = tables[try number(row, 1)]
      let change = row[2] == Kind.linked.rawValue ? 1 : -1
      let subject = table.subject(named: row[3])
      lists.add(change, values(in: links, of: table), of: subject, in: table)
    }
    return lists
  }

  /// What is noted of one event.
  private struct Note {
    let kind: Kind?
    let table: ObservedTable
    let entity: String?
    let values: [StoredValue]
  }

  /// The note at a place, by a statement that finds it.
  private func note(_ place: Int, _ statement: Statement) throws -> Note? {
    let rows = try Row.fetchCursor(statement, arguments: [place])
    guard let row = try rows.next() else { return nil }
    let table = tables[try number(row, 1)]
    let values = values(in: statement, of: table)
    return Note(kind: Kind(rawValue: row[2]), table: table, entity: row[3], values: values)
  }

  /// The values of the row that a statement stands at, with texts behind a NUL, too, which GRDB cuts.
  private func values(in statement: Statement, of table: ObservedTable) -> [StoredValue] {
    let row = StoredRow(statement: statement.sqliteStatement)
    return (0..<table.width).map { row.stored(Int32(Self.firstValue + $0)) }
  }

  /// The number of an observed table, as a note has it.
  private func number(_ row: Row, _ column: Int) throws(StoreError) -> Int {
    let number: Int = try row.stored(column, of: Self.table)
    guard tables.indices.contains(number) else {
      throw StoreError(.damaged, "\(Self.table) tells of a table that nobody observes.", path: path)
    }
    return number
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

  /// What is noted of a table, by the event.
  private static func events(
    of table: ObservedTable
  ) -> [(event: String, notes: [(kind: Kind, row: String)])] {
    table.isLinks
      ? [
        ("INSERT", [(.linked, "NEW")]), ("DELETE", [(.unlinked, "OLD")]),
      ]
        + (table.isOrdered
          ? [("UPDATE OF position, target", [(.unlinked, "OLD"), (.linked, "NEW")])] : [])
      : [
        ("INSERT", [(.inserted, "NEW")]), ("UPDATE", [(.old, "OLD"), (.new, "NEW")]),
        ("DELETE", [(.deleted, "OLD")]),
      ]
  }

  private static func note(
    _ kind: Kind,
    _ row: String,
    _ table: ObservedTable,
    _ number: Int
  ) -> String {
    let values = table.values(row)
    let places = values.indices.map { ", c\($0)" }.joined()
    return "INSERT INTO \(Self.table) (family, kind, entity\(places)) VALUES (\(number),"
      + " \(kind.rawValue), \(table.entity(row))\(values.map { ", " + $0 }.joined()));"
  }
}
