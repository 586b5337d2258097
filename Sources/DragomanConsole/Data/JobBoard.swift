import Dragoman
import DragomanGraph
import Foundation
import Synchronization

/// The imports that were begun from pages, and the folder of what they leave.
final class JobBoard: Sendable {
  private struct State {
    var jobs: [ImportJob] = []
    /// Where the rejects of all imports are or would be, also of those that are not kept, oldest first.
    var rejects: [(path: String, feed: String)] = []
    var folder: TemporaryFolder?
    /// Whether no import is begun any more.
    var isEnding = false
    /// Whether nothing is left there any more: nobody would remove it.
    var hasEnded = false
    var next = 1
  }

  /// So many are kept; the oldest that have ended go.
  private static let keptCount = 20

  private static var ending: ConsoleError { ConsoleError(503, "The console is ending.") }

  private let state = Mutex(State())

  deinit { clear() }

  /// All of them, newest first.
  var jobs: [ImportJob] { state.withLock { $0.jobs }.reversed() }

  /// The rejects files of all imports with the names of their feeds, as far as they are there, oldest first.
  var rejects: [(path: String, feed: String)] {
    state.withLock { $0.rejects }.filter { FileManager.default.fileExists(atPath: $0.path) }
  }

  /// One of them.
  ///
  /// - Throws: `ConsoleError`, 404, where there is none.
  func job(_ id: String) throws(ConsoleError) -> ImportJob {
    guard let job = jobs.first(where: { $0.id == id }) else {
      throw ConsoleError(404, "There is no such import any more.", help: "begin it again")
    }
    return job
  }

  /// Takes over an import.
  ///
  /// - Parameter make: Makes it of its number and of the folder for its files.
  /// - Returns: The import.
  /// - Throws: What `make` throws, and `ConsoleError` where there is no folder.
  func add(_ make: (String, String) throws -> ImportJob) throws -> ImportJob {
    let folder = try self.folder()
    let id = try state.withLock { state in
      if state.isEnding { throw Self.ending }
      defer { state.next += 1 }
      return String(state.next)
    }
    let job = try make(id, folder)
    state.withLock { state in
      state.jobs.append(job)
      state.rejects.append((job.rejectsPath, job.name))
      while state.jobs.count > Self.keptCount,
        let old = state.jobs.firstIndex(where: { !$0.now.phase.isRunning })
      {
        state.jobs.remove(at: old)
      }
    }
    return job
  }

  /// A folder that only this user sees.
  ///
  /// - Throws: `ConsoleError` where none can be made.
  func folder() throws(ConsoleError) -> String {
    do {
      return try state.withLock { state in
        if let folder = state.folder { return folder.path }
        if state.hasEnded { throw Self.ending }
        let folder = try TemporaryFolder()
        state.folder = folder
        return folder.path
      }
    } catch let error as ConsoleError {
      throw error
    } catch {
      throw ConsoleError(500, (error as? StoreError)?.message ?? "\(error)")
    }
  }

  /// Whether any of them runs.
  var isRunning: Bool { jobs.contains { $0.now.phase.isRunning } }

  /// Asks those that run to end after the batch at hand; nothing is begun any more.
  func cancel() {
    let jobs = state.withLock { state in
      state.isEnding = true
      return state.jobs
    }
    for job in jobs { job.cancel() }
  }

  /// Ends what runs, and removes the folder.
  func clear() {
    cancel()
    let folder = state.withLock { state in
      state.hasEnded = true
      defer { state.folder = nil }
      return state.folder
    }
    folder?.remove()
  }
}
