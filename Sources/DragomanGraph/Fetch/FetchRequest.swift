/// What to fetch: the objects of one entity, which of them, in which order, and which attributes.
///
///     let request = FetchRequest(
///       "Person",
///       filter: try Filter(parsing: "salary > 100000"),
///       sortKeys: [SortKey("lastName"), SortKey("salary", ascending: false)],
///       limit: 10
///     )
public struct FetchRequest: Sendable, Hashable {
  /// The entity's name.
  public var entity: String
  /// The condition; nil admits every object.
  public var filter: Filter?
  /// The order; objects that tie (all, if empty) come in the order of their ids.
  public var sortKeys: [SortKey]
  /// How many objects at most, 0 or more; nil is any number.
  public var limit: Int?
  /// How many objects to leave out at the beginning, 0 or more.
  public var offset: Int
  /// The names of the attributes to read, in order; nil is all, as declared.
  public var columns: [String]?

  /// Makes a request.
  public init(
    _ entity: String,
    filter: Filter? = nil,
    sortKeys: [SortKey] = [],
    limit: Int? = nil,
    offset: Int = 0,
    columns: [String]? = nil
  ) {
    self.entity = entity
    self.filter = filter
    self.sortKeys = sortKeys
    self.limit = limit
    self.offset = offset
    self.columns = columns
  }
}
