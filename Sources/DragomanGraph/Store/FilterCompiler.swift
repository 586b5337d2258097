/// Turns a filter into a SQL condition with bound values, checking names and literals on the way.
///
/// Values are never text of the statement, names are always quoted. A comparison with null is NULL
/// in SQL where NSPredicate says false; `AND` and `OR` treat both alike, so only `NOT` has to mend
/// it: it becomes `(…) IS NOT TRUE`.
struct FilterCompiler {
  /// Comparisons in one filter, at most.
  static let maximumTermCount = 10_000

  private let entity: Entity
  /// The values of the `?` of `condition`, in order.
  private(set) var arguments: [StoredValue] = []
  private var termCount = 0

  init(_ entity: Entity) { self.entity = entity }

  /// The SQL of the filter.
  mutating func condition(_ filter: Filter, depth: Int = 0) throws(StoreError) -> String {
    guard depth <= FilterParser.maximumDepth else {
      throw StoreError(
        .badRequest,
        "The predicate is nested deeper than \(FilterParser.maximumDepth) levels."
      )
    }
    switch filter {
    case .constant(let value): return value ? "1" : "0"
    case .and(let parts): return try join(parts, " AND ", empty: "1", depth)
    case .or(let parts): return try join(parts, " OR ", empty: "0", depth)
    case .not(let part): return "(\(try condition(part, depth: depth + 1))) IS NOT TRUE"
    case .comparison(let comparison):
      termCount += 1
      guard termCount <= Self.maximumTermCount else {
        throw StoreError(
          .badRequest,
          "The predicate has more than \(Self.maximumTermCount) comparisons.",
          help: "compare with a list: name IN {…}"
        )
      }
      return try condition(comparison)
    }
  }

  /// Joins in groups of a hundred: SQLite refuses an expression deeper than 1000, and a chain of
  /// operators is as deep as it is long (https://www.sqlite.org/limits.html, item 4).
  private mutating func join(
    _ parts: [Filter],
    _ conjunction: String,
    empty: String,
    _ depth: Int
  ) throws(StoreError) -> String {
    guard !parts.isEmpty else { return empty }
    var groups: [String] = []
    for start in stride(from: 0, to: parts.count, by: 100) {
      var group: [String] = []
      for part in parts[start..<min(start + 100, parts.count)] {
        group.append(try condition(part, depth: depth + 1))
      }
      groups.append(group.joined(separator: conjunction))
    }
    return groups.count == 1
      ? "(\(groups[0]))" : "(" + groups.map { "(\($0))" }.joined(separator: conjunction) + ")"
  }

  // MARK: Comparisons

  private mutating func condition(_ comparison: Filter.Comparison) throws(StoreError) -> String {
    guard comparison.quantifier == .one else {
      throw Self.notYet("\(comparison.quantifier.rawValue) needs a path through a relationship")
    }
    switch (comparison.left, comparison.right) {
    case (.path(let left), .path(let right)):
      return try condition(attribute(left), comparison, attribute(right))
    case (.path(let path), let operand):
      return try condition(attribute(path), comparison, operand)
    case (let operand, .path(let path)):
      guard let relation = comparison.relation.mirrored else {
        throw StoreError(
          .badRequest,
          "\(comparison.relation.rawValue) wants the attribute on its left side."
        )
      }
      var mirrored = comparison
      mirrored.relation = relation
      return try condition(attribute(path), mirrored, operand)
    default:
      throw StoreError(.badRequest, "A comparison names no attribute on either side.")
    }
  }

