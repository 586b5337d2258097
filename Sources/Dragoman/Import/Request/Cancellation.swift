import Synchronization

/// Asks an import to stop after the batch at hand.
public final class Cancellation: Sendable {
  private let flag = Atomic(false)

  /// Makes a request that was not made yet.
  public init() {}

  /// Whether the import is to stop.
  public var isCancelled: Bool { flag.load(ordering: .relaxed) }

  /// Asks the import to stop.
  ///
  /// Safe to call from anywhere, also from a signal handler.
  public func cancel() { flag.store(true, ordering: .relaxed) }
}
