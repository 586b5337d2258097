import DragomanGraph

/// Links stay in stages until a handful of statements store them all.
extension DraftWalker {
  // MARK: - Flushing

  /// Stores the links of all stages, before a record or at the end of a batch.
  func flushAll(_ batch: DraftBatch) throws {
    try flushStages(batch)
    if !isTrying { contradictions.keep(in: &tally.issues) }
  }

  /// Stores the links of all stages.
  func flushStages(_ batch: DraftBatch) throws {
    for stage in stages.all where !stage.isEmpty { try flush(stage, batch) }
  }

  /// Stores the links of the stages that other links write as well, before a record.
  func flushCrossed(_ batch: DraftBatch) throws {
    guard !stages.crossed.isEmpty else { return }
    for stage in stages.crossed where !stage.isEmpty { try flush(stage, batch) }
    contradictions.keep(in: &tally.issues)
  }

  /// Deletes what lists of a stage have lost.
  private func delete(_ gone: [(key: Int64, entity: EntityLayout)], from stage: Stage) throws {
    if gone.isEmpty { return }
    try drop(gone)
    // Others may hold links of what is gone.
    for other in stages.all where other !== stage { try other.dropDeleted() }
  }

  /// Deletes what lists lost in the middle of the record, unless another of its lists has it in the end.
  func deleteLoose() throws {
    for (stage, keys) in loose {
      let gone = try stage.withoutOwner(among: Array(Set(keys)).sorted())
      let entity = backend.layout.entities[stage.plan.link.destination]
      try delete(gone.map { ($0, entity) }, from: stage)
    }
    loose.removeAll()
  }

  /// Stores the links of a stage, and counts what it changed.
  func flush(_ stage: Stage, _ batch: DraftBatch) throws {
    flushCount += 1
    let outcome = try stage.flush { self.place(of: $0, in: batch) }
    let gone = outcome.gone.map {
      (key: $0, entity: backend.layout.entities[stage.plan.link.destination])
    }
    if stages.own.contains(where: { $0 === stage }) {
      unlinked += gone
    } else if isInRecord {
      if !outcome.gone.isEmpty { loose.append((stage, outcome.gone)) }
    } else {
      try delete(gone, from: stage)
    }
    tally.countLinks(
      of: tally.number(ofRelationship: stage.name),
      linked: outcome.linked,
      unlinked: outcome.unlinked
    )
    let root = backend.layout.entities[stage.plan.link.owner].root
    for owner in outcome.between {
      tally.linkedBetween.append((ObjectPlace(root, owner), tally.waits.count))
    }
    var owners: [Int64] = []
    for owner in outcome.changed where owner.number >= 0 {
      if tally.written[owner.number].outcome == .unchanged {
        tally.written[owner.number].outcome = .updated
      }
      if stage.isTable, !tally.written[owner.number].isRaised {
        tally.written[owner.number].isRaised = true
        owners.append(owner.key)
      }
      // A reference that waits changes the list once more, though nobody says otherwise.
      guard let plan = batch.plan, tally.written[owner.number].outcome == .updated,
        stage.plan.replaces, !outcome.waiting.contains(owner)
      else { continue }
      let isReplaced = outcome.lost.contains(owner.key)
      let link = stage.plan.link
      try noteContradiction(
        of: link,
        owner.key,
        owner.number,
        isReplaced: isReplaced,
        in: batch,
        plan
      )
    }
    try stage.bumpVersions(of: owners)
    for owner in outcome.waiting where owner.number >= 0 {
      tally.waits.append(Wait(owner: ObjectPlace(root, owner.key), number: owner.number))
    }
  }

  // MARK: - Keys that change

  /// Stores links that lists name by keys, before the row at hand gives its object another key.
  ///
  /// - Throws: `RecordStop.full` where they cannot be stored now; what the store throws.
  func storeBeforeKeyChange(_ target: Target, in batch: DraftBatch) throws {
    // While held records are taken up, others may need the object by the key that it loses.
    guard !target.otherKeys.isEmpty, isNamedByOtherKeys || !held.taken.isEmpty,
      try changesKey(target, in: batch)
    else { return }
    lossCount += 1
    guard isNamedByOtherKeys else { return }
    guard mayFlush else { throw RecordStop.full }
    try flushStages(batch)
  }

  /// The same, before a record that is nothing but an object: it is not undone, so that nothing may be stored within it.
  func storeBeforeKeyChange(of object: Int, in batch: DraftBatch, _ plan: ImportPlan) throws {
    let target = try target(of: batch.objects[object].plan, in: plan, isNested: false)
    guard !target.otherKeys.isEmpty, isNamedByOtherKeys else { return }
    try composeKey(object, target, in: batch, plan, under: nil)
    if try changesKey(target, in: batch) { try flushAll(batch) }
  }

  /// Whether something staged names its targets by keys that they may lose.
  var isNamedByOtherKeys: Bool { stages.all.contains(where: \.namesByOtherKeys) }

