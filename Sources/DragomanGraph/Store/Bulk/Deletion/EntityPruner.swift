/// Remembers which objects a feed has, and deletes the others of the entities that it covers.
///
/// Objects are known by their primary keys, so that it does not matter by which record, source or
/// input they came, nor how deep they were nested. The keys are kept in a temporary table, or in one of the
/// run (`WriteSession.keepRun()`), not in memory: a feed may be larger than that.
package final class EntityPruner {
  /// What pruning did.
  package struct Outcome: Sendable {
    /// How many objects were deleted, with those that the delete rules took along.
    package var deleted = 0
    /// The same by the root entity's name.
    package var deletedByRoot: [(entity: EntityLayout, count: Int)] = []
    /// The relationship whose delete rule `deny` forbids it: nothing was done.
    package var denied: String?
    /// Objects that the feed has and that the delete rules took along, by the root entity's name.
    package var seen: [(entity: String, count: Int)] = []
  }

  private let sql: any SharedSQL
  private let layout: ModelLayout
  private let seen: String
  /// What is not in the table yet.
  private var news: [(Int64, Int64)] = []

  /// Makes the table; `run` is the name of the run that keeps it, if one does.
  ///
  /// - Throws: `StoreError`.
  package init(_ sql: any SharedSQL, layout: ModelLayout, keptAs run: String?) throws(StoreError) {
    self.sql = sql
    self.layout = layout
    seen = run.map { "\($0)_seen" } ?? "\(sql.temporarySchema)._dragoman_seen"
    if run == nil { try sql.run("DROP TABLE IF EXISTS \(seen)") }
    try sql.run(
      "CREATE TABLE IF NOT EXISTS \(seen)"
        + " (root INTEGER, pk BIGINT, PRIMARY KEY (root, pk))\(sql.keyedTable)"
    )
  }

  /// Remembers that the feed has an object.
  package func see(_ key: Int64, of entity: EntityLayout) throws(StoreError) {
    news.append((Int64(entity.root), key))
    if news.count >= 1000 { try flush() }
  }

  /// Writes into the table what is not there yet: before a commit, and before it is asked.
  package func flush() throws(StoreError) {
    try sql.insert(news, into: seen)
    news.removeAll(keepingCapacity: true)
  }

  /// How many objects of exactly this entity there are, and how many of them the feed does not have.
  ///
  /// Runs two `SELECT count(*)`. Objects without a key and stubs are not counted as missing: no feed
  /// can have them.
  package func count(_ entity: EntityLayout) throws(StoreError) -> (all: Int, missing: Int) {
    try flush()
    let table = Schema.quoted(entity.table)
    return (
      try sql.count("FROM \(table) WHERE \(isOf(entity))"),
      try sql.count("FROM \(table) WHERE \(isMissing(entity))")
    )
  }

  /// How many objects there are of an entity's family.
  ///
  /// Runs `SELECT count(*)`.
  package func familyCount(_ root: EntityLayout) throws(StoreError) -> Int {
    try sql.count("FROM \(Schema.quoted(root.table))")
  }

  /// Deletes the objects of exactly these entities that the feed does not have, by the delete rules of
  /// their relationships.
  ///
  /// - Parameters:
  ///   - entities: The entities that the feed's records can be.
  ///   - deleter: What deletes them.
  /// - Returns: What was done; what `seen` names is to be undone by the caller.
  /// - Throws: `StoreError` where the store fails.
  package func prune(
    _ entities: [EntityLayout],
    with deleter: ObjectDeleter
  ) throws(StoreError) -> Outcome {
    var outcome = Outcome()
    try flush()
    // What the feed itself deleted is not to be taken for what pruning takes along.
    for root in try seenRoots() {
      try sql.run("DELETE FROM \(seen) WHERE \(isGone(root))")
    }
    for entity in entities {
      let table = Schema.quoted(entity.table)
      try deleter.mark("_pk FROM \(table) WHERE \(isMissing(entity))", of: entity)
    }
    let deletion = try deleter.delete()
    outcome.denied = deletion.denied
    outcome.deleted = deletion.deleted.values.reduce(0, +)
    let deleted = layout.entities.map { ($0.root, deletion.deleted[$0.name] ?? 0) }
    let byRoot = Dictionary(deleted, uniquingKeysWith: +).filter { $0.value > 0 }
    outcome.deletedByRoot = byRoot.map { (layout.entities[$0.key], $0.value) }
      .sorted { $0.0.name < $1.0.name }
    for root in try seenRoots() {
      let gone = try sql.count("FROM \(seen) WHERE \(isGone(root))")
      if gone > 0 { outcome.seen.append((layout.entities[root].name, gone)) }
    }
    try sql.run("DELETE FROM \(seen)")
    return outcome
  }

  // MARK: - SQL

  /// A sub-entity lies in the table of its parent.
  private func isOf(_ entity: EntityLayout) -> String {
    entity.hasEntityColumn ? "_entity = \(Schema.literal(entity.name))" : "1 = 1"
  }

  private func isMissing(_ entity: EntityLayout) -> String {
    let table = Schema.quoted(entity.table)
    let keys =
      entity.uniqueKeys.first?.map { "\(Schema.quoted($0.column)) IS NOT NULL" } ?? ["1 = 0"]
    let tests = [isOf(entity)] + keys + (entity.hasStubColumn ? ["_stub IS NULL"] : [])
    return tests.joined(separator: " AND ")
      + " AND NOT EXISTS (SELECT 1 FROM (SELECT pk FROM \(seen) WHERE root = \(entity.root)\(sql.apart)) AS seen"
      + " WHERE seen.pk = \(table)._pk)"
  }

  /// `NOT IN` of many rows a server answers row by row.
  private func isGone(_ root: Int) -> String {
    let table = Schema.quoted(layout.entities[root].table)
    return "root = \(root)"
      + " AND NOT EXISTS (SELECT 1 FROM (SELECT _pk FROM \(table)\(sql.apart)) AS t WHERE t._pk = pk)"
  }

  private func seenRoots() throws(StoreError) -> [Int] {
    try sql.integers("DISTINCT root", "FROM \(seen)").map { Int($0) }.sorted()
  }
}
