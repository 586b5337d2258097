import Dragoman
import DragomanGraph

/// Why a page cannot be shown, as the page says it instead.
struct ConsoleError: Error {
  /// The HTTP status.
  var status: Int
  /// A code as in docs/errors.md; nil where the error is of the page itself.
  var code: String?
  /// A full sentence.
  var message: String
  /// What to do.
  var help: String?
  /// The place in a text that somebody wrote.
  var place: TextPlace?

  /// What went wrong, for programs.
  var json: JSONValue {
    [
      "code": .string(code ?? Self.code(of: status).rawValue),
      "message": .string(message), "help": JSONValue(help),
      "column": JSONValue(place?.column),
    ]
  }

  init(_ status: Int, _ message: String, help: String? = nil) {
    self.status = status
    self.message = message
    self.help = help.map(ConsoleWords.spelled)
  }

  /// What the library says.
  init(_ error: any Error) {
    switch error {
    case let error as ConsoleError: self = error
    case let error as StoreError:
      // What the library says to who opens a store is not for who looks at it.
      let help =
        switch error.code {
        case .missing: "put the file back where it was, and load the page again"
        case .notAStore: "put the database back in its place, or serve another file with -d"
        default: error.help
        }
      // Who looks knows what is served only by what the page says.
      let message =
        switch error.code {
        case .missing: error.path.map { "There is no such database: \($0)" } ?? error.message
        case .busy:
          "The database was being written for too long, by an import from these pages or by another process."
        default: error.message
        }
      self.init(Self.status(of: error.code), message, help: help)
      code = error.code.rawValue
      place = error.place
    case let error as ReadError:
      let origin = error.origin.map { "\($0): " } ?? ""
      self.init(error.code == .missing ? 404 : 400, origin + error.message, help: error.help)
      code = error.code.rawValue
    case let error as ImportError:
      self.init(400, error.message, help: error.help)
      code = error.code.rawValue
    case let error as ExportError:
      self.init(400, error.message, help: error.help)
      code = error.code.rawValue
    case let error as ImportFailure: self.init(error.cause)
    case let error as MapFaults:
      // As sentences: what the tool's errors look like is for terminals.
      var faults = error.faults.prefix(MapFaults.maximumPrintedCount).map { fault in
        let place = fault.place.isEmpty ? "" : "\(fault.place): "
        let suggestion = fault.suggestion.map { " Did you mean \"\($0)\"?" } ?? ""
        return "\(fault.origin): \(place)\(fault.message)\(suggestion)"
      }
      let more = error.faults.count - faults.count
      if more > 0 { faults.append("and \(Figures.grouped(more)) more") }
      self.init(
        400,
        (["The map has faults:"] + faults).joined(separator: "\n"),
        help: "mend the map and load the page again; /model shows the faults in its text"
      )
      code = error.faults.first?.code.rawValue
    default: self.init(500, "\(error)")
    }
  }

  private struct Code { let rawValue: String }

  /// What an error of a page itself is called in JSON.
  private static func code(of status: Int) -> Code {
    switch status {
    case 403, 421: Code(rawValue: "console.refused")
    case 404: Code(rawValue: "console.missing")
    case 409: Code(rawValue: "console.state")
    case 400..<500: Code(rawValue: "console.request")
    default: Code(rawValue: "console.failed")
    }
  }

  private static func status(of code: StoreError.Code) -> Int {
    switch code {
    case .badRequest, .undo, .modelConflict: 400
    case .busy, .migrated, .stopped: 503
    case .missing: 404
    default: 500
    }
  }
}
