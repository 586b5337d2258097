import DragomanGraph

/// Makes and changes the objects of one plan, by the rules that `EntityWriter` has in its SQL.
final class ObjectWriter: DraftWriter {
  /// A to-one that is a column, and where a row has it.
  private struct Link {
    let layout: RelationshipLayout
    let column: Int
    /// The value that is the target's primary key.
    let slot: Int
    /// The values that are the parts of the target's key, and its names.
    var key: (slots: [Int], names: [String]) = ([], [])
  }

  private unowned let backend: ObjectBackend
  private let rows: EntityStatements
  /// Whether the rows are of records nested in others.
  private let isNested: Bool
  /// Whether texts with U+0000 can be stored.
  private let holdsNUL: Bool
  private let entity: EntityLayout
  /// The columns of the attributes, which come first in a row.
  private let columns: [Int]
  private var links: [Link] = []
  private let keyColumns: [Int]
  private(set) var key: Int64?
  private(set) var former: [(column: String, value: StoredValue)] = []
  private var formerTargets: [Int64?]
  private var targets: [Int64?]

  init(_ rows: EntityStatements, isNested: Bool, of backend: ObjectBackend) {
    self.backend = backend
    self.rows = rows
    self.isNested = isNested
    holdsNUL = backend.context.records.holdNUL
    entity = rows.entity
    keyColumns = entity.uniqueKeys.first.map(entity.columns) ?? []
    var columns: [Int] = []
    for (slot, row) in rows.slots.enumerated() {
      switch row.kind {
      case .attribute:
        if let place = entity.attributeSlot(named: row.name) {
          columns.append(entity.attributeColumns[place])
        }
      case .integer:
        if let place = entity.linkSlot(named: row.name), let column = entity.linkColumns[place] {
          links.append(Link(layout: entity.relationships[place], column: column, slot: slot))
        }
      case .key(let reference, _):
        links[links.count - 1].key.slots.append(slot)
        links[links.count - 1].key.names = reference.columns.map(\.name)
      case .place: break
      }
    }
    self.columns = columns
    formerTargets = links.map { _ in nil }
    targets = formerTargets
  }

  func previous(_ column: Int) -> Int64? { formerTargets[column] }

  func target(_ number: Int) -> Int64? { targets[number] }

  func isMade(_ key: Int64) -> Bool {
    backend.made.contains(RowKey(table: entity.tableIndex, key: key))
  }

  // MARK: - Writing

  func write(_ row: RowValues, arena: UnsafeRawPointer) throws -> EntityWriter.Outcome {
    if !holdsNUL, let misfit = rows.firstMisfit(in: row, arena) { return misfit }
    try resolve(row, arena)
    guard let found = try holder(of: row, arena) ?? stub(of: row, arena) else {
      if let missing = missing(in: row) { return .incomplete(missing) }
      if let identity = entity.uniqueKeys.first, let values = identityValues(in: row, arena),
        try backend.context.finder.isHeldByDeleted(entity, identity, values)
      {
        return .deletedAbove
      }
      return try insert(row, arena)
    }
    let isGeneral = !entity.family.contains(found.layout.index)
    guard isOfEntity(found) else { return .otherEntity(found.entityName) }
    key = found.place.key
    for (number, link) in links.enumerated() {
      formerTargets[number] = try backend.context.links.targets(of: link.layout, found).first?.place
        .key
    }
    let completes = try completes(found, row)
    switch rows.mode {
    case .ignore where !completes: return .skipped
    case .insert where !completes: return .keyExists
    case .upsert where !completes: break
    case .replace, .ignore, .insert, .upsert:
      if let missing = missing(in: row) { return .incomplete(missing) }
    }
    // The version of a stub is nobody's: a default.
    if !completes, try isOlder(row, arena, than: found) { return .skipped }
    if isGeneral, let missing = missing(in: row, of: found.layout) { return .incomplete(missing) }
    if isGeneral { try specialize(found, row) }
    if completes { backend.context.records.completeStub(found) }
    let isChanged = try update(found, row, arena)
    if let columns = try backend.context.finder.clash(of: found) { return .duplicate(columns) }
    return isChanged || completes || isGeneral ? .updated : .unchanged
  }

  private func insert(_ row: RowValues, _ arena: UnsafeRawPointer) throws -> EntityWriter.Outcome {
    let values = UnsafeBufferPointer(rebasing: row[..<columns.count])
    let object = try backend.context.records.insert(entity, values, columns, arena: arena)
    key = object.place.key
    backend.didMake(object)
    for number in links.indices where targets[number] != nil { try link(object, number) }
    if let columns = try backend.context.finder.clash(of: object) { return .duplicate(columns) }
    return .inserted
  }

