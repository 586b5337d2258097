import DragomanGraph

extension ManagedObjectContext {
  /// Objects as records, by their entity's mapper backwards: names, formats and nesting of the feed.
  ///
  ///     let records = try context.export(people)
  ///     let style = ExportStyle(shape: .flat, nulls: .write)
  ///     let flat = try context.export(people, ExportRequest(style: style))
  ///
  /// Unsaved changes are exported too. Closures of the mappers run in the place of their attribute, unless it is
  /// null, left out or masked; the hook of an object runs when all of its record is there, nested ones first, and may
  /// change it. What is exported can be imported again, nested or flat, and changes nothing.
  ///
  /// - Parameters:
  ///   - objects: The objects; the mapper is that of each object's entity.
  ///   - request: Shape, names, nulls, masking; its entity, filter and limit say nothing here.
  /// - Returns: A record an object, in their order.
  /// - Throws: `ExportError` for a value that the mapper cannot read back, and for what it has no place
  ///   for (unless the request is lossy), `MapFaults`, `ContextError`, `StoreError`, and what closures
  ///   and hooks throw. What closures read is not read back.
  public func export(
    _ objects: [ManagedObject],
    _ request: ExportRequest = ExportRequest()
  ) throws -> [ForeignRecord] {
    var exports: [String: ObjectExport] = [:]
    var records: [ForeignRecord] = []
    records.reserveCapacity(objects.count)
    for object in objects {
      let name = object.entityName
      let export = try exports[name] ?? ObjectExport(of: name, request, self)
      exports[name] = export
      records.append(try export.record(of: object))
    }
    return records
  }

  /// One object as a record.
  ///
  /// - Throws: as for many.
  public func export(
    _ object: ManagedObject,
    _ request: ExportRequest = ExportRequest()
  ) throws -> ForeignRecord {
    try ObjectExport(of: object.entityName, request, self).record(of: object)
  }
}

/// Writes live objects of one entity as records.
private final class ObjectExport {
  private let context: ManagedObjectContext
  private let plan: ExportPlan
  private let code: ExportCode
  private let batch: RowBatch
  private let taken = Taken()
  private var writer: RecordWriter<DictionaryRecordEncoder>

  /// The record that the encoder completed last.
  private final class Taken {
    var record: ForeignValue?
  }

  init(of name: String, _ request: ExportRequest, _ context: ManagedObjectContext) throws {
    self.context = context
    code = ExportCode(context)
    let (map, mapperCode) = try context.mappers.importMap(for: name)
    var request = request
    request.entity = name
    plan = try ExportPlan(
      request,
      map,
      format: .json,
      layout: context.layout,
      for: .objects,
      code: mapperCode
    )
    if !request.isLossy, let loss = plan.losses.first {
      throw Self.incomplete(loss)
    }
    batch = RowBatch(plan.level)
    let taken = taken
    let hasObject = { (request: FetchRequest) in try !context.fetch(request).isEmpty }
    writer = RecordWriter(
      plan,
      DictionaryRecordEncoder(plan) { taken.record = $0 },
      proof: try ExportProof(plan, hasObject: hasObject),
      hasObject: hasObject,
      code: code
    )
  }

  private static func incomplete(_ loss: String) -> ExportError {
    ExportError(
      .map,
      "The export would not come back whole: \(loss)",
      help: "mend the mapper, or ask for a lossy export"
    )
  }

  func record(of object: ManagedObject) throws -> ForeignRecord {
    try context.checkOwn(object, "An object of another context is not exported here.")
    batch.removeAll()
    try batch.append(object)
    try batch.readLinks(context)
    let written = Result { try writer.write(batch[0]) }
    try code.check()
    try written.get()
    if !plan.isLossy, let issue = writer.issues.first {
      throw ExportError(
        .value,
        issue.message,
        help: "mend the value or the mapper, or ask for a lossy export"
      )
    }
    if !plan.isLossy, let loss = writer.losses.first { throw Self.incomplete(loss) }
    var record = taken.record?.record ?? ForeignRecord()
    try plan.level.postExport?(object, &record)
    return record
  }
}
