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
  /// read. Else runs `PRAGMA foreign_key_check` of each table of the model, up to the first, and of those of others
  /// where these have none.
  ///
  /// - Throws: `StoreError`, `.protected`, with the object that has the link, or the table.
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
      guard let dangling = try danglingConflicts(limit: 1).first else { return try refuseOthers() }
      let parts = (dangling.key?.parts ?? []).map { part in
        " \(part.path) \(part.attribute.isSensitive ? "•••" : part.value.summary)"
      }
      let object = dangling.entity + parts.joined()
      let keeps =
        dangling.links.map { "\(relationship(in: $0) ?? $0) would keep a link of \(object)" }
        ?? "\(object) would keep a link"
      throw StoreError(
        .protected,
        "\(keeps) to an object that is gone: the delete rule `noAction` leaves links.",
        help: "unlink or delete it, too, or give the relationship another onDelete",
        path: path
      )
    }
  }

  /// Refuses what leaves rows in tables of others that refer to objects that are gone.
  ///
  /// Runs `PRAGMA foreign_key_check`.
  ///
  /// - Throws: `StoreError`, `.protected`, with the table; GRDB's errors.
  func refuseOthers() throws {
    let own = layout.tables.map { Schema.literal($0.name) }.joined(separator: ", ")
    let row = try Row.fetchOne(
      database,
      sql: "SELECT \"table\", parent FROM pragma_foreign_key_check"
        + " WHERE parent COLLATE NOCASE IN (\(own)) LIMIT 1"
    )
    guard let row else { return }
    let table: String = try row.stored(0, of: "foreign_key_check")
    let parent: String = try row.stored(1, of: "foreign_key_check")
    throw StoreError(
      .protected,
      "A row of the table \(Schema.quoted(table)) would keep a reference to one of \(Schema.quoted(parent)) that is gone.",
      help: "the table is none of the model's: delete its row first, or drop its reference",
      path: path
    )
  }

  /// The relationship whose links are in a table of their own, as `Entity.relationship`.
  private func relationship(in table: String) -> String? {
    layout.links.first { link in
      guard case .joinTable(let join, isOwner: true) = link.storage else { return false }
      return hasSameBytes(join.name, table)
    }.map { "\(layout.entities[$0.owner].name).\($0.name)" }
  }
}
