/// Checks a filter against a model: the one place where names and literals become slots and stored
/// values.
struct FilterResolver {
  /// Comparisons in one filter, at most.
  static let maximumTermCount = 10_000
  /// ANDs, ORs and NOTs inside one another, at most: SQLite's parser takes a hundred open parentheses and
  /// words (https://www.sqlite.org/compile.html#yystackdepth).
  static let maximumDepth = 64
  /// How many of them a subquery counts for.
  static let subqueryDepth = 8

  let paths: PathResolver
  private var termCount = 0

  init(_ paths: PathResolver) { self.paths = paths }

  /// The resolved filter; throws `StoreError.Code.badRequest`.
  mutating func resolve(_ filter: Filter, depth: Int = 0) throws(StoreError) -> ResolvedFilter {
    guard depth <= Self.maximumDepth else {
      throw StoreError(
        .badRequest,
        "The predicate is nested deeper than \(Self.maximumDepth) levels of AND in OR, OR in AND, and NOT; a"
          + " SUBQUERY counts for \(Self.subqueryDepth)."
      )
    }
    var filter = filter
    while case .not(.not(let inner)) = filter { filter = inner }
    switch filter {
    case .constant(let value): return .constant(value)
    case .and(let parts):
      let flat = Self.flat(parts) { if case .and(let inner) = $0 { inner } else { nil } }
      return .and(try resolve(flat, depth))
    case .or(let parts):
      let flat = Self.flat(parts) { if case .or(let inner) = $0 { inner } else { nil } }
      return .or(try resolve(flat, depth))
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

  /// The parts of an AND, or of an OR, and those of the same inside of it: a chain that code makes pair by
  /// pair is as long as it would be if it was written, and not as deep.
  private static func flat(_ parts: [Filter], _ inner: (Filter) -> [Filter]?) -> [Filter] {
    var flat: [Filter] = []
    var rest = Array(parts.reversed())
    while let part = rest.popLast() {
      if let parts = inner(part) { rest += parts.reversed() } else { flat.append(part) }
    }
    return flat
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
        throw StoreError(
          .badRequest,
          "A comparison names no attribute on either side.",
          help: help(comparison.left)
        ).at(0, of: comparison.places)
      }
    } catch {
      throw error.at(1, of: comparison.places)
    }
  }

  /// What a literal was to name, where it may have been meant so.
  private func help(_ literal: Filter.Operand) -> String? {
    switch literal {
    case .value(.boolean(let value)):
      "an attribute of that name is written \(value ? "#true" : "#false")"
    case .value(.string(let text)) where !text.isEmpty:
      "a name in quotes is written #\"\(text.prefix(40))\""
    default: nil
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
    let condition = try inside.resolve(subquery.condition, depth: depth + Self.subqueryDepth)
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
      if let test = literals.integerPlace(operand)?.test(relation) { return test }
      let value = try literals.value(operand)
      if value == .null { return relation == .equalTo ? .isNull : .isPresent }
      return .compares(relation, value)
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
      try checkOrder(relation, of: literals.expression)
      if let test = literals.integerPlace(operand)?.test(relation) { return test }
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
      if let low = literals.integerPlace(bounds[0]), let high = literals.integerPlace(bounds[1]) {
        return IntegerPlace.between(low, high)
      }
      return .between(try literals.present(bounds[0]), try literals.present(bounds[1]))
    case .in:
      var values: [StoredValue] = []
      // A number that is no integer is none of them.
      for element in try literals.elements(operand)
      where literals.integerPlace(element)?.test(.equalTo) == nil {
        values.append(try literals.value(element))
      }
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
}
