/// Results that stay in step: where they are made.
extension ManagedObjectContext {
  /// The objects of a request, kept in step with this context.
  ///
  /// Fetches once (`SELECT _pk, _v, …` of the sort keys).
  /// - Parameters:
  ///   - request: Which objects, in which order, how many at most. `batchSize` (default 20) is how
  ///     many objects are read together when one is looked at; `columns` are not looked at.
  ///   - sectionKey: The first sort key's name, if its values are to make sections. Rows that the
  ///     key's options make equal are of one section.
  ///   - interval: How often to look for commits of other processes; nil: no more often than others
  ///     have asked for. The shortest interval holds until the stack is closed.
  /// - Returns: The results.
  /// - Throws: `StoreError.badRequest` for a name that does not fit, a sort key that leads to many
  ///   values, a section key that is not the first sort key, an offset, groups or aggregates, or
  ///   without `includesPendingChanges`: the stack's results are of what is stored; other
  ///   `StoreError`s, such as why the file cannot be followed any more; `ContextError.stackClosed`,
  ///   `.foreignContext`.
  public func results(
    _ request: FetchRequest,
    sectionedBy sectionKey: String? = nil,
    pollingEvery interval: Duration? = .seconds(1)
  ) throws -> FetchedResults<ManagedObject> {
    try results(request, sectionedBy: sectionKey, pollingEvery: interval) { $0 }
  }

  /// What the objects of a request are made into, kept in step with this context.
  ///
  /// - Parameters:
  ///   - request: As in `results(_:sectionedBy:pollingEvery:)`.
  ///   - sectionKey: As there.
  ///   - interval: As there.
  ///   - transform: Makes something of an object, each time that it is asked for.
  /// - Returns: The results.
  /// - Throws: As there.
  public func results<Element>(
    _ request: FetchRequest,
    sectionedBy sectionKey: String? = nil,
    pollingEvery interval: Duration? = .seconds(1),
    transform: @escaping (ManagedObject) throws -> Element
  ) throws -> FetchedResults<Element> {
    try checkOpen()
    // First, so that what others commit while the results are read is told.
    if kind == .main {
      try root.checkFollowed()
      if let interval { try root.monitor(every: interval) }
    }
    return try FetchedResults(request, sectionedBy: sectionKey, in: self, transform: transform)
  }
}

extension Stack {
  /// The ids of what is stored of a request, kept in step.
  ///
  /// - Parameters:
  ///   - request: Which objects, in which order, how many at most.
  ///   - sectionKey: The first sort key's name, if its values are to make sections.
  ///   - interval: How often to look for commits of other processes; nil: never.
  /// - Returns: The results, once they are read.
  /// - Throws: As `ManagedObjectContext.results(_:sectionedBy:pollingEvery:)`.
  public func results(
    _ request: FetchRequest,
    sectionedBy sectionKey: String? = nil,
    pollingEvery interval: Duration? = .seconds(1)
  ) async throws -> StoredResults<ObjectID> {
    let engine = try await engine(request, sectionKey, interval)
    return StoredResults(engine) { ids in Dictionary(ids.map { ($0, $0) }) { first, _ in first } }
  }

  /// Values made of what is stored of a request, kept in step.
  ///
  ///     let names = try await stack.results(request) { person in try person.value(of: "name") }
  ///
  /// - Parameters:
  ///   - request: Which objects, in which order, how many at most.
  ///   - sectionKey: The first sort key's name, if its values are to make sections.
  ///   - interval: How often to look for commits of other processes; nil: never.
  ///   - transform: Makes a value of an object, as it is stored; the object cannot
  ///     leave the closure.
  /// - Returns: The results, once they are read.
  /// - Throws: As `ManagedObjectContext.results(_:sectionedBy:pollingEvery:)`.
  public func results<Element: Sendable>(
    _ request: FetchRequest,
    sectionedBy sectionKey: String? = nil,
    pollingEvery interval: Duration? = .seconds(1),
    transform: @escaping @Sendable (ManagedObject) throws -> Element
  ) async throws -> StoredResults<Element> {
    let root = root
    let engine = try await engine(request, sectionKey, interval)
    return StoredResults(engine) { ids in
      try root.values(of: ids, transform)
    }
  }

