/// How SQLite answers a request.
public struct FetchExplanation: Sendable, Hashable {
  /// A line of SQLite's plan (https://www.sqlite.org/eqp.html).
  public struct Step: Sendable, Hashable {
    /// How many steps it is a part of, from 0.
    public let depth: Int
    /// What is done: `SEARCH t0 USING INDEX Person_city (city=?)`.
    public let text: String
  }

  /// The statement.
  public let sql: String
  /// The values of its `?`, in order.
  public let values: [StoredValue]
  /// Which of the values, by their places, are compared with a sensitive attribute: not to be printed.
  public let sensitiveValues: Set<Int>
  /// Whether the condition or the order reads a sensitive attribute: who sees which objects come, and in what
  /// order, learns of its values.
  public let revealsSensitive: Bool
  /// The plan, in SQLite's order.
  public let steps: [Step]
}
