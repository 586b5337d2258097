import DragomanGraph

extension ContextSink {
  /// The relationship that an object is nested by, where its links are a column of the object.
  struct Parent {
    let link: RelationshipLayout
    let column: Int
    let owner: ManagedObject
  }

  /// Writes an object, what is nested in it, and its links; runs the hook.
  func write(
    _ object: Int,
    in batch: DraftBatch,
    _ plan: ImportPlan,
    under parent: Parent?,
    isNested: Bool
  ) throws -> ManagedObject {
    let draft = batch.objects[object]
    let target = try target(of: plan.entities[draft.plan])
    let upsert = target.plan.overwritesExisting ? EntityWriter.Mode.upsert : .ignore
    let mode = isNested ? upsert : self.mode ?? upsert
    // To-ones first: the identity may contain them.
    let singles = try singleTargets(of: draft, target, in: batch, plan)
    let found = try existing(draft, target, in: batch, under: parent, singles)
    if let found {
      switch mode {
      case .insert: throw Stop.refused(object: object, .keyExists)
      case .ignore where !isNested: throw Stop.skipped(found.place)
      case .ignore: return found
      case .upsert: break
      case .replace:
        if let missing = missing(draft, target, in: batch) {
          throw Stop.refused(object: object, .incomplete(missing))
        }
      }
      if try isOlder(draft, than: found, target, in: batch) {
        if isNested { return found }
        throw Stop.skipped(found.place)
      }
    }
    let number = written.count
    let made: ManagedObject
    if let found {
      made = found
      written.append(Written(made, target, isTop: !isNested, .unchanged))
      if isNested { try noteContradictions(found, draft, target, in: batch) }
      if try update(found, draft, target, in: batch, replaces: mode == .replace) {
        written[number].outcome = .updated
      }
    } else {
      if let other = try relative(draft, target, in: batch, under: parent, singles) {
        throw Stop.refused(object: object, .otherEntity(other.entityName))
      }
      if let missing = missing(draft, target, in: batch) {
        throw Stop.refused(object: object, .incomplete(missing))
      }
      made = try insert(draft, target, in: batch)
      written.append(Written(made, target, isTop: !isNested, .inserted))
    }
    if let parent, try link(parent.owner, to: made, parent), written[number].outcome == .unchanged {
      written[number].outcome = .updated
    }
    let isChanged = try setLinks(of: made, draft, singles, target, in: batch, plan)
    if isChanged, written[number].outcome == .unchanged { written[number].outcome = .updated }
    if let columns = try context.clash(of: made) {
      throw Stop.refused(object: object, .duplicate(columns))
    }
    try runHook(of: target.plan, made, object, draft, in: batch)
    return made
  }

  /// Links a nested object to its owner; true if it was not linked before.
  private func link(
    _ owner: ManagedObject,
    to object: ManagedObject,
    _ parent: Parent
  ) throws -> Bool {
    let former = try object.value(parent.column)
    if former == .integer(owner.place.key) { return false }
    if former != .null { countMoved(1, parent.link) }
    try context.connect(parent.link, owner, object)
    return true
  }

  /// The object that a draft speaks of; nil: there is none yet.
  func existing(
    _ draft: DraftBatch.Object,
    _ target: ContextTarget,
    in batch: DraftBatch,
    under parent: Parent?,
    _ singles: [Single] = []
  ) throws -> ManagedObject? {
    if let only, draft.parent < 0 { return only }
    guard let key = target.entity.uniqueKeys.first,
      let values = identity(draft, target, in: batch, under: parent, singles)
    else { return nil }
    return try context.find(target.entity, key, values)
  }

  /// The object of another branch of the family that has the draft's identity.
  private func relative(
    _ draft: DraftBatch.Object,
    _ target: ContextTarget,
    in batch: DraftBatch,
    under parent: Parent?,
    _ singles: [Single]
  ) throws -> ManagedObject? {
    guard target.entity.root != target.entity.index, let key = target.entity.uniqueKeys.first,
      let values = identity(draft, target, in: batch, under: parent, singles)
    else { return nil }
    return try context.holder(of: values, of: key, target.entity)
  }

  /// The values of a draft's identity; nil where the draft does not give all of it.
  private func identity(
    _ draft: DraftBatch.Object,
    _ target: ContextTarget,
    in batch: DraftBatch,
    under parent: Parent?,
    _ singles: [Single]
  ) -> [StoredValue]? {
    let arena = UnsafeRawBufferPointer(batch.records.arena)
    var values: [StoredValue] = []
    for column in target.keyColumns {
      if let slot = target.columns.firstIndex(of: column) {
        let value = batch.values[draft.start + slot]
        values.append(value.kind == .absent ? .null : value.stored(in: arena))
      } else if let parent, parent.column == column {
        values.append(.integer(parent.owner.place.key))
      } else if let single = singles.first(where: { $0.column == column }) {
        values.append(single.object.map { .integer($0.place.key) } ?? .null)
      } else {
        return nil
      }
    }
    return values
  }

