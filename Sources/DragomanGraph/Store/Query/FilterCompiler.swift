/// Writes a resolved filter as a SQL condition with bound values.
///
/// Values are never text of the statement, names are always quoted. A comparison with null is NULL
/// in SQL where NSPredicate says false; `AND` and `OR` treat both alike, so only `NOT` has to mend
/// it: it becomes `(…) IS NOT TRUE`. To-one relationships are joined, to-many ones are subqueries.
struct FilterCompiler {
  /// The values of the `?`, in the order in which they were written.
  private(set) var arguments: [StoredValue] = []
  /// Which of them are compared with values of a sensitive attribute, by their places.
  private(set) var sensitiveArguments: Set<Int> = []
  private var isSensitive = false
  /// Whether a value of a sensitive attribute was read.
  private(set) var readsSensitive = false
  /// The SQL of the columns of a table, for conditions on its rows.
  private let columns: [String]
  /// As deep as people nest conditions: these stay in their order.
  private static let usualDepth = 4

  init(columns: [String] = []) { self.columns = columns }

  /// The SQL of the filter.
  mutating func condition(_ filter: ResolvedFilter, in scope: FetchScope) -> String {
    switch filter {
    case .constant(let value): return value ? "1" : "0"
    case .and(let parts): return join(parts, " AND ", empty: "1", scope)
    case .or(let parts): return join(parts, " OR ", empty: "0", scope)
    case .not(let part): return "(\(condition(part, in: scope))) IS NOT TRUE"
    case .comparison(let comparison): return condition(comparison, scope)
    }
  }

  /// The condition that an object is of one of the entities; nil if all in its table are.
  mutating func condition(_ entities: [String], in scope: FetchScope) -> String {
    let list = entities.map { bind(.text($0)) }.joined(separator: ", ")
    return "\(scope.alias(of: []))._entity " + (entities.count == 1 ? "= \(list)" : "IN (\(list))")
  }

  /// Joins in groups of a hundred: SQLite refuses an expression deeper than 1000, and a chain of
  /// operators is as deep as it is long (https://www.sqlite.org/limits.html, item 4).
  ///
  /// What is deep comes first: the parser remembers all that stands open in front of it.
  private mutating func join(
    _ parts: [ResolvedFilter],
    _ conjunction: String,
    empty: String,
    _ scope: FetchScope
  ) -> String {
    guard !parts.isEmpty else { return empty }
    var parts = parts
    let depths = parts.map(\.depth)
    if depths.contains(where: { $0 > Self.usualDepth }) {
      parts = zip(parts, depths).enumerated().sorted { one, other in
        (other.element.1, one.offset) < (one.element.1, other.offset)
      }.map(\.element.0)
    }
    var groups: [String] = []
    for start in stride(from: 0, to: parts.count, by: 100) {
      var group: [String] = []
      for part in parts[start..<min(start + 100, parts.count)] {
        group.append(condition(part, in: scope))
      }
      groups.append(group.joined(separator: conjunction))
    }
    return groups.count == 1
      ? "(\(groups[0]))" : "(" + groups.map { "(\($0))" }.joined(separator: conjunction) + ")"
  }

  // MARK: Comparisons

  private mutating func condition(
    _ comparison: ResolvedComparison,
    _ scope: FetchScope
  ) -> String {
    guard comparison.quantifier != .one, case .path(let path) = comparison.left.source else {
      return test(expression(comparison.left, in: scope), comparison, scope)
    }
    if let owners = owners(linkedBy: path, comparison, scope) { return owners }
    let (inner, hops) = scope.out(path.level).subquery(for: path)
    let value = value(path.end, path.entity, hops, inner)
    var test = test(value, comparison, scope)
    if comparison.quantifier == .all { test = "(\(test)) IS NOT TRUE" }
    return (comparison.quantifier == .any ? "" : "NOT ")
      + "EXISTS (SELECT 1 FROM \(inner.sources) WHERE \(inner.condition ?? "1") AND \(test))"
  }

