import DragomanGraph

/// What an import counts: what became of its records and objects, and what is said of them.
///
/// One thread has it, and no access to what is marked runs code of others: exclusive access needs no check at
/// run time.
final class ImportTally {
  /// More rejected records than this and the import fails; nil: no limit.
  let maximumRejects: Int?
  let rejects: (any RejectsOutput)?
  @exclusivity(unchecked) var issues = IssueLog()
  /// The counts over the top-level records so far; `report()` completes them.
  @exclusivity(unchecked) var counts = ImportLedgerEntry.Counts()
  /// The counts of objects, nested ones included, by entity.
  @exclusivity(unchecked) var entities: [String: ImportReport.EntityCounts] = [:]
  var relationships: [String: ImportReport.RelationshipCounts] {
    get {
      Dictionary(uniqueKeysWithValues: revocable.links.map { ($0.name, $0.counts) })
        .filter { $0.value != .init() }
    }
    set {
      for (name, counts) in newValue {
        revocable.links[number(ofRelationship: name)].counts = counts
      }
    }
  }
  /// The objects written since they were last counted.
  @exclusivity(unchecked) var written: [Written] = []
  /// How many were counted so far.
  private var settledCount = 0
  /// Which of them have references that wait.
  @exclusivity(unchecked) var waits: [Wait] = []
  /// Whose references that wait were links in between, each with the number of `waits` by then.
  @exclusivity(unchecked) var linkedBetween: [(owner: ObjectPlace, waitCount: Int)] = []
  /// Objects that were counted as unchanged, and that have references that wait.
  var unchangedOwners: [ObjectPlace: UnchangedOwner] = [:]
  /// The counts of links, and of what was deleted.
  @exclusivity(unchecked) private var revocable = RevocableCounts()

  init(maximumRejects: Int?, rejects: (any RejectsOutput)?) {
    self.maximumRejects = maximumRejects
    self.rejects = rejects
  }

  /// The report of everything applied so far.
  func report() -> ImportReport {
    var report = ImportReport()
    report.counts = counts
    report.entities = entities
    for (name, count) in revocable.deleted {
      report.entities[name, default: .init()].deleted += count
    }
    report.relationships = relationships
    report.issues = issues.groups
    report.status = counts.rejected > 0 ? .rejected : .done
    return report
  }

  /// Counts the objects written, after their links are stored.
  ///
  /// `keep` is called for owners of references that wait: as what they are counted until then.
  func settle(_ plan: ImportPlan, _ keep: (ObjectPlace, UnchangedOwner?) throws -> Void) throws {
    for (owner, waitCount) in linkedBetween {
      if let wait = waits[..<waitCount].last(where: { $0.owner == owner }) {
        if written[wait.number].outcome == .unchanged { written[wait.number].outcome = .updated }
      } else if let known = unchangedOwners.removeValue(forKey: owner) {
        recountUnchanged(of: known.entity, isTop: known.isTop)
        try keep(owner, nil)
      }
    }
    linkedBetween.removeAll(keepingCapacity: true)
    for wait in waits {
      let object = written[wait.number]
      let unchanged: UnchangedOwner? =
        object.outcome == .unchanged ? (plan.entities[object.plan].name, object.isTop) : nil
      let former = unchangedOwners[wait.owner]
      unchangedOwners[wait.owner] = unchanged
      if unchanged != nil || former != nil {
        try keep(wait.owner, unchanged)
      }
    }
    waits.removeAll(keepingCapacity: true)
    for object in written {
      count(object.outcome, of: plan.entities[object.plan].name, isTop: object.isTop)
    }
    settledCount += written.count
    written.removeAll(keepingCapacity: true)
  }

  /// The number of an object of the feed in the import, by that in `written`.
  func ordinal(ofWritten number: Int) -> Int { settledCount + number }

  /// Counts what became of an object.
  func count(_ outcome: EntityWriter.Outcome, of entity: String, isTop: Bool) {
    switch outcome {
    case .inserted:
      if isTop { counts.inserted += 1 }
      entities[entity, default: .init()].inserted += 1
    case .updated:
      if isTop { counts.updated += 1 }
      entities[entity, default: .init()].updated += 1
    case .unchanged:
      if isTop { counts.unchanged += 1 }
      entities[entity, default: .init()].unchanged += 1
    case .skipped where isTop: counts.skipped += 1
    case .deleted where isTop: counts.deleted += 1
    default: break
    }
  }

