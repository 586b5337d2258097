import DragomanPostgreSQL
import Synchronization

@testable import DragomanGraph

/// A server whose connections ask before each statement: what is thrown then is the server's answer.
final class FaultyServer: DatabaseServer {
  private let server: PostgreSQLServer
  private let ask: @Sendable (String) throws(ServerError) -> Void
  /// Rows that are answered to a statement in place of the server's.
  private let answer: @Sendable (String) -> [ColumnValue]?

  init(
    _ url: String,
    answering answer: @escaping @Sendable (String) -> [ColumnValue]? = { _ in nil },
    _ ask: @escaping @Sendable (String) throws(ServerError) -> Void
  ) {
    server = PostgreSQLServer(url)
    self.ask = ask
    self.answer = answer
  }

  var name: String { server.name }

  func connect() throws -> any ServerConnection {
    FaultyConnection(try server.connect(), ask, answer)
  }
}

/// Counts the statements of all connections, and fails one of them.
final class StatementCounter: Sendable {
  private let state = Mutex<(count: Int, isFailed: Bool)>((0, false))
  private let place: Int
  private let sqlState: String

  init(failing place: Int, _ sqlState: String) {
    self.place = place
    self.sqlState = sqlState
  }

  var count: Int { state.withLock { $0.count } }
  var isFailed: Bool { state.withLock { $0.isFailed } }

  func see(_ sql: String) throws(ServerError) {
    // To undo something is no statement that fails so.
    guard !sql.hasPrefix("ROLLBACK") else { return }
    let fails = state.withLock { state in
      state.count += 1
      if state.count == place { state.isFailed = true }
      return state.count == place
    }
    if fails { throw ServerError(state: sqlState, message: "no") }
  }
}

/// Whether statements are counted: what opens the store is not the import's.
final class Armed: @unchecked Sendable {
  // Set by the test before the import begins.
  var value = false
}

private final class FaultyConnection: ServerConnection {
  private let inner: any ServerConnection
  private let ask: (String) throws(ServerError) -> Void
  private let answer: (String) -> [ColumnValue]?

  init(
    _ inner: any ServerConnection,
    _ ask: @escaping (String) throws(ServerError) -> Void,
    _ answer: @escaping (String) -> [ColumnValue]?
  ) {
    self.inner = inner
    self.ask = ask
    self.answer = answer
  }

  var isInTransaction: Bool { inner.isInTransaction }
  var isUsable: Bool { inner.isUsable }

  func run(_ script: String) throws(ServerError) {
    try ask(script)
    try inner.run(script)
  }

  func run(_ sql: String, _ parameters: [ServerParameter]) throws(ServerError) -> Int {
    try ask(sql)
    return try inner.run(sql, parameters)
  }

  func forEachRow(
    _ sql: String,
    _ parameters: [ServerParameter],
    streams: Bool,
    _ body: (UnsafePointer<ColumnValue>) throws -> Void
  ) throws {
    try ask(sql)
    if let row = answer(sql) {
      return try row.withUnsafeBufferPointer { row in
        if let start = row.baseAddress { try body(start) }
      }
    }
    try inner.forEachRow(sql, parameters, streams: streams, body)
  }

  func ask(
    _ sql: String,
    _ parameters: [ServerParameter]
  ) throws(ServerError) -> (any ServerAnswer)? {
    try ask(sql)
    return try inner.ask(sql, parameters)
  }

  func forgetAnswer() { inner.forgetAnswer() }

  func copy(
    _ sql: String,
    _ body: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) throws -> Int {
    try ask(sql)
    return try inner.copy(sql, body)
  }

  func close() { inner.close() }
}
