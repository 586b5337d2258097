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
      return .comparison(try resolve(comparison, depth))
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

  private mutating func resolve(
    _ comparison: Filter.Comparison,
    _ depth: Int
  ) throws(StoreError) -> ResolvedComparison {
    let left = try side(comparison.left, 0, comparison, depth)
    let right = try side(comparison.right, 2, comparison, depth)
    do throws(StoreError) {
      switch (left, right) {
      case (let left?, let right?):
        return try relation(left, comparison, right)
      case (let left?, nil):
        if comparison.relation == .contains, left.object != nil {
          return try resolve(membership(comparison, of: comparison.right), left, comparison.right)
        }
        return try resolve(comparison, left, comparison.right)
      case (nil, let right?):
        if comparison.relation == .in, right.isMany {
          var membership = try membership(comparison, of: comparison.left)
          membership.places = comparison.places.mirrored
          return try resolve(membership, right, comparison.left)
        }
        var mirrored = comparison
        mirrored.relation = try mirror(comparison.relation)
        mirrored.places = comparison.places.mirrored
        return try resolve(mirrored, right, comparison.left)
      case (nil, nil):
        throw StoreError(.badRequest, "A comparison names no attribute on either side.")
          .at(0, of: comparison.places)
      }
    } catch {
      throw error.at(1, of: comparison.places)
    }
  }

  /// The expression on one side of a comparison; nil where there is a literal.
  private mutating func side(
    _ operand: Filter.Operand,
    _ part: Int,
    _ comparison: Filter.Comparison,
    _ depth: Int
  ) throws(StoreError) -> ResolvedExpression? {
    do throws(StoreError) {
      switch operand {
      case .path(let path): return try paths.expression(path)
      case .subquery(let subquery): return try expression(subquery, depth)
      case .value, .list, .variable: return nil
      }
    } catch {
      throw error.at(part, of: comparison.places)
    }
  }

  private mutating func expression(
    _ subquery: FilterSubquery,
    _ depth: Int
  ) throws(StoreError) -> ResolvedExpression {
    let objects = try paths.expression(subquery.path)
    guard case .path(let path) = objects.source, path.isMany, objects.object != nil else {
      throw StoreError(
        .badRequest,
        "SUBQUERY wants a path to many objects; \(subquery.path.text) leads to "
          + (objects.isMany ? "values." : "one.")
      ).at(0, of: subquery.path.places)
    }
    var inside = FilterResolver(paths.inside(of: subquery.variable, path.entity))
    inside.termCount = termCount
    let condition = try inside.resolve(subquery.condition, depth: depth + 1)
    termCount = inside.termCount
    let (value, attribute) = try paths.aggregate(
      subquery.aggregate,
      of: subquery.value,
      from: path.entity,
      named: subquery.text
    )
    return ResolvedExpression(
      source: .subquery(
        ResolvedSubquery(
          path: path,
          condition: condition,
          aggregate: subquery.aggregate,
          value: value
        )
      ),
      attribute: attribute,
      object: nil
    )
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
      mirrored.places = comparison.places.mirrored
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
        .at(2, of: comparison.places)
    }
    if relation == .like { try checkWildcards(of: pattern, comparison) }
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
        .at(2, of: comparison.places)
    }
  }

  // MARK: Checks

  /// Refuses a pattern with SQL's wildcard in place of `*` and `?`: it is a text that nobody has.
  ///
  /// Who means that very text writes `\%`.
  private func checkWildcards(
    of pattern: String,
    _ comparison: Filter.Comparison
  ) throws(StoreError) {
    guard pattern.replacing("\\%", with: "").contains("%"),
      !pattern.contains(where: { "*?".contains($0) })
    else { return }
    throw StoreError(
      .badRequest,
      "LIKE has the wildcards * and ?; in \"\(pattern)\" there is neither.",
      help: "write LIKE \"\(pattern.replacing("%", with: "*"))\", or == for the very text"
    ).at(2, of: comparison.places)
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
      ).at(0, of: comparison.places)
    case (_, false):
      throw StoreError(
        .badRequest,
        "\(comparison.quantifier.rawValue) wants a path through a to-many relationship; "
          + "\(left.attribute.name) leads to one value."
      ).at(0, of: comparison.places)
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
