/// Writes the unsaved changes of a context into a server, within one transaction: what `PendingChangesWriter` does
/// in a file, for sets of rows.
///
/// The rows that changes are about are locked and read first; what is to be done is decided of them here, and
/// written with few statements a table:
///
///     SELECT _pk, _v, … FROM "Person" WHERE _pk = ANY($1) ORDER BY _pk FOR NO KEY UPDATE
///     DELETE FROM "Person" WHERE _pk = ANY($1)
///     UPDATE "Person" AS t SET "name" = n.c0, _v = n.v FROM unnest($1, $2, $3) AS n(k, v, c0) WHERE t._pk = n.k
///     INSERT INTO "Person" (…) SELECT * FROM unnest($1, $2, …)
///
/// Unique keys are checked at the end, so that one object can take what another one gives up.
///
/// Large because it holds what one save has read, made, changed and deleted so far, which each later step asks
/// for.
final class ServerWriter: ChangeSetWriter {
  /// A row as the server has it, or will have it.
  struct Row {
    var version: Int64
    var values: [StoredValue]
  }

  let connection: any ServerConnection
  let layout: ModelLayout
  let policy: MergePolicy
  let schema: ServerSchema
  /// Whether rows name their entity, by table.
  private let namesEntity: [Bool]
  /// The locked rows, with what is decided of them.
  var rows: [RowKey: Row] = [:]
  /// Rows that others' changes may have taken away: those that links of this save lead to, by policy.
  private var others: Set<RowKey> = []
  /// Which rows lead to the same targets by to-ones of which each target has one.
  private var rivals: [Rivals: [RowKey]] = [:]
  private(set) var inserted: [RowKey: RowChange] = [:]
  private(set) var updated: [RowKey: [Int: StoredValue]] = [:]
  /// Rows that are deleted by now.
  private(set) var deleted: Set<RowKey> = []
  /// How many of them were there, by table.
  private var removalCounts: [Int: Int] = [:]
  var outcome = SaveOutcome()
  var conflicts: [SaveConflict] = []

  /// Rows a statement.
  static let chunk = 5000

  init(
    _ connection: any ServerConnection,
    _ layout: ModelLayout,
    in stored: ModelLayout,
    _ schema: ServerSchema,
    policy: MergePolicy
  ) {
    self.connection = connection
    self.layout = layout
    self.schema = schema
    self.policy = policy
    let named = Set(stored.tables.filter(\.hasEntityColumn).map(\.name))
    namesEntity = layout.tables.map { named.contains($0.name) }
  }

  /// Writes everything.
  ///
  /// - Throws: `ContextError`: `.conflict` with all conflicts, `.duplicate`; `ServerError`, `StoreError`. The
  ///   caller rolls the transaction back.
  func write(_ changes: ChangeSet) throws -> SaveOutcome {
    let sorted = changes.sorted
    try lock(sorted)
    try lookForTargets(changes, sorted)
    try lookForRivals(sorted)
    for (place, change) in sorted where change.kind == .deleted {
      try delete(place, in: changes)
    }
    for (place, change) in sorted where change.kind == .updated {
      try update(place, keepingLinks(change, at: place))
    }
    for (place, change) in sorted where change.kind == .inserted { insert(place, change) }
    for (place, change) in sorted where change.kind != .deleted {
      try clearLinksToGone(of: change, at: place)
    }
    try clearLinksOfKept(in: changes)
    try settleOneToOnes(sorted, in: changes)
    try writeRows()
    try write(changes.links)
    try writeMarks(sorted)
    try clearOthersLinks(in: changes)
    if let conflict = ContextError(conflicts) { throw conflict }
    try checkKeys(sorted)
    return outcome
  }

  /// What locks rows that are read; distributed ones cannot be locked, and nobody else writes meanwhile.
  func locking(_ clause: String) -> String { schema.distribution == nil ? clause : "" }

  // MARK: - Reading

  private func lock(_ sorted: [(place: RowKey, change: RowChange)]) throws {
    var keys: [Int: [Int64]] = [:]
    for (place, change) in sorted where change.kind != .inserted {
      keys[place.table, default: []].append(place.key)
    }
    for (table, keys) in keys.sorted(by: { $0.key < $1.key }) {
      try lock(table, "_pk", keys) { rows[$0] = $1 }
    }
  }

  /// Reads and locks the rows of a table that have certain numbers in a column.
  private func lock(
    _ table: Int,
    _ column: String,
    _ values: [Int64],
    _ body: (RowKey, Row) -> Void
  ) throws {
    let columns = layout.tables[table].columns
    let names = ["_pk", "_v"] + columns.map { Schema.quoted($0.name) }
    try connection.forEachRow(
      "SELECT \(names.joined(separator: ", ")) FROM \(Schema.quoted(layout.tables[table].name))"
        + " WHERE \(column) = ANY($1::bigint[]) ORDER BY _pk"
        // Who refers to the rows, by foreign keys, does not wait.
        + locking(" FOR NO KEY UPDATE"),
      [ServerParameter(values)]
    ) { row in
      body(
        RowKey(table: table, key: row[0].number),
        Row(version: row[1].number, values: columns.indices.map { StoredValue(row[$0 + 2]) })
      )
    }
  }

