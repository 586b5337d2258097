import CPostgreSQL
import DragomanGraph
import Foundation

/// One connection of libpq; it waits for answers, so it belongs on threads that may wait.
final class PostgreSQLConnection: ServerConnection {
  private let library: CPostgreSQL
  private let server: PostgreSQLServer
  private var handle: UnsafeMutableRawPointer?
  /// What was asked and is not answered yet.
  private var asked: Answer?

  /// Of `ExecStatusType` (libpq-fe.h).
  private enum Status {
    static let command: Int32 = 1
    static let tuples: Int32 = 2
    static let empty: Int32 = 0
    static let copyOut: Int32 = 3
    static let copyIn: Int32 = 4
    static let row: Int32 = 9
  }

  init(
    _ library: UnsafePointer<CPostgreSQL>,
    _ handle: UnsafeMutableRawPointer,
    _ server: PostgreSQLServer
  ) {
    self.library = library.pointee
    self.handle = handle
    self.server = server
    CPostgreSQLSilence(handle)
  }

  deinit { close() }

  func close() {
    asked = nil
    if let handle { library.finish(handle) }
    handle = nil
  }

  var isUsable: Bool { handle.map { library.status($0) == 0 } ?? false }

  var isInTransaction: Bool { handle.map { library.transactionStatus($0) != 0 } ?? false }

  // MARK: - Statements

  func run(_ script: String) throws(ServerError) {
    let handle = try open()
    let result = library.exec(handle, script)
    defer { library.clear(result) }
    try check(result)
  }

  @discardableResult
  func run(_ sql: String, _ parameters: [ServerParameter]) throws(ServerError) -> Int {
    let handle = try open()
    let result = Self.lend(parameters) { values in
      library.execParams(handle, sql, Int32(parameters.count), nil, values, nil, nil, 0)
    }
    defer { library.clear(result) }
    try check(result)
    return Int(String(of: library.cmdTuples(result))) ?? 0
  }

