/// Why an export could not be done.
public struct ExportError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A stable name for the kind of error.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The name, a heading of docs/errors.md.
    public let rawValue: String

    /// Makes a code; the ones the exporter uses are static members.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The request names what the map or the store does not have.
    public static let request = Code(rawValue: "export.request")
    /// The map does not say how records are written in this format.
    public static let map = Code(rawValue: "export.map")
    /// A stored value has no spelling that the map reads back.
    public static let value = Code(rawValue: "export.value")
    /// The output cannot be created.
    public static let output = Code(rawValue: "export.output")
    /// The output cannot be written.
    public static let inputOutput = Code(rawValue: "export.io")
    /// The export was cancelled; nothing stands under the final name.
    public static let cancelled = Code(rawValue: "export.cancelled")
  }

  /// The kind of error.
  public var code: Code
  /// A full sentence for people.
  public var message: String
  /// What to do about it, where there is something to do.
  public var help: String?
  /// Whether the reader of a pipe went away, as `head` does: no error worth a message.
  public var isClosedPipe = false

  /// Makes an error.
  public init(_ code: Code, _ message: String, help: String? = nil) {
    self.code = code
    self.message = message
    self.help = help
  }

  /// Code and message on one line.
  public var description: String { "\(code.rawValue): \(message)" }
}
