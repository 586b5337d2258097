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
      CopyCommand.self, WatchCommand.self, ServeCommand.self, DeleteCommand.self,
      RejectsCommand.self, RunCommand.self, ExplainCommand.self, CompletionCommand.self,
      ManCommand.self,
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
    let command = command(of: CommandLine.arguments)
    let status = exitCode(for: error).rawValue
    var text = HelpText.keepingExamples(
      fullMessage(for: error),
      of: command,
      columnCount: HelpText.columnCount
    )
    if status == ToolError.ExitStatus.usage.rawValue {
      text = UsageMessage.mending(text, of: command, Array(CommandLine.arguments.dropFirst()))
    }
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
}
