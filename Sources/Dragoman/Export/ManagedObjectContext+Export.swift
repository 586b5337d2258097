import DragomanGraph

extension ManagedObjectContext {
  /// Objects as records, by their entity's mapper backwards: names, formats and nesting of the feed.
  ///
  ///     let records = try context.export(people)
  ///     let style = ExportStyle(shape: .flat, nulls: .write)
  ///     let flat = try context.export(people, ExportRequest(style: style))
  ///
  /// Unsaved changes are exported too. Closures of the mapper run in the place of their attribute;
  /// post-export hooks run last and may change the record. What is exported can be imported again,
  /// nested or flat, and changes nothing.
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
  private let map: EntityMap
  private let code: EntityCode
  private let isFlat: Bool
  private let isLocal: Bool
  private let batch: RowBatch
  private let taken = Taken()
  private var writer: RecordWriter<DictionaryRecordEncoder>

  /// The record that the encoder completed last.
  private final class Taken {
    var record: ForeignValue?
  }

  init(of name: String, _ request: ExportRequest, _ context: ManagedObjectContext) throws {
    self.context = context
    let (map, code) = try context.mappers.importMap(for: name)
    guard let entity = map.entity(named: name) else {
      throw ExportError(.request, "There is no mapper of \(name).")
    }
    self.map = entity
    self.code = code.entity(name)
    var request = request
    request.entity = name
    isFlat = (request.style.shape ?? map.exportOptions.style.shape) == .flat
    isLocal = (request.style.names ?? map.exportOptions.style.names) == .local
    plan = try ExportPlan(
      request,
      map,
      format: .json,
      layout: context.layout,
      for: .objects,
      code: code
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
      hasObject: hasObject
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
    try writer.write(batch[0])
    if !plan.isLossy, let issue = writer.issues.first {
      throw ExportError(
        .value,
        issue.message,
        help: "mend the value or the mapper, or ask for a lossy export"
      )
    }
    if !plan.isLossy, let loss = writer.losses.first { throw Self.incomplete(loss) }
    var record = taken.record?.record ?? ForeignRecord()
    for part in code.parts {
      guard let export = part.exporting else { continue }
      let value = try export(try object.value(of: part.name))
      record.set(value, at: steps(of: part.name))
    }
    try code.postExport?(object, &record)
    return record
  }

  /// The names that lead to an attribute's value.
  private func steps(of name: String) -> [String] {
    guard !isLocal, let path = map.attribute(named: name)?.from?.json.first else { return [name] }
    if isFlat { return [path.text] }
    let steps = path.steps.compactMap { step -> String? in
      if case .member(let name, _) = step { name } else { nil }
    }
    return steps.count == path.steps.count && !steps.isEmpty ? steps : [path.text]
  }
}

extension ForeignRecord {
  /// Sets a value inside of nested records, which are made where they are missing.
  fileprivate mutating func set(_ value: ForeignValue, at steps: [String]) {
    guard let first = steps.first else { return }
    guard steps.count > 1 else {
      self[first] = .some(value)
      return
    }
    var inner = self[first]?.record ?? ForeignRecord()
    inner.set(value, at: Array(steps.dropFirst()))
    self[first] = .some(.object(inner))
  }
}
