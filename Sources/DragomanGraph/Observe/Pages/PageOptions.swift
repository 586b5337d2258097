/// How large the pages of `PagedResults` are, and where they begin.
public struct PageOptions: Sendable, Hashable {
  /// How many rows a page has, 1 or more; 50 by default.
  public var size: Int
  /// How near to an end, in rows, one is shown when the page behind it is fetched; 0: never; 10 by
  /// default.
  public var prefetchDistance: Int
  /// Where the first page lies; at the beginning by default.
  public var start: PageStart
  /// How many rows are kept at most, a page or more: others are let go at the other end and read
  /// again when they are wanted; nil: all.
  public var maximumCount: Int?

  /// Makes options.
  public init(
    size: Int = 50,
    prefetchDistance: Int = 10,
    start: PageStart = .beginning,
    maximumCount: Int? = nil
  ) {
    self.size = size
    self.prefetchDistance = prefetchDistance
    self.start = start
    self.maximumCount = maximumCount
  }
}

/// Where the first page lies.
public enum PageStart: Sendable, Hashable {
  /// The first rows.
  case beginning
  /// The last rows.
  case end
  /// An object of the results and the rows behind it.
  case object(ObjectID)
}

/// Which way a page lies.
public enum PageDirection: Sendable, Hashable {
  /// Behind the last row.
  case next
  /// In front of the first row.
  case previous
}

/// What happened to pages.
public enum PageEvent<Element: Sendable>: Sendable {
  /// Rows were added behind the last one; so many were let go at the beginning.
  case appended([Element], droppedFirst: Int)
  /// Rows were added in front of the first one; so many were let go at the end.
  case prepended([Element], droppedLast: Int)
  /// A page could not be loaded: nothing has changed, and it can be tried again.
  case failed(any Error, PageDirection)
}

extension Stack {
  /// The objects of a request by pages, each made into a value.
  ///
  /// - Parameters:
  ///   - request: Which objects, in which order; it has no limit of its own.
  ///   - options: How large pages are, and where they begin.
  ///   - transform: Makes a value of an object, as it is stored; the object cannot
  ///     leave the closure.
  /// - Returns: Pages, of which none is loaded yet.
  /// - Throws: `StoreError.badRequest`, as a fetch of the request does.
  public func pages<Element: Sendable>(
    _ request: FetchRequest,
    options: PageOptions = PageOptions(),
    transform: @escaping @Sendable (ManagedObject) throws -> Element
  ) throws(StoreError) -> PagedResults<Element> {
    let root = root
    return try PagedResults(request, in: root.store, root.layout, options) { ids in
      try root.values(of: ids, transform)
    }
  }

  /// The ids of the objects of a request by pages.
  ///
  /// - Parameters:
  ///   - request: Which objects, in which order; it has no limit of its own.
  ///   - options: How large pages are, and where they begin.
  /// - Returns: Pages, of which none is loaded yet.
  /// - Throws: `StoreError.badRequest`, as a fetch of the request does.
  public func pages(
    _ request: FetchRequest,
    options: PageOptions = PageOptions()
  ) throws(StoreError) -> PagedResults<ObjectID> {
    let root = root
    return try PagedResults(request, in: root.store, root.layout, options) { ids in
      Dictionary(ids.map { ($0, $0) }) { first, _ in first }
    }
  }
}

extension SQLiteStore {
  /// The rows of a request by pages: of each its values, in the order of the columns.
  ///
  /// - Parameters:
  ///   - request: Which objects, in which order, and which columns; it has no limit of its own.
  ///   - options: How large pages are, and where they begin.
  /// - Returns: Pages, of which none is loaded yet.
  /// - Throws: `StoreError.badRequest`, as a fetch of the request does.
  public func pages(
    _ request: FetchRequest,
    options: PageOptions = PageOptions()
  ) throws(StoreError) -> PagedResults<[StoredValue]> {
    _ = try attributes(of: request)
    return try PagedResults(request, in: self, layout, options, load: rowLoader(of: request))
  }
}
