import FlyingFox
import FlyingSocks
import Foundation
import Synchronization

/// Sockets that are not waited for without end.
///
/// A head must be there within seconds, a body within minutes, and what is answered must be taken: those who are
/// slow, or say nothing, are let go, so that they cannot use up the connections.
final class PatientPool: AsyncSocketPool {
  /// How long the head of a first request may take.
  static let headPatience = Duration.seconds(15)
  /// How long a connection may be silent between requests.
  static let idlePatience = Duration.seconds(60)
  /// How long the body of a form may take.
  static let bodyPatience = Duration.seconds(600)
  /// How long nothing of an answer may be taken.
  static let answerPatience = Duration.seconds(60)

  private struct State {
    /// By the socket's number in the system, which no other socket gets.
    var deadlines: [UInt64: ContinuousClock.Instant] = [:]
    var numbers: [HTTPRequest.Address: UInt64] = [:]
  }

  private let base: any AsyncSocketPool = HTTPServer.defaultPool()
  private let state = Mutex(State())
  private let headPatience: Duration

  init(headPatience: Duration = PatientPool.headPatience) { self.headPatience = headPatience }

  func prepare() async throws { try await base.prepare() }

  func run() async throws { try await base.run() }

  func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
    // The socket that listens waits for as long as it takes.
    guard !isListening(socket) else {
      return try await base.suspendSocket(socket, untilReadyFor: events)
    }
    let deadline =
      events.contains(.read) ? readDeadline(of: socket) : .now + Self.answerPatience
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [base] in try await base.suspendSocket(socket, untilReadyFor: events) }
      group.addTask {
        try await Task.sleep(until: deadline, clock: .continuous)
        throw SocketError.disconnected
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  /// The head of a request is whole: from now on its connection may be silent for a while.
  ///
  /// - Parameters:
  ///   - address: Where it came from.
  ///   - patience: For how long.
  func requestCame(from address: HTTPRequest.Address?, patience: Duration = idlePatience) {
    guard let address else { return }
    state.withLock { state in
      guard let number = state.numbers[address] else { return }
      state.deadlines[number] = .now + patience
    }
  }

  private func isListening(_ socket: Socket) -> Bool {
    var value: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(socket.file.rawValue, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) == 0
      && value != 0
  }

  private func readDeadline(of socket: Socket) -> ContinuousClock.Instant {
    var status = stat()
    let number = fstat(socket.file.rawValue, &status) == 0 ? UInt64(status.st_ino) : 0
    let peer = (try? socket.remotePeer()).map(HTTPRequest.Address.make)
    return state.withLock { state in
      if state.deadlines.count > 2_000 {
        let now = ContinuousClock.now
        state.deadlines = state.deadlines.filter { $0.value > now }
        let known = Set(state.deadlines.keys)
        state.numbers = state.numbers.filter { known.contains($0.value) }
      }
      if let peer { state.numbers[peer] = number }
      if let known = state.deadlines[number] { return known }
      let deadline = ContinuousClock.now + headPatience
      state.deadlines[number] = deadline
      return deadline
    }
  }
}
