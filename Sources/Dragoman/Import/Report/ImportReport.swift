import DragomanGraph

/// What an import did: exact counts, and every kind of issue with its first examples.
///
/// Over the top-level records, `read` is always the sum of `inserted`, `updated`, `unchanged`,
/// `deleted`, `skipped` and `rejected`.
///
/// Large because each property is a part of the report.
public struct ImportReport: Sendable, Hashable {
  /// How an import ended.
  public enum Status: String, Sendable, Codable {
    /// Everything is in.
    case done
    /// It is complete, and some records were rejected.
    case rejected
    /// It failed; under `commit: all` nothing was written.
    case failed
    /// It was cancelled: between two batches; under `commit: all` anywhere, and nothing is kept.
    case cancelled
  }

  /// The counts of one entity's objects.
  public struct EntityCounts: Sendable, Hashable, Codable {
    /// New objects.
    public var inserted = 0
    /// Objects changed.
    public var updated = 0
    /// Objects that were already so.
    public var unchanged = 0
    /// Objects made for a key alone.
    public var stubs = 0
    /// Objects that records have deleted.
    ///
    /// By tombstones, with what these take along (`onDelete: cascade`), and by `onUnlink: delete`. What `pruned` counts is not
    /// among them.
    public var deleted = 0

    /// Makes zeros.
    public init() {}

    /// Reads what an import has kept, of an earlier version, too.
    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      inserted = try values.decode(Int.self, forKey: .inserted)
      updated = try values.decode(Int.self, forKey: .updated)
      unchanged = try values.decode(Int.self, forKey: .unchanged)
      stubs = try values.decode(Int.self, forKey: .stubs)
      deleted = try values.decodeIfPresent(Int.self, forKey: .deleted) ?? 0
    }
  }

  /// The counts of one relationship's links.
  public struct RelationshipCounts: Sendable, Hashable, Codable {
    /// Links made.
    public var linked = 0
    /// Links removed.
    public var unlinked = 0
    /// References of records to objects that were not there in the end.
    public var unresolved = 0

    /// Makes zeros.
    public init() {}
  }

  /// The issues of one code and attribute.
  public struct Group: Sendable, Hashable {
    /// What they have in common.
    public var code: ImportIssue.Code
    /// The entity.
    public var entity: String
    /// The attribute, where one is concerned.
    public var attribute: String?
    /// How many there are.
    public var count: Int
    /// The first ones, at most five.
    public var examples: [ImportIssue]
  }

  /// How the import ended.
  public var status = Status.done
  /// The number of the import in the history, by which it is taken back; nil where it has left no row there, or, in
  /// partitions, several.
  public var number: Int64?
  /// The counts over the top-level records.
  public var counts = ImportLedgerEntry.Counts()
  /// Objects that were deleted because the feed no longer has them.
  public var pruned = 0
  /// Records whose outcome is committed: all or none of them under `commit: all`.
  public var committed = 0
  /// The counts by entity, nested objects and those that a delete rule took along included.
  public var entities: [String: EntityCounts] = [:]
  /// The counts of links by relationship, as `Entity.relationship`.
  public var relationships: [String: RelationshipCounts] = [:]
  /// The issues, in the order of their first occurrence.
  public var issues: [Group] = []
  /// Paths of the map that no record had, in the order of the map; known at the end of the feed.
  public var unmatchedPaths: [UnmatchedPath] = []
  /// What the feed has otherwise than the last one; nil where the map has no contract, or nothing was compared.
  public var drift: FeedDrift?
  /// Things worth knowing that are no issues: closures that were skipped, paths not found.
  public var notices: [String] = []
  /// How many bytes of input were read, before decompression.
  public var byteCount = 0
  /// How long it took.
  public var duration = Duration.zero
  /// Whether everything was rolled back on purpose.
  public var isDryRun = false

  /// Makes an empty report.
  public init() {}

  /// Whether something is otherwise than before: objects, nested ones included, or their links.
  var hasChanges: Bool {
    counts.changed + pruned > 0
      || entities.values.contains { $0.inserted + $0.updated + $0.stubs + $0.deleted > 0 }
      || relationships.values.contains { $0.linked + $0.unlinked > 0 }
  }
}

/// Collects issues by code and attribute, keeping the first examples of each.
///
/// An issue that is known late has the place that was kept for it (`takePlace()`): groups and examples stand in the
/// order in which they would have been told at once.
struct IssueLog {
  private struct Entry {
    var group: ImportReport.Group
    var place: Int
    var places: [Int] = []
  }

  private var entries: [Entry] = []
  private var indexOfGroup: [IssueGroup: Int] = [:]
  private var nextPlace = 0

  /// What was collected, in the order of the first occurrence.
  var groups: [ImportReport.Group] { entries.sorted { $0.place < $1.place }.map(\.group) }

  /// A place for an issue that may come later.
  mutating func takePlace() -> Int {
    nextPlace += 1
    return nextPlace
  }

  /// Counts an issue, and keeps it if it is one of the first of its kind.
  mutating func add(_ issue: ImportIssue, at place: Int? = nil) {
    let place = place ?? takePlace()
    let index = self.index(of: issue.group, at: place)
    entries[index].group.count += 1
    let example = entries[index].places.firstIndex { $0 > place } ?? entries[index].places.count
    guard example < RecordMapper.exampleCount else { return }
    entries[index].places.insert(place, at: example)
    entries[index].group.examples.insert(issue, at: example)
    if entries[index].places.count > RecordMapper.exampleCount {
      entries[index].places.removeLast()
      entries[index].group.examples.removeLast()
    }
  }

  /// Counts issues that are not described any more.
  mutating func add(_ count: Int, of group: IssueGroup) {
    guard count > 0 else { return }
    let index = self.index(of: group, at: takePlace())
    entries[index].group.count += count
  }

  private mutating func index(of group: IssueGroup, at place: Int) -> Int {
    if let known = indexOfGroup[group] {
      entries[known].place = min(entries[known].place, place)
      return known
    }
    indexOfGroup[group] = entries.count
    let empty = ImportReport.Group(
      code: group.code,
      entity: group.entity,
      attribute: group.attribute,
      count: 0,
      examples: []
    )
    entries.append(Entry(group: empty, place: place))
    return entries.count - 1
  }
}
