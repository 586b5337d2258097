import DragomanGraph

/// One import of records in memory into a context, on the thread that asks for it.
///
///     DictionaryReader   records -> RecordBatch
///     RecordMapper       RecordBatch -> DraftBatch
///     DraftWalker        what a draft means
///     ObjectBackend      -> objects, or RowBackend -> rows, where nobody can tell the difference
struct ContextImport {
  private let map: ImportMap
  private let plan: ImportPlan
  private let mappers: CompiledPlan
  private let code: ImportCode
  private let context: ManagedObjectContext
  private let mode: EntityWriter.Mode?
  private let maximumRejects: Int?

  /// Records a batch: few enough to stay in the processor's cache, many enough for one look-up.
  private static let batchSize = 1000

  init(
    _ map: ImportMap,
    _ code: ImportCode,
    _ context: ManagedObjectContext,
    _ mode: EntityWriter.Mode?,
    _ maximumRejects: Int?
  ) throws {
    plan = try ImportPlan(
      map,
      format: .json,
      names: [],
      model: context.model,
      code: code
    )
    mappers = try CompiledPlan(plan, mapFile: map.file)
    self.map = map
    self.code = code
    self.context = context
    self.mode = mode
    self.maximumRejects = maximumRejects
  }

  /// Imports the records as objects: what they change is unsaved.
  ///
  /// - Parameters:
  ///   - records: The records.
  ///   - only: The object that the records are applied to, whatever their key; nil: found by key.
  ///   - cancellation: Ends the import after the batch at hand; nil: nothing does.
  ///   - flush: Run after each batch.
  /// - Returns: The objects and the report.
  /// - Throws: `ImportError`, `ReadError`, `ContextError`, `StoreError`, `CancellationError`, and what `flush` throws.
  func run(
    _ records: [ForeignValue],
    only: ManagedObject? = nil,
    unless cancellation: Cancellation? = nil,
    flush: () throws -> Void = {}
  ) throws -> ImportedObjects {
    let backend = ObjectBackend(context, code: code, only: only)
    let imported = try run(records, backend, cancellation, flush)
    try backend.others.tell()
    return imported
  }

  /// Imports the records into the transaction that the context has open.
  ///
  /// - Parameters:
  ///   - records: The records.
  ///   - cancellation: Ends the import after the batch at hand; nil: nothing does.
  /// - Returns: The objects and the report.
  /// - Throws: As `run(_:only:unless:flush:)`.
  func runInTransaction(
    _ records: [ForeignValue],
    unless cancellation: Cancellation? = nil
  ) throws -> ImportedObjects {
    if let rows = RowBackend(past: context, map, code) {
      return try run(records, rows, cancellation) {}
    }
    return try run(records, unless: cancellation) { try context.records.flush() }
  }

  private func run(
    _ records: [ForeignValue],
    _ backend: some NamingBackend,
    _ cancellation: Cancellation?,
    _ flush: () throws -> Void
  ) throws -> ImportedObjects {
    let start = ContinuousClock().now
    let walker = DraftWalker(backend, mode: mode, maximumRejects: maximumRejects)
    let isOutermost = context.finder.beginImport()
    defer { if isOutermost { context.finder.endImport() } }
    let reader = DictionaryReader(records, name: "records")
    let batch = DraftBatch()
    batch.plan = plan
    var isMore = true
    while isMore {
      if cancellation?.isCancelled == true { throw CancellationError() }
      batch.removeAll()
      isMore = try reader.read(into: batch.records, limit: Self.batchSize)
      for index in batch.records.records.indices { try mappers.map(index, into: batch) }
      try walker.apply(batch)
      if !walker.isWaiting { try flush() }
    }
    if cancellation?.isCancelled == true { throw CancellationError() }
    try walker.finish()
    var report = walker.tally.report()
    report.unmatchedPaths = UnmatchedPath.among(mappers.outcomes)
    report.duration = ContinuousClock().now - start
    return ImportedObjects(ids: backend.objects, report: report)
  }
}

/// A backend that knows the objects of an import when it is over.
protocol NamingBackend: DraftBackend {
  /// The object of each record that was applied, once, at its first appearance; those that a later record
  /// deleted are left out.
  var objects: [ObjectID] { get }
}

extension ObjectBackend: NamingBackend {}

extension RowBackend: NamingBackend {
  /// The rows of what a context imports into its open transaction, past its objects.
  ///
  /// Nil where that could be told from objects: by hooks, which are given objects, by links, which may lead to
  /// what is unsaved, by unsaved changes of the entities and by observers, who are told of each object.
  convenience init?(past context: ManagedObjectContext, _ map: ImportMap, _ code: ImportCode) {
    guard map.entities.allSatisfy({ $0.deleteWhen == nil }),
      code.entities.values.allSatisfy({ $0.postImport == nil })
    else { return nil }
    let entities = map.entities.compactMap { context.layout.entity(named: $0.name) }
    guard entities.count == map.entities.count,
      let session = context.records.rowSession(of: entities)
    else { return nil }
    self.init(session: session, request: ImportRequest([]), namesObjects: true)
  }
}
