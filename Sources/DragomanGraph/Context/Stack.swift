import Foundation
import Synchronization

/// Contexts over one store: the main context, and temporary ones in the background.
///
///     let stack = try Stack(model, at: .file("people.db"))
///     try await stack.write { context in
///       let person = try context.insert("Person")
///       person["firstName"] = "Rohan"
///     }
///     let people = try stack.main.fetch(FetchRequest("Person"))
///
/// A root context writes the store, main is its child, temporary contexts are children of main.
/// There is no shared instance: several stacks live side by side in one process.
public final class Stack: Sendable {
  /// What a write waits for.
  public enum Durability: Sendable, Hashable {
    /// The changes are visible in main; they are stored in the background, and stay pending in main
    /// where that fails.
    case merged
    /// The changes are committed in the store.
    case durable
  }

  /// Where the store is, to be opened again.
  private enum Place: Sendable {
    case sqlite(SQLiteStore.Location, SQLiteStore.Options)
    case server(any DatabaseServer)
  }

  /// What was done to the database that was there when the stack was opened; nil: nothing, or it only
  /// grew.
  public let migration: Migration?
  /// Where the old file is and why it had to go; nil: it did not.
  public let recreation: SQLiteStore.Recreation?

  private let current: Mutex<RootContext>
  /// One reset or closing at a time: the store's files have one name.
  private let life = Mutex<Void>(())
  private let location: Place
  /// Whoever waits for a writer keeps others from none of these; on a server each may have a connection.
  private let lanes = Lanes(count: 32)
  let failures = FailureLog()
  /// What layers above keep with the stack: their registries.
  ///
  /// It outlives a reset.
  package let attachments: Attachments
  @MainActor private var mainContext: ManagedObjectContext?
  /// Whether main's changes are being stored on another thread, and who waits to do so.
  @MainActor private var isStoring = false
  @MainActor private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Opens a stack.
  ///
  /// - Parameters:
  ///   - model: What the store is to hold; what it does not have yet is added.
  ///   - location: A file, or memory.
  ///   - options: How the store is opened.
  ///   - policy: What happens when the model contradicts the file; by default that is an error.
  ///     `migration` and `recreation` tell afterwards what was done.
  /// - Throws: `StoreError`: `.badRequest` for a faulty model, with all its faults;
  ///   `.modelConflict` where the model contradicts what is stored and the policy does not help;
  ///   what `SQLiteStore.init(at:options:)` throws.
  public init(
    _ model: Model,
    at location: SQLiteStore.Location,
    options: SQLiteStore.Options = SQLiteStore.Options(),
    onConflict policy: SQLiteStore.ConflictPolicy = .error
  ) throws {
    try Self.check(model)
    self.location = .sqlite(location, options)
    let opening = try SQLiteStore.open(model, at: location, options: options, onConflict: policy)
    migration = opening.migration
    recreation = opening.recreation
    attachments = Attachments()
    current = Mutex(try RootContext(opening.store, attachments: attachments))
    listen()
  }

  /// Opens a stack on a server; `DragomanPostgreSQL` has what people call.
  ///
  /// - Parameters:
  ///   - model: What the database is to hold; what it does not have yet is added.
  ///   - server: The server.
  ///   - references: The entities whose tables are to be on all nodes of Citus.
  ///   - migrates: Whether the database is migrated, dropping nothing, where the model contradicts what it holds.
  /// - Throws: `StoreError`, as `ServerStore.init(on:references:)`, its `grow(to:)` and `migrate(to:drops:)`.
  package init(
    _ model: Model,
    on server: any DatabaseServer,
    references: [String] = [],
    migrates: Bool = false
  ) throws {
    try Self.check(model)
    try Self.checkDefaults(of: model)
    location = .server(server)
    recreation = nil
    attachments = Attachments()
    let store = try ServerStore(on: server, references: references)
    if migrates {
      migration = try store.opened(for: model)
    } else {
      try store.grow(to: model)
      migration = nil
    }
    current = Mutex(try RootContext(store, attachments: attachments))
    listen()
  }

  private static func check(_ model: Model) throws(StoreError) {
    let faults = model.completingInverses().validate()
    guard faults.isEmpty else {
      throw StoreError(
        .badRequest,
        "The model is faulty: " + faults.map(\.description).joined(separator: "; ")
      )
    }
  }

