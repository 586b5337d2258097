import Dispatch
import Foundation
import Synchronization

/// How many requests are being answered.
final class Flights: Sendable {
  private let count = Atomic(0)

  /// Whether none is.
  var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

  /// Runs a closure as a request, from its head to the last byte of its answer.
  func during<Value>(_ body: () async throws -> Value) async rethrows -> Value {
    count.add(1, ordering: .acquiringAndReleasing)
    defer { count.subtract(1, ordering: .acquiringAndReleasing) }
    return try await body()
  }
}

/// A body that is written on a thread of its own, no faster than it is taken.
final class WrittenBytes: ByteOutput, Sendable {
  private struct State {
    var chunks: [[UInt8]] = []
    var waiting: CheckedContinuation<[UInt8]?, any Error>?
    var end: Result<Void, any Error>?
    var hasBegun = false
    var isAbandoned = false
  }

  private struct Abandoned: Error {}

  /// Tells the writer when nobody takes anything any more.
  private final class Reader: Sendable {
    let bytes: WrittenBytes
    init(_ bytes: WrittenBytes) { self.bytes = bytes }
    deinit { bytes.abandon() }
  }

  /// So many bodies are under way at once, each with a thread and a snapshot of the database.
  private static let threads = DispatchSemaphore(value: 64)
  /// So many of them read at once, from end to end; who waits for a browser to take something is none of them.
  private static let places = DispatchSemaphore(value: 3)
  private static let room = 4

  private let state = Mutex(State())
  private let slots = DispatchSemaphore(value: 0)
  private let body: @Sendable (any ByteOutput) throws -> Void

  init(_ body: @escaping @Sendable (any ByteOutput) throws -> Void) {
    self.body = body
    // Counted up from 0: Dispatch traps where one goes that has less than it was made with.
    for _ in 0..<Self.room { slots.signal() }
  }

  /// The pieces; to be taken once.
  var chunks: AsyncThrowingStream<[UInt8], any Error> {
    let reader = Reader(self)
    return AsyncThrowingStream {
      try await withTaskCancellationHandler {
        try await reader.bytes.next()
      } onCancel: {
        reader.bytes.abandon()
      }
    }
  }

  var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

  func write(_ bytes: [UInt8]) throws {
    guard !bytes.isEmpty else { return }
    if slots.wait(timeout: .now()) == .timedOut {
      Self.places.signal()
      slots.wait()
      Self.places.wait()
    }
    let waiting = try state.withLock { state -> CheckedContinuation<[UInt8]?, any Error>? in
      if state.isAbandoned { throw Abandoned() }
      if let waiting = state.waiting {
        state.waiting = nil
        return waiting
      }
      state.chunks.append(bytes)
      return nil
    }
    guard let waiting else { return }
    slots.signal()
    waiting.resume(returning: bytes)
  }

  private func next() async throws -> [UInt8]? {
    begin()
    return try await withCheckedThrowingContinuation { continuation in
      let now = state.withLock { state -> Result<[UInt8]?, any Error>? in
        if !state.chunks.isEmpty { return .success(state.chunks.removeFirst()) }
        if let end = state.end { return end.map { nil } }
        if state.isAbandoned { return .failure(Abandoned()) }
        state.waiting = continuation
        return nil
      }
      guard let now else { return }
      if case .success(.some) = now { slots.signal() }
      continuation.resume(with: now)
    }
  }

  private func begin() {
    let isFirst = state.withLock { state in
      defer { state.hasBegun = true }
      return !state.hasBegun
    }
    guard isFirst else { return }
    Thread.detachNewThread { [self] in
      Self.threads.wait()
      defer { Self.threads.signal() }
      Self.places.wait()
      defer { Self.places.signal() }
      let end = Result { if !isAbandoned { try body(self) } }
      let waiting = state.withLock { state in
        state.end = end
        defer { state.waiting = nil }
        return state.waiting
      }
      waiting?.resume(with: end.map { nil })
    }
  }

  private func abandon() {
    let waiting = state.withLock { state in
      state.isAbandoned = true
      defer { state.waiting = nil }
      return state.waiting
    }
    slots.signal()
    waiting?.resume(throwing: Abandoned())
  }
}

/// Events on their way to a browser, with a sign of life now and then, by which a browser that has gone is noticed.
///
/// Each tells all there is to tell: a browser that takes none for a while gets the newest one then.
enum EventBytes {
  /// - Parameters:
  ///   - events: The events.
  ///   - isEnding: Whether the server stops.
  /// - Returns: The events, signs of life between them, until they or the server end.
  static func chunks(
    of events: AsyncStream<String>,
    until isEnding: @escaping @Sendable () -> Bool
  ) -> AsyncThrowingStream<[UInt8], any Error> {
    let box = EventBox()
    let teller = Task {
      for await event in events { box.change { $0.event = event } }
      box.change { $0.hasEnded = true }
    }
    let pulse = Task {
      var count = 0
      while !Task.isCancelled, !isEnding() {
        try await Task.sleep(for: .milliseconds(250))
        count += 1
        if count % 40 == 0 { box.change { $0.hasPulse = true } }
      }
      box.change { $0.hasEnded = true }
    }
    let reader = EventReader(box, [{ teller.cancel() }, { pulse.cancel() }])
    return AsyncThrowingStream {
      await withTaskCancellationHandler {
        await reader.box.next()
      } onCancel: {
        reader.stop()
      }
    }
  }
}

/// What a browser is told next.
private final class EventBox: Sendable {
  struct State {
    var event: String?
    var hasPulse = false
    var hasEnded = false
    fileprivate var waiting: CheckedContinuation<[UInt8]?, Never>?

    /// Takes what is next; nil inside: the end.
    ///
    /// Nil: nothing yet.
    fileprivate mutating func take() -> [UInt8]?? {
      if let event {
        self.event = nil
        return Array(event.utf8)
      }
      if hasEnded { return .some(nil) }
      guard hasPulse else { return nil }
      hasPulse = false
      return Array(": \n\n".utf8)
    }
  }

  private let state = Mutex(State())

  func change(_ body: (inout State) -> Void) {
    let told = state.withLock { state -> (CheckedContinuation<[UInt8]?, Never>, [UInt8]?)? in
      body(&state)
      guard let waiting = state.waiting, let next = state.take() else { return nil }
      state.waiting = nil
      return (waiting, next)
    }
    told?.0.resume(returning: told?.1)
  }

  func next() async -> [UInt8]? {
    await withCheckedContinuation { waiting in
      let next = state.withLock { state in
        let next = state.take()
        if next == nil { state.waiting = waiting }
        return next
      }
      if let next { waiting.resume(returning: next) }
    }
  }
}

/// Ends what makes events when nobody takes them any more.
private final class EventReader: Sendable {
  let box: EventBox
  private let cancels: [@Sendable () -> Void]

  init(_ box: EventBox, _ cancels: [@Sendable () -> Void]) {
    self.box = box
    self.cancels = cancels
  }

  deinit { stop() }

  func stop() {
    for cancel in cancels { cancel() }
    box.change { $0.hasEnded = true }
  }
}
