import DragomanGraph

/// To-manies: what is nested in them, and the lists of their targets.
extension DraftWalker {
  /// Writes what is nested in to-manies, and stages the links.
  func writeMany(
    _ draft: DraftBatch.Object,
    _ number: Int,
    _ key: Int64,
    _ target: Target,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws {
    for index in draft.links {
      let link = batch.links[index]
      guard target.columnOfLink[link.slot] == nil, let stage = target.stages[link.slot] else {
        continue
      }
      let linkPlan = target.plan.links[link.slot]
      let start = listed.count
      defer { listed.removeLast(listed.count - start) }
      // Another list of the owner within the record is stored before objects of this one say otherwise.
      if Backend.isBulk, mayFlush, stage.holds(key),
        link.targets.contains(where: { if case .object = batch.targets[$0] { true } else { false } }
        )
      {
        try flush(stage, batch)
      }
      // First the objects: the owner may be among them, with a list of its own.
      for (position, place) in link.targets.enumerated() {
        guard case .object(let nested) = batch.targets[place] else { continue }
        var parent: Parent?
        if case .inverseColumn(let column, let order) = linkPlan.layout.storage {
          // What is joined to a list gets its place when the list is stored.
          let place = linkPlan.replaces ? order.map { ($0, position) } : nil
          parent = Parent(link: linkPlan.layout, column: column, key: key, order: place)
        }
        var child = try write(nested, in: batch, plan, under: parent, isNested: true)
        if let former = child.formerParent, stage.holds(former) {
          // It leaves a list that is not stored yet: that of an earlier record, or of this one.
          guard mayFlush else { throw RecordStop.full }
          child.isContested = true
          // A list that lacks it has let it go before it went elsewhere.
          if let number = stage.number(of: former, lacking: child.key), number >= 0,
            tally.written[number].outcome == .unchanged
          {
            tally.written[number].outcome = .updated
          }
        }
        listed.append(child)
      }
      try stageMany(link, target, stage, listed[start...], number, key, in: batch)
    }
  }

  /// Stages the links of one list, given what was written of the objects in it.
  private func stageMany(
    _ link: DraftBatch.Link,
    _ target: Target,
    _ stage: Stage,
    _ children: ArraySlice<WrittenPlace>,
    _ number: Int,
    _ key: Int64,
    in batch: DraftBatch
  ) throws {
    let linkPlan = target.plan.links[link.slot]
    let list = listed(link, children, in: batch)
    // An object that many records have in common is linked to the same targets by each of them.
    let isKnown = children.allSatisfy { $0.standing == .linked || stage.isTable }
    if isKnown, stage.holds(list, of: key, { isSame($0, $1, stage.keyCount, in: batch) }) { return }
    // Who comes later takes a target from who is staged, and has it taken in turn.
    let isContested = try isClaimed(link, linkPlan, stage, key, in: batch)
    if isContested {
      guard mayFlush else { throw RecordStop.full }
      try flush(stage, batch)
    }
    let isNew = try begin(stage, owner: key, number: number, list: list, in: batch)
    var isInRow = false
    // Where a list takes nothing away and has no order, the row of an object says its link whole; unless
    // an earlier record has staged another one, which must not come after it.
    if case .inverseColumn(_, nil) = linkPlan.layout.storage {
      isInRow =
        Backend.isBulk && (isNew || !linkPlan.replaces) && !stage.hasUnlinked && !stage.isWaiting
    }
    var listedKeys: Set<Int64>? = children.count > Self.longList ? [] : nil
    var next = children.startIndex
    for (position, place) in link.targets.enumerated() {
      switch batch.targets[place] {
      case .object:
        let child = children[next]
        let isFirst =
          listedKeys?.insert(child.key).inserted
          ?? !children[..<next].contains { $0.key == child.key }
        next += 1
        guard stage.allowsRepeats || isFirst else {
          // The first place counts.
          stage.skipPlace()
          continue
        }
        let isNow = child.standing == .linkedNow || child.standing == .made
        let isRivalled = isContested || child.isContested
        var standing = child.standing
        if isRivalled { standing = isNow ? .contested : .unlinked }
        if !isInRow || isRivalled {
          try stage.add(key, position: position, target: child.key, standing)
        }
        if isNow {
          let unlinked = child.formerParent == nil ? 0 : 1
          tally.countLinks(of: target.linkNumbers[link.slot], linked: 1, unlinked: unlinked)
          if tally.written[number].outcome == .unchanged {
            tally.written[number].outcome = .updated
          }
        }
      case .key(let start, let node):
        try batch.values.withUnsafeBufferPointer { values in
          let arena = try Self.arena(of: batch)
          try stage.add(
            key,
            position: position,
            key: UnsafeBufferPointer(rebasing: values[start..<start + stage.keyCount]),
            arena: arena,
            at: reference(at: node)
          )
        }
      }
    }
    let isInRows = children.contains { $0.standing == .linkedNow || $0.standing == .made }
    if isInRows, linkPlan.replaces, children.count == link.targets.count,
      tally.written[number].outcome == .updated, let plan = batch.plan
    {
      try noteContradiction(
        of: linkPlan.layout,
        key,
        number,
        isReplaced: false,
        in: batch,
        plan
      )
    }
    if !Backend.isBulk { try flush(stage, batch) }
  }

  /// Whether a list has a target, by its key, that a staged list of another owner has, and only one may.
  private func isClaimed(
    _ link: DraftBatch.Link,
    _ linkPlan: LinkPlan,
    _ stage: Stage,
    _ owner: Int64,
    in batch: DraftBatch
  ) throws -> Bool {
    guard Backend.isBulk, case .inverseColumn = linkPlan.layout.storage else { return false }
    let arena = try Self.arena(of: batch)
    return batch.values.withUnsafeBufferPointer { values in
      link.targets.contains { place in
        guard case .key(let start, _) = batch.targets[place] else { return false }
        let key = UnsafeBufferPointer(rebasing: values[start..<start + stage.keyCount])
        return stage.isClaimed(key, arena: arena, byOthersThan: owner)
      }
    }
  }

  /// The targets of a link, given what was written of the objects among them.
  private func listed(
    _ link: DraftBatch.Link,
    _ children: ArraySlice<WrittenPlace>,
    in batch: DraftBatch
  ) -> ContiguousArray<LinkStage.Listed> {
    listOfLink.removeAll(keepingCapacity: true)
    var next = children.startIndex
    for place in link.targets {
      switch batch.targets[place] {
      case .object:
        listOfLink.append(.object(children[next].key))
        next += 1
      case .key(let start, _): listOfLink.append(.key(start))
      }
    }
    return listOfLink
  }

  /// Whether two references have the same values.
  private func isSame(_ first: Int, _ second: Int, _ count: Int, in batch: DraftBatch) -> Bool {
    (0..<count).allSatisfy { part in
      batch.records.isSame(batch.values[first + part], batch.values[second + part])
    }
  }

  /// In longer lists targets are looked up by their hash.
  private static var longList: Int { 16 }

  /// Begins the links of an owner; what was staged of it earlier is stored first.
  ///
  /// - Returns: Whether the owner has no links yet.
  @discardableResult
  func begin(
    _ stage: Stage,
    owner: Int64,
    number: Int,
    list: some Collection<LinkStage.Listed>,
    in batch: DraftBatch
  ) throws -> Bool {
    if stage.holds(owner) {
      guard mayFlush else { throw RecordStop.full }
      try flush(stage, batch)
    }
    let isNew =
      number < 0
      || tally.written[number].outcome == .inserted
        && tally.written[number].flushCount == flushCount
    try stage.begin(owner, isNew: isNew, number: number, list: list)
    staged.append((stage, owner))
    return isNew
  }
}
