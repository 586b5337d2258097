import Dragoman
import DragomanGraph
import Foundation

/// Turns every error into the text and the exit code that docs/errors.md promises.
struct ToolError: Error {
  /// The exit codes of sysexits.h that the tool uses, and its own 3.
  enum ExitStatus: Int32 {
    case someRejected = 3
    case usage = 64
    case badData = 65
    case inputMissing = 66
    case storeUnreachable = 69
    case outputFailed = 73
    case inputOutput = 74
    case busy = 75
    case permission = 77
  }

  let status: ExitStatus
  let text: String
  /// The feed of dragoman.yaml that it happened to; nil: none of them.
  var feed: String?

  /// The text and status of an error of the library; nil for errors of the argument parser.
  init?(_ error: any Error) {
    switch error {
    case let error as ReadError: self.init(error)
    case let error as StoreError: self.init(error)
    case let error as ImportError: self.init(error)
    case let error as ExportError: self.init(error)
    case let error as ContextError:
      // Of records that go through a context on their way into a server.
      self.init(.badData, Self.text(error.code.rawValue, nil, error.message, help: error.help))
    case let error as ImportFailure: self.init(error.cause)
    case let faults as MapFaults:
      let codes = faults.faults.map(\.code)
      let status: ExitStatus =
        codes.contains(.permission)
        ? .permission
        : codes.contains { [.file, .settingsMissing].contains($0) } ? .inputMissing : .badData
      self.init(status, faults.description)
    case let error as OutputError:
      self.init(.inputOutput, Self.text("output.io", nil, error.description, help: nil))
    default: return nil
    }
  }

  /// Prints the error on standard error.
  ///
  /// - Returns: The exit code.
  func tell() -> Int32 {
    Messages.print(text + "\n")
    return status.rawValue
  }

  /// What `--json` prints of a command that has nothing to tell but why it failed, on one line.
  var document: String {
    get throws {
      try JSONDocument.text(Document(error: text, feed: feed)) + "\n"
    }
  }

  private struct Document: Encodable {
    let error: String
    let feed: String?
    let status = "failed"
    let v = 1
  }

  /// What is in the way of a migration, a line each.
  init(faults: [String], in database: String) {
    let code = StoreError.Code.modelConflict.rawValue
    status = .badData
    text = faults.map(ToolWords.spelled).map { Self.text(code, database, $0, help: nil) }
      .joined(separator: "\n")
  }

  /// No command line, environment or settings name a database.
  static var noDatabase: ToolError {
    ToolError(
      .usage,
      text(
        "tool.database",
        nil,
        "Which database?",
        help: "say -d FILE, set DRAGOMAN_DB, or write database: into a dragoman.yaml"
      )
    )
  }

  /// What is named is a server of another kind, or spelled in another way.
  static var notADatabase: ToolError {
    ToolError(
      .usage,
      text(
        "tool.database",
        nil,
        "The database is neither the path of a file nor the URL of a PostgreSQL server.",
        help:
          "write a server as postgresql://user@host/database; a file that is called so as ./NAME"
      )
    )
  }

  /// A command that works on files only.
  static func onServer(_ command: String, _ database: String, help: String) -> ToolError {
    ToolError(
      .usage,
      text("tool.server", database, "\(command) works on a file, not on a server.", help: help)
    )
  }

  /// There are no settings, and the command needs some.
  static var noSettings: ToolError {
    ToolError(
      .inputMissing,
      text(
        "config.missing",
        nil,
        "There is no dragoman.yaml in this folder or one above it, up to the home.",
        help: "write one, or name one with --config FILE"
      )
    )
  }

  /// Settings above the working directory that somebody else has written.
  static func foreignSettings(_ file: String) -> ToolError {
    ToolError(
      .permission,
      text(
        "config.owner",
        file,
        "These settings belong to another user.",
        help: "say --config \(file) if they are meant"
      )
    )
  }

