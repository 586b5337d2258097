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
    var names: [String]
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
    for name in Self.names(in: record, batch) where !inputNames.contains(name) {
      inputNames.append(name)
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
      for name in Self.names(in: node, batch)
      where known.names.count < Self.maximumNameCount && !known.names.contains(name) {
        known.names.append(name)
      }
      obstacles[slot] = known
    }
  }

  /// The names of an object's members and an element's attributes and children.
  private static func names(in node: UInt32, _ batch: RecordBatch) -> [String] {
    let kind = Int(batch.nodes[Int(node)].kind)
    guard kind == TAPE_OBJECT || kind == TAPE_ELEMENT else { return [] }
    var names: [String] = []
    var child = node + 1
    while child < batch.nodes[Int(node)].next, names.count < maximumNameCount {
      let value = batch.nodes[Int(child)]
      let name = ForeignText.shortened(batch.text(value.key, value.keyLength))
      names.append(value.flags & UInt8(TAPE_ATTRIBUTE) == 0 ? name : "@\(name)")
      child = value.next
    }
    return names
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
        case .member(let name, _):
          !isAttribute && name.utf8.elementsEqual(batch.bytes(value.key, value.keyLength))
        case .attribute(let name, _):
          isAttribute && name.utf8.elementsEqual(batch.bytes(value.key, value.keyLength))
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
      var names: [String] = []
      var suggestion: String?
      if let obstacle = obstacles[use.slot] {
        names = obstacle.names
        suggestion = use.paths[obstacle.path].suggestion(
          at: obstacle.depth,
          among: names,
          format: format
        )
      }
      // Nobody asked for the name of a relationship itself; a record may do without the mark of a deletion.
      let isMatched = !unmatched.contains(use.slot)
      if use.isImplied, suggestion == nil, !isMatched { return nil }
      let path = UnmatchedPath(
        entity: use.entity,
        property: use.property,
        path: first.text,
        format: format,
        // Whoever looks at a record again counts it, but for the word that told where to look.
        recordCount: use.isOwn ? recordCount : recordCount - otherCount,
        suggestion: suggestion,
        names: Array(names.prefix(10)),
        mayBeMissing: use.mayBeMissing
      )
      return (path, isMatched)
    }
  }
}

extension ForeignPath {
  /// The path with the name at a step replaced by the nearest of some names.
  fileprivate func suggestion(
    at depth: Int,
    among names: [String],
    format: ForeignFormat
  ) -> String? {
    let wanted: String
    switch steps[depth] {
    case .member(let name, _): wanted = name
    case .attribute(let name, _): wanted = "@\(name)"
    default: return nil
    }
    // In XML a name may be meant that is an attribute there, and the other way round.
    let plain = wanted.hasPrefix("@") ? String(wanted.dropFirst()) : "@\(wanted)"
    let isOther = format == .xml && names.contains { $0.utf8.elementsEqual(plain.utf8) }
    guard var near = isOther ? plain : nearest(to: wanted, in: names) else { return nil }
    if !near.hasPrefix("@"), !wanted.hasPrefix("@") { near = prefix(of: wanted, format) + near }
    let separator = format == .xml || text.hasPrefix("/") ? "/" : "."
    var result = ""
    for (index, step) in steps.enumerated() {
      var word = ""
      switch step {
      case _ where index == depth: word = near
      case .member(let name, _): word = prefix(of: name, format) + name
      case .attribute(let name, _): word = "@\(prefix(of: name, format))\(name)"
      case .index(let place) where separator == ".":
        result += "[\(place)]"
        continue
      case .index(let place): word = String(place)
      case .all:
        result += "[*]"
        continue
      case .anyMember: word = "*"
      case .having(let test):
        result += test.text
        continue
      case .text: word = "text()"
      }
      result += (result.isEmpty && !text.hasPrefix("/") ? "" : separator) + word
    }
    return result
  }

  /// The prefix with which an XML path spells a name: `m:` in `m:name`; empty where there is none.
  private func prefix(of name: String, _ format: ForeignFormat) -> String {
    guard format == .xml else { return "" }
    for part in text.split(separator: "/") {
      let word = part.drop { $0 == "@" }.prefix { $0 != "[" }
      guard let colon = word.firstIndex(of: ":") else { continue }
      if word[colon...].dropFirst().utf8.elementsEqual(name.utf8) { return String(word[...colon]) }
    }
    return ""
  }
}