  func forEachRow(
    _ sql: String,
    _ parameters: [ServerParameter],
    streams: Bool,
    _ body: (UnsafePointer<ColumnValue>) throws -> Void
  ) throws {
    let handle = try open()
    if !streams {
      let result = Self.lend(parameters) { values in
        library.execParams(handle, sql, Int32(parameters.count), nil, values, nil, nil, 0)
      }
      defer { library.clear(result) }
      try check(result)
      return try lendRows(of: result, body)
    }
    if parameters.isEmpty { return try forEachCopiedRow(sql, body) }
    let isSent = Self.lend(parameters) { values in
      library.sendQueryParams(handle, sql, Int32(parameters.count), nil, values, nil, nil, 0)
    }
    guard isSent == 1 else { throw failure(nil) }
    _ = library.setSingleRowMode(handle)
    // All results are taken, whatever happens: the connection can be used again.
    var failure: (any Error)?
    while let result = library.getResult(handle) {
      defer { library.clear(result) }
      guard failure == nil else { continue }
      do {
        try check(result)
        try lendRows(of: result, body)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }

  func ask(
    _ sql: String,
    _ parameters: [ServerParameter]
  ) throws(ServerError) -> (any ServerAnswer)? {
    let handle = try open()
    let isSent = Self.lend(parameters) { values in
      library.sendQueryParams(handle, sql, Int32(parameters.count), nil, values, nil, nil, 0)
    }
    guard isSent == 1 else { throw failure(nil) }
    let answer = Answer(self)
    asked = answer
    return answer
  }

  func forgetAnswer() {
    guard asked != nil else { return }
    // Whoever waited for it has failed already, or fails by what is said next.
    _ = try? open()
  }

  /// The answer to `ask`; its rows are in memory once something else was asked.
  private final class Answer: ServerAnswer {
    private weak var connection: PostgreSQLConnection?
    private let clear: @convention(c) (UnsafeMutableRawPointer?) -> Void
    fileprivate var result: UnsafeMutableRawPointer?

    init(_ connection: PostgreSQLConnection) {
      self.connection = connection
      clear = connection.library.clear
    }

    deinit { clear(result) }

    func listen() {
      guard let connection, connection.asked === self, let handle = connection.handle else {
        return
      }
      // What goes wrong is told when the answer is taken.
      _ = connection.library.consumeInput(handle)
    }

    func forEachRow(_ body: (UnsafePointer<ColumnValue>) throws -> Void) throws {
      guard let connection else {
        throw ServerError(state: "08003", message: "the connection is closed")
      }
      _ = try connection.open()
      try connection.check(result)
      try connection.lendRows(of: result, body)
    }
  }

  /// Lends the rows of a query that has no parameters, by `COPY … TO STDOUT`.
  ///
  /// That takes a fraction of the time that rows as results take. The types are asked for first.
  private func forEachCopiedRow(
    _ sql: String,
    _ body: (UnsafePointer<ColumnValue>) throws -> Void
  ) throws {
    let handle = try open()
    let described = library.exec(handle, "SELECT * FROM (\(sql)) AS described LIMIT 0")
    let types: [PostgreSQLType?]
    do {
      defer { library.clear(described) }
      try check(described)
      types = (0..<library.nfields(described)).map {
        PostgreSQLType(rawValue: library.ftype(described, $0))
      }
    }
    let begun = library.exec(handle, "COPY (\(sql)) TO STDOUT")
    defer { library.clear(begun) }
    guard library.resultStatus(begun) == Status.copyOut else { throw self.failure(begun) }
    var row = CopiedRow(types)
    var failure: (any Error)?
    while true {
      var line: UnsafeMutablePointer<CChar>?
      let count = library.getCopyData(handle, &line, 0)
      guard count > 0, let line else { break }
      defer { library.freemem(line) }
      // All rows are taken, whatever happens: the connection can be used again.
      guard failure == nil else { continue }
      do {
        try row.lend(UnsafeMutableRawBufferPointer(start: line, count: Int(count)), body)
      } catch {
        failure = error
        // Who has enough does not wait for the rest of a long answer.
        if isUsable { close() }
        break
      }
    }
    if let failure { throw failure }
    try endCopy()
  }

  func copy(
    _ sql: String,
    _ body: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) throws -> Int {
    let handle = try open()
    let begun = library.exec(handle, sql)
    defer { library.clear(begun) }
    guard library.resultStatus(begun) == Status.copyIn else { throw failure(begun) }
    do {
      try body { bytes in
        let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
        guard library.putCopyData(handle, start, Int32(bytes.count)) == 1 else {
          throw failure(nil)
        }
      }
    } catch {
      let isLost = library.putCopyEnd(handle, "the client has given up") != 1
      // The server may have said why before it was told.
      if !isLost {
        do { try endCopy() } catch let said as ServerError where error is ServerError {
          throw said
        } catch {}
      }
      throw error
    }
    guard library.putCopyEnd(handle, nil) == 1 else { throw failure(nil) }
    return try endCopy()
  }

  /// Takes what a `COPY` ends with: the number of rows.
  @discardableResult
  private func endCopy() throws -> Int {
    let handle = try open()
    var failure: (any Error)?
    var count = 0
    while let result = library.getResult(handle) {
      defer { library.clear(result) }
      do { try check(result) } catch { failure = failure ?? error }
      count += Int(String(of: library.cmdTuples(result))) ?? 0
    }
    if let failure { throw failure }
    return count
  }

  /// The connection, once it can be asked: what was asked before is answered.
  private func open() throws(ServerError) -> UnsafeMutableRawPointer {
    guard let handle else {
      throw ServerError(state: "08003", message: "the connection is closed")
    }
    if let answer = asked {
      asked = nil
      answer.result = library.getResult(handle)
      while let rest = library.getResult(handle) { library.clear(rest) }
      try check(answer.result)
    }
    return handle
  }

  /// Lends the texts of parameters as C has them.
  private static func lend<T>(
    _ parameters: [ServerParameter],
    _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> T
  ) -> T {
    let texts = parameters.map { parameter -> UnsafeMutablePointer<CChar>? in
      guard let text = parameter.text else { return nil }
      let copy = UnsafeMutablePointer<CChar>.allocate(capacity: text.count)
      copy.initialize(from: text, count: text.count)
      return copy
    }
    defer { for text in texts { text?.deallocate() } }
    return texts.map { UnsafePointer($0) }.withUnsafeBufferPointer { body($0.baseAddress) }
  }

  // MARK: - Errors

  private func check(_ result: UnsafeMutableRawPointer?) throws(ServerError) {
    guard let result else { throw failure(nil) }
    switch library.resultStatus(result) {
    case Status.command, Status.tuples, Status.empty, Status.row: return
    default: throw failure(result)
    }
  }

  private func failure(_ result: UnsafeMutableRawPointer?) -> ServerError {
    func field(_ letter: Character) -> String? {
      guard let result, let ascii = letter.asciiValue else { return nil }
      return library.resultErrorField(result, Int32(ascii)).map { String(of: $0) }
    }
    if let state = field("C") {
      return ServerError(
        state: state,
        message: server.withoutSecrets(field("M") ?? ""),
        detail: field("D") ?? "",
        constraint: field("n")
      )
    }
    let text = handle.map { String(of: library.errorMessage($0)) } ?? ""
    return ServerError(
      state: "08006",
      message: server.withoutSecrets(
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
          .joined(separator: "; ")
      )
    )
  }

  // MARK: - Rows

  private func lendRows(
    of result: UnsafeMutableRawPointer?,
    _ body: (UnsafePointer<ColumnValue>) throws -> Void
  ) throws {
    let (rows, columns) = (library.ntuples(result), library.nfields(result))
    guard rows > 0 else { return }
    let types = (0..<columns).map { PostgreSQLType(rawValue: library.ftype(result, $0)) }
    let values = UnsafeMutablePointer<ColumnValue>.allocate(capacity: max(1, Int(columns)))
    defer { values.deallocate() }
    var scratch = Scratch()
    for row in 0..<rows {
      scratch.clear()
      for column in 0..<columns {
        let value: ColumnValue
        if library.getisnull(result, row, column) != 0 {
          value = .null
        } else {
          let bytes = UnsafeRawBufferPointer(
            start: library.getvalue(result, row, column),
            count: Int(library.getlength(result, row, column))
          )
          value = scratch.value(bytes, types[Int(column)])
        }
        (values + Int(column)).initialize(to: value)
      }
      try body(UnsafePointer(values))
    }
  }
}

extension String {
  /// A text of libpq's; empty where there is none.
  init(of text: UnsafeMutablePointer<CChar>?) {
    self = text.map { String(cString: $0) } ?? ""
  }
}