  /// A target, and the column by which one row may lead to it.
  private struct Rivals: Hashable {
    let table: Int
    let column: Int
    let target: Int64
  }

  /// Looks who has the targets that rows get of which each may have one, and keeps others from giving them away.
  private func lookForRivals(_ sorted: [(place: RowKey, change: RowChange)]) throws {
    for (table, changes) in Dictionary(grouping: sorted, by: \.place.table)
      .sorted(by: { $0.key < $1.key })
    {
      for column in layout.linkColumns[table] {
        let link = layout.links[column.link]
        guard layout.isExclusive(link) else { continue }
        let targets = Set(
          changes.compactMap { change in
            change.change.kind == .deleted ? nil : target(of: change.change, by: column)
          }
        ).sorted()
        guard !targets.isEmpty else { continue }
        // Two that make a link to one target wait for each other here.
        try lock(self.table(link.destination), "_pk", targets) { _, _ in }
        let name = Schema.quoted(layout.tables[table].columns[column.column].name)
        try lock(table, name, targets) { place, row in
          if rows[place] == nil { rows[place] = row }
          guard let target = row.values[column.column].integer else { return }
          rivals[Rivals(table: table, column: column.column, target: target), default: []]
            .append(place)
        }
      }
    }
  }

  func rivals(of place: RowKey, by column: Int, to target: Int64) -> [RowKey] {
    guard value(column, of: place)?.integer == target else { return [] }
    return (rivals[Rivals(table: place.table, column: column, target: target)] ?? [])
      .filter { $0 != place && value(column, of: $0)?.integer == target }
  }

  /// What a row that is written, or was read, has in a column; nil: it is not there.
  private func value(_ column: Int, of place: RowKey) -> StoredValue? {
    rows[place]?.values[column] ?? inserted[place]?.whole(column)
  }

  /// Where the store wins, links may lead to what is gone: looks which targets are there.
  private func lookForTargets(
    _ changes: ChangeSet,
    _ sorted: [(place: RowKey, change: RowChange)]
  ) throws {
    guard storeWins else { return }
    var wanted: Set<RowKey> = []
    for (place, change) in sorted where change.kind != .deleted {
      for column in layout.linkColumns[place.table] {
        guard let key = change.whole(column.column).integer else { continue }
        wanted.insert(RowKey(table: table(layout.links[column.link].destination), key: key))
      }
    }
    for owner in changes.links.owners {
      let link = layout.links[owner.link]
      wanted.insert(RowKey(table: table(link.owner), key: owner.owner))
      let targets =
        (changes.links.pairs[owner]?.keys).map(Array.init) ?? changes.links.lists[owner]?.targets
        ?? []
      for target in targets { wanted.insert(RowKey(table: table(link.destination), key: target)) }
    }
    let unknown = Dictionary(grouping: wanted.filter { rows[$0] == nil }, by: \.table)
    for (table, places) in unknown {
      try connection.forEachRow(
        "SELECT _pk FROM \(Schema.quoted(layout.tables[table].name)) WHERE _pk = ANY($1::bigint[])",
        [ServerParameter(places.map(\.key))]
      ) { others.insert(RowKey(table: table, key: $0[0].number)) }
    }
  }

  func table(_ entity: Int) -> Int { layout.entities[entity].tableIndex }

  func stored(_ place: RowKey) -> (version: Int64, values: [StoredValue])? {
    rows[place].map { ($0.version, $0.values) }
  }

  func isThere(_ place: RowKey) -> Bool {
    rows[place] != nil || inserted[place] != nil || others.contains(place)
  }

  // MARK: - Deciding

  func insert(_ place: RowKey, _ object: RowChange) {
    outcome.versions[place] = 1
    inserted[place] = object
  }

  private func update(_ place: RowKey, _ object: RowChange) throws {
    // What was inserted above when it was changed, and stored since, cannot conflict.
    if let row = rows[place], object.version == 0 || row.version == object.version {
      set(object.values, at: place, of: object)
    } else {
      try settle(place, object)
    }
  }

  func set(_ values: [Int: StoredValue], at place: RowKey, of change: RowChange) {
    guard var row = rows[place] else {
      inserted[place]?.values.merge(values) { $1 }
      return
    }
    row.version += 1
    for (column, value) in values { row.values[column] = value }
    rows[place] = row
    updated[place, default: [:]].merge(values) { $1 }
    outcome.versions[place] = row.version
  }

  func deleteRow(_ place: RowKey, _ object: RowChange) {
    guard let row = rows[place] else {
      deleted.insert(place)
      return
    }
    // The version of a fault that was never read is not known: it cannot conflict.
    if object.version != 0, row.version != object.version {
      let isDeleted = settlesDeletion(place, object, theirVersion: row.version)
      // A conflict ends the save; until then the row counts as deleted.
      guard isDeleted || !storeWins else { return }
    }
    deleted.insert(place)
    removalCounts[place.table, default: 0] += 1
    rows[place] = nil
  }

