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
        key: key?.map { ($0.name, $0.column) } ?? [],
        replaces: link.replaces || link.isToOne,
        deletesUnlinked: link.deletesUnlinked
      )
    )
    stages[name] = made
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
      uses[place, default: 0] += 1
      if let stage = stages["\(plan.model.entities[link.owner].name).\(link.name)"] {
        stagesByPlace[place, default: []].append(stage)
      }
    }
    return uses.filter { $0.value > 1 }.flatMap { stagesByPlace[$0.key] ?? [] }
  }

  // MARK: - Flushing

  /// Stores the links of all stages.
  func flushAll(_ batch: DraftBatch) throws {
    for stage in stages.values.sorted(by: { $0.name < $1.name }) where !stage.isEmpty {
      try flush(stage, batch)
    }
  }

  /// Stores the links of a stage, and counts what it changed.
  func flush(_ stage: LinkStage, _ batch: DraftBatch) throws {
    let stagers = stagers.removeValue(forKey: stage.name) ?? [:]
    let outcome = try stage.flush(
      origin: { place, record in self.place(ofNode: place, record: record, in: batch) },
      outcome: { owner in
        guard let number = stagers[owner], self.written[number].outcome == .unchanged else {
          return 0
        }
        return self.written[number].plan * 4 + (self.written[number].isTop ? 2 : 1)
      }
    )
    if let denied = outcome.denied {
      throw ImportError(
        .request,
        "An object that \(stage.name) unlinks is protected by the delete rule of \(denied).",
        help: "give one of the two another `onUnlink` or `onDelete`"
      )
    }
    relationships[stage.name, default: .init()].linked += outcome.linked
    relationships[stage.name, default: .init()].unlinked += outcome.unlinked
    for owner in Set(outcome.changedOwners) {
      guard let number = stagers[owner], written[number].outcome == .unchanged else { continue }
      written[number].outcome = .updated
      if stage.isTable { try stage.bumpVersion(of: owner) }
    }
  }

  // MARK: - The end

  /// Resolves what waited for the end of the feed, and applies `onUnresolved` to the rest.
  func finish() throws {
    try applyHeld()
    for stage in try pendingStages() { stages[stage.name] = stage }
    for (name, stage) in stages.sorted(by: { $0.key < $1.key }) {
      try stage.adoptPending()
      let policy = unresolvedPolicies[name] ?? .pending
      let finish = try stage.finish(policy.ofStage, exampleCount: RecordMapper.exampleCount)
      relationships[name, default: .init()].linked += finish.linked
      relationships[name, default: .init()].unresolved += finish.unresolved
      for (_, kept) in finish.changed where kept > 0 { recount(kept) }
      entities[stage.targetName, default: .init()].stubs += finish.stubs
      guard policy == .clear || policy == .reject else { continue }
      for issue in describe(finish, of: stage) { issues.add(issue) }
      let group = IssueGroup(
        code: .linkUnresolved,
        entity: stage.ownerName,
        attribute: stage.relationshipName
      )
      issues.add(finish.unresolved - finish.examples.count, of: group)
    }
    relationships = relationships.filter { $0.value != .init() }
    entities = entities.filter { $0.value != .init() }
  }

  /// An object that was counted as unchanged got a link in the end.
  private func recount(_ kept: Int) {
    guard let name = keptPlan?.entities[kept / 4].name else { return }
    recountUnchanged(of: name, isTop: kept % 4 == 2)
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
        target.attributeSlot(named: name).map { (name, target.attributes[$0].column) }
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
}
