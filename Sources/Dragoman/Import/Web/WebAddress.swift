import Foundation

/// A URL of a feed: as it is asked for, as it is shown, and what may be asked there.
struct WebAddress: Hashable {
  let url: URL

  /// - Throws: `ReadError`, `.address`, for what is no URL of a feed.
  init(_ text: String) throws(ReadError) {
    guard let url = URL(string: Self.escapedWhereNeeded(text)) else {
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
  ///
  /// On the same server the user stays who it was, and what stands behind `#` is nobody's but the reader's.
  func following(_ link: String) throws(ReadError) -> WebAddress {
    let text = Self.escapedWhereNeeded(link)
    guard let next = URL(string: text, relativeTo: url)?.absoluteURL,
      var parts = URLComponents(url: next, resolvingAgainstBaseURL: true)
    else {
      throw Self.refusal("\(shown) leads to what is no URL.", nil)
    }
    parts.percentEncodedFragment = nil
    let known = URLComponents(url: url, resolvingAgainstBaseURL: true)
    if parts.percentEncodedUser == nil, let plain = parts.url, isSameHost(as: try WebAddress(plain))
    {
      parts.percentEncodedUser = known?.percentEncodedUser
      parts.percentEncodedPassword = known?.percentEncodedPassword
    }
    guard let whole = parts.url else {
      throw Self.refusal("\(shown) leads to what is no URL.", nil)
    }
    return try WebAddress(whole)
  }

  /// A URL whose path, query and fragment have nothing that none can have (RFC 3986): what is escaped stays as it is.
  ///
  /// `URL` escapes a part whole, what is escaped in it once more, where one sign of it needs it.
  private static func escapedWhereNeeded(_ text: String) -> String {
    let bytes = Array(text.utf8)
    let start = endOfAuthority(bytes)
    var escaped = Array(bytes[..<start])
    var isFragment = false
    for place in start..<bytes.endIndex {
      let byte = bytes[place]
      let isMark = byte == UInt8(ascii: "#")
      let isPlain =
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || "-._~:/?@!$&'()*+,;=".utf8.contains(byte)
        || isMark && !isFragment || isEscape(bytes[place...].prefix(3))
      isFragment = isFragment || isMark
      escaped += isPlain ? [byte] : Array((byte < 16 ? "%0" : "%").utf8)
      if !isPlain { escaped += String(byte, radix: 16, uppercase: true).utf8 }
    }
    return String(decoding: escaped, as: UTF8.self)
  }

  private static func isEscape(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.count == 3 && bytes.first == UInt8(ascii: "%")
      && bytes.dropFirst().allSatisfy { ASCII.hexValue($0) != nil }
  }

  /// Where what stands behind the host begins: the host itself has rules of its own.
  private static func endOfAuthority(_ bytes: [UInt8]) -> Int {
    let isEnd = { (byte: UInt8) in "/?#".utf8.contains(byte) }
    guard let slashes = bytes.firstRange(of: "//".utf8),
      !bytes[..<slashes.lowerBound].contains(where: isEnd)
    else { return 0 }
    return bytes[slashes.upperBound...].firstIndex(where: isEnd) ?? bytes.endIndex
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

  /// A few digits that tell it from others.
  var hash: String { String(FeedHash.text(url.absoluteString).prefix(8)) }

  // MARK: - Messages

  /// The URL without what may be a secret: the user, and values of the query.
  var shown: String { WebText.shown(url.absoluteString) }

  private static func refusal(_ message: String, _ help: String?) -> ReadError {
    ReadError(.address, message, help: help)
  }
}
