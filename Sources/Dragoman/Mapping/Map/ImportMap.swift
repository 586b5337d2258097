import DragomanGraph

/// What a feed means: the entities it describes and how each attribute is found and converted.
///
/// A map is a plain value. It is read from a `*.map.yaml` or `*.map.json` file, or built in code;
/// docs/maps.md is its grammar. Before an import it is compiled once into an `ImportPlan`.
///
/// Large because it is a map as a value, with its checks and its documentation.
public struct ImportMap: Sendable, Hashable {
  /// The map's name, for the ledger and messages.
  public var name: String?
  /// What holds for every entity unless it says otherwise.
  public var defaults: Defaults
  /// The entities, in declared order.
  public var entities: [EntityMap]
  /// Where records stand in which format.
  ///
  /// Empty: one entity, JSON's defaults.
  public var sources: [SourceMap]
  /// How to import unless the caller says otherwise.
  public var importOptions: ImportOptions
  /// How to export unless the caller says otherwise.
  public var exportOptions: ExportOptions
  /// The file the map came from, for messages.
  @NotCompared public var file: String?

  /// Makes a map.
  public init(
    name: String? = nil,
    defaults: Defaults = Defaults(),
    entities: [EntityMap],
    sources: [SourceMap] = [],
    importOptions: ImportOptions = ImportOptions(),
    exportOptions: ExportOptions = ExportOptions(),
    file: String? = nil
  ) {
    self.name = name
    self.defaults = defaults
    self.entities = entities
    self.sources = sources
    self.importOptions = importOptions
    self.exportOptions = exportOptions
    self.file = file
  }
}

/// A place in a map file.
public struct MapPosition: Sendable, Hashable {
  /// The line, from 1.
  public var line: Int
  /// The column, from 1.
  public var column: Int

  /// Makes a position.
  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }
}

/// A property that does not take part in comparisons: where a map was read makes no other map of it.
@propertyWrapper
public struct NotCompared<Value: Sendable>: Sendable, Hashable {
  /// The value.
  public var wrappedValue: Value

  /// Wraps a value.
  public init(wrappedValue: Value) {
    self.wrappedValue = wrappedValue
  }

  /// Always true.
  public static func == (left: NotCompared, right: NotCompared) -> Bool { true }
  /// Hashes nothing, as `==` compares nothing.
  public func hash(into hasher: inout Hasher) {}
}

/// What to do with a value that is missing, null or invalid.
public enum ValuePolicy: String, Sendable, Hashable, Codable, CaseIterable {
  /// The attribute becomes null.
  case clear
  /// The stored value stays; a new object gets the model's default.
  case keep
  /// The attribute becomes the default.
  case `default`
  /// The record is rejected.
  case reject
}

/// The policies of one level (file, entity, attribute); nil leaves the question to the level above.
public struct ValuePolicies: Sendable, Hashable, Adjustable {
  /// The key is not in the record.
  public var onMissing: ValuePolicy?
  /// The key is present and its value is null.
  public var onNull: ValuePolicy?
  /// The value cannot be converted.
  public var onInvalid: ValuePolicy?
  /// Shorthand: true means keep for missing and null, false means clear for both.
  public var ignoreNullValueOverwrites: Bool?
  /// Silences the warnings for null, missing and invalid values of optional attributes.
  public var ignoreOptionalNullValues: Bool?

  /// Makes a set of policies.
  public init(
    onMissing: ValuePolicy? = nil,
    onNull: ValuePolicy? = nil,
    onInvalid: ValuePolicy? = nil,
    ignoreNullValueOverwrites: Bool? = nil,
    ignoreOptionalNullValues: Bool? = nil
  ) {
    self.onMissing = onMissing
    self.onNull = onNull
    self.onInvalid = onInvalid
    self.ignoreNullValueOverwrites = ignoreNullValueOverwrites
    self.ignoreOptionalNullValues = ignoreOptionalNullValues
  }
}

/// The policies of an attribute or a relationship, with nothing left open.
struct ResolvedPolicies: Sendable {
  var onMissing: ValuePolicy
  var onNull: ValuePolicy
  var onInvalid: ValuePolicy
  /// Whether what does not refuse the record is left out of the report.
  var isSilent: Bool

  /// The innermost level, which comes first, that says something wins; on one level a policy wins over
  /// the shorthand.
  init(_ levels: [ValuePolicies]) {
    let levels = levels.lazy
    onMissing = levels.compactMap { $0.onMissing ?? $0.byShorthand }.first ?? .keep
    onNull = levels.compactMap { $0.onNull ?? $0.byShorthand }.first ?? .clear
    onInvalid = levels.compactMap(\.onInvalid).first ?? .reject
    isSilent = levels.compactMap(\.ignoreOptionalNullValues).first ?? false
  }
}

extension ValuePolicies {
  /// What the shorthand says of missing and null.
  var byShorthand: ValuePolicy? { ignoreNullValueOverwrites.map { $0 ? .keep : .clear } }
}

/// How strings are cleaned before they are converted or stored; nil leaves it to the level above.
public struct StringFormat: Sendable, Hashable {
  /// Whether white space at both ends is removed.
  public var trim: Bool?
  /// Whether an empty string counts as null.
  public var emptyAsNull: Bool?
  /// Words that count as null, compared byte for byte (after trimming).
  public var nulls: [String]?

  /// Makes a format.
  public init(trim: Bool? = nil, emptyAsNull: Bool? = nil, nulls: [String]? = nil) {
    self.trim = trim
    self.emptyAsNull = emptyAsNull
    self.nulls = nulls
  }
}

