/// The objects behind a to-many path that satisfy a condition of their own, and an aggregate of them:
/// `SUBQUERY(phones, $p, $p.kind == 'work' AND $p.minutes > 5).@count`.
///
/// In the condition `$p` is one of the objects; names without it are those of the object around the
/// subquery, so both can be compared. Subqueries may stand inside of each other.
public struct FilterSubquery: Sendable, Hashable {
  /// The path to the objects.
  public var path: FilterPath
  /// What the condition calls one of them, without the dollar sign.
  public var variable: String
  /// The condition.
  public var condition: Filter
  /// What is taken of the objects that satisfy it.
  public var aggregate: FetchColumn.Aggregate
  /// The path from them to the values of the aggregate; empty for the count of objects.
  public var value: [String]

  /// Makes a subquery: by default the number of objects.
  public init(
    _ path: FilterPath,
    _ variable: String,
    _ condition: Filter,
    aggregate: FetchColumn.Aggregate = .count,
    of value: [String] = []
  ) {
    self.path = path
    self.variable = variable
    self.condition = condition
    self.aggregate = aggregate
    self.value = value
  }

  /// The subquery in messages, without its condition.
  var text: String {
    (["SUBQUERY(\(path.text), $\(variable), …)", "@\(aggregate.rawValue)"] + value)
      .joined(separator: ".")
  }
}
