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
