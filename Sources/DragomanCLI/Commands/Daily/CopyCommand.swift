import ArgumentParser
import Dragoman
import DragomanGraph
import DragomanPostgreSQL
import Foundation

/// `dragoman copy -d FROM -d TO`: copies a database between files and servers.
struct CopyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy",
    abstract: "Copy a database: from a file to a server, back, or between two of a kind.",
    usage: "dragoman copy -d <from> -d <to> [<options>]",
    discussion: """
      Objects, links, what waits, and the history go over as they are at one moment, and both sides are \
      read and compared before the copy counts. It goes into a file that does not exist yet, or into an \
      empty database of a server. A copy to a server that was stopped goes on when it is run again; \
      until its end nobody can use what is there.

        dragoman copy -d people.db -d postgresql://db/people
        dragoman copy -d postgresql://db/people -d people.db
        dragoman copy -d people.db -d cities.db --entity City

      Where an import in batches is under way nothing is copied, nor where one was stopped, unless \
      --leave-stopped says that the references may stay behind that wait in what it has kept.

      Exit codes: 0 done, 64 usage, or entities that cannot be copied alone, 65 a value that the other \
      side cannot hold, 66 no such database, 69 no answer, 73 something is there already, 74 I/O error or \
      disk full, 75 busy, 77 a permission.
      """
  )

  @Option(
    name: [.customShort("d"), .customLong("database")],
    help: ArgumentHelp(
      "The database to copy, and then the one to make: a file, or postgresql://….",
      valueName: "database"
    ),
    completion: .file()
  )
  var databases: [String] = []

  @Option(
    help: ArgumentHelp(
      "Copy this entity, with its sub-entities, and no others; may come again.",
      valueName: "name"
    )
  )
  var entity: [String] = []

  @Flag(help: "Begin anew where a copy was stopped, and drop what it had copied.")
  var restart = false

  @Flag(help: "Leave behind what imports in batches keep for their end that were stopped.")
  var leaveStopped = false

  @Flag(help: "Print one JSON document on standard output.")
  var json = false

  @Flag(name: .shortAndLong, help: "Print no report; errors are printed.")
  var quiet = false

  func validate() throws {
    guard databases.count == 2 else {
      throw ValidationError("Two databases are wanted: -d FROM -d TO.")
    }
    guard !databases.contains("-") else {
      throw ValidationError("A database is a file or on a server, and no stream: -d -.")
    }
  }

  mutating func run() throws {
    let places = try databases.map { try DatabaseOptions.place(of: $0) }
    let names = databases.map(DatabaseOptions.shown)
    let showsProgress = !quiet && !json && Terminal.isTerminal(STDERR_FILENO)
    let signals = SignalWatch {}
    let start = ContinuousClock().now
    let copy: StoreCopy
    do {
      defer { if showsProgress { Messages.redraw("") } }
      copy = try places[0].copy(
        to: places[1],
        entities: entity,
        startsAnew: restart,
        leavingStopped: leaveStopped
      ) { table, count in
        if let signal = signals.received { throw Stop(signal: signal) }
        if showsProgress {
          Messages.redraw("\(VisibleText.of(table)): \(Figures.count(count, "row"))")
        }
      }
    } catch let stop as Stop {
      if case .server = places[1] {
        Messages.print("Stopped. The same command goes on from here.\n")
      } else {
        Messages.print("Stopped. Nothing was made.\n")
      }
      throw ExitCode(128 + stop.signal)
    }
    signals.end()
    let seconds = Figures.seconds(ContinuousClock().now - start)
    let report = CopyReport(copy, from: names[0], to: names[1], seconds: seconds)
    if json { return try OutputBuffer.print(report.json) }
    if !quiet { Messages.print(report.text) }
  }

  /// A signal between two batches.
  private struct Stop: Error {
    let signal: Int32
  }
}
