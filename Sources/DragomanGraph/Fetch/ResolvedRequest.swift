/// A fetch request held against a model: what SQL and memory carry out.
package struct ResolvedRequest {
  /// A column of the answer.
  package struct Column {
    /// The name and the type.
    package let attribute: Attribute
    /// The aggregate, if it is one.
    package let aggregate: FetchColumn.Aggregate?
    /// The value (of which the aggregate is taken); nil for the count of objects.
    package let expression: ResolvedExpression?
  }

  /// What makes the answer a table and not a list of objects.
  package struct Table {
    /// What equal values of make one row; empty: everything is one row, if there are aggregates.
    package let groups: [ResolvedExpression]
    /// Whether there are groups or aggregates.
    package let isGrouped: Bool
    /// The condition on the rows; its columns are those of the answer, then the groups.
    package internal(set) var having: ResolvedFilter?
    /// Whether equal rows come once.
    package let isDistinct: Bool
  }

  /// The entity.
  package let entity: EntityLayout
  /// The entities (indexes) whose objects are wanted; nil is all in the table.
  package internal(set) var entities: [Int]?
  /// The condition.
  package internal(set) var filter: ResolvedFilter?
  /// The order; of a table, by its columns and groups.
  package internal(set) var sortKeys: [ResolvedSortKey]
  /// The columns.
  package internal(set) var columns: [Column]
  /// What makes it a table; nil: it is a list of objects.
  package internal(set) var table: Table?
  /// What its places (`FetchCursor`) are told by.
  let orderName: [String]
  /// How many at most.
  package internal(set) var limit: Int?
  /// How many to leave out.
  package internal(set) var offset: Int

  /// Checks a request.
  ///
  /// - Throws: `StoreError.Code.badRequest` for a name, literal or combination that does not fit.
  package init(_ request: FetchRequest, in layout: ModelLayout) throws(StoreError) {
    let entity = try layout.requireEntity(request.entity)
    guard request.limit ?? 0 >= 0, request.offset >= 0 else {
      throw StoreError(.badRequest, "The limit and the offset of a fetch cannot be negative.")
    }
    let paths = PathResolver(layout: layout, ground: .entity(entity))
    self.entity = entity
    entities = Self.entities(request, entity)
    limit = request.limit
    offset = request.offset
    var filters = FilterResolver(paths)
    filter = try request.filter.map { (filter) throws(StoreError) in try filters.resolve(filter) }
    columns = try Self.columns(request, entity, paths)
    let table = try Self.table(request, columns, paths)
    orderName = Self.orderName(request, isTable: table != nil)
    guard let table else {
      self.table = nil
      sortKeys = try Self.sortKeys(request, paths)
      if let cursor = request.after { try begin(after: cursor) }
      return
    }
    let names = Self.names(request, columns, table)
    sortKeys = try Self.sortKeys(
      request,
      PathResolver(layout: layout, ground: .columns(names.sort))
    )
    var rows = FilterResolver(PathResolver(layout: layout, ground: .columns(names.having)))
    self.table = Table(
      groups: table.groups,
      isGrouped: table.isGrouped,
      having: try request.having.map { (having) throws(StoreError) in try rows.resolve(having) },
      isDistinct: table.isDistinct
    )
    if let cursor = request.after { try begin(after: cursor) }
  }

  private static func entities(_ request: FetchRequest, _ entity: EntityLayout) -> [Int]? {
    guard entity.hasEntityColumn else { return nil }
    guard request.includesSubentities else { return [entity.index] }
    return entity.index == entity.root ? nil : entity.family
  }

  private static func columns(
    _ request: FetchRequest,
    _ entity: EntityLayout,
    _ paths: PathResolver
  ) throws(StoreError) -> [Column] {
    guard let wanted = request.columns else {
      guard !request.isDistinct, request.groupBy.isEmpty else {
        throw StoreError(
          .badRequest,
          "A fetch with \(request.isDistinct ? "isDistinct" : "groupBy") wants columns."
        )
      }
      return try entity.attributes.map { (attribute) throws(StoreError) in
        Column(
          attribute: attribute,
          aggregate: nil,
          expression: try paths.expression(FilterPath(steps: [attribute.name]))
        )
      }
    }
    var columns: [Column] = []
    for column in wanted {
      guard !columns.contains(where: { $0.attribute.name == column.name }) else {
        throw StoreError(.badRequest, "The column \"\(column.name)\" is named twice.")
      }
      columns.append(try Self.column(column, paths))
    }
    return columns
  }

  private static func column(
    _ column: FetchColumn,
    _ paths: PathResolver
  ) throws(StoreError) -> Column {
    if column.aggregate == .count, column.path.isEmpty {
      return Column(
        attribute: Attribute(name: column.name, type: .int64),
        aggregate: .count,
        expression: nil
      )
    }
    let expression = try single(column.path, paths)
    var attribute = expression.attribute
    if let aggregate = column.aggregate {
      guard expression.object == nil || aggregate == .count else {
        throw StoreError(
          .badRequest,
          "\(aggregate.rawValue) wants an attribute; \(column.path) is an object."
        )
      }
      attribute = try aggregate.attribute(of: attribute, named: column.name)
    }
    attribute.name = column.name
    return Column(attribute: attribute, aggregate: column.aggregate, expression: expression)
  }

  /// The expression of a path that leads to one value.
  private static func single(
    _ path: String,
    _ paths: PathResolver
  ) throws(StoreError) -> ResolvedExpression {
    let expression = try paths.expression(path)
    guard !expression.isMany else {
      throw StoreError(
        .badRequest,
        "\(path) leads to many values where a column, group or sort key wants one.",
        help: "take its @count, or an aggregate of it"
      )
    }
    return expression
  }

  private static func table(
    _ request: FetchRequest,
    _ columns: [Column],
    _ paths: PathResolver
  ) throws(StoreError) -> Table? {
    let isGrouped = !request.groupBy.isEmpty || columns.contains { $0.aggregate != nil }
    guard isGrouped || request.isDistinct else {
      guard request.having == nil else {
        throw StoreError(
          .badRequest,
          "A fetch with having wants groupBy, an aggregate or isDistinct."
        )
      }
      return nil
    }
    var groups: [ResolvedExpression] = []
    for name in request.groupBy { groups.append(try single(name, paths)) }
    if isGrouped {
      for (column, wanted) in zip(columns, request.columns ?? []) where column.aggregate == nil {
        guard request.groupBy.contains(where: { $0.utf8.elementsEqual(wanted.path.utf8) }) else {
          throw StoreError(
            .badRequest,
            "The column \"\(wanted.path)\" has no single value in a group.",
            help: "name it in groupBy, or take an aggregate of it"
          )
        }
      }
    }
    return Table(groups: groups, isGrouped: isGrouped, having: nil, isDistinct: request.isDistinct)
  }

  private typealias Names = [(name: String, expression: ResolvedExpression)]

  /// What `having` and the sort keys of a table may name.
  ///
  /// Equal rows that come once have no values but those of their columns to be sorted by.
  private static func names(
    _ request: FetchRequest,
    _ columns: [Column],
    _ table: Table
  ) -> (having: Names, sort: Names) {
    var names: Names = []
    for (index, column) in columns.enumerated() {
      // The number of objects is none of them.
      let object = column.aggregate == nil ? column.expression?.object : nil
      names.append((column.attribute.name, Self.column(index, column.attribute, object)))
    }
    for (index, wanted) in (request.columns ?? []).enumerated() where wanted.aggregate == nil {
      names.append((wanted.path, names[index].expression))
    }
    let visible = names
    for (index, group) in table.groups.enumerated() {
      let expression = Self.column(columns.count + index, group.attribute, group.object)
      names.append((request.groupBy[index], expression))
    }
    return (names, table.isDistinct ? visible : names)
  }

  private static func column(
    _ index: Int,
    _ attribute: Attribute,
    _ object: Int?
  ) -> ResolvedExpression {
    ResolvedExpression(source: .column(index), attribute: attribute, object: object)
  }

  private static func sortKeys(
    _ request: FetchRequest,
    _ paths: PathResolver
  ) throws(StoreError) -> [ResolvedSortKey] {
    var keys: [ResolvedSortKey] = []
    for key in request.sortKeys {
      let expression = try single(key.name, paths)
      if let object = expression.object {
        throw StoreError(
          .badRequest,
          "\(key.name) is a relationship, which has no order.",
          help: paths.layout.entities[object].attributes.first.map {
            "sort by an attribute of it: \(key.name).\($0.name)"
          }
        )
      }
      guard key.options.isEmpty || expression.attribute.type.isTextual else {
        throw StoreError(
          .badRequest,
          "The options of the sort key \(key.text) want a text attribute; \(key.name) is "
            + "\(expression.attribute.type.withArticle)."
        )
      }
      keys.append(
        ResolvedSortKey(expression: expression, isAscending: key.isAscending, folds: key.folds)
      )
    }
    return keys
  }

  /// The keys that break the ties of a table's rows: what tells them apart, ascending.
  var tieBreakers: [ResolvedSortKey] {
    guard let table else { return [] }
    let expressions =
      table.isDistinct
      ? columns.enumerated().map { Self.column($0, $1.attribute, nil) }
      : table.groups.enumerated().map { Self.column(columns.count + $0, $1.attribute, nil) }
    return expressions.map { ResolvedSortKey(expression: $0, isAscending: true, folds: [[]]) }
  }
}
