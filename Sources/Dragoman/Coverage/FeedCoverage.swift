import DragomanGraph

/// What a feed has and what a map reads of it, from both sides: the values of each attribute, and the
/// places that nothing reads.
///
///     let (report, coverage) = try await Importer(map: map, store: store).check(request)
///     for place in coverage.unread { print(place.path, place.count) }
public struct FeedCoverage: Sendable, Hashable {
  /// The values of one attribute, in all objects of the entity that records brought: as the import
  /// takes them, after conversion, defaults and policies.
  public struct Attribute: Sendable, Hashable {
    /// Its name and type, and whether it is sensitive.
    public var attribute: DragomanGraph.Attribute
    /// Objects that got a value.
    public var valueCount = 0
    /// Objects that got null.
    public var nullCount = 0
    /// Objects of which the record said nothing: what is stored stays.
    public var absentCount = 0
    /// Values that could not be converted or broke a rule, whether they were passed over or rejected
    /// their record.
    public var invalidCount = 0
    /// How many different values there are; at least, where there were too many to keep.
    public var distinctCount = 0
    /// Whether the number of different values is exact.
    public var isDistinctCountExact = true
    /// The smallest value; nil where the type has no order, and of a sensitive attribute.
    public var smallest: StoredValue?
    /// The largest value, likewise.
    public var largest: StoredValue?
    /// What the attribute may be declared as instead, as the map spells it: `type: date, dates: [dd.MM.yyyy]`.
    public var suggestion: String?
  }

  /// One entity.
  public struct Entity: Sendable, Hashable {
    /// Its name.
    public var name: String
    /// The objects that records brought, nested ones included.
    public var objectCount = 0
    /// Records whose unique key an earlier record had; at least, where there were too many to keep.
    public var duplicateCount = 0
    /// The first of these keys, five at most; none of a sensitive attribute.
    public var duplicateKeys: [String] = []
    /// The attributes that the map feeds, in the order of the map.
    public var attributes: [Attribute] = []
  }

  /// A place of the feed that the map does not read.
  public struct UnreadPlace: Sendable, Hashable, Codable {
    /// The kinds of what stands there.
    public enum Kind: String, Sendable, Hashable, Codable {
      case null, text, number, boolean, list, object, mixed
    }

    /// The entity in whose records it is; nil: it stands outside of records.
    public var entity: String?
    /// The path from the record, or from the top where there is no entity.
    public var path: String
    /// In how many records (objects, elements) it is.
    public var count: Int
    /// What stands there.
    public var kind: Kind
  }

  /// The entities, in the order in which records of them came first.
  public var entities: [Entity] = []
  /// What nothing reads, in the order of the feed; at most `maximumUnreadCount`.
  public var unread: [UnreadPlace] = []

  /// How many places are told.
  public static let maximumUnreadCount = 1_000
}
