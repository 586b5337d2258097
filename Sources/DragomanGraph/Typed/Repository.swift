/// The objects of one entity as values, for programs that want no contexts: every operation is
/// asynchronous, throws, and is one transaction.
///
///     let cats = stack.repository(of: Cat.self)
///     let tom = try await cats.save(Cat(name: "Tom", weight: 4.2))
///     try await cats.update(\.name == "Tom") { $0.weight += 0.1 }
///     for try await all in cats.values(sort: [.ascending(\.name)]) { print(all) }
///
/// It works in the background, or on main, where it sees what main has not saved.
public struct Repository<Value: EntityValue>: Sendable {
  /// Where a repository reads and writes.
  public enum Place: Sendable, Hashable {
    /// In temporary contexts, off the main actor.
    case background
    /// In the main context.
    case main
  }

  /// Which objects changed.
  public struct Changes: Sendable, Hashable {
    /// New objects.
    public var inserted: Set<ObjectID> = []
    /// Changed objects.
    public var updated: Set<ObjectID> = []
    /// Deleted objects.
    public var deleted: Set<ObjectID> = []
    /// Whether so much changed, by a bulk import, that the objects are not named.
    public var isEverything = false

    /// Whether nothing changed.
    public var isEmpty: Bool {
      inserted.isEmpty && updated.isEmpty && deleted.isEmpty && !isEverything
    }
  }

  /// The stack.
  public let stack: Stack
  /// Where the repository reads and writes.
  public let place: Place

  /// Makes a repository; `Stack.repository(of:on:)` does the same.
  public init(_ stack: Stack, on place: Place = .background) {
    self.stack = stack
    self.place = place
  }

  // MARK: - Reading

  /// The values of all objects.
  ///
  /// - Throws: `ValueError`, `StoreError`.
  public func fetchAll(sort: [ValueSort<Value>] = []) async throws -> [Value] {
    try await fetch(sort: sort)
  }

  /// The values of the objects that satisfy a condition.
  ///
  /// - Throws: `ValueError`, `StoreError`.
  public func fetch(
    _ filter: ValueFilter<Value>? = nil,
    sort: [ValueSort<Value>] = [],
    limit: Int? = nil,
    offset: Int = 0
  ) async throws -> [Value] {
    try await read { context in
      try context.query(Value.self, filter, sort: sort, limit: limit, offset: offset)
    }
  }

  /// The first value in an order; nil where no object satisfies the condition.
  ///
  /// - Throws: `ValueError`, `StoreError`.
  public func first(
    _ filter: ValueFilter<Value>? = nil,
    sort: [ValueSort<Value>] = []
  ) async throws -> Value? {
    try await fetch(filter, sort: sort, limit: 1).first
  }

  /// The value of an object; nil where there is none.
  ///
  /// - Throws: `ValueError`, `StoreError`.
  public func fetch(_ id: ObjectID) async throws -> Value? {
    try await read { try $0.value(Value.self, with: id) }
  }

  /// The number of objects that satisfy a condition.
  ///
  /// - Throws: `ValueError`, `StoreError`.
  public func count(_ filter: ValueFilter<Value>? = nil) async throws -> Int {
    try await read { try $0.count(Value.self, filter) }
  }

  // MARK: - Writing

  /// Saves a value.
  ///
  /// In the background of two at once the later one wins, whole: it is done again where others have changed the object
  /// meanwhile. What was changed since the value was read is overwritten in any case; `update` keeps it.
  ///
  /// - Returns: The value with its id and the ids of nested values.
  /// - Throws: as `ManagedObjectContext.save`.
  @discardableResult
  public func save(_ value: Value, reinserting: Bool = false) async throws -> Value {
    try await write { context in
      var copy = value
      try context.save(&copy, reinserting: reinserting)
      return copy
    }
  }

