/// A description whose less frequent options are properties, which can be set where it is made.
///
///     Attribute(name: "iban", isRequired: true).with { $0.isSensitive = true }
///     FetchRequest("Person", columns: ["city"]).with { $0.isDistinct = true }
public protocol Adjustable {}

extension Adjustable {
  /// The same value with what the closure changes; throws what the closure throws.
  public func with(_ change: (inout Self) throws -> Void) rethrows -> Self {
    var value = self
    try change(&value)
    return value
  }
}
