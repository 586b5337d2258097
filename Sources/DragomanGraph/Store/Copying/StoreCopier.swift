/// Copies a store: from a file or a server, into a new file or an empty database of a server.
///
/// Rows go over table by table in the order of their keys, as they are: `_pk` and `_v` stay, so that links need no
/// looking up. Both sides are hashed, and nothing is a store before the hashes are the same.
struct StoreCopier {
  let source: any CopyRows
  let layout: ModelLayout
  let target: any CopyTarget

  /// The rows that are on their way at once, in number and in bytes of their texts.
  private static let (batchCount, batchByteCount) = (5_000, 4 << 20)

  /// Copies.
  ///
  /// - Parameters:
  ///   - names: The entities; empty for all.
  ///   - startsAnew: Whether what a copy that was stopped has left is dropped first.
  ///   - leavesStopped: Whether what imports in batches keep that were stopped stays behind.
  ///   - tell: Called now and then, with the table and how many rows of it are there.
  /// - Returns: What was copied.
  /// - Throws: `StoreError`: `.badRequest` for entities that cannot be copied alone; `.output` where the target is not
  ///   empty, or an earlier copy was of something else; `.damaged` where both sides differ in the end.
  func run(
    _ names: [String],
    startsAnew: Bool,
    leavingStopped leavesStopped: Bool,
    _ tell: (String, Int) throws -> Void
  ) throws -> StoreCopy {
    let selection = try CopySelection(of: names, in: layout)
    let layout = ModelLayout(selection.model)
    let own = try CopyOwnRows.all(of: source, for: layout, leavingStopped: leavesStopped)
    let known = try target.begin(layout, startsAnew: startsAnew)
    let objects = Set(layout.tables.map { NameKey($0.name) })
    var tables: [StoreCopy.Table] = []
    for table in Schema(layout).tables {
      let there = known[NameKey(table.name)] ?? CopyProgress()
      let copied = try copy(table, behind: there, tell)
      tables.append(
        StoreCopy.Table(
          name: table.name,
          isLinks: !objects.contains(NameKey(table.name)),
          rowCount: copied.rowCount,
          resumedCount: there.rowCount,
          digest: copied.digest
        )
      )
    }
    for (table, copied) in zip(Schema(layout).tables, tables) { try check(table, copied) }
    try target.end(own, from: source.name)
    func count(_ table: CopyOwnRows.Table) -> Int {
      own.first { hasSameBytes($0.table.name, table.name) }?.rows.count ?? 0
    }
    return StoreCopy(
      tables: tables,
      pendingCount: count(.pending),
      importCount: count(.imports),
      leftBehind: selection.leftBehind
    )
  }

  /// Copies a table, but for the rows that are there.
  private func copy(
    _ table: Schema.Table,
    behind there: CopyProgress,
    _ tell: (String, Int) throws -> Void
  ) throws -> CopyProgress {
    var progress = CopyProgress()
    var rows: [[StoredValue]] = []
    var byteCount = 0
    func flush() throws {
      if rows.isEmpty { return }
      do {
        try target.add(rows, to: table, progress)
      } catch {
        try checkFit(of: table) { check in for row in rows { try check(row) } }
        throw error
      }
      rows.removeAll(keepingCapacity: true)
      byteCount = 0
      try tell(table.name, progress.rowCount)
    }
    try source.forEachRow(of: table) { row in
      progress.add(row)
      if progress.rowCount <= there.rowCount {
        if progress.rowCount == there.rowCount, progress != there { throw changed(table) }
        return
      }
      rows.append(row)
      byteCount += row.reduce(0) { $0 + $1.byteCount }
      if rows.count >= Self.batchCount || byteCount >= Self.batchByteCount { try flush() }
    }
    if progress.rowCount < there.rowCount { throw changed(table) }
    try flush()
    return progress
  }

  /// Refuses the first value of rows of the source that is not stored as values of its type are.
  private func checkFit(
    of table: Schema.Table,
    _ rows: (_ check: ([StoredValue]) throws -> Void) throws -> Void
  ) throws {
    guard let known = layout.tables.first(where: { hasSameBytes($0.name, table.name) }) else {
      return
    }
    let attributes = table.columns.map { column in
      known.columns.first { hasSameBytes($0.name, column.name) }?.attribute
    }
    try rows { row in
      for (index, value) in row.enumerated() where value != .null {
        let (name, attribute) = (table.columns[index].name, attributes[index])
        let isInteger = if case .integer = value { true } else { false }
        guard name != "_entity", !(attribute?.isStored(value) ?? isInteger) else { continue }
        let type = attribute.map { " (\($0.type.rawValue))" } ?? ""
        throw StoreError(
          .damaged,
          "\(table.name).\(name) of the row \(table.columns[0].name) \(row[0].summary) is not stored as"
            + " values of its type\(type) are.",
          help: "correct the value there, and begin the copy anew",
          path: source.name
        )
      }
    }
  }

  private func changed(_ table: Schema.Table) -> StoreError {
    StoreError(
      .output,
      "The copy was stopped, and the rows of \(table.name) that it had copied are others in the source by now.",
      help: "begin the copy anew",
      path: target.rows.name
    )
  }

  /// Reads a table back, and compares.
  private func check(_ table: Schema.Table, _ copied: StoreCopy.Table) throws {
    var there = CopyProgress()
    try target.rows.forEachRow(of: table) { there.add($0) }
    guard there.rowCount == copied.rowCount, there.digest == copied.digest else {
      // A value that is no value of its type is another one on a server.
      try checkFit(of: table) { try source.forEachRow(of: table, $0) }
      throw StoreError(
        .damaged,
        "The rows of \(table.name) are not the same on both sides: \(copied.rowCount) with the hash"
          + " \(copied.digest) were sent, \(there.rowCount) with \(there.digest) are there.",
        help: "nothing was made a store; begin the copy anew",
        path: target.rows.name
      )
    }
  }
}

extension StoredValue {
  /// The bytes of a text or of bytes.
  fileprivate var byteCount: Int {
    switch self {
    case .null, .integer, .real: 0
    case .text(let text): text.utf8.count
    case .blob(let bytes): bytes.count
    }
  }
}
