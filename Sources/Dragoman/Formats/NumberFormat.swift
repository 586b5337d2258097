/// How numbers are written in strings.
public struct NumberFormat: Sendable, Hashable {
  /// A style that adds a sign around the number.
  public enum Style: String, Sendable, Hashable, Codable, CaseIterable {
    /// `12,5 %` is 0.125.
    case percent
    /// A currency sign or code before or behind is allowed.
    case currency
    /// Parentheses mean negative, a currency sign is allowed.
    case accounting
  }

  /// The decimal separator, one character; nil where a locale gives it.
  public var decimal: String?
  /// The grouping separator, one character; nil: no grouping (or the locale's).
  public var group: String?
  /// A locale identifier such as `de_DE` that gives both separators.
  public var locale: String?
  /// The style; nil is a plain number.
  public var style: Style?

  /// Makes a format.
  public init(
    decimal: String? = nil,
    group: String? = nil,
    locale: String? = nil,
    style: Style? = nil
  ) {
    self.decimal = decimal
    self.group = group
    self.locale = locale
    self.style = style
  }
}
