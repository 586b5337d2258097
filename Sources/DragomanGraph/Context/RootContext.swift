import Foundation
import GRDB
import Synchronization

/// What a save wrote, with what the store made of it.
struct SavedChanges: Sendable {
  /// The changes, the unsaved insertions that they refer to among them.
  var changes: PendingChanges
  /// The versions they got.
  var outcome: PendingChangesWriter.Outcome
  /// The columns that the saving context itself had set.
  var ownColumns: [RowKey: Set<Int>] = [:]
  /// How often main had nothing unsaved when they were written, or when they were main's own; nil:
  /// does not matter.
  var generation: Int?
  /// The whole lists of links that main had unsaved when they were written.
  var seenLists: [LinkKey: [Int64]] = [:]
}

/// The context above main: it holds no objects and writes the store, on whichever thread asks.
///
/// Shared by all contexts of a stack. Nothing here waits for the main thread: what main has not
/// saved is read from `mainChanges`.
final class RootContext: Sendable {
  let store: SQLiteStore
  /// The model as it was when the stack was opened, with the unique keys that mappers have declared
  /// since: an import that lets the store grow adds columns and tables that this stack's contexts do
  /// not see.
  var layout: ModelLayout { known.withLock { $0 } }
  private let known: Mutex<ModelLayout>
  let keys: KeyAllocator
  let mainChanges = PublishedChanges()
  private let ownSaves = Mutex<[SavedChanges]>([])
  /// Held while changes of main's are written on another thread.
  private let awayGate = Mutex<Void>(())
  let notices = NoticeBroadcaster()
  /// Those who follow what is stored: told after the commit, never before.
  let followers = StoreFollowers()
  let attachments: Attachments
  /// Tells main of changes that were stored; set once by the stack.
  private let listener = Mutex<(@Sendable (StoreChange) -> Void)?>(nil)
  private let closed = Mutex(false)
  /// Looks for what other processes write, once somebody asks for it.
  private let monitor = Mutex<StoreMonitor?>(nil)
  /// Why the file cannot be followed any more.
  private let loss = Mutex<(any Error)?>(nil)

  /// What main has to know of.
  enum StoreChange: Sendable {
    /// A save of a child.
    case saved(SavedChanges)
    /// Anything may have changed in these tables.
    case tables(Set<Int>)
    /// Main has changes that its observers have not been told yet.
    case unnoticed
    /// The file cannot be followed any more.
    case lost(any Error)
  }

  init(_ store: SQLiteStore, attachments: Attachments) throws {
    self.store = store
    self.attachments = attachments
    known = Mutex(store.layout)
    keys = KeyAllocator(store)
    try keys.prepare(store.layout.tables.map(\.name))
  }

  /// Makes unique keys known to the store and to contexts: those that the model does not have yet.
  ///
  /// Lets the store grow in a transaction of its own, or in the one that is open.
  /// - Throws: `StoreError`, `.modelConflict`, naming the objects that share the values of a key, or the
  ///   other key that the entity has.
  func declare(_ keys: [DeclaredKey], in session: WriteSession?) throws {
    var model = layout.model
    guard try model.declare(keys) else { return }
    if let session {
      try session.grow(to: model)
    } else {
      try store.grow(to: model)
    }
    try known.withLock { known in
      // Others may have declared some meanwhile.
      var model = known.model
      if try model.declare(keys) { known = ModelLayout(model) }
    }
  }

  /// Whether the stack was reset or closed.
  var isClosed: Bool { closed.withLock { $0 } }

  func listen(_ body: @escaping @Sendable (StoreChange) -> Void) {
    listener.withLock { $0 = body }
  }

  /// Closes the store; contexts and objects can do nothing from now on.
  func close() throws {
    let wasClosed = closed.withLock { closed in
      defer { closed = true }
      return closed
    }
    guard !wasClosed else { return }
    notices.finish()
    stopMonitoring()
    followers.end(Self.closed())
    listener.withLock { $0 = nil }
    try keys.release()
    try store.close()
  }

  /// Writes changes in a transaction of their own.
  ///
  /// - Parameters:
  ///   - changes: What to write.
  ///   - policy: What to do where others changed the same objects.
  ///   - above: The unsaved changes of an object in the contexts above; nil: those of main.
  /// - Returns: What was written, what it refers to included.
  /// - Throws: `ContextError` or `StoreError`; nothing was written then.
  func commit(
    _ changes: PendingChanges,
    policy: MergePolicy,
    above: ((RowKey) -> PendingObject?)? = nil
  ) throws -> SavedChanges {
    try checkFile()
    return try store.write { session in
      try session.begin()
      var saved = try write(changes, in: session, policy: policy, above: above)
      for (key, links) in changes.links where links.list != nil {
        saved.seenLists[key] = mainChanges.links(key)?.list
      }
      try commit(session)
      mainChanges.didStore(saved.outcome.versions, childsColumns: saved.ownColumns)
      return saved
    }
  }

