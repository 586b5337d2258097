import GRDB

/// Reads objects of one entity with the keys that they are known by.
///
/// To-one parts of a key are joined, so that a key shows no `_pk` of another object, save where
/// keys lead through more relationships than anybody reads.
struct ObjectKeyReader {
  /// An object with its key.
  struct Found {
    let primaryKey: Int64
    let entity: String
    let key: ObjectKey
  }

  private struct Part {
    let path: String
    let attribute: Attribute
    /// Its place among the values that the statement selects.
    let place: Int
  }

  private static let maximumDepth = 4
  /// SQLite joins 64 tables at most (https://www.sqlite.org/limits.html).
  private static let maximumJoinCount = 32

  private let entity: EntityLayout
  private let layout: ModelLayout
  private var keys: [[Part]] = []
  private var expressions: [String] = []
  private var joins: [String] = []

  init(_ entity: EntityLayout, in layout: ModelLayout) {
    self.entity = entity
    self.layout = layout
    for key in entity.uniqueKeys { keys.append(parts(of: key, entity, alias: "t", path: "", 1)) }
  }

  private mutating func parts(
    of key: [EntityLayout.KeyPart],
    _ entity: EntityLayout,
    alias: String,
    path: String,
    _ depth: Int
  ) -> [Part] {
    var parts: [Part] = []
    for part in key {
      let expression = "\(alias).\(Schema.quoted(part.column))"
      switch part.property {
      case .attribute(let slot):
        parts.append(add(expression, path + part.name, entity.attributes[slot]))
      case .relationship(let slot):
        let target = layout.entities[entity.relationships[slot].destination]
        guard let identity = target.uniqueKeys.first, depth < Self.maximumDepth,
          joins.count < Self.maximumJoinCount
        else {
          let attribute = Attribute(name: part.name, type: .int64)
          parts.append(add(expression, "\(path)\(part.name)._pk", attribute))
          continue
        }
        let other = "j\(joins.count)"
        joins.append(
          " LEFT JOIN \(Schema.quoted(target.table)) AS \(other) ON \(other)._pk = \(expression)"
        )
        let inner = "\(path)\(part.name)."
        parts += self.parts(of: identity, target, alias: other, path: inner, depth + 1)
      }
    }
    return parts
  }

  private mutating func add(_ expression: String, _ path: String, _ attribute: Attribute) -> Part {
    expressions.append(expression)
    return Part(path: path, attribute: attribute, place: expressions.count - 1)
  }

  /// The objects that satisfy a condition, in the order of their `_pk`.
  ///
  /// Runs `SELECT t._pk, t._entity, … FROM "Table" AS t LEFT JOIN … WHERE … ORDER BY t._pk LIMIT ?`.
  /// - Parameters:
  ///   - condition: SQL about the row `t`.
  ///   - arguments: What it binds.
  ///   - limit: How many objects at most; nil for all.
  ///   - database: The connection.
  /// - Returns: The objects, all in memory.
  /// - Throws: What SQLite says of a table that is not as the model has it.
  func objects(
    where condition: String,
    _ arguments: StatementArguments = [],
    limit: Int? = nil,
    _ database: Database
  ) throws -> [Found] {
    let own = ["t._pk", entity.hasEntityColumn ? "t._entity" : Schema.literal(entity.name)]
    let statement = try database.makeStatement(
      sql: "SELECT \((own + expressions).joined(separator: ", "))"
        + " FROM \(Schema.quoted(entity.table)) AS t\(joins.joined())"
        + " WHERE \(condition) ORDER BY t._pk LIMIT ?"
    )
    let rows = try Row.fetchCursor(statement, arguments: arguments + [limit ?? -1])
    // GRDB cuts texts at NUL.
    let columns = StoredRow(statement: statement.sqliteStatement)
    var found: [Found] = []
    while let row = try rows.next() {
      let values = (2..<row.count).map { columns.stored(Int32($0)) }
      let name: String? = try row.stored(1, of: entity.table)
      found.append(
        Found(
          primaryKey: try row.stored(0, of: entity.table),
          entity: name ?? entity.name,
          key: key(of: values)
        )
      )
    }
    return found
  }

  /// The first key of which all values are there; the first one where there is none.
  private func key(of values: [StoredValue]) -> ObjectKey {
    let complete = keys.first { key in key.allSatisfy { values[$0.place] != .null } }
    let parts = complete ?? keys.first ?? []
    return ObjectKey(parts.map { ObjectKey.Part($0.path, $0.attribute, values[$0.place]) })
  }
}
