import Dispatch
import Synchronization

/// What is stored of a request, in order and in sections, kept in step with the store from any
/// thread.
///
///     let people = try await stack.results(FetchRequest("Person", sortKeys: [SortKey("name")]))
///     for try await event in people.events() { print(event) }
///
/// It sees what is committed, by whomever: contexts, imports, and other processes, whose commits are
/// looked for at a stated interval. All work is done on a thread of its own, never on those of
/// Swift's tasks. Notices that come while it reads are joined, so an import that commits a thousand
/// batches does not cost a thousand fetches.
public final class StoredResults<Element: Sendable>: Sendable {
  private let engine: StoredResultEngine
  private let load: @Sendable ([ObjectID]) throws -> [ObjectID: Element]

  init(
    _ engine: StoredResultEngine,
    load: @escaping @Sendable ([ObjectID]) throws -> [ObjectID: Element]
  ) {
    self.engine = engine
    self.load = load
  }

  deinit { engine.stop() }

  /// The ids in order and in sections, as they were told last.
  public var snapshot: ResultSnapshot { engine.snapshot }
  /// Why the results are not followed any more; nil: they are.
  public var endReason: (any Error)? { engine.endReason }
  /// The request.
  public var request: FetchRequest { engine.request }

  /// Follows another request from now on: another filter, order, limit or section key.
  ///
  /// Fetches once; what differs is told as a difference, with rows that stay moved and not replaced.
  /// - Parameters:
  ///   - request: The request, of the same entity.
  ///   - sectionKey: The section key; nil: no sections.
  /// - Throws: `StoreError`; the results are as they were then.
  public func change(
    _ request: FetchRequest,
    sectionedBy sectionKey: String? = nil
  ) async throws {
    try await engine.change(request, sectionKey)
  }

  /// What rows are made into, by their ids; rows that are not stored any more are left out.
  ///
  /// Reads them now, all with one statement.
  /// - Parameter ids: The ids.
  /// - Returns: The elements.
  /// - Throws: `StoreError`, and what the transform throws.
  public func elements(of ids: [ObjectID]) async throws -> [ObjectID: Element] {
    let load = load
    return try await engine.run { try load(ids) }
  }

  /// What some rows are made into, by their places without sections, in order.
  ///
  /// - Parameter places: The places, from 0; what is beyond the end is left out.
  /// - Returns: The elements; those of rows that are not stored any more are left out.
  /// - Throws: as `elements(of:)`.
  public func elements(at places: Range<Int>) async throws -> [Element] {
    let ids = snapshot.ids(at: places)
    let elements = try await elements(of: ids)
    return ids.compactMap { elements[$0] }
  }

  /// The snapshot and then the differences, from now on.
  ///
  /// The results live as long as somebody iterates the sequence. It throws when the stack is reset
  /// or closed, the file is migrated or replaced, or reading fails.
  public func events() -> ResultEvents { ResultEvents(mailbox: engine.mailbox(), owner: self) }

  /// Calls a closure with the snapshot and then with each difference, in order, on the thread of the
  /// results, until it is cancelled or they are let go.
  ///
  /// - Parameter body: Gets the events; must not wait for the results.
  /// - Returns: What stops it.
  @discardableResult
  public func observe(_ body: @escaping @Sendable (ResultEvent) -> Void) -> ResultObservation {
    let observation = ResultObservation(body)
    engine.add(observation)
    return observation
  }
}

/// The work behind `StoredResults`, which knows nothing of elements.
final class StoredResultEngine: Sendable {
  // Sendable because every access is made by a closure on the engine's serial queue.
  private final class Confined: @unchecked Sendable {
    var feed: ResultFeed<StoreResultSource>?
    var observers: [ResultObservation] = []
    var hindrances = Hindrances()
  }

  private struct State {
    var snapshot: ResultSnapshot
    var request: FetchRequest
    var endReason: (any Error)?
    /// What has been told and not been looked at.
    var notice = ChangeNotice()
    var mailboxes = ResultMailboxes()
    /// Ends what tells of changes.
    var stop: (@Sendable () -> Void)?
  }

  private let store: any ObjectStore
  private let layout: ModelLayout
  let queue = DispatchQueue(label: "dragoman.results")
  private let confined = Confined()
  private let state: Mutex<State>

  init(_ request: FetchRequest, store: any ObjectStore, layout: ModelLayout) {
    self.store = store
    self.layout = layout
    let empty = ResultSnapshot(emptyOf: request.entity)
    state = Mutex(State(snapshot: empty, request: request))
  }

