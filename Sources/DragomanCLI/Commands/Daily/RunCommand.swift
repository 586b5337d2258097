import ArgumentParser
import Dragoman
import DragomanGraph
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
    if !quiet { for note in notes(on: feeds, settings) { Messages.print("note: \(note)\n") } }
    let begun = BegunRejects()
    var status: Int32 = 0
    for (number, feed) in feeds.enumerated() {
      let rest = feeds[(number + 1)...]
      // A feed may have been done when it was to stop.
      if let signal = SignalWatch.received {
        tellSkipped(feeds[number...])
        throw ExitCode(128 + signal)
      }
      do {
        // Each feed has a document of its own.
        OutputBuffer.hasPrinted.store(false, ordering: .relaxed)
        let (path, origin) = try database.choice(in: settings, own: feed.options.database)
        if !quiet {
          let note = origin.map { " (by \($0))" } ?? ""
          Messages.print("\(feed.name) -> \(DatabaseOptions.shown(path))\(note)\n")
        }
        var command = try ImportCommand.parse(try arguments(of: feed, in: settings, path))
        // What one feed left in a file the next one does not throw away.
        try await BegunRejects.$current.withValue(begun) { try await command.run() }
      } catch let code as ExitCode where code.rawValue == ToolError.ExitStatus.someRejected.rawValue
      {
        status = code.rawValue
      } catch let code as ExitCode {
        tellSkipped(rest)
        throw code
      } catch {
        guard var known = (error as? ToolError) ?? ToolError(error) else {
          tellSkipped(rest)
          throw error
        }
        known.feed = feed.name
        // The message is on standard error in any case.
        if json, !OutputBuffer.hasPrinted.load(ordering: .relaxed) {
          try? OutputBuffer.print(known.document)
        }
        let status = known.tell()
        tellSkipped(rest)
        throw ExitCode(status)
      }
    }
    if status != 0 { throw ExitCode(status) }
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

  // MARK: - Several feeds of one database

  /// What is to be known of feeds of one database before they are run.
  private func notes(on feeds: [ToolSettings.Feed], _ settings: ToolSettings) -> [String] {
    var databases: [String: String] = [:]
    var pruning: [Pruned: [String]] = [:]
    var isShared = false
    for feed in feeds {
      // What is wrong with it is told when its turn comes.
      guard
        let path = try? database.choice(in: settings, own: feed.options.database).path
      else { continue }
      let place = ToolSettings.place(of: path)
      isShared = isShared || databases[place] != nil
      databases[place] = databases[place] ?? path
      guard prunes(feed, settings), let arguments = try? arguments(of: feed, in: settings, path),
        let command = try? ImportCommand.parse(arguments)
      else { continue }
      for entity in command.prunedEntities {
        let pruned = Pruned(place: place, entity: entity)
        // A feed may be named twice.
        guard pruning[pruned]?.contains(feed.name) != true else { continue }
        pruning[pruned, default: []].append(feed.name)
      }
    }
    var notes: [String] = []
    for (pruned, names) in pruning.sorted(by: { $0.key < $1.key }) where names.count > 1 {
      let list = names.dropLast().joined(separator: ", ") + " and \(names.last ?? "")"
      let (all, others) =
        names.count == 2 ? ("both", "the other brings") : ("all", "the others bring")
      let path = DatabaseOptions.shown(databases[pruned.place] ?? "")
      notes.append(
        "\(list) \(all) prune \(pruned.entity) in \(path): each deletes what only \(others)"
      )
    }
    if dryRun, isShared {
      notes.append("each feed is tried by itself, without what those before it would bring")
    }
    return notes
  }

  /// An entity of a database.
  private struct Pruned: Hashable, Comparable {
    let place: String
    let entity: String

    static func < (one: Pruned, other: Pruned) -> Bool {
      (one.place, one.entity) < (other.place, other.entity)
    }
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
  private func arguments(
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

  private func prunes(_ feed: ToolSettings.Feed, _ settings: ToolSettings) -> Bool {
    feed.options.prunes ?? settings.defaults.prunes ?? false
  }
}
