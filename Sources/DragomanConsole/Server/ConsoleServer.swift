import DragomanGraph
import FlyingSocks
import Foundation
import Synchronization

/// Lends a console to browsers, by HTTP.
///
/// What knows of sockets is in this room only.
public final class ConsoleServer: Sendable {
  /// Why a server cannot start.
  public struct Failure: Error, CustomStringConvertible {
    /// A full sentence.
    public let description: String
    /// What to do.
    public let help: String?
  }

  /// So many browsers are connected at once; who comes beyond that is told to come again.
  static let connectionCount = 1_000

  /// The port at which it listens.
  public let port: Int
  private let console: Console
  private let socket: Socket
  private let patience: HTTPConnection.Patience
  private let connectionCount: Int
  private let connections = Atomic(0)
  private let lanes = Lanes(count: 6)
  /// Those of answers that take long.
  private let longLanes = Lanes(count: 2)
  private let flights = Flights()
  private let isEnding = Atomic(false)
  private let end: (AsyncStream<Void>, AsyncStream<Void>.Continuation) = AsyncStream.makeStream()

  /// Listens; what connects waits until `run()`.
  ///
  /// - Parameters:
  ///   - options: What its console shows.
  ///   - address: The number of the interface: `127.0.0.1`, `::1`, `0.0.0.0`, …
  ///   - port: The port, 0 for any that is free.
  /// - Throws: `Failure` where it cannot listen there.
  public convenience init(
    _ options: ConsoleOptions,
    address: String,
    port: Int
  ) throws(Failure) {
    try self.init(options, address: address, port: port, patience: HTTPConnection.Patience())
  }

  init(
    _ options: ConsoleOptions,
    address: String,
    port: Int,
    patience: HTTPConnection.Patience,
    connectionCount: Int = connectionCount
  ) throws(Failure) {
    (socket, self.port) = try Self.listen(address, port)
    console = Console(options, port: self.port)
    self.patience = patience
    self.connectionCount = connectionCount
  }

  /// The address to open, with the token.
  ///
  /// - Parameter host: The name or number by which the browser asks.
  /// - Returns: The address.
  public func address(host: String) -> String {
    "http://\(host.contains(":") ? "[\(host)]" : host):\(port)/?token=\(console.token)"
  }

