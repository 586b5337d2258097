extension ManagedObjectContext {
  /// The objects of a request, as this context sees them: its own unsaved changes and those of the
  /// contexts above are taken into account, unless the request says otherwise.
  ///
  /// Runs one `SELECT`. Where there are unsaved changes of the entity, those objects are held
  /// against the filter in memory and merged into the answer; where the filter or the order goes
  /// through relationships and anything is unsaved, all objects of the entity are (O(n)). The answer
  /// is the same either way.
  /// - Throws: `StoreError.badRequest` for a name or literal that does not fit, with the nearest
  ///   name; other `StoreError`s; `ContextError.stackClosed`, `.foreignContext`.
  public func fetch(_ request: FetchRequest) throws -> [ManagedObject] {
    try ContextFetch(request, in: self).objects()
  }

  /// The only object of a request; nil where there is none.
  ///
  /// - Throws: `ContextError.ambiguous` where there are several; as `fetch(_:)`.
  public func fetchOne(_ request: FetchRequest) throws -> ManagedObject? {
    var request = request
    request.limit = min(request.limit ?? 2, 2)
    let found = try fetch(request)
    guard found.count < 2 else {
      throw ContextError(
        .ambiguous,
        "More than one \(request.entity) matches, where one was expected.",
        help: "narrow the filter, or use fetch(_:)"
      )
    }
    return found.first
  }

  /// The ids of the objects of a request.
  ///
  /// Runs `SELECT _pk …` and makes no objects where nothing is unsaved.
  public func fetchIDs(_ request: FetchRequest) throws -> [ObjectID] {
    try ContextFetch(request, in: self).ids()
  }

  /// The number of objects of a request, its limit and offset included.
  ///
  /// Runs `SELECT count(*)` where nothing is unsaved.
  public func count(_ request: FetchRequest) throws -> Int {
    try ContextFetch(request, in: self).count()
  }

  /// Whether the request has any object.
  public func exists(_ request: FetchRequest) throws -> Bool {
    var request = request
    request.limit = min(request.limit ?? 1, 1)
    return try !fetchIDs(request).isEmpty
  }

  /// The rows of a request for columns: values by name, with aggregates, groups and distinct rows.
  ///
  /// Runs one `SELECT` where nothing is unsaved; otherwise the objects are read and the rows made in
  /// memory.
  public func dictionaries(_ request: FetchRequest) throws -> [[String: StoredValue]] {
    let fetch = try ContextFetch(request, in: self)
    let names = fetch.resolved.columns.map(\.attribute.name)
    return try fetch.rows().map { Dictionary(zip(names, $0)) { first, _ in first } }
  }

  /// Whether an object exists to this context.
  func isAlive(_ object: ManagedObject) throws -> Bool {
    if isDeleted(object) { return false }
    do {
      try fire(object)
      return true
    } catch let error as ContextError where error.code == .missing {
      return false
    }
  }
}
