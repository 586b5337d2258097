import ArgumentParser
import DragomanGraph
import DragomanPostgreSQL
import Foundation

/// Which database: the options of all commands that have one.
///
/// `-d` counts first, then the environment's `DRAGOMAN_DB`, then `dragoman.yaml`.
struct DatabaseOptions: ParsableArguments {
  @Option(
    name: [.customShort("d"), .customLong("database")],
    help: ArgumentHelp(
      "The database: a file, or postgresql://…; without it that of DRAGOMAN_DB or of dragoman.yaml.",
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
      return (try Self.checked(named), nil)
    }
    if let path = ProcessInfo.processInfo.environment[Self.variable], !path.isEmpty {
      return (try Self.checked(path), Self.variable)
    }
    if let settings = try settings ?? ToolSettings.find(named: config),
      let path = own ?? settings.defaults.database ?? settings.database
    {
      let path = try Self.checked(path)
      return (PostgreSQLServer.isURL(path) ? path : settings.resolved(path), settings.file)
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
    if tells, let origin { Messages.print("note: the database is \(shown) (by \(origin))\n") }
  }

  // MARK: - Servers

  /// Refuses what is meant for a server and would be taken for a file; nothing of it is shown, because it may hold a
  /// password.
  private static func checked(_ database: String) throws -> String {
    let text = database.trimmingCharacters(in: .whitespaces)
    if PostgreSQLServer.isURL(text) { return text }
    // Settings as libpq takes them, and URLs that are misspelt.
    let settings =
      /^\s*(host|hostaddr|port|dbname|user|service|passfile|sslmode)\s*=|(password|passwd)\s*=/
    let urls = /^[a-z][a-z0-9+.-]*:.*@|:\/\/|^postgres(ql)?:/
    let isMeant =
      text.contains(settings.ignoresCase().matchingSemantics(.unicodeScalar))
      || text.contains(urls.ignoresCase().dotMatchesNewlines().matchingSemantics(.unicodeScalar))
    guard isMeant else { return database }
    throw ToolError.notADatabase
  }

  /// Where a database is that a command names besides.
  ///
  /// - Throws: `ToolError` for what is neither a file nor a URL of PostgreSQL.
  static func place(of database: String) throws -> CopyPlace {
    let database = try checked(database)
    if database.isEmpty { throw ToolError.noDatabase }
    return PostgreSQLServer.isURL(database) ? .server(PostgreSQLServer(database)) : .file(database)
  }

  /// The server that the database is on; nil: it is a file.
  var server: PostgreSQLServer? {
    named.flatMap { PostgreSQLServer.isURL($0) ? PostgreSQLServer($0) : nil }
  }

  /// The database as messages name it: a URL without user and password.
  var shown: String { named.map(Self.shown) ?? "" }

  /// A database as messages name it.
  static func shown(_ database: String) -> String {
    PostgreSQLServer.isURL(database) ? PostgreSQLServer(database).name : database
  }

  /// Opens the database for reading: of a server, what is wanted of it is read into a temporary file.
  ///
  /// - Parameters:
  ///   - options: How a file is opened.
  ///   - part: What is wanted of a server.
  /// - Returns: The file, or the copy.
  /// - Throws: `StoreError`.
  func open(
    _ options: SQLiteStore.Options,
    reading part: ServerCopy.Part = .everything
  ) throws -> SQLiteStore {
    if let server { return try server.copy(of: part) }
    return try SQLiteStore(at: .file(named ?? ""), options: options)
  }

  /// Looks back in a copy of a server: that an import cannot be taken back there is told of the server.
  ///
  /// - Parameter body: What reads the copy.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  func naming<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as StoreError where server != nil && error.code == .undo {
      var named = error
      named.path = error.path ?? shown
      throw named
    }
  }

  /// Opens the database for a command that only files have.
  ///
  /// - Parameters:
  ///   - command: What is asked of it, in words: `dragoman undo`.
  ///   - options: How the file is opened.
  ///   - help: What one does instead.
  /// - Returns: The file.
  /// - Throws: `ToolError` for a server, `StoreError`.
  func openFile(
    for command: String,
    _ options: SQLiteStore.Options,
    help: String = "docs/scale.md says what can be done on a server"
  ) throws -> SQLiteStore {
    if server != nil { throw ToolError.onServer(command, shown, help: help) }
    return try SQLiteStore(at: .file(named ?? ""), options: options)
  }
}
