import DragomanGraph

/// Records that are to be rejected if their targets do not come (`onUnresolved: reject`), and
/// records whose identity contains a to-one that is not there yet.
extension DraftWalker {
  /// Whether a record must wait: a target that it needs is not there, or an earlier record about the
  /// same object waits.
  func mustHold(_ object: Int, in batch: DraftBatch, _ plan: ImportPlan) throws -> Bool {
    if held.origin(of: batch) != nil { return false }
    if held.holds(key(of: object, in: batch, plan)) { return true }
    guard plan.needsTargets else { return false }
    return try needs(of: object, in: batch, plan, all: false).contains { try !isStored($0) }
  }

  /// Keeps a record until the end.
  func hold(_ object: Int, record index: Int, in batch: DraftBatch, _ plan: ImportPlan) throws {
    let record = batch.records.records[index]
    let held = HeldRecords.Record(
      object: object,
      origin: batch.records.origin(at: record.start, record: record.number),
      ordinal: counts.read,
      text: rejects?.recordText(record, in: batch.records) ?? [],
      key: key(of: object, in: batch, plan),
      needs: needs(of: object, in: batch, plan, all: true)
    )
    self.held.add(held, of: batch, plan, keepsRecord: !Backend.isBulk)
  }

  /// Writes the held records whose targets came, and rejects the rest.
  ///
  /// Records may need each other: the largest set is written in which nobody needs anyone who is
  /// neither stored nor in it.
  func applyHeld(unless cancellation: Cancellation?) throws {
    if cancellation?.isCancelled == true { throw CancellationError() }
    guard !held.isEmpty, let plan = held.batch.plan else { return }
    let records = held.takeAll()
    let failed = try failures(among: records, plan)
    for (number, record) in records.enumerated() {
      if cancellation?.isCancelled == true { throw CancellationError() }
      held.current = record
      // References that wait know their record by its place among those that are held.
      recordNumber = number
      if let need = failed[number] {
        try reject(unresolved(need, record, plan), heldText: record.text)
      } else {
        try writeHeld(record, plan)
      }
    }
    try flushAll(held.batch)
    tally(plan)
    held.current = nil
  }

