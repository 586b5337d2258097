import GRDB

/// Rows of another engine, as they come.
protocol RowStream {
  /// Lends the rows of a request: `_pk`, then the columns.
  func stream(
    _ request: ResolvedRequest,
    _ columns: [String],
    _ body: (StoredRow) throws -> Void
  ) throws

  /// The keys of the rows of a table, by its quoted name, that hold their key only.
  func stubs(of table: String) throws -> Set<Int64>
}

/// One state of a store, for several fetches that belong together: objects, and what they are linked
/// to.
package struct StoreSnapshot {
  let database: Database
  /// The model of what the store holds.
  package let layout: ModelLayout
  /// Where rows are read from, one after the other, in place of the file; nil: they are in the file.
  private var stream: (any RowStream)?

  init(_ database: Database, _ layout: ModelLayout) {
    self.database = database
    self.layout = layout
  }

  /// The same whose rows come from elsewhere, as the file's schema has them; there are no links to be read.
  func reading(from stream: any RowStream) -> StoreSnapshot {
    var snapshot = self
    snapshot.stream = stream
    return snapshot
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
    let request = try ResolvedRequest(request, in: layout)
    let columns = attributes.map(\.column) + (request.entity.hasEntityColumn ? ["_entity"] : [])
    if let stream {
      return try stream.stream(request, columns) { row in
        try body(FetchedRow(request.entity, count: columns.count, row))
      }
    }
    try fetch(request, .columns(columns)) { row in
      try body(FetchedRow(request.entity, count: columns.count, row))
    }
  }

  /// The objects of an entity that hold their key only, until their record comes.
  ///
  /// Reads the table once, where it can have any.
  package func stubs(of entity: String) throws -> Set<Int64> {
    guard let entity = layout.entity(named: entity), entity.hasStubColumn else { return [] }
    let table = Schema.quoted(entity.table)
    if let stream { return try stream.stubs(of: table) }
    return try Int64.fetchSet(database, sql: "SELECT _pk FROM \(table) WHERE _stub IS NOT NULL")
  }

  /// Prepares reading the targets of a relationship.
  ///
  /// - Parameters:
  ///   - link: The relationship.
  ///   - attributes: What is read, of the destination or of its sub-entities; the name of the target's own
  ///     entity stands behind them, where it may be one of these.
  ///   - waits: Whether references that wait come behind the targets, as rows that have their key and
  ///     nothing else; of those that have all of `attributes`.
  /// - Returns: A reader, to be used inside of the snapshot's closure only.
  /// - Throws: What SQLite says of a table that is not as the model has it.
  package func links(
    _ link: RelationshipLayout,
    reading attributes: [Attribute],
    andWaiting waits: Bool = false
  ) throws -> LinkReader {
    try LinkReader(link, attributes, andWaiting: waits, in: layout, database)
  }
}

extension SQLiteStore {
  /// Lends one state of the store to the closure.
  package func withSnapshot<T>(_ body: (StoreSnapshot) throws -> T) throws -> T {
    try withSnapshot(layout, body)
  }

  func withSnapshot<T>(_ layout: ModelLayout, _ body: (StoreSnapshot) throws -> T) throws -> T {
    // Kept apart, so that an error of the caller does not come back as one of the store.
    var result: Result<T, any Error>?
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
/// Runs one statement a call, however many owners there are, and one more where references wait: the owners' keys are
/// one JSON array.
package final class LinkReader {
  private let statement: RawStatement
  /// The references that wait; nil where none does, or nobody asks for them.
  private let waiting: RawStatement?
  private let entity: EntityLayout
  private let count: Int

  fileprivate init(
    _ link: RelationshipLayout,
    _ attributes: [Attribute],
    andWaiting waits: Bool,
    in layout: ModelLayout,
    _ database: Database
  ) throws {
    entity = layout.entities[link.destination]
    let columns =
      ["_pk"] + attributes.map(\.column) + (entity.hasEntityColumn ? ["_entity"] : [])
    count = columns.count - 1
    let sql = LinkQuery(link, in: layout).rowsSQL(entity, columns)
    statement = try RawStatement(sql, in: database)
    let name = "\(layout.entities[link.owner].name).\(link.name)"
    guard waits, try PendingReference.isThere(of: name, in: database) else {
      waiting = nil
      return
    }
    let keys = PendingReference.keysSQL(
      of: name,
      attributes.map(\.name),
      besides: entity.hasEntityColumn ? ["NULL"] : []
    )
    waiting = try RawStatement(keys, in: database)
  }

  /// Lends each target with the `_pk` of its owner; those of one owner come together and in order.
  package func read(
    owners: [Int64],
    _ body: (Int64, borrowing FetchedRow) throws -> Void
  ) throws {
    let place = Int32(count) + 1
    try statement.bind(list: owners, 1)
    guard let waiting else {
      return try statement.forEachRow { row in
        try body(row.integer(place), FetchedRow(entity, count: count, row))
      }
    }
    // Both come owner by owner.
    try waiting.bind(list: owners, 1)
    defer { waiting.reset() }
    var isMore = try waiting.step()
    func lendWaiting(before owner: Int64?) throws {
      while isMore {
        let own = waiting.row.integer(place)
        if let owner, own >= owner { return }
        try body(own, FetchedRow(entity, count: count, waiting.row))
        isMore = try waiting.step()
      }
    }
    try statement.forEachRow { row in
      let owner = row.integer(place)
      try lendWaiting(before: owner)
      try body(owner, FetchedRow(entity, count: count, row))
    }
    try lendWaiting(before: nil)
  }
}
