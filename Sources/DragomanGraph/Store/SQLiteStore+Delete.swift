import GRDB

extension SQLiteStore {
  /// Deletes the objects of a request, and what the delete rules of the model take along.
  ///
  ///     let deletion = try store.delete(
  ///       FetchRequest("Person", filter: try Filter(parsing: "lastSeen < '2020-01-01'"))
  ///     ) { $0.matchedCount <= 100 }
  ///     print(deletion.isDone, deletion.counts)
  ///
  /// One transaction, and a few statements however many objects there are: `INSERT INTO
  /// temp._dragoman_doomed … SELECT t0._pk FROM …`, the same for what `cascade` takes along, `UPDATE … SET
  /// link = NULL` for links to them, and `DELETE FROM … WHERE _pk IN …` for each table. On a store that is open
  /// for reading only it tells what would be deleted. The ledger gets a line for it, and what is deleted is
  /// recorded, so that it can be taken back as an import can.
  ///
  /// - Parameters:
  ///   - request: The objects. With an order and a limit, the first ones.
  ///   - exampleCount: How many of the objects that each delete rule protects are told.
  ///   - proceeds: Decides, told what would be deleted; it is not asked where nothing matches, a rule forbids the
  ///     deletion, or the store is read only. The write lock is held meanwhile: ask people before, and compare.
  /// - Returns: What was deleted, or would be.
  /// - Throws: `StoreError`: `.badRequest` for a name or literal that does not fit, with the nearest name;
  ///   and what `proceeds` throws.
  @discardableResult
  public func delete(
    _ request: FetchRequest,
    examples exampleCount: Int = 5,
    proceeds: (Deletion) throws -> Bool = { _ in true }
  ) throws -> Deletion {
    do {
      return try write { session in
        try session.begin()
        let deleter = try session.deleter()
        let plan = try FetchPlan(request, in: session.layout)
        try FetchStatement.run(
          "INSERT OR IGNORE INTO \(deleter.table) (root, pk)"
            + " SELECT \(plan.entity.root), \(plan.objects.alias)._pk\(plan.objects.tail)",
          plan.arguments,
          session.database,
          { _ in true }
        )
        var deletion = try deleter.outlook(examples: exampleCount)
        guard !isReadOnly, !deletion.counts.isEmpty, deletion.protections.isEmpty,
          try proceeds(deletion)
        else { return deletion }
        var entry = ImportLedgerEntry(deleting: request.entity)
        let recorder = try session.recorder(isWhole: false, limit: WriteSession.recordedRowCount)
        defer { recorder?.stop() }
        entry.counts.deleted = try deleter.delete().deleted.values.reduce(0, +)
        entry.finish()
        try session.record(&entry)
        if let number = entry.id { try recorder?.finish(as: number) }
        try session.commit()
        deletion.isDone = true
        return deletion
      }
    } catch let error as DatabaseError {
      throw StoreError(error, path: path)
    }
  }
}