  /// Saves values in one transaction: all of them, or none.
  ///
  /// - Returns: The values with their ids.
  /// - Throws: as `ManagedObjectContext.saveAll`.
  @discardableResult
  public func save(_ values: [Value], reinserting: Bool = false) async throws -> [Value] {
    try await write { context in
      var copies = values
      try context.saveAll(&copies, reinserting: reinserting)
      return copies
    }
  }

  /// Changes the values of the objects that satisfy a condition, in one transaction; the objects stay
  /// the same.
  ///
  /// Where others have changed the same properties since they were read, it is done again with what is there
  /// by then: `change` may run several times, and only what it does the last time is kept.
  ///
  /// - Returns: How many there were.
  /// - Throws: What `change` throws, and then nothing is changed; as `ManagedObjectContext.save`.
  @discardableResult
  public func update(
    _ filter: ValueFilter<Value>? = nil,
    _ change: @escaping @Sendable (inout Value) throws -> Void
  ) async throws -> Int {
    try await again { context in
      try context.inChild { child in
        let objects = try child.liveObjects(Value.self, filter)
        for object in objects { try object.update(change) }
        return objects.count
      }
    }
  }

  /// Changes the value of an object; the object stays the same.
  ///
  /// It is done again, as in `update(_:_:)`, where others have changed it meanwhile.
  ///
  /// - Returns: The value after the change.
  /// - Throws: `ValueError.stale` where there is no such object; as `update(_:_:)`.
  @discardableResult
  public func update(
    _ id: ObjectID,
    _ change: @escaping @Sendable (inout Value) throws -> Void
  ) async throws -> Value {
    try await again { context in
      try context.inChild { child in
        guard let object = try child.live(Value.self, with: id) else {
          throw try ValueError.dangling(Ref<Value>(id), child.binding(Value.self))
        }
        try object.update(change)
        return try object.value
      }
    }
  }

  /// Deletes the object of a value.
  ///
  /// - Returns: Whether there was one.
  /// - Throws: as `ManagedObjectContext.delete`.
  @discardableResult
  public func delete(_ value: Value) async throws -> Bool {
    try await delete([value]) > 0
  }

  /// Deletes the objects of values, in one transaction.
  ///
  /// - Returns: How many there were.
  /// - Throws: as `ManagedObjectContext.deleteAll`.
  @discardableResult
  public func delete(_ values: [Value]) async throws -> Int {
    try await write { try $0.deleteAll(values) }
  }

  /// Deletes the objects that satisfy a condition, in one transaction; nil deletes all.
  ///
  /// - Returns: How many there were.
  /// - Throws: as `ManagedObjectContext.deleteAll`.
  @discardableResult
  public func deleteAll(_ filter: ValueFilter<Value>? = nil) async throws -> Int {
    try await write { try $0.deleteAll(Value.self, filter) }
  }

  // MARK: - Observing

  /// What is stored of the entity from now on, by whomever: one element a save or import.
  ///
  /// The sequence ends when the stack is closed or reset.
  public func changes() -> AsyncStream<Changes> {
    changes(of: [stack.rootName(of: Value.schema.name)], .unbounded)
  }

