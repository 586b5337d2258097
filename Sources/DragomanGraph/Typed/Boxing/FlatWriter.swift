/// Writes values that are one row each straight into the store, in one transaction: one prepared
/// statement, no object a value and no `SELECT` a value.
///
/// Only for types without nested values, whose objects are found by their unique key or are new, whose
/// references are ids, and where no context has unsaved changes of the entity; everything else goes
/// through objects. What is stored is the same.
final class FlatWriter {
  private let context: ManagedObjectContext
  private let binding: ValueBinding
  private let buffer: BoxingBuffer
  private let links: FlatLinks
  /// The names of all properties: the writer does not tell which of them it changed.
  private let names: Set<String>
  private var rules: RowRules
  private var flushed = Flushed()

  init(_ context: ManagedObjectContext, _ binding: ValueBinding) {
    self.context = context
    self.binding = binding
    buffer = BoxingBuffer(binding.table.attributes)
    links = FlatLinks(binding, buffer, context)
    names = Set(binding.table.names)
    rules = RowRules(binding)
  }

  /// Whether these values can be written so.
  static func takes<Value: EntityValue>(
    _ values: [Value],
    _ binding: ValueBinding,
    in context: ManagedObjectContext
  ) -> Bool {
    guard binding.isFlat, !binding.entity.entity.isAbstract, context.openSession == nil,
      context.root.store is SQLiteStore,
      !context.hasChanges(inAny: binding.tables),
      // Values of an entity with a key that they lack would always be new.
      binding.entity.uniqueKeys.isEmpty || binding.keySlots != nil
    else { return false }
    return values.allSatisfy { $0.storedID == nil }
  }

  /// Writes the values, and sets their ids.
  ///
  /// - Returns: Whether they are written: not where one of them refers to an object by its key, which
  ///   may be that of another one.
  /// - Throws: `ValueError`; `ContextError` `.invalid`, `.duplicate`, `.denied`; `StoreError`. Nothing
  ///   is written then.
  func write<Value: EntityValue>(_ values: inout [Value]) throws -> Bool {
    var copies = values
    do {
      try store(&copies)
    } catch is FlatTargets.NeedsObjects {
      return false
    } catch let error as ContextError where error.code == .denied {
      try links.check(values, binding)
      throw error
    }
    values = copies
    announce()
    return true
  }

  private func store<Value: EntityValue>(_ copies: inout [Value]) throws {
    let root = context.root
    guard let store = root.store as? SQLiteStore else { return }
    let keepsIDs = Value.self is any PersistentValue.Type
    try store.write { session in
      try session.begin()
      try session.check(context.root.layout)
      guard session.layout.takesRows(of: context.root.layout) else {
        throw FlatTargets.NeedsObjects()
      }
      var rows = EntityStatements(entity: binding.entity, slots: binding.rowSlots, mode: .upsert)
      // Without it the writer does not tell which object it met.
      if keepsIDs { rows.noted = [] }
      if binding.entity.hasStubColumn { rows.completesStubs = .always }
      let writer = try session.writer(for: rows, specializes: false)
      for index in copies.indices {
        buffer.reset()
        var row = BoxingRow(binding.table, attributes: buffer, links: links)
        try copies[index].box(into: &row)
        try rules.check(buffer)
        try note(try writer.write(buffer.row, arena: buffer.base), writer)
        if keepsIDs, let key = writer.key { copies[index].storedID = binding.objectID(key) }
      }
      try rules.throwFaults()
      try root.commit(session)
      if !flushed.tables.isEmpty { root.addNews(flushed, by: context) }
    }
  }

  private func note(_ outcome: EntityWriter.Outcome, _ writer: EntityWriter) throws {
    let table = binding.entity.tableIndex
    switch outcome {
    case .inserted:
      flushed.note(inserted: writer.key.map(binding.objectID), table: table)
    case .updated:
      flushed.note(updated: writer.key.map(binding.objectID), names, table: table)
    case .unchanged: return
    case .duplicate(let columns):
      throw ContextError(
        .duplicate,
        "Another \(binding.entity.name) has the same value of \(columns), which is unique.",
        help: "change the value and save again"
      )
    case .otherEntity(let other):
      throw ContextError.keyOfRelative(other, binding.entity.name, nil)
    case .incomplete(let name):
      throw ContextError(
        .invalid,
        "\(binding.entity.name).\(name) is required, and \(binding.table.entity) of Swift does not have"
          + " it.",
        help: "give the type a property for it, or the attribute a default"
      )
    case .tooLarge:
      throw ContextError(.invalid, "A value of \(binding.entity.name) is larger than SQLite takes.")
    case .holdsNUL(let name):
      throw ContextError(.invalid, "\(binding.entity.name).\(name) holds U+0000.")
    case .hasTooManyDigits(let name):
      throw ContextError(.invalid, "\(binding.entity.name).\(name) has too many digits.")
    case .skipped, .deleted, .deletedAbove, .keyExists: return
    }
  }

  /// Tells the contexts above, main and observers.
  private func announce() {
    guard !flushed.tables.isEmpty else { return }
    var above: ManagedObjectContext? = context
    while let next = above {
      next.refresh(tables: flushed.tables)
      above = next.parent
    }
    context.root.tell()
  }
}

