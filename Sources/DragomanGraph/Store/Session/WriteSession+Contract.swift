import GRDB

/// What imports under a contract keep of their feeds, so that the next one can be compared with it: the table
/// `_dragoman_contracts`, made by the first import that needs it.
///
/// A row is one import's: what its feed had, and what has become an attribute by this map so far; both texts
/// are the import's own affair.
extension WriteSession {
  private static let contracts = "_dragoman_contracts"
  /// How many imports by one map are kept.
  private static let keptContractCount = 20

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

  /// What imports by a map have kept.
  ///
  /// Runs `SELECT`.
  ///
  /// - Parameter map: The map, as the ledger names it.
  /// - Returns: What is kept; nothing where no import was under a contract.
  /// - Throws: `StoreError`; `.damaged` for values that no import writes.
  package func keptContract(of map: String) throws(StoreError) -> KeptContract {
    try run {
      var kept = KeptContract()
      guard try database.hasTable(Self.contracts) else { return kept }
      let last = try Row.fetchOne(
        database,
        sql: """
          SELECT run, seen FROM main.\(Self.contracts) WHERE map = ? AND EXISTS
            (SELECT 1 FROM main._dragoman_imports WHERE id = run AND status = 'done')
          ORDER BY run DESC LIMIT 1
          """,
        arguments: [map]
      )
      kept.run = try last?.stored("run", of: Self.contracts)
      kept.seen = try last?.stored("seen", of: Self.contracts)
      kept.evolved = try Row.fetchOne(
        database,
        sql: "SELECT evolved FROM main.\(Self.contracts) WHERE map = ? ORDER BY run DESC LIMIT 1",
        arguments: [map]
      )?.stored("evolved", of: Self.contracts)
      return kept
    }
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
    try run {
      try database.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS main.\(Self.contracts)
            (run INTEGER PRIMARY KEY, map TEXT, seen TEXT, evolved TEXT)
          """
      )
      try database.execute(
        sql:
          "INSERT OR REPLACE INTO main.\(Self.contracts) (run, map, seen, evolved) VALUES (?, ?, ?, ?)",
        arguments: [contract.run, map, contract.seen, contract.evolved]
      )
      try database.execute(
        sql: """
          DELETE FROM main.\(Self.contracts) WHERE map = ?1 AND run NOT IN
            (SELECT run FROM main.\(Self.contracts) WHERE map = ?1 ORDER BY run DESC LIMIT ?2)
          """,
        arguments: [map, Self.keptContractCount]
      )
    }
  }
}
