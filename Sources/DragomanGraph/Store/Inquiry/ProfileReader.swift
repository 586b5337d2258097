import GRDB

/// Reads what a profile consists of.
struct ProfileReader {
  /// Everything but the histogram.
  struct Summary {
    var objectCount = 0
    var nullCount = 0
    var distinctCount = 0
    var smallest: StoredValue?
    var largest: StoredValue?
    var frequentValues: [AttributeProfile.Frequency] = []
    /// The least and the greatest number that a histogram shows.
    var bounds: (lower: Double, upper: Double)?
  }

  private static let frequentCount = 10

  private let attribute: Attribute
  private let plan: FetchPlan
  private let database: Database
  private let scale: HistogramScale?

  /// - Parameters:
  ///   - attribute: The attribute.
  ///   - plan: A request of it alone, and of all objects in question.
  ///   - database: The connection.
  init(_ attribute: Attribute, _ plan: FetchPlan, _ database: Database) {
    self.attribute = attribute
    self.plan = plan
    self.database = database
    scale = HistogramScale(attribute.type)
  }

  /// Reads the objects once: each value with its number is kept in a temporary table of SQLite's own, which the
  /// counts are made of.
  func summary() throws -> Summary {
    let order = attribute.type == .decimal ? " COLLATE \(FetchFunctions.decimalCollation)" : ""
    let bounds = attribute.type.isOrdered ? "min(v\(order)), max(v\(order))" : "NULL, NULL"
    let number = scale.map { $0.number(of: "v") }
    let range = number.map { "min(\($0)), max(\($0))" } ?? "NULL, NULL"
    var summary = Summary()
    try FetchStatement.run(
      """
      WITH g(v, n) AS MATERIALIZED
        (SELECT v, count(*) FROM (SELECT \(plan.values[0]) AS v\(plan.objects.tail)) GROUP BY v)
      SELECT NULL, coalesce(sum(n), 0), coalesce(sum(n) FILTER (WHERE v IS NULL), 0), count(v), \(bounds), \(range)
        FROM g
      UNION ALL
      SELECT * FROM (SELECT v, n, NULL, NULL, NULL, NULL, NULL, NULL FROM g WHERE v IS NOT NULL AND n > 1
        ORDER BY n DESC, v\(order) LIMIT \(Self.frequentCount))
      """,
      plan.arguments,
      database
    ) { row in
      let value = row.stored(0)
      guard value.isNull else {
        summary.frequentValues.append(
          AttributeProfile.Frequency(value: value, count: Int(row.integer(1)))
        )
        return true
      }
      summary.objectCount = Int(row.integer(1))
      summary.nullCount = Int(row.integer(2))
      summary.distinctCount = Int(row.integer(3))
      let (smallest, largest) = (row.stored(4), row.stored(5))
      summary.smallest = smallest.isNull ? nil : smallest
      summary.largest = largest.isNull ? nil : largest
      if let lower = row.number(6), let upper = row.number(7) { summary.bounds = (lower, upper) }
      return true
    }
    return summary
  }

  /// Counts by ranges of one width, reading the objects once more; empty where all values are one.
  func histogram(of summary: Summary) throws -> [AttributeProfile.Bar] {
    guard let scale, let bounds = summary.bounds, bounds.lower < bounds.upper else { return [] }
    let bins = scale.bins(from: bounds.lower, to: bounds.upper)
    var counts = [Int](repeating: 0, count: bins.count)
    try FetchStatement.run(
      """
      SELECT max(0, min(CAST((n * ? - ? + ?) / ? AS INTEGER), ?)) AS bin, count(*)
        FROM (SELECT \(scale.number(of: "v")) AS n FROM (SELECT \(plan.values[0]) AS v\(plan.objects.tail)))
        WHERE n IS NOT NULL GROUP BY bin
      """,
      [
        .real(bins.factor), .real(bins.lower), .real(bins.slack), .real(bins.width),
        .integer(Int64(bins.count - 1)),
      ] + plan.arguments,
      database
    ) { row in
      let bin = Int(row.integer(0))
      if counts.indices.contains(bin) { counts[bin] += Int(row.integer(1)) }
      return true
    }
    // From end to end: where values lie, not where ranges of one width would end.
    let inner = try (1..<bins.count).map { try scale.value(at: $0, of: bins, database) }
    let edges = [summary.smallest ?? .null] + inner + [summary.largest ?? .null]
    return counts.indices.map {
      AttributeProfile.Bar(lower: edges[$0], upper: edges[$0 + 1], count: counts[$0])
    }
  }
}
