/// The objects of a request, in order and in sections, kept in step with their context.
///
///     let people = try stack.main.results(
///       FetchRequest("Person", sortKeys: [SortKey("city"), SortKey("lastName")]),
///       sectionedBy: "city"
///     )
///     for try await event in people.events() { print(event) }
///     let names = people.map { $0["lastName"] }
///
/// Results of objects are a `RandomAccessCollection`; others are asked by `element(at:)`, which can
/// throw what the transform throws.
///
/// Belongs to its context, as objects do: that of main to the main actor. It sees what the context
/// sees: its unsaved changes, what children save, imports, rollbacks, and what other processes
/// write. Changes arrive when the context tells its observers, on main at the end of the turn of the
/// main actor in which they were made; `context.processChanges()` does not wait for that.
///
/// Rows are ids until they are asked for: 100,000 of them cost a few megabytes, and are read in
/// batches around the one that is looked at. Keep the results as long as you follow them.
public final class FetchedResults<Element> {
  /// The context.
  public let context: ManagedObjectContext
  /// Why the results are not followed any more; nil: they are.
  public private(set) var endReason: (any Error)?

  private var feed: ResultFeed<ContextResultSource>
  private let transform: (ManagedObject) throws -> Element
  private var window: (places: Range<Int>, objects: [ManagedObject]) = (0..<0, [])
  private var mailboxes = ResultMailboxes()
  private var observers: [Observer] = []
  /// What observers have not been told: a closure that changes objects makes the next difference
  /// before all have been told of this one.
  private var outbox: [(number: Int, event: ResultEvent)] = []
  private var eventCount = 0
  private var isTelling = false
  private var hindrances = Hindrances()

  private struct Observer {
    let observation: ResultObservation
    /// The last event that its snapshot holds already.
    let start: Int
  }

  /// How many objects are read together.
  private var batchSize: Int { Swift.max(1, request.batchSize ?? 20) }

  init(
    _ request: FetchRequest,
    sectionedBy sectionKey: String?,
    in context: ManagedObjectContext,
    transform: @escaping (ManagedObject) throws -> Element
  ) throws {
    try context.checkOpen()
    let query = try ResultQuery(request, sectionedBy: sectionKey, in: context.layout)
    self.context = context
    self.transform = transform
    // What is unsaved and not told yet is in the first snapshot.
    context.processChanges()
    feed = try ResultFeed(query, from: ContextResultSource(context: context))
    context.notices.add(self)
  }

  deinit {
    mailboxes.end(nil)
  }

  // MARK: - What is asked for

  /// The request.
  public var request: FetchRequest { feed.query.request }
  /// The sort key whose values make sections; nil: there are none.
  public var sectionKey: String? { feed.query.sectionKey }

  /// Follows another request from now on: another filter, order, limit or section key.
  ///
  /// Fetches once; what differs is told as a difference, with rows that stay moved and not replaced.
  /// - Parameters:
  ///   - request: The request, of the same entity.
  ///   - sectionKey: The section key; nil: no sections.
  /// - Throws: As `ManagedObjectContext.results(_:sectionedBy:)`; the results are as they were then.
  public func change(_ request: FetchRequest, sectionedBy sectionKey: String? = nil) throws {
    if let endReason { throw endReason }
    try request.requireEntity(self.request.entity)
    let query = try ResultQuery(request, sectionedBy: sectionKey, in: context.layout)
    context.processChanges()
    let old = feed.snapshot
    tell(try feed.follow(query), from: old)
  }

  // MARK: - Rows

  /// The ids in order and in sections.
  public var snapshot: ResultSnapshot { feed.snapshot }
  /// How many rows there are.
  public var count: Int { feed.list.count }
  /// Whether there are none.
  public var isEmpty: Bool { count == 0 }

  /// The object of a row, by its place without sections, from 0, which must exist.
  ///
  /// Its batch is read when a value of one of its objects is asked for.
  public func object(at place: Int) throws -> ManagedObject {
    try object(at: place) { ids in try context.objects(with: ids) }
  }

  private func object(
    at place: Int,
    _ read: ([ObjectID]) throws -> [ManagedObject]
  ) rethrows -> ManagedObject {
    if !window.places.contains(place) {
      let start = place - place % batchSize
      let places = start..<Swift.min(start + batchSize, count)
      window = (places, try read(feed.list.ids(at: places)))
    }
    return window.objects[place - window.places.lowerBound]
  }

