import DragomanGraph

extension DraftWalker {
  /// A to-one of a draft that is a column of its row.
  struct Single {
    /// The column, of those of the target.
    let column: Int
    /// The draft's link.
    let link: Int
    /// The object that is nested in it.
    let key: Int64?
  }

  /// Writes an object, what is nested in it, and stages its links.
  ///
  /// Targets of to-ones come before their owner, whose row refers to them; objects of to-manies
  /// come after it, because they refer to it.
  func write(
    _ object: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan,
    under parent: Parent?,
    isNested: Bool = false
  ) throws -> WrittenPlace {
    let draft = batch.objects[object]
    let target = try target(of: draft.plan, in: plan, isNested: isNested)
    if let key = try keyOfKept(object, target, in: batch, plan, under: parent) {
      guard isNested else { throw RecordStop.skipped }
      try see(object, at: key, isNested: true, in: batch, plan)
      if keepsGiven { given.append(ObjectPlace(target.plan.layout.root, key)) }
      return WrittenPlace(key: key, standing: .unlinked, formerParent: nil)
    }
    let firstSingle = singles.count
    defer { singles.removeLast(singles.count - firstSingle) }
    for index in draft.links {
      let link = batch.links[index]
      guard let column = target.columnOfLink[link.slot] else { continue }
      var key: Int64?
      if let first = link.targets.first, case .object(let nested) = batch.targets[first] {
        key = try write(nested, in: batch, plan, under: nil, isNested: true).key
      }
      singles.append(Single(column: column, link: index, key: key))
    }
    try storeClaims(
      before: object,
      singlesFrom: firstSingle,
      target,
      in: batch,
      plan,
      under: parent
    )
    compose(draft, singlesFrom: firstSingle, target, in: batch, under: parent)
    if let missing = target.identity.first(where: { !isGiven($0) }) {
      throw RecordStop.keyless(object: object, relationship: missing.relationship)
    }
    try storeBeforeKeyChange(target, in: batch)
    let outcome = try row.withUnsafeBufferPointer {
      try target.writer.write($0, arena: Self.arena(of: batch), reserved: reservedKey(of: object))
    }
    switch outcome {
    case .skipped where !isNested: throw RecordStop.skipped
    case .inserted, .updated, .unchanged, .skipped: break
    default: throw RecordStop.refused(object: object, outcome)
    }
    guard let key = target.writer.key else { throw Self.lostMemory }
    try backend.see(key, of: target.plan.layout)
    let isTold = isNested || target.isShared
    if isTold, outcome == .updated || (outcome == .inserted && target.isShared) {
      noteContradictions(object, key, outcome, isNested: isNested, target, in: batch)
    }
    let (standing, formerParent) = standing(under: parent, outcome, target)
    let number = tally.written.count
    if outcome != .skipped {
      tally.written.append(
        Written(
          plan: draft.plan,
          outcome: outcome,
          isRaised: outcome != .unchanged,
          isTop: !isNested,
          flushCount: flushCount,
          object: object,
          record: recordNumber,
          issuePlace: issuePlace
        )
      )
      if let parent, formerParent != nil {
        try noteContradiction(of: parent.link, key, number, isReplaced: true, in: batch, plan)
      }
      try noteSingles(from: firstSingle, of: key, number, target, in: batch, plan)
      try writeMany(draft, number, key, target, in: batch, plan)
      if try !backend.didWrite(object, key: key, target.plan, in: batch) {
        tally.written[number].outcome = .deleted
        tally.count(deleted: 1, of: target.plan.name)
      }
    } else {
      try see(object, at: key, isNested: true, in: batch, plan)
    }
    if keepsGiven { given.append(ObjectPlace(target.plan.layout.root, key)) }
    return WrittenPlace(key: key, standing: standing, formerParent: formerParent)
  }

  /// Puts the values of an object and of its to-ones, those of `singles` from a place on, into the row.
  func compose(
    _ draft: DraftBatch.Object,
    singlesFrom first: Int,
    _ target: Target,
    in batch: DraftBatch,
    under parent: Parent?
  ) {
    row.removeAll(keepingCapacity: true)
    row.append(contentsOf: batch.values[draft.start..<draft.start + target.plan.slots.count])
    for _ in row.count..<max(row.count, target.width) { row.append(.absent) }
    for single in singles[first...] {
      let column = target.columns[single.column]
      if let parent, hasSameBytes(column.name, parent.column) { continue }
      guard let first = batch.links[single.link].targets.first else {
        row[column.slot] = .null
        continue
      }
      switch batch.targets[first] {
      case .object: row[column.slot] = single.key.map { .integer($0) } ?? .null
      case .key(let start, _):
        for (part, slot) in column.key.enumerated() { row[slot] = batch.values[start + part] }
      }
    }
    guard let parent else { return }
    if let slot = target.slot(ofColumn: parent.column) { row[slot] = .integer(parent.key) }
    if let order = parent.order, let slot = target.slot(ofColumn: order.column) {
      row[slot] = .integer(Int64(order.place))
    }
  }

