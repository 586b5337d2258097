import ArgumentParser
import Foundation

/// `dragoman man FOLDER`: writes the manual pages; for whoever packs the tool.
struct ManCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "man",
    abstract: "Write the manual pages of the tool and its commands into a folder.",
    shouldDisplay: false
  )

  @Argument(help: "The folder; files of the same names are replaced.")
  var folder: String

  func run() throws {
    for (name, text) in try ManPage.all(
      ofHelp: Tool._dumpHelp(),
      version: Tool.configuration.version
    ) {
      let url = URL(fileURLWithPath: folder).appendingPathComponent(name)
      do {
        try Data(text.utf8).write(to: url)
      } catch {
        throw ToolError(
          .outputFailed,
          ToolError.text(
            "export.output",
            url.path,
            "It cannot be written: \(error.localizedDescription)",
            help: nil
          )
        )
      }
    }
  }
}
