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
    /// Whether the object is linked to its parent only now.
    let isNewlyLinked: Bool
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
    let isNewlyLinked = parent.map { isNew($0, outcome, target) } ?? false
    let number = written.count
    if outcome != .skipped {
      written.append(Written(plan: draft.plan, outcome: outcome, isTop: !isNested))
      try noteSingles(singles, of: key, outcome, target, in: batch, plan, draft)
      try writeMany(draft, number, key, target, in: batch, plan)
    }
    return Place(key: key, isNewlyLinked: isNewlyLinked)
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

  /// Puts the key of a tombstone into the row.
  func composeTombstone(_ object: Int, _ target: EntityTarget, in batch: DraftBatch) {
    compose(batch.objects[object], [], target, in: batch, under: nil)
  }

  private func writeRow(
    _ target: EntityTarget,
    in batch: DraftBatch
  ) throws -> EntityWriter.Outcome {
    guard let arena = batch.records.arena.baseAddress else { throw Self.lostMemory }
    return try row.withUnsafeBufferPointer { try target.writer.write($0, arena: arena) }
  }

  /// Whether the object was linked to its parent by the row just written.
  private func isNew(
    _ parent: Parent,
    _ outcome: EntityWriter.Outcome,
    _ target: EntityTarget
  ) -> Bool {
    if outcome == .inserted { return true }
    if target.previous(parent.column) != parent.key { return true }
    guard let order = parent.order else { return false }
    return target.previous(order.column) != Int64(order.place)
  }

  /// To-ones are in the row; what is left is what nobody has yet, and what was there before.
  private func noteSingles(
    _ singles: [(column: EntityTarget.Column, link: Int, key: Int64?)],
    of key: Int64,
    _ outcome: EntityWriter.Outcome,
    _ target: EntityTarget,
    in batch: DraftBatch,
    _ plan: ImportPlan,
    _ draft: DraftBatch.Object
  ) throws {
    for (column, index, nested) in singles {
      let link = batch.links[index]
      let linkPlan = target.plan.links[link.slot]
      let stage = target.stages[link.slot]
      var targetKey = nested
      if let first = link.targets.first, case .key(let start, let node) = batch.targets[first] {
        targetKey = target.writer.target(column.number)
        if targetKey == nil {
          if column.isIdentity { throw RecordStop.waits }
          if outcome != .inserted { try stage?.forgetTarget(of: key) }
          try batch.values.withUnsafeBufferPointer { values in
            guard let arena = batch.records.arena.baseAddress else { throw Self.lostMemory }
            try stage?.wait(
              key,
              key: UnsafeBufferPointer(rebasing: values[start..<start + column.key.count]),
              arena: arena,
              at: place(ofNode: node, record: recordNumber, in: batch),
              outcome: outcome == .unchanged ? draft.plan * 4 + (draft.parent < 0 ? 2 : 1) : 0
            )
          }
        } else if outcome != .inserted {
          try stage?.forgetTarget(of: key)
        }
      } else if outcome != .inserted {
        try stage?.forgetTarget(of: key)
      }
      let former = outcome == .inserted ? nil : target.previous(column.name)
      if targetKey != former {
        let name = "\(target.plan.layout.name).\(linkPlan.name)"
        if targetKey != nil { relationships[name, default: .init()].linked += 1 }
        if former != nil { relationships[name, default: .init()].unlinked += 1 }
        if linkPlan.deletesUnlinked, let former {
          unlinked.append((former, plan.model.entities[linkPlan.layout.destination]))
        }
      }
      if column.isExclusive, let stage, let targetKey {
        try begin(stage, owner: targetKey, number: nil, in: batch)
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
      let name = stage.name
      try begin(stage, owner: key, number: number, in: batch)
      for (position, place) in link.targets.enumerated() {
        switch (batch.targets[place], linkPlan.layout.storage) {
        case (.object(let nested), .inverseColumn(let column, let order)):
          let parent = Parent(column: column, key: key, order: order.map { ($0, position) })
          let child = try write(nested, in: batch, plan, under: parent, isNested: true)
          try stage.add(key, position: position, target: child.key)
          if child.isNewlyLinked {
            relationships[name, default: .init()].linked += 1
            if written[number].outcome == .unchanged { written[number].outcome = .updated }
          }
        case (.object(let nested), _):
          let child = try write(nested, in: batch, plan, under: nil, isNested: true)
          try stage.add(key, position: position, target: child.key)
        case (.key(let start, let node), _):
          try batch.values.withUnsafeBufferPointer { values in
            guard let arena = batch.records.arena.baseAddress else { throw Self.lostMemory }
            let count = stage.keyCount
            try stage.add(
              key,
              position: position,
              key: UnsafeBufferPointer(rebasing: values[start..<start + count]),
              arena: arena,
              place: node,
              record: recordNumber
            )
          }
        }
      }
    }
  }

  /// Begins the links of an owner; what an earlier record staged of it is stored first.
  private func begin(
    _ stage: LinkStage,
    owner: Int64,
    number: Int?,
    in batch: DraftBatch
  ) throws {
    if stage.holds(owner) {
      guard mayFlush else { throw RecordStop.full }
      try flush(stage, batch)
    }
    try stage.begin(owner)
    staged.append((stage, owner))
    if let number { stagers[stage.name, default: [:]][owner] = number }
  }

  /// Deletes what the record unlinked (`onUnlink: delete` of a to-one).
  func deleteUnlinked() throws {
    let deleter = try madeDeleter()
    for (key, entity) in unlinked { try deleter.mark(key, of: entity) }
    if let denied = try deleter.delete().denied { throw RecordStop.denied(denied) }
  }

  /// Where a node of the tape stands.
  func place(ofNode node: UInt32, record: Int, in batch: DraftBatch) -> WaitingPlace {
    if let origin = held.origin(of: batch) { return WaitingPlace(origin) }
    let start = batch.records.nodes[Int(node)].origin
    return WaitingPlace(batch.records.origin(at: start, record: record))
  }
}

extension WaitingPlace {
  init(_ origin: Origin) {
    self.init(
      file: origin.file,
      line: origin.line,
      column: origin.column,
      byte: origin.byte,
      record: origin.record ?? 0
    )
  }

  /// The place as issues have it.
  var origin: Origin {
    Origin(file: file, line: line, column: column, byte: byte, record: record > 0 ? record : nil)
  }
}
