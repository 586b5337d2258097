import GRDB

extension RunReversal {
  /// An object whose reference waits.
  struct Waiter: Hashable {
    /// Its primary key, and the relationship with its entity; nil where a record does not tell.
    let owner: Int64?
    let relationship: String?

    /// The table of the owner; its number in the model.
    func table(in layout: ModelLayout) -> Int? {
      relationship.flatMap(layout.relationship(named:)).map { layout.entities[$0.owner].tableIndex }
    }
  }

  /// The rows of references that wait: who waits for whom counts.
  struct References {
    private static let columns = ["id", "owner", "relationship", "entity", "key"]

    private let database: Database

    init(_ database: Database) { self.database = database }

    /// Takes back what an import did to them.
    ///
    /// - Parameter inverted: The changes of the import, the other way round.
    /// - Returns: Whose reference was to be taken back and is not there.
    /// - Throws: What SQLite throws.
    func takeBack(_ inverted: Changeset) throws -> [Waiter] {
      var back: [[(column: String, value: StoredValue)]] = []
      var missed: [Waiter] = []
      try inverted.withRows { row in
        guard hasSameBytes(row.table, PendingReference.table) else { return }
        let (old, new) = (given(row.old), given(row.new))
        let number = row.old(0) ?? .null
        let isSame = old.map { "\($0.column) IS ?" }.joined(separator: " AND ")
        switch row.operation {
        case .inserted: return back.append([("id", row.new(0) ?? .null)] + new)
        case .deleted:
          // It may have another number by now.
          let place =
            "id = (SELECT id FROM \(PendingReference.table) WHERE \(isSame)"
            + " ORDER BY id = ? DESC, id DESC LIMIT 1)"
          try run(
            "DELETE FROM \(PendingReference.table) WHERE \(place)",
            old.map(\.value) + [number]
          )
        case .updated:
          // Of such a row only the columns are known that were changed: another one may look the same.
          let sets = new.map { "\($0.column) = ?" }.joined(separator: ", ")
          try run(
            "UPDATE \(PendingReference.table) SET \(sets) WHERE \(isSame) AND id = ?",
            (new + old).map(\.value) + [number]
          )
        }
        if database.changesCount == 0 {
          var relationship: String?
          if case .text(let name) = row.old(2) { relationship = name }
          missed.append(Waiter(owner: row.old(1)?.integer, relationship: relationship))
        }
      }
      for row in back {
        let names = row.map(\.column).joined(separator: ", ")
        let places = row.dropFirst().map { _ in ", ?" }.joined()
        try run(
          "INSERT INTO \(PendingReference.table) (\(names)) VALUES"
            + " ((SELECT ?1 WHERE ?1 NOT IN (SELECT id FROM \(PendingReference.table)))\(places))",
          row.map(\.value)
        )
      }
      return missed
    }

    private func run(_ sql: String, _ values: [StoredValue]) throws {
      let statement = try RawStatement(kept: sql, in: database)
      for (index, value) in values.enumerated() { try statement.bind(value, Int32(index) + 1) }
      try statement.run()
    }

    private func given(
      _ value: (Int32) -> StoredValue?
    ) -> [(column: String, value: StoredValue)] {
      (1...4).compactMap { index in value(index).map { (Self.columns[Int(index)], $0) } }
    }
  }
}
