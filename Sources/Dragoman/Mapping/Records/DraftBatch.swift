import DragomanGraph

/// What became of a batch of records in the mapper: typed rows, their links, and the records that
/// were refused.
///
/// A record becomes one *object* for itself, and one for each record nested in it, at any depth: the
/// objects of a record stand one after the other, each before those nested in it. An object has a
/// value for each slot of its plan, and a `Link` for each relationship that the record says something
/// of. A link holds its targets, in the order of the feed: nested objects by their index, and
/// references by the values of the target's key.
///
///     {"id": 1, "company": {"id": 7}, "team_ids": [1, 4]}
///
///     objects  0: Person, values [1], links 0 ..< 2     1: Company, values [7], parent 0
///     links    0: company, targets 0 ..< 1              1: teams, targets 1 ..< 3
///     targets  0: object 1    1: key, values [1]        2: key, values [4]
///
/// A relationship without a link was not given (or its policy is `keep`): what is stored stays. A
/// link without targets clears it, whether the record said null or gave an empty list.
///
/// A batch owns the batch of records that it was made from, because rows point into its arena, and
/// travels with it from the reading to the writing thread. One thread has it at a time, and no access
/// runs code of others: exclusive access needs no check at run time.
///
/// Large because it is the memory of a batch of drafts, one property a table.
final class DraftBatch {
  /// What became of one record.
  enum Draft {
    /// An object with everything nested in it: an index of `objects`.
    case row(object: Int)
    /// The record says that its object is gone; the object has its key, and its version.
    case tombstone(object: Int)
    /// The record was refused; the index is one of `issues`.
    case reject(issue: Int)
    /// The record is another partition's.
    case elsewhere
  }

  /// One object that a record speaks of.
  struct Object {
    /// Its plan: an index of `ImportPlan.entities`.
    let plan: Int
    /// The first of its values: one for each slot of its plan.
    let start: Int
    /// The object that it is nested in; -1 for the record's own.
    let parent: Int
    /// Where it stands in the tape.
    let node: UInt32
    /// What it says of its relationships.
    var links = 0..<0
    /// The index behind the last object nested in it.
    var end: Int
  }

  /// What an object says of one relationship.
  struct Link {
    /// The relationship: an index of `EntityPlan.links`.
    let slot: Int
    /// The targets, in the order of the feed: indexes of `targets`; at most one for a to-one.
    let targets: Range<Int>
  }

  /// One target of a link.
  enum Target {
    /// A nested object: an index of `objects`.
    case object(Int)
    /// A reference: the first of its key's values, one for each part of the link's key
    /// (`LinkPlan.reference`), and the node where it stands. No part is null.
    case key(start: Int, node: UInt32)
  }

  /// The records, and the memory that the rows' text is in.
  let records = RecordBatch()
  /// One entry a record, in the order of the feed.
  @exclusivity(unchecked) var drafts: [Draft] = []
  /// Records that became drafts and were rejected when these were written.
  var refusedRecords: Set<Int> = []
  /// The objects of all records.
  @exclusivity(unchecked) var objects: [Object] = []
  /// The objects' values, one after the other, and those of references.
  @exclusivity(unchecked) var values: ContiguousArray<RowValue> = []
  /// The objects' links.
  @exclusivity(unchecked) var links: [Link] = []
  /// The links' targets.
  @exclusivity(unchecked) var targets: [Target] = []
  /// Refused records and, of values that were only passed over, the first of each kind.
  var issues: [ImportIssue] = []
  /// How many values of each kind were passed over without an entry in `issues`.
  var repeatedIssues: [IssueGroup: Int] = [:]
  /// The objects' records, where the tape is not kept.
  var keptRecords: [ForeignRecord] = []
  /// The plan that the records were mapped by: `Object.plan` is an index of its entities.
  var plan: ImportPlan?
  /// The sources of the plan that take part in reading the input.
  var sources: [Int] = []
  /// How many bytes of all inputs were read when the batch was complete, before decompression.
  var consumedByteCount = 0

  /// Whether the input's records so far have nothing that the map names.
  var isStrange = false

  /// The record that an object was made of.
  func record(of object: Int) -> ForeignRecord {
    keptRecords.isEmpty ? ForeignRecord(records, objects[object].node) : keptRecords[object]
  }

  /// What stands around its rejected records, by the place of the namespaces around them (`RejectedRecord`).
  var surroundings: (scope: Int?, bytes: [UInt8])?

  /// Forgets what the mapper made, and keeps the memory.
  func removeAll() {
    surroundings = nil
    drafts.removeAll(keepingCapacity: true)
    refusedRecords.removeAll()
    objects.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
    links.removeAll(keepingCapacity: true)
    targets.removeAll(keepingCapacity: true)
    issues.removeAll()
    repeatedIssues.removeAll()
  }

  /// How much there is, to go back to when a record is refused.
  struct Mark {
    fileprivate let objects: Int
    fileprivate let values: Int
    fileprivate let links: Int
    fileprivate let targets: Int
  }

  /// How much there is now.
  var mark: Mark {
    Mark(objects: objects.count, values: values.count, links: links.count, targets: targets.count)
  }

  /// Drops what the record that was mapped last became: it is another partition's.
  ///
  /// `mark`, `issues` and `repeated` are what there was before it.
  func leaveLast(_ mark: Mark, issues: Int, _ repeated: [IssueGroup: Int]) {
    restore(mark)
    self.issues.removeLast(self.issues.count - issues)
    repeatedIssues = repeated
    drafts[drafts.count - 1] = .elsewhere
  }

  /// Drops what came after the mark.
  func restore(_ mark: Mark) {
    objects.removeLast(objects.count - mark.objects)
    values.removeLast(values.count - mark.values)
    links.removeLast(links.count - mark.links)
    targets.removeLast(targets.count - mark.targets)
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