  /// What was stored of main's changes on other threads, and main does not know yet, in the order of
  /// the commits.
  func takeOwnSaves() -> [SavedChanges] {
    ownSaves.withLock { saves in
      defer { saves = [] }
      return saves
    }
  }

  /// Begins a save of main's on another thread.
  ///
  /// - Parameter wanted: What the save is for, as it was then; nil: all that main has unsaved.
  /// - Returns: The save.
  func beginAway(_ wanted: PendingChanges?) -> PublishedChanges.Away {
    let changes = mainChanges.snapshot
    guard let wanted else { return mainChanges.beginAway(changes) }
    let left = changes.left(of: wanted, layout)
    return mainChanges.beginAway(withDependencies(left, above: nil))
  }

  /// Writes what main still has pending of a save that has begun; main takes what was written from
  /// `takeOwnSaves()`.
  ///
  /// - Parameters:
  ///   - away: The save.
  ///   - policy: What to do where others changed the same objects.
  /// - Returns: What was written; nil: nothing of it is left to be written.
  /// - Throws: as `commit`.
  func commit(_ away: PublishedChanges.Away, policy: MergePolicy) throws -> SavedChanges? {
    try checkFile()
    return try awayGate.withLock { _ in
      try store.write { session in
        guard let changes = mainChanges.current(away), !changes.isEmpty else { return nil }
        try session.begin()
        var saved = try write(changes, in: session, policy: policy)
        saved.generation = away.generation
        try commit(session)
        mainChanges.didStore(saved.outcome.versions)
        ownSaves.withLock { $0.append(saved) }
        return saved
      }
    }
  }

  /// Before main saves itself: a save on another thread that has not begun to write does not, and one
  /// that has is waited for.
  func stopAway() {
    mainChanges.cancelAway()
    awayGate.withLock { _ in }
  }

  /// Writes changes in an open transaction.
  func write(
    _ changes: PendingChanges,
    in session: WriteSession,
    policy: MergePolicy,
    above: ((RowKey) -> PendingObject?)? = nil
  ) throws -> SavedChanges {
    let ownColumns = changes.objects.mapValues { Set($0.values.keys) }
    let changes = withDependencies(changes, above: above)
    let writer = PendingChangesWriter(session.database, layout, policy: policy)
    do {
      let outcome = try writer.write(changes)
      return SavedChanges(
        changes: changes,
        outcome: outcome,
        ownColumns: ownColumns,
        generation: mainChanges.generation
      )
    } catch let error as DatabaseError {
      throw StoreError(error, path: store.path)
    }
  }

  /// Commits; a link that leads nowhere is named.
  func commit(_ session: WriteSession) throws {
    do {
      try session.commit()
    } catch {
      if let dangling = try? danglingLink(session) { throw dangling }
      throw error
    }
  }

  /// Runs `PRAGMA foreign_key_check`, to say which link SQLite refuses.
  private func danglingLink(_ session: WriteSession) throws -> ContextError? {
    guard session.database.isInsideTransaction,
      let row = try Row.fetchOne(session.database, sql: "PRAGMA foreign_key_check")
    else { return nil }
    let list = "PRAGMA foreign_key_check"
    let table: String = try row.stored(0, of: list)
    let key: Int64? = try row.stored(1, of: list)
    let target: String = try row.stored(2, of: list)
    let entity = layout.entities.first { $0.table == table && $0.root == $0.index }
    let id = entity.flatMap { entity in
      key.map { ObjectID(entity: entity.name, primaryKey: $0) }
    }
    return ContextError(
      .denied,
      "\(entity?.name ?? table) \(key.map(String.init) ?? "") refers to an object of \(target) that"
        + " does not exist (a relationship with delete rule noAction leaves its links).",
      object: id,
      help: "unlink it, or delete it too"
    )
  }

  /// What changes refer to that a context above has inserted and not saved goes with them.
  private func withDependencies(
    _ changes: PendingChanges,
    above: ((RowKey) -> PendingObject?)?
  ) -> PendingChanges {
    if above == nil && mainChanges.isEmpty { return changes }
    let above = above ?? { [mainChanges] in mainChanges.object($0) }
    var changes = changes
    var open = Array(changes.objects.keys)
    for (key, links) in changes.links {
      let link = layout.links[key.link]
      let table = layout.entities[link.destination].tableIndex
      open += (links.list ?? links.addedKeys).map { RowKey(table: table, key: $0) }
      open.append(RowKey(table: layout.entities[link.owner].tableIndex, key: key.owner))
    }
    var seen: Set<RowKey> = []
    while let place = open.popLast() {
      guard seen.insert(place).inserted else { continue }
      if let own = changes.objects[place] {
        changes.objects[place] = resolved(own, at: place, above(place))
      } else if let unsaved = above(place), unsaved.kind == .inserted,
        mainChanges.stored(place) == nil
      {
        changes.objects[place] = unsaved
      }
      guard let object = changes.objects[place] else { continue }
      open += references(of: object, in: place.table)
    }
    return changes
  }

