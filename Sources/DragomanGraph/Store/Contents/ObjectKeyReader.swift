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
  /// Tables, and what stands behind them.
  private var joins: [(table: String, on: String)] = []

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
          (Schema.quoted(target.table), "AS \(other) ON \(other)._pk = \(expression)")
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
  /// Runs `SELECT t._pk, t._entity, … FROM "Table" AS t LEFT JOIN … WHERE … ORDER BY t._pk LIMIT …`.
  /// - Parameters:
  ///   - condition: SQL about the row `t`.
  ///   - arguments: What it binds.
  ///   - limit: How many objects at most; nil for all.
  ///   - sql: The statements of the store.
  /// - Returns: The objects, all in memory.
  /// - Throws: `StoreError`, also for a table that is not as the model has it.
  func objects(
    where condition: String,
    _ arguments: [StoredValue] = [],
    limit: Int? = nil,
    _ sql: any SharedSQL
  ) throws(StoreError) -> [Found] {
    let own = ["t._pk", entity.hasEntityColumn ? "t._entity" : Schema.literal(entity.name)]
    let joins = joins.map { join in
      let table = sql.apart.isEmpty ? join.table : "(SELECT * FROM \(join.table)\(sql.apart))"
      return " LEFT JOIN \(table) \(join.on)"
    }
    let rows = try sql.values(
      own + expressions,
      "FROM \(Schema.quoted(entity.table)) AS t\(joins.joined())"
        + " WHERE \(condition) ORDER BY t._pk\(limit.map { " LIMIT \($0)" } ?? "")",
      arguments
    )
    return try rows.map { row throws(StoreError) in
      guard case .integer(let key) = row[0] else {
        throw StoreError(.damaged, "A row of \(entity.table) has no key.")
      }
      let name: String? = if case .text(let text) = row[1] { text } else { nil }
      return Found(
        primaryKey: key,
        entity: name ?? entity.name,
        key: self.key(of: Array(row[2...]))
      )
    }
  }

  /// The first key of which all values are there; the first one where there is none.
  private func key(of values: [StoredValue]) -> ObjectKey {
    let complete = keys.first { key in key.allSatisfy { values[$0.place] != .null } }
    let parts = complete ?? keys.first ?? []
    return ObjectKey(parts.map { ObjectKey.Part($0.path, $0.attribute, values[$0.place]) })
  }
}
