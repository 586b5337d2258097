import Foundation

/// Tables over several machines, as Citus, an extension of PostgreSQL, has them
/// (https://docs.citusdata.com/en/stable/develop/reference_ddl.html).
///
///     SELECT create_distributed_table('"Person"', '_pk')
///     SELECT create_reference_table('"Country"')
///
/// Tables of objects are distributed by `_pk`, tables of links by their owner, beside its row; some are on all nodes
/// as a whole. Our own tables are the coordinator's.
package struct ServerDistribution: Sendable {
  /// The version of Citus.
  package let version: String
  /// How many nodes hold rows; 0 where there is a coordinator alone, which holds them itself.
  package let nodeCount: Int
  /// The tables that all nodes have as a whole.
  private var references: Set<NameKey> = []

  /// Looks whether a server distributes tables, and the tables of a store there are distributed, or not made yet.
  ///
  /// A store that was made before the server could, or that is on a coordinator whose nodes take no rows, is one as on
  /// any other server.
  ///
  /// - Returns: Nil where it does not.
  /// - Throws: `StoreError`, `.refused`, for a node that is not the coordinator.
  init?(_ connection: any ServerConnection) throws {
    guard
      let version = try connection.text(
        "SELECT extversion FROM pg_extension WHERE extname = 'citus'"
      )
    else { return nil }
    var (isCoordinator, nodeCount, canHold) = (true, 0, true)
    try connection.forEachRow(
      "SELECT (SELECT groupid FROM pg_dist_local_group)::bigint, count(*) FILTER"
        + " (WHERE noderole = 'primary' AND isactive AND shouldhaveshards), count(*) FROM pg_dist_node"
    ) { row in
      isCoordinator = row[0].number == 0
      nodeCount = Int(row[1].number)
      canHold = row[1].number > 0 || row[2].number == 0
    }
    guard isCoordinator else {
      throw StoreError(
        .refused,
        "The server is a worker node of Citus.",
        help: "name its coordinator"
      )
    }
    var (count, distributedCount) = (0, 0)
    var references: Set<NameKey> = []
    try connection.forEachRow(
      "SELECT c.relname::text, p.partmethod::text FROM pg_class AS c"
        + " LEFT JOIN pg_dist_partition AS p ON p.logicalrelid = c.oid WHERE c.relkind IN ('r', 'p')"
        + " AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())"
        + " AND NOT starts_with(c.relname::text, '_dragoman_')"
    ) { row in
      count += 1
      guard let method = row[1].text else { return }
      distributedCount += 1
      if method == "n" { references.insert(NameKey(row[0].text ?? "")) }
    }
    guard count == 0 ? canHold : distributedCount > 0 else { return nil }
    self.version = version
    self.nodeCount = nodeCount
    self.references = references
  }

  /// The names of the tables that all nodes have as a whole, in order.
  package var referenceTables: [String] { references.map(\.name).sorted() }

  /// Whether some tables are on all nodes.
  var hasReferences: Bool { !references.isEmpty }

  /// Whether a table is, or is to be, on all nodes.
  func isReference(_ table: String) -> Bool { references.contains(NameKey(table)) }

  /// Says that a table that is not made yet is to be on all nodes.
  mutating func addReference(_ table: String) { references.insert(NameKey(table)) }

  /// The same of the tables that a migration leaves: those that it renames stay where they are.
  func after(_ plan: MigrationPlan) -> ServerDistribution {
    var after = self
    after.references = Set(
      plan.tables.filter { isReference($0.old) }.map { NameKey($0.new) }
    )
    return after
  }

  // MARK: - Tables

  /// The statement that distributes a table, which is empty.
  ///
  /// Rows of one store with the same key lie beside each other, and none beside those of another store: who makes
  /// tables there need not wait.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - tables: Those of the store, in the order in which they are made.
  /// - Returns: The statement.
  func creation(of table: Schema.Table, among tables: [Schema.Table]) -> String {
    let name = Schema.literal(Schema.quoted(table.name))
    if isReference(table.name) { return "SELECT create_reference_table(\(name))" }
    let first = tables.first { !isReference($0.name) }.flatMap { first in
      hasSameBytes(first.name, table.name) ? nil : Schema.quoted(first.name)
    }
    return "SELECT create_distributed_table(\(name), '\(table.primaryKey.first ?? "_pk")',"
      + " colocate_with => \(Schema.literal(first ?? "none")))"
  }

  /// Whether the server can hold the rows of a table to a reference: to a table that every node has, or from rows that
  /// lie beside those that they refer to.
  func enforces(_ column: Schema.Column, of table: Schema.Table) -> Bool {
    guard let target = column.references else { return false }
    if isReference(target) { return true }
    return !isReference(table.name) && table.primaryKey.first == column.name
  }

  // MARK: - Sessions

  /// What ends a subquery that is to be answered before what is around it: of rows that do not lie beside those of
  /// the outer query.
  static let apart = " OFFSET 0"

  /// The turn of who writes while others do, of who commits, and of who begins to read.
  ///
  /// Held until the transaction has ended on all nodes: what is committed is seen on all of them or on none.
  static let turn =
    "SELECT pg_advisory_xact_lock(\(Schema.applicationID &+ 2), hashtext(current_schema()))"

  /// Says how the open transaction of a writer is to work on other nodes.
  func beginWriting(on connection: any ServerConnection) throws(ServerError) {
    // What refers to tables on all nodes is checked by the connection that has changed them: there is one a node.
    if hasReferences {
      try connection.run("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'")
    }
    // Each by itself: the other nodes get the whole text that such a statement came in.
    try connection.run("SET LOCAL citus.propagate_set_commands TO 'local'")
    try connection.run("SET LOCAL lock_timeout TO '5s'")
    try connection.run("SET LOCAL citus.propagate_set_commands TO 'none'")
  }

  /// Waits until what is committed is there on all nodes, in a transaction that nobody writes beside.
  ///
  /// A node that is lost between what it has prepared and its commit shows none of it when it comes back, until the
  /// coordinator looks after it (`citus.recover_2pc_interval`): who looks up keys meanwhile would make objects twice.
  ///
  /// - Parameter connection: The coordinator's.
  /// - Throws: `ServerError`; `StoreError`, `.busy`, after five seconds.
  func waitForNodes(on connection: any ServerConnection) throws {
    for _ in 0..<50 {
      let open = try connection.text(
        "SELECT count(*)::text FROM run_command_on_workers($$SELECT coalesce(string_agg(gid, ' '), '')"
          + " FROM pg_prepared_xacts WHERE database = current_database()$$) AS node"
          + " JOIN pg_dist_transaction AS t ON t.gid = ANY(string_to_array(node.result, ' '))"
          + " WHERE node.success"
      )
      if open == "0" { return }
      Thread.sleep(forTimeInterval: 0.1)
    }
    var busy = StoreError(
      .busy,
      "A node of Citus does not show yet what was committed: it was lost at that moment.",
      help:
        "try again in a minute, or run SELECT recover_prepared_transactions() as an administrator"
    )
    busy.isPassing = true
    throw busy
  }

  /// Begins a transaction that sees one moment of all nodes.
  ///
  /// Each node sees the moment of its first statement, on each connection: so there is one a node, and nobody
  /// commits between these statements.
  ///
  /// - Parameters:
  ///   - connection: Outside of a transaction.
  ///   - tables: Those of the store.
  ///   - first: What is run in the transaction before anything is read, after a semicolon.
  /// - Throws: `ServerError`; the connection is closed then.
  func beginReading(
    on connection: any ServerConnection,
    _ tables: [Schema.Table],
    _ first: String
  ) throws {
    let lock = "\(Schema.applicationID &+ 2), hashtext(current_schema())"
    try connection.run(
      "SET lock_timeout TO '60s'; SELECT pg_advisory_lock_shared(\(lock)); SET lock_timeout TO '5s'"
    )
    do {
      let touch = tables.first { !isReference($0.name) }.map {
        "; SELECT 1 FROM \(Schema.quoted($0.name)) LIMIT 1"
      }
      try connection.run(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY\(first);"
          + " SET LOCAL citus.max_adaptive_executor_pool_size TO 1"
          + "\(touch ?? ""); SELECT pg_advisory_unlock_shared(\(lock))"
      )
    } catch {
      // The lock is the session's.
      connection.close()
      throw error
    }
  }
}
