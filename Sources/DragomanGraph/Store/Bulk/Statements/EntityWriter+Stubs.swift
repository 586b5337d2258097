/// Rows of objects that are there as stubs of another unique key than the identity.
///
/// Whoever named them so did not know their identity: it is null until their record comes.
extension EntityStatements {
  /// Finds the stub that was made of another key of a row than the identity, and gives it the row's identity.
  ///
  /// For each such key. What writes the row counts the change; where there is nothing to write, `count` does.
  func adoptions(_ present: [Int]) -> [(find: Sentence, adopt: Sentence, count: Sentence)] {
    guard completesStubs != .never, let keys = keySlots(of: present) else { return [] }
    let identity = merged(values(of: keys, from: 1, isNoted: false))
    let assignments = identity.map { "\(Schema.quoted($0.column)) = \($0.value)" }
    let count = Sentence(
      sql: "UPDATE \(table) SET _v = _v + 1 WHERE \(keyTest(keys, from: 1)) RETURNING _pk",
      slots: keys
    )
    let isUnknown = identity.map { " AND \(Schema.quoted($0.column)) IS NULL" }.joined()
    // One that requires more than rows give takes their values, and stays a stub.
    let isAdopted = leavesObjects ? isCompleted : "_stub IS NOT NULL"
    func isStub(_ others: [Int], from parameter: Int) -> String {
      "WHERE \(ofEntity(keyTest(others, from: parameter))) AND \(isAdopted)\(isUnknown)"
    }
    return entity.uniqueKeys.dropFirst().compactMap { key in
      slots(of: key, present).map { others in
        (
          Sentence(sql: "SELECT _pk FROM \(table) \(isStub(others, from: 1))", slots: others),
          Sentence(
            sql: "UPDATE OR IGNORE \(table) SET \(assignments.joined(separator: ", "))"
              + " \(isStub(others, from: keys.count + 1))",
            slots: keys + others
          ),
          count
        )
      }
    }
  }

  /// The slots of a unique key, if the shape gives all of them.
  func slots(of key: [EntityLayout.KeyPart], _ present: [Int]) -> [Int]? {
    var found: [Int] = []
    for part in key {
      let given = present.filter { slots[$0].column.utf8.elementsEqual(part.column.utf8) }
      if given.isEmpty { return nil }
      found += given
    }
    return found
  }
}

extension EntityWriter {
  /// Writes a row whose object is there as a stub of another of its keys: nobody knew its identity.
  ///
  /// - Returns: false where there is no such stub, and nothing was done.
  func completeStub(
    by prepared: Prepared,
    _ row: UnsafeBufferPointer<RowValue>,
    _ arena: UnsafeRawPointer,
    key: Int64?,
    _ connection: OpaquePointer
  ) throws(StoreError) -> Bool {
    for (find, adopt, count) in prepared.adoptions where try find.finds(row, arena, path: path) {
      let savepoint = try StoreError.naming(path) { try Savepoint(database: database, path: path) }
      try savepoint.begin()
      if run(adopt, row, arena, key: nil, connection) == .updated {
        let effect = run(prepared.write, row, arena, key: key, connection)
        var isWritten = effect == .updated
        // What the row says may be there already, but for the identity.
        if effect == .none, try !isOlder(row, arena, prepared) {
          isWritten = try count.finds(row, arena, path: path)
        }
        if isWritten {
          try savepoint.release()
          self.key = note?.key
          return true
        }
      }
      try savepoint.undo()
    }
    return false
  }
}
