import DragomanGraph

/// Why a record is not written: everything it did is undone.
enum RecordStop: Error {
  /// The store refused an object, by its index.
  case refused(object: Int, EntityWriter.Outcome)
  /// The record's object is left alone.
  case skipped
  /// The identity contains a to-one whose target is not there yet.
  case waits
  /// The delete rule `deny` of a relationship protects what the record unlinks.
  case denied(String)
  /// Links of an owner are staged by an earlier record: they are to be stored first.
  case full
}

extension StoreSink {
  /// The relationship that an object is nested by, where its links are a column of the object.
  struct Parent {
    let column: String
    let key: Int64
    let order: (column: String, place: Int)?
  }

  /// What was written of an object.
  struct Place {
    let key: Int64
    /// How it stands with its parent, where its row has the link.
    let standing: LinkStage.Standing
    /// The other object that it was linked to in place of its parent.
    let formerParent: Int64?
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
  ) throws -> Place {
    let draft = batch.objects[object]
    let target = try target(of: draft.plan, in: plan, isNested: isNested)
    var singles: [(column: EntityTarget.Column, link: Int, key: Int64?)] = []
    for index in draft.links {
      let link = batch.links[index]
      guard let column = target.columnOfLink[link.slot].map({ target.columns[$0] }) else {
        continue
      }
      var key: Int64?
      if case .object(let nested)? = link.targets.first.map({ batch.targets[$0] }) {
        key = try write(nested, in: batch, plan, under: nil, isNested: true).key
      }
      singles.append((column, index, key))
    }
    compose(draft, singles, target, in: batch, under: parent)
    let outcome = try writeRow(target, in: batch)
    switch outcome {
    case .skipped where !isNested: throw RecordStop.skipped
    case .inserted, .updated, .unchanged, .skipped: break
    default: throw RecordStop.refused(object: object, outcome)
    }
    guard let key = target.writer.key else { throw Self.lostMemory }
    try see(key, of: target.plan.layout)
    if isNested, outcome == .updated { noteContradictions(object, key, target, in: batch) }
    let (standing, formerParent) = standing(under: parent, outcome, target)
    let number = written.count
    if outcome != .skipped {
      written.append(
        Written(plan: draft.plan, outcome: outcome, isTop: !isNested, flushCount: flushCount)
      )
      try noteSingles(singles, of: key, number, target, in: batch, plan)
      try writeMany(draft, number, key, target, in: batch, plan)
    }
    return Place(key: key, standing: standing, formerParent: formerParent)
  }

  /// A nested record changed an object: if the feed said otherwise before, that is told.
  private func noteContradictions(
    _ object: Int,
    _ key: Int64,
    _ target: EntityTarget,
    in batch: DraftBatch
  ) {
    let draft = batch.objects[object]
    let arena = UnsafeRawBufferPointer(batch.records.arena)
    var changes: [(slot: Int, former: StoredValue, value: StoredValue)] = []
    for (column, former) in target.writer.former {
      guard
        let slot = target.plan.slots.firstIndex(where: {
          $0.attribute.column.utf8.elementsEqual(column.utf8)
        }), batch.values[draft.start + slot].kind != .absent
      else { continue }
      let value = batch.values[draft.start + slot].stored(in: arena)
      if value != former { changes.append((slot, former, value)) }
    }
    // A row may be updated for its links alone, of which nothing was said twice.
    guard !changes.isEmpty else { return }
    let changed = ObjectPlace(target.plan.layout.root, key)
    guard contradictions.change(changed, isNew: key >= target.writer.firstKey) else { return }
    for (slot, former, value) in changes where former != .null && value != .null {
      contradictions.add(target.plan.slots[slot], of: target.plan, former: former, value) {
        (
          place(of: reference(at: draft.node), in: batch).origin,
          self.key(of: batch, start: draft.start, target.plan)
        )
      }
    }
  }