  /// A feed that the settings do not have, or none named.
  static func noFeed(_ name: String?, _ known: [String], in file: String) -> ToolError {
    let near = name.flatMap { nearest(to: $0, in: known) }
    let question = known.isEmpty ? "The settings name no feeds." : "Which feed?"
    let list =
      known.isEmpty
      ? "name feeds under feeds:, each with its map and inputs"
      : "there are \(known.joined(separator: ", ")); --all runs all of them"
    return ToolError(
      .usage,
      text(
        "tool.feed",
        file,
        name.map { "There is no feed \($0)." } ?? question,
        help: near.map { "did you mean \($0)?" } ?? list
      )
    )
  }

  /// A code that no error has.
  static func noCode(_ word: String, nearest: String?) -> ToolError {
    ToolError(
      .usage,
      text(
        "tool.code",
        nil,
        "There is no error code \(word).",
        help: nearest.map { "did you mean \($0)?" } ?? "`dragoman explain` lists all of them"
      )
    )
  }

  /// Nobody can be asked whether to go on.
  static var noTerminal: ToolError {
    ToolError(
      .usage,
      text(
        "tool.terminal",
        nil,
        "There is no terminal to ask at whether to go on.",
        help: "say --yes to go on, or --dry-run to see what would be done"
      )
    )
  }

  /// What delete rules say against a deletion.
  ///
  /// - Parameters:
  ///   - protections: A sentence a rule, and what it keeps.
  ///   - database: The database.
  init(protections: [(sentence: String, objects: [String])], in database: String) {
    status = .badData
    text = protections.map { protection in
      let objects = protection.objects.map { "\n  object   \($0)" }.joined()
      return Self.text("store.protected", database, protection.sentence, help: nil) + objects
        + "\n  help     delete or unlink its targets first, or give the relationship another onDelete"
    }.joined(separator: "\n")
  }

  init(_ status: ExitStatus, _ text: String) {
    self.status = status
    self.text = text
  }

  private init(_ error: ReadError) {
    status =
      switch error.code {
      case .missing: .inputMissing
      case .permission: .permission
      case .inputOutput, .changed: .inputOutput
      case .web: .storeUnreachable
      default: .badData
      }
    let place = error.origin?.description
    text = Self.text(error.code.rawValue, place, error.message, help: error.help)
  }

  private init(_ error: StoreError) {
    status =
      switch error.code {
      case .missing: .inputMissing
      case .unreachable: .storeUnreachable
      case .permission: .permission
      case .busy, .migrated, .stopped: .busy
      case .full, .inputOutput, .refused: .inputOutput
      case .badRequest: .usage
      case .output: .outputFailed
      default: .badData
      }
    text = Self.text(
      error.code.rawValue,
      error.path,
      error.message,
      at: error.place,
      help: error.help
    )
  }

  private init(_ error: ImportError) {
    status =
      switch error.code {
      case .request: .usage
      case .output: .outputFailed
      case .inputOutput: .inputOutput
      default: .badData
      }
    text = Self.text(error.code.rawValue, nil, error.message, help: error.help)
  }

  private init(_ error: ExportError) {
    status =
      switch error.code {
      case .request: .usage
      case .output: .outputFailed
      case .inputOutput: .inputOutput
      default: .badData
      }
    text = Self.text(error.code.rawValue, nil, error.message, help: error.help)
  }

  static func text(
    _ code: String,
    _ place: String?,
    _ message: String,
    at excerpt: TextPlace? = nil,
    help: String?
  ) -> String {
    var text = "error[\(code)]: "
    if let place { text += "\(place): " }
    text += message
    if let excerpt {
      text += Excerpt.lines(excerpt, label: "  at       ").map { "\n" + $0 }.joined()
    }
    if let help { text += "\n  help     \(ToolWords.spelled(help))" }
    return text
  }
}

extension Result<ImportReport, ImportFailure> {
  /// What the tool ends with behind an import.
  ///
  /// - Parameter signal: What it received meanwhile; nil: nothing.
  /// - Returns: The exit code; nil: all went in.
  func exitStatus(signal: Int32?) -> Int32? {
    switch self {
    case .failure(let failure): ToolError(failure)?.status.rawValue ?? 1
    case .success(let report) where report.status == .cancelled: 128 + (signal ?? SIGINT)
    case .success(let report) where report.status == .rejected:
      ToolError.ExitStatus.someRejected.rawValue
    case .success: nil
    }
  }
}
