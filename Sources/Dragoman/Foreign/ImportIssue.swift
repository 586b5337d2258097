/// Something the report names: a value that did not fit, or a record that was refused.
public struct ImportIssue: Sendable, Hashable, Codable {
  /// A stable name for the kind of issue, a heading of docs/errors.md.
  public struct Code: RawRepresentable, Sendable, Hashable, Codable {
    /// The name.
    public let rawValue: String

    /// Makes a code; the ones the importer uses are static members.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// A value of a type that the attribute does not take.
    public static let type = Code(rawValue: "value.type")
    /// A number that is none, or not of the attribute's type.
    public static let number = Code(rawValue: "value.number")
    /// A number that the type cannot hold, or that breaks `min` or `max`.
    public static let range = Code(rawValue: "value.range")
    /// A date or time that no declared format takes.
    public static let date = Code(rawValue: "value.date")
    /// A word that is neither true nor false.
    public static let boolean = Code(rawValue: "value.boolean")
    /// A word that the value table does not have.
    public static let word = Code(rawValue: "value.word")
    /// Text that is no UUID, URL, base64, or breaks `length` or `pattern`.
    public static let text = Code(rawValue: "value.text")
    /// A path that runs through a scalar or an array.
    public static let path = Code(rawValue: "value.path")
    /// More than one value where one is wanted.
    public static let repeated = Code(rawValue: "value.repeated")
    /// A mapper's closure threw, or gave a value of the wrong type.
    public static let closure = Code(rawValue: "value.closure")
    /// A required attribute is missing or null.
    public static let required = Code(rawValue: "value.required")
    /// A policy says that a missing or null value refuses the record.
    public static let refused = Code(rawValue: "value.refused")
    /// The record has no key.
    public static let keyMissing = Code(rawValue: "key.missing")
    /// Another object has the same value of another unique key.
    public static let keyDuplicate = Code(rawValue: "key.duplicate")
    /// Mode `insert`: an object with this key exists.
    public static let keyExists = Code(rawValue: "key.exists")
    /// The record is not an object.
    public static let recordType = Code(rawValue: "record.type")
    /// The record has a key that is no attribute, and the mapper takes none such.
    public static let recordKey = Code(rawValue: "record.key")
    /// The record's text is not well-formed.
    public static let recordSyntax = Code(rawValue: "record.syntax")
    /// Records are nested deeper than can be imported.
    public static let recordDepth = Code(rawValue: "record.depth")
    /// A reference names an object that is neither in the feed nor in the database.
    public static let linkUnresolved = Code(rawValue: "link.unresolved")
    /// The delete rule `deny` of a relationship protects an object.
    public static let linkDenied = Code(rawValue: "link.denied")
    /// The record lacks a required attribute, and there is no object that has it.
    public static let incomplete = Code(rawValue: "record.incomplete")
    /// A path of the map that no record had.
    public static let unmatchedPath = Code(rawValue: "path.unmatched")
    /// Two records of one feed give a nested object different values.
    public static let contradiction = Code(rawValue: "value.contradiction")
    /// A hook refused the record.
    public static let recordHook = Code(rawValue: "record.hook")
    /// The record is larger than the store takes.
    public static let recordSize = Code(rawValue: "record.size")
    /// A text holds U+0000, which the server cannot hold.
    public static let nul = Code(rawValue: "value.nul")
  }

  /// The kind of issue.
  public var code: Code
  /// The entity of the record.
  public var entity: String
  /// The attribute, where one is concerned.
  public var attribute: String?
  /// Where the value (or the record) stands.
  public var origin: Origin
  /// The foreign path of the value, as the map has it.
  public var path: String?
  /// The value as it came, shortened; masked for sensitive attributes.
  public var value: String?
  /// A full sentence for people.
  public var message: String
  /// The formats or words that were tried.
  public var tried: [String]
  /// Where the rule stands in the map.
  public var map: String?
  /// What to do about it.
  public var help: String?
  /// The record's key, as far as it could be told; masked for sensitive attributes.
  public var key: String?
  /// Whether the record was refused; otherwise the value was cleared, kept or defaulted.
  public var isReject: Bool
}