  /// Puts the values of an object and of its to-ones into the row.
  private func compose(
    _ draft: DraftBatch.Object,
    _ singles: [(column: EntityTarget.Column, link: Int, key: Int64?)],
    _ target: EntityTarget,
    in batch: DraftBatch,
    under parent: Parent?
  ) {
    row.removeAll(keepingCapacity: true)
    row.append(contentsOf: batch.values[draft.start..<draft.start + target.plan.slots.count])
    for _ in row.count..<max(row.count, target.width) { row.append(.absent) }
    for (column, index, key) in singles where column.name != parent?.column {
      guard let first = batch.links[index].targets.first else {
        row[column.slot] = .null
        continue
      }
      switch batch.targets[first] {
      case .object: row[column.slot] = key.map { .integer($0) } ?? .null
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

  /// Puts the values of an object into the row, and the references that may be of its key.
  func composeKey(
    _ object: Int,
    _ target: EntityTarget,
    in batch: DraftBatch,
    under parent: Parent?
  ) {
    let draft = batch.objects[object]
    var singles: [(column: EntityTarget.Column, link: Int, key: Int64?)] = []
    for index in draft.links {
      let link = batch.links[index]
      guard let column = target.columnOfLink[link.slot].map({ target.columns[$0] }),
        let first = link.targets.first, case .key = batch.targets[first]
      else { continue }
      singles.append((column, index, nil))
    }
    compose(draft, singles, target, in: batch, under: parent)
  }

  private func writeRow(
    _ target: EntityTarget,
    in batch: DraftBatch
  ) throws -> EntityWriter.Outcome {
    guard let arena = batch.records.arena.baseAddress else { throw Self.lostMemory }
    return try row.withUnsafeBufferPointer { try target.writer.write($0, arena: arena) }
  }

  /// How the object of the row just written stands with its parent, and the other one that it had.
  private func standing(
    under parent: Parent?,
    _ outcome: EntityWriter.Outcome,
    _ target: EntityTarget
  ) -> (LinkStage.Standing, formerParent: Int64?) {
    guard let parent, outcome != .skipped else { return (.unlinked, nil) }
    if outcome == .inserted { return (parent.order == nil ? .linkedNow : .made, nil) }
    let former = target.previous(parent.column)
    return former == parent.key ? (.linked, nil) : (.linkedNow, former)
  }

  /// To-ones are in the row; what is left is what nobody has yet, and what was there before.
  private func noteSingles(
    _ singles: [(column: EntityTarget.Column, link: Int, key: Int64?)],
    of key: Int64,
    _ number: Int,
    _ target: EntityTarget,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws {
    let isNew = written[number].outcome == .inserted
    for (column, index, nested) in singles {
      let link = batch.links[index]
      let linkPlan = target.plan.links[link.slot]
      let stage = target.stages[link.slot]
      var targetKey = nested
      if !isNew { try stage?.forgetTarget(of: key) }
      if let first = link.targets.first, case .key(let start, let node) = batch.targets[first] {
        targetKey = target.writer.target(column.number)
        if targetKey == nil {
          if column.isIdentity { throw RecordStop.waits }
          try batch.values.withUnsafeBufferPointer { values in
            guard let arena = batch.records.arena.baseAddress else { throw Self.lostMemory }
            try stage?.wait(
              key,
              key: UnsafeBufferPointer(rebasing: values[start..<start + column.key.count]),
              arena: arena,
              at: place(of: reference(at: node), in: batch)
            )
          }
          waits.append(Wait(owner: ObjectPlace(target.plan.layout.root, key), number: number))
        }
      }
      let former = isNew ? nil : target.writer.previous(column.number)
      if targetKey != former {
        countLinks(
          of: target.linkNames[link.slot],
          linked: targetKey == nil ? 0 : 1,
          unlinked: former == nil ? 0 : 1
        )
        if linkPlan.deletesUnlinked, let former {
          unlinked.append((former, plan.model.entities[linkPlan.layout.destination]))
        }
      }
      let list = CollectionOfOne(LinkStage.Listed.object(key))
      if column.isExclusive, let stage, let targetKey,
        !stage.holds(list, of: targetKey, { $0 == $1 })
      {
        try begin(stage, owner: targetKey, number: -1, list: list, in: batch)
        try stage.add(key, position: 0, target: targetKey)
      }
    }
  }

  /// Writes what is nested in to-manies, and stages the links.
  private func writeMany(
    _ draft: DraftBatch.Object,
    _ number: Int,
    _ key: Int64,
    _ target: EntityTarget,
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
      // First the objects: the owner may be among them, with a list of its own.
      for (position, place) in link.targets.enumerated() {
        guard case .object(let nested) = batch.targets[place] else { continue }
        var parent: Parent?
        if case .inverseColumn(let column, let order) = linkPlan.layout.storage {
          // What is joined to a list gets its place when the list is stored.
          let place = linkPlan.replaces ? order.map { ($0, position) } : nil
          parent = Parent(column: column, key: key, order: place)
        }
        let child = try write(nested, in: batch, plan, under: parent, isNested: true)
        if let former = child.formerParent, stage.holds(former) {
          // It leaves a list that an earlier record gave, and that is not stored yet.
          guard mayFlush else { throw RecordStop.full }
        }
        listed.append(child)
      }
      try stageMany(link, linkPlan, stage, listed[start...], number, key, in: batch)
    }
  }

  /// Stages the links of one list, given what was written of the objects in it.
  private func stageMany(
    _ link: DraftBatch.Link,
    _ linkPlan: LinkPlan,
    _ stage: LinkStage,
    _ children: ArraySlice<Place>,
    _ number: Int,
    _ key: Int64,
    in batch: DraftBatch
  ) throws {
    let list = listed(link, children, in: batch)
    // An object that many records have in common is linked to the same targets by each of them.
    let isKnown = children.allSatisfy { $0.standing == .linked || stage.isTable }
    if isKnown, stage.holds(list, of: key, { isSame($0, $1, stage.keyCount, in: batch) }) { return }
    let isNew = try begin(stage, owner: key, number: number, list: list, in: batch)
    var isInRow = false
    // Where a list takes nothing away and has no order, the row of an object says its link whole; unless
    // an earlier record has staged another one, which must not come after it.
    if case .inverseColumn(_, nil) = linkPlan.layout.storage {
      isInRow = (isNew || !linkPlan.replaces) && !stage.hasUnlinked
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
        if !isInRow || child.standing == .unlinked {
          try stage.add(key, position: position, target: child.key, child.standing)
        }
        if child.standing == .linkedNow || child.standing == .made {
          countLinks(of: stage.name, linked: 1, unlinked: child.formerParent == nil ? 0 : 1)
          if written[number].outcome == .unchanged { written[number].outcome = .updated }
        }
      case .key(let start, let node):
        try batch.values.withUnsafeBufferPointer { values in
          guard let arena = batch.records.arena.baseAddress else { throw Self.lostMemory }
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
  }

  /// The targets of a link, given what was written of the objects among them.
  private func listed(
    _ link: DraftBatch.Link,
    _ children: ArraySlice<Place>,
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
  private static let longList = 16

  /// Begins the links of an owner; what was staged of it earlier is stored first.
  ///
  /// - Returns: Whether the owner has no links yet.
  @discardableResult
  private func begin(
    _ stage: LinkStage,
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
      || written[number].outcome == .inserted && written[number].flushCount == flushCount
    try stage.begin(owner, isNew: isNew, number: number, list: list)
    staged.append((stage, owner))
    return isNew
  }

  /// Deletes what the record unlinked (`onUnlink: delete` of a to-one).
  ///
  /// Links to it that earlier records gave are stored first, and go with it.
  func deleteUnlinked(_ batch: DraftBatch) throws {
    if allStages.contains(where: { !$0.isEmpty }) {
      guard mayFlush else { throw RecordStop.full }
      try flushAll(batch)
    }
    let deleter = try madeDeleter()
    for (key, entity) in unlinked { try deleter.mark(key, of: entity) }
    if let denied = try deleter.delete().denied { throw RecordStop.denied(denied) }
  }

  /// A reference of the record at hand.
  private func reference(at node: UInt32) -> LinkStage.ReferencePlace {
    LinkStage.ReferencePlace(node: node, record: recordNumber, ordinal: counts.read)
  }

  /// Where a reference stands.
  func place(of reference: LinkStage.ReferencePlace, in batch: DraftBatch) -> WaitingPlace {
    if batch === held.batch {
      let record = held.taken[reference.record]
      return WaitingPlace(record.origin, ordinal: record.ordinal)
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
