import Dragoman
import DragomanGraph
import Foundation

/// What a `dragoman.yaml` says: the database, and the feeds that come every day.
struct ToolSettings {
  /// One feed: what `dragoman import` is told of it.
  struct Feed {
    var name: String
    var inputs: [String] = []
    var options = Options()
    /// Where the file names it.
    var position: MapPosition?

    /// Whether `{feed}` in the name of a file would lead elsewhere.
    fileprivate var isPath: Bool {
      ["", ".", ".."].contains(name) || name.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "/") }
    }
  }

  /// What is said of a feed, or of all by `defaults`.
  struct Options {
    var map: String?
    var database: String?
    var rejects: String?
    var sources: [String] = []
    /// The values of options of `import`, by their names, in the order of the file.
    var values: [(option: String, value: String)] = []
    var prunes: Bool?
  }

  /// The file, as messages name it.
  var file: String
  /// Its folder, which paths in it are relative to; empty for the working directory.
  var folder: String
  var database: String?
  var defaults = Options()
  var feeds: [Feed] = []

  /// The name of the file that is looked for.
  static let fileName = "dragoman.yaml"

  /// A path of the file, seen from the working directory.
  func resolved(_ path: String) -> String {
    let isWhole = path == "-" || path.utf8.first == UInt8(ascii: "/") || path.contains("://")
    return isWhole ? path : FilePath.file(path, in: folder)
  }

  /// Where the rejects of a feed go; nil: the settings do not say, or not of a feed of that name (`checkName(of:)`).
  func rejectsFile(of feed: Feed) -> String? {
    let named = feed.options.rejects ?? defaults.rejects
    guard let named, !named.contains(Self.feedMark) || !feed.isPath else { return nil }
    return resolved(named.replacing(Self.feedMark, with: feed.name))
  }

  /// What stands for the feed's name in that of a file.
  private static let feedMark = "{feed}"

  /// Refuses a feed that is to be run where `{feed}` in the name of its rejects file would lead elsewhere.
  ///
  /// - Throws: `MapFaults`.
  func checkName(of feed: Feed) throws(MapFaults) {
    guard feed.isPath, (feed.options.rejects ?? defaults.rejects)?.contains(Self.feedMark) == true
    else { return }
    throw MapFaults([
      MapFault(
        .settingsValue,
        "A feed cannot be called \"\(feed.name)\" where {feed} in the name of a file stands for it: that is not empty,"
          + " neither \".\" nor \"..\", and has no slash and no U+0000.",
        file: file,
        position: feed.position,
        rule: "rename it, or name its rejects file without {feed}"
      )
    ])
  }

  /// What is the same of paths of one file.
  static func place(of path: String) -> String {
    (try? OutputPlace.target(of: path)) ?? path
  }

  /// Finds and reads the settings.
  ///
  /// - Parameter named: The file that `--config` names; nil: the nearest `dragoman.yaml` of the working directory
  ///   and of those above it, up to the home.
  /// - Returns: nil where there is none.
  /// - Throws: `MapFaults` for what is wrong with it, `ToolError` for a file that is not the user's own.
  static func find(named: String?) throws -> ToolSettings? {
    if let named { return try SettingsReader(named).settings() }
    guard let found = nearestFile() else { return nil }
    if let owner = FileStatus(found)?.owner, owner != getuid(), owner != 0 {
      // Whoever may write above the working directory must not choose the database.
      throw ToolError.foreignSettings(found)
    }
    return try SettingsReader(found).settings()
  }

  private static func nearestFile() -> String? {
    let working = FileManager.default.currentDirectoryPath
    let home = ProcessInfo.processInfo.environment["HOME"].map { FilePath.resolved($0) }
    var folder = FilePath.resolved(working)
    var path = fileName
    while true {
      if FileManager.default.fileExists(atPath: folder + "/" + fileName) { return path }
      if folder == home || folder == "/" || folder.isEmpty { return nil }
      folder = FilePath.folder(of: folder)
      path = "../" + path
    }
  }
}
