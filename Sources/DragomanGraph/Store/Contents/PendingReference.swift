import GRDB

/// A reference that waits in the store until its target comes, a row of `_dragoman_pending`.
///
/// Maps keep such references by `onUnresolved: pending`; the import that brings the target links it.
public struct PendingReference: Sendable, Hashable {
  /// The object that refers.
  public let owner: ObjectID
  /// What the owner is known by; empty where it is gone, or its entity has no unique key.
  public let ownerKey: ObjectKey
  /// The relationship with its entity: `Article.replaces`.
  public let relationship: String
  /// The entity that is referred to.
  public let target: String
  /// The key that nobody has yet.
  public let key: ObjectKey
}

extension PendingReference {
  /// The table of them.
  static let table = "_dragoman_pending"

  /// A key as it stands in the table: a JSON object, in SQL.
  ///
  /// Values that SQLite's JSON would round (doubles), cut (texts with NUL) or refuse (bytes) are a list of
  /// one code of `ListCode`.
  ///
  /// - Parameter parts: The names of the key's attributes, and an expression for the value of each.
  /// - Returns: The expression.
  static func json(_ parts: [(name: String, value: String)]) -> String {
    let members = parts.map { "\(Schema.literal($0.name)), \(json($0.value))" }
    return "json_object(\(members.joined(separator: ", ")))"
  }

  /// The value of one part, as it stands in the JSON object of a key.
  static func json(_ value: String) -> String {
    let isPlain =
      "typeof(\(value)) IN ('integer', 'null')"
      + " OR typeof(\(value)) = 'text' AND instr(\(value), char(0)) = 0"
    return "json(CASE WHEN \(isPlain) THEN json_quote(\(value))"
      + " ELSE json_array(dragoman_code(\(value))) END)"
  }

  /// The value of a part, out of a row of `json_each` over a key.
  static func value(in row: String) -> String {
    "CASE \(row).type WHEN 'array' THEN dragoman_value(json_extract(\(row).value, '$[0]'))"
      + " ELSE \(row).value END"
  }

  /// The keys that objects wait for by a relationship, as rows: nothing for the `_pk`, the parts of the key,
  /// and the owner, by whom they are ordered; `?1` are the owners.
  ///
  /// - Parameters:
  ///   - relationship: The relationship with its entity.
  ///   - parts: The names of the key's attributes; keys without one of them are left out.
  ///   - others: Expressions behind the parts.
  /// - Returns: The statement.
  static func keysSQL(
    of relationship: String,
    _ parts: [String],
    besides others: [String]
  ) -> String {
    let member = { (part: String) in
      "FROM json_each(p.key) AS e WHERE e.key = \(Schema.literal(part))"
    }
    let values = parts.map { "(SELECT \(value(in: "e")) \(member($0)))" }
    let tests = parts.map { " AND EXISTS (SELECT 1 \(member($0)))" }.joined()
    return "SELECT \((["0"] + values + others + ["p.owner"]).joined(separator: ", "))"
      + " FROM \(table) AS p WHERE p.relationship = \(Schema.literal(relationship))"
      + " AND p.owner IN (SELECT value FROM json_each(?1))\(tests) ORDER BY p.owner, p.id"
  }

  /// Whether somebody waits by a relationship.
  ///
  /// - Parameters:
  ///   - relationship: The relationship with its entity.
  ///   - database: The connection.
  /// - Returns: Whether there is a row of it.
  /// - Throws: `StoreError`, `.damaged`, where rows of the table are not as they are written.
  static func isThere(of relationship: String, in database: Database) throws -> Bool {
    let isAny = try RawStatement(
      kept: "SELECT 1 FROM \(table) WHERE relationship = ? LIMIT 1",
      in: database
    )
    defer { isAny.reset() }
    try isAny.bind(.text(relationship), 1)
    guard try isAny.step() else { return false }
    try check(database)
    return true
  }

  /// Refuses a table whose rows are not as they are written: whoever reads them follows names and
  /// looks into JSON.
  ///
  /// Reads the table once.
  /// - Throws: `StoreError`, `.damaged`, with the first such row.
  static func check(_ database: Database) throws {
    let isWhole =
      "typeof(owner) = 'integer' AND typeof(relationship) = 'text' AND typeof(entity) = 'text'"
      + " AND CASE WHEN typeof(key) = 'text' AND json_valid(key) THEN json_type(key) = 'object' END"
    let found = try database.storedValue(
      "SELECT id FROM \(table) WHERE (\(isWhole)) IS NOT TRUE LIMIT 1",
      of: table,
      as: Int64.self
    )
    guard let found else { return }
    throw StoreError(
      .damaged,
      "The row \(found) of \(table) is no reference that waits: owner is an integer, relationship and"
        + " entity are texts, key is a JSON object.",
      help: "restore a backup, or delete the row"
    )
  }
}