  /// Refuses a default that no object could have on a server.
  private static func checkDefaults(of model: Model) throws(StoreError) {
    for entity in model.entities {
      let attribute = entity.attributes.first { $0.defaultValue?.string?.utf8.contains(0) == true }
      guard let attribute else { continue }
      throw StoreError(
        .badRequest,
        "The default of \(entity.name).\(attribute.name) holds U+0000, which PostgreSQL cannot hold.",
        help: "take the character out"
      )
    }
  }

  var root: RootContext { current.withLock { $0 } }

  /// The file, for bulk imports and plain reading.
  ///
  /// - Throws: `StoreError`, `.badRequest`, for a stack on a server, which has none.
  public var store: SQLiteStore {
    get throws(StoreError) {
      guard let store = root.store as? SQLiteStore else {
        throw StoreError(
          .badRequest,
          "The stack is on a server: it has no file.",
          help: "use its contexts, or import by `Stack.import(_:by:)`"
        )
      }
      return store
    }
  }

  /// The server that the stack is on; nil: it is on a file, or in memory.
  package var server: ServerStore? { root.store as? ServerStore }

  /// The model that the stack was opened with, and what the store held besides.
  public var model: Model { root.layout.model }

  // MARK: - Main

  /// The main actor's context.
  @MainActor public var main: ManagedObjectContext {
    let root = root
    if let mainContext, mainContext.root === root { return mainContext }
    mainContext?.end(RootContext.closed())
    let made = ManagedObjectContext(.main, root: root)
    mainContext = made
    return made
  }

  /// Saves the main context without making the main thread wait for the disk.
  ///
  /// One such save, or one of what was merged, runs at a time. What main changes meanwhile, also what
  /// it takes back, stays unsaved; main's own `save()` stops one that has not begun to write, and
  /// waits for one that has.
  ///
  /// - Throws: as `ManagedObjectContext.save()`.
  @MainActor public func saveMain() async throws {
    try await storeMain(nil, policy: main.mergePolicy)
  }

  /// Stores what main has unsaved, or what was merged into it, on another thread; one such save at a
  /// time.
  ///
  /// - Parameters:
  ///   - merged: What was merged, and in which store; nil: all that is unsaved.
  ///   - policy: What to do where others changed the same objects.
  /// - Throws: as `saveMain()`.
  @MainActor func storeMain(
    _ merged: (changes: ChangeSet, root: RootContext)?,
    policy: MergePolicy
  ) async throws {
    while isStoring { await withCheckedContinuation { waiting.append($0) } }
    isStoring = true
    defer {
      isStoring = false
      if !waiting.isEmpty { waiting.removeFirst().resume() }
    }
    let (main, root) = (main, root)
    // The store may have been reset meanwhile: the same keys are others' there.
    if let merged, merged.root !== root { return }
    defer { root.main.setAway(nil) }
    while true {
      if merged == nil { try main.validateForSave() }
      let changes = root.main.changes
      let away =
        merged.map { root.withDependencies(changes.left(of: $0.changes, root.layout), [changes]) }
        ?? changes
      if away.isEmpty { return }
      if merged != nil { try main.validate(away) }
      root.main.setAway(away)
      // False: main has begun to save itself meanwhile, and may have failed.
      guard try await run({ try root.commitAway(policy, isNew: merged == nil) }) else { continue }
      return main.settling.takeNews()
    }
  }

  // MARK: - Background

  /// Runs a closure with a temporary context in the background, and saves the context.
  ///
  /// The context sees main's unsaved changes, also those made later. It and its objects cannot leave
  /// the closure; return ids or values.
  ///
  /// - Parameters:
  ///   - durability: What to wait for.
  ///   - policy: What to do where others changed the same objects.
  ///   - body: Works with the context.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, and then nothing is saved; what a save throws.
  @discardableResult
  public func write<T: Sendable>(
    until durability: Durability = .durable,
    policy: MergePolicy = .error,
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> T
  ) async throws -> T {
    let root = root
    switch durability {
    case .durable:
      return try await run {
        let context = ManagedObjectContext(.background, root: root)
        context.mergePolicy = policy
        defer { context.close() }
        let value = try body(context)
        try context.save()
        return value
      }
    case .merged:
      let (value, changes, seen, rivals) = try await run {
        let seen = root.main.changes
        let context = ManagedObjectContext(.background, root: root)
        context.above.seen = seen
        defer { context.close() }
        let value = try body(context)
        return (value, try context.changesToMerge(), seen, context.above.rivals)
      }
      try await merge(changes, since: seen, rivals: rivals, into: root, policy: policy)
      return value
    }
  }

