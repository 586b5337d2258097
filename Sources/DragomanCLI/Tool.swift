import ArgumentParser
import DragomanGraph
import Foundation

/// The tool `dragoman`.
@main
struct Tool: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dragoman",
    abstract: "Keeps a SQLite file in step with JSON, XML and CSV feeds, by declared maps.",
    version: "0.1.0",
    subcommands: [
      ImportCommand.self, FetchCommand.self, ExportCommand.self, CheckCommand.self,
      DiffCommand.self, InfoCommand.self, HistoryCommand.self, SchemaCommand.self,
      MigrateCommand.self, BackupCommand.self, WatchCommand.self,
    ]
  )

  /// Runs the command that the arguments name; every error ends in `ToolError`.
  static func main() async {
    // A reader that goes away ends the output, not the process: writing then fails with EPIPE.
    signal(SIGPIPE, SIG_IGN)
    do {
      try checkCommand(of: CommandLine.arguments)
      var command = try parseAsRoot()
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch let error as ToolError {
      error.exit()
    } catch {
      guard let known = ToolError(error) else { exit(withError: error) }
      known.exit()
    }
  }

  /// Refuses a command that there is not, before the options behind it are held against those of the
  /// tool itself.
  private static func checkCommand(of arguments: [String]) throws {
    let names = configuration.subcommands.compactMap { $0.configuration.commandName }
    guard let word = arguments.dropFirst().first(where: { $0 != "help" }), !word.hasPrefix("-"),
      !names.contains(word)
    else { return }
    let help =
      nearest(to: word, in: names).map { "Did you mean \($0)?" }
      ?? "The commands are \(names.joined(separator: ", "))."
    throw ValidationError("There is no command \(word). \(help)")
  }
}
