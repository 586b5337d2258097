/// What values of an attribute must obey beside its type.
///
/// `Bound` is what the limits are: values of the store in an `Attribute`, texts in an `AttributeMap`,
/// values of the property's type in a `Field`.
public struct AttributeRules<Bound> {
  /// The smallest value admitted, for types with an order.
  public var minimum: Bound?
  /// The largest value admitted, for types with an order.
  public var maximum: Bound?
  /// The number of Unicode scalars a string must have, at least.
  public var minimumLength: Int?
  /// The number of Unicode scalars a string may have, at most.
  public var maximumLength: Int?
  /// A regular expression that a string must match as a whole.
  public var pattern: String?
  /// Decimals only: digits after the point, 0 …; nil keeps the digits as given.
  public var scale: Int?

  /// Makes rules; nil is no rule.
  public init(
    minimum: Bound? = nil,
    maximum: Bound? = nil,
    minimumLength: Int? = nil,
    maximumLength: Int? = nil,
    pattern: String? = nil,
    scale: Int? = nil
  ) {
    self.minimum = minimum
    self.maximum = maximum
    self.minimumLength = minimumLength
    self.maximumLength = maximumLength
    self.pattern = pattern
    self.scale = scale
  }

  /// The same rules with limits of another type; nil makes it no limit.
  package func withLimits<Other, Failure: Error>(
    _ convert: (Bound) throws(Failure) -> Other?
  ) throws(Failure) -> AttributeRules<Other> {
    var low: Other?
    var high: Other?
    if let minimum { low = try convert(minimum) }
    if let maximum { high = try convert(maximum) }
    return AttributeRules<Other>(
      minimum: low,
      maximum: high,
      minimumLength: minimumLength,
      maximumLength: maximumLength,
      pattern: pattern,
      scale: scale
    )
  }
}

extension AttributeRules: Sendable where Bound: Sendable {}
extension AttributeRules: Equatable where Bound: Equatable {}
extension AttributeRules: Hashable where Bound: Hashable {}
extension AttributeRules: Codable where Bound: Codable {}
