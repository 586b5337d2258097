import CPostgreSQL
import DragomanGraph
import Foundation

/// One connection of libpq; it waits for answers, so it belongs on threads that may wait.
final class PostgreSQLConnection: ServerConnection {
  private let library: CPostgreSQL
  private let server: PostgreSQLServer
  private var handle: UnsafeMutableRawPointer?

  /// Of `ExecStatusType` (libpq-fe.h).
  private enum Status {
    static let command: Int32 = 1
    static let tuples: Int32 = 2
    static let empty: Int32 = 0
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

  private func open() throws(ServerError) -> UnsafeMutableRawPointer {
    if let handle { return handle }
    throw ServerError(state: "08003", message: "the connection is closed")
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

/// The types whose texts are not what docs/file.md writes, by their numbers in `pg_type.dat`.
private enum PostgreSQLType: UInt32 {
  case boolean = 16
  case bytes = 17
  case bigint = 20
  case smallint = 21
  case integer = 23
  case oid = 26
  case single = 700
  case double = 701
  case date = 1082
  case timestamp = 1184
}

/// Values of one row that are not in libpq's memory.
private struct Scratch: ~Copyable {
  private var buffers: [UnsafeMutableRawBufferPointer] = []

  init() {}

  deinit { for buffer in buffers { buffer.deallocate() } }

  mutating func clear() {
    for buffer in buffers { buffer.deallocate() }
    buffers.removeAll(keepingCapacity: true)
  }

  /// A value by its text, which ends with a zero.
  mutating func value(_ text: UnsafeRawBufferPointer, _ type: PostgreSQLType?) -> ColumnValue {
    let characters = text.baseAddress?.assumingMemoryBound(to: CChar.self)
    guard let type, let characters else { return .text(text) }
    switch type {
    case .boolean: return .integer(text.first == UInt8(ascii: "t") ? 1 : 0)
    case .bigint, .smallint, .integer, .oid: return .integer(Int64(strtoll(characters, nil, 10)))
    case .single, .double: return .real(strtod(characters, nil))
    case .bytes: return .blob(bytes(text))
    case .date, .timestamp: return .text(civil(text))
    }
  }

  private mutating func bytes(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(1, text.count / 2),
      alignment: 1
    )
    buffers.append(buffer)
    func digit(_ byte: UInt8) -> UInt8 {
      byte <= UInt8(ascii: "9") ? byte - UInt8(ascii: "0") : byte - UInt8(ascii: "a") + 10
    }
    // `\x` comes first.
    var count = 0
    var index = 2
    while index + 1 < text.count {
      buffer[count] = digit(text[index]) << 4 | digit(text[index + 1])
      count += 1
      index += 2
    }
    return UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
  }

  /// A date or a timestamp without its zone; the year 1 before Christ is ISO 8601's year 0, and earlier ones stay
  /// as they are, which is no date of ours.
  private mutating func civil(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let isBefore = text.count > 3 && text.suffix(3).elementsEqual(" BC".utf8)
    var end = isBefore ? text.count - 3 : text.count
    if end > 3, text[..<end].suffix(3).elementsEqual("+00".utf8) { end -= 3 }
    let kept = UnsafeRawBufferPointer(rebasing: text[..<end])
    guard isBefore else { return kept }
    guard kept.starts(with: "0001-".utf8) else { return text }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: kept.count, alignment: 1)
    buffers.append(buffer)
    buffer.copyMemory(from: kept)
    buffer[3] = UInt8(ascii: "0")
    return UnsafeRawBufferPointer(buffer)
  }
}
