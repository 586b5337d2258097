import Synchronization

@testable import DragomanGraph

/// A store beneath which somebody does something within a read or behind it, or holds a lock.
final class BusyStore: ObjectStore, @unchecked Sendable {
  let base: SQLiteStore
  /// What is done once, within the next read and before its rows come.
  var inNextRead: (() throws -> Void)?
  /// What is done once, behind the next read.
  var afterNextRead: (() throws -> Bool)?
  /// Whether nothing was done.
  var takesNothing = true
  /// How many of the next reads find a lock.
  let lockCount = Mutex(0)

  init(_ base: SQLiteStore) { self.base = base }

  func read<T>(_ layout: ModelLayout, _ body: (any StoreReader) throws -> T) throws -> T {
    let isLocked = lockCount.withLock { count in
      defer { count = max(0, count - 1) }
      return count > 0
    }
    if isLocked { throw StoreError(.busy, "Somebody holds a lock.") }
    let within = inNextRead
    inNextRead = nil
    let value = try base.read(layout) { reader in
      try within?()
      return try body(reader)
    }
    let after = afterNextRead
    afterNextRead = nil
    if let after, try after() { takesNothing = false }
    return value
  }

  var path: String? { base.path }
  var isShared: Bool { base.isShared }
  var holdsNUL: Bool { base.holdsNUL }
  var layout: ModelLayout { base.layout }
  func save<T>(_ body: (any StoreWriter) throws -> T) throws -> T { try base.save(body) }
  func grow(to model: Model) throws(StoreError) { try base.grow(to: model) }
  func reserveKeys(_ count: Int64, of tables: [String]) throws -> [Int64] {
    try base.reserveKeys(count, of: tables)
  }
  func releaseKeys(_ blocks: [(table: String, next: Int64, end: Int64)]) throws {
    try base.releaseKeys(blocks)
  }
  func fingerprint() throws -> StoreFingerprint { try base.fingerprint() }
  func check(_ new: StoreFingerprint, against old: StoreFingerprint) throws {
    try base.check(new, against: old)
  }
  func close() throws(StoreError) { try base.close() }
}
