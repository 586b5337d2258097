import ArgumentParser

/// `dragoman rejects`: what is done with a file of rejected records.
struct RejectsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rejects",
    abstract: "Look at rejected records, or import them again.",
    subcommands: [RejectsRetryCommand.self, RejectsShowCommand.self]
  )
}
