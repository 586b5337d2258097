import Foundation

extension SQLiteStore {
  /// What happens when a model contradicts what a file holds.
  public enum ConflictPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// `.modelConflict` is thrown; what is only new is added.
    case error
    /// The file is migrated, dropping nothing.
    case migrate
    /// The file is migrated; where that or opening it fails, it is moved aside and a new one made.
    case recreate
  }

  /// A store that was opened for a model, and what became of its file.
  public struct Opening: Sendable {
    /// The store, which has the model.
    public let store: SQLiteStore
    /// What was done to the file that was there; nil: nothing, or it only grew.
    public let migration: Migration?
    /// Where the old file is and why it had to go; nil: it did not.
    public let recreation: Recreation?
  }

  /// A file that was moved aside for a new one.
  public struct Recreation: Sendable, Hashable, CustomStringConvertible {
    /// The path of the database, where the new file is.
    public let path: String
    /// Where the old file is now.
    public let movedTo: String
    /// What was wrong with it.
    public let reason: String

    /// A sentence for people.
    public var description: String {
      "The database \(path) was made anew and is empty; the old file is \(movedTo). \(reason)"
    }
  }

  /// Opens a file for a model, and deals with a file that contradicts it.
  ///
  ///     let opening = try SQLiteStore.open(model, at: .file("people.db"), onConflict: .migrate)
  ///
  /// A lock, missing rights, a full disk and failing I/O are thrown whatever the policy says: such a
  /// file is never moved.
  ///
  /// - Parameters:
  ///   - model: What the store has to hold.
  ///   - location: Where the store is; memory has nothing to contradict.
  ///   - options: How it is opened; it must be writable unless it has the model already.
  ///   - policy: What happens when the model contradicts the file.
  /// - Returns: The store, and what became of the file that was there.
  /// - Throws: `StoreError`.
  public static func open(
    _ model: Model,
    at location: Location,
    options: Options = Options(),
    onConflict policy: ConflictPolicy = .error
  ) throws(StoreError) -> Opening {
    let before = StoreFile.identity(of: location)
    do throws(StoreError) {
      let store = try SQLiteStore(at: location, options: options)
      do throws(StoreError) {
        switch policy {
        case .error:
          try store.grow(to: model)
          return Opening(store: store, migration: nil, recreation: nil)
        case .migrate, .recreate:
          // Nothing to do takes no lock: an import may be running.
          let planned = Migration(from: store.model, to: model)
          let isAsStored = planned.model == store.model && planned.faults.isEmpty
          // A key that somebody has dropped is no reason to put a file aside.
          let mends = policy == .migrate && !store.isReadOnly
          if isAsStored, try mends ? !store.lacksKeys() : true {
            return Opening(store: store, migration: nil, recreation: nil)
          }
          let isFilled = !store.model.entities.isEmpty
          let migration = try store.migrate(to: model)
          let isWorthTelling = isFilled && !migration.isEmpty
          return Opening(
            store: store,
            migration: isWorthTelling ? migration : nil,
            recreation: nil
          )
        }
      } catch {
        // The file must be closed before it can be moved.
        try store.close()
        throw error
      }
    } catch {
      guard policy == .recreate, error.code.allowsRecreation, case .file(let path) = location else {
        throw error
      }
      // Another process has made it anew meanwhile.
      guard StoreFile.identity(of: location) == before else {
        return try open(model, at: location, options: options, onConflict: policy)
      }
      let moved = try StoreFile.moveAside(path)
      let store = try SQLiteStore(at: location, options: options)
      try store.grow(to: model)
      let recreation = Recreation(path: path, movedTo: moved, reason: error.message)
      return Opening(store: store, migration: nil, recreation: recreation)
    }
  }
}

extension StoreError.Code {
  /// Whether the file itself is wrong, and no circumstance that may pass.
  fileprivate var allowsRecreation: Bool {
    [.notAStore, .newerFormat, .damaged, .modelConflict].contains(self)
  }
}

extension StoreFile {
  /// Which file is at a place; nil where there is none.
  fileprivate static func identity(of location: SQLiteStore.Location) -> FileStatus.Identity? {
    guard case .file(let path) = location else { return nil }
    return FileStatus(path)?.identity
  }

  /// Renames a database file, and the files that SQLite keeps beside it, to the first free
  /// `name.old-1`, `name.old-2`, ….
  ///
  /// - Returns: The new path.
  /// - Throws: `.inputOutput`; what was moved is moved back then.
  fileprivate static func moveAside(_ path: String) throws(StoreError) -> String {
    let files = FileManager.default
    let endings = ["-wal", "-shm", ""].filter { files.fileExists(atPath: path + $0) }
    var number = 1
    // A dangling link or a leftover log counts as taken, too.
    while ["", "-wal", "-shm"].contains(where: {
      FileStatus(unfollowed: "\(path).old-\(number)\($0)") != nil
    }) {
      number += 1
    }
    let target = "\(path).old-\(number)"
    var moved: [String] = []
    do {
      for ending in endings {
        try files.moveItem(atPath: path + ending, toPath: target + ending)
        moved.append(ending)
      }
      return target
    } catch {
      for ending in moved {
        try? files.moveItem(atPath: target + ending, toPath: path + ending)
      }
      throw StoreError(
        .inputOutput,
        "The old file cannot be moved to \(target): \(error.localizedDescription)",
        path: path
      )
    }
  }
}
