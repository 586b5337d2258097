import ArgumentParser
import CSQLiteSettings
import Dispatch
import DragomanGraph
import Foundation
import Synchronization

/// Where the process starts.
@main
enum Main {
  /// Not asynchronous: what runs tasks on the main queue opens files of its own, and would take the
  /// numbers of standard streams that are closed.
  static func main() {
    StandardStreams.occupy()
    // A reader that goes away ends the output, not the process: writing then fails with EPIPE.
    signal(SIGPIPE, SIG_IGN)
    // A file that may not grow further ends the work with an error (EFBIG), not the process.
    signal(SIGXFSZ, SIG_IGN)
    // Nobody asks the tool's SQLite for its memory, which it would count under a lock.
    dragoman_sqlite_counts_no_memory()
    Tool.runToTheEnd()
  }
}

/// The tool `dragoman`.
struct Tool: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dragoman",
    abstract: "Keeps a SQLite file in step with JSON, XML and CSV feeds, by declared maps.",
    version: "0.1.0",
    subcommands: [
      ImportCommand.self, FetchCommand.self, ExportCommand.self, CheckCommand.self,
      DiffCommand.self, GuessCommand.self, InfoCommand.self, HistoryCommand.self,
      UndoCommand.self, SchemaCommand.self, MigrateCommand.self, BackupCommand.self,
      CopyCommand.self,
      WatchCommand.self, ServeCommand.self,
      DeleteCommand.self, RejectsCommand.self, RunCommand.self, ExplainCommand.self,
      CompletionCommand.self, ManCommand.self,
    ]
  )

  /// Runs the command that the arguments name, prints its error, and ends the process.
  ///
  /// A command that waits for nobody runs on the main thread: the others are not made then, whose memory besides
  /// grows by a system call a page.
  static func runToTheEnd() -> Never {
    let arguments = CommandLine.arguments
    do {
      try CommandWords.check()
      try checkCommand(of: arguments)
      if hasOneDatabase(command(of: arguments)) {
        try CommandWords.checkDatabases(in: arguments)
      }
      var command = try parseAsRoot(Array(arguments.dropFirst()))
      if let asynchronous = command as? any AsyncParsableCommand {
        Foundation.exit(waitedStatus(of: asynchronous))
      }
      try command.run()
      Foundation.exit(0)
    } catch {
      Foundation.exit(status(of: error))
    }
  }

  /// The main thread waits, so that the process ends where it began: what libraries do at the end, they do on one
  /// thread, as behind any other main.
  private static func waitedStatus(of command: sending any AsyncParsableCommand) -> Int32 {
    let end = End()
    Task { end.come(await status(of: command)) }
    return end.wait()
  }

  /// How a command on other threads ended.
  private final class End: Sendable {
    private let status = Mutex<Int32>(0)
    private let isThere = DispatchSemaphore(value: 0)

    func come(_ code: Int32) {
      status.withLock { $0 = code }
      isThere.signal()
    }

    func wait() -> Int32 {
      isThere.wait()
      return status.withLock { $0 }
    }
  }

  private static func status(of command: any AsyncParsableCommand) async -> Int32 {
    var command = command
    do {
      try await command.run()
      return 0
    } catch {
      return status(of: error)
    }
  }

  /// Prints an error, and gives the exit code.
  ///
  /// Who asked for a document gets one, unless the command has printed it, or rows.
  private static func status(of error: any Error) -> Int32 {
    guard let known = (error as? ToolError) ?? ToolError(error) else { return tell(error) }
    if wantsDocument(CommandLine.arguments), !OutputBuffer.hasPrinted.load(ordering: .relaxed) {
      // The message is on standard error in any case.
      try? OutputBuffer.print(known.document)
    }
    return known.tell()
  }

  /// Whether `--json` asks for one document, and not for lines of rows or changes.
  private static func wantsDocument(_ arguments: [String]) -> Bool {
    let options = arguments.prefix { $0 != "--" }
    guard options.contains("--json") else { return false }
    let hasLines =
      switch command(of: arguments) {
      case is FetchCommand.Type, is WatchCommand.Type, is DiffCommand.Type: true
      case is HistoryCommand.Type: options.contains { $0.hasPrefix("--changes") }
      case is UndoCommand.Type: options.contains("--dry-run")
      default: false
      }
    return !hasLines
  }

  /// Prints what the argument parser has to say: help and versions are output, the rest is not.
  private static func tell(_ error: any Error) -> Int32 {
    let message = HelpText.keepingExamples(
      fullMessage(for: error),
      of: command(of: CommandLine.arguments),
      columnCount: HelpText.columnCount
    )
    let status = exitCode(for: error).rawValue
    let command = command(of: CommandLine.arguments)
    let known =
      status == ToolError.ExitStatus.usage.rawValue
      ? namingUnknown(namingNearest(message), CommandLine.arguments, of: command) : message
    let text = namingDashes(namingOption(known, of: command), CommandLine.arguments)
    guard !text.isEmpty else { return status }
    guard status == 0 else {
      Messages.print(text + "\n")
      return status
    }
    do {
      try OutputBuffer.print(text + "\n")
      return status
    } catch {
      return ToolError(error)?.tell() ?? ToolError.ExitStatus.inputOutput.rawValue
    }
  }

  /// Refuses a command that there is not, before the options behind it are held against those of the
  /// command around it.
  private static func checkCommand(of arguments: [String]) throws {
    var path: [String] = []
    var commands = configuration.subcommands
    for word in arguments.dropFirst() where word != "help" {
      if commands.isEmpty || word.hasPrefix("-") { return }
      guard let next = commands.first(where: { $0.configuration.commandName == word }) else {
        throw unknownCommand(word, of: commands, behind: path)
      }
      path.append(word)
      commands = next.configuration.subcommands
    }
  }

  /// The command that the arguments name.
  private static func command(of arguments: [String]) -> any ParsableCommand.Type {
    var command: any ParsableCommand.Type = Tool.self
    for word in arguments.dropFirst() where word != "help" {
      let commands = command.configuration.subcommands
      guard let next = commands.first(where: { $0.configuration.commandName == word }) else {
        break
      }
      command = next
    }
    return command
  }

  private static func hasOneDatabase(_ command: any ParsableCommand.Type) -> Bool {
    command.configuration.subcommands.isEmpty && command != CopyCommand.self
  }

  private static func unknownCommand(
    _ word: String,
    of commands: [any ParsableCommand.Type],
    behind path: [String]
  ) -> ValidationError {
    let names = commands.filter { $0.configuration.shouldDisplay }
      .compactMap { $0.configuration.commandName }
    let help =
      nearest(to: word, in: names).map { "Did you mean \($0)?" }
      ?? "The commands are \(names.joined(separator: ", "))."
    let whole = (path + [word]).joined(separator: " ")
    return ValidationError("There is no command \(whole). \(help)")
  }

  /// What the argument parser says of an option that there is not, with the one that it abbreviates, or the nearest
  /// where it names none: `--version` and `--help` are none of a command's own.
  static func namingOption(_ text: String, of command: any ParsableCommand.Type) -> String {
    let start = "Error: Unknown option '"
    guard text.hasPrefix(start) else { return text }
    let first = text.prefix { $0 != "\n" }
    let word = String(text.dropFirst(start.count).prefix { $0 != "'" })
    let names = options(of: command) + ["--help"] + (command == Tool.self ? ["--version"] : [])
    let abbreviated = names.filter { abbreviates(word, $0) }
    let near =
      abbreviated.count == 1
      ? abbreviated[0] : first.contains("Did you mean") ? nil : nearest(to: word, in: names)
    guard let near else { return text }
    return "\(start)\(word)'. Did you mean '\(near)'?" + text.dropFirst(first.count)
  }

  /// The long names of a command's own options.
  private static func options(of command: any ParsableCommand.Type) -> [String] {
    let lines = command.helpMessage(columns: 1000).split(separator: "\n").filter {
      $0.hasPrefix("  -")
    }
    return lines.flatMap { line in
      line.dropFirst(2).split(separator: "  ")[0].split { " ,/".contains($0) }.map(String.init)
    }.filter { $0.hasPrefix("--") }
  }

  /// What is wrong with a command line that has an option which there is not: that one, whatever else is missing
  /// because its value was taken for something else.
  static func namingUnknown(
    _ text: String,
    _ arguments: [String],
    of command: any ParsableCommand.Type
  ) -> String {
    let start = "Error: "
    // Behind a command that there is not nobody knows the options.
    guard text.hasPrefix(start), !text.hasPrefix(start + "Unknown option"),
      command.configuration.subcommands.isEmpty
    else { return text }
    let names = options(of: command) + ["--help", "--version"]
    let unknown = arguments.dropFirst().prefix { $0 != "--" }.lazy
      .filter { $0.hasPrefix("--") && !$0.hasPrefix("---") }
      .map { String($0.prefix { $0 != "=" }) }
      .first { !names.contains($0) }
    guard let unknown else { return text }
    let first = text.prefix { $0 != "\n" }
    return "\(start)Unknown option '\(unknown)'" + text.dropFirst(first.count)
  }

  /// Whether a word has letters of another one in their order, from its first one on: `--db` of `--database`.
  private static func abbreviates(_ word: String, _ whole: String) -> Bool {
    guard word.count > 3, word.prefix(3) == whole.prefix(3) else { return false }
    var rest = whole[...]
    for letter in word {
      guard let place = rest.firstIndex(of: letter) else { return false }
      rest = rest[rest.index(after: place)...]
    }
    return true
  }

  /// What the argument parser says of a value that is missing, where there is one that begins with a dash.
  static func namingDashes(_ text: String, _ arguments: [String]) -> String {
    let start = "Error: Missing value for '"
    guard text.hasPrefix(start) else { return text }
    let option = String(text.dropFirst(start.count).prefix { $0 != " " && $0 != "'" })
    guard let place = arguments.lastIndex(of: option), place + 1 < arguments.count,
      arguments[place + 1].hasPrefix("-")
    else { return text }
    let first = text.prefix { $0 != "\n" }
    let hint = "'\(arguments[place + 1])' is taken for an option. A value that begins with a dash:"
    return first + "; \(hint) \(option)='\(arguments[place + 1])'" + text.dropFirst(first.count)
  }

  /// What the argument parser says of a value that is not one of several, with the nearest of them.
  static func namingNearest(_ text: String) -> String {
    let start = "Error: The value '"
    guard text.hasPrefix(start), let list = text.range(of: "Please provide one of") else {
      return text
    }
    let word = String(text.dropFirst(start.count).prefix { $0 != "'" })
    var values: [String] = []
    for line in text[list.upperBound...].split(separator: "\n") {
      if line.hasPrefix("Help:") { break }
      if line.hasPrefix("  - ") {
        values.append(String(line.dropFirst(4)))
      } else {
        // What stands between quotes is every second piece.
        let pieces = line.split(separator: "'", omittingEmptySubsequences: false)
        for index in stride(from: 1, to: pieces.count, by: 2) {
          values.append(String(pieces[index]))
        }
      }
    }
    guard let near = nearest(to: word, in: values) else { return text }
    return String(text[..<list.lowerBound]) + "Did you mean '\(near)'? "
      + String(text[list.lowerBound...])
  }
}
