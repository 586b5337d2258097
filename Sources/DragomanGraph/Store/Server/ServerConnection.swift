/// A server that holds a store: who it is, and how one connects to it.
package protocol DatabaseServer: Sendable {
  /// The server and its database in the words of messages, without user and password: `db.example.org/people`.
  var name: String { get }

  /// Connects, and waits until it is connected.
  ///
  /// - Throws: `ServerError`, `StoreError`.
  func connect() throws -> any ServerConnection
}

extension DatabaseServer {
  /// Asks which database and which schema it is.
  ///
  /// - Returns: Their names; the schema is nil where the path of schemas names none that is there.
  /// - Throws: `StoreError`, where there is no answer.
  package func place() throws(StoreError) -> (database: String, schema: String?) {
    try StoreError.namingServer(name) {
      let connection = try connect()
      defer { connection.close() }
      var place: (database: String, schema: String?) = ("", nil)
      try connection.forEachRow("SELECT current_database()::text, current_schema()::text") { row in
        place = (row[0].text ?? "", row[1].text)
      }
      return place
    }
  }
}

/// One connection to a server that speaks PostgreSQL's SQL; one thread at a time uses it, and waits for answers.
package protocol ServerConnection: AnyObject {
  /// Whether a transaction is open, failed ones included.
  var isInTransaction: Bool { get }
  /// Whether the server can still be asked.
  var isUsable: Bool { get }

  /// Runs statements without parameters, one after the other.
  ///
  /// - Throws: `ServerError`; the statements behind the one that failed do not run.
  func run(_ script: String) throws(ServerError)

  /// Runs one statement.
  ///
  /// - Returns: How many rows it changed or gave.
  /// - Throws: `ServerError`.
  @discardableResult
  func run(_ sql: String, _ parameters: [ServerParameter]) throws(ServerError) -> Int

  /// Runs one statement and lends each row of its answer: integers and booleans as integers, floating numbers as
  /// reals, bytes as bytes, everything else as text in the spelling of docs/file.md.
  ///
  /// - Parameters:
  ///   - sql: The statement.
  ///   - parameters: Its `$1`, `$2`, ….
  ///   - streams: Whether the answer may be larger than memory: then the closure may not use the connection, and the
  ///     server sends it by `COPY … TO STDOUT`, where there are no parameters.
  ///   - body: Gets the values of a row.
  /// - Throws: `ServerError`, and what the closure throws.
  func forEachRow(
    _ sql: String,
    _ parameters: [ServerParameter],
    streams: Bool,
    _ body: (UnsafePointer<ColumnValue>) throws -> Void
  ) throws

  /// Sends a statement whose answer is taken later: the server works at it meanwhile. Whatever else the connection is
  /// asked waits until the answer is there, and fails where that is an error.
  ///
  /// - Returns: The answer; nil where the connection does one thing after the other.
  /// - Throws: `ServerError`.
  func ask(
    _ sql: String,
    _ parameters: [ServerParameter]
  ) throws(ServerError) -> (any ServerAnswer)?

  /// Waits for what was asked, whatever is answered.
  func forgetAnswer()

  /// Runs `COPY … FROM STDIN`.
  ///
  /// - Parameters:
  ///   - sql: The statement; its format is text.
  ///   - body: Gives the rows to the closure that it gets; where it throws, the statement fails.
  /// - Returns: How many rows the server has stored: without those that a trigger took away.
  /// - Throws: `ServerError`, and what the closure throws.
  @discardableResult
  func copy(
    _ sql: String,
    _ body: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) throws -> Int

  /// Ends the connection.
  func close()
}

/// A connection that is lent to somebody: one that lay idle may be dead by now.
final class LentConnection {
  private(set) var connection: any ServerConnection
  private let server: any DatabaseServer
  private var wasIdle: Bool

  /// - Parameters:
  ///   - server: Where a new one leads to.
  ///   - idle: One that lay idle; nil: a new one is made.
  /// - Throws: What connecting throws.
  init(of server: any DatabaseServer, idle: (any ServerConnection)?) throws {
    self.server = server
    connection = try idle ?? server.connect()
    wasIdle = idle != nil
  }

