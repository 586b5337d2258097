/// Values of Swift types that stay in step with the store.
extension Stack {
  /// The values of what is stored and satisfies a condition, kept in step.
  ///
  ///     let people = try await stack.results(Person.self, \.city == "Paris", sort: [.ascending(\.name)])
  ///     for try await event in people.events() { … }
  ///     let firstPage = try await people.elements(at: 0..<50)
  ///
  /// Snapshot and differences name ids; `elements(of:)` and `elements(at:)` unbox the values of those
  /// that are looked at, straight from rows: one `SELECT` of the type's columns for 500 of them, and
  /// as many more for each level of nested values. A difference tells of the objects of the type's
  /// own entity: where only a nested value changes, its owner is as it was, and is read anew when its
  /// element is asked for.
  /// - Parameters:
  ///   - type: The type.
  ///   - filter: The condition; nil: all objects.
  ///   - sort: The order; objects that tie come in the order of their ids.
  ///   - limit: How many at most; a limit is one over the whole result.
  ///   - sectionKey: The first sort key's name, if its values are to make sections.
  ///   - interval: How often to look for commits of other processes; nil: never.
  /// - Returns: The results, once they are read.
  /// - Throws: `ValueError` where the type does not describe its entity, or the filter compares with
  ///   what cannot be stored; as `ManagedObjectContext.results(_:sectionedBy:pollingEvery:)`.
  public func results<Value: EntityValue>(
    _ type: Value.Type,
    _ filter: ValueFilter<Value>? = nil,
    sort: [ValueSort<Value>] = [],
    limit: Int? = nil,
    sectionedBy sectionKey: String? = nil,
    pollingEvery interval: Duration? = .seconds(1)
  ) async throws -> StoredResults<Value> {
    let root = root
    let request = try FetchRequest(type, filter, sort, limit)
    _ = try root.valueBindings.binding(type, root.layout)
    let engine = try await engine(request, sectionKey, interval)
    return StoredResults(engine) { try root.values(type, of: $0) }
  }
}

extension RootContext {
  /// The values of what is stored, by ids; those that are gone are left out.
  fileprivate func values<Value: EntityValue>(
    _ type: Value.Type,
    of ids: [ObjectID]
  ) throws -> [ObjectID: Value] {
    let context = ManagedObjectContext(.background, root: self)
    defer { context.close() }
    let binding = try context.binding(type)
    let keys = try ids.map { id throws(ValueError) in try binding.key(id) }
    let values: [Int64: Value] = try context.read {
      try StoredValues(context, $0).valuesByKey(keys)
    }
    return Dictionary(values.map { (binding.objectID($0), $1) }) { first, _ in first }
  }
}
