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
  /// The objects with unsaved changes, which the context holds until they are saved.
  var changed: [RowKey: ManagedObject] = [:]
  /// The unsaved changes of to-many relationships.
  var pendingLinks: [LinkKey: PendingLinks] = [:]
  /// What imports say of objects besides their values.
  var marks: [RowKey: RowMark] = [:]
  /// Counts how often what objects know of their targets was forgotten.
  var linkRound: UInt32 = 0
  /// Rows that were deleted while this context lived: links that still name them lead nowhere.
  var goneRows: Set<RowKey> = []
  /// A writing session that reads go through, while an import runs in it.
  var session: WriteSession?
  /// Objects with unsaved changes by their unique keys, while records are imported.
  var keyIndex: KeyIndex?
  /// Objects with unsaved changes in the contexts above, by unique key.
  var above: [Lookup: [KeyIndex.Values: RowKey]] = [:]
  /// Stored objects that were looked up by unique key.
  var probed: [Lookup: [KeyIndex.Values: ManagedObject?]] = [:]
  /// What the record at hand did.
  var undoLog: UndoLog?
  /// What was written into the open transaction.
  var flushed = Flushed()
  /// Rows that the import at hand fills.
  var importBuffers: [Int: RowBuffer] = [:]
  var rowDefaults: [Int: [RowDefault]] = [:]
  /// How many objects the bookkeeping has looked at: tests hold it to grow with the work, not with
  /// the number of registered objects.
  var visitCount = 0
  /// What observers have not been told yet.
  var unnoticed = ChangeNotice()
  /// Objects that came and went since then: results may have met them in between.
  var vanished: Set<ObjectID> = []
  /// Those who observe this context.
  var broadcaster: NoticeBroadcaster?
  /// Results of this context.
  var followers: [WeakFollower] = []
  /// What properties could not throw.
  var recorded = RecordedErrors()
  private var emptyRows: [Int: RowPlace] = [:]
  private(set) var isClosed = false

  init(_ kind: Kind, root: RootContext, parent: ManagedObjectContext? = nil) {
    self.kind = kind
    self.root = root
    self.parent = parent
    layout = root.layout
    identities = layout.tables.map { _ in IdentityMap() }
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
    if keyIndex != nil {
      keyIndex = nil
      _ = beginImport()
    }
  }

  /// What layers above keep with the stack.
  package var attachments: Attachments { root.attachments }

  /// Whether there is anything to save.
  public var hasChanges: Bool { !changed.isEmpty || pendingLinks.contains { !$0.value.isEmpty } }

  /// The objects made here and not saved yet, in the order of their ids.
  public var insertedObjects: [ManagedObject] { objects(.inserted) }
  /// The stored objects with unsaved changes, in the order of their ids.
  public var updatedObjects: [ManagedObject] { objects(.updated) }
  /// The stored objects deleted here and not saved yet, in the order of their ids.
  public var deletedObjects: [ManagedObject] { objects(.deleted) }

  private func objects(_ status: ManagedObject.Status) -> [ManagedObject] {
    visitCount += changed.count
    return changed.values.filter { $0.status == status }.sorted {
      ($0.place.table, $0.place.key) < ($1.place.table, $1.place.key)
    }
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
    let object = try insert(layout, .row(emptyRow(of: layout.tableIndex)))
    for (slot, attribute) in layout.attributes.enumerated() {
      if let value = attribute.defaultValue {
        object.changes[layout.attributeColumns[slot]] = value
      }
    }
    keyIndex?.insert(object)
    publish(object)
    return object
  }

  /// Makes an object whose values lie in a row.
  func insert(
    _ entity: EntityLayout,
    _ content: ManagedObject.Content
  ) throws -> ManagedObject {
    try checkOpen()
    let key = try session?.nextKey(in: entity.table) ?? root.keys.next(in: entity.table)
    let place = RowKey(table: entity.tableIndex, key: key)
    let object = ManagedObject(place, entity, content, in: self)
    object.status = .inserted
    identities[place.table][key] = object
    changed[place] = object
    undoLog?.steps.append(.inserted(object))
    noteInsertion(of: object)
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
    return object.isDeleted ? nil : object
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
  func throwRecorded() throws {
    if let error = recorded.take() { throw error }
  }

  /// Drops what was recorded.
  func forgetRecorded() { recorded = RecordedErrors() }

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

  /// Ends the context: what is not saved is dropped.
  func close() {
    isClosed = true
    broadcaster?.finish()
    endFollowers(
      ContextError(.foreignContext, "The context has ended: its results are not followed any more.")
    )
    for object in changed.values where object.status == .inserted { object.status = .gone }
    abandon()
  }

  /// Ends main with its stack: its results are told why, its observers hear nothing more, and what
  /// is not saved is dropped.
  func end(_ reason: any Error) {
    broadcaster?.finish()
    endFollowers(reason)
    abandon()
  }

  /// Lets go of what is unsaved, once it cannot be saved any more: its objects would hold the
  /// context, and the context them.
  func abandon() {
    changed = [:]
    pendingLinks = [:]
    marks = [:]
    undoLog = nil
    probed = [:]
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
