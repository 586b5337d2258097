import GRDB

/// Remembers which objects a feed has, and deletes the others of the entities that it covers.
///
/// Objects are known by their primary keys, so that it does not matter by which record, source or
/// input they came, nor how deep they were nested. The keys are kept in a temporary table, or in one of the
/// run (`WriteSession.keepRun()`), not in memory: a feed may be larger than that.
package final class EntityPruner: StatementRunner {
  /// What pruning did.
  package struct Outcome: Sendable {
    /// How many objects were deleted, with those that the delete rules took along.
    package var deleted = 0
    /// The relationship whose delete rule `deny` forbids it: nothing was done.
    package var denied: String?
    /// Objects that the feed has and that the delete rules took along, by the root entity's name.
    package var seen: [(entity: String, count: Int)] = []
  }

  let database: Database
  let path: String?
  private let layout: ModelLayout
  private let insert: RawStatement
  private let seen: String

  /// Makes the table.
  ///
  /// - Throws: What SQLite refuses.
  init(database: Database, path: String?, layout: ModelLayout, isKept: Bool) throws {
    self.database = database
    self.path = path
    self.layout = layout
    seen = isKept ? "main._dragoman_run_seen" : "temp._dragoman_seen"
    if !isKept { try database.execute(sql: "DROP TABLE IF EXISTS \(seen)") }
    try database.execute(
      sql: "CREATE TABLE IF NOT EXISTS \(seen)"
        + " (root INTEGER, pk INTEGER, PRIMARY KEY (root, pk)) WITHOUT ROWID"
    )
    insert = try RawStatement("INSERT OR IGNORE INTO \(seen) VALUES (?, ?)", in: database)
  }

  /// Remembers that the feed has an object.
  package func see(_ key: Int64, of entity: EntityLayout) throws(StoreError) {
    insert.bind(integer: Int64(entity.root), 1)
    insert.bind(integer: key, 2)
    do throws(DatabaseError) {
      try insert.run()
    } catch {
      throw StoreError(error, path: path)
    }
  }

  /// How many objects of exactly this entity there are, and how many of them the feed does not have.
  ///
  /// Runs two `SELECT count(*)`. Objects without a key and stubs are not counted as missing: no feed
  /// can have them.
  package func count(_ entity: EntityLayout) throws(StoreError) -> (all: Int, missing: Int) {
    let table = Schema.quoted(entity.table)
    return (
      try count("SELECT count(*) FROM \(table) WHERE \(isOf(entity))"),
      try count("SELECT count(*) FROM \(table) WHERE \(isMissing(entity))")
    )
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
    // What the feed itself deleted is not to be taken for what pruning takes along.
    for root in try seenRoots() {
      try run("DELETE FROM \(seen) WHERE \(isGone(root))")
    }
    for entity in entities {
      let table = Schema.quoted(entity.table)
      try deleter.mark("_pk FROM \(table) WHERE \(isMissing(entity))", of: entity)
    }
    let deletion = try deleter.delete()
    outcome.denied = deletion.denied
    outcome.deleted = deletion.deleted.values.reduce(0, +)
    for root in try seenRoots() {
      let gone = try count("SELECT count(*) FROM \(seen) WHERE \(isGone(root))")
      if gone > 0 { outcome.seen.append((layout.entities[root].name, gone)) }
    }
    try run("DELETE FROM \(seen)")
    return outcome
  }

  // MARK: - SQL

  /// A sub-entity lies in the table of its parent.
  private func isOf(_ entity: EntityLayout) -> String {
    entity.hasEntityColumn ? "_entity = \(Schema.literal(entity.name))" : "1"
  }

  private func isMissing(_ entity: EntityLayout) -> String {
    let table = Schema.quoted(entity.table)
    let keys = entity.uniqueKeys.first?.map { "\(Schema.quoted($0.column)) IS NOT NULL" } ?? ["0"]
    let tests = [isOf(entity)] + keys + (entity.hasStubColumn ? ["_stub IS NULL"] : [])
    return tests.joined(separator: " AND ")
      + " AND NOT EXISTS (SELECT 1 FROM \(seen) AS seen WHERE seen.root = \(entity.root)"
      + " AND seen.pk = \(table)._pk)"
  }

  private func isGone(_ root: Int) -> String {
    "root = \(root) AND pk NOT IN (SELECT _pk FROM \(Schema.quoted(layout.entities[root].table)))"
  }

  private func seenRoots() throws(StoreError) -> [Int] {
    try integers("SELECT DISTINCT root FROM \(seen) ORDER BY root").map { Int($0) }
  }
}
