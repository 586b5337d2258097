import DragomanGraph

/// Runs the closures and hooks of mappers while a record of a live object is written, and asks objects for their links.
///
/// The walk through a record does not end in its midst: what the first of them throws is kept, and no other one runs.
final class ExportCode {
  private let context: ManagedObjectContext
  private var failure: (any Error)?

  init(_ context: ManagedObjectContext) { self.context = context }

  /// What a closure makes of a value.
  func value(of stored: StoredValue, _ closure: ExportClosure) -> ForeignValue {
    guard failure == nil else { return .null }
    do {
      return try closure(stored)
    } catch {
      failure = error
      return .null
    }
  }

  /// Lets a hook change the record of an object.
  func amend(_ record: inout ForeignRecord, of object: ManagedObject, _ hook: PostExportHook) {
    guard failure == nil else { return }
    do { try hook(object, &record) } catch { failure = error }
  }

  /// The objects that a relationship leads to.
  func targets(of object: ManagedObject, _ link: RelationshipLayout) -> [ManagedObject] {
    guard failure == nil else { return [] }
    do {
      return try context.links.targets(of: link, object)
    } catch {
      failure = error
      return []
    }
  }

  /// - Throws: What a closure or a hook has thrown since this was asked last.
  func check() throws {
    defer { failure = nil }
    if let failure { throw failure }
  }
}

extension RecordWriter {
  /// What the mapper's closure makes of a value, null of null; nil where none runs.
  func valueByClosure<Row: ExportRow & ~Copyable>(_ slot: Int, _ row: borrowing Row)
    -> ForeignValue?
  {
    guard let code, let closure = plan.slots[slot].closure, !plan.slots[slot].isMasked else {
      return nil
    }
    let stored = row.column(plan.slots[slot].column).stored
    return stored == .null ? .null : code.value(of: stored, closure)
  }

  /// Whether a value is null.
  mutating func isNull<Row: ExportRow & ~Copyable>(_ slot: Int, _ row: borrowing Row) -> Bool {
    if let given = valueByClosure(slot, row) { return given.isNull }
    if case .null = token(of: slot, row) { return true }
    return false
  }

  /// Tells what an import of a target's record takes away, and lets the hook of the target's mapper change it.
  mutating func finish(_ target: RowBatch.Row, inside owner: Int64) {
    guard let code, let object = target.object else { return }
    let level = target.batch.level
    for missed in level.missed
    where missed.fate != .madeWithout && !losses.contains(missed.loss) {
      let others = code.targets(of: object, missed.layout).filter {
        !missed.isWayBack || $0.objectID.primaryKey != owner
      }
      if !others.isEmpty || missed.fate == .rejected { lose(missed.loss) }
    }
    if let hook = level.postExport { encoder.amend { code.amend(&$0, of: object, hook) } }
  }
}