  /// Whether the row at hand may give an object that is there a key that nobody has.
  private func changesKey(_ target: Target, in batch: DraftBatch) throws -> Bool {
    // A table that is loaded has nobody yet whom the row could be about.
    guard !backend.isLoading(target.plan.layout.table) else { return false }
    let arena = try Self.arena(of: batch)
    let memory = UnsafeRawBufferPointer(batch.records.arena)
    let isNew = try target.otherKeys.contains { key in
      guard key.slots.contains(where: { row[$0].kind != .absent }) else { return false }
      let values = key.slots.filter { ![.absent, .null].contains(row[$0].kind) }
        .map { row[$0].stored(in: memory) }
      guard let reference = key.reference, values.count == reference.columns.count else {
        return true
      }
      return try !backend.exists(reference, values)
    }
    guard isNew else { return false }
    _ = try row.withUnsafeBufferPointer { try target.writer.find($0, arena: arena) }
    return target.writer.key != nil
  }

  // MARK: - The end

  /// Resolves what waited for the end of the feed, and applies `onUnresolved` to the rest.
  ///
  /// - Parameters:
  ///   - cancellation: Stops.
  ///   - isLast: Whether nobody else brings targets; else all that waits does so further.
  /// - Throws: `CancellationError` where the import is to stop; `StoreError`.
  func finish(unless cancellation: Cancellation? = nil, isLast: Bool = true) throws {
    try endLoads(unless: cancellation)
    try applyHeld(unless: cancellation)
    guard isLast else {
      tally.entities = tally.entities.filter { $0.value != .init() }
      return
    }
    let all = try stages.all + stages.pending()
    var given: [(stage: Stage, finish: LinkStage.Finish)] = []
    // A stub that one relationship makes is the target of the others, too.
    let inOrder = all.sorted {
      (stages.policy(of: $0) == .stub ? 0 : 1, $0.plan.link.id)
        < (stages.policy(of: $1) == .stub ? 0 : 1, $1.plan.link.id)
    }
    for stage in inOrder {
      if cancellation?.isCancelled == true { throw CancellationError() }
      let link = stage.plan.link
      try stage.adoptPending()
      let finish = try stage.finish(
        stages.policy(of: stage).ofStage,
        exampleCount: RecordMapper.exampleCount,
        asking: { [root = backend.layout.entities[link.owner].root] owner in
          self.tally.unchangedOwners[ObjectPlace(root, owner)] != nil
        }
      )
      tally.countLinks(
        of: tally.number(ofRelationship: stage.name),
        linked: finish.linked,
        unlinked: finish.unlinked,
        unresolved: finish.unresolved
      )
      // An object that was counted as unchanged got a link in the end; it is counted again once.
      for owner in finish.changed {
        let place = ObjectPlace(backend.layout.entities[link.owner].root, owner)
        guard let kept = tally.unchangedOwners.removeValue(forKey: place) else { continue }
        tally.recountUnchanged(of: kept.entity, isTop: kept.isTop)
      }
      tally.entities[backend.layout.entities[link.destination].name, default: .init()].stubs +=
        finish.stubs
      if finish.cleared > 0 { given.append((stage, finish)) }
    }
    for stage in inOrder { try stage.dropLinked() }
    report(given)
    try backend.tell(at: nil)
    tally.entities = tally.entities.filter { $0.value != .init() }
  }

  /// Reports references that were given up, in the order of the records that have them.
  private func report(_ given: [(stage: Stage, finish: LinkStage.Finish)]) {
    var found: [(ordinal: Int, number: Int, issue: ImportIssue)] = []
    for (stage, finish) in given {
      let link = stage.plan.link
      let owner = backend.layout.entities[link.owner].name
      for (key, place) in finish.examples {
        let issue = ImportIssue(
          code: .linkUnresolved,
          entity: owner,
          attribute: link.name,
          origin: place.origin,
          path: nil,
          value: stage.plan.key.isSensitive
            ? ForeignText.mask : key.map(\.text).joined(separator: ", "),
          message:
            "\(stage.name) refers to"
            + " \(MessageWords.withArticle(backend.layout.entities[link.destination].name)) that does not exist.",
          tried: [],
          map: nil,
          help: stages.policy(of: stage) == .reject
            ? "import the missing object too"
            : "import the missing object too, or say `onUnresolved: stub` or `pending`",
          key: nil,
          isReject: false
        )
        found.append((place.ordinal, link.id, issue))
      }
    }
    // Within one record and relationship the order of the list stays.
    for (_, entry) in found.enumerated().sorted(by: {
      ($0.element.ordinal, $0.element.number, $0.offset)
        < ($1.element.ordinal, $1.element.number, $1.offset)
    }) {
      tally.issues.add(entry.issue)
    }
    for (stage, finish) in given {
      let group = IssueGroup(
        code: .linkUnresolved,
        entity: backend.layout.entities[stage.plan.link.owner].name,
        attribute: stage.plan.link.name
      )
      tally.issues.add(finish.cleared - finish.examples.count, of: group)
    }
  }
}

extension UnresolvedPolicy {
  /// What a stage does with what is left at the end; records that were to be rejected are by then.
  fileprivate var ofStage: LinkStage.Unresolved {
    switch self {
    case .clear, .reject: .clear
    case .stub: .stub
    case .pending: .pending
    }
  }
}
