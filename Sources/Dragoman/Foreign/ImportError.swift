/// Why an import could not be done as asked, where neither the feed nor the store is at fault.
public struct ImportError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A stable name for the kind of error.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The name, a heading of docs/errors.md.
    public let rawValue: String

    /// Makes a code; the ones the importer uses are static members.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The request names no input, or a source that the map does not have.
    public static let request = Code(rawValue: "import.request")
    /// More records were rejected than the request admits.
    public static let tooManyRejects = Code(rawValue: "import.rejects")
    /// The records that wait for objects that have not come take more memory than the request admits.
    public static let tooManyWaiting = Code(rawValue: "import.waiting")
    /// None of the map's paths occurs in the records of an input.
    public static let unmatched = Code(rawValue: "import.unmatched")
    /// The feed is otherwise than the last one where the contract of the map freezes it.
    public static let contract = Code(rawValue: "import.contract")
    /// Objects would be deleted by a feed that is not known to be complete.
    public static let prune = Code(rawValue: "import.prune")
    /// An import that was stopped cannot be gone on with as asked.
    public static let resume = Code(rawValue: "import.resume")
    /// The rejects file cannot be created, or is a file that must not be written over.
    public static let output = Code(rawValue: "import.output")
    /// The rejects file cannot be written to the end.
    public static let inputOutput = Code(rawValue: "import.io")
  }

  /// The kind of error.
  public var code: Code
  /// A full sentence for people.
  public var message: String
  /// What to do about it, where there is something to do.
  public var help: String?

  /// Makes an error.
  public init(_ code: Code, _ message: String, help: String? = nil) {
    self.code = code
    self.message = message
    self.help = help
  }

  /// Code and message on one line.
  public var description: String { "\(code.rawValue): \(message)" }
}