  /// The condition of `ANY link == object`, where a table has the links; nil for anything else.
  ///
  /// The index on the table's other side tells whose they are: no object has to be looked at.
  private mutating func owners(
    linkedBy path: ResolvedPath,
    _ comparison: ResolvedComparison,
    _ scope: FetchScope
  ) -> String? {
    guard comparison.quantifier == .any, path.hops.count == 1, case .object = path.end,
      case .joinTable(let join, let isOwner) = path.hops[0].link.storage,
      case .compares(.equalTo, let object) = comparison.test
    else { return nil }
    let (own, other) = isOwner ? ("owner", "target") : ("target", "owner")
    return "\(scope.out(path.level).key(of: [])) IN (SELECT \(own) FROM \(Schema.quoted(join.name))"
      + " WHERE \(other) = \(bind(object)))"
  }

  /// The SQL of what a value has to pass; `outer` is where paths on the right side begin.
  private mutating func test(
    _ plain: String,
    _ comparison: ResolvedComparison,
    _ outer: FetchScope
  ) -> String {
    let options = comparison.options
    let wasSensitive = isSensitive
    isSensitive = comparison.left.attribute.isSensitive
    defer { isSensitive = wasSensitive }
    if case .subquery = comparison.left.source, comparison.test.namesValueTwice, plain != "v" {
      // Its values are bound once, so it may stand in the statement only once.
      return "(WITH s(v) AS (SELECT \(plain)) SELECT \(test("v", comparison, outer)) FROM s)"
    }
    let value = folded(plain, options)
    let collation = collation(comparison.left.attribute)
    switch comparison.test {
    case .isNull: return "\(plain) IS NULL"
    case .isPresent: return "\(plain) IS NOT NULL"
    case .compares(.equalTo, let literal): return "\(value) = \(bind(literal))"
    case .compares(.notEqualTo, let literal): return "\(value) IS NOT \(bind(literal))"
    case .compares(let relation, let literal):
      return "\(value) \(relation.rawValue) \(bind(literal))\(collation)"
    case .between(let low, let high):
      return "\(value)\(collation) BETWEEN \(bind(low)) AND \(bind(high))"
    case .isOne(of: let values, let orNull):
      let list = bind(.text(ListCode.json(values.values)))
      let membership = "\(value) IN (SELECT dragoman_value(value) FROM json_each(\(list)))"
      return orNull ? "(\(membership) OR \(plain) IS NULL)" : membership
    case .contains(let pattern): return "instr(\(value), \(bind(.text(pattern)))) > 0"
    case .begins(let pattern):
      // A range of bytes, which an index serves.
      let lower = "\(value) >= \(bind(.text(pattern)))"
      guard let end = TextPrefix.end(of: pattern) else { return lower }
      return "(\(lower) AND \(value) < \(bind(.text(end))))"
    case .fits(let kind, let pattern, _):
      let pattern = bind(.text(pattern))
      return "dragoman_test(\(plain), \(pattern), \(kind.rawValue), \(options.rawValue))"
    case .relates(let relation, let right):
      let other = folded(expression(right, in: outer), options)
      let symbol =
        switch relation {
        case .equalTo: "IS"
        case .notEqualTo: "IS NOT"
        default: relation.rawValue
        }
      return "\(value) \(symbol) \(other)\(collation)"
    }
  }

  private func folded(_ value: String, _ options: Filter.Comparison.Options) -> String {
    options.isEmpty ? value : "dragoman_fold(\(value), \(options.rawValue))"
  }

  private mutating func bind(_ value: StoredValue) -> String {
    if isSensitive { sensitiveArguments.insert(arguments.count) }
    arguments.append(value)
    return "?"
  }

  // MARK: Values