  /// Counts objects of an entity.
  func count(_ objects: ImportReport.EntityCounts, of entity: String) {
    guard objects != ImportReport.EntityCounts() else { return }
    entities[entity, default: .init()].inserted += objects.inserted
    entities[entity, default: .init()].updated += objects.updated
    entities[entity, default: .init()].unchanged += objects.unchanged
  }

  /// An object that was counted as unchanged was changed by a reference that waited.
  func recountUnchanged(of entity: String, isTop: Bool) {
    if isTop {
      counts.unchanged -= 1
      counts.updated += 1
    }
    entities[entity, default: .init()].unchanged -= 1
    entities[entity, default: .init()].updated += 1
  }

  /// The number of a relationship, by its name in reports: `Person.teams`.
  func number(ofRelationship name: String) -> Int { revocable.number(ofRelationship: name) }

  /// Counts links that were made and removed; a record that is undone takes its counts back.
  @inline(__always)
  func countLinks(of relationship: Int, linked: Int, unlinked: Int, unresolved: Int = 0) {
    revocable.links[relationship].counts.linked += linked
    revocable.links[relationship].counts.unlinked += unlinked
    revocable.links[relationship].counts.unresolved += unresolved
  }

  /// Counts objects that were deleted; a record that is undone takes its counts back.
  func count(deleted count: Int, of entity: String) {
    if count > 0 { revocable.deleted[entity, default: 0] += count }
  }

  /// Remembers the counts that a record, or a run of them, takes back where it is undone.
  func mark() { revocable.mark() }

  /// Goes back to `mark()`.
  func undo() { revocable.undo() }

  /// Counts a rejected record and writes it to the rejects file.
  func reject(_ issue: ImportIssue, _ record: () -> RejectedRecord) throws {
    if let rejects { try rejects.write(issue, record()) }
    try countReject(issue)
  }

  /// Counts a held record that is rejected in the end.
  func reject(_ issue: ImportIssue, held record: HeldRecords.Record) throws {
    if let rejects, let text = record.reject { try rejects.write(issue, text) }
    try countReject(issue, at: record.issuePlace)
  }

  private func countReject(_ issue: ImportIssue, at place: Int? = nil) throws(ImportError) {
    counts.rejected += 1
    issues.add(issue, at: place)
    if let maximumRejects, counts.rejected > maximumRejects {
      let most = maximumRejects == 1 ? "one record was" : "\(maximumRejects) records were"
      throw ImportError(
        .tooManyRejects,
        maximumRejects == 0
          ? "A record was rejected, and none may be." : "More than \(most) rejected.",
        help: "mend the feed or the map, or raise `maximumRejects`"
      )
    }
  }
}

/// What is counted while a record is written, and not only when it is: where it is undone that is taken back.
private struct RevocableCounts {
  /// The counts of links of one relationship, and those before the record at hand, or the run of records.
  struct Links {
    let name: String
    var counts = ImportReport.RelationshipCounts()
    var marked = ImportReport.RelationshipCounts()
  }

  /// By the number of the relationship, so that none is looked up by its name.
  var links: ContiguousArray<Links> = []
  /// How many objects records have deleted, by entity.
  var deleted: [String: Int] = [:]
  private var markedDeleted: [String: Int] = [:]
  private var numbers: [String: Int] = [:]

  mutating func number(ofRelationship name: String) -> Int {
    if let known = numbers[name] { return known }
    numbers[name] = links.count
    links.append(Links(name: name))
    return links.count - 1
  }

  mutating func mark() {
    for number in links.indices { links[number].marked = links[number].counts }
    markedDeleted = deleted
  }

  mutating func undo() {
    for number in links.indices { links[number].counts = links[number].marked }
    deleted = markedDeleted
  }
}

/// An object that was written.
struct Written {
  let plan: Int
  var outcome: EntityWriter.Outcome
  /// Whether its row has another version since.
  var isRaised: Bool
  let isTop: Bool
  /// `flushCount` when its row was written.
  let flushCount: Int
  /// Its draft, and the number of its record.
  let object: Int
  let record: Int
  /// Where what is said of its record stands among the issues.
  let issuePlace: Int
}

/// An object with references that wait, and its number in `written`.
struct Wait {
  let owner: ObjectPlace
  let number: Int
}
