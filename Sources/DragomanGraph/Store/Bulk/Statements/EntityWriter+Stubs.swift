/// Rows of objects that are there as stubs of another unique key than the identity.
///
/// Whoever named them so did not know their identity: it is null until their record comes.
extension EntityStatements {
  /// What gives the identity of a row to the stub that was made of another of its keys, a statement for each.
  func adoptions(_ present: [Int]) -> [Sentence] {
    guard completesStubs != .never, let keys = keySlots(of: present) else { return [] }
    let identity = values(of: keys, from: 1, isNoted: false)
    let assignments = identity.map { "\(Schema.quoted($0.column)) = \($0.value)" }
    let isUnknown = identity.map { " AND \(Schema.quoted($0.column)) IS NULL" }.joined()
    return entity.uniqueKeys.dropFirst().compactMap { key in
      slots(of: key, present).map { others in
        Sentence(
          sql: "UPDATE OR IGNORE \(table) SET \(assignments.joined(separator: ", "))"
            + " WHERE \(keyTest(others, from: keys.count + 1)) AND _stub = 1\(isUnknown)",
          slots: keys + others
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
    guard !prepared.adoptions.isEmpty else { return false }
    let savepoint = try StoreError.naming(path) { try Savepoint(database: database, path: path) }
    try savepoint.begin()
    for adoption in prepared.adoptions
    where run(adoption, row, arena, key: nil, connection) == .updated {
      guard run(prepared.write, row, arena, key: key, connection) == .updated else { break }
      try savepoint.release()
      self.key = note?.key
      return true
    }
    try savepoint.undo()
    return false
  }
}