  /// The SQL of a single value.
  mutating func expression(_ expression: ResolvedExpression, in scope: FetchScope) -> String {
    switch expression.source {
    case .column(let index): return columns[index]
    case .path(let path): return value(path.end, path.entity, path.hops, scope.out(path.level))
    case .subquery(let subquery): return self.subquery(subquery, expression.attribute, scope)
    case .aggregate(let aggregate, let path):
      let (inner, hops) = scope.out(path.level).subquery(for: path)
      let value = value(path.end, path.entity, hops, inner)
      let result = self.aggregate(aggregate, of: value, path.attribute, expression.attribute)
      return "(SELECT \(result) FROM \(inner.sources) WHERE \(inner.condition ?? "1"))"
    }
  }

  private mutating func subquery(
    _ subquery: ResolvedSubquery,
    _ attribute: Attribute,
    _ scope: FetchScope
  ) -> String {
    let inner = scope.objects(of: subquery.path)
    // A null at the end of a path is no object.
    let isObject = "\(inner.key(of: [])) IS NOT NULL"
    let path = subquery.value
    let value = value(path.end, path.entity, path.hops, inner)
    let result = aggregate(subquery.aggregate, of: value, path.attribute, attribute)
    let wasSensitive = isSensitive
    isSensitive = false
    let test = condition(subquery.condition, in: inner)
    isSensitive = wasSensitive
    var tests = [inner.condition ?? "1", isObject, test]
    if subquery.condition.depth > Self.usualDepth { tests.insert(tests.removeLast(), at: 0) }
    return "(SELECT \(result) FROM \(inner.sources) WHERE \(tests.joined(separator: " AND ")))"
  }

  /// The SQL of an aggregate.
  ///
  /// - Parameters:
  ///   - aggregate: Which.
  ///   - value: The SQL of what it is taken of.
  ///   - attribute: The attribute that it is taken of.
  ///   - result: The aggregate's own type.
  /// - Returns: The SQL.
  func aggregate(
    _ aggregate: FetchColumn.Aggregate,
    of value: String,
    _ attribute: Attribute?,
    _ result: Attribute
  ) -> String {
    switch aggregate {
    case .count: return "count(\(value))"
    case .min, .max: return "\(aggregate.rawValue)(\(value)\(collation(result)))"
    case .sum, .average:
      let kind = attribute.flatMap { ValueSum.Kind($0.type) } ?? .real
      let sum = "dragoman_\(aggregate.rawValue)_\(kind.word)(\(value))"
      guard let scale = result.rules.scale, scale > 0 else { return sum }
      return "dragoman_pad(\(sum), \(scale))"
    }
  }

  private mutating func value(
    _ end: ResolvedPath.End,
    _ entity: EntityLayout,
    _ hops: [ResolvedPath.Hop],
    _ scope: FetchScope
  ) -> String {
    switch end {
    case .object: return scope.key(of: hops)
    case .attribute(let slot):
      if entity.attributes[slot].isSensitive { readsSensitive = true }
      return "\(scope.alias(of: hops)).\(Schema.quoted(entity.attributes[slot].column))"
    case .entityName(let names):
      if entity.hasEntityColumn { return "\(scope.alias(of: hops))._entity" }
      let name = Schema.literal(names[entity.index])
      return "iif(\(scope.key(of: hops)) IS NULL, NULL, \(name))"
    }
  }

  /// The collation that orders decimals by their value.
  func collation(_ attribute: Attribute) -> String {
    attribute.type == .decimal ? " COLLATE \(FetchFunctions.decimalCollation)" : ""
  }
}

extension ResolvedComparison.Test {
  /// Whether the SQL of the test has the value in two places.
  fileprivate var namesValueTwice: Bool {
    switch self {
    case .begins: true
    case .isOne(_, let orNull): orNull
    default: false
    }
  }
}

extension ResolvedPath {
  /// The attribute at the end of the path, if it ends in one.
  var attribute: Attribute? {
    if case .attribute(let slot) = end { entity.attributes[slot] } else { nil }
  }
}
