import ArgumentParser
import Dispatch
import DragomanGraph
import Foundation

/// `dragoman watch`: shows the objects of an entity as they change.
struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Show the objects of an entity as they change.",
    usage: "dragoman watch <entity> -d <database> [<options>]",
    discussion: """
      On a terminal the objects stand in a table that is drawn anew when another process commits \
      a change. In a pipe they come as NDJSON: a line with their number, a line for each, and then a \
      line for each row that is inserted, deleted, moved or updated, in the order in which the \
      changes are to be applied:

        dragoman watch Person -d people.db --sort -salary --limit 20
        dragoman watch Order -d shop.db | jq 'select(.event == "inserted")'

      Ends with Ctrl-C, or when nobody reads any more.
      """
  )

  /// How changes are shown.
  enum Format: String, CaseIterable, ExpressibleByArgument {
    /// A table that is drawn over.
    case table
    /// One JSON object a change.
    case ndjson
  }

  @Argument(
    help: "The entity, as the map names it.",
    completion: .custom { words, _, _ in Suggestions(words).entities }
  )
  var entity: String

  @OptionGroup
  var databaseOptions: DatabaseOptions

  @OptionGroup
  var selection: SelectionOptions

  @Option(
    help: ArgumentHelp("The values to show; all attributes without it.", valueName: "a,b.c"),
    completion: .custom { words, _, start in Suggestions(words).paths(behind: start) }
  )
  var columns: String?

  @Option(help: ArgumentHelp("How often to look for changes.", valueName: "seconds"))
  var interval = 1.0

  @Option(name: .shortAndLong, help: "The format; table on a terminal, ndjson in a pipe.")
  var format: Format?

  func validate() throws {
    guard interval >= 0.01, interval <= 86_400 else {
      throw ValidationError("--interval must be from 0.01 to 86400 seconds.")
    }
  }

  mutating func run() async throws {
    try databaseOptions.resolve()
    let results: StoredResults<[StoredValue]>
    let attributes: [Attribute]
    if let server = try databaseOptions.server?.store() {
      let request = try request().showingKeys(in: server.layout)
      results = try await server.results(request, pollingEvery: .seconds(interval))
      attributes = try server.attributes(of: request)
    } else {
      let store = try databaseOptions.open(
        SQLiteStore.Options(isReadOnly: true, createsFile: false)
      )
      let request = try request().showingKeys(in: store.layout)
      results = try await store.results(request, pollingEvery: .seconds(interval))
      attributes = try store.attributes(of: request)
    }
    let isTerminal = Terminal.isTerminal(STDOUT_FILENO)
    let output = OutputBuffer(descriptor: STDOUT_FILENO)
    let display: any WatchDisplay =
      (format ?? (isTerminal ? .table : .ndjson)) == .table
      ? WatchTable(entity, attributes, to: output, isTerminal: isTerminal)
      : WatchEventWriter(attributes, to: output)
    let screen = WatchScreen(display)

    // The first of these ends it: a signal, a reader that goes away, an error.
    let (endings, ending) = AsyncStream<WatchEnding>
      .makeStream(bufferingPolicy: .bufferingOldest(1))
    let restores = display.takesScreen
    let signals = SignalWatch {
      ending.yield(.stop)
    } abandon: {
      if restores { WatchTable.restoreScreen(STDOUT_FILENO) }
    }
    let watches = WatchSources(output: STDOUT_FILENO) {
      screen.redraw { ending.yield(.failed($0)) }
    } didClose: {
      ending.yield(.stop)
    }
    // Each event is shown before the next one is taken: what comes meanwhile is joined.
    let follower = Task {
      do {
        for try await event in results.events() { try await screen.show(event, of: results) }
        ending.yield(.stop)
      } catch {
        ending.yield(.failed(error))
      }
    }
    defer { watches.cancel() }
    var failure: (any Error)?
    for await end in endings {
      if case .failed(let error) = end { failure = error }
      break
    }
    follower.cancel()
    do {
      try await screen.finish()
    } catch {
      failure = failure ?? error
    }
    if let error = failure as? OutputError, error.isClosedPipe { return }
    if let failure { throw failure }
    if let signal = signals.received { throw ExitCode(128 + signal) }
  }

  /// The request that the options spell.
  func request() throws(StoreError) -> FetchRequest {
    try selection.request(entity, columns: columns)
  }
}

/// Why `watch` ends.
enum WatchEnding: Sendable {
  /// It is to end.
  case stop
  /// It cannot go on.
  case failed(any Error)
}

/// What tells of a new size of the window, and of a reader that went away while nothing happened.
final class WatchSources {
  private let resizes: any DispatchSourceSignal
  private let timer: any DispatchSourceTimer

  init(
    output: Int32,
    didResize: @escaping @Sendable () -> Void,
    didClose: @escaping @Sendable () -> Void
  ) {
    resizes = DispatchSource.makeSignalSource(signal: SIGWINCH, queue: .global())
    resizes.setEventHandler(handler: didResize)
    resizes.resume()
    timer = DispatchSource.makeTimerSource(queue: .global())
    timer.setEventHandler {
      // Of a pipe whose reader is gone poll() says POLLERR; macOS does only where something is asked.
      var descriptor = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
      guard poll(&descriptor, 1, 0) > 0 else { return }
      if descriptor.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0 { didClose() }
    }
    timer.schedule(deadline: .now() + 0.2, repeating: 0.2, leeway: .milliseconds(50))
    timer.resume()
  }

  /// Tells nothing more.
  func cancel() {
    resizes.cancel()
    timer.cancel()
  }
}
