import DragomanGraph

/// How the values of one attribute are written in feeds; what is nil is the file's choice.
///
///     ValueFormat(dates: ["dd.MM.yyyy HH:mm"], timeZone: "Europe/Berlin")
///     ValueFormat(values: ["m": "male", "f": "female"], unknown: "other")
public struct ValueFormat: Sendable, Hashable, Adjustable {
  /// The date formats, tried in order; nil is the file's, then the type's.
  public var dates: [String]?
  /// The zone of dates and times that carry none, an IANA name; nil is the file's, then UTC.
  public var timeZone: String?
  /// How numbers are written in strings; nil is the file's.
  public var numbers: NumberFormat?
  /// Whether plain numbers in strings are taken beside numbers, as which values are exported: the
  /// default mapper's effort.
  var takesNumberText = false
  /// How a map file says both.
  var writtenNumbers: NumberFormat? {
    get { numbers ?? (takesNumberText ? NumberFormat() : nil) }
    set { numbers = newValue }
  }
  /// How strings are cleaned; nil members are the file's.
  public var strings: StringFormat
  /// A table of foreign words to local raw values, in declared order.
  public var values: [ValuePair]
  /// The local raw value of words that `values` does not have; nil: they are invalid.
  public var unknown: String?
  /// Words that mean true.
  public var trueValues: [String] = []
  /// Words that mean false.
  public var falseValues: [String] = []
  /// Whether numbers and booleans are taken by a string attribute, spelled as in the source.
  public var coerce: Bool

  /// One row of a value table.
  public struct ValuePair: Sendable, Hashable {
    /// The word in the feed.
    public var foreign: String
    /// The raw value in the store.
    public var local: String

    /// Makes a row.
    public init(foreign: String, local: String) {
      self.foreign = foreign
      self.local = local
    }
  }

  /// Makes a format; `values` are foreign words and the raw values they mean.
  public init(
    dates: [String]? = nil,
    timeZone: String? = nil,
    numbers: NumberFormat? = nil,
    strings: StringFormat = StringFormat(),
    values: KeyValuePairs<String, String> = [:],
    unknown: String? = nil,
    coerce: Bool = false
  ) {
    self.dates = dates
    self.timeZone = timeZone
    self.numbers = numbers
    self.strings = strings
    self.values = values.map { ValuePair(foreign: $0.key, local: $0.value) }
    self.unknown = unknown
    self.coerce = coerce
  }
}