/// What becomes of a key that still names nobody at the end of an import.
public enum UnresolvedPolicy: String, Sendable, Hashable, Codable, CaseIterable {
  /// The link stays empty.
  case clear
  /// An object with only the key is made, and completed when its record comes.
  case stub
  /// The record is rejected.
  case reject
  /// The reference waits in the store until its target comes.
  case pending
}

extension ImportMap {
  /// What holds for every entity unless it says otherwise.
  public struct Defaults: Sendable, Hashable {
    /// The zone of date-times that carry none (an IANA name); nil is UTC.
    public var timeZone: String?
    /// The date formats, tried in order.
    public var dates: [String]?
    /// How numbers are written in strings; nil: strings are no numbers (JSON).
    public var numbers: NumberFormat?
    /// How strings are cleaned.
    public var strings: StringFormat
    /// What becomes of unresolved keys.
    public var onUnresolved: UnresolvedPolicy?
    /// The policies.
    public var policies: ValuePolicies

    /// Makes a set of defaults.
    public init(
      timeZone: String? = nil,
      dates: [String]? = nil,
      numbers: NumberFormat? = nil,
      strings: StringFormat = StringFormat(),
      onUnresolved: UnresolvedPolicy? = nil,
      policies: ValuePolicies = ValuePolicies()
    ) {
      self.timeZone = timeZone
      self.dates = dates
      self.numbers = numbers
      self.strings = strings
      self.onUnresolved = onUnresolved
      self.policies = policies
    }
  }

  /// How to import unless the caller says otherwise.
  public struct ImportOptions: Sendable, Hashable {
    /// When to commit.
    public enum Commit: String, Sendable, Hashable, Codable, CaseIterable {
      /// Everything in one transaction.
      case all
      /// After every batch.
      case batch
    }

    /// Records a batch of `commit: batch`, 1 … 1,000,000; nil is 1000.
    public var batchSize: Int?
    /// When to commit; nil is `all`.
    public var commit: Commit?
    /// The file that rejected records are written to as NDJSON, in a map relative to its folder; nil: none.
    public var rejectsFile: String?
    /// More rejected records than this and the import fails; nil is any number.
    public var maximumRejects: Int?
    /// How many bytes of memory one record may take while it is read, 1 MB … 1 GB (in a map in whole
    /// megabytes), with its text and its values; nil is 128 MB.
    ///
    /// A value takes 28 bytes beside its text. A larger record fails the import with `input.limit`.
    /// Records in memory are not held to it.
    public var maximumRecordByteCount: Int?
    /// How many bytes of memory records may take that wait for objects that have not come
    /// (`UnresolvedPolicy.reject`, and keys that contain a to-one), 1 MB … 1 TB (in a map in whole
    /// megabytes); nil is 1 GB.
    ///
    /// Of a small record it is about 1.5 kB. More fail the import with `import.waiting`.
    /// Records that are imported into a context are not held to it: they are in memory already.
    public var maximumWaitingByteCount: Int?

    /// What `maximumWaitingByteCount` may be, and 1 GB, which it is unless said otherwise.
    static let waitingByteCounts = (range: 1 << 20...1 << 40, standard: 1 << 30)

    /// Which bounds are out of their range, by their keys in maps.
    var boundFaults: [(key: String, message: String)] {
      var faults: [(String, String)] = []
      if let size = maximumRecordByteCount, !RecordLimit.range.contains(size) {
        let message = "A record may take 1 MB to 1 GB of memory, not \(size) bytes."
        faults.append(("maxRecordSize", message))
      }
      if let size = maximumWaitingByteCount, !Self.waitingByteCounts.range.contains(size) {
        let message = "Records that wait may take 1 MB to 1 TB of memory, not \(size) bytes."
        faults.append(("maxWaitingSize", message))
      }
      if let count = maximumRejects, count < 0 {
        faults.append(("rejects.max", "There may be 0 or more rejects, not \(count)."))
      }
      return faults
    }

    /// Makes a set of options.
    public init(
      batchSize: Int? = nil,
      commit: Commit? = nil,
      rejectsFile: String? = nil,
      maximumRejects: Int? = nil,
      maximumRecordByteCount: Int? = nil,
      maximumWaitingByteCount: Int? = nil
    ) {
      self.batchSize = batchSize
      self.commit = commit
      self.rejectsFile = rejectsFile
      self.maximumRejects = maximumRejects
      self.maximumRecordByteCount = maximumRecordByteCount
      self.maximumWaitingByteCount = maximumWaitingByteCount
    }
  }

  /// How to export unless the caller says otherwise.
  public struct ExportOptions: Sendable, Hashable {
    /// How a relationship is written.
    public enum Inclusion: String, Sendable, Hashable, Codable, CaseIterable {
      /// As nested objects.
      case nested
      /// As the target's key.
      case key
      /// As a list of keys.
      case keys
      /// As plain values.
      case values
      /// Not at all.
      case none
    }

    /// The entity to export.
    public var entity: String?
    /// What records look like.
    public var style: ExportStyle
    /// Sort keys, `-` before a name for descending.
    public var sort: [String]?
    /// How each relationship is written.
    public var include: [String: Inclusion]
    /// The JSON path of the array of records.
    public var jsonAt: String?
    /// The XML path of the record elements.
    public var xmlAt: String?

    /// Makes a set of options.
    public init(
      entity: String? = nil,
      style: ExportStyle = ExportStyle(),
      sort: [String]? = nil,
      include: [String: Inclusion] = [:],
      jsonAt: String? = nil,
      xmlAt: String? = nil
    ) {
      self.entity = entity
      self.style = style
      self.sort = sort
      self.include = include
      self.jsonAt = jsonAt
      self.xmlAt = xmlAt
    }
  }
}
