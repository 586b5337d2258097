import DragomanGraph
import Synchronization

/// What the reading thread has to say to the writing one, which reports it.
final class NoticeLog: Sendable {
  private struct Notice {
    let text: String
    /// The inputs that it is about; empty: none in particular.
    var inputs: [String]
  }

  private struct State {
    var notices: [Notice] = []
    var absentSources: [String] = []
    var presentSources: Set<String> = []
    var unmatchedPaths: [UnmatchedPath] = []
  }

  private let state = Mutex(State())

  /// How many inputs a notice names; the others are counted.
  private static let namedInputCount = 3

  /// Adds a notice that is not there yet; what is the same of several inputs is told once.
  func add(_ text: String, input: String? = nil) {
    state.withLock { state in
      let known = state.notices.firstIndex {
        $0.text == text && $0.inputs.isEmpty == (input == nil)
      }
      if let known {
        guard let input, !state.notices[known].inputs.contains(input) else { return }
        state.notices[known].inputs.append(input)
      } else {
        state.notices.append(Notice(text: text, inputs: input.map { [$0] } ?? []))
      }
    }
  }

  /// Adds that a source's record path occurs nowhere in an input.
  func add(absentSource source: String, path: String, input: String) {
    add("source \(source): \(path) occurs nowhere", input: input)
    state.withLock { $0.absentSources.append(source) }
  }

  /// Takes note that the record paths of sources occur in an input.
  func add(presentSources sources: [String]) {
    state.withLock { $0.presentSources.formUnion(sources) }
  }

  /// Sets the paths that no record had.
  func set(unmatchedPaths paths: [UnmatchedPath]) { state.withLock { $0.unmatchedPaths = paths } }

  /// The paths that no record had.
  var unmatchedPaths: [UnmatchedPath] { state.withLock { $0.unmatchedPaths } }

  /// The notices, in the order in which they were added: `a.json, b.json: source …`.
  var all: [String] {
    state.withLock { $0.notices }.map { notice in
      guard !notice.inputs.isEmpty else { return notice.text }
      let others = notice.inputs.count - Self.namedInputCount
      return notice.inputs.prefix(Self.namedInputCount).joined(separator: ", ")
        + (others > 0 ? " and \(MessageWords.count(others, "more input"))" : "") + ": "
        + notice.text
    }
  }

  /// The sources whose record path occurred in none of the inputs that they read.
  var absentSources: [String] {
    state.withLock { state in state.absentSources.filter { !state.presentSources.contains($0) } }
  }
}
