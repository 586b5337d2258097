import Foundation

/// The seeds of random tests.
///
/// They are the same in every run, so that what lands does not depend on luck. `DRAGOMAN_RANDOM=1` draws others, as
/// `Scripts/torture.sh --long` does, `DRAGOMAN_SEED` asks for one case again, and `DRAGOMAN_ROUNDS` for more cases.
package enum Seeds {
  /// The one seed that is asked for.
  package static var asked: UInt64? { setting("DRAGOMAN_SEED") }

  /// Whether other seeds than the same ones are asked for, in a run that takes its time.
  package static var areDrawn: Bool { setting("DRAGOMAN_RANDOM") == 1 }

  /// The seed of a case, which its number decides.
  package static func seed(_ number: Int = 0) -> UInt64 {
    if let asked { return asked }
    if areDrawn { return .random(in: 0...UInt64.max) }
    var numbers = SplitMix(state: UInt64(number))
    return numbers.next()
  }

  /// The seeds of a test that tries so many cases.
  package static func seeds(_ count: Int) -> [UInt64] {
    if let asked { return [asked] }
    return (0..<(setting("DRAGOMAN_ROUNDS").map { Int($0) } ?? count)).map(seed)
  }

  /// A number of the environment.
  package static func setting(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }
}
