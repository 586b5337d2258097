import Foundation

/// A URL of a feed: as it is asked for, as it is shown, and what may be asked there.
struct WebAddress: Hashable {
  let url: URL

  /// - Throws: `ReadError`, `.address`, for what is no URL of a feed.
  init(_ text: String) throws(ReadError) {
    guard let url = URL(string: text) else {
      throw Self.refusal(
        "\(WebText.shown(text)) is no URL.",
        "escape what a URL cannot have, as %20"
      )
    }
    try self.init(url)
  }

  private init(_ url: URL) throws(ReadError) {
    guard let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
      let host = url.host, !host.isEmpty
    else {
      throw Self.refusal(
        "\(WebText.shown(url.absoluteString)) is no https URL with a host.",
        "feeds are fetched by https"
      )
    }
    self.url = url
  }

  /// The address that a `Location` or a `next` link names, seen from this one.
  func following(_ link: String) throws(ReadError) -> WebAddress {
    guard let next = URL(string: link, relativeTo: url)?.absoluteURL else {
      throw Self.refusal("\(shown) leads to what is no URL.", nil)
    }
    return try WebAddress(next)
  }

  /// The same with a parameter of its query set.
  func setting(_ parameter: String, to value: String) throws(ReadError) -> WebAddress {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
      throw Self.refusal("\(shown) is no URL.", nil)
    }
    // The others stay byte for byte as they are: a server may have signed them.
    let query = parts.percentEncodedQuery ?? ""
    let items = query.isEmpty ? [] : query.split(separator: "&", omittingEmptySubsequences: false)
    let others = items.filter { item in
      let name = String(item.prefix { $0 != "=" }.map { $0 == "+" ? " " : $0 })
      return (name.removingPercentEncoding ?? name) != parameter
    }
    let own = "\(Self.escaped(parameter))=\(Self.escaped(value))"
    parts.percentEncodedQuery = (others.map(String.init) + [own]).joined(separator: "&")
    guard let url = parts.url else { throw Self.refusal("\(shown) is no URL.", nil) }
    return try WebAddress(url)
  }

  /// A name or value as it may stand in any query; what may be left as it is by RFC 3986, 2.3, is.
  private static func escaped(_ text: String) -> String {
    let plain = CharacterSet(
      charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    )
    return text.addingPercentEncoding(withAllowedCharacters: plain) ?? text
  }

  var isEncrypted: Bool { url.scheme?.lowercased() == "https" }

  /// Whether two addresses are of one server.
  func isSameHost(as other: WebAddress) -> Bool {
    url.scheme?.lowercased() == other.url.scheme?.lowercased()
      && url.host?.lowercased() == other.url.host?.lowercased() && port == other.port
  }

  private var port: Int { url.port ?? (isEncrypted ? 443 : 80) }

  /// The host's name, or its address without brackets, in small letters and without the root's dot.
  var hostName: String {
    let host = url.host?.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "[]")) ?? ""
    return host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
  }

  /// Whether the name can only be this machine's.
  var isLoopback: Bool {
    hostName == "localhost" || SocketAddress(hostName)?.kind == .loopback
  }

  /// Whose the host is, where the URL itself says so.
  var namedKind: SocketAddress.Kind? { isLoopback ? .loopback : SocketAddress(hostName)?.kind }

  // MARK: - Messages

  /// The URL without what may be a secret: the user, and values of the query.
  var shown: String { WebText.shown(url.absoluteString) }

  private static func refusal(_ message: String, _ help: String?) -> ReadError {
    ReadError(.address, message, help: help)
  }
}
