/// What exported records look like; what is nil is the choice of the level above, a map, and then the
/// default.
public struct ExportStyle: Sendable, Hashable {
  /// Which names a record's members get.
  public enum Names: String, Sendable, Hashable, Codable, CaseIterable {
    /// The feed's.
    case foreign
    /// The attributes'.
    case local
  }
  /// How key paths are written.
  public enum Shape: String, Sendable, Hashable, Codable, CaseIterable {
    /// As nested objects.
    case nested
    /// As one level with dotted names.
    case flat
  }
  /// What happens to nulls.
  public enum Nulls: String, Sendable, Hashable, Codable, CaseIterable {
    /// They are left out.
    case omit
    /// They are written.
    case write
  }

  /// Which names members get; nil in the end is `foreign`.
  public var names: Names?
  /// How key paths are written; nil in the end is `nested`.
  public var shape: Shape?
  /// What happens to nulls; nil in the end is `omit`.
  public var nulls: Nulls?
  /// Whether the text is indented: a request's JSON and XML, a map's JSON; nil in the end is no.
  public var isPretty: Bool?

  /// Makes a style.
  public init(
    names: Names? = nil,
    shape: Shape? = nil,
    nulls: Nulls? = nil,
    isPretty: Bool? = nil
  ) {
    self.names = names
    self.shape = shape
    self.nulls = nulls
    self.isPretty = isPretty
  }
}
