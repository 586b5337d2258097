/// One state of a store on a server, by SQL: each call is one statement, however many rows it is for.
struct ServerReader: StoreReader, RowStream {
  let connection: any ServerConnection
  let layout: ModelLayout
  /// Whether the tables lie on several machines.
  private let isDistributed: Bool

  init(_ connection: any ServerConnection, _ layout: ModelLayout, isDistributed: Bool) {
    self.connection = connection
    self.layout = layout
    self.isDistributed = isDistributed
  }

  func rows(
    at keys: [Int64],
    of table: Int,
    reading columns: [String],
    _ body: (StoredRow) throws -> Void
  ) throws {
    guard !keys.isEmpty else { return }
    let names = ["_pk"] + columns.map(Schema.quoted)
    try connection.forEachRow(
      "SELECT \(names.joined(separator: ", ")) FROM \(Schema.quoted(layout.tables[table].name))"
        + " WHERE _pk = ANY($1::bigint[])",
      [ServerParameter(keys)]
    ) { try body(StoredRow(values: $0)) }
  }

  func rows(
    having values: [[StoredValue]],
    in key: [Int],
    of table: Int,
    reading columns: [String],
    _ body: (Int, StoredRow) throws -> Void
  ) throws {
    guard !values.isEmpty else { return }
    let (sql, parameters) = try lookup(values, key, table, columns)
    try connection.forEachRow(sql, parameters) {
      try body(Int($0[0].number), StoredRow(values: $0 + 1))
    }
  }

  func ask(
    having values: [[StoredValue]],
    in key: [Int],
    of table: Int,
    reading columns: [String]
  ) throws -> (any AskedRows)? {
    guard !values.isEmpty else { return nil }
    let (sql, parameters) = try lookup(values, key, table, columns)
    return try connection.ask(sql, parameters).map { Asked(answer: $0) }
  }

  private final class Asked: AskedRows {
    private let answer: any ServerAnswer

    init(answer: any ServerAnswer) { self.answer = answer }

    func listen() { answer.listen() }

    func rows(_ body: (Int, StoredRow) throws -> Void) throws {
      try answer.forEachRow { try body(Int($0[0].number), StoredRow(values: $0 + 1)) }
    }
  }

  /// The statement of `rows(having:)`.
  private func lookup(
    _ values: [[StoredValue]],
    _ key: [Int],
    _ table: Int,
    _ columns: [String]
  ) throws -> (sql: String, parameters: [ServerParameter]) {
    let layout = layout.tables[table]
    var places = ServerArray(.bigint)
    var parts = key.map { ServerArray(ServerType(layout.columns[$0])) }
    for (place, values) in values.enumerated() {
      // What no column can hold is nobody's key.
      if values.contains(where: { $0.holdsNUL }) { continue }
      places.append(Int64(place))
      for (index, value) in values.enumerated() { try parts[index].append(value) }
    }
    let lists = [places] + parts
    let tests = key.enumerated().map { number, column in
      // JSON of the server has no equality; its text has.
      let cast = parts[number].type == .json ? "::text" : ""
      return "t.\(Schema.quoted(layout.columns[column].name))\(cast) = k.c\(number)\(cast)"
    }
    let names = (["_pk"] + columns).map { "t.\(Schema.quoted($0))" }.joined(separator: ", ")
    let table = "\(Schema.quoted(layout.name)) AS t"
    let test = tests.joined(separator: " AND ")
    // OFFSET keeps the subquery apart: each key is looked up in its index, and the table is never read from end to end.
    // Over several machines it may not be kept so.
    let join =
      isDistributed
      ? "JOIN \(table) ON \(test)"
      : "CROSS JOIN LATERAL (SELECT \(names) FROM \(table) WHERE \(test) OFFSET 0) AS t"
    return (
      "SELECT k.place, \(names) FROM \(lists.unnested) AS k(place\(key.indices.map { ", c\($0)" }.joined()))"
        + " \(join) ORDER BY k.place",
      lists.parameters
    )
  }

  func targets(of link: RelationshipLayout, _ owners: [Int64]) throws -> [Int64: StoredTargets] {
    guard !owners.isEmpty else { return [:] }
    let links = LinkQuery(link, in: layout)
    var found: [Int64: StoredTargets] = [:]
    try connection.forEachRow(
      links.linksSQL(of: "= ANY($1::bigint[])"),
      [ServerParameter(owners)]
    ) { row in
      let place = links.hasPlaces ? StoredValue(row[2]).integer : nil
      found[row[0].number, default: StoredTargets()].append(row[1].number, at: place)
    }
    return found
  }