  /// Whether the row says which target a to-one leads to.
  private func isGiven(_ column: LinkColumn) -> Bool {
    func isThere(_ slot: Int) -> Bool { row[slot].kind != .absent && row[slot].kind != .null }
    return isThere(column.slot) || column.key.contains(where: isThere)
  }

  /// Puts the values of an object into the row, and the to-ones: of those that are nested, the ones that
  /// may be of its key are looked up.
  func composeKey(
    _ object: Int,
    _ target: Target,
    in batch: DraftBatch,
    _ plan: ImportPlan,
    under parent: Parent?
  ) throws {
    let draft = batch.objects[object]
    let firstSingle = singles.count
    defer { singles.removeLast(singles.count - firstSingle) }
    for index in draft.links {
      let link = batch.links[index]
      guard let column = target.columnOfLink[link.slot] else { continue }
      var key: Int64?
      if target.columns[column].isIdentity, let first = link.targets.first,
        case .object(let nested) = batch.targets[first]
      {
        let other = try self.target(of: batch.objects[nested].plan, in: plan, isNested: true)
        _ = try find(nested, other, in: batch, plan, under: nil)
        key = other.writer.key
      }
      singles.append(Single(column: column, link: index, key: key))
    }
    compose(draft, singlesFrom: firstSingle, target, in: batch, under: parent)
  }

  /// The object of a record that leaves it alone, and so has nothing in it looked at; nil where the row itself finds that
  /// out, before anything else is.
  private func keyOfKept(
    _ object: Int,
    _ target: Target,
    in batch: DraftBatch,
    _ plan: ImportPlan,
    under parent: Parent?
  ) throws -> Int64? {
    guard target.mayKeep else { return nil }
    let hasNested = batch.objects[object].links.contains { index in
      let link = batch.links[index]
      guard target.columnOfLink[link.slot] != nil, let first = link.targets.first,
        case .object = batch.targets[first]
      else { return false }
      return true
    }
    guard hasNested else { return nil }
    let isKept = try withKey(of: object, target, in: batch, plan, under: parent) {
      try target.writer.keeps($0, arena: $1)
    }
    return isKept ? target.writer.key : nil
  }

  /// How the object of the row just written stands with its parent, and the other one that it had.
  private func standing(
    under parent: Parent?,
    _ outcome: EntityWriter.Outcome,
    _ target: Target
  ) -> (LinkStage.Standing, formerParent: Int64?) {
    guard let parent, outcome != .skipped else { return (.unlinked, nil) }
    if outcome == .inserted { return (parent.order == nil ? .linkedNow : .made, nil) }
    let former = target.previous(parent.column)
    return former == parent.key ? (.linked, nil) : (.linkedNow, former)
  }

