/// How a feed that comes in pages from the web says where the next one is.
public enum PageRule: Sendable, Hashable {
  /// The field `Link` of the answer's head, with `rel="next"`.
  case header
  /// A URL at a JSON Pointer of the page.
  case link(String)
  /// A text or number at a JSON Pointer of the page, which is a parameter of the next URL's query.
  case cursor(String, parameter: String)
}
