/// Reads one page of rows beside those that are loaded.
struct PageReader: Sendable {
  let request: FetchRequest
  let store: any ObjectStore
  let layout: ModelLayout
  let options: PageOptions
  /// The rows that are loaded, in order.
  let loaded: [ResultRow]

  /// What was found.
  struct Found {
    var rows: [ResultRow] = []
    /// The ids of the rows.
    var ids: [ObjectID] = []
    /// Whether there may be more rows in this direction.
    var hasMore = true
    /// Whether the rows are in reverse.
    let isReversed: Bool
  }

  /// Reads a page: as many rows as it has that are not loaded yet, or all that there are.
  ///
  /// - Throws: `StoreError`; `.badRequest` where the object to begin with is not of the results.
  func read(_ direction: PageDirection) throws -> Found {
    let query = try ResultQuery(request, sectionedBy: nil, in: layout)
    let isReversed = loaded.isEmpty ? options.start == .end : direction == .previous
    var found = Found(isReversed: isReversed)
    var boundary = isReversed ? loaded.first : loaded.last
    if loaded.isEmpty, case .object(let id) = options.start {
      let first = try object(id, query)
      found.rows.append(first)
      boundary = first
    }
    // A row that was loaded and has moved to where the page lies does not come twice.
    var known = Set((loaded + found.rows).map(\.key))
    while found.rows.count < options.size {
      let wanted = options.size - found.rows.count
      let rows = try StoreResultSource(store: store).rows(
        Self.part(behind: boundary, isReversed, wanted),
        of: query
      )
      for place in 0..<rows.count where known.insert(rows.keys[place]).inserted {
        found.rows.append(rows[place])
      }
      guard rows.count == wanted else {
        found.hasMore = false
        break
      }
      boundary = rows[rows.count - 1]
    }
    found.ids = found.rows.map { ObjectID(entity: query.entityName, primaryKey: $0.key) }
    return found
  }

  private static func part(
    behind boundary: ResultRow?,
    _ isReversed: Bool,
    _ count: Int
  ) -> ResultPart {
    guard let boundary else { return isReversed ? .last(limit: count) : .first(limit: count) }
    return isReversed ? .before(boundary, limit: count) : .after(boundary, limit: count)
  }

  private func object(_ id: ObjectID, _ query: ResultQuery) throws -> ResultRow {
    let isOurs = id.entity.utf8.elementsEqual(query.entityName.utf8)
    let rows = try StoreResultSource(store: store).rows(.keys([id.primaryKey]), of: query)
    guard isOurs, rows.count == 1 else {
      throw StoreError(
        .badRequest,
        "The pages cannot begin with \(id.uri), which is not among the results.",
        help: "begin elsewhere"
      )
    }
    return rows[0]
  }
}