  /// To-ones are in the row; what is left is what nobody has yet, and what was there before.
  private func noteSingles(
    from first: Int,
    of key: Int64,
    _ number: Int,
    _ target: Target,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws {
    let isNew = tally.written[number].outcome == .inserted
    for single in singles[first...] {
      let column = target.columns[single.column]
      let link = batch.links[single.link]
      let linkPlan = target.plan.links[link.slot]
      let stage = target.stages[link.slot]
      var targetKey = single.key
      if !isNew, let stage { try stage.forgetTarget(of: key) }
      if let first = link.targets.first, case .key(let start, let node) = batch.targets[first] {
        targetKey = target.writer.target(column.number)
        if targetKey == nil {
          if column.isIdentity { throw RecordStop.waits }
          try batch.values.withUnsafeBufferPointer { values in
            let arena = try Self.arena(of: batch)
            try stage?.wait(
              key,
              key: UnsafeBufferPointer(rebasing: values[start..<start + column.key.count]),
              arena: arena,
              at: place(of: reference(at: node), in: batch)
            )
          }
          tally.waits.append(Wait(owner: ObjectPlace(target.plan.layout.root, key), number: number))
        }
      }
      let former = isNew ? nil : target.writer.previous(column.number)
      if targetKey != former {
        tally.countLinks(
          of: target.linkNumbers[link.slot],
          linked: targetKey == nil ? 0 : 1,
          unlinked: former == nil ? 0 : 1
        )
        if targetKey != nil, !isNew {
          try noteContradiction(
            of: linkPlan.layout,
            key,
            number,
            isReplaced: former != nil,
            in: batch,
            plan
          )
        }
        if linkPlan.deletesUnlinked, let former {
          unlinked.append((former, backend.layout.entities[linkPlan.layout.destination]))
        }
      }
      if keepsGiven, let targetKey { note(given: targetKey, by: linkPlan.layout) }
      if column.isExclusive, let stage, let targetKey {
        let wasTaken = try claim(targetKey, for: key, stage, batch)
        // It had the target, and would have lost it had the earlier record's links been stored.
        if wasTaken, targetKey == former {
          tally.countLinks(of: target.linkNumbers[link.slot], linked: 1, unlinked: 1)
          if tally.written[number].outcome == .unchanged {
            tally.written[number].outcome = .updated
          }
        }
      }
    }
  }

  /// Stores who has, by earlier records, the targets that only one object may have, where the object at hand waits for
  /// one of them.
  ///
  /// That is before its row is written: of two rows that have a target, the one that is staged keeps it.
  private func storeClaims(
    before object: Int,
    singlesFrom first: Int,
    _ target: Target,
    in batch: DraftBatch,
    _ plan: ImportPlan,
    under parent: Parent?
  ) throws {
    let claiming = singles[first...].compactMap { single -> Stage? in
      guard target.columns[single.column].isExclusive,
        let stage = target.stages[batch.links[single.link].slot], stage.isWaiting, !stage.isEmpty
      else { return nil }
      return stage
    }
    if claiming.isEmpty { return }
    _ = try find(object, target, in: batch, plan, under: parent)
    guard let key = target.writer.key else { return }
    for stage in claiming where try stage.waits(key) {
      guard mayFlush else { throw RecordStop.full }
      try flush(stage, batch)
    }
  }

  /// Takes a target, which only one object may have, from who has it; the row has it already.
  ///
  /// - Returns: Whether another object has claimed it in between.
  private func claim(
    _ target: Int64,
    for owner: Int64,
    _ stage: Stage,
    _ batch: DraftBatch
  ) throws -> Bool {
    if stage.isClaimed(target, by: owner) { return false }
    let isClaimed = stage.holds(target)
    guard !isClaimed || mayFlush else { throw RecordStop.full }
    let list = CollectionOfOne(LinkStage.Listed.object(owner))
    try stage.begin(target, isNew: true, number: -1, list: list)
    staged.append((stage, target))
    try stage.add(owner, position: 0, target: target, .unlinked)
    // Who had it by an earlier record loses it now: it may claim it again.
    if isClaimed || !Backend.isBulk { try flush(stage, batch) }
    return isClaimed
  }

  /// Takes note of an object that the record at hand has.
  func note(given key: Int64, by link: RelationshipLayout) {
    given.append(ObjectPlace(backend.layout.entities[link.destination].root, key))
  }

  /// Deletes what the record unlinked (`onUnlink: delete`), unless the record itself has it elsewhere in the end.
  ///
  /// Links to it that earlier records gave are stored first, and go with it.
  func deleteUnlinked(by object: ObjectPlace, _ batch: DraftBatch) throws {
    for stage in stages.own where !stage.isEmpty { try flush(stage, batch) }
    if unlinked.isEmpty { return }
    if stages.all.contains(where: { !$0.isEmpty }) {
      guard mayFlush else { throw RecordStop.full }
      try flushStages(batch)
    }
    let places = Set(unlinked.map { ObjectPlace($0.entity.root, $0.key) })
    let kept = try kept(among: places, by: object, batch)
    unlinked.removeAll { kept.contains(ObjectPlace($0.entity.root, $0.key)) }
    try drop(unlinked)
  }

  /// Which of the objects that the record unlinked stay: its own one, and who is linked to what it has and keeps.
  private func kept(
    among unlinked: Set<ObjectPlace>,
    by object: ObjectPlace,
    _ batch: DraftBatch
  ) throws -> Set<ObjectPlace> {
    let given = Set(given)
    var kept = unlinked.intersection([object])
    var undecided = unlinked.intersection(given).subtracting(kept)
    if undecided.isEmpty { return kept }
    let links = Set((batch.plan?.entities ?? []).flatMap { $0.links.map(\.layout) })
    var owners = given.subtracting(undecided)
    while !owners.isEmpty, !undecided.isEmpty {
      owners = try backend.targets(of: owners, by: Array(links), among: undecided)
      kept.formUnion(owners)
      undecided.subtract(owners)
    }
    return kept
  }

  /// A reference of the record at hand.
  func reference(at node: UInt32) -> LinkStage.ReferencePlace {
    LinkStage.ReferencePlace(node: node, record: recordNumber, ordinal: ordinal)
  }

  /// Where a reference stands.
  func place(of reference: LinkStage.ReferencePlace, in batch: DraftBatch) -> WaitingPlace {
    for kept in [held, settling] {
      guard let kept, kept.owns(batch) else { continue }
      let record = kept.taken[reference.record]
      return WaitingPlace(record.place(of: reference.node), ordinal: record.ordinal)
    }
    let start = batch.records.nodes[Int(reference.node)].origin
    let origin = batch.records.origin(at: start, record: reference.record)
    return WaitingPlace(origin, ordinal: reference.ordinal)
  }
}

extension WaitingPlace {
  init(_ origin: Origin, ordinal: Int) {
    self.init(
      file: origin.file,
      line: origin.line,
      column: origin.column,
      byte: origin.byte,
      record: origin.record ?? 0,
      ordinal: ordinal
    )
  }

  /// The place as issues have it.
  var origin: Origin {
    Origin(file: file, line: line, column: column, byte: byte, record: record > 0 ? record : nil)
  }
}
