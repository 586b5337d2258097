import GRDB
import GRDBSQLite

extension WriteSession {
  /// Which of some objects some owners have as targets of a relationship.
  ///
  /// Runs one `SELECT`.
  package func targets(
    of owners: [Int64],
    by link: RelationshipLayout,
    among objects: [Int64]
  ) throws(StoreError) -> [Int64] {
    let links = LinkQuery(link, in: layout)
    let isListed = "IN (SELECT value FROM json_each(?"
    return try sql.integers(
      "DISTINCT \(links.other)",
      "FROM \(links.name) WHERE \(links.own) \(isListed)1)) AND \(links.other) \(isListed)2))",
      [owners, objects].map { .text("[\($0.map(String.init).joined(separator: ","))]") }
    )
  }
}

extension WriteSession {
  /// Refuses what the commit would: links that lead nowhere, which a deletion by the rule `noAction` has left.
  ///
  /// SQLite counts the references that are open (`SQLITE_DBSTATUS_DEFERRED_FKS`); where there are none, nothing is
  /// read. Else runs `PRAGMA foreign_key_check`, which looks at everything, up to the first.
  ///
  /// - Throws: `StoreError`, `.protected`, with the object that has the link.
  package func checkLinks() throws(StoreError) {
    guard database.isInsideTransaction else { return }
    var (openCount, highest): (Int32, Int32) = (0, 0)
    sqlite3_db_status(
      database.sqliteConnection,
      SQLITE_DBSTATUS_DEFERRED_FKS,
      &openCount,
      &highest,
      0
    )
    guard openCount != 0 else { return }
    try StoreError.naming(path) {
      guard let dangling = try danglingLink() else { return }
      let root = layout.tables.first { hasSameBytes($0.name, dangling.table) }
      let entity = root.map { layout.entities[$0.root] }
      let key = try dangling.key.flatMap { number in
        try entity.flatMap { entity in
          try self.key(of: ObjectID(entity: entity.name, primaryKey: number), entity)
        }
      }
      let parts = (key?.parts ?? []).map { part in
        " \(part.path) \(part.attribute.isSensitive ? "•••" : part.value.summary)"
      }
      let name = (entity?.name ?? dangling.table) + parts.joined()
      throw StoreError(
        .protected,
        "\(name) would keep a link to an object of \(dangling.target) that is"
          + " gone: the delete rule `noAction` leaves links.",
        help: "unlink or delete it, too, or give the relationship another onDelete",
        path: path
      )
    }
  }
}
