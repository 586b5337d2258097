import Dispatch

/// The rows of a request, loaded page by page in both directions.
///
///     let pages = try stack.pages(request, options: PageOptions(size: 50)) {
///       try $0.value(of: "name")
///     }
///     try await pages.loadNext()
///     await pages.didShow(45)  // near the end: the next page is on its way
///
/// A page begins behind the last row that was loaded, by the values that row was loaded with, and
/// not at a number: rows that come or go in front of it move nothing, and no row is skipped or
/// comes twice. What was loaded stays as it was loaded; to see it change, follow `StoredResults`.
///
/// One page is loaded at a time. All reading is done on a thread of its own.
///
/// Large because a window has two ends, and each has what is known and what is asked for.
public actor PagedResults<Element: Sendable> {
  /// How large pages are, and where they begin.
  public nonisolated let options: PageOptions

  /// The loaded rows, in order.
  public private(set) var elements: [Element] = []
  /// Whether there were rows behind the last one when it was loaded.
  public private(set) var hasNext = true
  /// Whether there were rows in front of the first one when it was loaded.
  public private(set) var hasPrevious = true

  private let request: FetchRequest
  private let store: any ObjectStore
  private let layout: ModelLayout
  private let load: @Sendable ([ObjectID]) throws -> [ObjectID: Element]
  private let queue = DispatchQueue(label: "dragoman.pages")
  private var rows: [ResultRow] = []
  private var running: Loading?
  private var loadCount = 0
  private(set) var observers: [Int: AsyncStream<PageEvent<Element>>.Continuation] = [:]
  private var observerCount = 0

  /// A page on its way.
  private struct Loading {
    let number: Int
    let direction: PageDirection
    let task: Task<Int, any Error>
    /// How many want it, `didShow` among them; without any it is given up.
    var wantedBy: Int
  }

  init(
    _ request: FetchRequest,
    in store: any ObjectStore,
    _ layout: ModelLayout,
    _ options: PageOptions,
    load: @escaping @Sendable ([ObjectID]) throws -> [ObjectID: Element]
  ) throws(StoreError) {
    guard request.limit == nil else {
      throw StoreError(
        .badRequest,
        "A request for pages has no limit.",
        help: "the number of rows of a page is an argument of its own"
      )
    }
    guard options.size > 0, options.prefetchDistance >= 0,
      options.maximumCount ?? .max >= options.size
    else {
      throw StoreError(
        .badRequest,
        "A page has 1 row or more, the distance is 0 or more, and at least a page is kept."
      )
    }
    _ = try ResultQuery(request, sectionedBy: nil, in: layout)
    self.request = request
    self.store = store
    self.layout = layout
    self.load = load
    self.options = options
  }

  deinit {
    for observer in observers.values { observer.finish() }
  }

  /// The ids of the loaded rows, in order.
  public var ids: [ObjectID] { rows.map { ObjectID(entity: entityName, primaryKey: $0.key) } }

  private var entityName: String {
    layout.entity(named: request.entity)?.rootName ?? request.entity
  }

  /// What happens from now on; the sequence ends with the pages.
  public func events() -> AsyncStream<PageEvent<Element>> {
    let (stream, continuation) = AsyncStream<PageEvent<Element>>.makeStream()
    observerCount += 1
    let number = observerCount
    observers[number] = continuation
    continuation.onTermination = { [weak self] _ in
      guard let self else { return }
      Task { await self.forget(number) }
    }
    return stream
  }

  private func forget(_ observer: Int) { observers[observer] = nil }

  // MARK: - Loading

  /// Loads the page behind the last row; the first page, if none is loaded yet.
  ///
  /// Runs one `SELECT … WHERE (what comes behind the last row) ORDER BY … LIMIT ?`. While the same
  /// page is being loaded it waits for that; while another one is, it waits for its turn. If the
  /// task is cancelled it throws, and nothing has changed unless others wait for the same page:
  /// those get it.
  /// - Returns: How many rows were added; 0: there are no more (yet).
  /// - Throws: `StoreError`, what the transform throws, `CancellationError`.
  @discardableResult
  public func loadNext() async throws -> Int { try await load(.next) }

  /// Loads the page in front of the first row; the first page, if none is loaded yet.
  ///
  /// - Returns: How many rows were added.
  /// - Throws: as `loadNext()`.
  @discardableResult
  public func loadPrevious() async throws -> Int { try await load(.previous) }

  /// A row is shown: within `options.prefetchDistance` of an end, the page behind it is loaded.
  ///
  /// Errors are events; the same page is tried again by the next call.
  /// - Parameter place: The row's place among `elements`.
  public func didShow(_ place: Int) {
    guard running == nil else { return }
    if hasNext, place >= elements.count - options.prefetchDistance {
      begin(.next, wantedBy: 1)
    } else if hasPrevious, place < options.prefetchDistance {
      begin(.previous, wantedBy: 1)
    }
  }

  /// Gives up the load under way, if there is one: it throws `CancellationError` and adds nothing.
  public func cancel() { running?.task.cancel() }

  private func load(_ direction: PageDirection) async throws -> Int {
    while let running {
      if running.direction == direction, !running.task.isCancelled {
        return try await wait(for: running)
      }
      _ = await running.task.result
    }
    try Task.checkCancellation()
    return try await wait(for: begin(direction, wantedBy: 0))
  }

  private func wait(for loading: Loading) async throws -> Int {
    running?.wantedBy += 1
    let count = try await withTaskCancellationHandler {
      try await loading.task.value
    } onCancel: {
      Task { await leave(loading.number) }
    }
    try Task.checkCancellation()
    return count
  }

  /// How many want the page on its way.
  var waiterCount: Int { running?.wantedBy ?? 0 }

  /// One who waited for a page wants it no more.
  private func leave(_ number: Int) {
    guard running?.number == number else { return }
    running?.wantedBy -= 1
    if running?.wantedBy == 0 { running?.task.cancel() }
  }

  @discardableResult
  private func begin(_ direction: PageDirection, wantedBy count: Int) -> Loading {
    loadCount += 1
    let number = loadCount
    let task = Task {
      defer { if running?.number == number { running = nil } }
      do {
        return try await extend(direction)
      } catch {
        tell(.failed(error, direction))
        throw error
      }
    }
    let loading = Loading(number: number, direction: direction, task: task, wantedBy: count)
    running = loading
    return loading
  }

  private func extend(_ direction: PageDirection) async throws -> Int {
    let page = try await read(direction)
    try Task.checkCancellation()
    let isFirst = rows.isEmpty
    let limit = options.maximumCount ?? .max
    if page.isReversed {
      rows.insert(contentsOf: page.rows.reversed(), at: 0)
      elements.insert(contentsOf: page.elements.reversed(), at: 0)
      hasPrevious = page.hasMore
      if isFirst { hasNext = false }
      let excess = max(0, rows.count - limit)
      rows.removeLast(excess)
      elements.removeLast(excess)
      if excess > 0 { hasNext = true }
      tell(.prepended(page.elements.reversed(), droppedLast: excess))
    } else {
      rows += page.rows
      elements += page.elements
      hasNext = page.hasMore
      if isFirst, options.start == .beginning { hasPrevious = false }
      let excess = max(0, rows.count - limit)
      rows.removeFirst(excess)
      elements.removeFirst(excess)
      if excess > 0 { hasPrevious = true }
      tell(.appended(page.elements, droppedFirst: excess))
    }
    return page.rows.count
  }

  private func tell(_ event: PageEvent<Element>) {
    for observer in observers.values { observer.yield(event) }
  }

  // MARK: - Reading

  private struct Page: Sendable {
    var rows: [ResultRow] = []
    var elements: [Element] = []
    let hasMore: Bool
    /// Whether its rows are in reverse, as they are read in front of the first one.
    let isReversed: Bool
  }

  private func read(_ direction: PageDirection) async throws -> Page {
    let reader = PageReader(
      request: request,
      store: store,
      layout: layout,
      options: options,
      loaded: rows
    )
    let load = load
    return try await withCheckedThrowingContinuation { continuation in
      queue.async {
        continuation.resume(
          with: Result {
            let found = try reader.read(direction)
            let elements = try load(found.ids)
            var page = Page(hasMore: found.hasMore, isReversed: found.isReversed)
            for (row, id) in zip(found.rows, found.ids) {
              // One that was deleted since then is left out.
              guard let element = elements[id] else { continue }
              page.rows.append(row)
              page.elements.append(element)
            }
            return page
          }
        )
      }
    }
  }
}
