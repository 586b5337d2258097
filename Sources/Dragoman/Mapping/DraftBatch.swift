import DragomanGraph

/// What became of a batch of records in the mapper: typed rows, and the records that were refused.
///
/// It owns the batch of records that it was made from, because rows point into its arena, and
/// travels with it from the reading to the writing thread.
final class DraftBatch {
  /// What became of one record.
  enum Draft {
    /// A row of the entity of a source, which starts at an index of `values`.
    case row(source: Int, start: Int)
    /// The record says that its object is gone; the row has its key, and its version.
    case tombstone(source: Int, start: Int)
    /// The record was refused; the index is one of `issues`.
    case reject(issue: Int)
  }

  /// The records, and the memory that the rows' text is in.
  let records = RecordBatch()
  /// One entry a record, in the order of the feed.
  var drafts: [Draft] = []
  /// The rows' values, one after the other.
  var values: ContiguousArray<RowValue> = []
  /// Refused records and, of values that were only passed over, the first of each kind.
  var issues: [ImportIssue] = []
  /// How many values of each kind were passed over without an entry in `issues`.
  var repeatedIssues: [IssueGroup: Int] = [:]
  /// The plan that the records were mapped by: `Draft.source` is an index of its sources.
  var plan: ImportPlan?
  /// How many bytes of all inputs were read when the batch was complete, before decompression.
  var consumedByteCount = 0

  /// Forgets what the mapper made, and keeps the memory.
  func removeAll() {
    drafts.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
    issues.removeAll()
    repeatedIssues.removeAll()
  }
}

/// What issues are grouped by in a report.
struct IssueGroup: Hashable {
  let code: ImportIssue.Code
  let entity: String
  let attribute: String?
}

extension ImportIssue {
  var group: IssueGroup { IssueGroup(code: code, entity: entity, attribute: attribute) }
}
