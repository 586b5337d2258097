/// Which rows of a request for results are to be read.
enum ResultPart {
  /// All, up to the limit.
  case all
  /// Those of these keys that belong to the results, limit or no limit.
  case keys([Int64])
  /// The first so many of all.
  case first(limit: Int)
  /// The first so many behind a place in the order.
  case after(ResultRow, limit: Int)
  /// The last so many in front of a place in the order, in reverse.
  case before(ResultRow, limit: Int)
  /// The last so many of all, in reverse.
  case last(limit: Int)
}

/// A request for results that are followed, held against a model.
struct ResultQuery {
  /// The request.
  let request: FetchRequest
  /// The sort key whose values make sections; nil: there are none.
  let sectionKey: String?
  /// The request with a column for each sort key.
  let resolved: ResolvedRequest
  let layout: ModelLayout
  /// The order of rows.
  let order: ResultOrder
  /// The names of the root entities whose objects the filter, the order and followed columns go
  /// through.
  let relatedEntities: Set<String>
  /// The names of relationships of the objects whose links are in columns of others: they change without the row.
  let foreignLinks: Set<String>

  /// Checks a request.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - sectionKey: The sort key whose values make sections; nil: there are none.
  ///   - layout: The model.
  ///   - followsColumns: Whether a row is another one where a column has another value that is not
  ///     its own: one of an object that it is linked to, which leaves its version alone.
  /// - Throws: `StoreError.Code.badRequest` for a request that is not for objects, one with an
  ///   offset, a section key that is not the first sort key, and whatever a fetch of it throws.
  init(
    _ request: FetchRequest,
    sectionedBy sectionKey: String?,
    in layout: ModelLayout,
    followsColumns: Bool = false
  ) throws(StoreError) {
    try Self.check(request, sectionKey)
    var hops: [ResolvedPath.Hop] = []
    var wanted = request
    wanted.columns = request.sortKeys.enumerated().map { FetchColumn($1.name, as: "k\($0)") }
    if followsColumns, let columns = request.columns {
      let found = try ResolvedRequest(request, in: layout).columns
      for (index, column) in columns.enumerated() {
        let before = hops.count
        found[index].expression?.collectHops(into: &hops)
        if hops.count > before { wanted.columns?.append(FetchColumn(column.path, as: "c\(index)")) }
      }
    }
    self.request = request
    self.sectionKey = sectionKey
    self.layout = layout
    resolved = try ResolvedRequest(wanted, in: layout)
    order = ResultOrder(resolved.sortKeys, isSectioned: sectionKey != nil)
    resolved.filter?.collectHops(into: &hops)
    for key in resolved.sortKeys { key.expression.collectHops(into: &hops) }
    relatedEntities = Set(hops.map { layout.entities[$0.link.destination].rootName })
    let family = layout.entities[resolved.entity.root].family.map { layout.entities[$0] }
    foreignLinks = Set(family.flatMap(\.relationships).filter(\.isInColumnOfOthers).map(\.name))
  }

  private static func check(
    _ request: FetchRequest,
    _ sectionKey: String?
  ) throws(StoreError) {
    guard request.groupBy.isEmpty, request.having == nil, !request.isDistinct,
      request.columns?.contains(where: { $0.aggregate != nil }) != true
    else {
      throw StoreError(
        .badRequest,
        "Results that are followed are objects, not groups, aggregates or distinct values.",
        help: "follow the objects, and fetch the table again when they change"
      )
    }
    guard request.offset == 0, request.after == nil else {
      throw StoreError(
        .badRequest,
        "Results that are followed begin with the first object: they have no offset.",
        help: "use a limit, or pages"
      )
    }
    guard let sectionKey else { return }
    guard let first = request.sortKeys.first, first.name.utf8.elementsEqual(sectionKey.utf8) else {
      let known = request.sortKeys.first.map { "it is \($0.name)" } ?? "there is none"
      throw StoreError(
        .badRequest,
        "The section key \(sectionKey) is not the first sort key (\(known)): the rows of a section"
          + " would not stand together.",
        help: "sort by \(sectionKey) first"
      )
    }
  }

  /// The name that ids of the results carry.
  var entityName: String { resolved.entity.rootName }

  /// The request for a part of the rows.
  func resolved(_ part: ResultPart) -> ResolvedRequest {
    var narrowed = resolved
    switch part {
    case .all: break
    case .first(let limit): narrowed.limit = limit
    case .keys(let keys):
      narrowed.limit = nil
      narrowed.narrow(toKeys: keys)
    case .after(let row, let limit):
      narrowed.limit = limit
      narrowed.narrow(filter(beyond: row, isReversed: false))
    case .before(let row, let limit):
      narrowed.limit = limit
      narrowed.narrow(filter(beyond: row, isReversed: true))
      reverse(&narrowed)
    case .last(let limit):
      narrowed.limit = limit
      reverse(&narrowed)
    }
    return narrowed
  }

  private func reverse(_ request: inout ResolvedRequest) {
    request.sortKeys = request.sortKeys.map { key in
      ResolvedSortKey(
        expression: key.expression,
        isAscending: !key.isAscending,
        folds: key.folds
      )
    }
    request.sortKeys.append(
      ResolvedSortKey(expression: request.identity, isAscending: false, folds: [[]])
    )
  }

  private func filter(beyond row: ResultRow, isReversed: Bool) -> ResolvedFilter {
    resolved.filter(
      beyond: Array(row.values[..<order.parts.count]),
      resolved.sortKeys,
      key: row.key,
      isReversed: isReversed
    )
  }
}

extension RelationshipLayout {
  fileprivate var isInColumnOfOthers: Bool {
    if case .inverseColumn = storage { true } else { false }
  }
}

extension ResolvedRequest {
  /// Keeps the objects of these primary keys only.
  mutating func narrow(toKeys keys: [Int64]) {
    narrow(
      .comparison(
        ResolvedComparison(
          quantifier: .one,
          left: identity,
          options: [],
          test: .isOne(of: ValueList(keys.map(StoredValue.integer)), orNull: false)
        )
      )
    )
  }
}

extension ResolvedFilter {
  fileprivate func collectHops(into hops: inout [ResolvedPath.Hop]) {
    switch self {
    case .constant: break
    case .and(let parts), .or(let parts):
      for part in parts { part.collectHops(into: &hops) }
    case .not(let part): part.collectHops(into: &hops)
    case .comparison(let comparison):
      comparison.left.collectHops(into: &hops)
      if case .relates(_, let right) = comparison.test { right.collectHops(into: &hops) }
    }
  }
}

extension ResolvedExpression {
  fileprivate func collectHops(into hops: inout [ResolvedPath.Hop]) {
    switch source {
    case .path(let path), .aggregate(_, let path): hops += path.hops
    case .subquery(let subquery):
      hops += subquery.path.hops + subquery.value.hops
      subquery.condition.collectHops(into: &hops)
    case .column: break
    }
  }
}
