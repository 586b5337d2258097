import GRDB

/// The links of tables that were empty before an import which later imports have made, from the other side.
///
/// The import's own cannot be told from them by their rows. What later imports did first to a link tells: who made it had found none.
struct LaterLinks {
  private let links: [RecordedRun.NewLinks]
  private let database: Database

  private static let table = "temp._dragoman_later"

  /// Reads what later imports are recorded to have done.
  ///
  /// - Throws: `StoreError` where that is damaged; GRDB's errors.
  init(
    _ links: [RecordedRun.NewLinks],
    than run: Int64,
    _ sql: some SharedSQL,
    _ database: Database
  ) throws {
    self.links = links
    self.database = database
    guard !links.isEmpty else { return }
    try database.execute(
      sql:
        "CREATE TEMP TABLE IF NOT EXISTS _dragoman_later (links INTEGER, owner INTEGER, target INTEGER,"
        + " isMade INTEGER, PRIMARY KEY (links, owner, target)) WITHOUT ROWID"
    )
    try database.execute(sql: "DELETE FROM \(Self.table)")
    let mark = try RawStatement(
      "INSERT INTO \(Self.table) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING",
      in: database
    )
    for later in try RecordedRun.all(sql).reversed() where later > run {
      let tables = try RecordedRun.load(later, sql)?.tables ?? []
      for part in try RecordedRun.parts(of: later, sql).reversed() {
        try RecordedRun.changeset(part, of: later, sql).withRows { row in
          guard let number = links.firstIndex(where: { hasSameBytes($0.name, row.table) }),
            let columns = tables.first(where: { hasSameBytes($0.name, row.table) })?.columns,
            let owner = columns.firstIndex(of: "owner"),
            let target = columns.firstIndex(of: "target")
          else { return }
          let isMade = row.operation == .inserted
          let ends = [owner, target].compactMap { place in
            (isMade ? row.new(Int32(place)) : row.old(Int32(place)))?.integer
          }
          guard ends.count == 2 else { return }
          mark.bind(integer: Int64(number), 1)
          mark.bind(integer: ends[0], 2)
          mark.bind(integer: ends[1], 3)
          mark.bind(integer: isMade ? 1 : 0, 4)
          try mark.run()
        }
      }
    }
  }

  /// The condition of being one of them, for the rows of a table of links.
  func test(for table: RecordedRun.NewLinks) -> String {
    let number = links.firstIndex { hasSameBytes($0.name, table.name) } ?? -1
    return
      "(owner, target) IN (SELECT owner, target FROM \(Self.table) WHERE links = \(number) AND isMade = 1)"
  }

  /// Deletes those of which both ends are gone: nobody has lost them.
  func deleteLoose(_ layout: ModelLayout) throws {
    for link in layout.links {
      guard case .joinTable(let join, isOwner: true) = link.storage,
        let table = links.first(where: { hasSameBytes($0.name, join.name) })
      else { continue }
      let gone = [("owner", link.owner), ("target", link.destination)].map { end, entity in
        "\(end) NOT IN (SELECT _pk FROM main.\(Schema.quoted(layout.entities[entity].table)))"
      }
      try database.execute(
        sql: "DELETE FROM main.\(Schema.quoted(join.name)) WHERE \(test(for: table))"
          + " AND \(gone.joined(separator: " AND "))"
      )
    }
  }
}
