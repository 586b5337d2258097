import GRDB

extension RunReversal {
  /// An object whose reference waits.
  struct Waiter {
    /// Its primary key, and the relationship with its entity; nil where a record does not tell.
    let owner: Int64?
    let relationship: String?

    /// The table of the owner; its number in the model.
    func table(in layout: ModelLayout) -> Int? {
      guard let relationship else { return nil }
      for link in layout.links {
        let entity = layout.entities[link.owner]
        if hasSameBytes("\(entity.name).\(link.name)", relationship) { return entity.tableIndex }
      }
      return nil
    }
  }

  /// The rows of references that wait: who waits for whom counts, their numbers may be others by now.
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
        if row.operation == .inserted {
          return back.append([("id", row.new(0) ?? .null)] + new)
        }
        // Of a row that was changed the columns are known that were. Its own number is the best guess among many.
        let isSame = old.map { "\($0.column) IS ?" }.joined(separator: " AND ")
        let place =
          "WHERE id = (SELECT id FROM \(PendingReference.table) WHERE \(isSame)"
          + " ORDER BY id = ? DESC, id DESC LIMIT 1)"
        let test = old.map(\.value) + [row.old(0) ?? .null]
        if row.operation == .deleted {
          try run("DELETE FROM \(PendingReference.table) \(place)", test)
        } else {
          let sets = new.map { "\($0.column) = ?" }.joined(separator: ", ")
          try run(
            "UPDATE \(PendingReference.table) SET \(sets) \(place)",
            new.map(\.value) + test
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