  /// An attribute beside an attribute: equality takes two nulls for equal, as NSPredicate does.
  private func condition(
    _ left: Attribute,
    _ comparison: Filter.Comparison,
    _ right: Attribute
  ) throws(StoreError) -> String {
    guard left.type.compares(with: right.type) else {
      throw StoreError(
        .badRequest,
        "\(left.name) (\(left.type.rawValue)) and \(right.name) (\(right.type.rawValue)) cannot be "
          + "compared with one another."
      )
    }
    try checkOptions(comparison, of: left)
    let sides = [left, right].map { attribute in
      let column = Schema.quoted(attribute.column)
      return comparison.options.isEmpty
        ? column : "dragoman_fold(\(column), \(comparison.options.rawValue))"
    }
    let collation = left.type == .decimal ? " COLLATE \(FetchFunctions.decimalCollation)" : ""
    switch comparison.relation {
    case .equalTo: return "\(sides[0]) IS \(sides[1])\(collation)"
    case .notEqualTo: return "\(sides[0]) IS NOT \(sides[1])\(collation)"
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
      try checkOrder(comparison.relation, of: left)
      return "\(sides[0]) \(comparison.relation.rawValue) \(sides[1])\(collation)"
    default:
      throw StoreError(
        .badRequest,
        "\(comparison.relation.rawValue) wants a value on its right side."
      )
    }
  }

  /// An attribute beside a value or list.
  private mutating func condition(
    _ attribute: Attribute,
    _ comparison: Filter.Comparison,
    _ operand: Filter.Operand
  ) throws(StoreError) -> String {
    try checkOptions(comparison, of: attribute)
    let options = comparison.options
    let plain = Schema.quoted(attribute.column)
    let column = options.isEmpty ? plain : "dragoman_fold(\(plain), \(options.rawValue))"
    let relation = comparison.relation
    switch relation {
    case .equalTo, .notEqualTo:
      let value = try value(operand, attribute, options)
      let isEqual = relation == .equalTo
      if value == .null { return "\(plain) IS \(isEqual ? "" : "NOT ")NULL" }
      return "\(column) \(isEqual ? "=" : "IS NOT") \(bind(value))"
    case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
      try checkOrder(relation, of: attribute)
      let value = try present(operand, attribute, relation, options)
      return "\(column) \(relation.rawValue) \(bind(value))\(collation(attribute))"
    case .between:
      try checkOrder(relation, of: attribute)
      let bounds = try elements(operand, relation)
      guard bounds.count == 2 else {
        throw StoreError(
          .badRequest,
          "BETWEEN wants two bounds, {low, high}; found \(bounds.count)."
        )
      }
      let low = bind(try present(bounds[0], attribute, relation, options))
      let high = bind(try present(bounds[1], attribute, relation, options))
      let collation = collation(attribute)
      return "(\(column) >= \(low)\(collation) AND \(column) <= \(high)\(collation))"
    case .in:
      return try membership(of: column, plain, attribute, operand, options)
    case .contains, .beginsWith, .endsWith, .like, .matches:
      return try textCondition(plain, column, attribute, comparison, operand)
    }
  }

  private mutating func membership(
    of column: String,
    _ plain: String,
    _ attribute: Attribute,
    _ operand: Filter.Operand,
    _ options: Filter.Comparison.Options
  ) throws(StoreError) -> String {
    var values: [StoredValue] = []
    for element in try elements(operand, .in) {
      values.append(try value(element, attribute, options))
    }
    let list = bind(.text(ListCode.json(values.filter { $0 != .null })))
    let membership = "\(column) IN (SELECT dragoman_value(value) FROM json_each(\(list)))"
    return values.contains(.null) ? "(\(membership) OR \(plain) IS NULL)" : membership
  }

  /// The text relations.
  ///
  /// A plain `BEGINSWITH` is a range of bytes, which an index serves.
  private mutating func textCondition(
    _ plain: String,
    _ column: String,
    _ attribute: Attribute,
    _ comparison: Filter.Comparison,
    _ operand: Filter.Operand
  ) throws(StoreError) -> String {
    let relation = comparison.relation
    guard attribute.type.isTextual else {
      throw StoreError(
        .badRequest,
        "\(relation.rawValue) wants a text attribute; \(attribute.name) is "
          + "\(attribute.type.withArticle)."
      )
    }
    guard case .value(.string(let pattern)) = try resolved(operand, relation) else {
      throw StoreError(.badRequest, "\(relation.rawValue) wants a string on its right side.")
    }
    let folded = TextFold.fold(pattern, comparison.options)
    let kind: TextTest.Kind
    switch relation {
    case .contains:
      return "instr(\(column), \(bind(.text(folded)))) > 0"
    case .beginsWith:
      let lower = "\(column) >= \(bind(.text(folded)))"
      guard let end = TextPrefix.end(of: folded) else { return lower }
      return "(\(lower) AND \(column) < \(bind(.text(end))))"
    case .like: kind = .like
    case .matches: kind = .matches
    default: kind = .endsWith
    }
    do {
      _ = try TextTest(kind, pattern, comparison.options)
    } catch {
      throw StoreError(.badRequest, "\(relation.rawValue) cannot be used: \(error.message).")
    }
    let options = comparison.options.rawValue
    return "dragoman_test(\(plain), \(bind(.text(pattern))), \(kind.rawValue), \(options))"
  }

