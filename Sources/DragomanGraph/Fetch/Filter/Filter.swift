/// A condition on the objects of one entity: a plain value, written in code or parsed from text.
///
///     let rich = try Filter(parsing: "salary > 100000 AND city == %@", arguments: ["Paris"])
///     let same = Filter.and([
///       .where("salary", .greaterThan, 100_000), .where("city", .equalTo, "Paris"),
///     ])
///
/// A filter names attributes freely; only when it is used with a model are the names and the types
/// of the literals checked. It has two truth values, as NSPredicate has: a comparison with a null
/// attribute is false, except `!=` with a value, and `NOT` turns that around
/// (https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/Predicates/).
public indirect enum Filter: Sendable, Hashable {
  /// `TRUEPREDICATE` or `FALSEPREDICATE`.
  case constant(Bool)
  /// One comparison.
  case comparison(Comparison)
  /// All of the conditions; of none: true.
  case and([Filter])
  /// At least one of the conditions; of none: false.
  case or([Filter])
  /// The opposite of the condition.
  case not(Filter)

  /// A comparison of an attribute with a value.
  ///
  /// - Parameters:
  ///   - name: The attribute.
  ///   - relation: How to compare.
  ///   - value: The literal; a list for `in` (any number) and `between` (two).
  ///   - options: What to overlook when text is compared.
  /// - Returns: The comparison as a filter.
  public static func `where`(
    _ name: String,
    _ relation: Comparison.Relation,
    _ value: Operand,
    _ options: Comparison.Options = []
  ) -> Filter {
    .comparison(Comparison(.name(name), relation, value, options: options))
  }
}

extension Filter {
  /// Whether it looks at more than attributes of the objects themselves.
  ///
  /// Code that joins conditions one by one makes a filter as deep as it is long: it is not gone through by recursion.
  ///
  /// - Parameter isAttribute: Whether a name is that of an attribute.
  /// - Returns: Whether it does.
  func looksFurther(than isAttribute: (String) -> Bool) -> Bool {
    var rest = [self]
    while let filter = rest.popLast() {
      switch filter {
      case .constant: break
      case .and(let parts), .or(let parts): rest += parts
      case .not(let part): rest.append(part)
      case .comparison(let comparison):
        if comparison.quantifier != .one { return true }
        for operand in [comparison.left, comparison.right] {
          if case .subquery = operand { return true }
          guard case .path(let path) = operand else { continue }
          if path.steps.count > 1 || !path.steps.allSatisfy(isAttribute) { return true }
        }
      }
    }
    return false
  }

  /// One side of a comparison.
  public enum Operand: Sendable, Hashable {
    /// An attribute, or a path through relationships to one.
    case path(FilterPath)
    /// A literal.
    case value(FilterValue)
    /// A list of literals (and variables), for `IN` and `BETWEEN`.
    case list([Operand])
    /// A place to be filled by `substituting(_:)`, written `$NAME`.
    case variable(String)
    /// An aggregate of some of the objects behind a to-many path.
    indirect case subquery(FilterSubquery)

    /// An attribute by its name, dots included: it is never split into steps.
    public static func name(_ name: String) -> Operand { .path(FilterPath(steps: [name])) }
    /// An object.
    public static func object(_ id: ObjectID) -> Operand { .value(.objectID(id)) }
    /// A list of objects.
    public static func objects(_ ids: [ObjectID]) -> Operand { .list(ids.map(Operand.object)) }
    /// A list of strings.
    public static func strings(_ values: [String]) -> Operand {
      .list(values.map { .value(.string($0)) })
    }
    /// A list of stored values.
    public static func values(_ values: [StoredValue]) -> Operand {
      .list(values.map { .value(FilterValue($0)) })
    }
  }

