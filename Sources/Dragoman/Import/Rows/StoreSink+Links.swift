import DragomanGraph

/// Stages: where links stay until a handful of statements store them all.
extension StoreSink {
  /// The stage of a link; nil where the row says everything.
  func stage(of link: LinkPlan, in plan: ImportPlan) throws -> LinkStage? {
    let owner = plan.model.entities[link.layout.owner]
    let name = "\(owner.name).\(link.name)"
    if let known = stages[name] { return known }
    let key = link.referenceKey(in: plan.model)
    if case .column = link.layout.storage, key == nil, !isExclusive(link, plan.model) { return nil }
    let made = try session.stage(
      LinkStage.Plan(
        link: link.layout,
        key: key ?? [],
        replaces: link.replaces || link.isToOne,
        deletesUnlinked: link.deletesUnlinked
      )
    )
    stages[name] = made
    allStages = stages.values.sorted { $0.number < $1.number }
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
  func crossed(in plan: ImportPlan) -> [LinkStage] {
    var uses: [RelationshipLayout.Place: Int] = [:]
    var stagesByPlace: [RelationshipLayout.Place: [LinkStage]] = [:]
    for link in Set(plan.entities.flatMap { $0.links.map(\.layout) }) {
      let place = link.place
      uses[place, default: 0] += link.isSymmetric ? 2 : 1
      if let stage = stages["\(plan.model.entities[link.owner].name).\(link.name)"] {
        stagesByPlace[place, default: []].append(stage)
      }
    }
    return uses.filter { $0.value > 1 }.flatMap { stagesByPlace[$0.key] ?? [] }
  }

  // MARK: - Flushing

  /// Stores the links of all stages.
  func flushAll(_ batch: DraftBatch) throws {
    for stage in allStages where !stage.isEmpty { try flush(stage, batch) }
  }

  /// Stores the links of a stage, and counts what it changed.
  func flush(_ stage: LinkStage, _ batch: DraftBatch) throws {
    flushCount += 1
    let outcome = try stage.flush { self.place(of: $0, in: batch) }
    if let denied = outcome.denied {
      throw ImportError(
        .request,
        "An object that \(stage.name) unlinks is protected by the delete rule of \(denied).",
        help: "give one of the two another `onUnlink` or `onDelete`"
      )
    }
    if !outcome.deleted.isEmpty {
      // Others may hold links of what is gone.
      for other in allStages where other !== stage { try other.dropDeleted() }
    }
    countLinks(of: stage.name, linked: outcome.linked, unlinked: outcome.unlinked)
    var owners: [Int64] = []
    for owner in outcome.changed where owner.number >= 0 {
      guard written[owner.number].outcome == .unchanged else { continue }
      written[owner.number].outcome = .updated
      owners.append(owner.key)
    }
    if stage.isTable { try stage.bumpVersions(of: owners) }
    for owner in outcome.waiting where owner.number >= 0 {
      waits.append(Wait(owner: ObjectPlace(stage.ownerRoot, owner.key), number: owner.number))
    }
  }

  /// Counts links that were made and removed; a record that is undone takes its counts back.
  func countLinks(of name: String, linked: Int, unlinked: Int) {
    guard linked != 0 || unlinked != 0 else { return }
    relationships[name, default: .init()].add(linked: linked, unlinked: unlinked)
    linksOfRecord.append((name, linked, unlinked))
  }

  /// Takes back what the record at hand counted, or the run of records.
  func uncountLinks() {
    for (name, linked, unlinked) in linksOfRecord {
      relationships[name]?.linked -= linked
      relationships[name]?.unlinked -= unlinked
    }
    linksOfRecord.removeAll(keepingCapacity: true)
  }

  // MARK: - The end

  /// Resolves what waited for the end of the feed, and applies `onUnresolved` to the rest.
  ///
  /// - Throws: `CancellationError` where the import is to stop; `StoreError`.
  func finish(unless cancellation: Cancellation) throws {
    try applyHeld(unless: cancellation)
    for stage in try pendingStages() { stages[stage.name] = stage }
    var given: [(stage: LinkStage, finish: LinkStage.Finish)] = []
    for stage in stages.values.sorted(by: { $0.number < $1.number }) {
      if cancellation.isCancelled { throw CancellationError() }
      let name = stage.name
      try stage.adoptPending()
      let policy = unresolvedPolicies[name] ?? .pending
      let finish = try stage.finish(policy.ofStage, exampleCount: RecordMapper.exampleCount)
      relationships[name, default: .init()].add(linked: finish.linked, unlinked: finish.unlinked)
      relationships[name, default: .init()].unresolved += finish.unresolved
      // An object that was counted as unchanged got a link in the end; it is counted again once.
      for owner in finish.changed {
        guard let kept = unchangedOwners.removeValue(forKey: ObjectPlace(stage.ownerRoot, owner))
        else { continue }
        recountUnchanged(of: kept.entity, isTop: kept.isTop)
      }
      entities[stage.targetName, default: .init()].stubs += finish.stubs
      if policy == .clear || policy == .reject { given.append((stage, finish)) }
    }
    report(given)
    if let changeLog { try tell(changeLog, at: nil) }
    relationships = relationships.filter { $0.value != .init() }
    entities = entities.filter { $0.value != .init() }
  }

  /// Reports references that were given up, in the order of the records that have them.
  private func report(_ given: [(stage: LinkStage, finish: LinkStage.Finish)]) {
    var issues: [(ordinal: Int, number: Int, issue: ImportIssue)] = []
    for (stage, finish) in given {
      for (issue, example) in zip(describe(finish, of: stage), finish.examples) {
        issues.append((example.place.ordinal, stage.number, issue))
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
        entity: stage.ownerName,
        attribute: stage.relationshipName
      )
      self.issues.add(finish.unresolved - finish.examples.count, of: group)
    }
  }

  /// Stages for references that wait from earlier imports by other maps.
  private func pendingStages() throws -> [LinkStage] {
    try session.pendingRelationships().compactMap { name, key in
      if stages[name] != nil { return nil }
      let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
      guard parts.count == 2, let owner = session.layout.entity(named: parts[0]),
        let slot = owner.linkSlot(named: parts[1])
      else { return nil }
      let link = owner.relationships[slot]
      let target = session.layout.entities[link.destination]
      let columns = key.compactMap { name in
        target.uniqueKeys.joined().first { $0.name.utf8.elementsEqual(name.utf8) }
          .flatMap { KeyColumn($0, of: target, in: session.layout) }
      }
      guard columns.count == key.count else { return nil }
      return try session.stage(
        LinkStage.Plan(link: link, key: columns, replaces: false, deletesUnlinked: false)
      )
    }
  }

  private func describe(_ finish: LinkStage.Finish, of stage: LinkStage) -> [ImportIssue] {
    finish.examples.map { key, place in
      ImportIssue(
        code: .linkUnresolved,
        entity: stage.ownerName,
        attribute: stage.relationshipName,
        origin: place.origin,
        path: nil,
        value: stage.isSensitive ? ForeignText.mask : key.map(\.text).joined(separator: ", "),
        message: "\(stage.name) names a \(stage.targetName) that nobody is.",
        tried: [],
        map: nil,
        help: "import the missing object too, or say `onUnresolved: stub` or `pending`",
        key: nil,
        isReject: false
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
