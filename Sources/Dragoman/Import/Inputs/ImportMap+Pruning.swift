import DragomanGraph

extension ImportMap {
  /// The entities of which an import would delete what its feeds do not have, as far as the names of the inputs tell.
  ///
  /// Of sources of one format at one place the first records tell which takes part, and nothing is said of them.
  ///
  /// - Parameter request: The request.
  /// - Returns: The entities that records of the sources can be, each once; none where nothing is pruned.
  package func prunedEntities(by request: ImportRequest) -> [String] {
    guard request.prune != nil else { return [] }
    var found: [String] = []
    for input in request.inputs {
      let candidates = InputSources.candidates(of: self, request, for: input.name)
      let format = FormatDetection.format(named: input.name)
      let exact = candidates.filter { $0.format == format }
      let readers = exact.isEmpty ? candidates.filter { format.map($0.reads) ?? true } : exact
      for source in readers
      where readers.count(where: { InputSources.isSamePlace($0.records, source.records) }) == 1 {
        found.append(source.entity)
      }
    }
    // A record of an entity can be of those that its discriminator names, too.
    var next = 0
    while next < found.count {
      let entity = entities.first { hasSameBytes($0.name, found[next]) }
      for name in entity?.discriminator?.values.values.sorted() ?? []
      where !found.contains(where: { hasSameBytes($0, name) }) {
        found.append(name)
      }
      next += 1
    }
    var seen: Set<[UInt8]> = []
    return found.filter { seen.insert(Array($0.utf8)).inserted }
  }
}
