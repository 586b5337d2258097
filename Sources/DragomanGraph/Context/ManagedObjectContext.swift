/// A scratch pad of objects: what is inserted, changed and deleted here is seen by nobody else until
/// the context is saved.
///
///     try await stack.write { context in
///       let person = try context.insert("Person")
///       person["firstName"] = "Rohan"
///     }
///
/// The main context belongs to the main actor; background contexts are lent to the closure of
/// `Stack.write` and cannot leave it. A context sees the unsaved changes of the contexts above it.
///
/// The largest type of all, since what a program asks of its objects is asked of a context; how links,
/// keys, requests, records of an import, checks, settling and notices work are types of their own, which
/// hold the context and nothing else.
///
/// Large because it is what programs call: functions with their documentation, whose work is in the types that
/// it holds.
public final class ManagedObjectContext {
  /// Where a context stands.
  public enum Kind: Sendable, Hashable {
    /// The main actor's.
    case main
    /// A temporary child of main.
    case background
    /// A temporary child of another temporary context, on the same thread.
    case nested
  }

  /// Where the context stands.
  public let kind: Kind
  /// What `save()` does where others changed the same objects; `.error` by default.
  public var mergePolicy = MergePolicy.error

  let root: RootContext
  /// The model compiled; unique keys that mappers declare come to it.
  package private(set) var layout: ModelLayout
  let parent: ManagedObjectContext?
  /// The registered objects by table and `_pk`; an object takes itself out when it is let go.
  let identities: [IdentityMap]
  /// Everything unsaved.
  let overlay: Overlay
  /// What is unsaved in the contexts above, as it is now.
  let above: OverlaysAbove
  /// What objects know of stored links; what is forgotten is read again.
  var linkMemory = LinkMemory()
  /// What an import works with.
  var importing = ImportMemory()
  /// Whether what a context above has unsaved is a change here where it is said again; not where only what differs is
  /// said.
  var saysWhatIsAbove = true
  /// How many objects the bookkeeping has looked at: tests hold it to grow with the work, not with
  /// the number of registered objects.
  var visitCount = 0
  /// Those who observe this context, and what they are to be told.
  let notices: ContextNotices
  /// What properties could not throw.
  var recorded = RecordedErrors()
  private var emptyRows: [Int: RowPlace] = [:]
  private(set) var isClosed = false
  /// Whether a read is under way.
  var isReading = false

  /// - Parameters:
  ///   - kind: Where the context stands.
  ///   - root: What all contexts of the stack share.
  ///   - parent: The context above, other than main.
  ///   - seesMain: Whether it sees what main has unsaved; not where only what is stored is looked at.
  init(
    _ kind: Kind,
    root: RootContext,
    parent: ManagedObjectContext? = nil,
    seesMain: Bool = true
  ) {
    self.kind = kind
    self.root = root
    self.parent = parent
    layout = root.layout
    notices = ContextNotices(schedule: kind == .main ? { root.scheduleProcessing() } : {})
    identities = layout.tables.map { _ in IdentityMap() }
    var overlays: [Overlay] = []
    var next = parent
    while let context = next {
      overlays.append(context.overlay)
      next = context.parent
    }
    if kind != .main, seesMain, overlays.last !== root.main { overlays.append(root.main) }
    above = OverlaysAbove(overlays, parent?.above.written)
    overlay = kind == .main ? root.main : Overlay()
  }

  /// The model.
  public var model: Model { layout.model }

  /// Makes unique keys known that the model does not have yet, before records are imported by them.
  ///
  /// - Throws: `StoreError`, `.modelConflict`, where objects share the values of a key.
  package func declare(_ keys: [DeclaredKey]) throws {
    try checkOpen()
    try root.declare(keys, in: openSession)
    guard layout !== root.layout else { return }
    // Slots and columns are the same ones.
    layout = root.layout
    if importing.keys != nil {
      importing.keys = nil
      _ = finder.beginImport()
    }
  }

  /// What layers above keep with the stack.
  package var attachments: Attachments { root.attachments }

  /// Whether there is anything to save.
  public var hasChanges: Bool { !overlay.read { $0.isEmpty } }

  /// The objects made here and not saved yet, in the order of their ids.
  public var insertedObjects: [ManagedObject] { objects(.inserted) }
  /// The stored objects with unsaved changes, in the order of their ids.
  public var updatedObjects: [ManagedObject] { objects(.updated) }
  /// The stored objects deleted here and not saved yet, in the order of their ids.
  public var deletedObjects: [ManagedObject] { objects(.deleted) }

  private func objects(_ kind: RowChange.Kind) -> [ManagedObject] {
    let changes = overlay.changes.sorted
    visitCount += changes.count
    return changes.compactMap { $0.change.kind == kind ? enroll($0.place, $0.change) : nil }
  }

  /// Makes an object of an entity, with the defaults of its attributes.
  ///
  /// Its id is permanent from now on.
  /// - Throws: `ContextError`: `.unknownProperty` for an entity that the model does not have, with
  ///   the nearest name, `.invalid` for an abstract one; `StoreError` where no id can be reserved.
  public func insert(_ entity: String) throws -> ManagedObject {
    let layout = try requireEntity(entity)
    guard !layout.entity.isAbstract else {
      throw ContextError(
        .invalid,
        "\(entity) is abstract: there are objects of its sub-entities only."
      )
    }
    var change = RowChange(.inserted, layout.index)
    for (slot, attribute) in layout.attributes.enumerated() {
      if let value = attribute.defaultValue {
        change.values[layout.attributeColumns[slot]] = value
      }
    }
    return try insert(layout, change)
  }