  // MARK: - Writing

  private func writeRows() throws {
    for (table, places) in Dictionary(grouping: deleted, by: \.table).sorted(by: { $0.key < $1.key }
    ) {
      let keys = ServerParameter(places.map(\.key).sorted())
      let count = try connection.run(
        "DELETE FROM \(Schema.quoted(layout.tables[table].name)) WHERE _pk = ANY($1::bigint[])",
        [keys]
      )
      try check(count, is: removalCounts[table] ?? 0, in: table)
      try forgetReferences(of: table, keys)
    }
    let shapes = Dictionary(grouping: updated.keys) { place in
      UpdateShape(table: place.table, columns: updated[place]?.keys.sorted() ?? [])
    }
    for (shape, places) in shapes.sorted(by: { $0.key < $1.key }) {
      for chunk in places.sorted(by: { $0.key < $1.key }).chunked { try update(chunk, shape) }
    }
    let new = Dictionary(grouping: inserted.keys, by: \.table)
    for (table, places) in new.sorted(by: { $0.key < $1.key }) {
      for chunk in places.sorted(by: { $0.key < $1.key }).chunked { try insert(chunk, into: table) }
    }
  }

  /// What deleted objects have waited for is not waited for any more.
  private func forgetReferences(of table: Int, _ owners: ServerParameter) throws {
    var names = ServerArray(.text)
    let links = layout.entities.filter { $0.tableIndex == table }.flatMap { entity in
      entity.relationships.filter { $0.owner == entity.index }.map { "\(entity.name).\($0.name)" }
    }
    guard !links.isEmpty else { return }
    for link in links { try names.append(.text(link)) }
    try connection.run(
      "DELETE FROM _dragoman_pending WHERE relationship = ANY($1::text[]) AND owner = ANY($2::bigint[])",
      [names.parameter, owners]
    )
  }

  /// Makes sure that a statement did what it says: the rows are locked, so only the server's own rules can be in the
  /// way.
  private func check(_ count: Int, is wanted: Int, in table: Int) throws(StoreError) {
    try StoreError.check(count, is: wanted, in: layout.tables[table].name)
  }

  /// Which columns of which table an update sets.
  private struct UpdateShape: Hashable, Comparable {
    let table: Int
    let columns: [Int]

    static func < (left: Self, right: Self) -> Bool {
      left.table == right.table
        ? left.columns.lexicographicallyPrecedes(right.columns) : left.table < right.table
    }
  }

  private func update(_ places: some Collection<RowKey>, _ shape: UpdateShape) throws {
    let table = layout.tables[shape.table]
    var lists = [ServerArray(.bigint), ServerArray(.bigint)]
    lists += shape.columns.map { ServerArray(ServerType(table.columns[$0])) }
    for place in places {
      guard let row = rows[place] else { continue }
      lists[0].append(place.key)
      lists[1].append(row.version)
      for (index, column) in shape.columns.enumerated() {
        try lists[index + 2].append(row.values[column])
      }
    }
    let assignments =
      shape.columns.enumerated().map { "\(Schema.quoted(table.columns[$1].name)) = n.c\($0)" }
      + ["_v = n.v"]
    let names = ["k", "v"] + shape.columns.indices.map { "c\($0)" }
    let count = try connection.run(
      "UPDATE \(Schema.quoted(table.name)) AS t SET \(assignments.joined(separator: ", "))"
        + " FROM \(lists.unnested) AS n(\(names.joined(separator: ", ")))"
        + " WHERE t._pk = n.k",
      lists.parameters
    )
    try check(count, is: places.count, in: shape.table)
  }

  private func insert(_ places: some Collection<RowKey>, into index: Int) throws {
    let table = layout.tables[index]
    let namesEntity = namesEntity[index]
    var lists = [ServerArray(.bigint)]
    if namesEntity { lists.append(ServerArray(.text)) }
    let first = lists.count
    lists += table.columns.map { ServerArray(ServerType($0)) }
    for place in places {
      guard let object = inserted[place] else { continue }
      lists[0].append(place.key)
      if namesEntity { try lists[1].append(.text(layout.entities[Int(object.entity)].name)) }
      for column in table.columns.indices { try lists[first + column].append(object.whole(column)) }
    }
    let names =
      ["_pk"] + (namesEntity ? ["_entity"] : []) + table.columns.map { Schema.quoted($0.name) }
    let count = try connection.run(
      "INSERT INTO \(Schema.quoted(table.name)) (\(names.joined(separator: ", ")), _v)"
        + " SELECT n.*, 1 FROM \(lists.unnested) AS n",
      lists.parameters
    )
    try check(count, is: places.count, in: index)
  }
}

extension Array {
  /// The elements, as many at a time as one statement takes.
  var chunked: [ArraySlice<Element>] {
    stride(from: 0, to: count, by: ServerWriter.chunk).map {
      self[$0..<Swift.min($0 + ServerWriter.chunk, count)]
    }
  }
}
