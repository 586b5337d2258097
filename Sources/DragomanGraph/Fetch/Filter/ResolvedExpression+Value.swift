extension ResolvedExpression {
  /// The value of the expression for an object; of a row, its columns are attributes.
  ///
  /// `outer` are the objects of the subqueries around the expression, the outermost first.
  package func value<Subject: FilterSubject>(
    of subject: Subject,
    in outer: [Subject] = []
  ) throws(StoreError) -> StoredValue {
    switch source {
    case .path(let path): return path.value(of: subject, in: outer)
    case .column(let index): return subject.attribute(index)
    case .aggregate(let aggregate, let path):
      return try aggregate.value(of: path.values(of: subject, in: outer), attribute)
    case .subquery(let subquery):
      return try subquery.aggregate.value(of: subquery.values(of: subject, in: outer), attribute)
    }
  }
}

extension ResolvedSubquery {
  /// What the aggregate is taken of.
  fileprivate func values<Subject: FilterSubject>(
    of subject: Subject,
    in outer: [Subject]
  ) throws(StoreError) -> [StoredValue] {
    let inside = outer + [subject]
    var values: [StoredValue] = []
    for case let object? in path.objects(of: subject, in: outer)
    where try FilterEvaluator.admits(object, condition, in: inside) {
      values += value.values(of: object, in: inside)
    }
    return values
  }
}

extension ResolvedPath {
  /// The single value at the end of a path through to-one relationships; null anywhere is null.
  func value<Subject: FilterSubject>(of subject: Subject, in outer: [Subject]) -> StoredValue {
    var current = start(subject, outer)
    for hop in hops {
      guard let next = current.toOne(hop.slot) else { return .null }
      current = next
    }
    return value(at: current)
  }

  /// The values at the end of a path, null for each object in front of a to-one that has no target.
  func values<Subject: FilterSubject>(of subject: Subject, in outer: [Subject]) -> [StoredValue] {
    objects(of: subject, in: outer).map { $0.map(value(at:)) ?? .null }
  }

  /// The objects behind the hops, nil for each object in front of a to-one that has no target.
  func objects<Subject: FilterSubject>(of subject: Subject, in outer: [Subject]) -> [Subject?] {
    var current: [Subject?] = [start(subject, outer)]
    for hop in hops {
      current =
        hop.link.isToOne
        ? current.map { $0?.toOne(hop.slot) } : current.flatMap { $0?.toMany(hop.slot) ?? [] }
    }
    return current
  }

  private func start<Subject>(_ subject: Subject, _ outer: [Subject]) -> Subject {
    level == 0 ? subject : outer[outer.count - level]
  }

  private func value<Subject: FilterSubject>(at subject: Subject) -> StoredValue {
    switch end {
    case .attribute(let slot): subject.attribute(slot)
    case .object: .integer(subject.objectID.primaryKey)
    case .entityName(let names): .text(names[subject.entityIndex])
    }
  }
}

extension FetchColumn.Aggregate {
  /// The aggregate of values, which are of the type of `attribute` except for counts and means.
  ///
  /// - Throws: `StoreError.Code.badRequest` for a sum of integers beyond 64 bits.
  func value(
    of values: some Sequence<StoredValue>,
    _ attribute: Attribute
  ) throws(StoreError) -> StoredValue {
    switch self {
    case .count: return .integer(values.reduce(0) { $1 == .null ? $0 : $0 + 1 })
    case .min, .max:
      var best = StoredValue.null
      for value in values where value != .null {
        let order = ValueOrder.order(value, best, asDecimals: attribute.type == .decimal)
        if best == .null || (self == .min ? order < 0 : order > 0) { best = value }
      }
      return best
    case .sum, .average:
      // The mean of integers is a double as well as that of doubles: the first value tells.
      var total: ValueSum?
      for value in values where value != .null {
        if total == nil { total = ValueSum(Self.kind(of: value)) }
        total?.add(value)
      }
      guard let total else { return self == .sum ? Self.zero(of: attribute) : .null }
      if self == .average { return total.average }
      do {
        return Self.padded(try total.sum(), attribute)
      } catch {
        throw StoreError.stopped(error.message)
      }
    }
  }

  private static func kind(of value: StoredValue) -> ValueSum.Kind {
    switch value {
    case .integer: .integer
    case .text: .decimal
    default: .real
    }
  }

  private static func zero(of attribute: Attribute) -> StoredValue {
    switch attribute.type {
    case .decimal: padded(.text("0"), attribute)
    case .double, .float: .real(0)
    default: .integer(0)
    }
  }

  private static func padded(_ value: StoredValue, _ attribute: Attribute) -> StoredValue {
    guard case .text(let text) = value else { return value }
    return .text(DecimalText.padded(text, scale: attribute.rules.scale ?? 0))
  }
}
