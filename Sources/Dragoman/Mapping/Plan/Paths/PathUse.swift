import CSimdJSON
import DragomanGraph

/// Which paths of an entity its records never had.
///
/// A record costs one look at each path that no record had before it, and the first records that lack
/// some teach the names that they have in its place: where all paths occur, nothing is left to do after
/// the first record.
struct PathUse {
  /// How far a path led in the first records, and the names that were there in place of the next step.
  private struct Obstacle {
    var path: Int
    var depth: Int
    var names: [Name]
  }

  /// A name that records have.
  struct Name: Hashable {
    /// Without a prefix; an XML attribute's with `@` in front.
    let local: String
    /// XML: the namespace's URI; nil: none.
    let namespace: String?
    /// As a path of the map says it; nil: the map has no prefix for its namespace.
    let spelling: String?
  }

  private let entity: EntityPlan
  /// The walker's slots that no record has had so far.
  private var unmatched: [Int]
  private var obstacles: [Int: Obstacle] = [:]
  private var sampleCount = 0
  private var recordCount = 0
  /// How many of the records proved to be of a sub-entity.
  private var otherCount = 0
  /// Whether a path of the entity matched in the input at hand.
  private(set) var hasMatched = false
  /// Names of members that records of the input at hand have, while no path matched.
  private(set) var inputNames: [String] = []

  /// Whether records of the input at hand would be objects without values.
  private var hasAnonymous = false

  /// Whether there were records in the input at hand, and none of them had anything that the map names.
  ///
  /// Records without anything are rejected where there is a key, and have the defaults where there are
  /// some.
  var isStrange: Bool { !hasMatched && (!inputNames.isEmpty || hasAnonymous) }

  private static let maximumSampleCount = 50
  private static let maximumNameCount = 60

  init(_ entity: EntityPlan) {
    self.entity = entity
    unmatched = entity.pathUses.map(\.slot)
    hasMatched = unmatched.isEmpty
  }

  /// Begins an input.
  mutating func beginInput() {
    hasMatched = entity.pathUses.isEmpty
    inputNames = []
    hasAnonymous = false
  }

  /// Takes note of what the walk over a record found.
  @inline(__always)
  mutating func note(_ found: [PathWalker.Found], _ record: UInt32, in batch: RecordBatch) {
    recordCount += 1
    if hasMatched && unmatched.isEmpty { return }
    look(found, record, in: batch)
  }

  private mutating func look(
    _ found: [PathWalker.Found],
    _ record: UInt32,
    in batch: RecordBatch
  ) {
    if !hasMatched {
      hasMatched = entity.pathUses.contains { found[$0.slot].state != .missing }
      if !hasMatched {
        hasAnonymous = entity.hasOnlyPaths
        learnInput(record, in: batch)
      }
    }
    if unmatched.contains(where: { found[$0].state != .missing }) {
      unmatched.removeAll { found[$0].state != .missing }
    }
    guard sampleCount < Self.maximumSampleCount, !unmatched.isEmpty else { return }
    sampleCount += 1
    for slot in unmatched { learn(slot, record, in: batch) }
  }

  /// Takes note that a path was found that the walk cannot follow.
  @inline(__always)
  mutating func noteOwn(_ slot: Int) {
    hasMatched = true
    if !unmatched.isEmpty { unmatched.removeAll { $0 == slot } }
  }

  /// Takes note that the record at hand is one of a sub-entity, which looks at it next.
  @inline(__always)
  mutating func noteOther() { otherCount += 1 }

  // MARK: - Names

  private mutating func learnInput(_ record: UInt32, in batch: RecordBatch) {
    guard inputNames.count < Self.maximumNameCount else { return }
    for name in names(in: record, batch) where !inputNames.contains(name.local) {
      inputNames.append(name.local)
    }
  }

  /// Follows the paths of a slot as far as they lead.
  private mutating func learn(_ slot: Int, _ record: UInt32, in batch: RecordBatch) {
    guard let use = entity.pathUses.first(where: { $0.slot == slot }) else { return }
    for (number, path) in use.paths.enumerated() where path.root == .record {
      var node = record
      var depth = 0
      while depth < path.steps.count, let next = Self.child(of: node, path.steps[depth], batch) {
        node = next
        depth += 1
      }
      guard depth < path.steps.count, obstacles[slot].map({ $0.depth <= depth }) ?? true else {
        continue
      }
      var known = obstacles[slot] ?? Obstacle(path: number, depth: depth, names: [])
      if known.depth < depth { known = Obstacle(path: number, depth: depth, names: []) }
      for name in names(in: node, batch)
      where known.names.count < Self.maximumNameCount && !known.names.contains(name) {
        known.names.append(name)
      }
      obstacles[slot] = known
    }
  }

  /// The names of an object's members and an element's attributes and children.
  private func names(in node: UInt32, _ batch: RecordBatch) -> [Name] {
    let kind = Int(batch.nodes[Int(node)].kind)
    guard kind == TAPE_OBJECT || kind == TAPE_ELEMENT else { return [] }
    var names: [Name] = []
    var child = node + 1
    while child < batch.nodes[Int(node)].next, names.count < Self.maximumNameCount {
      let value = batch.nodes[Int(child)]
      let name = ForeignText.shortened(batch.text(value.key, value.keyLength))
      let namespace = Self.namespace(of: value, batch)
      let isAttribute = value.flags & UInt8(TAPE_ATTRIBUTE) != 0
      names.append(
        Name(
          local: isAttribute ? "@\(name)" : name,
          namespace: namespace,
          spelling: isAttribute
            ? entity.spelling.attribute(name, in: namespace)
            : entity.spelling.element(name, in: namespace)
        )
      )
      child = value.next
    }
    return names
  }