  // MARK: Operands

  private mutating func bind(_ value: StoredValue) -> String {
    arguments.append(value)
    return "?"
  }

  private func attribute(_ path: FilterPath) throws(StoreError) -> Attribute {
    guard let name = path.steps.first, path.steps.count == 1 else {
      throw Self.notYet("the path \(path.text) leads through a relationship")
    }
    if entity.relationships.contains(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
      throw Self.notYet("\(name) is a relationship")
    }
    return try entity.requireAttribute(name)
  }

  private func resolved(
    _ operand: Filter.Operand,
    _ relation: Filter.Comparison.Relation
  ) throws(StoreError) -> Filter.Operand {
    if case .variable(let name) = operand {
      throw StoreError(
        .badRequest,
        "The variable $\(name) of the predicate has no value.",
        help: "give it one, on the command line with -p \(name)=…"
      )
    }
    return operand
  }

  private func value(
    _ operand: Filter.Operand,
    _ attribute: Attribute,
    _ options: Filter.Comparison.Options
  ) throws(StoreError) -> StoredValue {
    guard case .value(let literal) = try resolved(operand, .equalTo) else {
      throw StoreError(
        .badRequest,
        "\(attribute.name) is compared with a list where one value fits."
      )
    }
    if !options.isEmpty, case .string(let text) = literal {
      return .text(TextFold.fold(text, options))
    }
    return try attribute.stored(literal)
  }

  private func present(
    _ operand: Filter.Operand,
    _ attribute: Attribute,
    _ relation: Filter.Comparison.Relation,
    _ options: Filter.Comparison.Options
  ) throws(StoreError) -> StoredValue {
    let value = try value(operand, attribute, options)
    guard value != .null else {
      throw StoreError(
        .badRequest,
        "\(relation.rawValue) cannot compare \(attribute.name) with nil.",
        help: "nil goes with == and != only"
      )
    }
    return value
  }

  private func elements(
    _ operand: Filter.Operand,
    _ relation: Filter.Comparison.Relation
  ) throws(StoreError) -> [Filter.Operand] {
    guard case .list(let elements) = try resolved(operand, relation) else {
      throw StoreError(.badRequest, "\(relation.rawValue) wants a list, {a, b}.")
    }
    return elements
  }

  private func collation(_ attribute: Attribute) -> String {
    attribute.type == .decimal ? " COLLATE \(FetchFunctions.decimalCollation)" : ""
  }

  private func checkOptions(
    _ comparison: Filter.Comparison,
    of attribute: Attribute
  ) throws(StoreError) {
    guard comparison.options.isEmpty || attribute.type.isTextual else {
      throw StoreError(
        .badRequest,
        "[c] and [d] want a text attribute; \(attribute.name) is \(attribute.type.withArticle)."
      )
    }
  }

  private func checkOrder(
    _ relation: Filter.Comparison.Relation,
    of attribute: Attribute
  ) throws(StoreError) {
    guard attribute.type.isOrdered else {
      throw StoreError(
        .badRequest,
        "\(relation.rawValue) wants an order; \(attribute.name) is "
          + "\(attribute.type.withArticle), which has none."
      )
    }
  }

  private static func notYet(_ what: String) -> StoreError {
    StoreError(
      .badRequest,
      "Not in this version: \(what), and predicates reach attributes only."
    )
  }
}