  /// A change of an object that main has inserted: an insertion, or an update of what was stored on
  /// main's behalf meanwhile.
  private func resolved(
    _ change: PendingObject,
    at place: RowKey,
    _ above: PendingObject?
  ) -> PendingObject {
    guard change.version == 0, change.kind != .deleted else { return change }
    if let stored = mainChanges.stored(place) {
      var update = change
      update.kind = .updated
      update.version = stored.version
      for column in layout.tables[place.table].columns.indices
      where update.values[column] == nil && change.kind == .inserted {
        update.values[column] = change.row?.stored(column) ?? .null
      }
      if change.kind == .inserted {
        for column in stored.childsColumns { update.values[column] = nil }
      }
      return update
    }
    guard change.kind == .updated, let above, above.kind == .inserted else { return change }
    return change.over(above)
  }

  private func references(of object: PendingObject, in table: Int) -> [RowKey] {
    var found: [RowKey] = []
    for (place, column) in layout.tables[table].columns.enumerated() {
      guard case .link(let id) = column.kind,
        let key = (object.values[place] ?? object.row?.stored(place))?.integer
      else { continue }
      let target = layout.entities[layout.links[id].destination].tableIndex
      found.append(RowKey(table: target, key: key))
    }
    return found
  }

  /// A file that was removed under a running stack would take writes and lose them.
  private func checkFile() throws {
    guard let path = store.path, !FileManager.default.fileExists(atPath: path) else { return }
    throw StoreError(
      .missing,
      "The database was removed while it was in use; nothing was written.",
      help: "put it back, or reset the stack",
      path: path
    )
  }

  // MARK: - Telling

  /// Tells main and every observer what was stored.
  func announce(_ saved: SavedChanges, by context: ManagedObjectContext) {
    tellMain(.saved(saved), by: context)
    let notice = ChangeNotice(saved.changes, layout)
    followers.send(notice)
    notices.send(notice)
  }

  /// Tells main and every observer what an import has committed.
  func announce(_ flushed: Flushed, by context: ManagedObjectContext) {
    if !flushed.ofMain.changes.isEmpty { tellMain(.saved(flushed.ofMain), by: context) }
    if !flushed.tables.isEmpty { tellMain(.tables(flushed.tables), by: context) }
    let notice = flushed.told(layout)
    followers.send(notice)
    notices.send(notice)
  }

  /// Tells main, unless the context has main above it: then main knows already.
  private func tellMain(_ change: StoreChange, by context: ManagedObjectContext) {
    guard !context.isBelowMain else { return }
    listener.withLock { $0 }?(change)
  }

  /// Lets main tell its observers at the end of its turn.
  func scheduleProcessing() { listener.withLock { $0 }?(.unnoticed) }

  /// Tells main and every observer that anything may have changed.
  func announceEverything() {
    listener.withLock { $0 }?(.tables(Set(layout.tables.indices)))
    let names = layout.tables.map { layout.entities[$0.root].name }
    let notice = ChangeNotice(refreshedEntities: Set(names))
    followers.send(notice)
    notices.send(notice)
  }

  // MARK: - Other processes

  /// Why nothing can be followed any more once the stack is reset or closed.
  static func closed() -> ContextError {
    ContextError(
      .stackClosed,
      "The stack was reset or closed: its results are not followed any more.",
      help: "make them again from the stack that is open"
    )
  }

  /// Refuses to follow a file that cannot be followed any more.
  func checkFollowed() throws {
    if let reason = loss.withLock({ $0 }) { throw reason }
  }

  /// Looks for changes by other processes, at least this often, until the stack is closed; in memory
  /// there are none.
  func monitor(every interval: Duration) throws {
    try checkFollowed()
    guard store.path != nil, !isClosed else { return }
    try monitor.withLock { known in
      if let known { return known.hasten(to: interval) }
      known = try StoreMonitor(
        store,
        every: interval,
        didChange: { [weak self] in self?.announceEverything() },
        didEnd: { [weak self] reason in self?.cannotFollow(reason) }
      )
    }
  }

  private func stopMonitoring() {
    let known = monitor.withLock { known in
      defer { known = nil }
      return known
    }
    known?.stop()
  }

  private func cannotFollow(_ reason: any Error) {
    guard !isClosed else { return }
    loss.withLock { $0 = reason }
    followers.end(reason)
    listener.withLock { $0 }?(.lost(reason))
  }
}

extension ManagedObjectContext {
  /// Whether the context is main, or a child of main that lives on its thread.
  fileprivate var isBelowMain: Bool { kind == .main || parent?.isBelowMain == true }
}
