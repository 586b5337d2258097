/// Why a feed could not be read: its place, what is wrong, and a way out.
public struct ReadError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A stable name for the kind of error.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The name, a heading of docs/errors.md.
    public let rawValue: String

    /// Makes a code; the ones the readers use are static members.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// There is no such file.
    public static let missing = Code(rawValue: "input.missing")
    /// The file may not be read.
    public static let permission = Code(rawValue: "input.permission")
    /// A URL that no feed can have, or that the feed's server must not lead to.
    public static let address = Code(rawValue: "input.address")
    /// A feed cannot be fetched from the web.
    public static let web = Code(rawValue: "input.web")
    /// Reading failed half-way.
    public static let inputOutput = Code(rawValue: "input.io")
    /// Another program has changed the file while it was read.
    public static let changed = Code(rawValue: "input.changed")
    /// The file is a kind that cannot be read as a feed (a device, a socket).
    public static let unsupported = Code(rawValue: "input.unsupported")
    /// Compressed data is damaged or cut short.
    public static let compression = Code(rawValue: "input.compression")
    /// The text is not valid in its encoding, or the encoding is not known.
    public static let encoding = Code(rawValue: "input.encoding")
    /// The text is not well-formed JSON.
    public static let json = Code(rawValue: "json.syntax")
    /// The text is not well-formed XML.
    public static let xml = Code(rawValue: "xml.syntax")
    /// The XML text asks for something outside itself.
    public static let xmlExternal = Code(rawValue: "xml.external")
    /// The text is not well-formed CSV, or its header does not name the columns.
    public static let csv = Code(rawValue: "csv.syntax")
    /// A limit that protects memory or the stack was reached.
    public static let limit = Code(rawValue: "input.limit")
    /// The text ends too early.
    public static let truncated = Code(rawValue: "input.truncated")
    /// The text holds no records where the map looks for them.
    public static let noRecords = Code(rawValue: "input.norecords")
    /// The format of the text could not be told, or the map has no source for it.
    public static let format = Code(rawValue: "input.format")
    /// A line of what should be a rejects file is none.
    public static let rejects = Code(rawValue: "input.rejects")
    /// A Swift value of a type that no foreign record can hold.
    public static let value = Code(rawValue: "input.value")
  }

  /// The kind of error.
  public var code: Code
  /// A full sentence for people.
  public var message: String
  /// The place, as far as it is known.
  public var origin: Origin?
  /// What to do about it, where there is something to do.
  public var help: String?

  /// Makes an error.
  public init(_ code: Code, _ message: String, at origin: Origin? = nil, help: String? = nil) {
    self.code = code
    self.message = message
    self.origin = origin
    self.help = help
  }

  /// Place, code and message on one line.
  public var description: String {
    "\(code.rawValue): \(origin.map { "\($0): " } ?? "")\(message)"
  }
}
