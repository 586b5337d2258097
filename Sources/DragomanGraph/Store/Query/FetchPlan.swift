/// A request checked against a model: the SQL, its values, and the attributes it reads.
///
/// Large because each clause of a statement is a property.
struct FetchPlan {
  /// The entity.
  let entity: EntityLayout
  /// The columns' names and types, in the order of the columns behind `_pk`.
  let attributes: [Attribute]
  /// `SELECT t0._pk, … FROM … WHERE … ORDER BY … LIMIT ? OFFSET ?`; objects that have sub-entities
  /// among them carry the name of theirs in one more column, the last.
  let rowsSQL: String
  /// `SELECT count(*) FROM …` under the same condition and limits.
  let countSQL: String
  /// `SELECT t0._pk FROM …` under the same condition and limits, in any order; of a request for objects.
  let keysSQL: String
  /// `SELECT EXISTS (SELECT 1 FROM …)` under the same condition and limits.
  let existsSQL: String
  /// The values of the `?`, the same for all statements.
  let arguments: [StoredValue]
  /// Whether there is a last column with the name of the entity.
  let namesEntity: Bool
  /// The alias of the entity's table, and everything behind the columns of `rowsSQL`; of a request
  /// for objects.
  var objects = (alias: "", tail: "")
  /// The SQL of the columns' values; of a request for objects.
  var values: [String] = []
  /// What the places of the rows are told by; nil where no row has its place.
  var orderName: [String]?
  /// How many values a place has, the last columns of a row.
  var placeCount = 0
  /// Whether any of them is of a sensitive attribute.
  var hasSensitivePlaces = false
  /// Whether the condition or the order reads a sensitive attribute.
  var revealsSensitive = false
  /// Which of the `arguments` are compared with values of a sensitive attribute.
  var sensitiveArguments: Set<Int> = []

  /// The rows of a request for objects with other columns of the entity's table.
  func objectsSQL(_ names: [String]) -> String {
    let columns = names.map { "\(objects.alias).\(Schema.quoted($0))" }
    return "SELECT \(columns.joined(separator: ", "))\(objects.tail)"
  }

  /// The rows of a request for objects with their versions: `_pk`, `_v`, then the columns.
  var versionsSQL: String {
    let columns = ["\(objects.alias)._pk", "\(objects.alias)._v"] + values
    return "SELECT \(columns.joined(separator: ", "))\(objects.tail)"
  }
}

extension FetchPlan {
  /// Checks and compiles; throws `StoreError.Code.badRequest`.
  init(
    _ request: FetchRequest,
    in layout: ModelLayout,
    readsPlaces: Bool = false
  ) throws(StoreError) {
    self.init(try ResolvedRequest(request, in: layout), in: layout, readsPlaces: readsPlaces)
  }

