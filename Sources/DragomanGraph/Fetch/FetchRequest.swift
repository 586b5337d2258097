/// What to fetch: the objects of one entity, which of them, in which order, and which values.
///
///     let request = FetchRequest(
///       "Person",
///       filter: try Filter(parsing: "salary > 100000 AND company.city == 'Bergen'"),
///       sortKeys: [SortKey("company.name"), SortKey("salary", ascending: false)],
///       limit: 10
///     )
///
/// With `groupBy`, aggregates or `isDistinct` the answer is a table of values and no list of
/// objects:
///
///     let payroll = FetchRequest(
///       "Person",
///       sortKeys: [SortKey("pay", ascending: false)],
///       columns: ["city", .count(), .sum("salary", as: "pay")],
///       groupBy: ["city"],
///       having: try Filter(parsing: "count > 10")
///     )
public struct FetchRequest: Sendable, Hashable {
  /// The entity's name.
  public var entity: String
  /// The condition; nil admits every object.
  public var filter: Filter?
  /// The order; objects that tie (all, if empty) come in the order of their ids, rows of a table in
  /// the order of the values that tell them apart.
  public var sortKeys: [SortKey]
  /// How many objects (rows, of a table) at most, 0 or more; nil is any number.
  public var limit: Int?
  /// How many objects to leave out at the beginning, 0 or more.
  public var offset: Int
  /// The values to read, in order; nil is all attributes, as declared.
  public var columns: [FetchColumn]?
  /// The attributes, or paths through to-one relationships to some, whose equal values make one row.
  public var groupBy: [String]
  /// A condition on the rows of a table; its names are those of columns and of `groupBy`.
  public var having: Filter?
  /// Whether equal rows come once; wants `columns`.
  public var isDistinct: Bool
  /// Whether objects of sub-entities are included; true by default.
  public var includesSubentities: Bool
  /// Whether a context considers what is not saved yet; true by default.
  ///
  /// A store holds nothing else.
  public var includesPendingChanges: Bool
  /// Whether a context gives objects whose values are read when they are asked for, many at a time;
  /// false by default.
  ///
  /// A store gives rows and does not look at it.
  public var returnsFaults: Bool
  /// How many objects a context fills at a time, 1 or more; nil leaves it to the context.
  public var batchSize: Int?

  /// Makes a request.
  public init(
    _ entity: String,
    filter: Filter? = nil,
    sortKeys: [SortKey] = [],
    limit: Int? = nil,
    offset: Int = 0,
    columns: [FetchColumn]? = nil,
    groupBy: [String] = [],
    having: Filter? = nil,
    isDistinct: Bool = false,
    includesSubentities: Bool = true,
    includesPendingChanges: Bool = true,
    returnsFaults: Bool = false,
    batchSize: Int? = nil
  ) {
    self.entity = entity
    self.filter = filter
    self.sortKeys = sortKeys
    self.limit = limit
    self.offset = offset
    self.columns = columns
    self.groupBy = groupBy
    self.having = having
    self.isDistinct = isDistinct
    self.includesSubentities = includesSubentities
    self.includesPendingChanges = includesPendingChanges
    self.returnsFaults = returnsFaults
    self.batchSize = batchSize
  }
}
