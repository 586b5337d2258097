/// The mappers of all entities of a plan; they belong to the reading thread.
final class MapperSet {
  let plan: ImportPlan
  private(set) var mappers: [RecordMapper] = []
  /// What the patterns of all mappers have had to do.
  let patterns = PatternEffort()
  /// What the walks over records that nested records are being mapped for have found.
  @exclusivity(unchecked) var found: [PathWalker.Found] = []
  /// Targets of the links that are being collected, the innermost last.
  @exclusivity(unchecked) var targets: [DraftBatch.Target] = []
  /// The records around the one that is being mapped, the outermost first, and where paths from them led.
  @exclusivity(unchecked) var parents: [(node: UInt32, trails: [ParentTrail])] = []

  /// What following a path from a record around came to.
  typealias ParentTrail = (path: ForeignPath, trail: RecordMapper.Trail)

  init(_ plan: ImportPlan, mapFile: String?) throws(FormatFault) {
    self.plan = plan
    for index in plan.entities.indices {
      mappers.append(try RecordMapper(index, of: self, mapFile: mapFile))
    }
  }

  /// Looks, behind a record that was mapped, whether patterns have had too much to do.
  ///
  /// - Throws: `ReadError`, `.limit`: values are not taken unchecked, and not refused unlooked at.
  func checkPatterns(behind index: Int, of batch: RecordBatch) throws(ReadError) {
    guard let culprit = patterns.culprit else { return }
    let record = batch.records[index]
    throw ReadError(
      .limit,
      "The pattern of \(culprit) takes too many steps for a value, over and over.",
      at: batch.origin(at: record.start, record: record.number),
      help:
        "write it without repetitions that can share the same characters, as `a*b*` does and `a*a*` does not"
    )
  }

  /// What became of the paths, as far as records were read.
  func outcomes(format: ForeignFormat) -> [UnmatchedPath.Outcome] {
    mappers.flatMap { $0.use.outcomes(format: format) }
  }
}

extension UnmatchedPath {
  /// A path, and whether a record had it.
  typealias Outcome = (path: UnmatchedPath, isMatched: Bool)

  /// The paths that no record had: an inherited one, no record of any entity that inherits it.
  static func among(_ outcomes: [Outcome]) -> [UnmatchedPath] {
    var matched: Set<[UInt8]> = []
    var unmatched: [(place: [UInt8], path: UnmatchedPath)] = []
    for (path, isMatched) in outcomes {
      let place = Array("\(path.entity).\(path.property)\n\(path.path)".utf8)
      if isMatched {
        matched.insert(place)
      } else if let known = unmatched.firstIndex(where: { $0.place == place }) {
        unmatched[known].path.recordCount += path.recordCount
        unmatched[known].path.suggestion = unmatched[known].path.suggestion ?? path.suggestion
        unmatched[known].path.namespace = unmatched[known].path.namespace ?? path.namespace
      } else {
        unmatched.append((place, path))
      }
    }
    return unmatched.filter { !matched.contains($0.place) }.map(\.path)
  }
}
