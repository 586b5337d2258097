import ArgumentParser
import Dragoman
import DragomanGraph
import DragomanPostgreSQL
import Foundation

/// `dragoman run NAME…`: imports the feeds that `dragoman.yaml` names.
struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Import feeds that dragoman.yaml names.",
    usage: "dragoman run <name> ... | --all [<options>]",
    discussion: """
      A dragoman.yaml stands in the working directory or one above it, up to the home; its paths are \
      relative to it:

        database: people.db
        defaults: { rejects: "rejects-{feed}.ndjson", maxRejects: 100 }
        feeds:
          nightly:
            map: people.map.yaml
            inputs: [inbox/people.json, "inbox/more-*.json"]
            prune: true

      A feed has the options of import under their names: source, mode, commit, batchSize, rejects, \
      maxRejects, prune, pruneMax, maxRecordSize, maxWaitingSize, maxBytes, timeout, retries, headers, \
      certificates; and a database of its own, if need be. They hold for run and nothing else. Feeds come in the order of the command line, with --all in that of \
      the file; one that fails ends the run, and with --json a document with "status":"notRun" names each \
      that it left out. With --dry-run each feed is tried by itself, without what those before it would bring.

      Exit codes: those of import; 3 if records of any feed were rejected.
      """
  )

  @Argument(
    help: "The names of feeds.",
    completion: .custom { words, _, _ in Suggestions(words).feeds }
  )
  var names: [String] = []

  @Flag(help: "All feeds, in the order of the file.")
  var all = false

  @OptionGroup
  var database: DatabaseOptions

  @Flag(help: "Do everything and keep nothing.")
  var dryRun = false

  @Flag(help: "Go on with a feed in batches that was stopped.")
  var resume = false

  @Option(help: "How progress is shown: auto, bar, plain, json or none.")
  var progress: ProgressDisplay.Style = .auto

  @Flag(help: "Print one JSON document a feed on standard output.")
  var json = false

  @Flag(name: .shortAndLong, help: "Print no reports and no progress; errors are printed.")
  var quiet = false

  func validate() throws {
    // Any other import would let what is kept of it be forgotten.
    if resume && names.count != 1 {
      throw ValidationError("--resume goes on with one feed: name it.")
    }
    if resume && dryRun { throw ValidationError("--resume goes on with batches: no --dry-run.") }
    if all && !names.isEmpty { throw ValidationError("--all and names exclude each other.") }
  }

  func run() async throws {
    guard let settings = try ToolSettings.find(named: database.config) else {
      throw ToolError.noSettings
    }
    let feeds = try feeds(of: settings)
    for feed in feeds { try settings.checkName(of: feed) }
    if !quiet { for note in notes(on: feeds, settings) { Messages.print("note: \(note)\n") } }
    let place = Place(enteringFolderOf: settings)
    let begun = BegunRejects()
    var rest = feeds[...]
    var hasRejects = false
    do {
      while let feed = rest.first {
        // A feed may have been done when it was to stop.
        if let signal = SignalWatch.received { throw ExitCode(128 + signal) }
        rest = rest.dropFirst()
        // What one feed left in a file the next one does not throw away.
        let isWhole = try await BegunRejects.$current.withValue(begun) {
          try await run(feed, settings, place)
        }
        if !isWhole { hasRejects = true }
      }
    } catch {
      tellSkipped(rest)
      throw error
    }
    if hasRejects { throw ExitCode(ToolError.ExitStatus.someRejected.rawValue) }
  }

  /// Imports a feed.
  ///
  /// - Returns: Whether none of its records was rejected.
  /// - Throws: `ExitCode` where it failed, and that was told.
  private func run(
    _ feed: ToolSettings.Feed,
    _ settings: ToolSettings,
    _ place: Place
  ) async throws -> Bool {
    // Each feed has a document of its own.
    OutputBuffer.hasPrinted.store(false, ordering: .relaxed)
    do {
      let (path, origin) = try database.choice(in: settings, own: feed.options.database)
      if !quiet {
        let note = origin.map { " (by \($0))" } ?? ""
        Messages.print("\(feed.name) -> \(DatabaseOptions.shown(path))\(note)\n")
      }
      let inner =
        origin == settings.file
        ? try database.choice(in: place.settings, own: feed.options.database).path
        : place.path(ofOuter: path)
      var command = try ImportCommand.parse(
        try arguments(of: feed, in: place.settings, inner)
      )
      try await command.run()
      return true
    } catch let code as ExitCode {
      guard code.rawValue == ToolError.ExitStatus.someRejected.rawValue else { throw code }
      return false
    } catch {
      guard var known = (error as? ToolError) ?? ToolError(error) else { throw error }
      known.feed = feed.name
      // The message is on standard error in any case.
      if json, !OutputBuffer.hasPrinted.load(ordering: .relaxed) {
        try? OutputBuffer.print(known.document)
      }
      throw ExitCode(known.tell())
    }
  }

  /// The folder of the settings, where feeds are run: files have the same names there from wherever that is asked
  /// for, and those may be part of keys (`$file`).
  private struct Place {
    /// The settings as they are seen from there.
    let settings: ToolSettings
    /// Where the tool was started.
    private let outerFolder: String

    /// Makes it the working directory.
    init(enteringFolderOf settings: ToolSettings) {
      var inner = settings
      outerFolder = FileManager.default.currentDirectoryPath
      if !settings.folder.isEmpty,
        FileManager.default.changeCurrentDirectoryPath(settings.folder)
      {
        inner.folder = ""
      }
      self.settings = inner
    }

    /// A database that was named where the tool was started.
    func path(ofOuter path: String) -> String {
      let isSame = outerFolder == FileManager.default.currentDirectoryPath
      let isWhole = isSame || path.utf8.first == UInt8(ascii: "/") || PostgreSQLServer.isURL(path)
      return isWhole ? path : FilePath.file(path, in: outerFolder)
    }
  }

  /// Tells of the feeds that one before them keeps from being run, behind the reason, which is what the command ends
  /// with whether this is read or not.
  private func tellSkipped(_ feeds: ArraySlice<ToolSettings.Feed>) {
    guard !feeds.isEmpty else { return }
    Messages.print("note: \(feeds.map(\.name).joined(separator: ", ")) did not run\n")
    guard json else { return }
    for feed in feeds {
      try? OutputBuffer.print(JSONDocument.text(SkippedFeed(feed: feed.name)) + "\n")
    }
  }

  /// The document of a feed that did not run.
  private struct SkippedFeed: Encodable {
    let feed: String
    let status = "notRun"
    let v = 1
  }

  /// The feeds that are meant.
  private func feeds(of settings: ToolSettings) throws -> [ToolSettings.Feed] {
    let known = settings.feeds.map(\.name)
    if all && !known.isEmpty { return settings.feeds }
    guard !names.isEmpty else { throw ToolError.noFeed(nil, known, in: settings.file) }
    return try names.map { name in
      guard let feed = settings.feeds.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
        throw ToolError.noFeed(name, known, in: settings.file)
      }
      return feed
    }
  }

  /// The command line that imports a feed.
  func arguments(
    of feed: ToolSettings.Feed,
    in settings: ToolSettings,
    _ database: String
  ) throws(MapFaults) -> [String] {
    func path(_ text: String) -> String {
      let path = settings.resolved(text)
      // A name is no option.
      return path != "-" && path.hasPrefix("-") ? "./" + path : path
    }
    let own = feed.options
    let defaults = settings.defaults
    var arguments = [path(own.map ?? defaults.map ?? "")]
    arguments += feed.inputs.map(path)
    arguments += ["--database=\(database)", "--progress=\(progress.rawValue)"]
    for source in own.sources.isEmpty ? defaults.sources : own.sources {
      arguments.append("--source=\(source)")
    }
    if let file = settings.rejectsFile(of: feed) { arguments.append("--rejects=\(file)") }
    let named = Set(own.values.map(\.option))
    for (option, value) in own.values + defaults.values.filter({ !named.contains($0.option) })
    where option != "--prune-max" || prunes(feed, settings) {
      if option == "--header" { try checkVariable(of: value, feed, settings) }
      arguments.append("\(option)=\(option == "--certificates" ? path(value) : value)")
    }
    if prunes(feed, settings) { arguments.append("--prune") }
    if resume { arguments.append("--resume") }
    if dryRun { arguments.append("--dry-run") }
    if json { arguments += ["--json", "--feed=\(feed.name)"] }
    if quiet { arguments.append("--quiet") }
    return arguments
  }

  private func checkVariable(
    of header: String,
    _ feed: ToolSettings.Feed,
    _ settings: ToolSettings
  ) throws(MapFaults) {
    guard let header = HeaderVariable(header), header.value == nil else { return }
    throw MapFaults([
      MapFault(
        .settingsValue,
        "The environment variable \(header.variable), which headers of the feed \(feed.name) names, is not set.",
        file: settings.file
      )
    ])
  }

  /// Whether a feed deletes what it does not have.
  func prunes(_ feed: ToolSettings.Feed, _ settings: ToolSettings) -> Bool {
    feed.options.prunes ?? settings.defaults.prunes ?? false
  }
}
