import DragomanGraph

/// Counts what records became, while they are imported.
// Only the writing thread calls `see(_:)`, and `entities(_:)` is called when the import has ended.
final class CoverageRecorder: DraftObserver, @unchecked Sendable {
  /// The number of an entity's tally, and the places of its slots there.
  private typealias Place = (tally: Int, columns: [Int])

  private struct State {
    var tallies: [EntityTally] = []
    /// The tallies by the plans of entities, of which each format has its own.
    var places: [ObjectIdentifier: Place] = [:]
    /// The plans, so that none is replaced by another at its address.
    var plans: [EntityPlan] = []
    /// The keys of records by the names of root entities.
    var keys: [String: DistinctTally] = [:]
    var budget = HashBudget()
  }

  /// What is known of one entity.
  fileprivate struct EntityTally {
    var entity: FeedCoverage.Entity
    var values: [ValueTally]
  }

  private static let maximumKeyCount = 5
  private var state = State()

  func see(_ batch: DraftBatch) {
    guard let plan = batch.plan else { return }
    let arena = UnsafeRawBufferPointer(batch.records.arena)
    for (number, draft) in batch.drafts.enumerated() {
      guard case .row(let first) = draft, !batch.refusedRecords.contains(number) else {
        // An entity of whose records none is taken stands in the table, too.
        let source = plan.sources[batch.records.records[number].source]
        _ = Self.place(of: plan.entities[source.plan], &state)
        continue
      }
      for index in first..<max(batch.objects[first].end, first + 1) {
        let object = batch.objects[index]
        let entity = plan.entities[object.plan]
        Self.see(object, entity, batch.values, arena, isRecord: index == first, &state)
      }
    }
  }

  private static func see(
    _ object: DraftBatch.Object,
    _ entity: EntityPlan,
    _ values: ContiguousArray<RowValue>,
    _ arena: UnsafeRawBufferPointer,
    isRecord: Bool,
    _ state: inout State
  ) {
    let (place, columns) = place(of: entity, &state)
    state.tallies[place].entity.objectCount += 1
    var key: UInt64 = 0
    var partCount = 0
    for (index, slot) in entity.slots.enumerated() {
      let value = values[object.start + index]
      let hash = state.tallies[place].values[columns[index]]
        .see(value, in: arena, slot.attribute.type, state.budget)
      guard slot.isKey, hash != 0 else { continue }
      key = HashSet.mixed(key &* 31 &+ hash)
      partCount += 1
    }
    // Objects inside of records repeat by nature, and a key of links is none of values.
    guard isRecord, partCount > 0, partCount == entity.layout.uniqueKeys.first?.count else {
      return
    }
    guard
      state.keys[entity.layout.rootName, default: DistinctTally()]
        .insert(max(key, 1), state.budget)
    else { return }
    state.tallies[place].entity.duplicateCount += 1
    let slots = entity.slots.enumerated().filter { $1.isKey }
    guard state.tallies[place].entity.duplicateKeys.count < maximumKeyCount,
      !slots.contains(where: { $1.attribute.isSensitive })
    else { return }
    let parts = slots.map { index, _ in
      spelled(values[object.start + index].stored(in: arena))
    }
    state.tallies[place].entity.duplicateKeys.append(parts.joined(separator: ", "))
  }

  private static func spelled(_ value: StoredValue) -> String {
    switch value {
    case .null: "null"
    case .integer(let integer): String(integer)
    case .real(let real): String(real)
    case .text(let text): ForeignText.shortened(text)
    case .blob(let bytes): MessageWords.count(bytes.count, "byte")
    }
  }

  /// The place of an entity among the tallies, and of the attributes of its slots there.
  private static func place(of entity: EntityPlan, _ state: inout State) -> Place {
    if let known = state.places[ObjectIdentifier(entity)] { return known }
    let name = entity.name
    var place = state.tallies.firstIndex { hasSameBytes($0.entity.name, name) }
    if place == nil {
      state.tallies.append(EntityTally(entity: FeedCoverage.Entity(name: name), values: []))
      place = state.tallies.count - 1
    }
    let found = place ?? 0
    let columns = entity.slots.map { state.tallies[found].column(of: $0.attribute) }
    state.places[ObjectIdentifier(entity)] = (found, columns)
    state.plans.append(entity)
    return (found, columns)
  }

  /// What was seen, with what the report of the import knows of values that were not taken.
  func entities(_ report: ImportReport) -> [FeedCoverage.Entity] {
    state.tallies.map { tally in
      var entity = tally.entity
      for index in entity.attributes.indices {
        entity.attributes[index].take(tally.values[index])
        let name = entity.attributes[index].attribute.name
        entity.attributes[index].invalidCount = report.issues.reduce(0) { count, group in
          let isOwn =
            hasSameBytes(group.entity, entity.name) && group.code.isOfValue
            && group.attribute.map { hasSameBytes($0, name) } == true
          return isOwn ? count + group.count : count
        }
      }
      return entity
    }
  }
}

extension CoverageRecorder.EntityTally {
  /// The place of an attribute among the values; it is added where it is not among them.
  fileprivate mutating func column(of attribute: Attribute) -> Int {
    if let known = entity.attributes.firstIndex(where: {
      hasSameBytes($0.attribute.name, attribute.name)
    }) {
      return known
    }
    entity.attributes.append(FeedCoverage.Attribute(attribute: attribute))
    values.append(ValueTally())
    return values.count - 1
  }
}

extension FeedCoverage.Attribute {
  fileprivate mutating func take(_ tally: ValueTally) {
    valueCount = tally.valueCount
    nullCount = tally.nullCount
    absentCount = tally.absentCount
    distinctCount = tally.distinct.count
    isDistinctCountExact = tally.distinct.isExact
    guard !attribute.isSensitive, let range = tally.range else { return }
    (smallest, largest) = (range.smallest, range.largest)
  }
}

extension ImportIssue.Code {
  /// Whether a value was there that could not be taken.
  fileprivate var isOfValue: Bool { rawValue.hasPrefix("value.") && self != .required }
}
