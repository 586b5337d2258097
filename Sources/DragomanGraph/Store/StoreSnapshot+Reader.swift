import GRDB

/// What contexts, live results and typed values read, by SQL.
extension StoreSnapshot: StoreReader {
  /// Runs `SELECT _pk, … WHERE _pk IN (…)`.
  func rows(
    at keys: [Int64],
    of table: Int,
    reading columns: [String],
    _ body: (StoredRow) throws -> Void
  ) throws {
    guard !keys.isEmpty else { return }
    let statement = try RawStatement(
      kept: "\(selection(columns, of: table)) WHERE _pk \(Self.test(keys))",
      in: database
    )
    try Self.bind(keys, to: statement)
    try statement.forEachRow(body)
  }

  /// Runs one statement, `SELECT … WHERE key = ?`, for each of the values.
  func rows(
    having values: [[StoredValue]],
    in key: [Int],
    of table: Int,
    reading columns: [String],
    _ body: (Int, StoredRow) throws -> Void
  ) throws {
    let tests = key.enumerated().map {
      "\(Schema.quoted(layout.tables[table].columns[$1].name)) = ?\($0 + 1)"
    }
    let statement = try RawStatement(
      kept: "\(selection(columns, of: table)) WHERE \(tests.joined(separator: " AND "))",
      in: database
    )
    for (place, parts) in values.enumerated() {
      for (index, part) in parts.enumerated() { try statement.bind(part, Int32(index) + 1) }
      try statement.forEachRow { try body(place, $0) }
    }
  }

  func targets(of link: RelationshipLayout, _ owners: [Int64]) throws -> [Int64: StoredTargets] {
    guard !owners.isEmpty else { return [:] }
    let links = LinkQuery(link, in: layout)
    let statement = try RawStatement(kept: links.linksSQL(of: Self.test(owners)), in: database)
    try Self.bind(owners, to: statement)
    var found: [Int64: StoredTargets] = [:]
    try statement.forEachRow { row in
      let place = links.hasPlaces ? row.stored(2).integer : nil
      found[row.integer(0), default: StoredTargets()].append(row.integer(1), at: place)
    }
    return found
  }

  func targets(
    of link: RelationshipLayout,
    _ owner: Int64,
    among targets: [Int64]
  ) throws -> Set<Int64> {
    let links = LinkQuery(link, in: layout)
    let statement = try RawStatement(
      kept: links.targetsSQL(of: "= ?1", among: "IN (SELECT value FROM json_each(?2))"),
      in: database
    )
    statement.bind(integer: owner, 1)
    try statement.bind(list: targets, 2)
    var found: Set<Int64> = []
    try statement.forEachRow { found.insert($0.integer(0)) }
    return found
  }

  func owners(of link: RelationshipLayout, _ targets: [Int64]) throws -> Set<Int64> {
    guard !targets.isEmpty else { return [] }
    let links = LinkQuery(link, in: layout)
    let statement = try RawStatement(kept: links.ownersSQL(of: Self.test(targets)), in: database)
    try Self.bind(targets, to: statement)
    var found: Set<Int64> = []
    try statement.forEachRow { found.insert($0.integer(0)) }
    return found
  }

  func fetch(
    _ request: ResolvedRequest,
    _ reading: FetchReading,
    _ body: (StoredRow) throws -> Void
  ) throws {
    let plan = FetchPlan(request, in: layout)
    let sql =
      switch reading {
      case .columns(let names): plan.objectsSQL(["_pk"] + names)
      case .values: plan.rowsSQL
      case .versions: plan.versionsSQL
      }
    try FetchStatement.run(sql, plan.arguments, database) { row in
      try body(row)
      return true
    }
  }

  func count(_ request: ResolvedRequest) throws -> Int {
    try FetchStatement.count(FetchPlan(request, in: layout), database)
  }

  func stubs(among keys: [Int64], of table: Int) throws -> Set<Int64> {
    var stubs: Set<Int64> = []
    try rows(at: keys, of: table, reading: ["_stub"]) { row in
      if case .null = row[1] { return }
      stubs.insert(row.integer(0))
    }
    return stubs
  }

  /// Runs `SELECT` over `_dragoman_pending`.
  func waitingReferences() throws -> [WaitingReference] {
    let place = PendingReference.table
    let isAny = try RawStatement(kept: "SELECT 1 FROM \(place) LIMIT 1", in: database)
    defer { isAny.reset() }
    guard try isAny.step() else { return [] }
    try PendingReference.check(database)
    let rows = try Row.fetchAll(
      database,
      sql: "SELECT id, owner, relationship, entity, key FROM \(place) ORDER BY id"
    )
    var owners: [String: EntityLayout?] = [:]
    return try rows.compactMap { row -> WaitingReference? in
      let name: String = try row.stored(2, of: place)
      let known =
        owners[name] ?? layout.relationship(named: name).map { layout.entities[$0.owner] }
      owners[name] = known
      guard let owner = known else { return nil }
      let text: String = try row.stored(4, of: place)
      let values = try RawStatement(
        kept: "SELECT e.key, \(PendingReference.value(in: "e")) FROM json_each(?) AS e",
        in: database
      )
      try values.bind(.text(text), 1)
      var key: [WaitingReference.Part] = []
      try values.forEachRow { key.append(WaitingReference.Part($0.text(0), $0.stored(1))) }
      var reference = WaitingReference(
        relationship: name,
        owner: RowKey(table: owner.tableIndex, key: try row.stored(1, of: place)),
        entity: try row.stored(3, of: place),
        key: key
      )
      reference.id = try row.stored(0, of: place)
      return reference
    }
  }

  // MARK: - SQL

  private func selection(_ columns: [String], of table: Int) -> String {
    let names = ["_pk"] + columns.map(Schema.quoted)
    let table = Schema.quoted(layout.tables[table].name)
    return "SELECT \(names.joined(separator: ", ")) FROM \(table)"
  }

  /// The test of `?1`, which is one key or a JSON array of them.
  private static func test(_ keys: [Int64]) -> String {
    keys.count == 1 ? "= ?1" : "IN (SELECT value FROM json_each(?1))"
  }

  private static func bind(_ keys: [Int64], to statement: RawStatement) throws {
    guard keys.count == 1 else { return try statement.bind(list: keys, 1) }
    statement.bind(integer: keys[0], 1)
  }
}
