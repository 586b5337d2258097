import DragomanGraph

/// Which sources of a map read a feed: by where its records stand, what its files are called, and what its records have.
///
/// One feed taken for another overwrites its objects, and one that is not known again has its objects twice: a name
/// that is another one, or members that are new beside others that are gone, make another feed of it.
struct FeedMatch {
  /// The names of the sources.
  private(set) var readers: [String] = []
  /// What speaks against it, a sentence each.
  private(set) var warnings: [String] = []

  /// What the names of the files say of a source.
  private enum Name: Int {
    case other
    case silent
    case same
  }

  /// How a feed fits a source.
  private struct Fit {
    let source: SourceMap
    let name: Name
    /// Members that the source does not read, and those that it reads and the feed does not have.
    let new: Set<[UInt8]>
    let missing: Set<[UInt8]>
    let isReader: Bool

    var rank: (Int, Int) { (name.rawValue, -new.count - missing.count) }
  }

  /// - Parameters:
  ///   - known: The map.
  ///   - guess: What is guessed of the feed alone.
  ///   - sample: The feed.
  ///   - files: The names of the feed's files.
  init(_ known: KnownMap, guess: ImportMap, of sample: FeedSample, files: [String]) {
    for source in guess.sources {
      let fits = known.map.sources
        .filter { own in
          own.format == source.format && InputSources.isSamePlace(own.records, source.records)
        }
        .map { Self.fit(source, of: guess, to: $0, of: known, files) }
      if let best = fits.filter(\.isReader).max(by: { $0.rank < $1.rank }) {
        readers.append(best.source.name)
        if let kinds = known.map.entity(named: best.source.entity)?.discriminator {
          // Which members there are is a matter of which kinds came.
          warnings += Self.doubts(of: source, of: guess, as: best.source, with: kinds)
        } else if !best.new.isEmpty, !best.missing.isEmpty {
          warnings.append(
            "\(Self.list(files)) is taken for what the source \(best.source.name) reads, but lacks"
              + " \(Self.list(best.missing)), and has \(Self.list(best.new)) besides."
          )
        }
      } else if let twin = fits.first(where: { $0.new.isEmpty && $0.missing.isEmpty }) {
        warnings.append(
          "\(Self.list(files)) has what the source \(twin.source.name) reads, and another name: it is taken for"
            + " another feed. If it is the same one, give that source `files:` that match the name."
        )
      }
    }
    // A list of one record is not told from an object around another list by itself.
    if readers.isEmpty {
      readers = known.map.sources.filter { Self.hasRecords($0, of: known, sample) }.map(\.name)
    }
  }

  /// What is said of kinds of records that the map does not know.
  private static func doubts(
    of source: SourceMap,
    of guess: ImportMap,
    as own: SourceMap,
    with kinds: EntityMap.Discriminator
  ) -> [String] {
    guard let found = guess.entity(named: source.entity)?.discriminator,
      found.from.paths(in: own.format).first?.steps == kinds.from.paths(in: own.format).first?.steps
    else { return [] }
    let words = found.values.keys.filter { kinds.values[$0] == nil }.sorted()
    guard !words.isEmpty else { return [] }
    return [
      "The map does not know the \(words.count == 1 ? "kind" : "kinds") \(list(words)): such records are rejected"
        + " until \(own.entity) has sub-entities for them, whose words stand in its discriminator."
    ]
  }

  /// Whether a feed has records of a source at a place that has their name.
  private static func hasRecords(_ own: SourceMap, of known: KnownMap, _ sample: FeedSample) -> Bool
  {
    guard own.format == sample.format, let path = own.records, isNamed(path) else { return false }
    var shape = sample.root
    for step in path.steps where step != .all {
      guard case .member(let name, let space) = step,
        let next = shape.members.first(where: { member in
          !member.isAttribute && member.name.elementsEqual(name.utf8)
            && hasSameBytes(sample.namespaces[member.space], space ?? "")
        })
      else { return false }
      shape = next
    }
    let found = Set((shape.element ?? shape).members.map(\.name))
    let read = KnownMap.members(of: own.entity, own.format, known.map)
    let key = KnownMap.keyMembers(of: own.entity, own.format, known.map)
    return !key.isEmpty && key.isSubset(of: found)
      && found.intersection(read).count * 2 > min(found.count, read.count)
  }

  /// Whether the list at a place is named as its records are.
  private static func isNamed(_ path: ForeignPath) -> Bool {
    guard case .member(let list, _)? = path.steps.last(where: { $0 != .all }) else { return false }
    return !RecordPlaces.generic.contains(list.lowercased())
  }

  private static func fit(
    _ source: SourceMap,
    of guess: ImportMap,
    to own: SourceMap,
    of known: KnownMap,
    _ files: [String]
  ) -> Fit {
    let name = self.name(source, own, known, files)
    let found = KnownMap.members(of: source.entity, source.format, guess)
    let read = KnownMap.members(of: own.entity, own.format, known.map)
    let key = KnownMap.keyMembers(of: own.entity, own.format, known.map)
    let sharedCount = found.intersection(read).count
    let (new, missing) = (found.subtracting(read), read.subtracting(found))
    let isReader =
      switch name {
      case .same: sharedCount * 2 > min(found.count, read.count)
      case .silent:
        (new.isEmpty || missing.isEmpty) && sharedCount * 2 > max(found.count, read.count)
      case .other: false
      }
    return Fit(
      source: own,
      name: name,
      new: new,
      missing: missing,
      // Without its key no record can be told.
      isReader: isReader && key.isSubset(of: found)
    )
  }

  private static func name(
    _ source: SourceMap,
    _ own: SourceMap,
    _ known: KnownMap,
    _ files: [String]
  ) -> Name {
    // The name of a list is that of the records, whatever the file is called.
    if let path = own.records, isNamed(path) { return .same }
    let names = files.compactMap(FeedFileName.init).filter(\.isTelling)
    guard !names.isEmpty else { return .silent }
    let matches = own.files.contains { pattern in
      files.contains { FileGlob(pattern: pattern).matches($0) }
    }
    if matches || source.entity.lowercased() == own.entity.lowercased() { return .same }
    guard own.files.isEmpty else { return .other }
    let origins = known.origins.compactMap(FeedFileName.init)
    if origins.contains(where: { origin in files.contains(where: origin.matches) }) { return .same }
    return origins.contains(where: \.isTelling) ? .other : .silent
  }

  private static func list(_ names: Set<[UInt8]>) -> String {
    list(names.map { ForeignText.shortened(String(decoding: $0, as: UTF8.self)) }.sorted())
  }

  private static func list(_ names: [String]) -> String {
    let more = names.count > 5 ? " and \(names.count - 5) more" : ""
    return names.prefix(5).joined(separator: ", ") + more
  }
}
