import Foundation

/// Threads for work that blocks: it never runs on the cooperative pool.
enum WorkThread {
  /// Runs a closure on a thread of its own.
  static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread(block: body)
    thread.name = name
    // Nested records are parsed, mapped and written by recursion, up to a depth that this stack
    // holds; only what is used of it takes memory.
    thread.stackSize = 64 << 20
    thread.start()
  }
}
