extension SQLiteStore {
  /// What the values of an attribute are like.
  ///
  ///     let profile = try store.profile(of: "salary", in: "Person")
  ///     print(profile.nullCount, profile.distinctCount, profile.histogram.map(\.count))
  ///
  /// Reads the objects about four times: `SELECT count(*), count(a), min(a), max(a)`, `SELECT count(*) FROM
  /// (SELECT DISTINCT a)`, `SELECT a, count(*) … GROUP BY a`, and for the histogram a count by range. An
  /// index on the attribute spares reading the table.
  ///
  /// - Parameters:
  ///   - attribute: The attribute's name, or a path through to-one relationships to one.
  ///   - entity: The entity's name; objects of its sub-entities count, too.
  ///   - filter: Which objects; nil: all.
  /// - Returns: The profile of one moment each: what is written meanwhile may be in one number and not in
  ///   another.
  /// - Throws: `StoreError`, `.badRequest` for a name or filter that does not fit the model.
  public func profile(
    of attribute: String,
    in entity: String,
    filter: Filter? = nil
  ) throws(StoreError) -> AttributeProfile {
    let request = FetchRequest(entity, filter: filter, columns: [FetchColumn(attribute)])
    guard let known = try attributes(of: request).first else {
      throw StoreError(.badRequest, "\(entity).\(attribute) is no attribute.", path: path)
    }
    let bounds = try row(
      of: FetchRequest(
        entity,
        filter: filter,
        columns: [.count("", as: "objects"), .count(attribute, as: "values")]
          + (known.type.isOrdered
            ? [.min(attribute, as: "smallest"), .max(attribute, as: "largest")] : [])
      )
    )
    let objectCount = Int(bounds["objects"]?.integer ?? 0)
    let valueCount = Int(bounds["values"]?.integer ?? 0)
    let distinct = try count(request.with { $0.isDistinct = true })
    let smallest = bounds["smallest"].flatMap { $0.isNull ? nil : $0 }
    let largest = bounds["largest"].flatMap { $0.isNull ? nil : $0 }
    return AttributeProfile(
      attribute: known,
      objectCount: objectCount,
      nullCount: objectCount - valueCount,
      distinctCount: valueCount < objectCount ? max(0, distinct - 1) : distinct,
      smallest: smallest,
      largest: largest,
      frequentValues: try frequencies(of: attribute, in: entity, filter, amongst: valueCount),
      histogram: smallest == largest ? [] : try histogram(of: known, request)
    )
  }

  private func row(of request: FetchRequest) throws(StoreError) -> [String: StoredValue] {
    try dictionaries(request).first ?? [:]
  }

  private func frequencies(
    of attribute: String,
    in entity: String,
    _ filter: Filter?,
    amongst valueCount: Int
  ) throws(StoreError) -> [AttributeProfile.Frequency] {
    guard valueCount > 1 else { return [] }
    var request = FetchRequest(
      entity,
      filter: filter,
      sortKeys: [SortKey("objects", ascending: false), SortKey("value")],
      // One more, since null may be among them.
      limit: 11,
      columns: [FetchColumn(attribute, as: "value"), .count("", as: "objects")],
      groupBy: [attribute]
    )
    request.having = .comparison(
      Filter.Comparison(.name("objects"), .greaterThan, 1)
    )
    return try dictionaries(request).compactMap { row -> AttributeProfile.Frequency? in
      guard let value = row["value"], !value.isNull, let count = row["objects"]?.integer else {
        return nil
      }
      return AttributeProfile.Frequency(value: value, count: Int(count))
    }.prefix(10).map { $0 }
  }

  /// Counts by ranges of one width, in SQL.
  private func histogram(
    of attribute: Attribute,
    _ request: FetchRequest
  ) throws(StoreError) -> [AttributeProfile.Bar] {
    guard let scale = HistogramScale(attribute.type) else { return [] }
    let plan = try FetchPlan(request, in: layout)
    let numbers =
      "SELECT \(scale.number(of: plan.values[0])) AS n\(plan.objects.tail)"
    return try read { database in
      var bounds: (lower: Double, upper: Double)?
      try FetchStatement.run(
        "SELECT min(n), max(n) FROM (\(numbers)) WHERE abs(n) < 1e300",
        plan.arguments,
        database
      ) { row in
        if let lower = row.number(0), let upper = row.number(1) { bounds = (lower, upper) }
        return false
      }
      guard let bounds, bounds.lower < bounds.upper else { return [] }
      let bins = scale.bins(from: bounds.lower, to: bounds.upper)
      var counts = [Int](repeating: 0, count: bins.count)
      try FetchStatement.run(
        """
        SELECT max(0, min(CAST((n - ?) / ? AS INTEGER), ?)) AS bin, count(*) FROM (\(numbers)) \
        WHERE abs(n) < 1e300 GROUP BY bin
        """,
        [.real(bins.lower), .real(bins.width), .integer(Int64(bins.count - 1))] + plan.arguments,
        database
      ) { row in
        let bin = Int(row.integer(0))
        if counts.indices.contains(bin) { counts[bin] += Int(row.integer(1)) }
        return true
      }
      let edges = try (0...bins.count).map { place in
        try scale.value(
          of: place == bins.count ? bins.upper : bins.lower + Double(place) * bins.width,
          database
        )
      }
      return counts.indices.map {
        AttributeProfile.Bar(lower: edges[$0], upper: edges[$0 + 1], count: counts[$0])
      }
    }
  }
}
