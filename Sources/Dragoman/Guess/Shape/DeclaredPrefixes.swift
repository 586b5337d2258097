/// The prefixes that XML samples declare for their namespaces, where each stands for one.
struct DeclaredPrefixes {
  private var uris: [String: Set<String>] = [:]
  private var firsts: [String: String] = [:]

  /// The prefix of a namespace; nil: it has none, or one that stands for others, too.
  subscript(uri: String) -> String? {
    firsts[uri].flatMap { uris[$0]?.count == 1 ? $0 : nil }
  }

  /// All that stand for one namespace.
  var all: [String] { firsts.keys.compactMap { self[$0] } }

  /// Sees the beginning of a sample.
  mutating func see(_ head: [UInt8]) {
    let pieces = String(decoding: head, as: UTF8.self).split(separator: "xmlns:").dropFirst()
    for piece in pieces {
      let prefix = piece.prefix { $0.isASCII && ($0.isLetter || $0.isNumber) }
      var rest = piece.dropFirst(prefix.count).drop(while: \.isWhitespace)
      guard prefix.first?.isLetter == true, !prefix.lowercased().hasPrefix("xml"),
        rest.popFirst() == "="
      else { continue }
      rest = rest.drop(while: \.isWhitespace)
      guard let quote = rest.popFirst(), quote == "\"" || quote == "'",
        let end = rest.firstIndex(of: quote)
      else { continue }
      let uri = String(rest[..<end])
      uris[String(prefix), default: []].insert(uri)
      if firsts[uri] == nil { firsts[uri] = String(prefix) }
    }
  }
}
