/// What went wrong in the store, with its place and a way out.
public struct StoreError: Error, Sendable, CustomStringConvertible {
  /// A stable name for the kind of error; the tool derives its exit code from it.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// The name, a heading of docs/errors.md.
    public let rawValue: String

    /// Makes a code; the ones the store uses are static members.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The file is not a SQLite database, or not one of ours.
    public static let notAStore = Code(rawValue: "store.foreign")
    /// The file was written by a newer version.
    public static let newerFormat = Code(rawValue: "store.newer")
    /// The file is damaged.
    public static let damaged = Code(rawValue: "store.damaged")
    /// The file cannot be opened: missing folder, a folder in its place.
    public static let unreachable = Code(rawValue: "store.unreachable")
    /// There is no such file, and reading needs one.
    public static let missing = Code(rawValue: "store.missing")
    /// The file or its folder may not be written (or read).
    public static let permission = Code(rawValue: "store.permission")
    /// Another process holds the write lock and did not let go in time.
    public static let busy = Code(rawValue: "store.busy")
    /// The disk is full.
    public static let full = Code(rawValue: "store.full")
    /// Reading or writing the file failed.
    public static let inputOutput = Code(rawValue: "store.io")
    /// A copy of the store cannot be made under the name given.
    public static let output = Code(rawValue: "store.output")
    /// The map or model disagrees with what the file already holds.
    public static let modelConflict = Code(rawValue: "store.model")
    /// A fetch names what the model does not have, or a predicate is malformed.
    public static let badRequest = Code(rawValue: "store.request")
    /// The file was replaced, removed or migrated by another process while it was followed.
    public static let migrated = Code(rawValue: "store.migrated")
    /// An import cannot be taken back: nothing is kept of it, or what it wrote was changed since.
    public static let undo = Code(rawValue: "store.undo")
    /// Links would be left that lead nowhere: a delete rule leaves them, `noAction`.
    public static let protected = Code(rawValue: "store.protected")
    /// A statement was ended, as whoever opened the store asked to.
    public static let stopped = Code(rawValue: "store.stopped")
    /// SQLite refused for a reason that none of the other codes covers.
    public static let refused = Code(rawValue: "store.refused")
  }

  /// The kind of error.
  public let code: Code
  /// A full sentence for people.
  public let message: String
  /// What to do about it, where there is something to do.
  public let help: String?
  /// The database file, where one is concerned.
  public package(set) var path: String?
  /// Where in the text of a predicate the fault is, if it is in one.
  public internal(set) var place: TextPlace?

  /// Whether the same work may succeed when it is done again from where the store stands: a server has ended the
  /// transaction, or the connection.
  package internal(set) var isPassing = false

  /// Makes an error.
  public init(_ code: Code, _ message: String, help: String? = nil, path: String? = nil) {
    self.code = code
    self.message = message
    self.help = help
    self.path = path
  }

  /// The message and the help on one line.
  public var description: String {
    "\(code.rawValue): \(path.map { "\($0): " } ?? "")\(message)\(help.map { " (\($0))" } ?? "")"
  }
}