  /// Makes an object of a more general entity one of ours: what it did not have gets the default.
  private func specialize(_ object: ManagedObject, _ row: RowValues) throws {
    let known = Set(object.layout.attributeColumns)
    backend.context.records.specialize(object, to: entity)
    for (attribute, column) in zip(entity.attributes, entity.attributeColumns) {
      let given = columns.firstIndex(of: column).map { row[$0].kind != .absent } ?? false
      guard !given, !known.contains(column), let value = attribute.defaultValue else { continue }
      try object.setValue(value, of: attribute.name)
    }
  }

  /// Sets what the row gives; true if anything was another value.
  private func update(
    _ object: ManagedObject,
    _ row: RowValues,
    _ arena: UnsafeRawPointer
  ) throws -> Bool {
    let memory = UnsafeRawBufferPointer(start: arena, count: .max)
    var isChanged = false
    for (slot, column) in columns.enumerated() {
      let value = row[slot]
      if value.kind == .absent {
        guard rows.mode == .replace else { continue }
        if try clear(column, of: object) { isChanged = true }
        continue
      }
      // A record that is applied to a given object need not have its key, and does not take it away.
      if value.kind == .null, keyColumns.contains(column) { continue }
      let before = rows.notesFormer ? try object.value(column) : .null
      guard try backend.context.records.set(value, column, of: object, arena: memory) else {
        continue
      }
      isChanged = true
      if rows.notesFormer { former.append((rows.slots[slot].column, before)) }
    }
    if rows.mode == .replace {
      for column in entity.attributeColumns where !columns.contains(column) {
        if try clear(column, of: object) { isChanged = true }
      }
    }
    for number in links.indices where isGiven(links[number], row) {
      guard
        try targets[number] != formerTargets[number]
          || backend.context.links.isOnlyAbove(links[number].layout, object)
      else { continue }
      try link(object, number)
      isChanged = true
    }
    return isChanged
  }

  /// Gives an attribute that a replacing row lacks its default; true if it was another value.
  private func clear(_ column: Int, of object: ManagedObject) throws -> Bool {
    guard !keyColumns.contains(column), let slot = entity.attributeColumns.firstIndex(of: column)
    else { return false }
    let attribute = entity.attributes[slot]
    let wanted = attribute.defaultValue ?? .null
    guard try object.value(column) != wanted || backend.context.isOnlyAbove(column, of: object)
    else { return false }
    try object.setValue(wanted, of: attribute.name)
    return true
  }

  private func link(_ object: ManagedObject, _ number: Int) throws {
    let link = links[number].layout
    guard let key = targets[number] else {
      return try backend.context.links.assign([], to: link, object)
    }
    let target = try backend.object(key, of: backend.layout.entities[link.destination])
    if let inverse = backend.layout.inverse(of: link), inverse.isToOne,
      try !backend.context.links.targets(of: inverse, target).isEmpty
    {
      backend.moved[link.id, default: 0] += 1
    }
    try backend.context.links.assign([target], to: link, object)
  }

  // MARK: - What a row says

  private func isGiven(_ link: Link, _ row: RowValues) -> Bool {
    row[link.slot].kind != .absent || link.key.slots.contains { row[$0].kind != .absent }
  }

  /// Looks up the targets of the row's to-ones, and forgets the last row.
  private func resolve(_ row: RowValues, _ arena: UnsafeRawPointer) throws {
    key = nil
    if !former.isEmpty { former.removeAll(keepingCapacity: true) }
    guard !links.isEmpty else { return }
    let memory = UnsafeRawBufferPointer(start: arena, count: .max)
    for (number, link) in links.enumerated() {
      formerTargets[number] = nil
      targets[number] = row[link.slot].kind == .integer ? row[link.slot].integer : nil
      guard link.key.slots.contains(where: { row[$0].kind != .absent }) else { continue }
      targets[number] = try backend.find(
        backend.layout.entities[link.layout.destination],
        link.key.names,
        link.key.slots.map { row[$0].stored(in: memory) }
      )?.place.key
    }
  }

  /// The object of the family that has the row's identity; nil: there is none.
  private func holder(of row: RowValues, _ arena: UnsafeRawPointer) throws -> ManagedObject? {
    if let only = backend.only, !isNested { return only }
    guard let identity = entity.uniqueKeys.first, let values = identityValues(in: row, arena) else {
      return nil
    }
    return try backend.context.finder.holder(of: values, of: identity, entity)
  }