  /// Compiles what was checked.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - layout: The model.
  ///   - readsPlaces: Whether each row has the values of its place behind everything else.
  ///   - patience: So many rows are looked at, whether they fit or not; then the statement is ended.
  init(
    _ request: ResolvedRequest,
    in layout: ModelLayout,
    readsPlaces: Bool = false,
    patience: Int? = nil
  ) {
    let scope = FetchScope(request.entity, in: layout)
    var compiler = FilterCompiler()
    var conditions: [String] = []
    if let entities = request.entities {
      conditions.append(compiler.condition(entities.map { layout.entities[$0].name }, in: scope))
    }
    if let filter = request.filter { conditions.append(compiler.condition(filter, in: scope)) }
    if let patience {
      conditions.append("dragoman_patience(\(scope.alias(of: []))._pk, \(patience))")
    }
    let revealsSensitive =
      compiler.readsSensitive
      || request.sortKeys.contains { $0.expression.attribute.isSensitive }
    let condition = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    var arguments = compiler.arguments
    var sensitiveArguments = compiler.sensitiveArguments
    let placeKeys = readsPlaces ? request.placeKeys : []
    let hasSlice = request.limit != nil || request.offset > 0
    let slice = hasSlice ? " LIMIT ? OFFSET ?" : ""
    let limits: [StoredValue] =
      hasSlice ? [.integer(Int64(request.limit ?? -1)), .integer(Int64(request.offset))] : []
    // The columns before FROM is read: they may join tables to it.
    var columns = request.columns.map { Self.column($0, &compiler, scope) }
    let values = columns
    let rowsSQL: String
    let source: String
    var tail = ""
    if let table = request.table {
      var rows = TableRows(table, columns, &compiler, scope, condition)
      sensitiveArguments.formUnion(
        rows.compiler.sensitiveArguments.map { $0 + arguments.count }
      )
      arguments += rows.compiler.arguments
      source = rows.source(placeKeys, scope)
      let order = Self.order(request.sortKeys + request.tieBreakers, &rows.compiler, scope)
      rowsSQL =
        "SELECT \(source)" + (order.isEmpty ? "" : " ORDER BY \(order.joined(separator: ", "))")
        + slice
    } else {
      columns.insert("\(scope.alias(of: []))._pk", at: 0)
      if request.entity.hasEntityColumn { columns.append("\(scope.alias(of: []))._entity") }
      columns += placeKeys.map { compiler.expression($0.expression, in: scope) }
      let order = Self.order(request.sortKeys, &compiler, scope) + ["\(scope.alias(of: []))._pk"]
      tail =
        " FROM \(scope.sources)\(condition) ORDER BY \(order.joined(separator: ", "))\(slice)"
      rowsSQL = "SELECT \(columns.joined(separator: ", "))\(tail)"
      source = "1 FROM \(scope.sources)\(condition)"
    }
    let isPlain = request.table == nil && !hasSlice
    self.init(
      entity: request.entity,
      attributes: request.columns.map(\.attribute),
      rowsSQL: rowsSQL,
      countSQL: isPlain
        ? "SELECT count(*)\(source.dropFirst(1))"
        : "SELECT count(*) FROM (SELECT \(source)\(slice))",
      keysSQL: "SELECT \(scope.alias(of: []))._pk\(source.dropFirst(1))\(slice)",
      // A subquery of its own, because EXISTS does not heed a LIMIT of its SELECT.
      existsSQL: "SELECT EXISTS (SELECT 1 FROM (SELECT \(source)\(slice)))",
      arguments: arguments + limits,
      namesEntity: request.table == nil && request.entity.hasEntityColumn,
      objects: (scope.alias(of: []), tail),
      values: request.table == nil ? values : [],
      orderName: readsPlaces ? request.orderName : nil,
      placeCount: placeKeys.count,
      hasSensitivePlaces: placeKeys.contains { $0.expression.attribute.isSensitive },
      revealsSensitive: revealsSensitive,
      sensitiveArguments: sensitiveArguments
    )
  }

  private static func column(
    _ column: ResolvedRequest.Column,
    _ compiler: inout FilterCompiler,
    _ scope: FetchScope
  ) -> String {
    guard let expression = column.expression else { return "count(*)" }
    let value = compiler.expression(expression, in: scope)
    return column.aggregate.map {
      compiler.aggregate($0, of: value, expression.attribute, column.attribute)
    } ?? value
  }

  private static func order(
    _ keys: [ResolvedSortKey],
    _ compiler: inout FilterCompiler,
    _ scope: FetchScope
  ) -> [String] {
    keys.flatMap { key -> [String] in
      let value = compiler.expression(key.expression, in: scope)
      let direction =
        compiler.collation(key.expression.attribute) + (key.isAscending ? "" : " DESC")
      return key.folds.map { fold in
        (fold.isEmpty ? value : "dragoman_fold(\(value), \(fold.rawValue))") + direction
      }
    }
  }
}

/// What a request for a table selects from: its groups, whose columns are called `c0` …, and `g0` … where they are only
/// grouped by.
private struct TableRows {
  /// Compiles what is said of the groups.
  var compiler: FilterCompiler
  private let columns: String
  private let origin: String

  init(
    _ table: ResolvedRequest.Table,
    _ columns: [String],
    _ compiler: inout FilterCompiler,
    _ scope: FetchScope,
    _ condition: String
  ) {
    let groups = table.groups.map { compiler.expression($0, in: scope) }
    let names = columns.indices.map { "c\($0)" } + groups.indices.map { "g\($0)" }
    let named = zip(columns + groups, names).map { "\($0) AS \($1)" }
    var rows = "SELECT \((named.isEmpty ? ["0"] : named).joined(separator: ", "))"
    rows += " FROM \(scope.sources)\(condition)"
    if !groups.isEmpty {
      let numbers = groups.indices.map { "\(columns.count + $0 + 1)" }
      rows += " GROUP BY " + numbers.joined(separator: ", ")
    }
    var own = FilterCompiler(columns: names)
    let having = table.having.map { " WHERE " + own.condition($0, in: scope) } ?? ""
    self.compiler = own
    self.columns =
      (table.isDistinct ? "DISTINCT " : "")
      + (["0"] + names[..<columns.count]).joined(separator: ", ")
    origin = " FROM (\(rows))\(having)"
  }

  /// The statement behind `SELECT`, with the values of the places.
  mutating func source(_ places: [ResolvedSortKey], _ scope: FetchScope) -> String {
    columns + places.map { ", " + compiler.expression($0.expression, in: scope) }.joined() + origin
  }
}
