/// One object of a context: a live view of one row and of what is unsaved of it.
///
///     let person = try context.insert("Person")
///     person["firstName"] = "Rohan"
///     person[one: "employer"] = company
///     try context.save()
///
/// An object belongs to its context and, with it, to one closure or to the main actor: it is not
/// `Sendable`, so the compiler refuses to let it escape. What can be passed on is its `objectID`.
/// A context has at most one object for a row.
public final class ManagedObject {
  /// Where the object stands between its context and the store.
  enum Status: UInt8 {
    /// As it was read.
    case clean
    /// Made here, not stored yet.
    case inserted
    /// Changed here.
    case updated
    /// Deleted here, still stored.
    case deleted
    /// Made and deleted here, or deleted and saved: it is no object any more.
    case gone
  }

  /// The committed values, or what is known of them.
  enum Content {
    /// Nothing yet; its companions are read together with it.
    case fault(FaultBatch?)
    /// A row.
    case row(RowPlace)
  }

  /// The context.
  public let context: ManagedObjectContext
  /// The row's `_pk`.
  private let key: Int64
  // Objects stay on their context's thread and no access to these runs code of others: Swift's check
  // of exclusive access at run time would cost more than the reading of a value.
  /// The entity as far as it is known: of a fault that a to-one led to, the one it leads to.
  @exclusivity(unchecked) package internal(set) var layout: EntityLayout
  /// What was read.
  @exclusivity(unchecked) var content: Content
  /// Where the object stands.
  @exclusivity(unchecked) var status = Status.clean
  /// `_v` of the row that was read; 0 where there is none.
  @exclusivity(unchecked) var version: Int64 = 0
  /// The stored targets of to-many relationships, by the link's number.
  ///
  /// Only good while `targetsRound` is the round of the context's `linkMemory`.
  var targets: [Int: StoredTargets] = [:]
  var targetsRound: UInt32 = 0

  init(
    _ place: RowKey,
    _ layout: EntityLayout,
    _ content: Content,
    in context: ManagedObjectContext
  ) {
    self.context = context
    key = place.key
    self.layout = layout
    self.content = content
  }

  deinit { context.forget(place, self) }

  // MARK: - Identity

  /// The object's place in the store; a family shares its table.
  package var place: RowKey { RowKey(table: layout.tableIndex, key: key) }

  /// The object's permanent id; it is safe to pass on.
  public var objectID: ObjectID {
    ObjectID(entity: layout.rootName, primaryKey: place.key)
  }

  /// The name of the object's entity.
  ///
  /// Reads the row of a fault whose entity has sub-entities.
  public var entityName: String {
    if case .fault = content, layout.hasEntityColumn { context.tryFire(self) }
    return layout.name
  }

  /// Whether the object's values have not been read yet.
  public var isFault: Bool {
    if case .fault = content { return status != .inserted && status != .gone }
    return false
  }
  /// Whether the object was made in this context and is not stored yet.
  public var isInserted: Bool { status == .inserted }
  /// Whether the object has unsaved changes (of an object that is stored).
  public var isUpdated: Bool { status == .updated }
  /// Whether the object was deleted; it stays so after the save.
  public var isDeleted: Bool { status == .deleted || status == .gone }
  /// Whether there is anything to save.
  public var hasChanges: Bool {
    status == .inserted || status == .updated || status == .deleted
  }

  /// How often the row was written, from 1; 0 for an object that is not stored.
  public var rowVersion: Int64 {
    context.tryFire(self)
    return version
  }

  // MARK: - Attributes

  /// The value of an attribute.
  ///
  /// Reading an object whose row is gone, or a name that the entity does not have, gives null;
  /// setting a value of another type changes nothing. The context records the error and throws it
  /// at the next save or at the end of its closure, every property that refused its value and was not
  /// set again since; `value(of:)` and `setValue(_:of:)` throw at once.
  public subscript(name: String) -> StoredValue {
    get {
      do {
        return try value(of: name)
      } catch {
        context.record(error)
        return lastKnownValue(of: name)
      }
    }
    set {
      context.attempt(name, of: self) { try setValue(newValue, of: name) }
    }
  }

  /// The value of an attribute.
  ///
  /// - Throws: `ContextError`: `.unknownProperty`, `.deleted` (a deleted object whose values were
  ///   never read), `.missing`, `.foreignContext`; `StoreError` where the row cannot be read.
  public func value(of name: String) throws -> StoredValue {
    let column = try layout.attributeColumn(named: name) ?? context.attributeColumn(name, of: self)
    return try value(column)
  }