  /// What a row is made into, by its place without sections, from 0, which must exist.
  ///
  /// - Throws: What the transform throws.
  public func element(at place: Int) throws -> Element { try transform(object(at: place)) }

  /// What a row is made into, by its section and row, which must exist.
  ///
  /// - Throws: What the transform throws.
  public func element(at place: ResultPlace) throws -> Element {
    try element(at: feed.list.start(of: place.section) + place.row)
  }

  /// What all rows are made into, in order.
  ///
  /// - Throws: What the transform throws.
  public func elements() throws -> [Element] { try (0..<count).map { try element(at: $0) } }

  // MARK: - Following

  /// The snapshot and then the differences, from now on.
  ///
  /// The sequence can be read anywhere. It ends when the results are let go, and throws when their
  /// stack is reset or closed or their file is migrated.
  public func events() -> ResultEvents {
    ResultEvents(mailbox: mailboxes.open(snapshot, endedBy: endReason), owner: nil)
  }

  /// Calls a closure with the snapshot, at once, and then with each difference, until it is cancelled
  /// or the results are let go.
  ///
  /// - Parameter body: Gets the events. It may look at the results, and change objects: what that
  ///   changes is the next event, for this closure as for the others.
  /// - Returns: What stops it.
  @discardableResult
  public func observe(_ body: @escaping (ResultEvent) -> Void) -> ResultObservation {
    let observation = ResultObservation(body)
    let reason = endReason
    if reason == nil { observers.append(Observer(observation: observation, start: eventCount)) }
    let wasTelling = isTelling
    isTelling = true
    observation.tell(.snapshot(snapshot))
    isTelling = wasTelling
    if let reason { observation.tell(.ended(reason)) }
    tellObservers()
    return observation
  }

  private func tell(_ difference: ResultDifference, from old: ResultSnapshot) {
    guard !difference.isEmpty else { return }
    window = (0..<0, [])
    let new = feed.snapshot
    mailboxes.post(difference, from: old, to: new)
    post(.difference(difference))
  }

  private func post(_ event: ResultEvent) {
    eventCount += 1
    outbox.append((eventCount, event))
    tellObservers()
  }

  private func tellObservers() {
    guard !isTelling else { return }
    isTelling = true
    while !outbox.isEmpty {
      let next = outbox.removeFirst()
      observers.removeAll(where: \.observation.isCancelled)
      for observer in observers where observer.start < next.number {
        observer.observation.tell(next.event)
      }
    }
    isTelling = false
  }
}

extension FetchedResults: Sequence, Collection, BidirectionalCollection, RandomAccessCollection
where Element == ManagedObject {
  /// 0.
  public var startIndex: Int { 0 }
  /// How many rows there are.
  public var endIndex: Int { count }

  /// The object of a row, by its place without sections, which must exist.
  ///
  /// Its batch is read when a value of one of its objects is asked for. Where the context has ended, its
  /// objects read as null, and the error is recorded, as that of a property is; `object(at:)` throws it.
  public subscript(place: Int) -> ManagedObject { object(at: place, context.rows) }

  /// The objects of the rows that there are now, in order, whatever becomes of the results meanwhile.
  public func makeIterator() -> AnyIterator<ManagedObject> {
    let (context, size, snapshot) = (context, batchSize, snapshot)
    var start = 0
    var batch: ArraySlice<ManagedObject> = []
    return AnyIterator {
      if batch.isEmpty {
        batch = context.rows(snapshot.ids(at: start..<start + size))[...]
        start += batch.count
      }
      return batch.popFirst()
    }
  }
}

extension FetchedResults: ContextFollower {
  func take(_ notice: ChangeNotice) {
    guard endReason == nil else { return }
    let old = feed.snapshot
    do {
      tell(try feed.take(notice), from: old)
      hindrances.end()
    } catch  where hindrances.mayPass(error) {
      context.lookAgain(notice)
    } catch {
      end(error)
    }
  }

  func end(_ reason: any Error) {
    guard endReason == nil else { return }
    endReason = reason
    mailboxes.end(reason)
    post(.ended(reason))
  }

  func didSave(_ versions: [RowKey: Int64]) { feed.settle(versions) }
}

extension FetchRequest {
  /// Results cannot become those of another entity: their ids would mean something else.
  func requireEntity(_ name: String) throws(StoreError) {
    guard entity.utf8.elementsEqual(name.utf8) else {
      throw StoreError(
        .badRequest,
        "Results of \(name) cannot become results of \(entity).",
        help: "make others"
      )
    }
  }
}
