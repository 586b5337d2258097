import Foundation
import Synchronization

/// The objects of a model on a server that speaks PostgreSQL's SQL: tables as in a file, with native types.
///
/// One writer at a time (an advisory lock of the database), any number of readers, each of which sees one moment
/// (`REPEATABLE READ`). Everything waits for the server: call it on threads that may wait.
package final class ServerStore: ObjectStore, Sendable {
  /// The server in the words of messages, without user and password.
  package let name: String
  /// There is no file.
  var path: String? { nil }
  var isShared: Bool { true }
  var holdsNUL: Bool { false }

  /// The entities whose tables are to be on all nodes, where they lie on several machines.
  let references: [String]

  private let server: any DatabaseServer
  private let stored: Mutex<ServerModel>
  /// The model that readers have seen last.
  private let seen: Mutex<ServerModel>
  /// Connections that nobody uses, ready to read.
  private let idle = Mutex<Connections>(Connections())
  /// Held by the writer of this process.
  private let gate = NSLock()
  /// The thread that writes.
  private let writing = Mutex<pthread_t?>(nil)

  /// Connections that wait to be used.
  // Sendable because each is handed to one thread at a time.
  private struct Connections: @unchecked Sendable {
    var list: [any ServerConnection] = []
    var isClosed = false
  }

  /// Connects, and looks at what is there; nothing is written.
  ///
  /// - Parameters:
  ///   - server: The server.
  ///   - references: The entities whose tables are to be on all nodes of Citus, when they are made.
  /// - Throws: `StoreError`: `.unreachable`, `.permission`, `.missing`, `.notAStore`, `.newerFormat`, `.damaged`,
  ///   `.refused` for a server that is too old or does not speak UTF-8, `.badRequest` for references on one that has no
  ///   nodes.
  package init(
    on server: any DatabaseServer,
    references: [String] = []
  ) throws(StoreError) {
    self.server = server
    self.references = references
    name = server.name
    let (connection, model) = try StoreError.namingServer(server.name) {
      let connection = try server.connect()
      try ServerModel.checkServer(connection)
      return (connection, try ServerModel(connection))
    }
    guard references.isEmpty || model.distribution != nil else {
      connection.close()
      throw ServerDistribution.missing(references)
    }
    stored = Mutex(model)
    seen = Mutex(model)
    idle.withLock { $0.list.append(connection) }
  }

  /// The model that is stored there.
  package var layout: ModelLayout { stored.withLock { $0.layout } }

  /// How the tables lie on several machines; nil: they lie on one.
  package var distribution: ServerDistribution? { stored.withLock { $0.distribution } }

  // MARK: - Connections

  /// Lends a connection; one that is left in a transaction, or is broken, is not used again.
  ///
  /// Where one that lay idle is dead by now, the closure runs again with another one.
  func connected<T>(_ body: (any ServerConnection) throws -> T) throws -> T {
    try StoreError.onServer(name) {
      let lent = try take()
      defer { put(lent.connection) }
      return try lent.begin(body)
    }
  }

  /// A connection of its own.
  func connect() throws -> any ServerConnection { try server.connect() }

  private func take() throws -> LentConnection {
    let known = try idle.withLock { idle in
      guard !idle.isClosed else {
        throw StoreError(.refused, "The store is closed.", help: "open it again")
      }
      return Connections(list: idle.list.popLast().map { [$0] } ?? [])
    }
    return try LentConnection(of: server, idle: known.list.first)
  }

  private func put(_ connection: any ServerConnection) {
    let returned = Connections(list: [connection])
    let isKept = idle.withLock { idle in
      guard !idle.isClosed, idle.list.count < 4, returned.list[0].isUsable,
        !returned.list[0].isInTransaction
      else { return false }
      idle.list += returned.list
      return true
    }
    if !isKept { connection.close() }
  }

  func close() throws(StoreError) {
    let left = idle.withLock { idle in
      let left = idle
      idle = Connections(isClosed: true)
      return left
    }
    for connection in left.list { connection.close() }
  }

  func again<T>(_ body: () throws -> T) throws -> T {
    var patience = Patience()
    while true {
      do {
        return try body()
      } catch {
        guard patience.wait(after: error) else { throw error }
      }
    }
  }

  // MARK: - Reading

  func read<T>(_ layout: ModelLayout, _ body: (any StoreReader) throws -> T) throws -> T {
    do {
      return try moment(of: layout) {
        try body(ServerReader($0, layout, isDistributed: distribution != nil))
      }
    } catch let error as StoreError where error.code == .damaged {
      // Names that are gone may have gone by a migration.
      let now = try connected { try ServerModel($0).layout }
      throw now.holds(layout) ? error : .migrated(at: name)
    }
  }

  /// Lends a connection that sees one moment.
  ///
  /// - Parameters:
  ///   - layout: The model that the closure reads by; nil: one that it asks for.
  ///   - body: Gets the connection.
  /// - Returns: What the closure returns.
  /// - Throws: `StoreError`, `.migrated` where the store was migrated away from the layout, or replaced; what the
  ///   closure throws.
  func moment<T>(
    of layout: ModelLayout? = nil,
    _ body: (any ServerConnection) throws -> T
  ) throws -> T {
    try StoreError.onServer(name) {
      let connection = try beginReading(of: layout)
      defer { put(connection) }
      do {
        let value = try body(connection)
        try connection.run("COMMIT")
        return value
      } catch {
        if connection.isUsable { try? connection.run("ROLLBACK") }
        throw error
      }
    }
  }

  /// Takes a connection and begins to read.
  private func beginReading(of layout: ModelLayout?) throws -> any ServerConnection {
    let stored = stored.withLock { $0 }
    let seen = seen.withLock { $0 }
    guard let layout, stored.stamp != nil, seen.stamp != nil else {
      return try beginReading(of: layout, stored, by: nil)
    }
    do {
      return try beginReading(of: layout, stored, by: seen)
    } catch let error as ServerError where error.state == ServerStamp.outdated {
      return try beginReading(of: layout, stored, by: nil)
    }
  }

  /// The same, by a model that ends it where it is outdated; nil: by the one that is there now.
  private func beginReading(
    of layout: ModelLayout?,
    _ stored: ServerModel,
    by seen: ServerModel?
  ) throws -> any ServerConnection {
    let lent = try take()
    do {
      let asked = layout.flatMap { stored.stamp == nil ? nil : $0 }
      let now = try lent.begin { connection in
        try beginReading(connection, stored, seen?.stamp?.check)
        return try asked.map { _ in try seen ?? ServerModel(connection) }
      }
      if let asked, let now {
        try check(asked, now, stored)
        if seen == nil { self.seen.withLock { $0 = now } }
      }
      return lent.connection
    } catch {
      if lent.connection.isUsable { try? lent.connection.run("ROLLBACK") }
      put(lent.connection)
      throw error
    }
  }

  /// Refuses a layout that the store was migrated away from, and a store in the place of the one that was opened.
  private func check(_ layout: ModelLayout, _ now: ServerModel, _ stored: ServerModel) throws {
    guard let stamp = now.stamp, let known = stored.stamp, stamp.isOfStore(of: known) else {
      throw StoreError.replaced(at: name)
    }
    guard now.layout.migrations == layout.migrations else { throw StoreError.migrated(at: name) }
  }

  private func beginReading(
    _ connection: any ServerConnection,
    _ stored: ServerModel,
    _ check: String?
  ) throws {
    // A migration waits for its end, or it for the migration: the model and the tables are those of one moment.
    let lock =
      (stored.stamp == nil ? "" : "; LOCK TABLE _dragoman_model IN ACCESS SHARE MODE")
      + (check.map { "; \($0)" } ?? "")
    guard let distribution = stored.distribution else {
      return try connection.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY\(lock)")
    }
    try distribution.beginReading(on: connection, Schema(stored.layout).tables, lock)
  }

  /// What is stored at one moment, in a temporary file that goes when it is closed.
  package func copy(of part: ServerCopy.Part) throws -> SQLiteStore {
    try moment { connection in
      let model = try ServerModel(connection)
      return try ServerCopy(connection, model.layout).store(of: part)
    }
  }

  /// Lends what is stored at one moment to the closure: rows of one table each as the server sends them, where it can
  /// say what is asked for, or all of it in a temporary file.
  ///
  /// - Parameters:
  ///   - requests: What is asked for; nil: links and references that wait, too.
  ///   - body: Gets the snapshot.
  /// - Returns: What the closure returns.
  /// - Throws: `StoreError`, and what the closure throws.
  package func withSnapshot<T>(
    for requests: [FetchRequest]?,
    _ body: (StoreSnapshot) throws -> T
  ) throws -> T {
    try moment { connection in
      let layout = try ServerModel(connection).layout
      let isSaid = try requests.map { requests in
        try requests.allSatisfy { request in
          ServerQuery(try ResolvedRequest(request, in: layout), layout) != nil
        }
      }
      let streams = isSaid ?? false
      let tables = streams ? RequestTables(noneOf: layout) : RequestTables(all: layout)
      let server = ServerCopy(connection, layout)
      let copy = try server.store(of: tables)
      defer { try? copy.close() }
      if !streams { try server.copyWaiting(to: copy) }
      return try copy.withSnapshot { snapshot in
        let reader = ServerReader(connection, layout, isDistributed: distribution != nil)
        return try body(streams ? snapshot.reading(from: reader) : snapshot)
      }
    }
  }

  /// The names and types of the columns of a request, in the order of its rows' values.
  ///
  /// - Throws: `StoreError`, `.badRequest` for a request that does not fit the model.
  package func attributes(of request: FetchRequest) throws(StoreError) -> [Attribute] {
    try FetchPlan(request, in: layout).attributes
  }

  // MARK: - Writing

  func save<T>(_ body: (any StoreWriter) throws -> T) throws -> T {
    try write { session in
      session.waitsOnce = true
      return try body(session)
    }
  }

  /// The same for whoever needs what only a server's writer has.
  func write<T>(_ body: (ServerSession) throws -> T) throws -> T {
    guard writing.withLock({ $0 }) != pthread_self() else {
      throw StoreError(
        .badRequest,
        "The store is asked from within its own write: a closure or hook works with the session or context that"
          + " it is given.",
        path: name
      )
    }
    gate.lock()
    defer { gate.unlock() }
    writing.withLock { $0 = pthread_self() }
    defer { writing.withLock { $0 = nil } }
    return try StoreError.onServer(name) {
      let session = ServerSession(try take(), self, stored.withLock { $0 })
      defer {
        session.rollbackIfOpen()
        let committed = session.committed
        stored.withLock { $0 = committed }
        if committed.stamp != nil { seen.withLock { $0 = committed } }
        put(session.connection)
      }
      return try body(session)
    }
  }

  package func grow(to model: Model) throws(StoreError) {
    try StoreError.namingServer(name) {
      try write { session in
        try session.begin()
        let old = session.layout.model
        try session.grow(to: model)
        let fills = session.layout.fills(since: old)
        for fill in fills { try session.connection.fill(fill) }
        try RowAddition.note(fills.map(\.addition), session.sql)
        try session.commit()
      }
    }
  }

  // MARK: - Others

  /// Hashes of which transactions of the whole server are over, and of the stored model: whatever is committed by
  /// anybody, in whatever database, changes the first.
  ///
  /// All of the snapshot counts: a transaction that was begun early and ends late changes neither of its bounds.
  func fingerprint() throws -> StoreFingerprint {
    try connected { connection in
      var (version, hash) = (Int64(0), "")
      try connection.forEachRow(
        "SELECT ('x' || left(md5(pg_current_snapshot()::text), 16))::bit(64)::bigint,"
          + " (SELECT md5(tableoid::text || model) FROM _dragoman_model WHERE id = 1)"
      ) { row in
        version = row[0].number
        hash = row[1].text ?? ""
      }
      return StoreFingerprint(
        dataVersion: version,
        schemaVersion: Int64(bitPattern: UInt64(hash.prefix(16), radix: 16) ?? 0),
        file: nil
      )
    }
  }

  func check(_ new: StoreFingerprint, against old: StoreFingerprint) throws {
    guard new.schemaVersion != old.schemaVersion else { return }
    let model = try connected { try ServerModel($0) }
    if let stamp = model.stamp, let known = stored.withLock({ $0.stamp }),
      !stamp.isOfStore(of: known)
    {
      throw StoreError.replaced(at: name)
    }
    guard model.layout.holds(layout) else {
      throw StoreError(
        .migrated,
        "The database was migrated to another model by another process while it was followed.",
        help: "open it again with the new model",
        path: name
      )
    }
  }
}

extension ServerStore {
  /// Ends all connections.
  package func end() {
    // There is nothing of theirs that could fail.
    try? close()
  }
}
