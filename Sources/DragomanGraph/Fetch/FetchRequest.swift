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
///     let payroll = try FetchRequest(
///       "Person",
///       sortKeys: [SortKey("pay", ascending: false)],
///       columns: ["city", .count(), .sum("salary", as: "pay")],
///       groupBy: ["city"]
///     ).with { $0.having = try Filter(parsing: "count > 10") }
///
/// Large because each property is one thing that can be asked for.
public struct FetchRequest: Sendable, Hashable, Adjustable {
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
  /// The place behind which the answer begins, the last row of the page before; nil: the first row.
  ///
  /// The offset counts from there.
  public var after: FetchCursor?
  /// The values to read, in order; nil is all attributes, as declared.
  public var columns: [FetchColumn]?
  /// The attributes, or paths through to-one relationships to some, whose equal values make one row.
  public var groupBy: [String]
  /// A condition on the rows of a table; its names are those of columns and of `groupBy`.
  public var having: Filter?
  /// Whether equal rows come once; wants `columns`.
  public var isDistinct = false
  /// Whether objects of sub-entities are included; true by default.
  public var includesSubentities = true
  /// Whether a context considers what is not saved yet; true by default.
  ///
  /// A store holds nothing else.
  public var includesPendingChanges = true
  /// Whether a context gives objects whose values are read when they are asked for, many at a time;
  /// false by default.
  ///
  /// A store gives rows and does not look at it.
  public var returnsFaults = false
  /// How many objects a context fills at a time, 1 or more; nil leaves it to the context.
  public var batchSize: Int?

  /// Makes a request; what is rarer than its arguments is set in the value: see `with`.
  public init(
    _ entity: String,
    filter: Filter? = nil,
    sortKeys: [SortKey] = [],
    limit: Int? = nil,
    offset: Int = 0,
    columns: [FetchColumn]? = nil,
    groupBy: [String] = []
  ) {
    self.entity = entity
    self.filter = filter
    self.sortKeys = sortKeys
    self.limit = limit
    self.offset = offset
    self.columns = columns
    self.groupBy = groupBy
  }
}