  /// The namespace of an XML name; nil where it is in none, as all names of other formats.
  private static func namespace(of value: TapeNode, _ batch: RecordBatch) -> String? {
    value.space == 0 ? nil : batch.namespaces[Int(value.space)]
  }

  private static func child(
    of node: UInt32,
    _ step: ForeignPath.Step,
    _ batch: RecordBatch
  ) -> UInt32? {
    // A filter stays where it is.
    if case .having = step { return node }
    var child = node + 1
    var index = 0
    while child < batch.nodes[Int(node)].next {
      let value = batch.nodes[Int(child)]
      let isAttribute = value.flags & UInt8(TAPE_ATTRIBUTE) != 0
      let isMatch =
        switch step {
        case .member(let name, let namespace):
          !isAttribute && name.utf8.elementsEqual(batch.bytes(value.key, value.keyLength))
            && namespace == Self.namespace(of: value, batch)
        case .attribute(let name, let namespace):
          isAttribute && name.utf8.elementsEqual(batch.bytes(value.key, value.keyLength))
            && namespace == Self.namespace(of: value, batch)
        case .index(let wanted): index == wanted
        case .all, .anyMember: !isAttribute
        case .text, .having: false
        }
      if isMatch { return child }
      child = value.next
      index += 1
    }
    return nil
  }

  // MARK: - The end

  /// The paths that records were searched for, each as it is told if it has to be, and whether one of
  /// them had it.
  func outcomes(format: ForeignFormat) -> [(path: UnmatchedPath, isMatched: Bool)] {
    guard recordCount > 0 else { return [] }
    return entity.pathUses.compactMap { use in
      guard let first = use.paths.first else { return nil }
      var names: [Name] = []
      var suggestion: String?
      var namespace: String?
      if let obstacle = obstacles[use.slot] {
        names = obstacle.names
        let path = use.paths[obstacle.path]
        let near = path.likelyName(at: obstacle.depth, among: names, format: format)
        suggestion = near?.spelling.flatMap {
          path.text(with: $0, at: obstacle.depth, format: format, entity.spelling)
        }
        if let near, near.spelling == nil { namespace = near.namespace ?? "" }
      }
      // Nobody asked for the name of a relationship itself; a record may do without the mark of a deletion.
      let isMatched = !unmatched.contains(use.slot)
      if use.isImplied, suggestion == nil, namespace == nil, !isMatched { return nil }
      let path = UnmatchedPath(
        entity: use.entity,
        property: use.property,
        path: first.text,
        format: format,
        // Whoever looks at a record again counts it, but for the word that told where to look.
        recordCount: use.isOwn ? recordCount : recordCount - otherCount,
        suggestion: suggestion,
        names: names.prefix(10).map { $0.spelling ?? $0.local },
        namespace: namespace,
        mayBeMissing: use.mayBeMissing,
        isDiscriminator: use.isOwn
      )
      return (path, isMatched)
    }
  }
}

extension ForeignPath {
  /// The name that may be meant at a step, among those that records have there.
  fileprivate func likelyName(
    at depth: Int,
    among names: [PathUse.Name],
    format: ForeignFormat
  ) -> PathUse.Name? {
    let wanted: String
    switch steps[depth] {
    case .member(let name, _): wanted = name
    case .attribute(let name, _): wanted = "@\(name)"
    default: return nil
    }
    // In XML the name may be meant in another namespace, or of an attribute in place of an element, and
    // the other way round.
    let other = wanted.hasPrefix("@") ? String(wanted.dropFirst()) : "@\(wanted)"
    for local in [wanted, other] where format == .xml {
      if let same = names.first(where: { hasSameBytes($0.local, local) }) { return same }
    }
    let spelled = names.filter { $0.spelling != nil }
    let near = nearest(to: wanted, in: spelled.map(\.local))
    return near.flatMap { local in spelled.first { hasSameBytes($0.local, local) } }
  }

  /// The path with another name at a step; nil where a name of it cannot be spelled.
  fileprivate func text(
    with name: String,
    at depth: Int,
    format: ForeignFormat,
    _ spelling: NameSpelling
  ) -> String? {
    let separator = format == .xml || text.hasPrefix("/") ? "/" : "."
    var result = ""
    for (index, step) in steps.enumerated() {
      var word: String?
      switch step {
      case _ where index == depth: word = name
      case .member(let name, let namespace): word = spelling.element(name, in: namespace)
      case .attribute(let name, let namespace): word = spelling.attribute(name, in: namespace)
      case .index(let place) where separator == ".":
        result += "[\(place)]"
        continue
      case .index(let place): word = String(place)
      case .all:
        result += "[*]"
        continue
      case .anyMember: word = "*"
      case .having(let test):
        guard let name = spelling.attribute(test.name, in: test.namespace) else { return nil }
        result += test.text(naming: name)
        continue
      case .text: word = "text()"
      }
      guard let word else { return nil }
      result += (result.isEmpty && !text.hasPrefix("/") ? "" : separator) + word
    }
    return result
  }
}