  private func changes(
    of roots: Set<String>,
    _ policy: AsyncStream<Changes>.Continuation.BufferingPolicy
  ) -> AsyncStream<Changes> {
    let notices = stack.changes()
    return AsyncStream(bufferingPolicy: policy) { continuation in
      let task = Task {
        for await notice in notices {
          let changes = Changes(notice, of: roots)
          if !changes.isEmpty { continuation.yield(changes) }
        }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  /// The values that satisfy a condition: now, and again after each change of the entity, of those
  /// whose objects are nested values, and of those that the condition and the order lead to.
  ///
  /// Changes that come while the values are being read are answered by one more reading. The
  /// sequence ends when the stack is closed or reset.
  public func values(
    _ filter: ValueFilter<Value>? = nil,
    sort: [ValueSort<Value>] = [],
    limit: Int? = nil
  ) -> AsyncThrowingStream<[Value], any Error> {
    let changes: AsyncStream<Changes>
    do {
      changes = try self.changes(of: watched(filter, sort), .bufferingNewest(1))
    } catch {
      return AsyncThrowingStream { $0.finish(throwing: error) }
    }
    return AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let task = Task {
        do {
          continuation.yield(try await fetch(filter, sort: sort, limit: limit))
          for await _ in changes {
            continuation.yield(try await fetch(filter, sort: sort, limit: limit))
          }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  /// The root names of the entities whose changes may change the answer.
  private func watched(
    _ filter: ValueFilter<Value>?,
    _ sort: [ValueSort<Value>]
  ) throws -> Set<String> {
    let root = stack.root
    let request = try FetchRequest(Value.self, filter, sort, nil)
    let query = try ResultQuery(request, sectionedBy: nil, in: root.layout)
    return try root.valueBindings.rootNames(of: Value.self, root.layout)
      .union(query.relatedEntities)
  }

  // MARK: - Contexts

  private func read<Answer: Sendable>(
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> Answer
  ) async throws -> Answer {
    switch place {
    case .background: try await stack.read(body)
    case .main: try await stack.onMain(body)
    }
  }

  /// Works, and again where others have changed the same meanwhile, or made an object with the same key: each time
  /// somebody else has come to an end.
  private func again<Answer: Sendable>(
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> Answer
  ) async throws -> Answer {
    var last: [SaveConflict]?
    var sameCount = 0
    while true {
      do {
        return try await read(body)
      } catch let error as ContextError
        where error.code == .conflict || error.code == .duplicate
      {
        try Task.checkCancellation()
        // A conflict that is there each time does not pass.
        let others = error.conflicts.map(\.ofOthers)
        sameCount = others == last ? sameCount + 1 : 0
        // Another object of this key is there next time, or it is another key that is taken.
        if sameCount == (error.code == .duplicate ? 2 : 10) { throw error }
        last = others
      }
    }
  }

  /// Each operation commits by itself: the context has nothing left to save.
  ///
  /// In the background it is done again as `update` is; main goes on with what it has read.
  private func write<Answer: Sendable>(
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> Answer
  ) async throws -> Answer {
    switch place {
    case .background: try await again(body)
    case .main: try await read(body)
    }
  }
}

extension SaveConflict {
  /// What others have to do with it: what each try makes anew is left out.
  fileprivate var ofOthers: SaveConflict {
    // What the store has nothing of may have been made by the try.
    let key = theirs == .null ? 0 : object.primaryKey
    return SaveConflict(
      object: ObjectID(entity: object.entity, primaryKey: key),
      property: property,
      base: base,
      ours: .null,
      theirs: theirs,
      isSensitive: isSensitive
    )
  }
}

extension Repository.Changes {
  /// What a notice says of some families.
  init(_ notice: ChangeNotice, of roots: Set<String>) {
    let isOurs = { (id: ObjectID) in roots.contains(id.entity) }
    inserted = notice.inserted.filter(isOurs)
    updated = Set(notice.updated.keys.filter(isOurs))
    deleted = notice.deleted.filter(isOurs)
    isEverything = !notice.refreshedEntities.isDisjoint(with: roots)
  }
}

extension Stack {
  /// The repository of a type.
  public func repository<Value: EntityValue>(
    of type: Value.Type,
    on place: Repository<Value>.Place = .background
  ) -> Repository<Value> {
    Repository(self, on: place)
  }

  /// The name that ids of an entity's objects have.
  fileprivate func rootName(of entity: String) -> String {
    root.layout.entity(named: entity)?.rootName ?? entity
  }

  @MainActor fileprivate func onMain<Answer: Sendable>(
    _ body: @Sendable (ManagedObjectContext) throws -> Answer
  ) throws -> Answer {
    try body(main)
  }
}