  /// The held records that are to be rejected, with what each of them lacks.
  ///
  /// Each need is looked at once, and once more when the last record fails that would make its target:
  /// a chain of records takes as long as the same records without one.
  private func failures(
    among records: [HeldRecords.Record],
    _ plan: ImportPlan
  ) throws -> [Int: HeldRecords.Need] {
    // By key, how many records make an object of which entity, and which records need one.
    var makers: [String: [Int: Int]] = [:]
    var needing: [String: [Int]] = [:]
    func entity(of record: HeldRecords.Record) -> Int {
      plan.entities[held.batch.objects[record.object].plan].layout.index
    }
    for (number, record) in records.enumerated() {
      if let key = record.key { makers[key, default: [:]][entity(of: record), default: 0] += 1 }
      for need in record.needs { needing[need.key, default: []].append(number) }
    }
    // By the target's entity and its key.
    var known: [Int: [String: Bool]] = [:]
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
      guard let key = records[number].key else { continue }
      let entity = entity(of: records[number])
      makers[key]?[entity]? -= 1
      if makers[key]?[entity] == 0 { next += needing[key] ?? [] }
    }
    return failed
  }

  private func writeHeld(_ record: HeldRecords.Record, _ plan: ImportPlan) throws {
    try flushCrossed(held.batch)
    do {
      try attempt(record.object, in: held.batch, plan, isUndoable: true)
    } catch let stop as RecordStop {
      if case .waits = stop, let need = record.needs.first {
        return try reject(unresolved(need, record, plan), heldText: record.text)
      }
      let issue = try settle(stop, record.object, in: held.batch, plan) { _ in record.origin }
      if let issue { try reject(issue, heldText: record.text) }
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
        let isIdentity = entity.layout.uniqueKeys.first?.contains { $0.name == linkPlan.name }
        guard linkPlan.onUnresolved == .reject || (all && isIdentity == true),
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
              key: Self.heldKey(plan.model.entities[target.root].name, key.map(\.name), values),
              relationship: "\(entity.name).\(linkPlan.name)",
              text: text,
              entity: target,
              columns: key,
              values: values
            )
          )
        }
      }
    }
    return found
  }

  private static func heldKey(_ root: String, _ names: [String], _ values: [StoredValue]) -> String
  {
    let parts = zip(names, values).sorted { $0.0 < $1.0 }
    return ([root] + parts.map { "\($0.0)=\($0.1.text)" }).joined(separator: "\u{1F}")
  }

  /// The key of a record's object, as held records have it.
  private func key(of object: Int, in batch: DraftBatch, _ plan: ImportPlan) -> String? {
    let draft = batch.objects[object]
    let entity = plan.entities[draft.plan]
    guard let identity = entity.layout.uniqueKeys.first else { return nil }
    if held.isEmpty && !plan.needsTargets && !entity.hasLinkInIdentity { return nil }
    let arena = UnsafeRawBufferPointer(batch.records.arena)
    var values: [StoredValue] = []
    for part in identity {
      if let slot = entity.slots.firstIndex(where: {
        $0.attribute.name.utf8.elementsEqual(part.name.utf8)
      }) {
        values.append(batch.values[draft.start + slot].stored(in: arena))
      } else if let value = targetKey(of: part.name, draft, entity, in: batch, plan) {
        values.append(value)
      } else {
        return nil
      }
    }
    let root = plan.model.entities[entity.layout.root].name
    return Self.heldKey(root, identity.map(\.name), values)
  }

  /// The key of the target that a draft names by a to-one, where it has one part.
  private func targetKey(
    of name: String,
    _ draft: DraftBatch.Object,
    _ entity: EntityPlan,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) -> StoredValue? {
    let arena = UnsafeRawBufferPointer(batch.records.arena)
    for link in draft.links.map({ batch.links[$0] }) {
      let linkPlan = entity.links[link.slot]
      guard linkPlan.name.utf8.elementsEqual(name.utf8), let first = link.targets.first else {
        continue
      }
      switch batch.targets[first] {
      case .key(let start, _):
        guard linkPlan.referenceKey(in: plan.model)?.count == 1 else { return nil }
        return batch.values[start].stored(in: arena)
      case .object(let nested):
        let target = plan.entities[batch.objects[nested].plan]
        let keys = target.slots.indices.filter { target.slots[$0].isKey }
        guard keys.count == 1, target.layout.uniqueKeys.first?.count == 1 else { return nil }
        return batch.values[batch.objects[nested].start + keys[0]].stored(in: arena)
      }
    }
    return nil
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
    let entity = plan.entities[held.batch.objects[record.object].plan]
    return ImportIssue(
      code: .linkUnresolved,
      entity: entity.name,
      attribute: need.relationship.split(separator: ".").last.map(String.init),
      origin: record.origin,
      path: nil,
      value: need.text,
      message: "\(need.relationship) names an object that nobody is.",
      tried: [],
      map: nil,
      help: "import the missing object too, or give the relationship another `onUnresolved`",
      key: OutcomeIssue.key(
        of: held.batch,
        start: held.batch.objects[record.object].start,
        entity
      ),
      isReject: true
    )
  }
}

extension ImportPlan {
  /// Whether some relationship rejects records whose targets do not come.
  var needsTargets: Bool {
    entities.contains { $0.links.contains { $0.onUnresolved == .reject } }
  }
}

extension EntityPlan {
  /// Whether the identity contains a to-one.
  var hasLinkInIdentity: Bool {
    layout.uniqueKeys.first?.contains {
      if case .relationship = $0.property { true } else { false }
    } ?? false
  }
}
