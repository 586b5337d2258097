import Dispatch
import Foundation
import GRDB
import Synchronization

/// Looks at a stated interval whether other processes have written into a store's file.
///
/// Runs `PRAGMA data_version` on the writing connection, whose own commits do not count
/// (https://www.sqlite.org/pragma.html#pragma_data_version), and compares the identity of the file:
/// one that was replaced, or migrated to a model without something that this store knows, cannot be
/// followed any more.
// Sendable because all is, but for the timer: dispatch sources may be used on any thread.
final class StoreMonitor: @unchecked Sendable {
  private struct State {
    var fingerprint: StoreFingerprint
    var interval: Duration
    var isOver = false
  }

  private let store: SQLiteStore
  private let state: Mutex<State>
  private let timer: any DispatchSourceTimer
  private let didChange: @Sendable () -> Void
  private let didEnd: @Sendable (any Error) -> Void

  /// Begins to look.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - interval: How often to look; the shortest is a millisecond.
  ///   - didChange: Called, on a thread of its own, after others have written.
  ///   - didEnd: Called once when the file cannot be followed any more.
  /// - Throws: `StoreError`.
  init(
    _ store: SQLiteStore,
    every interval: Duration,
    didChange: @escaping @Sendable () -> Void,
    didEnd: @escaping @Sendable (any Error) -> Void
  ) throws {
    self.store = store
    self.didChange = didChange
    self.didEnd = didEnd
    state = Mutex(State(fingerprint: try store.fingerprint(), interval: interval))
    timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "dragoman.monitor"))
    timer.setEventHandler { [weak self] in self?.look() }
    schedule(interval)
    timer.resume()
  }

  deinit { timer.cancel() }

  /// Looks at least as often from now on.
  func hasten(to interval: Duration) {
    let isShorter = state.withLock { state in
      guard interval < state.interval else { return false }
      state.interval = interval
      return true
    }
    if isShorter { schedule(interval) }
  }

  /// Looks no more.
  func stop() {
    state.withLock { $0.isOver = true }
    timer.cancel()
  }

  private func schedule(_ interval: Duration) {
    let parts = interval.components
    let nanoseconds = Double(parts.seconds) * 1e9 + Double(parts.attoseconds) / 1e9
    let step = DispatchTimeInterval.nanoseconds(Int(min(max(nanoseconds, 1e6), 1e15)))
    timer.schedule(deadline: .now() + step, repeating: step, leeway: .milliseconds(1))
  }

  private func look() {
    let old = state.withLock { $0.isOver ? nil : $0.fingerprint }
    guard let old else { return }
    do {
      let new = try store.fingerprint()
      guard new != old else { return }
      try store.check(new, against: old)
      state.withLock { $0.fingerprint = new }
      didChange()
    } catch let error as StoreError where error.code == .busy {
      // The next look will see.
    } catch {
      let wasOver = state.withLock { state in
        defer { state.isOver = true }
        return state.isOver
      }
      timer.cancel()
      if !wasOver { didEnd(error) }
    }
  }
}

/// What tells that others have written into a file.
struct StoreFingerprint: Sendable, Hashable {
  /// `PRAGMA data_version`: differs after a commit of another connection.
  let dataVersion: Int64
  /// `PRAGMA schema_version`: differs after a change of tables.
  let schemaVersion: Int64
  /// The number of the file in its file system; nil in memory.
  let file: UInt64?
}

extension SQLiteStore {
  /// What the file looks like now.
  ///
  /// - Throws: `StoreError`; `.migrated` where the file is gone, `.permission` and `.inputOutput` where
  ///   it cannot be told.
  func fingerprint() throws -> StoreFingerprint {
    var file: UInt64?
    if let path {
      var status = stat()
      guard stat(path, &status) == 0 else { throw Self.lost(path, errno) }
      file = UInt64(status.st_ino)
    }
    return try onWriter { database in
      StoreFingerprint(
        dataVersion: try Int64.fetchOne(database, sql: "PRAGMA data_version") ?? 0,
        schemaVersion: try Int64.fetchOne(database, sql: "PRAGMA schema_version") ?? 0,
        file: file
      )
    }
  }

  /// Why the file cannot be looked at, by the system's error number.
  static func lost(_ path: String, _ code: Int32) -> StoreError {
    switch code {
    case ENOENT, ENOTDIR:
      StoreError(
        .migrated,
        "The database was removed while it was followed.",
        help: "put it back, and begin again",
        path: path
      )
    default:
      StoreError(
        code == EACCES ? .permission : .inputOutput,
        "The database cannot be looked at while it is followed: \(String(cString: strerror(code))).",
        path: path
      )
    }
  }

  /// Refuses a file that cannot be followed any more.
  fileprivate func check(_ new: StoreFingerprint, against old: StoreFingerprint) throws {
    guard new.file == old.file else {
      throw StoreError(
        .migrated,
        "The database was replaced by another file while it was followed.",
        help: "open it again",
        path: path
      )
    }
    guard new.schemaVersion != old.schemaVersion else { return }
    let stored = try onWriter { ModelLayout(try StoredModel.load($0)) }
    guard stored.holds(layout) else {
      throw StoreError(
        .migrated,
        "The database was migrated to another model by another process while it was followed.",
        help: "open it again with the new model",
        path: path
      )
    }
  }
}

extension ModelLayout {
  /// Whether everything of another layout is here: the same tables, columns, types and links.
  fileprivate func holds(_ other: ModelLayout) -> Bool { features.isSuperset(of: other.features) }

  private var features: Set<String> {
    var features: Set<String> = []
    for table in tables {
      for column in table.columns {
        let type = column.attribute.map { "\($0.type)" } ?? "link"
        features.insert("\(table.name)\u{0}\(column.name)\u{0}\(type)")
      }
    }
    for link in links {
      if case .joinTable(let table, _) = link.storage { features.insert(table.name) }
    }
    for entity in entities { features.insert("\(entity.table)\u{0}\(entity.name)") }
    return features
  }
}