  /// Runs a closure with a temporary context in the background; what it changes is dropped.
  public func read<T: Sendable>(
    _ body: @escaping @Sendable (ManagedObjectContext) throws -> T
  ) async throws -> T {
    let root = root
    return try await run {
      let context = ManagedObjectContext(.background, root: root)
      defer { context.close() }
      let value = try body(context)
      try context.throwRecorded()
      return value
    }
  }

  /// What went wrong with changes that were stored in the background after `write(until: .merged)`.
  public var backgroundErrors: [any Error] { failures.all }

  /// Tells main and every observer that the store was changed past the stack's contexts: by an
  /// `Importer`, or by another process.
  ///
  /// Main compares the versions of the objects that it holds, with one `SELECT` a table, and reads
  /// those again that differ; observers are sent `refreshedEntities`.
  public func storeDidChange() { root.announceEverything() }

  // MARK: - Notices

  /// What changes, from now on: one notice a save, an import, a merge.
  ///
  /// The sequence ends when the stack is closed or reset.
  public func changes() -> AsyncStream<ChangeNotice> { root.notices.notices() }

  // MARK: - Life

  /// Removes the store with everything in it, and goes on with an empty one.
  ///
  /// The files `-wal` and `-shm` go too. A database on a server is not removed. Contexts and objects of before throw `.stackClosed`;
  /// sequences of notices end. What was registered with the stack stays. Resets of several threads
  /// run one after the other.
  /// - Throws: `StoreError`.
  public func reset() throws {
    // Who is in the store would be waited for by who closes it meanwhile, and wait for that one.
    try root.store.checkIsOutside()
    try life.withLock { _ in try makeAnew() }
  }

  private func makeAnew() throws {
    guard case .sqlite(let location, let options) = location else {
      throw StoreError(
        .badRequest,
        "The stack is on a server, whose database is not removed from here.",
        help: "use dropdb and createdb, and open the stack again"
      )
    }
    let model = model
    let old = root
    try old.close()
    endMain(of: old)
    if case .file(let path) = location {
      for file in [path, path + "-wal", path + "-shm"]
      where FileManager.default.fileExists(atPath: file) {
        do {
          try FileManager.default.removeItem(atPath: file)
        } catch {
          throw StoreError(.permission, "The file cannot be removed: \(error).", path: file)
        }
      }
    }
    let store = try SQLiteStore(at: location, options: options)
    try store.grow(to: model)
    let root = try RootContext(store, attachments: attachments)
    current.withLock { $0 = root }
    listen()
  }

  /// Closes the store.
  ///
  /// - Throws: `StoreError`.
  public func close() throws {
    try root.store.checkIsOutside()
    try life.withLock { _ in
      let old = root
      try old.close()
      endMain(of: old)
    }
  }

  /// Tells those who follow main that there is nothing more to come.
  private func endMain(of old: RootContext) {
    Task { @MainActor in
      if let mainContext, mainContext.root === old {
        mainContext.end(RootContext.closed())
      }
    }
  }

  private func listen() {
    root.listen { [weak self, weak root] call in
      Task { @MainActor in self?.callMain(call, of: root) }
    }
  }

  @MainActor private func callMain(_ call: RootContext.MainCall, of root: RootContext?) {
    guard let mainContext, mainContext.root === root else {
      root?.news.dropOfMain()
      return
    }
    switch call {
    case .news: mainContext.settling.takeNews()
    case .unnoticed: mainContext.processChanges()
    case .lost(let reason): mainContext.notices.endFollowers(reason)
    }
  }

  /// Runs blocking work off Swift's threads.
  func run<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await lanes.run { Result { try body() } }.get()
  }
}

/// Errors of work that nobody waits for.
final class FailureLog: Sendable {
  private let errors = Mutex<[any Error]>([])

  var all: [any Error] { errors.withLock { $0 } }

  func add(_ error: any Error) { errors.withLock { $0.append(error) } }
}
