/// What is kept for the next import by a map.
package struct KeptContract: Sendable, Equatable {
  /// The last import that came to its end and was not taken back.
  package var run: Int64?
  /// What its feed had.
  package var seen: String?
  /// What became attributes, of whatever became of the imports: attributes stay.
  package var evolved: String?

  /// Describes what is kept.
  package init(run: Int64? = nil, seen: String? = nil, evolved: String? = nil) {
    self.run = run
    self.seen = seen
    self.evolved = evolved
  }
}

/// What imports under a contract keep of their feeds, so that the next one can be compared with it: the table
/// `_dragoman_contracts`, made by the first import that needs it.
///
/// A row is one import's: what its feed had, and what has become an attribute by this map so far; both texts
/// are the import's own affair.
enum ContractTable {
  static let name = "_dragoman_contracts"
  static let columns = ["run", "map", "seen", "evolved"]
  static let creation =
    "CREATE TABLE IF NOT EXISTS \(name) (run INTEGER PRIMARY KEY, map TEXT, seen TEXT, evolved TEXT)"
}

extension ImportSession {
  private var contracts: String { ContractTable.name }
  /// How many imports by one map are kept.
  private var keptContractCount: Int64 { 20 }

  /// What imports by a map have kept.
  ///
  /// Runs `SELECT`.
  ///
  /// - Parameter map: The map, as the ledger names it.
  /// - Returns: What is kept; nothing where no import was under a contract.
  /// - Throws: `StoreError`; `.damaged` for values that no import writes.
  package func keptContract(of map: String) throws(StoreError) -> KeptContract {
    var kept = KeptContract()
    guard try sql.hasTable(contracts) else { return kept }
    let last = try sql.rows(
      ["run", "seen"],
      "FROM \(contracts) WHERE map = ?1 AND EXISTS"
        + " (SELECT 1 FROM _dragoman_imports WHERE id = run AND status = 'done')"
        + " ORDER BY run DESC LIMIT 1",
      [.text(map)]
    ).first
    kept.run = try last?.stored("run", of: contracts)
    kept.seen = try last?.stored("seen", of: contracts)
    kept.evolved = try sql.rows(
      ["evolved"],
      "FROM \(contracts) WHERE map = ?1 ORDER BY run DESC LIMIT 1",
      [.text(map)]
    ).first?.stored("evolved", of: contracts)
    return kept
  }

  /// Keeps what the feed of an import had, and forgets what the oldest imports by its map kept.
  ///
  /// Needs an open transaction. Runs `CREATE TABLE`, `INSERT`, `DELETE`.
  ///
  /// - Parameters:
  ///   - contract: What is kept, with the import's number in the ledger.
  ///   - map: The map, as the ledger names it.
  /// - Throws: `StoreError`.
  package func keep(_ contract: KeptContract, of map: String) throws(StoreError) {
    try sql.run(ContractTable.creation)
    try sql.run(
      "INSERT INTO \(contracts) (run, map, seen, evolved) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (run)"
        + " DO UPDATE SET map = excluded.map, seen = excluded.seen, evolved = excluded.evolved",
      [
        contract.run.map { .integer($0) } ?? .null, .text(map),
        contract.seen.map { .text($0) } ?? .null, contract.evolved.map { .text($0) } ?? .null,
      ]
    )
    try sql.run(
      "DELETE FROM \(contracts) WHERE map = ?1 AND run NOT IN"
        + " (SELECT run FROM \(contracts) WHERE map = ?1 ORDER BY run DESC LIMIT ?2)",
      [.text(map), .integer(keptContractCount)]
    )
  }
}
