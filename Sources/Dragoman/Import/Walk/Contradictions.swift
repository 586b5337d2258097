import DragomanGraph

/// Nested objects on which one feed contradicts itself: two records, one of them at least nested in
/// another, give the same object another value or other links, and the last one counts.
///
/// What a record says is kept when the record is; one that is undone has said nothing. An object counts as
/// given earlier if the import made it, or if an earlier record changed it.
struct Contradictions {
  /// What is said of an object: its values, or the links of one relationship.
  struct Saying: Hashable {
    let object: ObjectPlace
    let link: Int?

    init(_ object: ObjectPlace, link: Int? = nil) {
      self.object = object
      self.link = link
    }
  }

  /// What was said last of an object: eight bytes, because a feed may have a million of them.
  private struct Said {
    /// Which object of the feed said it: the last bits of `ImportTally.ordinal(ofWritten:)`.
    let giver: UInt32
    let isNested: Bool
    /// Whether anything was said before, and whether by a nested record or of an object that such a one made.
    let isAgain: Bool
    let earlier: Bool?
    /// Whether that it says otherwise was told.
    let isTold: Bool
  }

  private var said: [Saying: Said] = [:]
  private var saidNow: [Saying: Said] = [:]
  private var found: [(group: IssueGroup, issue: ImportIssue?, place: Int)] = []
  /// The places among the issues of those that were described.
  private var described: [IssueGroup: [Int]] = [:]

  /// Of more objects nothing is kept in mind: their second change tells nothing.
  private static let maximumCount = 1_000_000

  /// Forgets what was said since `keep`.
  mutating func drop() {
    for (group, issue, place) in found where issue != nil {
      if let index = described[group]?.lastIndex(of: place) { described[group]?.remove(at: index) }
    }
    forget()
  }

  private mutating func forget() {
    if !saidNow.isEmpty { saidNow.removeAll(keepingCapacity: true) }
    if !found.isEmpty { found.removeAll(keepingCapacity: true) }
  }

  /// Keeps what was said since the last time.
  mutating func keep(in issues: inout IssueLog) {
    guard !saidNow.isEmpty || !found.isEmpty else { return }
    for (saying, last) in saidNow where said.count < Self.maximumCount || said[saying] != nil {
      said[saying] = last
    }
    for (group, issue, place) in found {
      if let issue { issues.add(issue, at: place) } else { issues.add(1, of: group) }
    }
    forget()
  }

  /// A record changed an object.
  ///
  /// Some links of a list are stored with their targets, and the others with the list: then its giver says the
  /// same twice.
  ///
  /// - Parameters:
  ///   - saying: What is said.
  ///   - giver: The object of the feed.
  ///   - isReplaced: Whether something is gone that was there before; a list that only grew may be given for the
  ///     first time.
  ///   - isMade: Whether the import made the object.
  ///   - isNested: Whether the record is nested in another.
  /// - Returns: Whether another record of the feed said otherwise before, and one of the two is nested.
  mutating func say(
    _ saying: Saying,
    by giver: Int,
    isReplaced: Bool,
    isMade: Bool,
    isNested: Bool
  ) -> Bool {
    let last = saidNow[saying] ?? said[saying]
    let giver = UInt32(truncatingIfNeeded: giver)
    let isSame = last?.giver == giver
    let values = Saying(saying.object)
    let maker = isMade ? (saidNow[values] ?? said[values])?.isNested ?? isNested : nil
    let isAgain = isSame ? last?.isAgain ?? false : last != nil
    let earlier = isSame ? last?.earlier : last?.isNested ?? maker
    let isTold = isSame && last?.isTold == true
    let isContradiction =
      !isTold && (isReplaced || isAgain) && (earlier.map { $0 || isNested } ?? false)
    saidNow[saying] = Said(
      giver: giver,
      isNested: isNested,
      isAgain: isAgain,
      earlier: earlier,
      isTold: isTold || isContradiction
    )
    return isContradiction
  }

  /// Takes note of links that others replace.
  mutating func add(
    _ link: RelationshipLayout,
    of plan: EntityPlan,
    at place: Int,
    describe: () -> (origin: Origin, key: String?)
  ) {
    add(
      IssueGroup(code: .contradiction, entity: plan.name, attribute: link.name),
      "Elsewhere the feed gives other links; those of this one count.",
      help: "find out which record is right",
      place,
      describe
    )
  }

