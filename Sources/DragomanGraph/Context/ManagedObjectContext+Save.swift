extension ManagedObjectContext {
  /// Writes the unsaved changes of this context into the store, in one transaction.
  ///
  /// With them go the unsaved insertions of the contexts above that they refer to, and nothing else
  /// that is pending there. When it returns the changes are durable (`COMMIT` with
  /// `synchronous=FULL`), and the contexts above know of them. When it throws, nothing was written,
  /// everything is still pending here, and the save can be tried again.
  ///
  /// - Throws: `ContextError`: `.invalid` and `.denied` with every fault, `.conflict` with every
  ///   conflict, `.duplicate`, `.importing` in the hook of an import, what a property recorded: one error
  ///   as it is, several as `.invalid`, with every property that did not take its value in `faults`;
  ///   `StoreError`: `.full`, `.busy`, ….
  public func save() throws {
    try checkSavable()
    if kind == .main, openSession == nil { try root.stopAway() }
    try throwRecordedAndFaults()
    guard hasChanges else { return }
    try validate()
    let saved = try store()
    let written = saved.written
    // What is written into an open transaction is told once that is committed, or never.
    if let writer { writer.records.note(saved) } else { root.tell() }
    if kind == .main, writer == nil {
      settling.takeNews()
    } else {
      settling.take(.savedOwn(written))
    }
    var next = parent
    var index = 0
    while let context = next {
      if openSession != nil, context.kind != .main {
        context.overlay.settle(written, seen: saved.seen[index], yields: true, layout)
      }
      if context.kind == .main, writer == nil {
        context.settling.takeNews()
      } else {
        context.settling.take(.saved(written))
      }
      next = context.parent
      index += 1
    }
  }

  private func store() throws -> RootContext.Write {
    if let session = openSession {
      let saved = try root.write(overlay.changes, seen: upper, in: session, mergePolicy)
      overlay.removeAll(isStored: true)
      return saved
    }
    do {
      return try root.commit(self)
    } catch {
      // The stack may have been closed meanwhile.
      try checkOpen()
      throw error
    }
  }

  /// The unsaved changes of the contexts above, the nearest first; main's is the last.
  var overlaysAbove: [Overlay] {
    guard kind != .main else { return [] }
    return parent.map { [$0.overlay] + $0.overlaysAbove } ?? [root.main]
  }

  /// Refuses to write while a record is imported here or in a context above: it may be rejected yet,
  /// and what is in the store by then cannot be undone.
  func checkSavable() throws {
    try checkOpen()
    guard openRecordCount == 0 else {
      throw ContextError(
        .importing,
        "A context cannot be saved while a record is imported into it: the record may be rejected"
          + " yet.",
        help: "leave the changes unsaved; they are stored with the record"
      )
    }
  }

  /// How many records are open here and in the contexts above.
  var openRecordCount: Int { importing.recordCount + (parent?.openRecordCount ?? 0) }

  /// Checks everything and completes what follows from it: places in ordered lists, links to
  /// deleted objects.
  ///
  /// - Throws: `ContextError` `.invalid` or `.denied`, with every fault.
  public func validate() throws { try SaveChecks(context: self).run() }

  /// Checks what is stored of this context's changes besides those that were checked.
  func validate(_ part: ChangeSet) throws {
    var validation = ObjectValidation(self)
    for (place, change) in part.sorted
    where change.kind != .deleted && change.mark?.isStub != true {
      try validation.check(enroll(place, change), change)
    }
    if !validation.faults.isEmpty { throw ContextError(.invalid, validation.faults) }
  }

  /// Throws what was recorded and what is wrong, before a save on another thread.
  func validateForSave(isSaving: Bool = true) throws {
    try checkOpen()
    try throwRecordedAndFaults()
    try SaveChecks(context: self).run(isSaving: isSaving)
  }

  /// Throws what was recorded; beside values that properties did not take, every other fault.
  private func throwRecordedAndFaults() throws {
    guard recorded.hasRefusals else { return try throwRecorded() }
    var faults: [ObjectFault] = []
    do {
      try validate()
    } catch let error as ContextError where !error.faults.isEmpty {
      faults = error.faults
    }
    if let error = recorded.take(besides: faults) { throw error }
  }

  /// The changes, checked, for a merge into main.
  func changesToMerge() throws -> ChangeSet {
    try validateForSave(isSaving: false)
    return overlay.changes
  }

  /// The session that this context reads and writes through.
  var openSession: (any StoreWriter)? { writer?.importing.session }

  /// This context or the one above it that has an open session.
  private var writer: ManagedObjectContext? { importing.session == nil ? parent?.writer : self }
}
