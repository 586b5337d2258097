import Dragoman
import DragomanGraph
import Foundation
import Synchronization

/// How many objects there are, as far as it is known.
struct ObjectCount {
  /// The number; nil: it was never counted so far.
  let number: Int?
  /// Whether the file is as it was when they were counted; else they are being counted.
  let isCurrent: Bool
  /// Whether there are more.
  let isLeast: Bool

  init(_ number: Int?, isCurrent: Bool = true, isLeast: Bool = false) {
    self.number = number
    self.isCurrent = isCurrent && number != nil
    self.isLeast = isLeast
  }

  /// Whether it is the exact number.
  var isComplete: Bool { isCurrent && !isLeast }
  /// `1,234`, or that it is being counted.
  var text: String { number.map(Figures.grouped) ?? "counting …" }
  /// `1,234 objects`.
  var phrase: String {
    guard let number else { return text }
    return isLeast ? "more than \(text) objects" : Figures.count(number, "object")
  }
}

/// How many objects the entities have: counted in the background, since that reads a whole index.
///
/// A number stands for as long as the file does not change; then the old one is told until the new one is there.
final class CountBoard: Sendable {
  private struct Known {
    let number: Int
    let versions: [FileStatus.Version?]
  }

  private struct State {
    var known: [String: Known] = [:]
    var running: [String: DispatchGroup] = [:]
  }

  /// In place of an entity's name: the references that wait for their target.
  static let waiting = ""
  /// In place of an entity's name: the objects of which only a key is known.
  ///
  /// No name has a line end.
  static let stubs = "\n"

  private let path: String
  private let patience: DispatchTimeInterval?
  private let state = Mutex(State())
  // One after the other: they read all that there is.
  private let queue: DispatchQueue

  /// - Parameters:
  ///   - path: The database file.
  ///   - patience: How long is waited for counts that are not known; nil: until they are there.
  ///   - queue: Where they are counted, one after the other.
  init(
    _ path: String,
    patience: DispatchTimeInterval?,
    queue: DispatchQueue = DispatchQueue(label: "dragoman.console.counts")
  ) {
    self.path = path
    self.patience = patience
    self.queue = queue
  }

  /// The numbers of objects of some entities.
  func counts(of names: [String]) -> [String: ObjectCount] {
    let deadline = patience.map { DispatchTime.now() + $0 } ?? .distantFuture
    let now = Self.versions(of: path)
    var counts: [String: ObjectCount] = [:]
    for (name, old, group) in names.map({ name in
      let (old, group) = begin(name, now)
      return (name, old, group)
    }) {
      guard let group else {
        counts[name] = ObjectCount(old)
        continue
      }
      let isThere = group.wait(timeout: deadline) == .success
      let new = isThere ? state.withLock { $0.known[name] } : nil
      // The count that was waited for may have begun before the last change of the file.
      let isCurrent = new?.versions == Self.versions(of: path)
      counts[name] = ObjectCount(isThere ? new?.number : old, isCurrent: isCurrent)
    }
    return counts
  }

  /// Begins to count, unless the number is known or being counted already.
  ///
  /// - Returns: The last number, and what to wait for; nil where that number is the one of now.
  private func begin(
    _ name: String,
    _ now: [FileStatus.Version?]
  ) -> (number: Int?, group: DispatchGroup?) {
    let (number, group, isNew) = state.withLock { state -> (Int?, DispatchGroup?, Bool) in
      let known = state.known[name]
      if let known, known.versions == now { return (known.number, nil, false) }
      if let group = state.running[name] { return (known?.number, group, false) }
      let group = DispatchGroup()
      group.enter()
      state.running[name] = group
      return (known?.number, group, true)
    }
    guard isNew, let group else { return (number, group) }
    queue.async { [self] in
      let before = Self.versions(of: path)
      // A file that cannot be read is told by the page.
      let number = try? count(name)
      state.withLock { state in
        state.running[name] = nil
        state.known[name] = number.map { Known(number: $0, versions: before) }
      }
      group.leave()
    }
    return (number, group)
  }

  private func count(_ name: String) throws(StoreError) -> Int {
    let store = try ConsoleDatabase(path).open(for: nil)
    return switch name {
    case Self.waiting: try store.pendingReferenceCount()
    case Self.stubs: try store.stubCount()
    default: try store.count(FetchRequest(name))
    }
  }

  /// What changes with every commit: the file and its write-ahead log.
  private static func versions(of path: String) -> [FileStatus.Version?] {
    // An empty log is made and removed by whoever reads.
    [path, path + "-wal"].map { FileStatus($0).flatMap { $0.byteCount == 0 ? nil : $0.version } }
  }
}
