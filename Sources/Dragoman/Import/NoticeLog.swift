import Synchronization

/// What the reading thread has to say to the writing one, which reports it.
final class NoticeLog: Sendable {
  private struct State {
    var notices: [String] = []
    var absentSources: [String] = []
    var unmatchedPaths: [UnmatchedPath] = []
  }

  private let state = Mutex(State())

  /// Adds a notice that is not there yet.
  func add(_ notice: String) {
    state.withLock { if !$0.notices.contains(notice) { $0.notices.append(notice) } }
  }

  /// Adds that a source's record path occurs nowhere in an input.
  func add(absentSource source: String, path: String, input: String) {
    add("\(input): source \(source): \(path) occurs nowhere")
    state.withLock { $0.absentSources.append(source) }
  }

  /// Sets the paths that no record had.
  func set(unmatchedPaths paths: [UnmatchedPath]) { state.withLock { $0.unmatchedPaths = paths } }

  /// The paths that no record had.
  var unmatchedPaths: [UnmatchedPath] { state.withLock { $0.unmatchedPaths } }

  /// The notices, in the order in which they were added.
  var all: [String] { state.withLock { $0.notices } }

  /// The sources whose record path occurred nowhere in some input.
  var absentSources: [String] { state.withLock { $0.absentSources } }
}
