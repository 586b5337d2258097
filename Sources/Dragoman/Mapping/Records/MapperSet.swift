/// The mappers of all entities of a plan; they belong to the reading thread.
final class MapperSet {
  let plan: ImportPlan
  private(set) var mappers: [RecordMapper] = []
  /// What the walks over records that nested records are being mapped for have found.
  @exclusivity(unchecked) var found: [PathWalker.Found] = []
  /// Targets of the links that are being collected, the innermost last.
  @exclusivity(unchecked) var targets: [DraftBatch.Target] = []

  init(_ plan: ImportPlan, mapFile: String?) throws(FormatFault) {
    self.plan = plan
    for index in plan.entities.indices {
      mappers.append(try RecordMapper(index, of: self, mapFile: mapFile))
    }
  }
}
