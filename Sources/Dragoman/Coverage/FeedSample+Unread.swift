extension FeedSample {
  /// The places of a sample that sources of a map do not read; no sources: all of them.
  func unread(by map: ImportMap, _ sources: [String]) throws -> [FeedCoverage.UnreadPlace] {
    let plan = try ImportPlan(map, format: format, names: sources, model: map.model())
    return UnreadPlaces(ReadPlaces(plan, self), self, beside: map.sources).all
  }
}

extension FeedCoverage.UnreadPlace {
  /// The place with the entity of its record.
  var shown: String { entity.map { "\($0).\(path)" } ?? path }
}