  /// The stub that was made of another of the row's keys: nobody knew its identity; nil: there is none.
  private func stub(of row: RowValues, _ arena: UnsafeRawPointer) throws -> ManagedObject? {
    guard rows.completesStubs != .never, identityValues(in: row, arena)?.contains(.null) == false
    else { return nil }
    for key in entity.uniqueKeys.dropFirst() {
      guard let values = values(of: entity.columns(key), in: row, arena), !values.contains(.null),
        let found = try backend.context.finder.holder(of: values, of: key, entity),
        isOfEntity(found), try adopts(found, row, arena),
        try keyColumns.allSatisfy({ try found.value($0) == .null })
      else { continue }
      return found
    }
    return nil
  }

  /// Whether the row gives a stub its identity: it makes it whole, or gives values to one that requires more and stays
  /// a stub.
  private func adopts(
    _ object: ManagedObject,
    _ row: RowValues,
    _ arena: UnsafeRawPointer
  ) throws -> Bool {
    if try completes(object, row) { return true }
    return try backend.context.records.isStub(object)
      && (rows.mode == .upsert || rows.mode == .replace) && missing(in: row) == nil
      && !isOlder(row, arena, than: object)
  }

  /// What a row says of the entity's identity; nil: not all of it.
  private func identityValues(in row: RowValues, _ arena: UnsafeRawPointer) -> [StoredValue]? {
    values(of: keyColumns, in: row, arena)
  }

  private func values(
    of key: [Int],
    in row: RowValues,
    _ arena: UnsafeRawPointer
  ) -> [StoredValue]? {
    let memory = UnsafeRawBufferPointer(start: arena, count: .max)
    var values: [StoredValue] = []
    for column in key {
      if let slot = columns.firstIndex(of: column) {
        values.append(row[slot].kind == .absent ? .null : row[slot].stored(in: memory))
      } else if let number = links.firstIndex(where: { $0.column == column }) {
        values.append(targets[number].map { .integer($0) } ?? .null)
      } else {
        return nil
      }
    }
    return values
  }

  /// A required attribute that the row does not give, that has no default, and that objects of a more general entity
  /// do not have.
  private func missing(in row: RowValues, of general: EntityLayout? = nil) -> String? {
    for (slot, attribute) in entity.attributes.enumerated()
    where attribute.isRequired && attribute.defaultValue == nil {
      if general?.attributeColumns.contains(entity.attributeColumns[slot]) == true { continue }
      let given = columns.firstIndex(of: entity.attributeColumns[slot])
      if given.map({ row[$0].kind == .absent }) ?? true { return attribute.name }
    }
    return nil
  }

  /// Whether the row makes a whole object of a stub.
  private func completes(_ object: ManagedObject, _ row: RowValues) throws -> Bool {
    try rows.completesStubs != .never && backend.context.records.isStub(object)
      && (rows.completesStubs == .always || hasValues(row))
      && !object.layout.requiresMore(than: entity)
  }

  /// Whether the row gives more than the key.
  private func hasValues(_ row: RowValues) -> Bool {
    columns.indices.contains { row[$0].kind != .absent && !keyColumns.contains(columns[$0]) }
      || links.contains { isGiven($0, row) && !keyColumns.contains($0.column) }
  }

  /// Whether the row is older than its object, by the version attribute.
  private func isOlder(
    _ row: RowValues,
    _ arena: UnsafeRawPointer,
    than object: ManagedObject
  ) throws -> Bool {
    guard let version = rows.version, row[version].kind != .absent, row[version].kind != .null,
      case .attribute(let attribute) = rows.slots[version].kind
    else { return false }
    let stored = try object.value(columns[version])
    guard stored != .null else { return false }
    let wanted = row[version].stored(in: UnsafeRawBufferPointer(start: arena, count: .max))
    return attribute.order(wanted, stored) < 0
  }

  /// Whether an object is of the entity, or becomes so.
  private func isOfEntity(_ object: ManagedObject) -> Bool {
    entity.family.contains(object.layout.index) || entity.lineage.contains(object.layout.index)
  }

  func keeps(_ row: RowValues, arena: UnsafeRawPointer) throws -> Bool {
    try resolve(row, arena)
    guard let found = try holder(of: row, arena), isOfEntity(found) else { return false }
    key = found.place.key
    if try completes(found, row) { return false }
    return try rows.mode == .ignore || isOlder(row, arena, than: found)
  }

  // MARK: - Tombstones

  func find(_ row: RowValues, arena: UnsafeRawPointer) throws -> EntityWriter.Outcome {
    try resolve(row, arena)
    guard let found = try holder(of: row, arena), isOfEntity(found) else { return .unchanged }
    key = found.place.key
    return try isOlder(row, arena, than: found) ? .skipped : .deleted
  }

  func delete(_ row: RowValues, arena: UnsafeRawPointer) throws -> EntityWriter.Outcome {
    let outcome = try find(row, arena: arena)
    if outcome == .deleted, let key { _ = try backend.delete([(key, entity)]) }
    return outcome
  }
}
