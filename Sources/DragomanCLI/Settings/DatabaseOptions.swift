import ArgumentParser
import Foundation

/// Which database: the options of all commands that have one.
///
/// `-d` counts first, then the environment's `DRAGOMAN_DB`, then `dragoman.yaml`.
struct DatabaseOptions: ParsableArguments {
  @Option(
    name: [.customShort("d"), .customLong("database")],
    help: ArgumentHelp(
      "The database file; without it that of DRAGOMAN_DB or of dragoman.yaml.",
      valueName: "database"
    ),
    completion: .file()
  )
  var named: String?

  @Option(
    help: ArgumentHelp(
      "The settings; without it the nearest dragoman.yaml of this folder and those above.",
      valueName: "file"
    ),
    completion: .file(extensions: ["yaml"])
  )
  var config: String?

  /// The environment's variable.
  static let variable = "DRAGOMAN_DB"

  /// The database, and where it was named if the command line did not.
  ///
  /// - Parameters:
  ///   - settings: The settings, where they were read already.
  ///   - own: What the settings say of the feed at hand.
  /// - Returns: The file.
  /// - Throws: `ToolError` where nobody names a database, `MapFaults` for faulty settings.
  func choice(
    in settings: ToolSettings? = nil,
    own: String? = nil
  ) throws -> (path: String, origin: String?) {
    if let named {
      if named.isEmpty { throw ToolError.noDatabase }
      return (named, nil)
    }
    if let path = ProcessInfo.processInfo.environment[Self.variable], !path.isEmpty {
      return (path, Self.variable)
    }
    if let settings = try settings ?? ToolSettings.find(named: config),
      let path = own ?? settings.defaults.database ?? settings.database
    {
      return (settings.resolved(path), settings.file)
    }
    throw ToolError.noDatabase
  }

  /// Makes `named` the database that is meant.
  ///
  /// - Parameter tells: Whether a database that the command line does not name is told: by commands that write.
  /// - Throws: `ToolError` where nobody names a database, `MapFaults` for faulty settings.
  mutating func resolve(tells: Bool = false) throws {
    // Settings that the command line names are there, also where nothing of them is needed.
    let settings = try config.flatMap { try ToolSettings.find(named: $0) }
    let (path, origin) = try choice(in: settings)
    named = path
    if tells, let origin { Messages.print("note: the database is \(path) (by \(origin))\n") }
  }
}