  /// Begins something on the connection; where that is dead, on a new one in its place.
  func begin<T>(_ body: (any ServerConnection) throws -> T) throws -> T {
    defer { wasIdle = false }
    do {
      return try body(connection)
    } catch let error as ServerError where error.isLoss && wasIdle {
      replace(by: try server.connect())
      return try body(connection)
    }
  }

  /// Goes on with another connection.
  func replace(by other: any ServerConnection) {
    connection.close()
    connection = other
  }
}

/// The answer to a statement that was sent, on its way.
package protocol ServerAnswer: AnyObject {
  /// Takes what has come, without waiting: a server waits, too, once enough of its answer is on the way.
  func listen()

  /// Lends each row, as `ServerConnection.forEachRow`; the closure may use the connection.
  ///
  /// - Parameter body: Gets the values of a row.
  /// - Throws: `ServerError`, and what the closure throws.
  func forEachRow(_ body: (UnsafePointer<ColumnValue>) throws -> Void) throws
}

/// A value of a statement, as text; the statement says its type: `$1::bigint[]`.
package struct ServerParameter {
  /// UTF-8 that ends with a zero; nil is null.
  package let text: [CChar]?

  /// Takes bytes without zeros.
  init(bytes: [UInt8]) { text = bytes.map { CChar(bitPattern: $0) } + [0] }

  /// A text.
  ///
  /// - Throws: `StoreError`, `.badRequest`, for one that holds U+0000.
  init(_ text: String) throws(StoreError) {
    guard !text.utf8.contains(0) else { throw ServerArray.nul }
    self.init(bytes: Array(text.utf8))
  }

  init(_ integer: Int64) { self.init(bytes: Array(String(integer).utf8)) }

  /// A list of integers: `bigint[]`.
  init(_ integers: some Sequence<Int64>) {
    self.init(bytes: Array(("{" + integers.map { String($0) }.joined(separator: ",") + "}").utf8))
  }

  private init() { text = nil }

  static let null = ServerParameter()

  /// One value of a column.
  init(_ value: StoredValue, _ type: ServerType) throws(StoreError) {
    guard value != .null else {
      self = .null
      return
    }
    self.init(bytes: try type.bytes(value))
  }
}

/// What a server answered in place of a result.
package struct ServerError: Error {
  /// The five characters of the SQL standard and PostgreSQL's own
  /// (https://www.postgresql.org/docs/current/errcodes-appendix.html); `08006` where there was no answer.
  package let state: String
  /// What the server says, without the line that shows values.
  package let message: String
  /// The line that shows values: it is looked at and never shown.
  package let detail: String
  /// The constraint, where one is concerned.
  package let constraint: String?

  /// Describes an answer.
  package init(state: String, message: String, detail: String = "", constraint: String? = nil) {
    self.state = state
    self.message = message
    self.detail = detail
    self.constraint = constraint
  }

  /// Whether it says nothing of the statement: a conflict of transactions, a lock that did not come in time, a
  /// connection that is lost.
  var isPassing: Bool {
    ["40001", "40P01", "55P03", "57P01", "57P02", "57P03"].contains(state) || isLoss
      || lostNode != nil
  }

  /// Whether there is no connection any more: nobody knows what became of the statement.
  var isLoss: Bool { state.hasPrefix("08") || state.hasPrefix("57P") }

  /// Whether a unique key refused the statement.
  var isUniqueViolation: Bool { state == "23505" }
}

extension ServerConnection {
  /// Runs a statement without parameters that gives one text or none.
  func text(_ sql: String, _ parameters: [ServerParameter] = []) throws -> String? {
    var text: String?
    try forEachRow(sql, parameters) { text = $0[0].text }
    return text
  }

  /// Lends each row of an answer that fits into memory; the closure may use the connection.
  func forEachRow(
    _ sql: String,
    _ parameters: [ServerParameter] = [],
    _ body: (UnsafePointer<ColumnValue>) throws -> Void
  ) throws {
    try forEachRow(sql, parameters, streams: false, body)
  }
}

extension ColumnValue {
  /// The text, copied out; nil for anything else.
  var text: String? {
    if case .text(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { nil }
  }

  /// The integer; 0 for anything else.
  var number: Int64 { if case .integer(let integer) = self { integer } else { 0 } }
}
