import FlyingSocks
import Foundation

/// One connection of a browser: requests are read from it, and answers written, within bounds of bytes and time.
struct HTTPConnection {
  /// How long is waited.
  struct Patience: Sendable {
    /// For the head of a request, from its first byte; of the first one from the beginning.
    var head = Duration.seconds(15)
    /// For another request.
    var idle = Duration.seconds(60)
    /// For the body of a form; one second more for each 100 kB.
    var body = Duration.seconds(600)
    /// For any byte of an answer to be taken.
    var answer = Duration.seconds(60)
    /// For answers and imports that are under way when the server stops.
    var ending = Duration.seconds(5)
  }

  /// Why a connection is at its end.
  enum Ended: Error {
    case late
  }

  private let socket: Socket
  private let pool: any AsyncSocketPool
  private let patience: Patience
  /// What came and was not used so far.
  private var rest: [UInt8] = []
  private var isFirst = true

  /// - Parameters:
  ///   - socket: The connected socket, which does not block; whoever gives it closes it.
  ///   - pool: Tells when it is ready.
  ///   - patience: How long is waited.
  init(_ socket: Socket, _ pool: any AsyncSocketPool, _ patience: Patience) {
    self.socket = socket
    self.pool = pool
    self.patience = patience
  }

  // MARK: - Requests

  /// The head of the next request.
  ///
  /// - Throws: `ConsoleError` for what is none, 431 for one that is too long; `Ended` and `SocketError` where
  ///   none comes.
  mutating func head() async throws -> HTTPHead {
    if rest.isEmpty, !isFirst { rest = try await read(until: .now + patience.idle) }
    isFirst = false
    let deadline = ContinuousClock.now + patience.head
    var searched = 0
    var hasBegun = false
    while true {
      // An empty line before a request is none of it (RFC 9112, 2.2).
      if !hasBegun, rest.count >= 2 {
        hasBegun = true
        if rest.starts(with: [0x0D, 0x0A]) { rest.removeFirst(2) }
      }
      if let end = endOfHead(from: searched) {
        let bytes = rest[..<end]
        guard end <= HTTPHead.maximumByteCount else { throw Self.tooLong }
        rest.removeFirst(end + 4)
        return try HTTPHead(bytes)
      }
      guard rest.count <= HTTPHead.maximumByteCount else { throw Self.tooLong }
      searched = max(0, rest.count - 3)
      rest += try await read(until: deadline)
    }
  }

  private func endOfHead(from start: Int) -> Int? {
    rest.withUnsafeBufferPointer { bytes in
      var place = start
      while place + 4 <= bytes.count {
        if bytes[place] == 0x0D, bytes[place + 1] == 0x0A, bytes[place + 2] == 0x0D,
          bytes[place + 3] == 0x0A
        {
          return place
        }
        place += 1
      }
      return nil
    }
  }

  private static var tooLong: ConsoleError {
    ConsoleError(
      431,
      "The head of the request has more than \(HTTPHead.maximumByteCount >> 10) kB.",
      help: "shorten the predicate, or send fewer cookies to this machine"
    )
  }

  /// Reads the body behind a head.
  ///
  /// - Parameters:
  ///   - head: The head.
  ///   - take: Gets the bytes as they come; what it throws ends the reading.
  /// - Throws: `ConsoleError`, 400, for chunks that are none; `Ended` and `SocketError`.
  mutating func readBody(
    of head: HTTPHead,
    _ take: ([UInt8]) async throws -> Void
  ) async throws {
    switch head.bodyLength {
    case .none: return
    case .bytes(let count):
      let deadline = ContinuousClock.now + patience.body + .seconds(count / 100_000)
      try await read(count, until: deadline, take)
    case .chunked:
      let deadline = ContinuousClock.now + patience.body
      while true {
        let line = try await line(until: deadline)
        let digits = line.prefix { $0 != ";" }.trimmingCharacters(in: HTTPHead.blanks)
        guard (1...15).contains(digits.utf8.count), digits.allSatisfy(\.isHexDigit),
          let count = Int(digits, radix: 16)
        else { throw ConsoleError(400, "The body is not in chunks as its head says.") }
        guard count > 0 else { break }
        try await read(count, until: deadline, take)
        guard try await self.line(until: deadline).isEmpty else {
          throw ConsoleError(400, "The body is not in chunks as its head says.")
        }
      }
      // Fields behind the body are for nobody here.
      for _ in 0..<64 where try await line(until: deadline).isEmpty { return }
      throw ConsoleError(400, "The body is not in chunks as its head says.")
    }
  }

