import Foundation
import Synchronization

/// The context above main: it holds no objects and writes the store, on whichever thread asks.
///
/// Shared by all contexts of a stack. Nothing here waits for the main thread: what main has not
/// saved is read from `main`.
///
/// Large because all that the contexts of a stack share hangs on it.
final class RootContext: Sendable {
  let store: any ObjectStore
  /// The model as it was when the stack was opened, with the unique keys that mappers have declared
  /// since: an import that lets the store grow adds columns and tables that this stack's contexts do
  /// not see.
  var layout: ModelLayout { known.withLock { $0 } }
  private let known: Mutex<ModelLayout>
  let keys: KeyAllocator
  /// What main has not saved.
  let main = Overlay()
  /// Held while changes of main's are written on another thread.
  private let awayGate = Mutex<Void>(())
  let notices = NoticeBroadcaster()
  /// Those who follow what is stored: told after the commit, never before.
  let followers = StoreFollowers()
  let attachments: Attachments
  /// What was committed and is not told yet, in order.
  let news = CommitNews()
  /// Calls main; set once by the stack.
  let listener = Mutex<(@Sendable (MainCall) -> Void)?>(nil)
  private let closed = Mutex(false)
  /// Looks for what other processes write, once somebody asks for it.
  private let monitor = Mutex<StoreMonitor?>(nil)
  /// Why the file cannot be followed any more.
  private let loss = Mutex<(any Error)?>(nil)

  /// Why main is called.
  enum MainCall: Sendable {
    /// Something was stored past it.
    case news
    /// Main has changes that its observers have not been told yet.
    case unnoticed
    /// The file cannot be followed any more.
    case lost(any Error)
  }

  /// - Parameters:
  ///   - store: The store.
  ///   - attachments: What layers above keep with the stack.
  ///   - layout: What the store will have when an import has let it grow; nil: it has all that is wanted.
  /// - Throws: `StoreError`, where no keys can be reserved.
  init(_ store: any ObjectStore, attachments: Attachments, growing layout: ModelLayout? = nil)
    throws
  {
    self.store = store
    self.attachments = attachments
    known = Mutex(layout ?? store.layout)
    keys = KeyAllocator(store)
    if layout == nil { try keys.prepare(store.layout.tables.map(\.name)) }
  }