  /// Makes an object of a new row.
  func insert(_ entity: EntityLayout, _ change: RowChange) throws -> ManagedObject {
    try checkOpen()
    let key = try openSession?.nextKey(in: entity.table) ?? root.keys.next(in: entity.table)
    let place = RowKey(table: entity.tableIndex, key: key)
    let content = ManagedObject.Content.row(change.row ?? emptyRow(of: place.table))
    let object = ManagedObject(place, entity, content, in: self)
    identities[place.table][key] = object
    put(change, object)
    importing.keys?.insert(place, in: self)
    notices.insert(object.objectID)
    return object
  }

  /// The object of an id, which may turn out not to exist when it is read.
  ///
  /// Reads nothing: an object that is not registered yet is a fault.
  /// - Throws: `ContextError.unknownProperty` for an entity that the model does not have.
  public func object(with id: ObjectID) throws -> ManagedObject {
    let entity = try requireEntity(id.entity)
    return try register(RowKey(table: entity.tableIndex, key: id.primaryKey), entity)
  }

  /// The objects of ids, in their order: faults that are read together when the first is touched.
  ///
  /// - Throws: as `object(with:)`.
  public func objects(with ids: [ObjectID]) throws -> [ManagedObject] {
    let objects = try ids.map(object)
    let faults = objects.filter { if case .fault = $0.content { true } else { false } }
    for table in Dictionary(grouping: faults, by: \.place.table).values {
      FaultBatch.assign(to: table)
    }
    return objects
  }

  /// The object of an id; nil where there is none.
  ///
  /// Runs `SELECT … WHERE _pk = ?` unless the object is registered.
  public func existingObject(with id: ObjectID) throws -> ManagedObject? {
    let object = try object(with: id)
    do {
      try fire(object)
    } catch let error as ContextError where error.code == .missing || error.code == .deleted {
      return nil
    }
    return isDeleted(object) ? nil : object
  }

  /// The first error that a property met which could not throw it; it is thrown by the next save.
  public var recordedError: (any Error)? { recorded.first }

  func record(_ error: any Error) { recorded.add(error) }

  /// Sets a property that cannot throw; what it does not take is told by the next save.
  func attempt(_ property: String, of object: ManagedObject, _ set: () throws -> Void) {
    do {
      try set()
      recorded.accept(property, of: object)
    } catch {
      recorded.refuse(error, property, of: object)
    }
  }

  /// Throws what was recorded, and forgets it.
  package func throwRecorded() throws {
    if let error = recorded.take() { throw error }
  }

  /// Drops what was recorded.
  package func forgetRecorded() { recorded = RecordedErrors() }

  // MARK: - Names

  func requireEntity(_ name: String) throws -> EntityLayout {
    if let entity = layout.entity(named: name) { return entity }
    throw ContextError(
      .unknownProperty,
      "There is no entity \"\(name)\".",
      help: nearest(to: name, in: layout.entities.map(\.name)).map { "did you mean \"\($0)\"?" }
    )
  }

  func unknownProperty(_ name: String, of entity: EntityLayout, _ kind: String) -> ContextError {
    ContextError(
      .unknownProperty,
      "\(entity.name) has no \(kind) \"\(name)\".",
      help: nearest(to: name, in: entity.propertyNames).map { "did you mean \"\($0)\"?" }
    )
  }

  // MARK: - Life

  func checkOpen() throws {
    guard !isClosed, !root.isClosed else {
      throw ContextError(
        isClosed ? .foreignContext : .stackClosed,
        isClosed
          ? "The context has ended: its objects cannot be used any more."
          : "The stack was reset or closed: its objects cannot be used any more.",
        help: "pass ids on, and look the objects up in another context"
      )
    }
  }

  /// Refuses an object of another context, whose number another object may have here.
  ///
  /// - Throws: `.foreignContext`.
  package func checkOwn(
    _ object: ManagedObject,
    _ message: @autoclosure () -> String
  ) throws(ContextError) {
    guard object.context === self else {
      throw ContextError(
        .foreignContext,
        message(),
        object: object.objectID,
        help: "look the object up in this context: context.object(with: id)"
      )
    }
  }

  /// Ends the context: what is not saved is dropped.
  func close() {
    isClosed = true
    notices.end(
      ContextError(.foreignContext, "The context has ended: its results are not followed any more.")
    )
    for (place, change) in overlay.changes.sorted where change.kind == .inserted {
      registered(place)?.status = .gone
    }
    abandon()
  }

  /// Ends main with its stack: its results are told why, its observers hear nothing more, and what
  /// is not saved is dropped.
  func end(_ reason: any Error) {
    notices.end(reason)
    abandon()
  }

  /// Lets go of what is unsaved, once it cannot be saved any more.
  private func abandon() {
    overlay.removeAll()
    importing = ImportMemory()
  }

  /// A row of nulls.
  func emptyRow(of table: Int) -> RowPlace {
    if let known = emptyRows[table] { return known }
    let buffer = RowBuffer(columnCount: layout.tables[table].columns.count, capacity: 1)
    buffer.append([])
    let made = RowPlace(buffer: buffer, row: 0)
    emptyRows[table] = made
    return made
  }
}
