import DragomanGraph

/// Where a stack's objects are, if that is no file.
public struct ServerLocation: Sendable {
  let server: PostgreSQLServer

  /// The entities whose tables are on all nodes.
  let references: [String]

  /// A database of a PostgreSQL server, by its URL: `postgresql://user@host/people`.
  ///
  /// See `PostgreSQLServer` for what a URL may say.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - references: The entities whose tables every node is to have as a whole, where the server is a coordinator of
  ///     Citus: small ones that others refer to.
  /// - Returns: Where the stack's objects are.
  public static func postgreSQL(_ url: String, references: [String] = []) -> ServerLocation {
    ServerLocation(server: PostgreSQLServer(url), references: references)
  }
}

extension ServerLocation {
  /// What happens when a model contradicts what a server holds.
  public enum ConflictPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// `.modelConflict` is thrown; what is only new is added.
    case error
    /// The database is migrated, dropping nothing.
    case migrate
  }
}

extension Stack {
  /// Opens a stack on a server.
  ///
  ///     let stack = try Stack(model, at: .postgreSQL("postgresql://localhost/people"))
  ///
  /// Contexts, live objects, saving with conflicts and results that stay in step are those of a file. Whatever asks
  /// the store waits for the server.
  ///
  /// - Parameters:
  ///   - model: What the database is to hold; what it does not have yet is added.
  ///   - location: The server.
  ///   - policy: What happens when the model contradicts what is stored; by default that is an error. `migration`
  ///     tells afterwards what was done.
  /// - Throws: `StoreError`: `.badRequest` for a faulty model, or references on a server that is not Citus;
  ///   `.unreachable`, `.permission`, `.missing` where there is no connection; `.notAStore`, `.newerFormat`, `.damaged`;
  ///   `.modelConflict` where the model contradicts what is stored and the policy does not help.
  public convenience init(
    _ model: Model,
    at location: ServerLocation,
    onConflict policy: ServerLocation.ConflictPolicy = .error
  ) throws {
    try self.init(
      model,
      on: location.server,
      references: location.references,
      migrates: policy == .migrate
    )
  }
}

extension PostgreSQLServer {
  /// The store of one command, which ends its connections (`ServerStore.end()`).
  ///
  /// - Parameter references: The entities whose tables are to be on all nodes of Citus.
  /// - Returns: The store.
  /// - Throws: `StoreError`.
  package func store(references: [String] = []) throws(StoreError) -> ServerStore {
    try ServerStore(on: self, references: references)
  }

  /// How the store's tables lie on several machines.
  ///
  /// - Returns: Nil where they lie on one.
  /// - Throws: `StoreError`.
  package func distribution() throws(StoreError) -> ServerDistribution? {
    let store = try ServerStore(on: self)
    defer { store.end() }
    return store.distribution
  }

  /// The model of what the server holds.
  ///
  /// - Returns: An empty one where it holds nothing yet.
  /// - Throws: `StoreError`.
  public func model() throws -> Model {
    let store = try ServerStore(on: self)
    defer { store.end() }
    return store.layout.model
  }

  /// What `migrate(to:drops:)` would do; nothing is changed.
  ///
  /// - Parameters:
  ///   - model: The model that is wanted.
  ///   - drops: Whether what the model does not name goes.
  /// - Returns: The plan, with what is in the way; empty when the server has the model already.
  /// - Throws: `StoreError`.
  public func migration(to model: Model, drops: Bool = false) throws -> Migration {
    let store = try ServerStore(on: self)
    defer { store.end() }
    return try store.migration(to: model, drops: drops)
  }

  /// Changes what the server holds to another model, in one transaction: all of it happens, or nothing.
  ///
  /// What `SQLiteStore.migrate(to:drops:)` does in a file: the same plan, the same checks, the same contents.
  ///
  /// - Parameters:
  ///   - model: The model that is wanted.
  ///   - drops: Whether what the model does not name goes, with its values.
  /// - Returns: What was done; empty when the server had the model already.
  /// - Throws: `StoreError`: `.modelConflict` with everything that is in the way, `.busy` where somebody else writes, or
  ///   reads for long; nothing has changed then.
  @discardableResult
  public func migrate(to model: Model, drops: Bool = false) throws -> Migration {
    let store = try ServerStore(on: self)
    defer { store.end() }
    return try store.migrate(to: model, drops: drops)
  }

  /// Reads everything that the server holds, at one moment, into a temporary file, which goes when it is closed.
  ///
  /// Whatever reads files reads servers so: exports, reports, predicates. The server sends every row once.
  ///
  /// - Returns: The file's store.
  /// - Throws: `StoreError`.
  public func copy() throws -> SQLiteStore { try copy(of: .everything) }

  /// The same for a part.
  package func copy(of part: ServerCopy.Part) throws -> SQLiteStore {
    let store = try ServerStore(on: self)
    defer { store.end() }
    return try store.copy(of: part)
  }
}
