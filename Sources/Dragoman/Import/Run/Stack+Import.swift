import DragomanGraph

/// What came of importing records into objects.
public struct ImportedObjects: Sendable {
  /// The objects, distinct, in the order of the records that name them first.
  ///
  /// Records that were rejected have none; records whose object was left alone have it.
  public let ids: [ObjectID]
  /// What was inserted, updated, rejected, and why.
  public let report: ImportReport
}

extension Stack {
  /// The mappers of this stack's entities; they outlive a `reset()`.
  public var mappers: MapperRegistry { attachments.value { MapperRegistry(model: model) } }

  /// Imports records in the background, in one transaction.
  ///
  ///     let people = try await stack.import(records, into: "Person")
  ///
  /// The records are mapped by the entity's mapper: the registered one, its ancestor's, or the
  /// default mapper. Unsaved changes of main are seen, and main is told once, after the commit. A
  /// record that is rejected leaves nothing behind, and the rest is imported. Where the task is cancelled before
  /// all records are applied, nothing is imported.
  ///
  /// - Parameters:
  ///   - records: The records; what is no dictionary is rejected.
  ///   - entity: The entity's name.
  ///   - mode: What happens to objects that exist; nil is the mapper's word.
  ///   - maximumRejects: More rejected records than this and nothing is imported; nil: no limit.
  /// - Returns: The objects' ids in input order, and the report.
  /// - Throws: `MapFaults` for a mapper that does not fit, `ImportError`, `StoreError`,
  ///   `ContextError.stackClosed`, `CancellationError`; then nothing was written.
  @discardableResult
  public func `import`(
    _ records: [ForeignValue],
    into entity: String,
    mode: EntityWriter.Mode? = nil,
    maximumRejects: Int? = nil
  ) async throws -> ImportedObjects {
    let (map, code) = try mappers.importMap(for: entity)
    let cancellation = Cancellation()
    return try await withTaskCancellationHandler {
      try Task.checkCancellation()
      try await declare(mappers.keys)
      return try await writeInOneTransaction { context in
        try ContextImport(map, code, context, mode, maximumRejects)
          .runInTransaction(records, unless: cancellation)
      }
    } onCancel: {
      cancellation.cancel()
    }
  }

  /// Imports feeds by a map straight into the store: files of any size, in constant memory.
  ///
  /// No objects are made and no hooks run; unsaved changes are not seen. When it is done main
  /// compares the objects that it holds with the store, and reads those again that differ. A stack on a server
  /// takes what the map needs when it is opened: its model has to have it.
  ///
  /// - Parameters:
  ///   - request: What to import, and how.
  ///   - map: What the feeds mean.
  ///   - closures: The closures that the map names.
  /// - Returns: The report.
  /// - Throws: `ImportFailure`, as `Importer.run(_:)`.
  @discardableResult
  public func `import`(
    _ request: ImportRequest,
    by map: ImportMap,
    closures: ClosureRegistry = ClosureRegistry()
  ) async throws(ImportFailure) -> ImportReport {
    let importer = try importer(of: map, closures)
    do {
      let report = try await importer.run(request)
      storeDidChange()
      return report
    } catch {
      // Batches may have been committed before it failed.
      storeDidChange()
      throw error
    }
  }

  private func importer(
    of map: ImportMap,
    _ closures: ClosureRegistry
  ) throws(ImportFailure) -> Importer {
    if let server { return Importer(map: map, closures: closures, server: server) }
    do {
      return Importer(map: map, closures: closures, store: try store)
    } catch {
      throw ImportFailure(cause: error, report: ImportReport())
    }
  }

  /// Imports records in the background and returns main's objects, in input order.
  ///
  /// They are faults, read together when the first one is touched.
  /// - Throws: as `import(_:into:mode:maximumRejects:)`.
  @MainActor public func importObjects(
    _ records: [ForeignValue],
    into entity: String,
    mode: EntityWriter.Mode? = nil,
    maximumRejects: Int? = nil
  ) async throws -> [ManagedObject] {
    let imported = try await self.import(
      records,
      into: entity,
      mode: mode,
      maximumRejects: maximumRejects
    )
    return try main.objects(with: imported.ids)
  }
}

extension ManagedObjectContext {
  /// The mappers of the stack.
  public var mappers: MapperRegistry { attachments.value { MapperRegistry(model: model) } }

  /// Imports records into this context: what they change is unsaved, as if the program had done it.
  ///
  /// - Parameters:
  ///   - records: The records; what is no dictionary is rejected.
  ///   - entity: The entity's name.
  ///   - mode: What happens to objects that exist; nil is the mapper's word.
  /// - Returns: The objects' ids in input order, and the report.
  /// - Throws: `MapFaults`, `ImportError`, `StoreError`, `ContextError`.
  @discardableResult
  public func `import`(
    _ records: [ForeignValue],
    into entity: String,
    mode: EntityWriter.Mode? = nil
  ) throws -> ImportedObjects {
    let (map, code) = try mappers.importMap(for: entity)
    try declare(mappers.keys)
    return try ContextImport(map, code, self, mode, nil).run(records)
  }

  /// Imports one record into this context.
  ///
  /// - Returns: Its object.
  /// - Throws: As for many; `ImportError` with the reason where the record is rejected, and `.request`
  ///   where it is a tombstone: its object is gone.
  @discardableResult
  public func `import`(
    _ record: ForeignRecord,
    into entity: String,
    mode: EntityWriter.Mode? = nil
  ) throws -> ManagedObject {
    let imported = try self.import([.object(record)], into: entity, mode: mode)
    guard let id = imported.ids.first else {
      if imported.report.counts.rejected > 0 { throw ImportError(rejected: imported.report) }
      throw ImportError(
        .request,
        "The record says that its object is gone: there is none to return.",
        help: "import it in a list of records"
      )
    }
    return try object(with: id)
  }

  /// Applies a record to an object that exists, whatever key the record has.
  ///
  /// A record without a key leaves the object's.
  /// - Throws: As for many; `ContextError`, `.foreignContext`, for an object of another context;
  ///   `ImportError` with the reason where the record is rejected; then the object is as it was.
  public func apply(_ record: ForeignRecord, to object: ManagedObject) throws {
    try checkOwn(object, "A record is not applied to an object of another context here.")
    let (map, code) = try mappers.importMap(for: object.entityName)
    try declare(mappers.keys)
    let imported = try ContextImport(map, code, self, .upsert, nil)
      .run([.object(record)], only: object)
    if imported.report.counts.rejected > 0 { throw ImportError(rejected: imported.report) }
  }
}

extension ImportError {
  /// The only record was rejected.
  fileprivate init(rejected report: ImportReport) {
    let issue = report.firstReject
    self.init(
      .tooManyRejects,
      "The record was rejected: "
        + ErrorText.ended(issue.map { "[\($0.code.rawValue)] \($0.message)" } ?? "no reason"),
      help: issue?.help
    )
  }

  /// The same with the first record that was rejected, and why.
  init(_ error: ImportError, rejected report: ImportReport) {
    self = error
    guard let issue = report.firstReject else { return }
    let name = [issue.entity, issue.attribute].compactMap(\.self).joined(separator: ".")
    let value = issue.value.map { ", \($0)" } ?? ""
    message +=
      " The first, \(issue.origin): [\(issue.code.rawValue)] \(name)\(value): \(issue.message)"
    help = issue.help ?? help
  }
}

extension ImportReport {
  /// The first record that was rejected.
  fileprivate var firstReject: ImportIssue? {
    issues.lazy.flatMap(\.examples).first(where: \.isReject)
  }
}
