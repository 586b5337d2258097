import Foundation

/// Where a copy comes from, or goes.
package enum CopyPlace: Sendable {
  /// A file.
  case file(String)
  /// A database of a server.
  case server(any DatabaseServer)

  /// Copies what is there at one moment.
  ///
  /// Into a file the copy appears whole or not at all; a file that is there is not touched. Into a database, which has
  /// to be empty, rows are committed now and then: a copy that was stopped goes on from there when it is run
  /// again, and until it has come to its end the database is no store.
  ///
  /// Runs `SELECT … ORDER BY _pk` for each table on both sides, `INSERT` for every few thousand rows, then the statements
  /// that make indexes and constraints.
  ///
  /// - Parameters:
  ///   - target: Where it goes.
  ///   - entities: What is copied, with all sub-entities; empty for everything.
  ///   - startsAnew: Whether what a copy that was stopped has left is dropped first.
  ///   - leavesStopped: Whether the references stay behind that wait in what imports in batches keep which were stopped;
  ///     else these are refused (`.busy`).
  ///   - tell: Called now and then, with a table and how many rows of it are there; what it throws stops the copy.
  /// - Returns: What was copied.
  /// - Throws: `StoreError`, as opening both stores, and: `.badRequest` for entities that are not there or cannot be
  ///   copied alone; `.output` where the target is not empty; `.damaged` where both sides differ in the end.
  package func copy(
    to target: CopyPlace,
    entities: [String] = [],
    startsAnew: Bool = false,
    leavingStopped leavesStopped: Bool = false,
    _ tell: (String, Int) throws -> Void = { _, _ in }
  ) throws -> StoreCopy {
    switch self {
    case .file(let path):
      let options = SQLiteStore.Options(isReadOnly: true, createsFile: false)
      let store = try SQLiteStore(at: .file(path), options: options)
      // What the target and the caller throw is none of the source's errors.
      let copy = try store.read { database in
        Result {
          let rows = FileRows(database: database, name: path)
          return try target.fill(
            from: rows,
            store.layout,
            entities,
            (startsAnew, leavesStopped),
            tell
          )
        }
      }
      try store.close()
      return try copy.get()
    case .server(let server):
      let store = try ServerStore(on: server)
      defer { store.end() }
      return try store.moment { connection in
        let rows = ServerRows(connection: connection, name: server.name)
        let layout = try ServerModel(connection).layout
        return try target.fill(from: rows, layout, entities, (startsAnew, leavesStopped), tell)
      }
    }
  }

  private func fill(
    from source: any CopyRows,
    _ layout: ModelLayout,
    _ entities: [String],
    _ options: (startsAnew: Bool, leavesStopped: Bool),
    _ tell: (String, Int) throws -> Void
  ) throws -> StoreCopy {
    guard !layout.entities.isEmpty else {
      throw StoreError(.missing, "The database holds nothing yet.", path: source.name)
    }
    switch self {
    case .file(let path):
      return try FileFilling.fill(path, like: (source as? FileRows)?.name) { target in
        try StoreCopier(source: source, layout: layout, target: target)
          .run(
            entities,
            startsAnew: options.startsAnew,
            leavingStopped: options.leavesStopped,
            tell
          )
      }
    case .server(let server):
      return try StoreError.onServer(server.name) {
        let connection = try server.connect()
        defer { connection.close() }
        try ServerModel.checkServer(connection)
        let target = ServerFilling(connection: connection, name: server.name)
        return try StoreCopier(source: source, layout: layout, target: target)
          .run(
            entities,
            startsAnew: options.startsAnew,
            leavingStopped: options.leavesStopped,
            tell
          )
      }
    }
  }
}