  /// Follows what is stored of a request.
  func engine(
    _ request: FetchRequest,
    _ sectionKey: String?,
    _ interval: Duration?
  ) async throws -> StoredResultEngine {
    let root = root
    let engine = StoredResultEngine(request, store: root.store, layout: root.layout)
    do {
      try await engine.start(sectionedBy: sectionKey) { engine in
        if let interval { try root.monitor(every: interval) }
        let number = root.followers.add(
          take: { [weak engine] in engine?.take($0) },
          end: { [weak engine] in engine?.end($0) }
        )
        return { [weak root] in root?.followers.remove(number) }
      }
    } catch {
      throw root.isClosed ? RootContext.closed() : error
    }
    return engine
  }
}

extension RootContext {
  /// What objects are made into as they are stored, in a context of their own; objects that are gone are left out.
  func values<Element>(
    of ids: [ObjectID],
    _ transform: (ManagedObject) throws -> Element
  ) throws -> [ObjectID: Element] {
    let context = ManagedObjectContext(.background, root: self, seesMain: false)
    defer { context.close() }
    var elements: [ObjectID: Element] = [:]
    for object in try context.objects(with: ids) where try context.isAlive(object) {
      elements[object.objectID] = try transform(object)
    }
    try context.throwRecorded()
    return elements
  }
}

extension SQLiteStore {
  /// The rows of a request, kept in step with the file; nothing but the store is needed.
  ///
  /// A store does not hear of what is written through it, so all changes are found by looking: also
  /// those of this process, unless they are made through this store's own connection. Of a store
  /// that belongs to a stack, ask the stack.
  ///
  /// - Parameters:
  ///   - request: Which objects, in which order, how many at most, and which columns.
  ///   - sectionKey: The first sort key's name, if its values are to make sections.
  ///   - interval: How often to look for commits of others.
  /// - Returns: The results, once they are read: of each row its values, in the order of the columns.
  /// - Throws: As `ManagedObjectContext.results(_:sectionedBy:pollingEvery:)`.
  public func results(
    _ request: FetchRequest,
    sectionedBy sectionKey: String? = nil,
    pollingEvery interval: Duration = .seconds(1)
  ) async throws -> StoredResults<[StoredValue]> {
    try await storedResults(request, sectionedBy: sectionKey, pollingEvery: interval)
  }
}

extension ServerStore {
  /// The rows of a request, kept in step with the server: as of a file.
  ///
  /// - Throws: As for a file.
  package func results(
    _ request: FetchRequest,
    pollingEvery interval: Duration
  ) async throws -> StoredResults<[StoredValue]> {
    try await storedResults(request, sectionedBy: nil, pollingEvery: interval)
  }
}

extension ObjectStore {
  fileprivate func storedResults(
    _ request: FetchRequest,
    sectionedBy sectionKey: String?,
    pollingEvery interval: Duration
  ) async throws -> StoredResults<[StoredValue]> {
    // The columns are checked before the first row is asked for.
    _ = try FetchPlan(request, in: layout)
    let engine = StoredResultEngine(request, store: self, layout: layout)
    let everything = ChangeNotice(refreshedEntities: Set(layout.entities.map(\.rootName)))
    try await engine.start(sectionedBy: sectionKey) { [self] engine in
      let monitor = try StoreMonitor(
        self,
        every: interval,
        didChange: { [weak engine] in engine?.take(everything) },
        didEnd: { [weak engine] in engine?.end($0) }
      )
      return { monitor.stop() }
    }
    return StoredResults(engine, load: rowLoader(of: request))
  }

  /// Reads the rows of ids: the values of the request's columns.
  func rowLoader(
    of request: FetchRequest
  ) -> @Sendable ([ObjectID]) throws -> [ObjectID: [StoredValue]] {
    let layout = layout
    var wanted = request
    wanted.filter = nil
    wanted.limit = nil
    wanted.sortKeys = []
    return { [self, wanted] ids in
      var resolved = try ResolvedRequest(wanted, in: layout)
      resolved.narrow(toKeys: ids.map(\.primaryKey))
      let entity = resolved.entity.rootName
      var rows: [ObjectID: [StoredValue]] = [:]
      try read(layout) { reader in
        try reader.fetch(resolved, .values) { row in
          let id = ObjectID(entity: entity, primaryKey: row.integer(0))
          rows[id] = resolved.columns.indices.map { row.stored(Int32($0) + 1) }
        }
      }
      return rows
    }
  }
}
