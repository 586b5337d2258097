import FlyingFox
import FlyingSocks
import Foundation
import Synchronization

/// Lends a console to browsers, by HTTP.
///
/// What knows the server's library is in this room only.
public final class ConsoleServer: Sendable {
  /// Why a server cannot start.
  public struct Failure: Error, CustomStringConvertible {
    /// A full sentence.
    public let description: String
    /// What to do.
    public let help: String?
  }

  /// The port at which it listens.
  public let port: Int
  private let console: Console
  private let server: HTTPServer
  private let pool: PatientPool
  private let ending: Ending
  private let flights: Flights

  /// Prepares a server.
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
    try self.init(options, address: address, port: port, pool: PatientPool())
  }

  init(
    _ options: ConsoleOptions,
    address: String,
    port: Int,
    pool: PatientPool
  ) throws(Failure) {
    let (family, free) = try Self.probe(address, port)
    self.port = free
    let console = Console(options, port: free)
    self.console = console
    self.pool = pool
    let ending = Ending()
    self.ending = ending
    let flights = Flights()
    self.flights = flights
    let site = Site(
      console: console,
      pool: pool,
      lanes: Lanes(),
      ending: ending,
      flights: flights,
      limit: options.maximumUploadByteCount
    )
    let handler = ClosureHTTPHandler { request in await site.answer(request) }
    var configuration: HTTPServer.Configuration
    do {
      configuration =
        family == AF_INET6
        ? HTTPServer.Configuration(
          address: try sockaddr_in6.inet6(ip6: address, port: UInt16(free)),
          pool: pool,
          logger: .disabled
        )
        : HTTPServer.Configuration(
          address: try sockaddr_in.inet(ip4: address, port: UInt16(free)),
          pool: pool,
          logger: .disabled
        )
    } catch {
      throw Failure(description: "\(address) is no address of this machine.", help: nil)
    }
    // Requests wait for the database, and that for its lock.
    configuration.timeout = 120
    server = HTTPServer(config: configuration, handler: handler)
  }

  /// The address to open, with the token.
  ///
  /// - Parameter host: The name or number by which the browser asks.
  /// - Returns: The address.
  public func address(host: String) -> String {
    "http://\(host.contains(":") ? "[\(host)]" : host):\(port)/?token=\(console.token)"
  }

  /// Answers requests until `stop()`.
  ///
  /// - Throws: What ends the server otherwise.
  public func run() async throws {
    Self.raiseDescriptorLimit()
    while true {
      do {
        try await server.run()
        return
      } catch {
        if ending.hasBegun { return }
        // Too many open files, for one: those who hold them are let go, and it goes on.
        guard Self.isPassing(error) else { throw error }
        try await Task.sleep(for: .milliseconds(100))
      }
    }
  }

  /// Waits until requests are answered.
  ///
  /// - Throws: An error when it takes a minute: the machine may be busy.
  public func waitUntilListening() async throws { try await server.waitUntilListening(timeout: 60) }

  /// Lets the requests at hand come to their end, for five seconds at most, and takes no more.
  public func stop() async {
    ending.begin()
    let deadline = ContinuousClock.now + .seconds(5)
    while !flights.isEmpty, ContinuousClock.now < deadline {
      do { try await Task.sleep(for: .milliseconds(20)) } catch { break }
    }
    await server.stop(timeout: 0)
    console.end()
  }

  // MARK: - Sockets

  /// Tries whether it can listen there, and finds a free port.
  private static func probe(_ address: String, _ port: Int) throws(Failure) -> (Int32, Int) {
    guard (0...65_535).contains(port) else {
      throw Failure(description: "Ports are 0 to 65535.", help: nil)
    }
    let family = address.contains(":") ? AF_INET6 : AF_INET
    do {
      let socket = try Socket(domain: family)
      defer { try? socket.close() }
      try socket.setValue(true, for: .localAddressReuse)
      if family == AF_INET6 {
        try socket.bind(to: try sockaddr_in6.inet6(ip6: address, port: UInt16(port)))
      } else {
        try socket.bind(to: try sockaddr_in.inet(ip4: address, port: UInt16(port)))
      }
      try socket.listen()
      switch try socket.sockname() {
      case .ip4(_, port: let free), .ip6(_, port: let free): return (family, Int(free))
      case .unix: return (family, port)
      }
    } catch {
      let text = "\(error)"
      if text.contains("\(EADDRINUSE)") || text.lowercased().contains("address already in use") {
        throw Failure(
          description: "Port \(port) of \(address) is in use.",
          help:
            "end what listens there, or give another with --port; --port 0 takes one that is free"
        )
      }
      throw Failure(
        description: "It cannot be listened at \(address), port \(port): \(error).",
        help: "give an address of this machine with --listen"
      )
    }
  }

  private static func isPassing(_ error: any Error) -> Bool {
    guard case SocketError.failed(_, let code, _) = error else { return false }
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

/// Whether the server is to stop.
private final class Ending: Sendable {
  private let flag = Atomic(false)

  var hasBegun: Bool { flag.load(ordering: .relaxed) }

  func begin() { flag.store(true, ordering: .relaxed) }
}

/// Requests of the library as requests of the console, and answers back.
private struct Site: Sendable {
  let console: Console
  let pool: PatientPool
  let lanes: Lanes
  let ending: Ending
  let flights: Flights
  let limit: Int

  func answer(_ request: HTTPRequest) async -> HTTPResponse {
    let flight = Flight(flights)
    var asked = ConsoleRequest(request.method.rawValue, target: request.target.rawValue)
    for (name, value) in request.headers {
      let name = name.rawValue.lowercased()
      // Of fields that come twice and must not, the whole is not one that is known.
      asked.headers[name] = asked.headers[name].map { "\($0), \(value)" } ?? value
    }
    pool.requestCame(from: request.remoteAddress)
    let head = asked
    if let refusal = await lanes.run({ console.answer(toHeadOf: head) }) {
      return response(refusal, to: request, flight, closes: true)
    }
    if asked.method == "POST" {
      pool.requestCame(from: request.remoteAddress, patience: PatientPool.bodyPatience)
    }
    do {
      asked.body = try await body(of: request)
    } catch {
      let refusal = ConsoleResponse(
        413,
        type: "text/plain; charset=utf-8",
        text: "The form is larger than \(limit >> 20) MB.\n"
      )
      return response(refusal, to: request, flight, closes: true)
    }
    pool.requestCame(from: request.remoteAddress)
    let whole = asked
    let answer = await lanes.run { console.respond(to: whole) }
    return response(answer, to: request, flight, closes: false)
  }

  private struct TooLong: Error {}

  private func body(of request: HTTPRequest) async throws -> Data {
    var body = Data()
    for try await chunk in request.bodySequence {
      body.append(chunk)
      if body.count > limit { throw TooLong() }
    }
    return body
  }

  private func response(
    _ response: ConsoleResponse,
    to request: HTTPRequest,
    _ flight: Flight,
    closes: Bool
  ) -> HTTPResponse {
    var headers = HTTPHeaders()
    for (name, value) in response.headers { headers.addValue(value, for: HTTPHeader(name)) }
    let status = HTTPStatusCode(response.status, phrase: Self.phrase(response.status))
    let isHead = request.method == .HEAD
    // What was not read of a body would be taken for the next request.
    let isUnread = closes && (request.bodySequence.count ?? 1) > 0
    if isUnread { headers[.connection] = "close" }
    switch response.body {
    case .bytes(let data):
      if isHead {
        headers[.contentLength] = String(data.count)
        return HTTPResponse(statusCode: status, headers: headers)
      }
      let body = HTTPBodySequence(
        from: WholeBytes(data, isLast: isUnread, flight),
        count: data.count
      )
      return HTTPResponse(statusCode: status, headers: headers, body: body)
    case .written(let write):
      if isHead { return HTTPResponse(statusCode: status, headers: headers) }
      return HTTPResponse(
        statusCode: status,
        headers: headers,
        body: HTTPBodySequence(from: ByteStream(WrittenBytes(write).chunks, flight))
      )
    case .events(let start):
      if isHead { return HTTPResponse(statusCode: status, headers: headers) }
      let events = start()
      return HTTPResponse(
        statusCode: status,
        headers: headers,
        body: HTTPBodySequence(
          from: ByteStream(EventBytes.chunks(of: events) { [ending] in ending.hasBegun }, flight)
        )
      )
    }
  }

  private static func phrase(_ status: Int) -> String {
    let phrases = [
      200: "OK", 303: "See Other", 400: "Bad Request", 403: "Forbidden", 404: "Not Found",
      405: "Method Not Allowed", 409: "Conflict", 413: "Content Too Large",
      415: "Unsupported Media Type", 421: "Misdirected Request", 500: "Internal Server Error",
      503: "Service Unavailable",
    ]
    return phrases[status] ?? "Status"
  }
}
