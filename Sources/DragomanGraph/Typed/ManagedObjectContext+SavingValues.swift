/// Values of Swift types, written at once: each call is a transaction of its own.
extension ManagedObjectContext {
  /// Saves a value: inserts its object or updates it, in a transaction of its own.
  ///
  /// The object is the one of its `objectID`, else the one with its unique key, else a new one.
  /// Nested values are saved with it; they and the value get their ids. What is unsaved of the same properties in this
  /// context is gone then; what else is stays so, apart from unsaved objects that the value refers to.
  ///
  /// - Parameters:
  ///   - value: The value; unchanged where the save throws.
  ///   - reinserting: Whether a value whose object was deleted makes a new one; otherwise that is an
  ///     error.
  /// - Returns: The id of its object.
  /// - Throws: `ValueError`; `ContextError` `.invalid`, `.duplicate`, `.conflict`, `.denied`;
  ///   `StoreError`. Nothing is written then.
  @discardableResult
  public func save<Value: EntityValue>(
    _ value: inout Value,
    reinserting: Bool = false
  ) throws -> ObjectID {
    var copy = value
    let id = try inChild { child in
      let boxing = ObjectBoxing(child, reinserts: reinserting)
      let object = try boxing.box(&copy)
      try boxing.finish()
      return object.objectID
    }
    value = copy
    return id
  }

  /// Saves a value that does not keep its id.
  ///
  /// - Throws: as `save(_:reinserting:)` of a variable.
  @discardableResult
  public func save<Value: EntityValue>(_ value: Value, reinserting: Bool = false) throws -> ObjectID
  {
    var copy = value
    return try save(&copy, reinserting: reinserting)
  }

  /// Saves values in one transaction: all of them, or none.
  ///
  /// Values with the same unique key are one object; the later one wins. Values of one row each, of
  /// a type without nested values, are written by one prepared statement and make no objects.
  ///
  /// - Throws: as `save(_:reinserting:)`.
  public func saveAll<Value: EntityValue>(
    _ values: inout [Value],
    reinserting: Bool = false
  ) throws {
    guard !values.isEmpty else { return }
    try checkSavable()
    let binding = try binding(Value.self)
    if FlatWriter.takes(values, binding, in: self), try FlatWriter(self, binding).write(&values) {
      return
    }
    var copies = values
    try inChild { child in
      let boxing = ObjectBoxing(child, reinserts: reinserting)
      for start in stride(from: 0, to: copies.count, by: 500) {
        let end = min(start + 500, copies.count)
        let found = try boxing.prepare(copies[start..<end])
        for index in start..<end { try boxing.box(&copies[index]) }
        withExtendedLifetime(found) {}
      }
      try boxing.finish()
    }
    values = copies
  }

  /// Saves values that do not keep their ids, in one transaction.
  ///
  /// - Throws: as `save(_:reinserting:)`.
  public func saveAll<Value: EntityValue>(_ values: [Value], reinserting: Bool = false) throws {
    var copies = values
    try saveAll(&copies, reinserting: reinserting)
  }

  /// The live object of a value, with what the value says as unsaved changes of this context.
  ///
  /// Nothing is written before the context is saved.
  /// - Throws: `ValueError`, `ContextError`, `StoreError`.
  @discardableResult
  public func box<Value: EntityValue>(
    _ value: inout Value,
    reinserting: Bool = false
  ) throws -> Managed<Value> {
    let isOutermost = finder.beginImport()
    defer { if isOutermost { finder.endImport() } }
    let boxing = ObjectBoxing(self, reinserts: reinserting)
    let object = try boxing.box(&value)
    try boxing.finish()
    return try Managed(object)
  }

  // MARK: - Deleting

  /// Deletes the object of a value, with the delete rules of its relationships, in a transaction of
  /// its own.
  ///
  /// - Parameter value: Its id is cleared.
  /// - Returns: Whether there was an object.
  /// - Throws: `ContextError` `.denied` where a delete rule forbids it; `ValueError`; `StoreError`.
  @discardableResult
  public func delete<Value: EntityValue>(_ value: inout Value) throws -> Bool {
    var values = [value]
    let count = try deleteAll(&values)
    value = values[0]
    return count > 0
  }

  /// Deletes the object of a value that does not keep its id.
  ///
  /// - Throws: as `delete(_:)` of a variable.
  @discardableResult
  public func delete<Value: EntityValue>(_ value: Value) throws -> Bool {
    var copy = value
    return try delete(&copy)
  }

  /// Deletes the objects of values, in one transaction.
  ///
  /// - Parameter values: Their ids are cleared.
  /// - Returns: How many objects there were.
  /// - Throws: as `delete(_:)`.
  @discardableResult
  public func deleteAll<Value: EntityValue>(_ values: inout [Value]) throws -> Int {
    let count = try inChild { child in
      let boxing = ObjectBoxing(child, reinserts: true)
      var count = 0
      var found: [ManagedObject] = []
      for start in stride(from: 0, to: values.count, by: 500) {
        let part = values[start..<min(start + 500, values.count)]
        let held = try boxing.prepare(part)
        for value in part {
          if let object = try boxing.find(value) { found.append(object) }
        }
        withExtendedLifetime(held) {}
      }
      for object in found where !object.isDeleted {
        try child.delete(object)
        count += 1
      }
      return count
    }
    for index in values.indices { values[index].storedID = nil }
    return count
  }

  /// Deletes the objects of values that do not keep their ids, in one transaction.
  ///
  /// - Throws: as `delete(_:)`.
  @discardableResult
  public func deleteAll<Value: EntityValue>(_ values: [Value]) throws -> Int {
    var copies = values
    return try deleteAll(&copies)
  }

  /// Deletes the objects that satisfy a condition, in one transaction.
  ///
  /// - Returns: How many objects there were, without those that delete rules took along.
  /// - Throws: as `delete(_:)`.
  @discardableResult
  public func deleteAll<Value: EntityValue>(
    _ type: Value.Type,
    _ filter: ValueFilter<Value>? = nil
  ) throws -> Int {
    let request = try request(filter, [], nil, 0)
    return try inChild { try $0.deleteAll(request) }
  }

  /// Runs a closure with a child of this context, and commits what it changes and nothing else.
  func inChild<Answer>(_ body: (ManagedObjectContext) throws -> Answer) throws -> Answer {
    try checkOpen()
    let child = ManagedObjectContext(.nested, root: root, parent: self)
    child.mergePolicy = mergePolicy
    defer { child.close() }
    _ = child.finder.beginImport()
    defer { child.finder.endImport() }
    let answer = try body(child)
    let changes = child.overlay.changes
    try child.save()
    settling.yield(to: changes)
    return answer
  }
}