  /// Answers requests until `stop()`; once.
  ///
  /// - Throws: What ends the server otherwise.
  public func run() async throws {
    Self.raiseDescriptorLimit()
    PageTemplates.prepare()
    let pool = SocketPool.make()
    defer { try? socket.close() }
    try await pool.prepare()
    try await withThrowingTaskGroup(of: Void.self) { [end] group in
      group.addTask { try await pool.run() }
      group.addTask { try await self.accept(pool) }
      group.addTask { for await _ in end.0 {} }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// Lets the requests at hand come to their end, and imports to that of their batch, as long as the server's patience
  /// is, and takes no more.
  public func stop() async {
    isEnding.store(true, ordering: .relaxed)
    console.sources.jobs.cancel()
    let deadline = ContinuousClock.now + patience.ending
    while !flights.isEmpty || console.sources.jobs.isRunning, ContinuousClock.now < deadline {
      do { try await Task.sleep(for: .milliseconds(20)) } catch { break }
    }
    // Behind `run()` the process may be gone before its files are.
    console.end()
    end.1.finish()
  }

  // MARK: - Connections

  private func accept(_ pool: some AsyncSocketPool) async throws {
    let listener = try AsyncSocket(socket: socket, pool: pool)
    try await withThrowingDiscardingTaskGroup { group in
      while true {
        try Task.checkCancellation()
        do {
          let peer = try await listener.accept().socket
          group.addTask { await self.serve(peer, pool) }
        } catch {
          // Too many open files, for one: those who hold them are let go, and it goes on.
          guard Self.isPassing(error) else { throw error }
          try await Task.sleep(for: .milliseconds(100))
        }
      }
    }
  }

  /// Answers the requests of one connection.
  private func serve(_ socket: Socket, _ pool: some AsyncSocketPool) async {
    defer { try? socket.close() }
    let count = connections.add(1, ordering: .relaxed).newValue
    defer { connections.subtract(1, ordering: .relaxed) }
    var connection = HTTPConnection(socket, pool, patience)
    do {
      guard count <= connectionCount else {
        let busy = ConsoleError(503, "Too many browsers are connected.", help: "close some pages")
        _ = try await answer(nil, console.refusal(busy, to: nil), connection)
        return
      }
      while !isEnding.load(ordering: .relaxed) {
        let head: HTTPHead
        do {
          head = try await connection.head()
        } catch let error as ConsoleError {
          _ = try await answer(nil, console.refusal(error, to: nil), connection)
          return await connection.finish()
        }
        let goesOn = try await flights.during { try await answer(head, &connection) }
        guard goesOn else { return }
      }
    } catch {
      // Nobody is there to be told.
    }
  }

  /// Answers one request.
  ///
  /// - Returns: Whether another may follow.
  private func answer(_ head: HTTPHead, _ connection: inout HTTPConnection) async throws -> Bool {
    let (console, known) = (console, head.request)
    // Neither this nor what pages are made of waits for the database.
    if let refusal = console.answer(toHeadOf: known) {
      // What was not read of a body would be taken for the next request.
      let isRead = head.bodyLength == .none
      let isKept = try await answer(isRead ? head : nil, refusal, connection)
      if !isRead { await connection.finish() }
      return isKept
    }
    var request = head.request
    do {
      request.body = try await body(of: head, &connection)
    } catch let error as ConsoleError {
      _ = try await answer(nil, console.refusal(error, to: known), connection)
      await connection.finish()
      return false
    }
    let whole = request
    let lanes = console.mayTakeLong(whole) ? longLanes : lanes
    let response =
      known.path.first == "assets"
      ? console.respond(to: whole) : await lanes.run { console.respond(to: whole) }
    return try await answer(head, response, connection)
  }

  private func body(of head: HTTPHead, _ connection: inout HTTPConnection) async throws -> Data {
    guard head.bodyLength != .none else { return Data() }
    let console = console
    let spool = BodySpool(limit: console.gate.maximumBodyByteCount) {
      try console.sources.jobs.folder() + "/body-\(UUID().uuidString)"
    }
    if head.expectsContinue { try await connection.write("HTTP/1.1 100 Continue\r\n\r\n".utf8) }
    try await connection.readBody(of: head) { bytes in
      guard try spool.append(bytes) else { return }
      try await lanes.run { Result { () throws(ConsoleError) in try spool.flush() } }.get()
    }
    return try await lanes.run { Result { () throws(ConsoleError) in try spool.finish() } }.get()
  }

  /// Writes an answer to a head; nil where nothing may follow.
  ///
  /// - Returns: Whether another request may follow.
  private func answer(
    _ head: HTTPHead?,
    _ response: ConsoleResponse,
    _ connection: HTTPConnection
  ) async throws -> Bool {
    let isHead = head?.request.method == "HEAD"
    let isEnding = isEnding.load(ordering: .relaxed)
    let isChunked = head?.isOld == false
    var text = "HTTP/1.1 \(response.status) \(Self.phrase(response.status))\r\n"
    for (name, value) in response.headers { text += "\(name): \(Self.plain(value))\r\n" }
    let pieces: AsyncThrowingStream<[UInt8], any Error>
    switch response.body {
    case .bytes(let data):
      let keeps = head?.keepsConnection == true && !isEnding
      text +=
        "Content-Length: \(data.count)\r\nConnection: \(keeps ? "keep-alive" : "close")\r\n\r\n"
      try await connection.write(Array(text.utf8) + (isHead ? Data() : data))
      return keeps
    case .written(let write): pieces = WrittenBytes(write).chunks
    case .events(let start):
      pieces = EventBytes.chunks(of: start()) { [weak self] in
        self?.isEnding.load(ordering: .relaxed) ?? true
      }
    }
    if isChunked { text += "Transfer-Encoding: chunked\r\n" }
    let keeps = head?.keepsConnection == true && isChunked && !isEnding
    text += "Connection: \(keeps ? "keep-alive" : "close")\r\n\r\n"
    try await connection.write(text.utf8)
    if !isHead { try await connection.write(pieces, isChunked: isChunked) }
    return keeps
  }

  /// A value that stays in its line.
  private static func plain(_ value: String) -> String {
    String(String.UnicodeScalarView(value.unicodeScalars.filter { $0.value >= 0x20 }))
  }

  private static func phrase(_ status: Int) -> String {
    let phrases = [
      200: "OK", 303: "See Other", 400: "Bad Request", 403: "Forbidden", 404: "Not Found",
      405: "Method Not Allowed", 409: "Conflict", 413: "Content Too Large",
      415: "Unsupported Media Type", 421: "Misdirected Request",
      431: "Request Header Fields Too Large", 500: "Internal Server Error", 501: "Not Implemented",
      503: "Service Unavailable", 505: "HTTP Version Not Supported", 507: "Insufficient Storage",
    ]
    return phrases[status] ?? "Status"
  }

  // MARK: - Sockets

  /// Listens at an address, and tells the port.
  private static func listen(_ address: String, _ port: Int) throws(Failure) -> (Socket, Int) {
    guard (0...65_535).contains(port) else {
      throw Failure(description: "Ports are 0 to 65535.", help: nil)
    }
    let family = address.contains(":") ? AF_INET6 : AF_INET
    var storage = in6_addr()
    guard inet_pton(family, address, &storage) == 1 else {
      throw Failure(
        description: "\(address) is no IP address: the console listens at one.",
        help: ConsoleWords.anotherAddress
      )
    }
    do {
      let socket = try Socket(domain: family)
      #if canImport(Darwin)
      try socket.setValue(true, for: .noSIGPIPE)
      #endif
      try socket.setValue(true, for: .localAddressReuse)
      if family == AF_INET6 {
        try socket.bind(to: try sockaddr_in6.inet6(ip6: address, port: UInt16(port)))
      } else {
        try socket.bind(to: try sockaddr_in.inet(ip4: address, port: UInt16(port)))
      }
      try socket.listen()
      switch try socket.sockname() {
      case .ip4(_, port: let free), .ip6(_, port: let free): return (socket, Int(free))
      case .unix: return (socket, port)
      }
    } catch {
      let code = code(of: error)
      if code == EADDRINUSE {
        throw Failure(
          description: "Port \(port) of \(address) is in use.",
          help: ConsoleWords.anotherPort
        )
      }
      let reason =
        code == EADDRNOTAVAIL
        ? "this machine has no such address"
        : code.map { String(cString: strerror($0)) } ?? "\(error)"
      throw Failure(
        description: "The console cannot listen at \(address), port \(port): \(reason).",
        help: ConsoleWords.anotherAddress
      )
    }
  }

  /// Why the system refused a socket.
  private static func code(of error: any Error) -> Int32? {
    guard case SocketError.failed(_, let code, _) = error else { return nil }
    return code
  }

  private static func isPassing(_ error: any Error) -> Bool {
    guard let code = code(of: error) else { return false }
    return [EMFILE, ENFILE, ENOBUFS, ENOMEM, ECONNABORTED, EINTR].contains(code)
  }

  /// Lets the process have as many connections as the system admits.
  private static func raiseDescriptorLimit() {
    var limit = rlimit()
    #if os(Linux)
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    let resource = RLIMIT_NOFILE
    #endif
    guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
    limit.rlim_cur = min(limit.rlim_max, 65_536)
    _ = setrlimit(resource, &limit)
  }
}
