import Synchronization

/// Gives out the primary keys of new objects before they are stored, so that ids are permanent from
/// insertion on.
///
/// Keys come from `_dragoman_keys` in blocks, each reserved in a transaction of its own: two
/// processes never give out the same one, and a crash leaves a gap. Blocks double in size, so the
/// number of transactions is logarithmic in the number of objects. What is left of a block is given
/// back when nobody reserved behind it.
final class KeyAllocator: Sendable {
  private struct Block {
    var next: Int64 = 0
    var end: Int64 = 0
    var size: Int64 = 500
  }

  private let store: any ObjectStore
  private let blocks: Mutex<[String: Block]>

  /// The largest block.
  private static let maximumSize: Int64 = 1 << 20

  init(_ store: any ObjectStore) {
    self.store = store
    blocks = Mutex([:])
  }

  /// The next free key of a table.
  ///
  /// Runs `UPDATE _dragoman_keys` where the block is used up.
  /// - Throws: `StoreError`, `.busy` where another process keeps the write lock.
  func next(in table: String) throws -> Int64 {
    let free = blocks.withLock { blocks in Self.take(table, from: &blocks) }
    if let free { return free }
    let size = blocks.withLock { min(($0[table]?.size ?? 500) * 2, Self.maximumSize) }
    let start = try store.reserveKeys(size, of: [table])[0]
    return blocks.withLock { blocks in
      // Another thread may have reserved meanwhile: its block stays, ours becomes a gap.
      if let key = Self.take(table, from: &blocks) { return key }
      blocks[table] = Block(next: start + 1, end: start + size, size: size)
      return start
    }
  }

  /// Reserves a first block for each table, so that no insertion has to wait for a writer.
  func prepare(_ tables: [String]) throws {
    let known = blocks.withLock { Set($0.keys) }
    let new = tables.filter { !known.contains($0) }
    guard !new.isEmpty else { return }
    let starts = try store.reserveKeys(500, of: new)
    blocks.withLock { blocks in
      for (table, start) in zip(new, starts) where blocks[table] == nil {
        blocks[table] = Block(next: start, end: start + 500)
      }
    }
  }

  /// Gives back what was reserved and not used, unless somebody reserved behind it.
  func release() throws {
    let left = blocks.withLock { blocks in
      let left = blocks
      blocks = [:]
      return left
    }
    let unused = left.filter { $0.value.next < $0.value.end }
    if unused.isEmpty { return }
    try store.releaseKeys(unused.map { ($0.key, $0.value.next, $0.value.end) })
  }

  private static func take(_ table: String, from blocks: inout [String: Block]) -> Int64? {
    guard let block = blocks[table], block.next < block.end else { return nil }
    blocks[table]?.next += 1
    return block.next
  }
}