  /// Whether the draft is older than its object, by the version attribute.
  func isOlder(
    _ draft: DraftBatch.Object,
    than object: ManagedObject,
    _ target: ContextTarget,
    in batch: DraftBatch
  ) throws -> Bool {
    guard let version = target.plan.version else { return false }
    let value = batch.values[draft.start + version]
    guard value.kind != .absent, value.kind != .null else { return false }
    let stored = try object.value(target.columns[version])
    guard stored != .null else { return false }
    let wanted = value.stored(in: UnsafeRawBufferPointer(batch.records.arena))
    return target.plan.slots[version].attribute.order(wanted, stored) < 0
  }

  /// A required attribute that the draft does not give and that has no default.
  private func missing(
    _ draft: DraftBatch.Object,
    _ target: ContextTarget,
    in batch: DraftBatch
  ) -> String? {
    for (slot, attribute) in target.entity.attributes.enumerated()
    where attribute.isRequired && attribute.defaultValue == nil {
      let column = target.entity.attributeColumns[slot]
      let given = target.columns.firstIndex(of: column).map {
        batch.values[draft.start + $0].kind != .absent
      }
      if given != true { return attribute.name }
    }
    return nil
  }

  private func insert(
    _ draft: DraftBatch.Object,
    _ target: ContextTarget,
    in batch: DraftBatch
  ) throws -> ManagedObject {
    try batch.values.withUnsafeBufferPointer { values in
      guard let arena = batch.records.arena.baseAddress else {
        throw StoreError(.refused, "A batch has lost its memory.")
      }
      return try context.insert(
        target.entity,
        UnsafeBufferPointer(
          rebasing: values[draft.start..<draft.start + target.columns.count]
        ),
        target.columns,
        arena: arena
      )
    }
  }

  /// A nested record is about to change an object: if the feed said otherwise before, that is told.
  private func noteContradictions(
    _ object: ManagedObject,
    _ draft: DraftBatch.Object,
    _ target: ContextTarget,
    in batch: DraftBatch
  ) throws {
    let arena = UnsafeRawBufferPointer(batch.records.arena)
    var changes: [(slot: Int, former: StoredValue, value: StoredValue)] = []
    for column in target.entity.attributeColumns where !target.keyColumns.contains(column) {
      guard let slot = target.columns.firstIndex(of: column) else { continue }
      let given = batch.values[draft.start + slot]
      guard given.kind != .absent else { continue }
      let former = try object.value(column)
      let value = given.stored(in: arena)
      if former != value { changes.append((slot, former, value)) }
    }
    guard !changes.isEmpty else { return }
    let id = object.objectID
    let isNew = made.contains(id) || written.contains { $0.id == id && $0.outcome == .inserted }
    guard contradictions.change(id, isNew: isNew) else { return }
    for (slot, former, value) in changes where former != .null && value != .null {
      contradictions.add(target.plan.slots[slot], of: target.plan, former: former, value) {
        (
          origin(of: draft.node, in: batch),
          OutcomeIssue.key(of: batch, start: draft.start, target.plan)
        )
      }
    }
  }

  /// Sets what the draft gives; true if anything was another value.
  private func update(
    _ object: ManagedObject,
    _ draft: DraftBatch.Object,
    _ target: ContextTarget,
    in batch: DraftBatch,
    replaces: Bool
  ) throws -> Bool {
    let arena = UnsafeRawBufferPointer(batch.records.arena)
    var isChanged = false
    for (slot, column) in target.columns.enumerated() {
      let value = batch.values[draft.start + slot]
      guard value.kind != .absent else { continue }
      // A record that is applied to a given object need not have its key, and does not take it away.
      if value.kind == .null, target.keyColumns.contains(column) { continue }
      if try context.set(value, column, of: object, arena: arena) { isChanged = true }
    }
    guard replaces else { return isChanged }
    for (slot, attribute) in target.entity.attributes.enumerated() {
      let column = target.entity.attributeColumns[slot]
      let given = target.columns.firstIndex(of: column).map {
        batch.values[draft.start + $0].kind != .absent
      }
      guard given != true, !target.keyColumns.contains(column) else { continue }
      let wanted = attribute.defaultValue ?? .null
      if try object.value(column) != wanted {
        try object.setValue(wanted, of: attribute.name)
        isChanged = true
      }
    }
    return isChanged
  }

  private func runHook(
    of plan: EntityPlan,
    _ object: ManagedObject,
    _ index: Int,
    _ draft: DraftBatch.Object,
    in batch: DraftBatch
  ) throws {
    guard let hook = code.entity(plan.name).postImport else { return }
    do {
      try hook(ForeignRecord(batch.records, draft.node), object)
      try context.throwRecordedError()
    } catch {
      throw Stop.hook(object: index, error)
    }
  }
}
