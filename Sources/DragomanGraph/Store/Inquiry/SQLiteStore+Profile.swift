extension SQLiteStore {
  /// What the values of an attribute are like.
  ///
  ///     let profile = try store.profile(of: "salary", in: "Person")
  ///     print(profile.nullCount, profile.distinctCount, profile.histogram.map(\.count))
  ///
  /// Reads the objects once, `SELECT a, count(*) … GROUP BY a`, and for a histogram once more. An index on the
  /// attribute spares sorting them; without one SQLite sorts in a temporary file where they are many.
  ///
  /// - Parameters:
  ///   - attribute: The attribute's name, or a path through to-one relationships to one.
  ///   - entity: The entity's name; objects of its sub-entities count, too.
  ///   - filter: Which objects; nil: all.
  ///   - shouldStop: Asked every few thousand of SQLite's steps; true ends the work with an error.
  /// - Returns: The profile of one moment.
  /// - Throws: `StoreError`, `.badRequest` for a name or filter that does not fit the model, `.refused` where it
  ///   was asked to stop.
  public func profile(
    of attribute: String,
    in entity: String,
    filter: Filter? = nil,
    stoppingWhen shouldStop: @escaping () -> Bool = { false }
  ) throws(StoreError) -> AttributeProfile {
    let request = FetchRequest(entity, filter: filter, columns: [FetchColumn(attribute)])
    let plan = try FetchPlan(request, in: layout)
    guard let known = plan.attributes.first, plan.values.count == 1 else {
      throw StoreError(.badRequest, "\(entity).\(attribute) is no attribute.", path: path)
    }
    return try read { database in
      try database.interruptible(when: shouldStop) {
        let reader = ProfileReader(known, plan, database)
        let summary = try reader.summary()
        return AttributeProfile(
          attribute: known,
          objectCount: summary.objectCount,
          nullCount: summary.nullCount,
          distinctCount: summary.distinctCount,
          smallest: summary.smallest,
          largest: summary.largest,
          frequentValues: summary.frequentValues,
          histogram: try reader.histogram(of: summary)
        )
      }
    }
  }
}
