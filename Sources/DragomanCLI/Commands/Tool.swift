import ArgumentParser
import CSQLiteSettings
import Dispatch
import DragomanGraph
import Foundation

/// Where the process starts.
@main
enum Main {
  /// Not asynchronous: what runs tasks on the main queue opens files of its own, and would take the
  /// numbers of standard streams that are closed.
  static func main() {
    StandardStreams.occupy()
    // A reader that goes away ends the output, not the process: writing then fails with EPIPE.
    signal(SIGPIPE, SIG_IGN)
    // Nobody asks the tool's SQLite for its memory, which it would count under a lock.
    dragoman_sqlite_counts_no_memory()
    Task { exit(await Tool.status()) }
    dispatchMain()
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
      WatchCommand.self,
      DeleteCommand.self, RejectsCommand.self, RunCommand.self, ExplainCommand.self,
      CompletionCommand.self, ManCommand.self,
    ]
  )

  /// Runs the command that the arguments name, and prints its error.
  ///
  /// - Returns: The exit code.
  static func status() async -> Int32 {
    do {
      try checkCommand(of: CommandLine.arguments)
      var command = try parseAsRoot()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
      return 0
    } catch {
      if let known = (error as? ToolError) ?? ToolError(error) { return known.tell() }
      return tell(error)
    }
  }

  /// Prints what the argument parser has to say: help and versions are output, the rest is not.
  private static func tell(_ error: any Error) -> Int32 {
    let text = fullMessage(for: error)
    let status = exitCode(for: error).rawValue
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
  /// tool itself.
  private static func checkCommand(of arguments: [String]) throws {
    let names = configuration.subcommands.filter { $0.configuration.shouldDisplay }
      .compactMap { $0.configuration.commandName }
    guard let word = arguments.dropFirst().first(where: { $0 != "help" }), !word.hasPrefix("-"),
      !names.contains(word), word != ManCommand.configuration.commandName
    else { return }
    let help =
      nearest(to: word, in: names).map { "Did you mean \($0)?" }
      ?? "The commands are \(names.joined(separator: ", "))."
    throw ValidationError("There is no command \(word). \(help)")
  }
}
