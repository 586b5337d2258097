import ArgumentParser

/// Which database: the options of commands that only files have.
struct FileDatabaseOptions: ParsableArguments {
  @Option(
    name: [.customShort("d"), .customLong("database")],
    help: ArgumentHelp(
      "The database: a file; without it that of DRAGOMAN_DB or of dragoman.yaml.",
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

  /// The same as options of all databases: a server is refused where it is opened, with what one does instead.
  ///
  /// - Returns: The options, with the database that is meant.
  /// - Throws: As `DatabaseOptions.resolve(tells:)`.
  func resolved() throws -> DatabaseOptions {
    var options = DatabaseOptions()
    options.named = named
    options.config = config
    try options.resolve()
    return options
  }
}
