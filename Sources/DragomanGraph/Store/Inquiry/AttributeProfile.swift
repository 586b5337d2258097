/// What the values of one attribute are like: how many, how many different ones, from where to where.
///
/// See `SQLiteStore.profile(of:in:filter:)`.
public struct AttributeProfile: Sendable, Hashable {
  /// A value, and how many objects have it.
  public struct Frequency: Sendable, Hashable {
    /// The value; never null.
    public let value: StoredValue
    /// How many objects have it, 1 or more.
    public let count: Int
  }

  /// A range of values, and how many objects have one of it.
  public struct Bar: Sendable, Hashable {
    /// The smallest value that the range admits, as the attribute stores it.
    public let lower: StoredValue
    /// Where the range ends; only the last range admits this value itself.
    public let upper: StoredValue
    /// How many objects have a value of the range, 0 or more.
    public let count: Int
  }

  /// The attribute.
  public let attribute: Attribute
  /// How many objects there are, those without a value included.
  public let objectCount: Int
  /// How many of them have no value.
  public let nullCount: Int
  /// How many different values there are, null not counted.
  public let distinctCount: Int
  /// The smallest value in the attribute's order; nil where there is none, and for types without an order.
  public let smallest: StoredValue?
  /// The largest value; nil as `smallest` is.
  public let largest: StoredValue?
  /// The values that most objects have, the most frequent first, ten at most; empty where no value comes
  /// twice.
  public let frequentValues: [Frequency]
  /// Numbers, dates and times in up to twenty ranges of one width, from the smallest value to the largest, each value
  /// in one of them; empty for other types, and where all values are one.
  public let histogram: [Bar]
}
