import Foundation
import Testing

/// A client of HTTP that sends exactly what it is told.
struct Client: Sendable {
  let port: Int
  var cookie = ""

  /// How long it waits for the server's next byte: longer than a busy machine makes it wait.
  static let patience = Duration.seconds(900)
  /// What stands behind the text of an answer of which no byte came for that long.
  static let late = "(and then nothing)"

  /// A connection; it blocks, on a thread of its own.
  final class Connection: Sendable {
    private let socket: Int32

    init(port: Int) throws {
      #if os(Linux)
      socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      #else
      socket = Darwin.socket(AF_INET, SOCK_STREAM, 0)
      #endif
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = in_port_t(port).bigEndian
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      let descriptor = socket
      let status = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      try #require(status == 0, "connect: \(errno)")
      var limit = timeval(tv_sec: Int(Client.patience.components.seconds), tv_usec: 0)
      setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { Foundation.close(socket) }

    /// Sends text; what nobody takes is dropped.
    func write(_ text: String) {
      var bytes = Array(text.utf8)[...]
      while !bytes.isEmpty {
        let count = bytes.withUnsafeBytes {
          Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { return }
        bytes = bytes.dropFirst(count)
      }
    }

    /// Ends the connection.
    func close() { shutdown(socket, Int32(SHUT_RDWR)) }

    /// Everything up to the end of the connection.
    func readAll() async -> String { await read(until: nil) }

    /// Everything up to a text, or the end.
    func read(until mark: String?) async -> String {
      await withCheckedContinuation { done in
        Thread.detachNewThread { [self] in
          var bytes: [UInt8] = []
          var buffer = [UInt8](repeating: 0, count: 1 << 16)
          while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN { bytes += Array(Client.late.utf8) }
            guard count > 0 else { break }
            bytes += buffer[..<count]
            if let mark, String(decoding: bytes, as: UTF8.self).contains(mark) { break }
          }
          done.resume(returning: String(decoding: bytes, as: UTF8.self))
        }
      }
    }
  }

  func connect() throws -> Connection { try Connection(port: port) }

  /// The head of a request with the cookie, as the console's own pages send it.
  func head(_ line: String, _ fields: [String: String] = [:]) -> String {
    var head = "\(line) HTTP/1.1\r\nHost: localhost:\(port)\r\nConnection: close\r\n"
    if !cookie.isEmpty { head += "Cookie: \(cookie)\r\n" }
    if line.hasPrefix("POST") { head += "Origin: http://localhost:\(port)\r\n" }
    return head + fields.map { "\($0): \($1)\r\n" }.joined() + "\r\n"
  }

  /// What is answered to a text.
  func send(_ text: String) async throws -> String {
    let connection = try connect()
    let sender = Thread { connection.write(text) }
    sender.start()
    return await connection.readAll()
  }

  /// What is answered to a link.
  func get(_ target: String) async throws -> String { try await send(head("GET \(target)")) }

  /// Gets the cookie for the token.
  mutating func enter() async throws {
    let welcome = try await get("/?token=0123456789abcdef")
    let field = try #require(welcome.firstMatch(of: /[Ss]et-[Cc]ookie: ([^;]+);/))
    cookie = String(field.output.1)
  }
}