/// Boxes references into the columns of a row.
private final class FlatLinks: LinkBoxing {
  private let buffer: BoxingBuffer
  /// By slot; all rows share them.
  private let targets: [FlatTargets]

  init(_ binding: ValueBinding, _ buffer: BoxingBuffer, _ context: ManagedObjectContext) {
    self.buffer = buffer
    targets = binding.slots.map { _ in FlatTargets(context) }
  }

  override func link<Value: RelationshipValue>(
    _ slot: Int,
    _ value: inout Value,
    keepsIDs: Bool
  ) throws {
    let target = targets[slot]
    target.key = nil
    var links = BoxingLinks(target)
    try value.box(into: &links)
    buffer.set(target.key.map { .integer($0) } ?? .null, slot)
  }

  /// Looks for the reference that leads nowhere, once SQLite has found that there is one.
  ///
  /// - Throws: `ValueError.stale`, naming it.
  func check<Value: EntityValue>(_ values: [Value], _ binding: ValueBinding) throws {
    for target in targets { target.looksUp = true }
    for value in values {
      var row = BoxingRow(binding.table, attributes: nil, links: self)
      var copy = value
      try copy.box(into: &row)
    }
  }
}

/// The target of a to-one.
private final class FlatTargets: LinkTargets {
  /// A target is to be looked up by its key, while the store is being written.
  struct NeedsObjects: Error {}

  var key: Int64?
  /// Whether targets are looked up; else SQLite checks that those are there whose ids are given.
  var looksUp = false
  private let context: ManagedObjectContext
  /// That of the target's type, which is one for all rows.
  private var known: ValueBinding?

  init(_ context: ManagedObjectContext) { self.context = context }

  override func add<Value: EntityValue>(_ reference: Ref<Value>) throws {
    let binding = try known ?? context.binding(Value.self)
    known = binding
    guard looksUp else {
      guard case .id(let id) = reference.address else { throw NeedsObjects() }
      key = try binding.key(id)
      return
    }
    guard let object = try context.object(of: reference, binding) else {
      throw ValueError.dangling(reference, binding)
    }
    key = object.place.key
  }
}

extension ValueBinding {
  /// The tables whose unsaved objects concern a value: its own, and those it refers to.
  fileprivate var tables: Set<Int> {
    var tables: Set<Int> = [entity.tableIndex]
    for case .link(let link) in slots {
      tables.insert(layout.entities[link.layout.destination].tableIndex)
    }
    return tables
  }

  /// What the writer is given: a value a slot.
  fileprivate var rowSlots: [RowSlot] {
    let names = layout.tables[entity.tableIndex].columns.map(\.name)
    return zip(slots, columns).map { slot, column in
      switch slot {
      case .attribute(let attribute, _): RowSlot(attribute)
      case .link(let link):
        RowSlot(
          name: link.layout.name,
          column: names[column],
          kind: .integer,
          order: layout.order(of: link.layout)
        )
      }
    }
  }
}

/// The rules of attributes, held against rows that no object has.
private struct RowRules {
  private let binding: ValueBinding
  private let required: [Int]
  private let limited: [Int]
  private var checks = AttributeChecks()

  init(_ binding: ValueBinding) {
    self.binding = binding
    var required: [Int] = []
    var limited: [Int] = []
    for (slot, property) in binding.slots.enumerated() {
      switch property {
      case .attribute(let attribute, _):
        if attribute.isRequired { required.append(slot) }
        if attribute.isLimited { limited.append(slot) }
      case .link(let link): if link.layout.relationship.isRequired { required.append(slot) }
      }
    }
    self.required = required
    self.limited = limited
  }

  /// Collects what is wrong with a row.
  mutating func check(_ row: BoxingBuffer) throws {
    for slot in required where row.row[slot].kind == .null { add(slot, .null) }
    for slot in limited {
      // What a type leaves out has its default, or stays.
      let kind = row.row[slot].kind
      if kind != .null && kind != .absent { add(slot, row.stored(slot)) }
    }
    if checks.faults.count >= 100 { try throwFaults() }
  }

  private mutating func add(_ slot: Int, _ value: StoredValue) {
    let attribute = binding.table.attributes[slot]
    let owner = AttributeChecks.Owner(
      id: ObjectID(entity: binding.entity.rootName, primaryKey: 0),
      entity: binding.entity.name
    )
    if value == .null, case .link = binding.slots[slot] {
      checks.add(
        owner,
        attribute.name,
        .required,
        "\(binding.entity.name).\(attribute.name) is required and leads nowhere."
      )
    } else {
      checks.check(value, attribute, owner)
    }
  }

  /// Throws what was found, all together.
  func throwFaults() throws {
    guard let first = checks.faults.first else { return }
    throw ContextError(
      .invalid,
      checks.faults.count == 1
        ? first.message
        : "\(first.message) (\(MessageWords.count(checks.faults.count - 1, "more fault")))",
      help: "mend the values and save again; nothing was written",
      faults: checks.faults
    )
  }
}

extension Attribute {
  /// Whether values have rules besides their type.
  fileprivate var isLimited: Bool {
    allowedValues != nil || rules != AttributeRules(scale: rules.scale)
  }
}
