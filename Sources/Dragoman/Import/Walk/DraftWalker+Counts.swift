import DragomanGraph

/// What the walker counts, and what it refuses.
extension DraftWalker {
  /// The report of everything applied so far.
  func report() -> ImportReport {
    var report = ImportReport()
    report.counts = counts
    report.entities = entities
    report.relationships = relationships
    report.issues = issues.groups
    report.status = counts.rejected > 0 ? .rejected : .done
    return report
  }

  /// Counts the objects written, after their links are stored.
  func tally(_ plan: ImportPlan) throws {
    for wait in waits {
      let object = written[wait.number]
      let unchanged: UnchangedOwner? =
        object.outcome == .unchanged ? (plan.entities[object.plan].name, object.isTop) : nil
      let former = unchangedOwners[wait.owner]
      unchangedOwners[wait.owner] = unchanged
      if unchanged != nil || former != nil {
        try backend.keep(wait.owner, unchanged: unchanged)
      }
    }
    waits.removeAll(keepingCapacity: true)
    for object in written {
      count(object.outcome, of: plan.entities[object.plan].name, isTop: object.isTop)
    }
    written.removeAll(keepingCapacity: true)
  }

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

  /// Counts links that were made and removed; a record that is undone takes its counts back.
  func countLinks(of name: String, linked: Int, unlinked: Int) {
    guard linked != 0 || unlinked != 0 else { return }
    relationships[name, default: .init()].add(linked: linked, unlinked: unlinked)
    linksOfRecord.append((name, linked, unlinked))
  }

  /// Takes back what the record at hand counted, or the run of records.
  func uncountLinks() {
    for (name, linked, unlinked) in linksOfRecord {
      relationships[name]?.linked -= linked
      relationships[name]?.unlinked -= unlinked
    }
    linksOfRecord.removeAll(keepingCapacity: true)
  }

  /// Counts a rejected record and writes it to the rejects file.
  func reject(_ issue: ImportIssue, record index: Int, in batch: DraftBatch) throws {
    try settleSetAside(batch.plan)
    if let rejects {
      try rejects.write(issue, RejectedRecord(batch.records.records[index], in: batch))
    }
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
      throw ImportError(
        .tooManyRejects,
        maximumRejects == 0
          ? "A record was rejected, and none may be."
          : "More than \(maximumRejects) records were rejected.",
        help: "mend the feed or the map, or raise `maximumRejects`"
      )
    }
  }
}
