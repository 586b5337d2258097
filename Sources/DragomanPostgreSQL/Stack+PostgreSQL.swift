import DragomanGraph

/// Where a stack's objects are, if that is no file.
public struct ServerLocation: Sendable {
  let server: PostgreSQLServer

  /// A database of a PostgreSQL server, by its URL: `postgresql://user@host/people`.
  ///
  /// See `PostgreSQLServer` for what a URL may say.
  public static func postgreSQL(_ url: String) -> ServerLocation {
    ServerLocation(server: PostgreSQLServer(url))
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
  /// - Throws: `StoreError`: `.badRequest` for a faulty model; `.unreachable`, `.permission`, `.missing` where there
  ///   is no connection; `.notAStore`, `.newerFormat`, `.damaged`; `.modelConflict` where the model contradicts what
  ///   is stored.
  public convenience init(_ model: Model, at location: ServerLocation) throws {
    try self.init(model, on: location.server)
  }
}

extension PostgreSQLServer {
  /// The store of one command, which ends its connections (`ServerStore.end()`).
  ///
  /// - Throws: `StoreError`.
  package func store() throws(StoreError) -> ServerStore { try ServerStore(on: self) }

  /// The model of what the server holds.
  ///
  /// - Returns: An empty one where it holds nothing yet.
  /// - Throws: `StoreError`.
  public func model() throws -> Model {
    let store = try ServerStore(on: self)
    defer { store.end() }
    return store.layout.model
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
