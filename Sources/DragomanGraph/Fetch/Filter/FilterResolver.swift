/// Checks a filter against a model: the one place where names and literals become slots and stored
/// values.
struct FilterResolver {
  /// Comparisons in one filter, at most.
  static let maximumTermCount = 10_000

  private let paths: PathResolver
  private var termCount = 0

  init(_ paths: PathResolver) { self.paths = paths }

  /// The resolved filter; throws `StoreError.Code.badRequest`.
  mutating func resolve(_ filter: Filter, depth: Int = 0) throws(StoreError) -> ResolvedFilter {
    guard depth <= FilterParser.maximumDepth else {
      throw StoreError(
        .badRequest,
        "The predicate is nested deeper than \(FilterParser.maximumDepth) levels."
      )
    }
    switch filter {
    case .constant(let value): return .constant(value)
    case .and(let parts): return .and(try resolve(parts, depth))
    case .or(let parts): return .or(try resolve(parts, depth))
    case .not(let part): return .not(try resolve(part, depth: depth + 1))
    case .comparison(let comparison):
      termCount += 1
      guard termCount <= Self.maximumTermCount else {
        throw StoreError(
          .badRequest,
          "The predicate has more than \(Self.maximumTermCount) comparisons.",
          help: "compare with a list: name IN {…}"
        )
      }
      return .comparison(try resolve(comparison))
    }
  }

  private mutating func resolve(
    _ parts: [Filter],
    _ depth: Int
  ) throws(StoreError) -> [ResolvedFilter] {
    var resolved: [ResolvedFilter] = []
    resolved.reserveCapacity(parts.count)
    for part in parts { resolved.append(try resolve(part, depth: depth + 1)) }
    return resolved
  }

  // MARK: Comparisons

  private func resolve(_ comparison: Filter.Comparison) throws(StoreError) -> ResolvedComparison {
    switch (comparison.left, comparison.right) {
    case (.path(let left), .path(let right)):
      return try relation(paths.expression(left), comparison, paths.expression(right))
    case (.path(let path), let operand):
      let left = try paths.expression(path)
      if comparison.relation == .contains, left.object != nil {
        return try resolve(membership(comparison, of: operand), left, operand)
      }
      return try resolve(comparison, left, operand)
    case (let operand, .path(let path)):
      let right = try paths.expression(path)
      if comparison.relation == .in, right.isMany {
        return try resolve(membership(comparison, of: operand), right, operand)
      }
      var mirrored = comparison
      mirrored.relation = try mirror(comparison.relation)
      return try resolve(mirrored, right, operand)
    default:
      throw StoreError(.badRequest, "A comparison names no attribute on either side.")
    }
  }

  /// `value IN path` and `path CONTAINS object` say `ANY path == value`.
  private func membership(
    _ comparison: Filter.Comparison,
    of operand: Filter.Operand
  ) throws(StoreError) -> Filter.Comparison {
    guard comparison.quantifier == .one else {
      throw StoreError(
        .badRequest,
        "\(comparison.relation.rawValue) and \(comparison.quantifier.rawValue) exclude each other.",
        help: "write ANY path == value"
      )
    }
    var membership = comparison
    membership.quantifier = .any
    membership.relation = .equalTo
    membership.right = operand
    return membership
  }

  private func mirror(
    _ relation: Filter.Comparison.Relation
  ) throws(StoreError) -> Filter.Comparison.Relation {
    guard let mirrored = relation.mirrored else {
      throw StoreError(.badRequest, "\(relation.rawValue) wants the attribute on its left side.")
    }
    return mirrored
  }

  /// A value beside a value: equality takes two nulls for equal, as NSPredicate does.
  private func relation(
    _ left: ResolvedExpression,
    _ comparison: Filter.Comparison,
    _ right: ResolvedExpression
  ) throws(StoreError) -> ResolvedComparison {
    if right.isMany {
      if comparison.relation == .in {
        return try relation(right, membership(comparison, of: comparison.left), left)
      }
      guard !left.isMany else {
        throw StoreError(
          .badRequest,
          "\(left.attribute.name) and \(right.attribute.name) both lead to many values; one of them "
            + "must lead to one."
        )
      }
      var mirrored = comparison
      mirrored.relation = try mirror(comparison.relation)
      return try relation(right, mirrored, left)
    }
    if comparison.relation == .contains, left.isMany, left.object != nil {
      return try relation(left, membership(comparison, of: comparison.right), right)
    }
    try checkQuantifier(comparison, left)
    try checkKinds(left, right)
    try checkOptions(comparison, of: left)
    try checkOptions(comparison, of: right)
    switch comparison.relation {
    case .equalTo, .notEqualTo: break
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
      try checkOrder(comparison.relation, of: left)
    default:
      throw StoreError(
        .badRequest,
        "\(comparison.relation.rawValue) wants a value on its right side."
      )
    }
    return ResolvedComparison(
      quantifier: comparison.quantifier,
      left: left,
      options: comparison.options,
      test: .relates(comparison.relation, right)
    )
  }

  /// A value beside a literal or list.
  private func resolve(
    _ comparison: Filter.Comparison,
    _ left: ResolvedExpression,
    _ operand: Filter.Operand
  ) throws(StoreError) -> ResolvedComparison {
    try checkQuantifier(comparison, left)
    try checkOptions(comparison, of: left)
    return ResolvedComparison(
      quantifier: comparison.quantifier,
      left: left,
      options: comparison.options,
      test: try test(comparison, FilterLiterals(comparison, left, paths.layout), operand)
    )
  }

