/// Values of Swift types in a context: read with `query`, written at once with `save` and `delete`.
extension ManagedObjectContext {
  /// The values of the objects that satisfy a condition, as this context sees them.
  ///
  ///     let people = try context.query(Person.self, \.city == "Paris", sort: [.ascending(\.lastName)])
  ///
  /// Runs one `SELECT` of the type's columns and unboxes straight from its rows, without objects;
  /// nested values take one more statement for 500 owners. Where unsaved changes concern the answer,
  /// it is unboxed from the objects.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - filter: The condition; nil: all objects.
  ///   - sort: The order; objects that tie come in the order of their ids.
  ///   - limit: How many at most.
  ///   - offset: How many to leave out at the beginning.
  /// - Returns: The values.
  /// - Throws: `ValueError`, also where one row does not fit its type; `StoreError`; `ContextError`.
  public func query<Value: EntityValue>(
    _ type: Value.Type = Value.self,
    _ filter: ValueFilter<Value>? = nil,
    sort: [ValueSort<Value>] = [],
    limit: Int? = nil,
    offset: Int = 0
  ) throws -> [Value] {
    try values(try request(filter, sort, limit, offset))
  }

  /// The number of objects that satisfy a condition.
  ///
  /// - Throws: `ValueError`, `StoreError`, `ContextError`.
  public func count<Value: EntityValue>(
    _ type: Value.Type,
    _ filter: ValueFilter<Value>? = nil
  ) throws -> Int {
    try count(try request(filter, [], nil, 0))
  }

  /// The value of an object; nil where there is none.
  ///
  /// - Throws: `ValueError`, `StoreError`, `ContextError`.
  public func value<Value: EntityValue>(
    _ type: Value.Type = Value.self,
    with id: ObjectID
  ) throws -> Value? {
    _ = try binding(type).key(id)
    guard let object = try existingObject(with: id) else { return nil }
    return try ObjectValues(self).value(type, of: object)
  }

  /// The value that a reference leads to; nil where its object is gone.
  ///
  /// - Throws: `ValueError`, `StoreError`, `ContextError`.
  public func value<Value: EntityValue>(of reference: Ref<Value>) throws -> Value? {
    guard let object = try object(of: reference, binding(Value.self)) else { return nil }
    return try ObjectValues(self).value(Value.self, of: object)
  }

  /// The values of a request for objects of the type's entity.
  package func values<Value: EntityValue>(_ request: FetchRequest) throws -> [Value] {
    try checkOpen()
    let binding = try binding(Value.self)
    guard try isStored(request, binding) else {
      let objects = try fetch(request)
      let source = ObjectValues(self)
      return try objects.map { try source.value(Value.self, of: $0) }
    }
    let resolved = try ResolvedRequest(request, in: layout)
    return try read { try StoredValues(self, $0).values(resolved, binding, limit: request.limit) }
  }

  /// The values of objects, in the order of their ids; those that are gone are left out.
  ///
  /// - Throws: `ValueError`, `StoreError`, `ContextError`.
  public func values<Value: EntityValue>(
    _ type: Value.Type = Value.self,
    with ids: [ObjectID]
  ) throws -> [Value] {
    try checkOpen()
    let binding = try binding(type)
    let keys = try ids.map { id throws(ValueError) in try binding.key(id) }
    if hasChanges(inAny: Set(layout.tables.indices)) {
      let source = ObjectValues(self)
      let objects = try self.objects(with: ids)
      return try withExtendedLifetime(objects) {
        try keys.compactMap { try source.nested(type, $0) }
      }
    }
    return try read { try StoredValues(self, $0).values(keys) }
  }

  func request<Value: EntityValue>(
    _ filter: ValueFilter<Value>?,
    _ sort: [ValueSort<Value>],
    _ limit: Int?,
    _ offset: Int
  ) throws -> FetchRequest {
    try FetchRequest(Value.self, filter, sort, limit, offset)
  }

  /// Whether nothing unsaved concerns the answer.
  private func isStored(_ request: FetchRequest, _ binding: ValueBinding) throws -> Bool {
    guard request.includesPendingChanges else { return true }
    let isPlain =
      !binding.needsLinks && request.sortKeys.allSatisfy { binding.isAttribute($0.name) }
      && request.filter?.looksFurther(than: binding.isAttribute) != true
    return !hasChanges(
      inAny: isPlain ? [binding.entity.tableIndex] : Set(layout.tables.indices)
    )
  }
}

extension FetchRequest {
  /// The request for the objects of a type's entity.
  ///
  /// - Throws: `ValueError.range` where the filter compares with what cannot be stored.
  init<Value: EntityValue>(
    _ type: Value.Type,
    _ filter: ValueFilter<Value>?,
    _ sort: [ValueSort<Value>],
    _ limit: Int?,
    _ offset: Int = 0
  ) throws(ValueError) {
    if let fault = filter?.fault {
      throw ValueError(
        .range,
        "The filter compares with a value that no object can have: \(fault).",
        entity: Value.schema.name
      )
    }
    self.init(
      Value.schema.name,
      filter: filter?.filter,
      sortKeys: sort.map(\.key),
      limit: limit,
      offset: offset
    )
  }
}

extension ValueBinding {
  /// Whether a name of a request is an attribute, and no path through relationships.
  fileprivate func isAttribute(_ name: String) -> Bool { entity.attributeSlot(named: name) != nil }
}
