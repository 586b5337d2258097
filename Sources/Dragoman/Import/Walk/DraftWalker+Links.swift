import DragomanGraph

/// Stages: where links stay until a handful of statements store them all.
extension DraftWalker {
  /// The stage of a link; nil where the row says everything.
  func stage(of link: LinkPlan, in plan: ImportPlan) throws -> Stage? {
    let owner = plan.model.entities[link.layout.owner]
    let name = "\(owner.name).\(link.name)"
    if let known = stages[name] { return known }
    let key = link.referenceKey(in: plan.model)
    if case .column = link.layout.storage, key == nil, !isExclusive(link, plan.model) { return nil }
    let made = try backend.stage(
      LinkStage.Plan(
        link: link.layout,
        key: key ?? [],
        replaces: link.replaces || link.isToOne,
        deletesUnlinked: link.deletesUnlinked
      )
    )
    stages[name] = made
    allStages = stages.values.sorted { $0.plan.link.id < $1.plan.link.id }
    unresolvedPolicies[name] = link.onUnresolved
    return made
  }

  private func isExclusive(_ link: LinkPlan, _ model: ModelLayout) -> Bool {
    let target = model.entities[link.layout.destination]
    guard let name = link.layout.relationship.inverse, let slot = target.linkSlot(named: name)
    else {
      return false
    }
    return target.relationships[slot].isToOne
  }

  /// The stages whose links other links of the plan write as well: the other side of a table of
  /// links, or a to-one whose column a to-many's stage fills.
  func crossed(in plan: ImportPlan) -> [Stage] {
    var uses: [RelationshipLayout.Place: Int] = [:]
    var stagesByPlace: [RelationshipLayout.Place: [Stage]] = [:]
    for link in Set(plan.entities.flatMap { $0.links.map(\.layout) }) {
      let place = link.place
      uses[place, default: 0] += link.isSymmetric ? 2 : 1
      if let stage = stages["\(plan.model.entities[link.owner].name).\(link.name)"] {
        stagesByPlace[place, default: []].append(stage)
      }
    }
    return uses.filter { $0.value > 1 }.flatMap { stagesByPlace[$0.key] ?? [] }
  }

  /// The stages of to-manies that delete what they unlink, unless nothing but the owner's own list can
  /// be about it.
  func deletingStages(in plan: ImportPlan) -> [Stage] {
    let links = plan.entities.flatMap(\.links)
    let deleting = links.filter { link in
      guard link.deletesUnlinked, !link.isToOne else { return false }
      if case .inverseColumn = link.layout.storage, case .nested = link.origin {
        let root = plan.model.entities[link.layout.destination].root
        return backend.layout.mayDeny(root)
          || links.contains {
            $0.layout != link.layout && plan.model.entities[$0.layout.destination].root == root
          }
      }
      return true
    }
    let names = deleting.map { "\(plan.model.entities[$0.layout.owner].name).\($0.name)" }
    return Set(names).sorted().compactMap { stages[$0] }
  }

  // MARK: - Flushing

  /// Stores the links of all stages, before a record or at the end of a batch.
  func flushAll(_ batch: DraftBatch) throws {
    try flushStages(batch)
    contradictions.keep(in: &issues)
  }

  /// Stores the links of all stages.
  func flushStages(_ batch: DraftBatch) throws {
    for stage in allStages where !stage.isEmpty { try flush(stage, batch) }
  }

  /// Stores the links of the stages that other links write as well, before a record.
  func flushCrossed(_ batch: DraftBatch) throws {
    guard !crossedStages.isEmpty else { return }
    for stage in crossedStages where !stage.isEmpty { try flush(stage, batch) }
    contradictions.keep(in: &issues)
  }

