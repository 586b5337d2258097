import Synchronization

/// The events of results, as a sequence: first the snapshot, then differences.
///
///     for try await event in results.events() {
///       switch event {
///       case .snapshot(let snapshot): table.show(snapshot)
///       case .difference(let difference): table.change(difference)
///       case .ended: break
///       }
///     }
///
/// Who is slow loses nothing: differences that wait are joined to one, which leads from what was
/// received last to what is there now and is never longer than that takes. When results end, the
/// sequence throws the reason. It can be iterated once.
public struct ResultEvents: AsyncSequence, Sendable {
  /// An event.
  public typealias Element = ResultEvent

  let mailbox: ResultMailbox
  /// Results that live as long as somebody follows them.
  let owner: (any AnyObject & Sendable)?

  /// Gives the events one after the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let mailbox: ResultMailbox
    let owner: (any AnyObject & Sendable)?

    /// The next event; nil after the task was cancelled, or when the results were let go.
    ///
    /// - Throws: Why there are no more events: the stack was reset or closed, the file was migrated,
    ///   or reading failed.
    public mutating func next() async throws -> ResultEvent? { try await mailbox.next() }
  }

  /// Makes the iterator.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(mailbox: mailbox, owner: owner) }
}

/// Events on their way to one who follows results.
final class ResultMailbox: Sendable {
  /// Up to so many steps wait one behind the other, whatever the results are; more are shortened
  /// before they are taken.
  private static let fewSteps = 256

  fileprivate struct State {
    /// What has not been taken: a snapshot, or differences behind what was taken.
    var snapshot: ResultSnapshot?
    var base: ResultSnapshot?
    var steps: [ResultChange] = []
    var current: ResultSnapshot?
    /// Whether the steps are those of several differences, one behind the other.
    var isJoined = false
    var reason: (any Error)?
    var isFinished = false
    /// Who waits for news: one, unless several iterate at once, who share the events then.
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>

  init(_ snapshot: ResultSnapshot) { state = Mutex(State(snapshot: snapshot)) }

  /// Something has changed.
  func post(_ difference: ResultDifference, from old: ResultSnapshot, to new: ResultSnapshot) {
    resume { state in
      guard !state.isFinished else { return }
      if state.snapshot != nil {
        state.snapshot = new
        return
      }
      if state.steps.isEmpty { state.base = old } else { state.isJoined = true }
      state.steps += difference.changes
      state.current = new
      if state.steps.count > max(Self.fewSteps, new.count) { state.shorten() }
    }
  }

  /// There will be no more; nil is an end without a reason.
  func end(_ reason: (any Error)?) {
    resume { state in
      guard !state.isFinished else { return }
      state.reason = reason
      state.isFinished = true
    }
  }

  /// Whether the next event, or the end, is there already.
  var hasNews: Bool { state.withLock { $0.hasNews } }

  /// The next event; waits for it.
  func next() async throws -> ResultEvent? {
    while true {
      if let outcome = try take() { return outcome.event }
      if Task.isCancelled { return nil }
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let isReady = state.withLock { state in
            if state.hasNews || Task.isCancelled { return true }
            state.waiting.append(continuation)
            return false
          }
          if isReady { continuation.resume() }
        }
      } onCancel: {
        resume { _ in }
      }
    }
  }

  /// What there is: nil: nothing yet; an outcome without an event: the end.
  private func take() throws -> (event: ResultEvent?, Void)? {
    try state.withLock { state in
      if let snapshot = state.snapshot {
        state.snapshot = nil
        return (.snapshot(snapshot), ())
      }
      if state.isJoined { state.shorten() }
      if !state.steps.isEmpty, let base = state.base, let current = state.current {
        let difference = ResultDifference(
          state.steps,
          countBefore: base.count,
          countAfter: current.count
        )
        state.steps = []
        state.base = nil
        state.current = nil
        return (.difference(difference), ())
      }
      guard state.isFinished else { return nil }
      defer { state.reason = nil }
      if let reason = state.reason { throw reason }
      return (nil, ())
    }
  }

  private func resume(_ change: (inout State) -> Void) {
    let waiting = state.withLock { state in
      change(&state)
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}

extension ResultMailbox.State {
  fileprivate var hasNews: Bool { snapshot != nil || !steps.isEmpty || isFinished }

  /// Replaces the steps by the shortest way from the base to what is there now.
  fileprivate mutating func shorten() {
    isJoined = false
    guard let base, let current else { return }
    var touched: Set<Int64> = []
    for step in steps {
      switch step {
      case .inserted(let id, _), .updated(let id, _): touched.insert(id.primaryKey)
      default: break
      }
    }
    var builder = DifferenceBuilder(from: base, to: current) { _, place in
      touched.contains(current.keys[place])
    }
    steps = builder.difference().changes
    if steps.isEmpty { self.base = nil }
  }
}

/// The mailboxes of some results; those that nobody reads any more are let go.
struct ResultMailboxes: Sendable {
  private struct Weak: Sendable {
    weak var mailbox: ResultMailbox?
  }

  private var all: [Weak] = []

  /// Makes a mailbox that begins with a snapshot, and ends at once where there is a reason.
  mutating func open(_ snapshot: ResultSnapshot, endedBy reason: (any Error)?) -> ResultMailbox {
    let mailbox = ResultMailbox(snapshot)
    if let reason { mailbox.end(reason) }
    all.removeAll { $0.mailbox == nil }
    all.append(Weak(mailbox: mailbox))
    return mailbox
  }

  /// Tells all what has changed.
  func post(_ difference: ResultDifference, from old: ResultSnapshot, to new: ResultSnapshot) {
    for weak in all { weak.mailbox?.post(difference, from: old, to: new) }
  }

  /// Tells all that there will be no more.
  func end(_ reason: (any Error)?) {
    for weak in all { weak.mailbox?.end(reason) }
  }
}
