import Foundation
import Synchronization
import Testing

@testable import DragomanGraph

/// Keys of objects that are not stored yet; one after the other, so that there is a thread for what is reserved beside.
@Suite(.serialized) struct KeyAllocatorTests {
  /// Counts up, as a store does; what is reserved on another thread than that of who takes keys comes late.
  private final class SlowSource: KeySource {
    private let end = Mutex<Int64>(1)
    private let count = Mutex(0)
    /// Which reservation comes late.
    let late: Int

    init(late: Int) { self.late = late }

    func reserveKeys(_ count: Int64, of tables: [String]) throws -> [Int64] {
      let start = end.withLock { end in
        defer { end += count }
        return end
      }
      let number = self.count.withLock { number in
        number += 1
        return number
      }
      if number == late { usleep(20_000) }
      return tables.map { _ in start }
    }

    func releaseKeys(_ blocks: [(table: String, next: Int64, end: Int64)]) throws {}
  }

  @Test(
    "Keys of a table ascend, also where they are taken faster than blocks are reserved",
    arguments: 2..<5
  )
  func ascending(late: Int) throws {
    let allocator = KeyAllocator(SlowSource(late: late))
    try allocator.prepare(["Item"])
    let keys = try (0..<400_000).map { _ in
      try allocator.next(in: "Item")
    }
    #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test("Tasks that take keys at once get no key twice")
  func distinct() async throws {
    let model = Model(entities: [Entity(name: "Item", attributes: [Attribute(name: "name")])])
    let stack = try Stack(model, at: .inMemory)
    let allocator = stack.root.keys
    let keys = try await withThrowingTaskGroup(of: [Int64].self) { group in
      for _ in 0..<4 {
        group.addTask { try (0..<5000).map { _ in try allocator.next(in: "Item") } }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(Set(keys).count == 20_000)
    try stack.close()
  }
}