  /// Takes note of a value that another one replaces.
  mutating func add(
    _ slot: EntityPlan.Slot,
    of plan: EntityPlan,
    former: StoredValue,
    _ value: StoredValue,
    at place: Int,
    describe: () -> (origin: Origin, key: String?)
  ) {
    let isMasked = slot.attribute.isSensitive
    func told(_ value: StoredValue) -> String {
      if isMasked { return ForeignText.mask }
      return value.text.isEmpty ? "\"\"" : ForeignText.shortened(value.text)
    }
    let (earlier, later) = (told(former), told(value))
    add(
      IssueGroup(code: .contradiction, entity: plan.name, attribute: slot.attribute.name),
      "Elsewhere the feed says \(earlier), here it says \(later); this one counts.",
      help: "find out which record is right, or give the attribute a version",
      place,
      describe
    )
  }

  private mutating func add(
    _ group: IssueGroup,
    _ message: @autoclosure () -> String,
    help: String,
    _ place: Int,
    _ describe: () -> (origin: Origin, key: String?)
  ) {
    // What is known late may stand before what is described already.
    let earlier = described[group, default: []].count { $0 <= place }
    guard earlier < RecordMapper.exampleCount else {
      found.append((group, nil, place))
      return
    }
    described[group, default: []].append(place)
    let (origin, key) = describe()
    let issue = ImportIssue(
      code: group.code,
      entity: group.entity,
      attribute: group.attribute,
      origin: origin,
      path: nil,
      value: nil,
      message: message(),
      tried: [],
      map: nil,
      help: help,
      key: key,
      isReject: false
    )
    found.append((group, issue, place))
  }
}

extension DraftWalker {
  /// A record changed an object: if the feed said otherwise before, that is told.
  func noteContradictions(
    _ object: Int,
    _ key: Int64,
    _ outcome: EntityWriter.Outcome,
    isNested: Bool,
    _ target: Target,
    in batch: DraftBatch
  ) {
    let draft = batch.objects[object]
    let arena = UnsafeRawBufferPointer(batch.records.arena)
    var changes: [(slot: Int, former: StoredValue, value: StoredValue)] = []
    if outcome == .updated {
      for (column, former) in target.writer.former {
        guard
          let slot = target.plan.slots.firstIndex(where: {
            $0.attribute.column.utf8.elementsEqual(column.utf8)
          }), batch.values[draft.start + slot].kind != .absent
        else { continue }
        let value = batch.values[draft.start + slot].stored(in: arena)
        if value != former { changes.append((slot, former, value)) }
      }
      // A row may be updated for its links alone.
      if changes.isEmpty { return }
    }
    let saying = Contradictions.Saying(ObjectPlace(target.plan.layout.root, key))
    let isContradiction = contradictions.say(
      saying,
      by: tally.ordinal(ofWritten: tally.written.count),
      isReplaced: true,
      isMade: target.writer.isMade(key),
      isNested: isNested
    )
    guard isContradiction, !changes.isEmpty else { return }
    for (slot, former, value) in changes where former != .null && value != .null {
      let slot = target.plan.slots[slot]
      contradictions.add(slot, of: target.plan, former: former, value, at: issuePlace) {
        told(object, recordNumber, target.plan, in: batch)
      }
    }
  }

  /// A record gave other links to an object: if the feed said otherwise before, that is told.
  ///
  /// `number` is the object's in `written`; `isReplaced` says that a link is gone which was there before.
  func noteContradiction(
    of link: RelationshipLayout,
    _ key: Int64,
    _ number: Int,
    isReplaced: Bool,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws {
    let object = tally.written[number]
    let target = try target(of: object.plan, in: plan, isNested: !object.isTop)
    guard !object.isTop || target.isShared else { return }
    let place = ObjectPlace(target.plan.layout.root, key)
    let saying = Contradictions.Saying(place, link: link.id)
    let isContradiction = contradictions.say(
      saying,
      by: tally.ordinal(ofWritten: number),
      isReplaced: isReplaced,
      isMade: target.writer.isMade(key),
      isNested: !object.isTop
    )
    guard isContradiction else { return }
    contradictions.add(link, of: target.plan, at: object.issuePlace) {
      told(object.object, object.record, target.plan, in: batch)
    }
  }

  /// Where an object of a record stands, and its key as text.
  private func told(
    _ object: Int,
    _ record: Int,
    _ plan: EntityPlan,
    in batch: DraftBatch
  ) -> (origin: Origin, key: String?) {
    let draft = batch.objects[object]
    let place = LinkStage.ReferencePlace(node: draft.node, record: record, ordinal: 0)
    return (
      self.place(of: place, in: batch).origin, OutcomeIssue.key(of: batch, start: draft.start, plan)
    )
  }
}
