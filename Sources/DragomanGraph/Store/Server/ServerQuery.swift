/// A request as SQL of a server, where that means exactly what it means in a file and in memory.
///
/// That is: objects of one entity, tests and sort keys of its own attributes, to-ones and `_pk`, texts by their
/// bytes. All else (paths, aggregates, what is folded, regular expressions) is nil, and answered elsewhere.
struct ServerQuery {
  private let request: ResolvedRequest
  private let table: TableLayout
  private var condition: [String] = []
  private var order: [String] = []
  private(set) var parameters: [ServerParameter] = []

  init?(_ request: ResolvedRequest, _ layout: ModelLayout) {
    guard request.table == nil else { return nil }
    self.request = request
    table = layout.tables[request.entity.tableIndex]
    if let entities = request.entities {
      var names = ServerArray(.text)
      for index in entities {
        guard (try? names.append(.text(layout.entities[index].name))) != nil else { return nil }
      }
      parameters.append(names.parameter)
      condition.append("_entity = ANY(\(names.placeholder(1)))")
    }
    if let filter = request.filter {
      guard let test = test(filter) else { return nil }
      condition.append(test)
    }
    for key in request.sortKeys {
      guard let column = column(of: key.expression), let kind = kind(of: key.expression),
        kind != .json, kind != .boolean, key.folds.allSatisfy(\.isEmpty)
      else { return nil }
      order.append(column + (key.isAscending ? " ASC NULLS FIRST" : " DESC NULLS LAST"))
    }
    order.append("_pk")
  }

  /// What is selected; nil: the request wants more than columns of its table.
  func columns(_ reading: FetchReading) -> [String]? {
    var columns = ["_pk"]
    switch reading {
    case .columns(let names): return columns + names.map(Schema.quoted)
    case .versions: columns.append("_v")
    case .values: break
    }
    for column in request.columns {
      guard let expression = column.expression, let name = self.column(of: expression) else {
        return nil
      }
      columns.append(name)
    }
    if case .values = reading, request.entity.hasEntityColumn { columns.append("_entity") }
    return columns
  }

  /// The rows, in order.
  func rowsSQL(_ columns: [String]) -> String {
    "SELECT \(columns.joined(separator: ", "))\(source) ORDER BY \(order.joined(separator: ", "))\(slice)"
  }

  /// The number of rows.
  var countSQL: String { "SELECT count(*) FROM (SELECT 1\(source)\(slice)) AS t" }

  private var source: String {
    " FROM \(Schema.quoted(table.name))"
      + (condition.isEmpty ? "" : " WHERE " + condition.joined(separator: " AND "))
  }

  private var slice: String {
    (request.limit.map { " LIMIT \($0)" } ?? "")
      + (request.offset > 0 ? " OFFSET \(request.offset)" : "")
  }

  // MARK: - Conditions

  private mutating func test(_ filter: ResolvedFilter) -> String? {
    switch filter {
    case .constant(let isTrue): return isTrue ? "TRUE" : "FALSE"
    case .and(let parts): return join(parts, " AND ", empty: "TRUE")
    case .or(let parts): return join(parts, " OR ", empty: "FALSE")
    case .not(let part): return test(part).map { "((\($0)) IS NOT TRUE)" }
    case .comparison(let comparison): return test(comparison)
    }
  }

  private mutating func join(
    _ parts: [ResolvedFilter],
    _ conjunction: String,
    empty: String
  ) -> String? {
    var tests: [String] = []
    for part in parts {
      guard let test = test(part) else { return nil }
      tests.append(test)
    }
    return tests.isEmpty ? empty : "(\(tests.joined(separator: conjunction)))"
  }

  private mutating func test(_ comparison: ResolvedComparison) -> String? {
    guard comparison.quantifier == .one, comparison.options.isEmpty,
      let column = column(of: comparison.left), let type = kind(of: comparison.left)
    else { return nil }
    switch comparison.test {
    case .isNull: return "\(column) IS NULL"
    case .isPresent: return "\(column) IS NOT NULL"
    default: break
    }
    guard type != .json else { return nil }
    switch comparison.test {
    case .isNull, .isPresent, .fits, .relates: return nil
    case .compares(.equalTo, let literal): return bind(literal, type).map { "\(column) = \($0)" }
    case .compares(.notEqualTo, let literal):
      return bind(literal, type).map { "\(column) IS DISTINCT FROM \($0)" }
    case .compares(let relation, let literal):
      return bind(literal, type).map { "\(column) \(relation.rawValue) \($0)" }
    case .between(let low, let high):
      guard let low = bind(low, type), let high = bind(high, type) else { return nil }
      return "\(column) BETWEEN \(low) AND \(high)"
    case .isOne(of: let values, let orNull):
      var list = ServerArray(type)
      for value in values.values where value != .null {
        guard type.admits(value), (try? list.append(value)) != nil else { return nil }
      }
      parameters.append(list.parameter)
      let membership = "\(column) = ANY(\(list.placeholder(parameters.count)))"
      return orNull ? "(\(membership) OR \(column) IS NULL)" : membership
    case .contains(let pattern):
      guard type == .text, let pattern = bind(.text(pattern), type) else { return nil }
      return "position(\(pattern) IN \(column)) > 0"
    case .begins(let pattern):
      guard type == .text, let pattern = bind(.text(pattern), type) else { return nil }
      return "starts_with(\(column), \(pattern))"
    }
  }

  /// The column of an expression that is one of the request's own table.
  private func column(of expression: ResolvedExpression) -> String? {
    guard case .path(let path) = expression.source, path.level == 0 else { return nil }
    switch path.end {
    case .attribute(let slot):
      return path.hops.isEmpty ? Schema.quoted(path.entity.attributes[slot].column) : nil
    case .object:
      guard let hop = path.hops.first else { return "_pk" }
      guard path.hops.count == 1, case .column(let name) = hop.link.storage else { return nil }
      return Schema.quoted(name)
    case .entityName: return nil
    }
  }

  private func kind(of expression: ResolvedExpression) -> ServerType? {
    guard case .path(let path) = expression.source else { return nil }
    if case .attribute = path.end { return ServerType(expression.attribute.type) }
    return .bigint
  }

  private mutating func bind(_ value: StoredValue, _ type: ServerType) -> String? {
    guard type.admits(value), let parameter = try? ServerParameter(value, type) else { return nil }
    parameters.append(parameter)
    return "$\(parameters.count)::\(type.rawValue)"
  }
}

extension ServerType {
  /// Whether a literal of a predicate can be compared with a column: one beyond the column's range cannot be
  /// said in its type.
  fileprivate func admits(_ value: StoredValue) -> Bool {
    switch (self, value) {
    case (.smallint, .integer(let integer)): Int16(exactly: integer) != nil
    case (.integer, .integer(let integer)): Int32(exactly: integer) != nil
    case (.bigint, .integer): true
    case (.boolean, .integer(let integer)): integer == 0 || integer == 1
    case (.real, .real), (.bytes, .blob): true
    case (.text, .text), (.numeric, .text), (.timestamp, .text), (.date, .text), (.time, .text),
      (.uuid, .text):
      true
    default: false
    }
  }
}