  /// Sets an attribute.
  ///
  /// The value must be of the attribute's type in its stored form (docs/file.md); a whole number is
  /// taken for a real or a decimal. Limits and patterns are checked when the context is saved.
  /// - Throws: `ContextError`: `.unknownProperty`, `.type`, `.deleted`, `.missing`,
  ///   `.foreignContext`; `StoreError` where the row cannot be read.
  public func setValue(_ value: StoredValue, of name: String) throws {
    let slot = try context.attributeSlot(name, of: self)
    let attribute = layout.attributes[slot]
    guard let admitted = attribute.admitted(value) else {
      throw ContextError(
        .type,
        "\(layout.name).\(attribute.name) is \(attribute.type.withArticle) and cannot be"
          + " \(attribute.isSensitive ? "that value" : value.summary).",
        object: objectID,
        help: attribute.type == .url ? "a url is absolute: https://example.org/a" : nil
      )
    }
    if !context.root.store.holdsNUL, case .text(let text) = admitted, text.utf8.contains(0) {
      throw ContextError(
        .type,
        "\(layout.name).\(attribute.name) cannot hold U+0000: PostgreSQL has no such text.",
        object: objectID,
        help: "take the character out"
      )
    }
    try context.set(admitted, column: layout.attributeColumns[slot], of: self)
  }

  /// All attributes by name.
  public func dictionary() throws -> [String: StoredValue] {
    var values: [String: StoredValue] = [:]
    try context.fire(self)
    for (slot, attribute) in layout.attributes.enumerated() {
      values[attribute.name] = try value(layout.attributeColumns[slot])
    }
    return values
  }

  /// The names of the properties that have unsaved changes.
  public var changedProperties: Set<String> {
    let columns = context.layout.tables[place.table].columns
    var names: Set<String> = []
    if let change = context.own(self) {
      for (column, value) in change.values where change.kind != .inserted || value != .null {
        if case .order = columns[column].kind { continue }
        names.insert(columns[column].property)
      }
    }
    for link in layout.relationships where context.links.hasChangedTargets(of: link, self) {
      names.insert(link.name)
    }
    return names
  }

  /// The attribute's value in the store as it was read, before unsaved changes of this context.
  public func committedValue(of name: String) throws -> StoredValue {
    let column = try context.attributeColumn(name, of: self)
    try context.fire(self)
    return context.changeAbove(place)?.value(column) ?? rowValue(column)
  }

  // MARK: - Values by column

  /// The value of a column, with what is not saved.
  package func value(_ column: Int) throws -> StoredValue {
    if let row = plainRow { return row.stored(column) }
    return try context.value(column, of: self)
  }

  /// The row that was read, where nothing unsaved says otherwise.
  var plainRow: RowPlace? {
    guard status == .clean, !context.hasChangesAbove, case .row(let row) = content else {
      return nil
    }
    return row
  }

  /// What the row has in a column; null without one.
  func rowValue(_ column: Int) -> StoredValue {
    if case .row(let row) = content { return row.stored(column) }
    return .null
  }

  private func lastKnownValue(of name: String) -> StoredValue {
    guard let slot = layout.attributeSlot(named: name) else { return .null }
    let column = layout.attributeColumns[slot]
    if hasChanges, let known = context.own(self)?.value(column) { return known }
    if case .row(let row) = content { return row.stored(column) }
    return layout.attributes[slot].defaultValue ?? .null
  }
}

/// Faults of one table that are read together as soon as one of them is touched.
///
/// A batch is bounded: whoever touches one object waits for the rows of all, and gets them all.
final class FaultBatch {
  /// How many faults are read together, unless a request says otherwise.
  static let size = 500

  /// The `_pk` of the rows.
  let keys: [Int64]

  private init(keys: [Int64]) { self.keys = keys }

  /// Batches of keys, in their order: that of `keys[i]` is the one at `i / size`.
  static func batches(of keys: [Int64], size: Int = FaultBatch.size) -> [FaultBatch] {
    stride(from: 0, to: keys.count, by: size).map { start in
      FaultBatch(keys: Array(keys[start...].prefix(size)))
    }
  }

  /// Makes faults of objects of one table.
  static func assign(to objects: [ManagedObject]) {
    let batches = batches(of: objects.map(\.place.key))
    for (index, object) in objects.enumerated() {
      object.content = .fault(batches[index / size])
    }
  }
}

extension StoredValue {
  /// How messages name a value: its spelling, cut after 40 characters.
  package var summary: String {
    switch self {
    case .null: "null"
    case .integer(let integer): "\(integer)"
    case .real(let real): "\(real)"
    case .text(let text): "\"\(text.prefix(40))\(text.count > 40 ? "…" : "")\""
    case .blob(let bytes): MessageWords.count(bytes.count, "byte")
    }
  }
}
