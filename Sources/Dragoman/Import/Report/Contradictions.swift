import DragomanGraph

/// Values of nested objects on which one feed contradicts itself: two records give the same object another
/// value, and the last one counts.
///
/// What a record says is kept when the record is; one that is undone has said nothing. An object counts as
/// given earlier if the import made it, or if a nested record changed it.
struct Contradictions<Object: Hashable> {
  private var changed: Set<Object> = []
  private var changedNow: Set<Object> = []
  private var found: [(group: IssueGroup, issue: ImportIssue?)] = []
  private var described: [IssueGroup: Int] = [:]

  /// More objects are not kept in mind: their second change tells nothing.
  private static var maximumCount: Int { 1_000_000 }

  /// Forgets what the record at hand, or a run of them, said.
  mutating func begin() {
    if !changedNow.isEmpty { changedNow.removeAll(keepingCapacity: true) }
    if !found.isEmpty { found.removeAll(keepingCapacity: true) }
  }

  /// Keeps what was said since `begin`.
  mutating func keep(in issues: inout IssueLog) {
    guard !changedNow.isEmpty || !found.isEmpty else { return }
    if changed.count < Self.maximumCount { changed.formUnion(changedNow) }
    for (group, issue) in found {
      if let issue { issues.add(issue) } else { issues.add(1, of: group) }
    }
    begin()
  }

  /// A nested record changed an object.
  ///
  /// - Returns: Whether the feed gave the object values before.
  mutating func change(_ object: Object, isNew: Bool) -> Bool {
    if isNew || changed.contains(object) { return true }
    return !changedNow.insert(object).inserted
  }

  /// Takes note of a value that another one replaces.
  mutating func add(
    _ slot: EntityPlan.Slot,
    of plan: EntityPlan,
    former: StoredValue,
    _ value: StoredValue,
    describe: () -> (origin: Origin, key: String?)
  ) {
    let group = IssueGroup(
      code: .contradiction,
      entity: plan.name,
      attribute: slot.attribute.name
    )
    guard described[group, default: 0] < RecordMapper.exampleCount else {
      found.append((group, nil))
      return
    }
    described[group, default: 0] += 1
    let (origin, key) = describe()
    let isMasked = slot.attribute.isSensitive
    let earlier = isMasked ? ForeignText.mask : ForeignText.shortened(former.text)
    let later = isMasked ? ForeignText.mask : ForeignText.shortened(value.text)
    found.append(
      (
        group,
        ImportIssue(
          code: .contradiction,
          entity: plan.name,
          attribute: slot.attribute.name,
          origin: origin,
          path: nil,
          value: nil,
          message: "An earlier record of the feed says \(earlier), this one says \(later);"
            + " the last one counts.",
          tried: [],
          map: nil,
          help: "find out which record is right, or give the attribute a version",
          key: key,
          isReject: false
        )
      )
    )
  }
}
