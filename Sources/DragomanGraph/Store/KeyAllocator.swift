import Dispatch
import Synchronization

/// Where primary keys come from.
protocol KeySource: Sendable {
  /// Reserves that many keys of each table for new objects; gives the first of each.
  func reserveKeys(_ count: Int64, of tables: [String]) throws -> [Int64]

  /// Gives back what is left of reserved keys, the first and the one behind the last, unless somebody
  /// has reserved behind them.
  func releaseKeys(_ blocks: [(table: String, next: Int64, end: Int64)]) throws

  /// Refuses who writes on this thread already, and would wait for itself.
  func checkMayWrite() throws(StoreError)
}

extension KeySource {
  func checkMayWrite() throws(StoreError) {}
}

/// Gives out the primary keys of new objects before they are stored, so that ids are permanent from
/// insertion on.
///
/// Keys come from `_dragoman_keys` in blocks, each reserved in a transaction of its own: two
/// processes never give out the same one, and a crash leaves a gap. Blocks double in size, so the
/// number of transactions is logarithmic in the number of objects. The next block is reserved on another
/// thread when half of one is used, so that who inserts objects waits for no import that is writing, as
/// long as it inserts fewer than are reserved; one that needs a block which is being reserved waits for that one:
/// keys of a process ascend. What is left is given back when nobody reserved behind it.
final class KeyAllocator: Sendable {
  private struct Block {
    var next: Int64 = 0
    var end: Int64 = 0
    var size: Int64 = 500
    /// The block behind this one.
    var spare: Range<Int64>?
    var isReserving = false

    /// Whether it is time to reserve the next block.
    var isHalf: Bool { end - next < size / 2 && spare == nil && !isReserving }
  }

  private let source: any KeySource
  private let blocks: Mutex<[String: Block]>
  /// One reservation at a time, so that blocks come to be used in the order in which they were reserved.
  private let reservation = Mutex(())
  /// Blocks are reserved beside on a thread of their own, which may wait for an import.
  private let queue = DispatchQueue(label: "dragoman.keys")

  /// The largest block.
  private static let maximumSize: Int64 = 1 << 20

  init(_ source: any KeySource) {
    self.source = source
    blocks = Mutex([:])
  }

  /// The next free key of a table.
  ///
  /// Runs `UPDATE _dragoman_keys` where the block is used up.
  /// - Throws: `StoreError`, `.busy` where another process keeps the write lock.
  func next(in table: String) throws -> Int64 {
    let (free, isHalf) = blocks.withLock { blocks in
      let free = Self.take(table, from: &blocks)
      let isHalf = free != nil && blocks[table]?.isHalf == true
      if isHalf { blocks[table]?.isReserving = true }
      return (free, isHalf)
    }
    if isHalf { queue.async { self.reserveSpare(in: table) } }
    if let free { return free }
    try source.checkMayWrite()
    return try reservation.withLock { _ in
      // Another thread may have reserved meanwhile.
      if let key = blocks.withLock({ Self.take(table, from: &$0) }) { return key }
      let block = try reserve(in: table)
      blocks.withLock { blocks in
        blocks[table] = Block(
          next: block.lowerBound + 1,
          end: block.upperBound,
          size: Int64(block.count),
          isReserving: blocks[table]?.isReserving ?? false
        )
      }
      return block.lowerBound
    }
  }

  /// Reserves the next block; where that fails, whoever needs it tries again and is told.
  private func reserveSpare(in table: String) {
    reservation.withLock { _ in
      // What is left was given back meanwhile.
      guard blocks.withLock({ $0[table]?.isReserving }) == true else { return }
      let block = try? reserve(in: table)
      blocks.withLock { blocks in
        blocks[table]?.isReserving = false
        if let block { blocks[table]?.spare = block }
      }
    }
  }

  /// Reserves a block of twice the size of the last.
  private func reserve(in table: String) throws -> Range<Int64> {
    let size = blocks.withLock { min(($0[table]?.size ?? 500) * 2, Self.maximumSize) }
    let start = try source.reserveKeys(size, of: [table])[0]
    return start..<start + size
  }

  /// Reserves a first block for each table, so that no insertion has to wait for a writer.
  func prepare(_ tables: [String]) throws {
    let known = blocks.withLock { Set($0.keys) }
    let new = tables.filter { !known.contains($0) }
    guard !new.isEmpty else { return }
    let starts = try source.reserveKeys(500, of: new)
    blocks.withLock { blocks in
      for (table, start) in zip(new, starts) where blocks[table] == nil {
        blocks[table] = Block(next: start, end: start + 500)
      }
    }
  }

  /// Gives back what was reserved and not used, unless somebody reserved behind it.
  func release() throws { try reservation.withLock { _ in try releaseAll() } }

  private func releaseAll() throws {
    let left = blocks.withLock { blocks in
      let left = blocks
      blocks = [:]
      return left
    }
    let unused = left.flatMap { table, block in
      [block.spare, block.next..<block.end].compactMap { $0 }.filter { !$0.isEmpty }
        .map { (table, $0.lowerBound, $0.upperBound) }
    }
    if unused.isEmpty { return }
    try source.releaseKeys(unused)
  }

  private static func take(_ table: String, from blocks: inout [String: Block]) -> Int64? {
    guard var block = blocks[table] else { return nil }
    if block.next == block.end, let spare = block.spare {
      block = Block(next: spare.lowerBound, end: spare.upperBound, size: Int64(spare.count))
    }
    guard block.next < block.end else { return nil }
    block.next += 1
    blocks[table] = block
    return block.next - 1
  }
}
