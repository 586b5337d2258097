import Foundation
import Synchronization

/// Stands between a client and the socket of a test server, and cuts one connection once, at a chosen byte of what the
/// client sends: before that byte reaches the server, or after, so that only the answer is lost.
public final class CuttingProxy: Sendable {
  /// What is lost.
  public enum Loss: Sendable, CaseIterable {
    case request
    case answer
  }

  /// The port on 127.0.0.1.
  public let port: Int
  private let listener: Int32
  private let path: String
  private let place: Int
  private let loss: Loss
  private let seen = Mutex<(count: Int, isCut: Bool)>((0, false))

  /// Listens.
  ///
  /// - Parameters:
  ///   - path: The server's socket.
  ///   - place: How many bytes the clients may send, all connections together.
  ///   - loss: What is lost behind them.
  /// - Throws: Where no port is free.
  public init(to path: String, cuttingAt place: Int, losing loss: Loss) throws {
    self.path = path
    self.place = place
    self.loss = loss
    listener = socket(AF_INET, TestServer.stream, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let handle = listener
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(handle, $0, length) == 0 && listen(handle, 16) == 0
          && getsockname(handle, $0, &length) == 0
      }
    }
    guard isBound else { throw TestServer.Absence(description: "no port is free") }
    port = Int(UInt16(bigEndian: address.sin_port))
    Thread.detachNewThread { [self] in
      while case let client = accept(handle, nil, nil), client >= 0 {
        Thread.detachNewThread { self.serve(client) }
      }
    }
  }

  /// Listens no more.
  public func end() {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  /// How many bytes the clients have sent.
  public var byteCount: Int { seen.withLock { $0.count } }

  /// Whether a connection was cut.
  public var isCut: Bool { seen.withLock { $0.isCut } }

  private func serve(_ client: Int32) {
    let server = socket(AF_UNIX, TestServer.stream, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) {
      $0.copyBytes(from: path.utf8.prefix($0.count - 1))
    }
    let isConnected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(server, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    let isMute = Atomic<Bool>(false)
    let done = DispatchSemaphore(value: 0)
    if isConnected {
      Thread.detachNewThread {
        self.copy(from: server, to: client) { isMute.load(ordering: .relaxed) ? 0 : $0 }
        shutdown(client, Int32(SHUT_RDWR))
        done.signal()
      }
      copy(from: client, to: server) { count in
        let (kept, isCut) = self.seen.withLock { seen in
          let left = self.place - seen.count
          seen.count += count
          if seen.isCut || left >= count { return (count, false) }
          seen.isCut = true
          return (max(0, left), true)
        }
        guard isCut else { return count }
        if self.loss == .answer {
          isMute.store(true, ordering: .relaxed)
          return count
        }
        return kept - count
      }
      shutdown(server, Int32(SHUT_RDWR))
      done.wait()
    }
    close(client)
    close(server)
  }

  /// Copies until an end; `keep` says how many bytes go on: fewer than none is how many less, and the end behind them.
  private func copy(from source: Int32, to target: Int32, _ keep: (Int) -> Int) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(source, &buffer, buffer.count), count > 0 {
      let kept = keep(count)
      let wanted = kept < 0 ? count + kept : kept
      if wanted > 0, write(target, buffer, wanted) != wanted { return }
      if kept < 0 { return }
      // Who gets no answer is cut off when the server has had the time to do what it was told.
      if kept == 0 { return }
    }
  }
}
