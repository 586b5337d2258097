/// Holds objects in memory against a resolved filter, with the outcome that its SQL would have.
package struct FilterEvaluator {
  private let filter: ResolvedFilter

  /// An evaluator for one filter and any number of objects.
  package init(_ filter: ResolvedFilter) { self.filter = filter }

  /// Whether the object satisfies the filter.
  ///
  /// - Throws: `StoreError.Code.badRequest` where SQL would be stopped: a regular expression without
  ///   end, a sum of integers beyond 64 bits.
  package func admits(_ subject: some FilterSubject) throws(StoreError) -> Bool {
    try Self.admits(subject, filter, in: [])
  }

  /// Whether an object inside of subqueries satisfies a condition; `outer` are the objects around it.
  static func admits<Subject: FilterSubject>(
    _ subject: Subject,
    _ filter: ResolvedFilter,
    in outer: [Subject]
  ) throws(StoreError) -> Bool {
    switch filter {
    case .constant(let value): return value
    case .and(let parts):
      for part in parts where try !admits(subject, part, in: outer) { return false }
      return true
    case .or(let parts):
      for part in parts where try admits(subject, part, in: outer) { return true }
      return false
    case .not(let part): return try !admits(subject, part, in: outer)
    case .comparison(let comparison): return try admits(subject, comparison, outer)
    }
  }

  private static func admits<Subject: FilterSubject>(
    _ subject: Subject,
    _ comparison: ResolvedComparison,
    _ outer: [Subject]
  ) throws(StoreError) -> Bool {
    switch (comparison.quantifier, comparison.left.source) {
    case (.any, .path(let path)):
      for value in path.values(of: subject, in: outer)
      where try passes(value, comparison, subject, outer) {
        return true
      }
      return false
    case (.none, .path(let path)):
      for value in path.values(of: subject, in: outer)
      where try passes(value, comparison, subject, outer) {
        return false
      }
      return true
    case (.all, .path(let path)):
      for value in path.values(of: subject, in: outer)
      where try !passes(value, comparison, subject, outer) {
        return false
      }
      return true
    default:
      let value = try comparison.left.value(of: subject, in: outer)
      return try passes(value, comparison, subject, outer)
    }
  }

  private static func passes<Subject: FilterSubject>(
    _ value: StoredValue,
    _ comparison: ResolvedComparison,
    _ subject: Subject,
    _ outer: [Subject]
  ) throws(StoreError) -> Bool {
    let asDecimals = comparison.left.attribute.type == .decimal
    switch comparison.test {
    case .isNull: return value == .null
    case .isPresent: return value != .null
    case .compares(let relation, let literal):
      let left = fold(value, comparison.options)
      switch relation {
      case .equalTo: return left == literal
      case .notEqualTo: return left != literal
      default:
        guard value != .null else { return false }
        return holds(relation, ValueOrder.order(left, literal, asDecimals: asDecimals))
      }
    case .between(let low, let high):
      guard value != .null else { return false }
      let left = fold(value, comparison.options)
      return ValueOrder.order(left, low, asDecimals: asDecimals) >= 0
        && ValueOrder.order(left, high, asDecimals: asDecimals) <= 0
    case .isOne(of: let values, let orNull):
      if value == .null { return orNull }
      return values.set.contains(fold(value, comparison.options))
    case .contains(let pattern):
      guard case .text(let text) = fold(value, comparison.options) else { return false }
      return contains(text, pattern)
    case .begins(let pattern):
      guard case .text(let text) = fold(value, comparison.options) else { return false }
      return text.utf8.starts(with: pattern.utf8)
    case .fits(_, _, let test):
      guard case .text(let text) = value else { return false }
      do {
        return try test.admits(text)
      } catch {
        throw StoreError.stopped(error.message)
      }
    case .relates(let relation, let right):
      let left = fold(value, comparison.options)
      let right = fold(try right.value(of: subject, in: outer), comparison.options)
      let order = ValueOrder.order(left, right, asDecimals: asDecimals)
      switch relation {
      case .equalTo: return order == 0
      case .notEqualTo: return order != 0
      default: return left != .null && right != .null && holds(relation, order)
      }
    }
  }

  private static func fold(
    _ value: StoredValue,
    _ options: Filter.Comparison.Options
  ) -> StoredValue {
    guard !options.isEmpty, case .text(let text) = value else { return value }
    return .text(TextFold.fold(text, options))
  }

  private static func holds(_ relation: Filter.Comparison.Relation, _ order: Int) -> Bool {
    switch relation {
    case .lessThan: order < 0
    case .lessThanOrEqualTo: order <= 0
    case .greaterThan: order > 0
    default: order >= 0
    }
  }

  /// Whether the bytes of a text are found in another; costs length times length at worst.
  private static func contains(_ text: String, _ pattern: String) -> Bool {
    guard let first = pattern.utf8.first else { return true }
    var rest = text.utf8[...]
    while let place = rest.firstIndex(of: first) {
      rest = rest[place...]
      if rest.starts(with: pattern.utf8) { return true }
      rest.removeFirst()
    }
    return false
  }
}

extension StoreError {
  /// A value on which a fetch had to give up.
  static func stopped(_ reason: String) -> StoreError {
    StoreError(.badRequest, "The fetch was stopped: \(reason).")
  }
}
