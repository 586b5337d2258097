import GRDB

/// The objects that are in the way of a new unique key, because they share its values.
struct DuplicateKeys {
  /// How many values are named.
  private static let exampleCount = 3

  private let index: Schema.Index
  private let isSensitive: [Bool]

  init(_ index: Schema.Index, in layout: ModelLayout) {
    self.index = index
    let table = layout.tables.first { hasSameBytes($0.name, index.table) }
    isSensitive = index.columns.map { name in
      table?.columns.first { hasSameBytes($0.name, name) }?.attribute?.isSensitive ?? false
    }
  }

  /// Which values several objects have, and how many of them: a sentence.
  func sentence(_ database: Database) throws -> String {
    let columns = index.columns.map(Schema.quoted)
    let list = columns.joined(separator: ", ")
    let isWhole = columns.map { "\($0) NOT NULL" }.joined(separator: " AND ")
    let groups =
      "SELECT \(list), count(*) AS _count FROM \(Schema.quoted(index.table)) WHERE \(isWhole)"
      + " GROUP BY \(list) HAVING count(*) > 1"
    let count = try database.storedValue(
      "SELECT coalesce(sum(_count), 0) FROM (\(groups))",
      of: index.table,
      as: Int.self
    )
    let rows = try Row.fetchAll(
      database,
      sql: "\(groups) ORDER BY _count DESC, \(list) LIMIT \(Self.exampleCount)"
    )
    let examples = try rows.map { row in
      let values = zip(row.databaseValues, isSensitive).map { value, isSensitive in
        isSensitive ? "•••" : StoredValue(value).summary
      }
      let number: Int = try row.stored(columns.count, of: index.table)
      return "\(values.joined(separator: " ")) \(number) times"
    }
    return "[\(index.columns.joined(separator: ", "))] cannot be a unique key of \(index.table):"
      + " \(count ?? 0) objects share their values (\(examples.joined(separator: "; ")))."
  }
}

extension StoreError {
  /// What is said of an index that cannot be unique.
  ///
  /// - Parameters:
  ///   - index: The index.
  ///   - count: How many objects share its values; nil where nobody has counted them.
  /// - Returns: The error, `.modelConflict`.
  static func sharedValues(of index: Schema.Index, _ count: Int64? = nil) -> StoreError {
    StoreError(
      .modelConflict,
      "[\(index.columns.joined(separator: ", "))] cannot be a unique key of \(index.table):"
        + " \(count.map { "\($0) " } ?? "")objects share their values.",
      help: "delete or change the objects that are there more than once, and run it again"
    )
  }
}
