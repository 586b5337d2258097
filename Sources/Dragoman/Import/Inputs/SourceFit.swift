import DragomanGraph

/// How well the first records at a place fit a source: which of its paths occur in them, and how many of
/// their keys the source knows.
struct SourceFit {
  private let entity: EntityPlan
  private var walker: PathWalker
  /// The walker's slots with paths in a record, and whether they occurred.
  private var occurs: [Int: Bool] = [:]
  /// The slots without which a record has no key.
  private let keys: [Int]
  /// The names of the records' own members that paths begin with: those of the source's entity, and of what else
  /// reads the same records.
  private let known: Set<[UInt8]>
  private var names: Set<[UInt8]> = []
  private var recordCount = 0
  private var keyedCount = 0

  /// - Parameters:
  ///   - entity: The plan of the source's records.
  ///   - plan: The plan of all, with those that a discriminator leads to.
  init(_ entity: EntityPlan, in plan: ImportPlan) {
    self.entity = entity
    walker = PathWalker(tree: entity.tree, slotCount: entity.walkerSlotCount)
    var keys: [Int] = []
    for (index, slot) in entity.slots.enumerated() {
      guard slot.paths.contains(where: Self.isMember), !slot.hasOwnPaths else { continue }
      occurs[index] = false
      if slot.isKey, slot.attribute.isRequired, slot.attribute.defaultValue == nil {
        keys.append(index)
      }
    }
    for finding in entity.links.flatMap(\.findings) {
      guard finding.paths.contains(where: Self.isMember), !finding.hasOwnPaths else { continue }
      occurs[finding.slot] = false
    }
    if let word = entity.discriminator?.criterion {
      if word.paths.contains(where: Self.isMember), !word.hasOwnPaths { occurs[word.slot] = false }
    }
    self.keys = keys
    let paths = Self.readers(of: entity, in: plan).flatMap(\.paths)
    known = Set(paths.compactMap(Self.memberName))
  }

  /// The plans that read a record of an entity: its own, and those of the sub-entities that the record may become
  /// and of the targets that it holds itself.
  private static func readers(of entity: EntityPlan, in plan: ImportPlan) -> [EntityPlan] {
    var readers = [entity]
    var next = 0
    while next < readers.count {
      var others = (readers[next].discriminator?.plans ?? []).map(\.plan)
      for link in readers[next].links {
        if case .nested(let target, let finding) = link.origin, finding.isRecord {
          others.append(target)
        }
      }
      for other in others {
        let reader = plan.entities[other]
        if !readers.contains(where: { $0 === reader }) { readers.append(reader) }
      }
      next += 1
    }
    return readers
  }

  /// Whether a path leads to a member of the record, and the walk follows it.
  private static func isMember(_ candidate: EntityPlan.Candidate) -> Bool {
    candidate.isInTree && !candidate.path.steps.isEmpty
  }

  /// The name of the record's own member that a path begins with.
  private static func memberName(_ path: ForeignPath) -> [UInt8]? {
    guard path.root == .record else { return nil }
    switch path.steps.first {
    case .member(let name, _), .attribute(let name, _): return Array(name.utf8)
    default: return nil
    }
  }

  /// Looks at a record.
  mutating func see(_ record: UInt32, in batch: RecordBatch) {
    recordCount += 1
    walker.reset()
    walker.walk(record, in: batch)
    for slot in occurs.keys where walker.found[slot].state != .missing { occurs[slot] = true }
    if keys.allSatisfy({ walker.found[$0].state != .missing }) { keyedCount += 1 }
    var member = record + 1
    let end = batch.nodes[Int(record)].next
    while member < end {
      let value = batch.nodes[Int(member)]
      names.insert(Array(batch.bytes(value.key, value.keyLength)))
      member = value.next
    }
  }

  /// Looks at the names of columns.
  mutating func see(columns: [String]) {
    recordCount += 1
    names = Set(columns.map { Array($0.utf8) })
    func occurs(_ paths: [EntityPlan.Candidate]) -> Bool {
      paths.contains { candidate in
        if case .member(let name, _)? = candidate.path.steps.first {
          names.contains(Array(name.utf8))
        } else {
          false
        }
      }
    }
    for (index, slot) in entity.slots.enumerated() where self.occurs[index] != nil {
      self.occurs[index] = occurs(slot.paths)
    }
    for finding in entity.links.flatMap(\.findings) where self.occurs[finding.slot] != nil {
      self.occurs[finding.slot] = occurs(finding.paths)
    }
    if let word = entity.discriminator?.criterion, self.occurs[word.slot] != nil {
      self.occurs[word.slot] = occurs(word.paths)
    }
    if keys.allSatisfy({ self.occurs[$0] == true }) { keyedCount += 1 }
  }

  /// Whether the records can be those of the source at all: they have its key, and some of its paths.
  var isFit: Bool {
    occurs.values.contains(true) && !explained.isEmpty && keyedCount * 2 >= recordCount
  }

  /// The keys of the records that the source knows.
  private var explained: Set<[UInt8]> { names.intersection(known) }

  /// The share of the source's paths that occur.
  private var share: Double { Double(occurs.values.count { $0 }) / Double(max(1, occurs.count)) }

  /// Whether the source is clearly the better one: it knows the other one's keys of the records and more,
  /// or the same ones and more of its own paths occur and most of them do, or both shares together are larger.
  private func beats(_ other: SourceFit) -> Bool {
    guard other.isFit else { return true }
    let (mine, others) = (explained, other.explained)
    if mine == others { return share > max(other.share * Self.clearness, 0.5) }
    if mine.isSuperset(of: others) { return true }
    if others.isSuperset(of: mine) { return false }
    return score > other.score * Self.clearness
  }

  /// The harmonic mean of the share of the source's paths that occur and the share of the records' keys
  /// that it knows.
  private var score: Double {
    let reach = Double(explained.count) / Double(max(1, names.count))
    return 2 * share * reach / max(share + reach, .leastNonzeroMagnitude)
  }

  /// The one that beats all others; nil: there is none.
  static func best(of fits: [SourceFit]) -> Int? {
    fits.indices.first { index in
      fits[index].isFit && fits.indices.allSatisfy { $0 == index || fits[index].beats(fits[$0]) }
    }
  }

  /// How much larger a share must be to count.
  private static let clearness = 1.2
}
