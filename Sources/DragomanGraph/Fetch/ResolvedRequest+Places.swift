extension ResolvedRequest {
  /// What tells the places of a request's order from those of another: the entity, the sort keys, and
  /// the names of what breaks ties among the rows of a table.
  static func orderName(_ request: FetchRequest, isTable: Bool) -> [String] {
    var name = [request.entity] + request.sortKeys.map(\.text)
    if isTable {
      // A tie breaker is no sort key, and no sort key has a name that begins so.
      name += (request.isDistinct ? request.columns?.map(\.name) ?? [] : request.groupBy)
        .map { "=" + $0 }
    }
    return name
  }

  /// The sort keys and what breaks ties behind them, except for the key of an object.
  var placeKeys: [ResolvedSortKey] { sortKeys + tieBreakers }

  /// Takes the rows behind a place only.
  ///
  /// - Throws: `StoreError.Code.badRequest` for a place in another order.
  mutating func begin(after cursor: FetchCursor) throws(StoreError) {
    guard cursor.order.map({ Array($0.utf8) }) == orderName.map({ Array($0.utf8) }),
      cursor.values.count == placeKeys.count
    else {
      let wanted = orderName.dropFirst().filter { !$0.hasPrefix("=") }
      throw StoreError(
        .badRequest,
        "The place is one in another order than that of this fetch of \(entity.name)"
          + (wanted.isEmpty ? "." : " by \(wanted.joined(separator: ","))."),
        help: "ask for the same entity, sort keys and groups as the page before"
      )
    }
    var parts: [StoredValue] = []
    for (key, value) in zip(placeKeys, cursor.values) {
      for fold in key.folds {
        if !fold.isEmpty, case .text(let text) = value {
          parts.append(.text(TextFold.fold(text, fold)))
        } else {
          parts.append(value)
        }
      }
    }
    let filter = filter(
      beyond: parts,
      placeKeys,
      key: table == nil ? cursor.key : nil,
      isReversed: false
    )
    if table == nil { narrow(filter) } else { table?.narrow(filter) }
  }

  /// The request behind a place in parts, each of which one range of an index holds: downwards nulls come last,
  /// and no range has them beside the values that are left.
  ///
  /// - Parameter cursor: The place where the request begins; nil: at its first row.
  /// - Returns: The parts in their order; the request itself where it has but one.
  func parts(after cursor: FetchCursor?) -> [ResolvedRequest] {
    guard table == nil, offset == 0, let key = sortKeys.first, !key.isAscending,
      key.folds.first?.isEmpty == true, let value = cursor?.values.first, value != .null
    else { return [self] }
    let tests: [ResolvedComparison.Test] = [.compares(.lessThanOrEqualTo, value), .isNull]
    return tests.map { test in
      var part = self
      part.narrow(comparison(key.expression, [], test))
      return part
    }
  }

  /// The rows that come behind a place, or in front of it: `a > ? OR (a IS ? AND (b > ? OR …))`.
  ///
  /// Nulls come first ascending and last descending, as in the order itself.
  ///
  /// - Parameters:
  ///   - values: What the sort keys compare there: a value a key and fold.
  ///   - keys: The sort keys.
  ///   - key: The primary key that breaks ties; nil: there are none.
  ///   - isReversed: Whether the rows in front of it are meant.
  /// - Returns: The condition.
  func filter(
    beyond values: [StoredValue],
    _ keys: [ResolvedSortKey],
    key: Int64?,
    isReversed: Bool
  ) -> ResolvedFilter {
    var filter =
      key.map {
        comparison(identity, [], .compares(isReversed ? .lessThan : .greaterThan, .integer($0)))
      } ?? .constant(false)
    var place = values.count
    for key in keys.reversed() {
      for fold in key.folds.reversed() {
        place -= 1
        let value = values[place]
        let isUpward = key.isAscending != isReversed
        let beyond: ResolvedFilter =
          switch (value, isUpward) {
          case (.null, true): comparison(key.expression, fold, .isPresent)
          case (.null, false): .constant(false)
          case (_, true): comparison(key.expression, fold, .compares(.greaterThan, value))
          case (_, false):
            .or([
              comparison(key.expression, fold, .compares(.lessThan, value)),
              comparison(key.expression, fold, .isNull),
            ])
          }
        // BETWEEN compares by the type's order, == by bytes: of decimals these may differ.
        let same = comparison(
          key.expression,
          fold,
          value == .null ? .isNull : .between(value, value)
        )
        filter = .or([beyond, .and([same, filter])])
      }
    }
    // Says nothing new, but an index finds the first of the rows by it.
    guard let first = keys.first, let fold = first.folds.first, let value = values.first,
      value != .null, first.isAscending != isReversed
    else { return filter }
    return .and([
      comparison(first.expression, fold, .compares(.greaterThanOrEqualTo, value)), filter,
    ])
  }

  /// A condition on a value.
  func comparison(
    _ left: ResolvedExpression,
    _ options: Filter.Comparison.Options,
    _ test: ResolvedComparison.Test
  ) -> ResolvedFilter {
    .comparison(ResolvedComparison(quantifier: .one, left: left, options: options, test: test))
  }

  /// Adds a condition, in front of what there is: of two bounds on one side of a range SQLite reads from the first.
  mutating func narrow(_ condition: ResolvedFilter) {
    filter = filter.map { .and([condition, $0]) } ?? condition
  }

  /// The object itself, whose key breaks ties.
  var identity: ResolvedExpression {
    ResolvedExpression(
      source: .path(ResolvedPath(hops: [], entity: entity, end: .object)),
      attribute: Attribute(name: "SELF", type: .int64),
      object: nil
    )
  }
}

extension ResolvedRequest.Table {
  /// Adds a condition on the rows.
  fileprivate mutating func narrow(_ condition: ResolvedFilter) {
    having = having.map { .and([$0, condition]) } ?? condition
  }
}
