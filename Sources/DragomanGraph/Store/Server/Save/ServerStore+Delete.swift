extension ServerStore {
  /// Deletes the objects of a request, and what the delete rules of the model take along: what
  /// `SQLiteStore.delete(_:examples:proceeds:)` does in a file, by the same statements.
  ///
  /// - Parameters:
  ///   - request: The objects.
  ///   - exampleCount: How many of the objects that each delete rule protects are told.
  ///   - isDryRun: Whether it is only told what would be deleted.
  ///   - proceeds: Decides, told what would be deleted; the lock of writers is held meanwhile.
  /// - Returns: What was deleted, or would be.
  /// - Throws: `StoreError`, and what `proceeds` throws.
  package func delete(
    _ request: FetchRequest,
    examples exampleCount: Int = 5,
    isDryRun: Bool = false,
    proceeds: (Deletion) throws -> Bool = { _ in true }
  ) throws -> Deletion {
    try write { session in
      try session.begin()
      let layout = session.layout
      let resolved = try ResolvedRequest(request, in: layout)
      var recording: ServerSession.Recording?
      let deleter = try ObjectDeleter(session.sql, layout: layout) { () throws(StoreError) in
        try recording?.recorder?.keepIfFull()
      }
      var keys: [Int64] = []
      try session.read(layout) { reader in
        try reader.fetch(resolved, .columns([])) { keys.append($0.integer(0)) }
      }
      try deleter.mark(keys, of: resolved.entity)
      var deletion = try deleter.outlook(examples: exampleCount)
      guard !isDryRun, !deletion.counts.isEmpty, deletion.protections.isEmpty,
        try proceeds(deletion)
      else { return deletion }
      var entry = ImportLedgerEntry(deleting: request.entity)
      let limit = WriteSession.recordedRowCount
      recording = try session.recording(behind: nil, limit: limit)
      entry.counts.deleted = try deleter.delete().deleted.values.reduce(0, +)
      entry.finish()
      try session.record(&entry)
      if let number = entry.id { try recording?.recorder?.finish(as: number) }
      try session.commit()
      if case .recorder(_, let notes) = recording { notes.close() }
      deletion.isDone = true
      return deletion
    }
  }
}