  /// A comparison: two operands, how they are compared, and what is overlooked.
  public struct Comparison: Sendable, Hashable {
    /// How the operands are compared; the raw value is the spelling in a predicate.
    public enum Relation: String, Sendable, Hashable, CaseIterable {
      /// Equal; with `nil`: is null.
      case equalTo = "=="
      /// Not equal: true for null beside a value, as in NSPredicate.
      case notEqualTo = "!="
      /// Smaller, earlier, first in byte order.
      case lessThan = "<"
      /// Not greater.
      case lessThanOrEqualTo = "<="
      /// Greater, later, last in byte order.
      case greaterThan = ">"
      /// Not smaller.
      case greaterThanOrEqualTo = ">="
      /// Between two bounds, both included.
      case between = "BETWEEN"
      /// One of a list; `nil` in the list means null.
      case `in` = "IN"
      /// The text contains the other text; every text contains the empty one.
      case contains = "CONTAINS"
      /// The text begins with the other text.
      case beginsWith = "BEGINSWITH"
      /// The text ends with the other text.
      case endsWith = "ENDSWITH"
      /// The whole text fits a pattern: `*` any characters, `?` one Unicode scalar, `\` escapes.
      case like = "LIKE"
      /// The whole text matches a regular expression (ICU).
      case matches = "MATCHES"
    }

    /// What is overlooked when text is compared; nothing: bytes are compared.
    public struct Options: OptionSet, Sendable, Hashable {
      /// The bits.
      public let rawValue: Int
      /// Makes a set from its bits.
      public init(rawValue: Int) { self.rawValue = rawValue }
      /// `[c]`: upper and lower case, by Unicode case folding.
      public static let caseInsensitive = Options(rawValue: 1)
      /// `[d]`: diacritics, and with them the Unicode normal form.
      public static let diacriticInsensitive = Options(rawValue: 2)
    }

    /// For paths through a to-many relationship: how many of its objects must satisfy it.
    public enum Quantifier: String, Sendable, Hashable, CaseIterable {
      /// The path leads to one value.
      case one = ""
      /// At least one (also spelled `SOME`).
      case any = "ANY"
      /// All.
      case all = "ALL"
      /// None.
      case none = "NONE"
    }

    /// How many objects must satisfy it.
    public var quantifier: Quantifier
    /// The left side.
    public var left: Operand
    /// How the sides are compared.
    public var relation: Relation
    /// The right side.
    public var right: Operand
    /// What is overlooked.
    public var options: Options
    /// Where left side, relation and right side stand.
    var places = FilterPlaces.none

    /// Makes a comparison.
    public init(
      _ left: Operand,
      _ relation: Relation,
      _ right: Operand,
      options: Options = [],
      quantifier: Quantifier = .one
    ) {
      self.left = left
      self.relation = relation
      self.right = right
      self.options = options
      self.quantifier = quantifier
    }
  }
}

/// The way from an object to a value: names of relationships, then an attribute.
///
/// It may also end in a relationship (compared with nil or with objects) or in `@entity` (the name of
/// the object's entity), begin with `SELF` (the object itself), and behind a to-many relationship go
/// on with `@count`, or with `@sum`, `@avg`, `@min` or `@max` and an attribute. Null anywhere on the way
/// is null at its end.
public struct FilterPath: Sendable, Hashable {
  /// The steps, at least one where there is no variable.
  public var steps: [String]
  /// The variable of a `FilterSubquery` at whose object the path begins; nil: the object of the fetch.
  public var variable: String?
  /// Where the steps stand.
  var places = FilterPlaces.none

  /// Makes a path.
  public init(steps: [String], from variable: String? = nil) {
    self.steps = steps
    self.variable = variable
  }

  /// The path as it is written: steps joined by dots.
  public var text: String {
    ((variable.map { ["$" + $0] } ?? []) + steps).joined(separator: ".")
  }

  /// Compares the bytes of the names.
  public static func == (left: FilterPath, right: FilterPath) -> Bool {
    left.steps.map { Array($0.utf8) } == right.steps.map { Array($0.utf8) }
      && left.variable.map { Array($0.utf8) } == right.variable.map { Array($0.utf8) }
  }
  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    for step in steps { hasher.combine(Array(step.utf8)) }
    hasher.combine(variable.map { Array($0.utf8) })
  }
}

extension Filter.Operand: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral,
  ExpressibleByArrayLiteral
{
  /// A string value.
  public init(stringLiteral value: String) { self = .value(.string(value)) }
  /// A number.
  public init(integerLiteral value: Int64) { self = .value(.number(String(value))) }
  /// A number, in the shortest spelling that gives the same double.
  public init(floatLiteral value: Double) { self = .value(.number(String(value))) }
  /// A boolean.
  public init(booleanLiteral value: Bool) { self = .value(.boolean(value)) }
  /// Null.
  public init(nilLiteral: ()) { self = .value(.null) }
  /// A list.
  public init(arrayLiteral elements: Filter.Operand...) { self = .list(elements) }
}
