/// One of several parts of a feed, whose records have keys that hash to its number.
///
/// Several processes, on one machine or on many, import one feed into one database on a server: each reads all of it
/// and takes its own records. A record always falls to the same part, however the feed is ordered. When all have
/// ended, in whatever order, the contents are those that one import would have made.
public struct ImportPartition: Sendable, Hashable, Codable {
  /// Its number, 1 … `count`.
  public let number: Int
  /// How many there are, 1 … 1,000.
  public let count: Int

  /// Names a part: a number, and how many there are.
  public init(_ number: Int, of count: Int) {
    self.number = number
    self.count = count
  }

  /// Reads `2/4`; nil for anything else.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let number = Int(parts[0]), let count = Int(parts[1]),
      Self(number, of: count).isValid
    else { return nil }
    self.init(number, of: count)
  }

  /// Whether there is such a part.
  var isValid: Bool { (1...1000).contains(count) && (1...count).contains(number) }
}

extension ImportPartition: CustomStringConvertible {
  /// `2/4`.
  public var description: String { "\(number)/\(count)" }
}
