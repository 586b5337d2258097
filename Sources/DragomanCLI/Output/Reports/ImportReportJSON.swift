import Dragoman
import DragomanGraph
import Foundation

/// The report of an import for programs: one versioned JSON document.
///
/// Large because each property is a member of the document, and names it.
struct ImportReportJSON: Encodable {
  private var v = 1
  private let feed: String?
  private let status: String
  private let `import`: Int64?
  private let read: Int
  private let inserted: Int
  private let updated: Int
  private let unchanged: Int
  private let deleted: Int
  private let skipped: Int
  private let rejected: Int
  private let pruned: Int
  private let committed: Int
  private let dryRun: Bool
  private let entities: [String: ImportReport.EntityCounts]
  private let relationships: [String: ImportReport.RelationshipCounts]
  private let issues: [Group]
  private let drift: Drift?
  private let notices: [String]
  private let unmatched: [Unmatched]
  private let error: String?
  private let seconds: Double
  private let bytes: Int
  private let left: Int?

  private struct Drift: Encodable {
    let comparedWith: Int64?
    let changes: [Change]
  }

  private struct Change: Encodable {
    let kind: FeedDrift.Kind
    let entity: String
    let name: String
    let contract: Contract.KeyRule
    let count: Int
    let values: [FeedDrift.ValueKind]
    let valuesBefore: [FeedDrift.ValueKind]
    let attribute: String?
    let namespaces: String?
    let obstacle: FeedDrift.Obstacle?
  }

  private struct Unmatched: Encodable {
    let entity: String
    let property: String
    let path: String
    let format: String
    let records: Int
    let suggestion: String?
  }

  private struct Group: Encodable {
    let code: String
    let entity: String
    let attribute: String?
    let count: Int
    let examples: [Example]
  }

  private struct Example: Encodable {
    let file: String
    let line: Int
    let column: Int
    let byte: Int
    let record: Int?
    let key: String?
    let path: String?
    let value: String?
    let message: String
    let rejected: Bool
  }

  /// Makes the document.
  ///
  /// - Parameters:
  ///   - report: What the import did.
  ///   - failure: Why it failed; nil: it did not.
  ///   - feed: What the settings call it; nil: they do not name it.
  ///   - left: How many lines a rejects file has whose records were imported again; nil: none were, or nobody knows.
  init(_ report: ImportReport, failure: ToolError?, feed: String? = nil, left: Int? = nil) {
    self.feed = feed
    self.left = left
    status = report.status.rawValue
    `import` = report.number
    read = report.counts.read
    inserted = report.counts.inserted
    updated = report.counts.updated
    unchanged = report.counts.unchanged
    deleted = report.counts.deleted
    skipped = report.counts.skipped
    rejected = report.counts.rejected
    pruned = report.pruned
    committed = report.committed
    dryRun = report.isDryRun
    entities = report.entities
    relationships = report.relationships
    issues = report.issues.map { group in
      Group(
        code: group.code.rawValue,
        entity: group.entity,
        attribute: group.attribute,
        count: group.count,
        examples: group.examples.map { issue in
          Example(
            file: issue.origin.file,
            line: issue.origin.line,
            column: issue.origin.column,
            byte: issue.origin.byte,
            record: issue.origin.record,
            key: issue.key,
            path: issue.path,
            value: issue.value,
            message: issue.message,
            rejected: issue.isReject
          )
        }
      )
    }
    drift = report.drift.map { drift in
      Drift(
        comparedWith: drift.comparedWith,
        changes: drift.changes.map { change in
          Change(
            kind: change.kind,
            entity: change.entity,
            name: change.name,
            contract: change.rule,
            count: change.count,
            values: change.values,
            valuesBefore: change.valuesBefore,
            attribute: change.attribute,
            namespaces: change.namespaces,
            obstacle: change.obstacle
          )
        }
      )
    }
    notices = report.notices
    unmatched = report.unmatchedPaths.map { path in
      Unmatched(
        entity: path.entity,
        property: path.property,
        path: path.path,
        format: path.format.rawValue,
        records: path.recordCount,
        suggestion: path.suggestion
      )
    }
    error = failure?.text
    seconds = (Figures.seconds(report.duration) * 1000).rounded() / 1000
    bytes = report.byteCount
  }

  /// The document on one line.
  var text: String {
    get throws {
      try JSONDocument.text(self)
    }
  }
}