  func targets(
    of link: RelationshipLayout,
    _ owner: Int64,
    among targets: [Int64]
  ) throws -> Set<Int64> {
    let links = LinkQuery(link, in: layout)
    return try keys(
      links.targetsSQL(of: "= $1::bigint", among: "= ANY($2::bigint[])"),
      [ServerParameter(owner), ServerParameter(targets)]
    )
  }

  func owners(of link: RelationshipLayout, _ targets: [Int64]) throws -> Set<Int64> {
    guard !targets.isEmpty else { return [] }
    return try keys(
      LinkQuery(link, in: layout).ownersSQL(of: "= ANY($1::bigint[])"),
      [ServerParameter(targets)]
    )
  }

  func stubs(among keys: [Int64], of table: Int) throws -> Set<Int64> {
    guard !keys.isEmpty else { return [] }
    return try self.keys(
      "SELECT _pk FROM \(Schema.quoted(layout.tables[table].name))"
        + " WHERE _pk = ANY($1::bigint[]) AND _stub IS NOT NULL",
      [ServerParameter(keys)]
    )
  }

  private func keys(_ sql: String, _ parameters: [ServerParameter]) throws -> Set<Int64> {
    var found: Set<Int64> = []
    try connection.forEachRow(sql, parameters) { found.insert($0[0].number) }
    return found
  }

  // MARK: - Requests

  /// Lends the rows of a request that `ServerQuery` can say, as they come.
  func stream(
    _ request: ResolvedRequest,
    _ columns: [String],
    _ body: (StoredRow) throws -> Void
  ) throws {
    guard let query = ServerQuery(request, layout),
      let names = query.columns(.columns(columns))
    else {
      throw StoreError(.refused, "The server cannot answer the request by itself.")
    }
    try connection.forEachRow(query.rowsSQL(names), query.parameters, streams: true) {
      try body(StoredRow(values: $0))
    }
  }

  /// Asks the server where it means the same; otherwise the tables that the request is about are read into a
  /// temporary file, which answers.
  func fetch(
    _ request: ResolvedRequest,
    _ reading: FetchReading,
    _ body: (StoredRow) throws -> Void
  ) throws {
    if let query = ServerQuery(request, layout), let columns = query.columns(reading) {
      return try connection.forEachRow(query.rowsSQL(columns), query.parameters) {
        try body(StoredRow(values: $0))
      }
    }
    let tables = RequestTables(request, in: layout)
    let copy = try ServerCopy(connection, layout).store(of: tables)
    try copy.withSnapshot { try $0.fetch(request, reading, body) }
    try copy.close()
  }

  func count(_ request: ResolvedRequest) throws -> Int {
    if let query = ServerQuery(request, layout) {
      var count = 0
      try connection.forEachRow(query.countSQL, query.parameters) { count = Int($0[0].number) }
      return count
    }
    let tables = RequestTables(request, in: layout)
    let copy = try ServerCopy(connection, layout).store(of: tables)
    let count = try copy.withSnapshot { try $0.count(request) }
    try copy.close()
    return count
  }

  func stubs(of table: String) throws -> Set<Int64> {
    try keys("SELECT _pk FROM \(table) WHERE _stub IS NOT NULL", [])
  }

  // MARK: - References that wait

  func waitingReferences() throws -> [WaitingReference] {
    var found: [WaitingReference] = []
    var owners: [String: EntityLayout?] = [:]
    try connection.forEachRow(
      "SELECT id, owner, relationship, entity, key FROM _dragoman_pending ORDER BY id"
    ) { row in
      guard let name = row[2].text, let entity = row[3].text, let key = row[4].text else { return }
      let known = owners[name] ?? layout.relationship(named: name).map { layout.entities[$0.owner] }
      owners[name] = known
      guard let owner = known else { return }
      var reference = WaitingReference(
        relationship: name,
        owner: RowKey(table: owner.tableIndex, key: row[1].number),
        entity: entity,
        key: try PendingKeyCode.shared.parts(of: key)
      )
      reference.id = row[0].number
      found.append(reference)
    }
    return found
  }
}

extension StoredValue {
  /// Whether it is a text that PostgreSQL cannot hold.
  fileprivate var holdsNUL: Bool {
    if case .text(let text) = self { text.utf8.contains(0) } else { false }
  }
}