  private mutating func read(
    _ count: Int,
    until deadline: ContinuousClock.Instant,
    _ take: ([UInt8]) async throws -> Void
  ) async throws {
    var missing = count
    while missing > 0 {
      if rest.isEmpty { rest = try await read(until: deadline) }
      let bytes = rest.count <= missing ? rest : Array(rest[..<missing])
      rest.removeFirst(bytes.count)
      missing -= bytes.count
      try await take(bytes)
    }
  }

  /// A line of the chunks' own.
  private mutating func line(until deadline: ContinuousClock.Instant) async throws -> String {
    while true {
      if let end = rest.firstIndex(of: 0x0A) {
        let line = rest[..<end]
        rest.removeFirst(end + 1)
        guard line.last == 0x0D else {
          throw ConsoleError(400, "The body is not in chunks as its head says.")
        }
        return String(decoding: line.dropLast(), as: UTF8.self)
      }
      guard rest.count <= 1 << 10 else {
        throw ConsoleError(400, "The body is not in chunks as its head says.")
      }
      rest += try await read(until: deadline)
    }
  }

  /// What came, one byte or more.
  private func read(until deadline: ContinuousClock.Instant) async throws -> [UInt8] {
    while true {
      // Who sends without a pause is never waited for.
      guard .now < deadline else { throw Ended.late }
      try Task.checkCancellation()
      do {
        return try socket.read(atMost: 64 << 10)
      } catch SocketError.blocked {
        try await wait(for: .read, until: deadline)
      }
    }
  }

  private func wait(
    for events: Socket.Events,
    until deadline: ContinuousClock.Instant
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { [socket, pool] group in
      group.addTask { try await pool.suspendSocket(socket, untilReadyFor: events) }
      group.addTask {
        try await Task.sleep(until: deadline, clock: .continuous)
        throw Ended.late
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  // MARK: - Answers

  /// Writes bytes.
  ///
  /// - Throws: `Ended.late` where nobody takes them, and `SocketError`.
  func write(_ bytes: some Sequence<UInt8>) async throws {
    let data = Data(bytes)
    var place = data.startIndex
    while place < data.endIndex {
      do {
        place = try socket.write(data, from: place)
      } catch SocketError.blocked {
        try await wait(for: .write, until: .now + patience.answer)
      }
    }
  }

  /// Writes pieces as they come; when the browser goes, whoever makes them is told at once.
  ///
  /// - Parameters:
  ///   - pieces: The pieces.
  ///   - isChunked: Whether each has its length before it.
  /// - Throws: As `write(_:)`, and what the pieces throw.
  func write(
    _ pieces: AsyncThrowingStream<[UInt8], any Error>,
    isChunked: Bool
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for try await piece in pieces where !piece.isEmpty {
          guard isChunked else {
            try await write(piece)
            continue
          }
          let length = String(piece.count, radix: 16)
          try await write(Array("\(length)\r\n".utf8) + piece + [0x0D, 0x0A])
        }
        try Task.checkCancellation()
        if isChunked { try await write("0\r\n\r\n".utf8) }
      }
      group.addTask {
        try await waitForEnd()
        throw SocketError.disconnected
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Waits until the other side has ended the connection; for ever where it has sent something more.
  private func waitForEnd() async throws {
    var byte: UInt8 = 0
    while recv(socket.file.rawValue, &byte, 1, Int32(MSG_PEEK)) < 0 {
      guard errno == EAGAIN || errno == EWOULDBLOCK else { break }
      try await pool.suspendSocket(socket, untilReadyFor: .read)
    }
    if recv(socket.file.rawValue, &byte, 1, Int32(MSG_PEEK)) > 0 {
      try await Task.sleep(for: .seconds(86_400 * 365))
    }
  }

  /// Says that nothing follows, and takes what still comes for a moment: a connection that is closed on unread
  /// bytes takes the answer with it.
  func finish() async {
    shutdown(socket.file.rawValue, Int32(SHUT_WR))
    let deadline = ContinuousClock.now + .seconds(2)
    do { while true { _ = try await read(until: deadline) } } catch {}
  }
}
