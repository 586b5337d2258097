/// A place in a text that somebody wrote, a predicate for one.
public struct TextPlace: Sendable, Hashable {
  /// The whole text.
  public let text: String
  /// The column, in Unicode scalars from 1.
  public let column: Int
}
