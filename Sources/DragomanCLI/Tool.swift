import ArgumentParser
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
}
