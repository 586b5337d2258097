import Foundation

/// How often and how soon something is done again that a server has ended: at once five times at most, each time after
/// a longer while, of which chance takes up to a half, so that several do not meet again.
package struct Patience {
  /// How many times more; a success in between begins anew.
  private static let maximumCount = 5
  private static let firstPause = 0.05
  private var count = 0

  /// Begins.
  package init() {}

  /// Begins anew: there was progress.
  package mutating func restart() { count = 0 }

  /// Waits before the next attempt.
  ///
  /// - Parameters:
  ///   - error: Why there is to be one.
  ///   - isCancelled: Asked meanwhile; true ends the wait, and the attempt finds out itself.
  /// - Returns: Whether there is to be one: false for what is not passing, and at the end.
  package mutating func wait(
    after error: any Error,
    unless isCancelled: () -> Bool = { false }
  ) -> Bool {
    guard (error as? StoreError)?.isPassing == true, count < Self.maximumCount else { return false }
    let pause = Self.firstPause * Double(1 << (2 * count))
    count += 1
    let end = ContinuousClock.now + .seconds(pause * Double.random(in: 0.5...1))
    while !isCancelled(), ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.02) }
    return true
  }
}
