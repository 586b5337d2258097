/// Where contexts, live results and typed values keep objects: an engine behind few operations, each for
/// any number of rows.
///
/// SQLite is one (`SQLiteStore`); an import by the million has a way of its own into it
/// (`WriteSession.writer`, `WriteSession.stage`). A server is the other (`ServerStore`).
protocol ObjectStore: KeySource, AnyObject, Sendable {
  /// The file; nil: there is none.
  var path: String? { get }
  /// Whether other processes may write into it.
  var isShared: Bool { get }
  /// Whether its texts may hold U+0000.
  var holdsNUL: Bool { get }
  /// The model of what the store holds.
  var layout: ModelLayout { get }

  /// Lends one state of the store to the closure; `layout` is the model as the caller has it: what it
  /// names is there, and maybe more.
  func read<T>(_ layout: ModelLayout, _ body: (any StoreReader) throws -> T) throws -> T

  /// Lends the only writer to the closure, which decides where transactions begin and end; one that it
  /// leaves open is rolled back.
  func save<T>(_ body: (any StoreWriter) throws -> T) throws -> T

  /// Runs what can be run again as a whole, and does so where the store ends it for a reason that passes.
  func again<T>(_ body: () throws -> T) throws -> T

  /// Adds what a model names and the store does not have yet.
  func grow(to model: Model) throws(StoreError)

  /// What differs once somebody else has written; `.migrated` where that cannot be followed any more.
  func fingerprint() throws -> StoreFingerprint

  /// Refuses a store that cannot be followed any more.
  func check(_ new: StoreFingerprint, against old: StoreFingerprint) throws

  /// Refuses to be closed by who reads or writes on this thread.
  func checkIsOutside() throws(StoreError)

  /// Ends all use of it.
  func close() throws(StoreError)
}

extension ObjectStore {
  func again<T>(_ body: () throws -> T) throws -> T { try body() }
  func checkIsOutside() throws(StoreError) {}
}

/// One state of a store.
protocol StoreReader {
  /// Lends the rows of a table with these keys, in no order: `_pk`, then the columns.
  func rows(
    at keys: [Int64],
    of table: Int,
    reading columns: [String],
    _ body: (StoredRow) throws -> Void
  ) throws

  /// Lends the rows of a table that have values of a unique key, with the place of these among `values`:
  /// `_pk`, then the columns.
  func rows(
    having values: [[StoredValue]],
    in key: [Int],
    of table: Int,
    reading columns: [String],
    _ body: (Int, StoredRow) throws -> Void
  ) throws

  /// Begins what `rows(having:)` does, where the store works at it while the caller does something else; nil where
  /// nothing is gained by that.
  func ask(
    having values: [[StoredValue]],
    in key: [Int],
    of table: Int,
    reading columns: [String]
  ) throws -> (any AskedRows)?

  /// The targets of a relationship by owner, in its order; owners that have none are not named.
  func targets(of link: RelationshipLayout, _ owners: [Int64]) throws -> [Int64: StoredTargets]

  /// Which of these are targets of an owner.
  func targets(
    of link: RelationshipLayout,
    _ owner: Int64,
    among targets: [Int64]
  ) throws -> Set<Int64>

  /// The owners of links to any of these targets, of a relationship that is stored by its owners.
  func owners(of link: RelationshipLayout, _ targets: [Int64]) throws -> Set<Int64>

  /// Lends the rows of a request, in order: `_pk` (of a table: a number that says nothing), then what is
  /// asked for.
  func fetch(
    _ request: ResolvedRequest,
    _ reading: FetchReading,
    _ body: (StoredRow) throws -> Void
  ) throws

  /// The number of rows of a request, its limit and offset included.
  func count(_ request: ResolvedRequest) throws -> Int

  /// Which rows hold their key only.
  func stubs(among keys: [Int64], of table: Int) throws -> Set<Int64>

  /// The references that wait until their target comes, in the order in which they came.
  func waitingReferences() throws -> [WaitingReference]
}

extension StoreReader {
  func ask(
    having values: [[StoredValue]],
    in key: [Int],
    of table: Int,
    reading columns: [String]
  ) throws -> (any AskedRows)? { nil }
}

/// Rows that a store was asked for, on their way.
protocol AskedRows: AnyObject {
  /// Takes what has come, without waiting.
  func listen()

  /// Lends the rows as `StoreReader.rows(having:)` does; waits for them.
  func rows(_ body: (Int, StoredRow) throws -> Void) throws
}

/// The writer of a store, and what it sees in the transaction that is open.
protocol StoreWriter: AnyObject {
  /// Begins a transaction; nobody else writes until it ends.
  func begin() throws(StoreError)

  /// Makes everything since `begin` durable.
  func commit() throws(StoreError)

  /// Lends the state of the open transaction.
  func read<T>(_ layout: ModelLayout, _ body: (any StoreReader) throws -> T) throws -> T

  /// Writes changes, or throws `.conflict`, `.duplicate`, and then the transaction must be rolled back.
  func write(
    _ changes: ChangeSet,
    _ layout: ModelLayout,
    _ policy: MergePolicy
  ) throws -> SaveOutcome

  /// The key of a new object.
  func nextKey(in table: String) throws(StoreError) -> Int64

  /// Adds what a model names and the store does not have yet.
  @discardableResult
  func grow(to model: Model) throws(StoreError) -> Model

  /// Writes or rewrites a row of the import ledger, in the open transaction.
  func record(_ entry: inout ImportLedgerEntry) throws(StoreError)

  /// Undoes everything since `begin`, if anything is open.
  func rollbackIfOpen()

  /// Refuses what the commit would: links that lead nowhere.
  ///
  /// Needs an open transaction, of which everything is written.
  ///
  /// - Throws: `StoreError`; `.protected` where the store knows by itself which link it is.
  func checkLinks() throws(StoreError)

  /// The imports in batches, besides the one that writes here, that are not at their end: what waits in them stands in
  /// tables of their own (`_dragoman_run…`).
  func otherRuns() throws -> OtherRuns

  /// What some owners wait for in other imports is not waited for any more: a record has said what they lead to.
  ///
  /// - Parameters:
  ///   - owners: The owners by relationship, as `Entity.relationship`.
  ///   - runs: The imports, of `otherRuns()`.
  /// - Throws: `StoreError`.
  func endWaiting(_ owners: [String: Set<Int64>], in runs: [String]) throws

  /// A link that leads nowhere, which forbids the commit: the row's table and key, the target's table.
  func danglingLink() throws -> (table: String, key: Int64?, target: String)?
}

/// What other imports let wait, as it stands in an open transaction.
package struct OtherRuns: Sendable {
  /// The imports in batches that are not at their end.
  package let names: [String]
  /// The last reference that waits in the store.
  package let lastPending: Int64
}

/// What is read of the rows of a request.
enum FetchReading {
  /// Columns of the entity's table.
  case columns([String])
  /// The columns of the request.
  case values
  /// The version, then the columns of the request.
  case versions
}

/// What tells that others have written into a file.
struct StoreFingerprint: Sendable, Hashable {
  /// `PRAGMA data_version`: differs after a commit of another connection.
  let dataVersion: Int64
  /// `PRAGMA schema_version`: differs after a change of tables.
  let schemaVersion: Int64
  /// Which file it is; nil in memory.
  let file: FileStatus.Identity?
}