  var snapshot: ResultSnapshot { state.withLock { $0.snapshot } }
  var request: FetchRequest { state.withLock { $0.request } }
  var endReason: (any Error)? { state.withLock { $0.endReason } }

  /// Begins: hears of changes first and reads then, so that nothing is missed in between.
  ///
  /// - Parameters:
  ///   - sectionKey: The section key.
  ///   - listen: Makes somebody tell of changes; gives what ends that.
  /// - Throws: What reading throws; nothing is left behind then.
  func start(
    sectionedBy sectionKey: String?,
    _ listen: @escaping @Sendable (StoredResultEngine) throws -> @Sendable () -> Void
  ) async throws {
    try await run { [self] in
      let query = try ResultQuery(
        request,
        sectionedBy: sectionKey,
        in: layout,
        followsColumns: true
      )
      let stop = try listen(self)
      do {
        let feed = try ResultFeed(query, from: StoreResultSource(store: store))
        confined.feed = feed
        state.withLock { state in
          state.snapshot = feed.snapshot
          state.stop = stop
        }
      } catch {
        stop()
        throw error
      }
    }
  }

  /// Nobody follows any more.
  func stop() {
    let stop = state.withLock { state in
      defer { state.stop = nil }
      return state.stop
    }
    stop?()
    mailboxes.end(nil)
  }

  /// Runs blocking work on the thread of the results.
  func run<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try body() }) }
    }
  }

  // MARK: - Changes

  /// Something was committed; it is looked at soon, together with what comes until then.
  func take(_ notice: ChangeNotice) {
    let isFirst = state.withLock { state in
      // What came and went between two looks may have been read in between, by `change`.
      defer { state.notice.join(notice) }
      return state.notice.isEmpty
    }
    if isFirst { queue.async { [weak self] in self?.look() } }
  }

  /// There will be no more.
  func end(_ reason: any Error) {
    queue.async { [weak self] in self?.finish(reason) }
  }

  private func look() {
    let notice = state.withLock { state in
      defer { state.notice = ChangeNotice() }
      return state.notice
    }
    guard endReason == nil, confined.feed != nil else { return }
    do {
      let old = snapshot
      if let difference = try confined.feed?.take(notice) { tell(difference, from: old) }
      confined.hindrances.end()
    } catch  where confined.hindrances.mayPass(error) {
      lookAgain(notice)
    } catch {
      finish(error)
    }
  }

  /// What could not be looked at is looked at a second later, with what comes until then.
  private func lookAgain(_ missed: ChangeNotice) {
    state.withLock { state in
      var joined = missed
      joined.join(state.notice)
      state.notice = joined
    }
    queue.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in self?.look() }
  }

  /// Follows another request.
  func change(_ request: FetchRequest, _ sectionKey: String?) async throws {
    try await run { [self] in
      if let endReason { throw endReason }
      try request.requireEntity(self.request.entity)
      let query = try ResultQuery(
        request,
        sectionedBy: sectionKey,
        in: layout,
        followsColumns: true
      )
      let old = snapshot
      guard let difference = try confined.feed?.follow(query) else { return }
      state.withLock { $0.request = request }
      tell(difference, from: old)
    }
  }

  private func tell(_ difference: ResultDifference, from old: ResultSnapshot) {
    guard !difference.isEmpty, let new = confined.feed?.snapshot else { return }
    let mailboxes = state.withLock { state in
      state.snapshot = new
      return state.mailboxes
    }
    mailboxes.post(difference, from: old, to: new)
    confined.observers.removeAll(where: \.isCancelled)
    for observer in confined.observers { observer.tell(.difference(difference)) }
  }

  private func finish(_ reason: any Error) {
    let isFirst = state.withLock { state in
      guard state.endReason == nil else { return false }
      state.endReason = reason
      return true
    }
    guard isFirst else { return }
    mailboxes.end(reason)
    for observer in confined.observers { observer.tell(.ended(reason)) }
    confined.observers = []
  }

  // MARK: - Followers

  private var mailboxes: ResultMailboxes { state.withLock { $0.mailboxes } }

  /// A mailbox that begins with what has been told last.
  func mailbox() -> ResultMailbox {
    state.withLock { state in
      state.mailboxes.open(state.snapshot, endedBy: state.endReason)
    }
  }

  func add(_ observer: ResultObservation) {
    queue.async { [self] in
      observer.tell(.snapshot(snapshot))
      if let endReason {
        observer.tell(.ended(endReason))
      } else {
        confined.observers.append(observer)
      }
    }
  }
}
