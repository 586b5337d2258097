/// Why a declared format cannot be used: told when the map is compiled, never per value.
public struct FormatFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// A full sentence for people.
  public var message: String
  /// The nearest valid word, for "did you mean"; nil where nothing is near.
  public var suggestion: String?

  /// Makes a fault.
  public init(_ message: String, suggestion: String? = nil) {
    self.message = message
    self.suggestion = suggestion
  }

  /// The message, and the suggestion where there is one.
  public var description: String {
    suggestion.map { "\(message) Did you mean \"\($0)\"?" } ?? message
  }
}
