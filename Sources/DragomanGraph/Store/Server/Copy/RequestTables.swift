/// The tables that a request is about: those of its entity, and of everything that its paths lead through.
struct RequestTables {
  /// The tables of objects, by their numbers.
  private(set) var objects: Set<Int> = []
  /// The tables of links, by their names.
  private(set) var links: Set<String> = []
  private let layout: ModelLayout

  /// All tables of a model.
  init(all layout: ModelLayout) {
    self.layout = layout
    objects = Set(layout.tables.indices)
    for link in layout.links { add(link) }
  }

  /// Some tables, by their names.
  init(named names: Set<String>, of layout: ModelLayout) {
    self.init(all: layout)
    objects = objects.filter { names.contains(layout.tables[$0].name) }
    links.formIntersection(names)
  }

  /// No tables.
  init(noneOf layout: ModelLayout) { self.layout = layout }

  init(_ request: ResolvedRequest, in layout: ModelLayout) {
    self.layout = layout
    objects.insert(request.entity.tableIndex)
    if let filter = request.filter { add(filter) }
    for column in request.columns { if let expression = column.expression { add(expression) } }
    for key in request.sortKeys { add(key.expression) }
    for group in request.table?.groups ?? [] { add(group) }
    if let having = request.table?.having { add(having) }
  }

  private mutating func add(_ filter: ResolvedFilter) {
    switch filter {
    case .constant: break
    case .and(let parts), .or(let parts): for part in parts { add(part) }
    case .not(let part): add(part)
    case .comparison(let comparison):
      add(comparison.left)
      if case .relates(_, let right) = comparison.test { add(right) }
    }
  }

  private mutating func add(_ expression: ResolvedExpression) {
    switch expression.source {
    case .column: break
    case .path(let path), .aggregate(_, let path): add(path)
    case .subquery(let subquery):
      add(subquery.path)
      add(subquery.condition)
      add(subquery.value)
    }
  }

  private mutating func add(_ path: ResolvedPath) {
    objects.insert(path.entity.tableIndex)
    for hop in path.hops { add(hop.link) }
  }

  private mutating func add(_ link: RelationshipLayout) {
    objects.insert(layout.entities[link.owner].tableIndex)
    objects.insert(layout.entities[link.destination].tableIndex)
    if case .joinTable(let join, _) = link.storage { links.insert(join.name) }
  }
}