  private func test(
    _ comparison: Filter.Comparison,
    _ literals: FilterLiterals,
    _ operand: Filter.Operand
  ) throws(StoreError) -> ResolvedComparison.Test {
    let relation = comparison.relation
    switch relation {
    case .equalTo, .notEqualTo:
      let value = try literals.value(operand)
      if value == .null { return relation == .equalTo ? .isNull : .isPresent }
      return .compares(relation, value)
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
      try checkOrder(relation, of: literals.expression)
      return .compares(relation, try literals.present(operand))
    case .between:
      try checkOrder(relation, of: literals.expression)
      let bounds = try literals.elements(operand)
      guard bounds.count == 2 else {
        throw StoreError(
          .badRequest,
          "BETWEEN wants two bounds, {low, high}; found \(bounds.count)."
        )
      }
      return .between(try literals.present(bounds[0]), try literals.present(bounds[1]))
    case .in:
      var values: [StoredValue] = []
      for element in try literals.elements(operand) { values.append(try literals.value(element)) }
      return .isOne(of: ValueList(values.filter { $0 != .null }), orNull: values.contains(.null))
    case .contains, .beginsWith, .endsWith, .like, .matches:
      return try textTest(comparison, literals, operand)
    }
  }

  private func textTest(
    _ comparison: Filter.Comparison,
    _ literals: FilterLiterals,
    _ operand: Filter.Operand
  ) throws(StoreError) -> ResolvedComparison.Test {
    let relation = comparison.relation
    let expression = literals.expression
    guard expression.object == nil, expression.attribute.type.isTextual else {
      throw StoreError(
        .badRequest,
        "\(relation.rawValue) wants a text attribute; \(expression.attribute.name) is "
          + "\(withArticle(expression))."
      )
    }
    guard case .value(.string(let pattern)) = try literals.resolved(operand) else {
      throw StoreError(.badRequest, "\(relation.rawValue) wants a string on its right side.")
    }
    if relation == .like { try checkWildcards(of: pattern) }
    let kind: TextTest.Kind
    switch relation {
    case .contains: return .contains(TextFold.fold(pattern, comparison.options))
    case .beginsWith: return .begins(TextFold.fold(pattern, comparison.options))
    case .like: kind = .like
    case .matches: kind = .matches
    default: kind = .endsWith
    }
    do {
      return .fits(kind, pattern, try TextTest(kind, pattern, comparison.options))
    } catch {
      throw StoreError(.badRequest, "\(relation.rawValue) cannot be used: \(error.message).")
    }
  }

  // MARK: Checks

  /// Refuses a pattern with SQL's wildcard in place of `*` and `?`: it is a text that nobody has.
  ///
  /// Who means that very text writes `\%`.
  private func checkWildcards(of pattern: String) throws(StoreError) {
    guard pattern.replacing("\\%", with: "").contains("%"),
      !pattern.contains(where: { "*?".contains($0) })
    else { return }
    throw StoreError(
      .badRequest,
      "LIKE has the wildcards * and ?; in \"\(pattern)\" there is neither.",
      help: "write LIKE \"\(pattern.replacing("%", with: "*"))\", or == for the very text"
    )
  }

  private func checkQuantifier(
    _ comparison: Filter.Comparison,
    _ left: ResolvedExpression
  ) throws(StoreError) {
    switch (comparison.quantifier, left.isMany) {
    case (.one, false), (.any, true), (.all, true), (.none, true): return
    case (.one, true):
      throw StoreError(
        .badRequest,
        "\(left.attribute.name) leads to many values where one is compared.",
        help: "put ANY, ALL or NONE in front, or compare its @count"
      )
    case (_, false):
      throw StoreError(
        .badRequest,
        "\(comparison.quantifier.rawValue) wants a path through a to-many relationship; "
          + "\(left.attribute.name) leads to one value."
      )
    }
  }

  private func checkKinds(
    _ left: ResolvedExpression,
    _ right: ResolvedExpression
  ) throws(StoreError) {
    let entities = paths.layout.entities
    switch (left.object, right.object) {
    case (nil, nil) where left.attribute.type.compares(with: right.attribute.type): return
    case (.some(let a), .some(let b)) where entities[a].root == entities[b].root: return
    default:
      throw StoreError(
        .badRequest,
        "\(left.attribute.name) (\(kind(left))) and \(right.attribute.name) (\(kind(right))) cannot be "
          + "compared with one another."
      )
    }
  }

  private func checkOptions(
    _ comparison: Filter.Comparison,
    of expression: ResolvedExpression
  ) throws(StoreError) {
    guard
      comparison.options.isEmpty || expression.object == nil && expression.attribute.type.isTextual
    else {
      throw StoreError(
        .badRequest,
        "[c] and [d] want a text attribute; \(expression.attribute.name) is "
          + "\(withArticle(expression))."
      )
    }
  }

  private func checkOrder(
    _ relation: Filter.Comparison.Relation,
    of expression: ResolvedExpression
  ) throws(StoreError) {
    guard expression.object == nil, expression.attribute.type.isOrdered else {
      throw StoreError(
        .badRequest,
        "\(relation.rawValue) wants an order; \(expression.attribute.name) is "
          + "\(withArticle(expression)), which has none."
      )
    }
  }

  private func kind(_ expression: ResolvedExpression) -> String {
    expression.object.map { paths.layout.entities[$0].name } ?? expression.attribute.type.rawValue
  }

  private func withArticle(_ expression: ResolvedExpression) -> String {
    expression.object == nil ? expression.attribute.type.withArticle : "an object"
  }
}
