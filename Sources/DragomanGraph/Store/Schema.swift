/// The SQL that makes the tables of docs/file.md.
enum Schema {
  /// "DRAG": PRAGMA application_id of our files.
  static let applicationID: Int32 = 0x4452_4147
  /// PRAGMA user_version of our files: the format of docs/file.md.
  static let formatVersion = 1

  /// The tables every store has.
  static let ownTables = [
    "CREATE TABLE _dragoman_model (id INTEGER PRIMARY KEY, model TEXT)",
    "CREATE TABLE _dragoman_keys (\"table\" TEXT PRIMARY KEY, next INTEGER) WITHOUT ROWID",
    """
    CREATE TABLE _dragoman_imports (
      id INTEGER PRIMARY KEY, source TEXT, fingerprint TEXT, map TEXT, map_hash TEXT,
      started TEXT, finished TEXT, status TEXT, committed INTEGER, read INTEGER,
      inserted INTEGER, updated INTEGER, unchanged INTEGER, deleted INTEGER, skipped INTEGER,
      rejected INTEGER, bytes INTEGER)
    """,
    """
    CREATE TABLE _dragoman_pending (
      id INTEGER PRIMARY KEY, owner INTEGER, relationship TEXT, entity TEXT, key TEXT)
    """,
  ]

  /// A name as SQL takes it, whatever is in it.
  static func quoted(_ name: String) -> String {
    "\"" + name.replacing("\"", with: "\"\"") + "\""
  }

  /// The statements that make what a larger model adds.
  static func statements(for addition: Model.Addition) -> [String] {
    switch addition {
    case .entity(let entity):
      let columns = entity.attributes.map(column)
      let table =
        "CREATE TABLE \(quoted(entity.table)) ("
        + (["_pk INTEGER PRIMARY KEY", "_v INTEGER"] + columns).joined(separator: ", ") + ")"
      return [table]
        + entity.uniqueKeys.map { uniqueIndex($0, of: entity) }
        + entity.attributes.filter(\.isIndexed).map { index($0, of: entity) }
    case .attribute(let attribute, let entity):
      let added = "ALTER TABLE \(quoted(entity.table)) ADD COLUMN \(column(attribute))"
      return [added] + (attribute.isIndexed ? [index(attribute, of: entity)] : [])
    case .uniqueKey(let key, let entity):
      return [uniqueIndex(key, of: entity)]
    case .index(let attribute, let entity):
      return [index(attribute, of: entity)]
    }
  }

  private static func column(_ attribute: Attribute) -> String {
    "\(quoted(attribute.column)) \(attribute.type.columnType)"
  }

  private static func uniqueIndex(_ key: [String], of entity: Entity) -> String {
    let columns = key.map { entity.attribute(named: $0)?.column ?? $0 }
    let name = ([entity.table, "unique"] + columns).joined(separator: "_")
    return "CREATE UNIQUE INDEX \(quoted(name)) ON \(quoted(entity.table))"
      + " (\(columns.map(quoted).joined(separator: ", ")))"
  }

  private static func index(_ attribute: Attribute, of entity: Entity) -> String {
    "CREATE INDEX \(quoted("\(entity.table)_\(attribute.column)"))"
      + " ON \(quoted(entity.table)) (\(quoted(attribute.column)))"
  }
}
