import DragomanGraph

/// Records that are to be rejected if their targets do not come (`onUnresolved: reject`), and
/// records whose identity contains a to-one that is not there yet.
extension DraftWalker {
  /// Whether a record must wait: a target that it needs is not there, or an earlier record about the
  /// same objects waits.
  func mustHold(
    _ object: Int,
    isTombstone: Bool = false,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws -> Bool {
    if !held.isEmpty, held.concerns(keys(of: object, isTombstone: isTombstone, in: batch, plan)) {
      return true
    }
    guard plan.needsTargets, !isTombstone else { return false }
    let missing = try needs(of: object, in: batch, plan, all: false).filter { try !isStored($0) }
    if missing.isEmpty { return false }
    let made = keys(of: object, isTombstone: false, in: batch, plan).made
    return !missing.allSatisfy { need in
      made.contains { $0.key == need.key && need.entity.family.contains($0.entity) }
    }
  }

  /// Keeps a record until the end.
  ///
  /// It counts as read when it is known what becomes of it.
  func hold(
    _ object: Int,
    isTombstone: Bool = false,
    record index: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws {
    let record = batch.records.records[index]
    try backend.keep(held: ordinal)
    let made = HeldRecords.Record(
      batch: batch,
      object: object,
      isTombstone: isTombstone,
      origin: batch.records.origin(at: record.start, record: record.number),
      ordinal: ordinal,
      reject: rejects == nil ? nil : RejectedRecord(record, in: batch),
      keys: keys(of: object, isTombstone: isTombstone, in: batch, plan),
      needs: isTombstone ? [] : needs(of: object, in: batch, plan, all: true)
    )
    // Hooks are given the records.
    held.add(made, plan, keepsRecord: !Backend.isBulk)
    counts.read -= 1
  }

  /// Writes the held records whose targets came, and rejects the rest.
  ///
  /// Records may need each other: the largest set is written in which nobody needs anyone who is
  /// neither stored nor in it.
  func applyHeld(unless cancellation: Cancellation?) throws {
    let records = held.takeAll()
    guard !records.isEmpty else { return }
    let failed = try failures(among: records)
    // What was to be made, and was not after all.
    var lost: Set<HeldRecords.Key> = []
    var last: DraftBatch?
    for number in HeldOrder(records, without: { failed[$0] != nil }).numbers() {
      if cancellation?.isCancelled == true { throw CancellationError() }
      let record = records[number]
      guard let plan = record.batch.plan else { continue }
      if let last, last !== record.batch { try leave(last) }
      last = record.batch
      try prepare(for: plan)
      counts.read += 1
      ordinal = record.ordinal
      // References that wait know their record by its place among those that are held.
      recordNumber = number
      let missing =
        try failed[number]
        ?? record.needs.first { try lost.contains($0.key) && !isStored($0) }
      var isWritten = false
      if let missing {
        try reject(unresolved(missing, record, plan), held: record)
      } else {
        isWritten = try writeHeld(record, plan)
      }
      for (key, _) in record.keys.made {
        if isWritten { lost.remove(key) } else { lost.insert(key) }
      }
      if record.isTombstone, let key = record.keys.own { lost.insert(key) }
    }
    if let last { try leave(last) }
  }

  /// Stores what the records of a batch staged, and counts it.
  private func leave(_ batch: DraftBatch) throws {
    try flushAll(batch)
    if let plan = batch.plan { try tally(plan) }
  }

  /// The held records that are to be rejected, with what each of them lacks.
  ///
  /// Each need is looked at once, and once more when the last record fails that would make its target:
  /// a chain of records takes as long as the same records without one.
  private func failures(among records: [HeldRecords.Record]) throws -> [Int: HeldRecords.Need] {
    // By key, how many records make an object of which entity, and which records need one.
    var makers: [HeldRecords.Key: [Int: Int]] = [:]
    var needing: [HeldRecords.Key: [Int]] = [:]
    for (number, record) in records.enumerated() {
      for (key, entity) in record.keys.made {
        makers[key, default: [:]][entity, default: 0] += 1
      }
      for need in record.needs { needing[need.key, default: []].append(number) }
    }
    // By the target's entity and its key.
    var known: [Int: [HeldRecords.Key: Bool]] = [:]
    func isThere(_ need: HeldRecords.Need) throws -> Bool {
      if let made = makers[need.key],
        made.contains(where: { need.entity.family.contains($0.key) && $0.value > 0 })
      {
        return true
      }
      let stored = try known[need.entity.index]?[need.key] ?? isStored(need)
      known[need.entity.index, default: [:]][need.key] = stored
      return stored
    }
    var failed: [Int: HeldRecords.Need] = [:]
    var next = Array(records.indices.reversed())
    while let number = next.popLast() {
      guard failed[number] == nil,
        let need = try records[number].needs.first(where: { try !isThere($0) })
      else { continue }
      failed[number] = need
      for (key, entity) in records[number].keys.made {
        makers[key]?[entity]? -= 1
        if makers[key]?[entity] == 0 { next += needing[key] ?? [] }
      }
    }
    return failed
  }

  /// Writes a held record.
  ///
  /// - Returns: Whether its objects are there.
  private func writeHeld(_ record: HeldRecords.Record, _ plan: ImportPlan) throws -> Bool {
    try flushCrossed(record.batch)
    do {
      if record.isTombstone {
        try delete(record.object, in: record.batch, plan)
      } else {
        try attempt(record.object, in: record.batch, plan, isUndoable: true)
      }
      return true
    } catch let stop as RecordStop {
      if case .waits = stop, let need = record.needs.first(where: \.isIdentity) {
        try reject(unresolved(need, record, plan), held: record)
        return false
      }
      let issue = try settle(stop, record.object, in: record.batch, plan) { _ in record.origin }
      if let issue { try reject(issue, held: record) }
      return issue == nil
    }
  }

  // MARK: - Needs

  /// The targets that a record needs, nested records included.
  ///
  /// With `all`, those count, too, that are part of an identity: they are needed in the end, but the
  /// row itself finds out.
  private func needs(
    of object: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan,
    all: Bool
  ) -> [HeldRecords.Need] {
    var found: [HeldRecords.Need] = []
    let arena = UnsafeRawBufferPointer(batch.records.arena)
    for index in object..<batch.objects[object].end {
      let draft = batch.objects[index]
      let entity = plan.entities[draft.plan]
      for link in draft.links.map({ batch.links[$0] }) {
        let linkPlan = entity.links[link.slot]
        let isIdentity = all && entity.isIdentity(linkPlan)
        guard linkPlan.onUnresolved == .reject || isIdentity,
          let key = linkPlan.referenceKey(in: plan.model)
        else { continue }
        let target = plan.model.entities[linkPlan.layout.destination]
        for place in link.targets {
          guard case .key(let start, _) = batch.targets[place] else { continue }
          let values = key.indices.map { batch.values[start + $0].stored(in: arena) }
          let text =
            key.isSensitive ? ForeignText.mask : values.map(\.text).joined(separator: ", ")
          found.append(
            HeldRecords.Need(
              key: HeldRecords.Key(target, key.map(\.name), values),
              link: linkPlan.layout,
              text: text,
              entity: target,
              columns: key,
              values: values,
              isIdentity: isIdentity
            )
          )
        }
      }
    }
    return found
  }

  /// Whether a target is stored by now.
  private func isStored(_ need: HeldRecords.Need) throws -> Bool {
    try backend.exists(need.entity, columns: need.columns, values: need.values)
  }

  private func unresolved(
    _ need: HeldRecords.Need,
    _ record: HeldRecords.Record,
    _ plan: ImportPlan
  ) -> ImportIssue {
    let draft = record.batch.objects[record.object]
    let entity = plan.entities[draft.plan]
    let owner = plan.model.entities[need.link.owner].name
    return ImportIssue(
      code: .linkUnresolved,
      entity: entity.name,
      attribute: need.link.name,
      origin: record.origin,
      path: nil,
      value: need.text,
      message: "\(owner).\(need.link.name) names an object that nobody is.",
      tried: [],
      map: nil,
      help: "import the missing object too, or give the relationship another `onUnresolved`",
      key: OutcomeIssue.key(of: record.batch, start: draft.start, entity),
      isReject: true
    )
  }

  // MARK: - Keys

  /// The keys of the objects that a record speaks of.
  private func keys(
    of object: Int,
    isTombstone: Bool,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) -> HeldRecords.Keys {
    var keys = HeldRecords.Keys()
    for index in object..<(isTombstone ? object + 1 : batch.objects[object].end) {
      let draft = batch.objects[index]
      let entity = plan.entities[draft.plan]
      for (number, unique) in entity.layout.uniqueKeys.enumerated() {
        let values = unique.compactMap { value(of: $0, of: index, in: batch, plan) }
        guard values.count == unique.count else { continue }
        let key = HeldRecords.Key(entity.layout, unique.map(\.name), values)
        if !isTombstone { keys.made.append((key, entity.layout.index)) }
        guard number == 0 else { continue }
        if index == object {
          keys.own = key
        } else if saysMore(than: unique, draft, entity, in: batch) {
          keys.nested.append(key)
        }
      }
    }
    return keys
  }

  /// Whether a draft gives more than the key.
  private func saysMore(
    than key: [EntityLayout.KeyPart],
    _ draft: DraftBatch.Object,
    _ entity: EntityPlan,
    in batch: DraftBatch
  ) -> Bool {
    entity.slots.indices.contains {
      !entity.slots[$0].isKey && batch.values[draft.start + $0].kind != .absent
    } || draft.links.contains { !entity.isIdentity(entity.links[batch.links[$0].slot]) }
  }

  /// The value of a part of a key that a draft gives, as references have it; nil: it gives none.
  private func value(
    of part: EntityLayout.KeyPart,
    of index: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan,
    depth: Int = 0
  ) -> StoredValue? {
    let draft = batch.objects[index]
    let entity = plan.entities[draft.plan]
    let arena = UnsafeRawBufferPointer(batch.records.arena)
    let isNamed = { (name: String) in name.utf8.elementsEqual(part.name.utf8) }
    guard case .relationship = part.property else {
      guard let slot = entity.slots.firstIndex(where: { isNamed($0.attribute.name) }) else {
        return nil
      }
      let value = batch.values[draft.start + slot]
      return value.kind == .absent || value.kind == .null ? nil : value.stored(in: arena)
    }
    /// The identity of another object of the record; a chain that leads back to itself has no end.
    func identity(of other: Int) -> StoredValue? {
      let key = plan.entities[batch.objects[other].plan].layout.uniqueKeys.first
      guard let key, key.count == 1, depth <= plan.entities.count else { return nil }
      return value(of: key[0], of: other, in: batch, plan, depth: depth + 1)
    }
    for link in draft.links.map({ batch.links[$0] }) where isNamed(entity.links[link.slot].name) {
      guard let first = link.targets.first else { return nil }
      switch batch.targets[first] {
      case .object(let nested): return identity(of: nested)
      case .key(let start, _):
        guard entity.links[link.slot].referenceKey(in: plan.model)?.count == 1 else { return nil }
        return batch.values[start].stored(in: arena)
      }
    }
    // It may be the object that this one is nested in.
    guard draft.parent >= 0 else { return nil }
    let parent = batch.objects[draft.parent]
    let isNestedBy = parent.links.map { batch.links[$0] }.contains { link in
      let inverse = plan.entities[parent.plan].links[link.slot].layout.relationship.inverse
      return (inverse.map(isNamed) ?? false)
        && link.targets.contains {
          if case .object(index) = batch.targets[$0] { true } else { false }
        }
    }
    return isNestedBy ? identity(of: draft.parent) : nil
  }
}

extension ImportPlan {
  /// Whether some relationship rejects records whose targets do not come.
  var needsTargets: Bool {
    entities.contains { $0.links.contains { $0.onUnresolved == .reject } }
  }
}

extension EntityPlan {
  /// Whether a to-one is a part of the identity.
  func isIdentity(_ link: LinkPlan) -> Bool {
    layout.uniqueKeys.first?.contains { $0.name.utf8.elementsEqual(link.name.utf8) } ?? false
  }
}