  /// Stores the links of a stage, and counts what it changed.
  func flush(_ stage: Stage, _ batch: DraftBatch) throws {
    flushCount += 1
    let outcome = try stage.flush { self.place(of: $0, in: batch) }
    let gone = outcome.gone.map {
      (key: $0, entity: backend.layout.entities[stage.plan.link.destination])
    }
    if !Backend.isBulk || ownStages.contains(where: { $0 === stage }) {
      unlinked += gone
    } else if !gone.isEmpty {
      if let denied = try backend.delete(gone) { throw RecordStop.denied(denied) }
      // Others may hold links of what is gone.
      for other in allStages where other !== stage { try other.dropDeleted() }
    }
    countLinks(of: stage.name, linked: outcome.linked, unlinked: outcome.unlinked)
    var owners: [Int64] = []
    for owner in outcome.changed where owner.number >= 0 {
      if written[owner.number].outcome == .unchanged {
        written[owner.number].outcome = .updated
        owners.append(owner.key)
      }
      // A reference that waits changes the list once more, though nobody says otherwise.
      guard let plan = batch.plan, written[owner.number].outcome == .updated,
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
    if stage.isTable { try stage.bumpVersions(of: owners) }
    for owner in outcome.waiting where owner.number >= 0 {
      let root = backend.layout.entities[stage.plan.link.owner].root
      waits.append(Wait(owner: ObjectPlace(root, owner.key), number: owner.number))
    }
  }

  // MARK: - The end

  /// Resolves what waited for the end of the feed, and applies `onUnresolved` to the rest.
  ///
  /// - Throws: `CancellationError` where the import is to stop; `StoreError`.
  func finish(unless cancellation: Cancellation? = nil) throws {
    try endLoads(nil, unless: cancellation)
    try applyHeld(unless: cancellation)
    let all = try Array(stages.values) + pendingStages()
    var given: [(stage: Stage, finish: LinkStage.Finish)] = []
    // A stub that one relationship makes is the target of the others, too.
    let inOrder = all.sorted {
      (policy(of: $0) == .stub ? 0 : 1, $0.plan.link.id)
        < (policy(of: $1) == .stub ? 0 : 1, $1.plan.link.id)
    }
    for stage in inOrder {
      if cancellation?.isCancelled == true { throw CancellationError() }
      let name = stage.name
      let link = stage.plan.link
      try stage.adoptPending()
      let finish = try stage.finish(
        policy(of: stage).ofStage,
        exampleCount: RecordMapper.exampleCount
      )
      relationships[name, default: .init()].add(linked: finish.linked, unlinked: finish.unlinked)
      relationships[name, default: .init()].unresolved += finish.unresolved
      // An object that was counted as unchanged got a link in the end; it is counted again once.
      for owner in finish.changed {
        let place = ObjectPlace(backend.layout.entities[link.owner].root, owner)
        guard let kept = unchangedOwners.removeValue(forKey: place) else { continue }
        recountUnchanged(of: kept.entity, isTop: kept.isTop)
      }
      entities[backend.layout.entities[link.destination].name, default: .init()].stubs +=
        finish.stubs
      if finish.cleared > 0 { given.append((stage, finish)) }
    }
    report(given)
    try backend.tell(at: nil)
    relationships = relationships.filter { $0.value != .init() }
    entities = entities.filter { $0.value != .init() }
  }

  private func policy(of stage: Stage) -> UnresolvedPolicy {
    unresolvedPolicies[stage.name] ?? .pending
  }

  /// Reports references that were given up, in the order of the records that have them.
  private func report(_ given: [(stage: Stage, finish: LinkStage.Finish)]) {
    var issues: [(ordinal: Int, number: Int, issue: ImportIssue)] = []
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
          message: "\(stage.name) names a \(backend.layout.entities[link.destination].name) that"
            + " nobody is.",
          tried: [],
          map: nil,
          help: "import the missing object too, or say `onUnresolved: stub` or `pending`",
          key: nil,
          isReject: false
        )
        issues.append((place.ordinal, link.id, issue))
      }
    }
    // Within one record and relationship the order of the list stays.
    for (_, entry) in issues.enumerated().sorted(by: {
      ($0.element.ordinal, $0.element.number, $0.offset)
        < ($1.element.ordinal, $1.element.number, $1.offset)
    }) {
      self.issues.add(entry.issue)
    }
    for (stage, finish) in given {
      let group = IssueGroup(
        code: .linkUnresolved,
        entity: backend.layout.entities[stage.plan.link.owner].name,
        attribute: stage.plan.link.name
      )
      self.issues.add(finish.cleared - finish.examples.count, of: group)
    }
  }

  /// Stages for references that wait from earlier imports by other maps, or by another key.
  private func pendingStages() throws -> [Stage] {
    try backend.pendingRelationships().compactMap { name, key in
      guard let link = backend.layout.relationship(named: name) else { return nil }
      let names = { (parts: [String]) in Set(parts.map { Array($0.utf8) }) }
      if let known = stages[name], names(known.plan.key.map(\.name)) == names(key) { return nil }
      let target = backend.layout.entities[link.destination]
      let columns = key.compactMap { name in
        target.uniqueKeys.joined().first { $0.name.utf8.elementsEqual(name.utf8) }
          .flatMap { KeyColumn($0, of: target, in: backend.layout) }
      }
      guard columns.count == key.count else { return nil }
      return try backend.stage(
        LinkStage.Plan(link: link, key: columns, replaces: false, deletesUnlinked: false)
      )
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

extension RelationshipLayout {
  /// Where links are stored, seen from neither side.
  enum Place: Hashable {
    case column(entity: Int, String)
    case table(String)
  }

  /// Where the links are stored.
  var place: Place {
    switch storage {
    case .column(let column): .column(entity: owner, column)
    case .inverseColumn(let column, _): .column(entity: destination, column)
    case .joinTable(let join, _): .table(join.name)
    }
  }

  /// Whether it is its own inverse: storing the links of one object changes those of others.
  var isSymmetric: Bool {
    if case .joinTable(let join, _) = storage { join.isSymmetric } else { false }
  }
}