  /// Makes unique keys known to the store and to contexts: those that the model does not have yet.
  ///
  /// Lets the store grow in a transaction of its own, or in the one that is open.
  /// - Throws: `StoreError`, `.modelConflict`, naming the objects that share the values of a key, or the
  ///   other key that the entity has.
  func declare(_ keys: [DeclaredKey], in session: (any StoreWriter)?) throws {
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
      if try model.declare(keys) {
        known = ModelLayout(model, migrations: known.migrations)
      }
    }
  }

  /// Whether the stack was reset or closed.
  var isClosed: Bool { closed.withLock { $0 } }

  func listen(_ body: @escaping @Sendable (MainCall) -> Void) {
    listener.withLock { $0 = body }
  }

  /// Closes the store; contexts and objects can do nothing from now on.
  func close() throws {
    // What is refused leaves everything as it is.
    try store.checkIsOutside()
    let wasClosed = closed.withLock { closed in
      defer { closed = true }
      return closed
    }
    guard !wasClosed else { return }
    notices.finish()
    stopMonitoring()
    followers.end(Self.closed())
    listener.withLock { $0 = nil }
    // A courtesy: keys that are not given back are passed over.
    try? keys.release()
    do {
      try store.close()
    } catch {
      // It can be tried again.
      closed.withLock { $0 = false }
      throw error
    }
  }

  /// What a save wrote, and what was unsaved above when it did.
  struct Write {
    let written: WrittenChanges
    /// The changes of the contexts above, the nearest first.
    let seen: [ChangeSet]
  }

  /// Writes the unsaved changes of a context in a transaction of their own, and leaves it to the caller to tell.
  ///
  /// What is needed of the contexts above is written, too, and taken out there.
  /// - Returns: What was written, what it refers to included; the context has nothing unsaved then.
  /// - Throws: `ContextError` or `StoreError`; nothing was written then.
  func commit(_ context: ManagedObjectContext) throws -> Write {
    let (overlay, above) = (context.overlay, context.overlaysAbove)
    let policy = context.mergePolicy
    try checkFile()
    return try store.again {
      try store.save { session in
        try session.begin()
        let saved = try write(overlay.changes, seen: above.map(\.changes), in: session, policy)
        try commit(session)
        let written = saved.written
        news.add {
          overlay.removeAll(isStored: true)
          for (seen, above) in zip(saved.seen, above) {
            let isMain = above === main
            above.settle(written, seen: seen, yields: !isMain, layout)
          }
          var item = CommitNews.Item { [layout] in ChangeNotice(written.changes, layout) }
          item.main = [context.kind == .main ? .savedOwn(written) : .saved(written)]
          item.callsMain = !context.isBelowMain
          return item
        }
        return saved
      }
    }
  }

  /// Writes what main still wants written of what it has put away, and tells it.
  ///
  /// - Parameters:
  ///   - policy: What to do where others changed the same objects.
  ///   - isNew: Whether those who observe the stack have not been told of it.
  /// - Returns: Whether something was written; false: nothing of it is left to be written.
  /// - Throws: as `commit(_:)`.
  func commitAway(_ policy: MergePolicy, isNew: Bool) throws -> Bool {
    try checkFile()
    // Main does not wait between two attempts.
    let isWritten = try store.again {
      try awayGate.withLock { _ in try writeAway(policy, isNew: isNew) }
    }
    if isWritten { tell() }
    return isWritten
  }

  private func writeAway(_ policy: MergePolicy, isNew: Bool) throws -> Bool {
    try store.save { session in
      guard let changes = main.takeAway(), !changes.isEmpty else { return false }
      try session.begin()
      let written = try write(changes, seen: [], besides: main.changes, in: session, policy).written
      try commit(session)
      news.add {
        // Main may have rolled back while it was written: then it is somebody else's change to it.
        let isOwn = main.settleAway(written, seen: changes, layout)
        var item = CommitNews.Item { [layout] in ChangeNotice(written.changes, layout) }
        item.main = [isOwn ? .savedOwn(written) : .saved(written)]
        item.isNew = isNew
        return item
      }
      return true
    }
  }

  /// Before main saves itself: a save on another thread that has not begun to write does not, and one
  /// that has is waited for.
  ///
  /// - Throws: `StoreError`, `.badRequest`, for who writes on this thread: such a save waits for that.
  func stopAway() throws {
    try store.checkMayWrite()
    main.cancelAway()
    awayGate.withLock { _ in }
  }

  /// Writes changes in an open transaction.
  ///
  /// - Parameters:
  ///   - changes: The changes.
  ///   - seen: What is unsaved above by then, and not in this transaction already, the nearest first.
  ///   - others: What else of main is unsaved, where these are changes of main's; nil: they are not.
  ///   - session: The transaction.
  ///   - policy: What to do where others changed the same objects.
  /// - Returns: What was written, with the columns of other rows that a deletion has cleared.
  /// - Throws: `ContextError` or `StoreError`; the caller rolls the transaction back.
  func write(
    _ changes: ChangeSet,
    seen: [ChangeSet],
    besides others: ChangeSet? = nil,
    in session: any StoreWriter,
    _ policy: MergePolicy
  ) throws -> Write {
    var changes = withDependencies(changes, seen)
    changes.above = seen + (others.map { [$0] } ?? [])
    let outcome = try session.write(changes, layout, policy)
    changes.above = []
    for (place, values) in outcome.cleared {
      let change = RowChange(.updated, layout.tables[place.table].root, values: values)
      changes.set(change, at: place, layout)
    }
    return Write(written: WrittenChanges(changes: changes, outcome: outcome), seen: seen)
  }

  /// Commits; a link that leads nowhere is named.
  func commit(_ session: any StoreWriter) throws {
    try naming(session) { try session.commit() }
  }

  /// Refuses what the commit would, and names the link that leads nowhere.
  func checkLinks(_ session: any StoreWriter) throws {
    try naming(session) { try session.checkLinks() }
  }

  /// Says which link the store refuses.
  private func naming(_ session: any StoreWriter, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      if let dangling = try? danglingLink(session) { throw dangling }
      throw error
    }
  }

  /// Says which link the store refuses.
  private func danglingLink(_ session: any StoreWriter) throws -> ContextError? {
    guard let (table, key, target) = try session.danglingLink() else { return nil }
    let entity = layout.entities.first { $0.table == table && $0.root == $0.index }
    let id = entity.flatMap { entity in
      key.map { ObjectID(entity: entity.name, primaryKey: $0) }
    }
    return ContextError(
      .denied,
      "\(entity?.name ?? table) \(key.map(String.init) ?? "") refers to an object of \(target) that"
        + " does not exist: it was deleted elsewhere, or here by a delete rule that leaves its links (noAction).",
      object: id,
      help: "unlink it, or delete it too"
    )
  }

  /// Changes, and with them what they refer to that a context above, the nearest first, has inserted and not saved.
  func withDependencies(_ changes: ChangeSet, _ above: [ChangeSet]) -> ChangeSet {
    guard above.contains(where: { !$0.isEmpty }) else { return changes }
    var changes = changes
    var open = changes.places
    for owner in changes.links.owners {
      let link = layout.links[owner.link]
      let table = layout.entities[link.destination].tableIndex
      open.append(RowKey(table: layout.entities[link.owner].tableIndex, key: owner.owner))
      let targets =
        changes.links.lists[owner]?.added
        ?? changes.links.pairs[owner]?.filter { $0.value }.map(\.key) ?? []
      open += targets.map { RowKey(table: table, key: $0) }
    }
    var seen: Set<RowKey> = []
    while let place = open.popLast() {
      guard seen.insert(place).inserted else { continue }
      if let joined = joined(changes[place], at: place, above) {
        changes.set(joined, at: place, layout)
      }
      guard let change = changes[place], change.kind != .deleted else { continue }
      for column in layout.linkColumns[place.table] {
        guard let key = change.whole(column.column).integer else { continue }
        let target = layout.entities[layout.links[column.link].destination].tableIndex
        open.append(RowKey(table: target, key: key))
      }
    }
    return changes
  }

  /// An insertion of a context above, with what the contexts below it have set.
  private func joined(
    _ change: RowChange?,
    at place: RowKey,
    _ above: [ChangeSet]
  ) -> RowChange? {
    if let change, change.kind != .updated { return nil }
    var layers = change.map { [$0] } ?? []
    for changes in above {
      guard let next = changes[place] else { continue }
      if next.kind == .deleted { return nil }
      layers.append(next)
      if next.kind == .inserted { break }
    }
    guard var joined = layers.popLast(), joined.kind == .inserted else { return nil }
    for layer in layers.reversed() { joined.values.merge(layer.values) { $1 } }
    return joined
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

  // MARK: - Other processes

  /// Why nothing goes on once the stack is reset or closed.
  static func closed() -> ContextError {
    ContextError(
      .stackClosed,
      "The stack was reset or closed.",
      help: "use the stack that is open, and make results that are followed from it again"
    )
  }

  /// Does something; where it fails and the stack was reset or closed, that is why.
  func whileOpen<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      guard isClosed, error is StoreError || error is ContextError else { throw error }
      throw Self.closed()
    }
  }

  /// Refuses to follow a file that cannot be followed any more.
  func checkFollowed() throws {
    if let reason = loss.withLock({ $0 }) { throw reason }
  }

  /// Looks for changes by other processes, at least this often, until the stack is closed; in memory
  /// there are none.
  func monitor(every interval: Duration) throws {
    try checkFollowed()
    guard store.isShared, !isClosed else { return }
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
