import DragomanGraph

/// What both sinks count, by the same rules.
protocol CountingSink: AnyObject {
  /// The counts over the top-level records.
  var counts: ImportLedgerEntry.Counts { get set }
  /// The counts of objects, nested ones included, by entity.
  var entities: [String: ImportReport.EntityCounts] { get set }
  /// What was passed over and refused.
  var issues: IssueLog { get set }
  /// More rejected records than this and the import fails; nil: no limit.
  var maximumRejects: Int? { get }
}

extension CountingSink {
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

  /// An object that was counted as unchanged was changed by a reference that waited.
  func recountUnchanged(of entity: String, isTop: Bool) {
    if isTop {
      counts.unchanged -= 1
      counts.updated += 1
    }
    entities[entity, default: .init()].unchanged -= 1
    entities[entity, default: .init()].updated += 1
  }

  /// Counts a rejected record.
  ///
  /// - Throws: `ImportError.tooManyRejects`.
  func countReject(_ issue: ImportIssue) throws(ImportError) {
    counts.rejected += 1
    issues.add(issue)
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
