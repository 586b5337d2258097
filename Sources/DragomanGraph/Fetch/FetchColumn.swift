/// One value of a row that a fetch gives: an attribute, one at the end of a path, or an aggregate.
///
///     let columns: [FetchColumn] = [
///       "name", "company.city", .count(), .sum("salary"), .average("company.size", as: "size"),
///     ]
public struct FetchColumn: Sendable, Hashable, ExpressibleByStringLiteral {
  /// A value computed from many.
  ///
  /// Nulls are left out. Of nothing, `count` and `sum` are 0 and the others null. Sums are exact:
  /// integers that leave 64 bits stop the fetch, decimals keep every digit, doubles are rounded once,
  /// at the end, whatever their order.
  public enum Aggregate: String, Sendable, Hashable, CaseIterable {
    /// How many values are not null; without an attribute, how many objects.
    case count
    /// The sum of a numeric attribute.
    case sum
    /// The smallest value.
    case min
    /// The largest value.
    case max
    /// The mean of a numeric attribute: a double; of decimals a decimal, rounded half to even at 16
    /// digits more than the sum has.
    case average = "avg"
  }

  /// The aggregate; nil for a value of each object (or group).
  public var aggregate: Aggregate?
  /// The attribute, or a path to one: taken as a name first, then its dots are walked.
  ///
  /// A to-one relationship gives the primary key of its object. Empty for the count of objects.
  public var path: String
  /// What the value is called in dictionaries, in `having` and in sort keys.
  public var name: String

  /// Makes a column.
  ///
  /// - Parameters:
  ///   - path: The attribute or path.
  ///   - aggregate: The aggregate, if it is one.
  ///   - name: The column's name; by default the path, with `sum_` and so on in front.
  public init(_ path: String, aggregate: Aggregate? = nil, as name: String? = nil) {
    self.path = path
    self.aggregate = aggregate
    let words = [aggregate?.rawValue, path.isEmpty ? nil : path].compactMap { $0 }
    self.name = name ?? words.joined(separator: "_")
  }

  /// An attribute or path.
  public init(stringLiteral value: String) { self.init(value) }

  /// How many objects there are, or values that are not null.
  public static func count(_ path: String = "", as name: String? = nil) -> FetchColumn {
    FetchColumn(path, aggregate: .count, as: name)
  }
  /// The sum.
  public static func sum(_ path: String, as name: String? = nil) -> FetchColumn {
    FetchColumn(path, aggregate: .sum, as: name)
  }
  /// The smallest value.
  public static func min(_ path: String, as name: String? = nil) -> FetchColumn {
    FetchColumn(path, aggregate: .min, as: name)
  }
  /// The largest value.
  public static func max(_ path: String, as name: String? = nil) -> FetchColumn {
    FetchColumn(path, aggregate: .max, as: name)
  }
  /// The mean.
  public static func average(_ path: String, as name: String? = nil) -> FetchColumn {
    FetchColumn(path, aggregate: .average, as: name)
  }
}
