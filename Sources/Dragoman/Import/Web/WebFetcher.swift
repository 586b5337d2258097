import Foundation
import Logging

/// Fetches a feed from the web: redirects are followed, faults that may pass are waited for.
struct WebFetcher {
  let options: WebOptions
  /// How many bytes one answer may have.
  let maximumByteCount: Int
  let cancellation: Cancellation
  let logger: Logger
  /// The proxies that the surroundings name.
  var proxies = WebProxy()

  /// What a server says of the version of a feed.
  struct Version: Hashable {
    /// `ETag`.
    let tag: String?
    /// `Last-Modified`.
    let modified: String?
    /// A hash of the URL that it is the version of, where the one that was asked for leads to another; nil: that one.
    let place: String?

    /// Takes what the server has said, or what a database has kept of it: what is no version, or has no place in a
    /// field of a head, is nothing that a request could ask by (RFC 9110, 5.5 and 8.8.3).
    init(tag: String?, modified: String?, at place: String? = nil) {
      self.tag = tag.flatMap { Self.isFieldValue($0) && Self.isTag($0) ? $0 : nil }
      self.modified = modified.flatMap { Self.isFieldValue($0) ? $0 : nil }
      self.place = place
    }

    /// Whether the server says anything by which the next request can ask.
    var isTold: Bool { tag != nil || modified != nil }

    private static func isTag(_ text: String) -> Bool {
      let quoted = text.utf8.starts(with: "W/".utf8) ? text.utf8.dropFirst(2) : text.utf8[...]
      let mark = UInt8(ascii: "\"")
      return quoted.count >= 2 && quoted.first == mark && quoted.last == mark
        && !quoted.dropFirst().dropLast().contains(mark)
    }

    /// Whether a text may stand in a field of a head.
    static func isFieldValue(_ text: String) -> Bool {
      text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 9 }
    }
  }

  /// An answer with a feed.
  struct Answer {
    /// What was asked for.
    let asked: WebAddress
    /// What that led to.
    let address: WebAddress
    /// Whose hosts it may come from.
    let kind: SocketAddress.Kind?
    let feed: OpenedFeed
    let version: Version
    /// What `Link` names as the next page.
    let nextLink: String?
  }

  private static let maximumRedirectCount = 10
  private static let longestWait = 120.0
  /// Statuses of answers whose body is the feed.
  static let feedStatuses: Set<Int> = [200, 203]
  /// Statuses that may pass (RFC 9110, RFC 6585).
  private static let passingStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

  /// Fetches one URL.
  ///
  /// - Parameters:
  ///   - start: The URL.
  ///   - version: What is there already; nil: nothing.
  /// - Returns: The answer; nil where the feed has not changed since that version.
  /// - Throws: `ReadError`; `CancellationError` when the import is to stop.
  func fetch(_ start: WebAddress, unless version: Version? = nil) throws -> Answer? {
    try fetch(start, unless: version, behind: [])
  }

  /// Fetches a page behind others: it gets the header fields of the first one's server, and its host is where that is.
  ///
  /// - Parameters:
  ///   - start: The URL.
  ///   - pages: The pages before it, whose file it is in, too.
  /// - Returns: The answer.
  /// - Throws: `ReadError`; `CancellationError` when the import is to stop.
  func fetch(_ start: WebAddress, behind pages: [Answer]) throws -> Answer? {
    try fetch(start, unless: nil, behind: pages)
  }

  private func fetch(
    _ start: WebAddress,
    unless version: Version?,
    behind pages: [Answer]
  ) throws -> Answer? {
    let first = pages.first?.asked ?? start
    let feed = try pages.last.map { OpenedFeed(behind: $0.feed) } ?? OpenedFeed()
    var address = start
    var kind = pages.first?.kind
    for _ in 0...Self.maximumRedirectCount {
      try checkScheme(address)
      // A version is one of what has told it: the URL that was asked for, or where that led to.
      let place = address == start ? nil : address.hash
      let known = version?.place == place ? version : nil
      let (status, transfer) = try answer(
        address,
        first,
        feed,
        known,
        &kind,
        maximumByteCount - (pages.last?.feed.end ?? 0)
      )
      switch status {
      case _ where Self.feedStatuses.contains(status):
        guard transfer.tellsItsEnd else {
          throw ReadError(
            .web,
            "\(address.shown) does not say how long the feed is: nobody can tell whether all of it came.",
            help: "fetch it by another tool, and look at its end"
          )
        }
        feed.isPackedForTransfer = transfer.fields["content-encoding"] != nil
        return Answer(
          asked: start,
          address: address,
          kind: kind,
          feed: feed,
          version: Version(
            tag: transfer.fields["etag"],
            modified: transfer.fields["last-modified"],
            at: place
          ),
          nextLink: WebLink.next(in: transfer.fields["link"])
        )
      case 304 where known != nil: return nil
      case 301, 302, 303, 307, 308:
        guard let location = transfer.fields["location"] else {
          throw ReadError(
            .web,
            "\(address.shown) redirects without saying where to: its answer has no Location."
          )
        }
        let next = try address.following(location)
        try checkRedirect(from: address, to: next, kind)
        logger.debug("redirected", metadata: ["to": "\(next.shown)"])
        address = next
      default: throw Self.error(status, address, hasHeaders: !options.headers.isEmpty)
      }
    }
    throw ReadError(
      .web,
      "\(start.shown) leads on more than \(Self.maximumRedirectCount) times.",
      help: "name the URL that it ends at"
    )
  }

  // MARK: - One answer

  /// Asks until there is an answer that will not pass.
  ///
  /// `kind` is whose host the first one is: it is known from the first answer on, and all others are of that kind.
  private func answer(
    _ address: WebAddress,
    _ first: WebAddress,
    _ feed: OpenedFeed,
    _ version: Version?,
    _ kind: inout SocketAddress.Kind?,
    _ maximumByteCount: Int
  ) throws -> (status: Int, WebTransfer) {
    let proxy = proxies.url(for: address)
    if proxy != nil {
      // What a proxy looks up is of the world, unless the URL itself says otherwise.
      let named = address.namedKind ?? .outer
      if let kind, kind != named { throw Self.kindRefusal(address, named) }
      kind = named
    }
    var retryCount = 0
    while true {
      feed.clear()
      let transfer = WebTransfer(
        into: feed,
        maximumByteCount: maximumByteCount,
        admitting: admitted(at: address, proxy == nil ? kind : nil),
        shouldStop: { [cancellation] in cancellation.isCancelled }
      )
      let outcome = transfer.run(
        address,
        by: proxy,
        headers: try headers(for: address, first, version),
        options
      )
      // Of several addresses of a host the one that answers counts.
      if case .answer = outcome { kind = kind ?? transfer.kind }
      let wait: Double
      switch outcome {
      case .answer(let status) where !Self.passingStatuses.contains(status):
        return (status, transfer)
      case .answer(let status):
        let asked = WebLink.wait(in: transfer.fields["retry-after"])
        if retryCount >= options.retryCount || asked ?? 0 > Self.longestWait {
          throw Self.error(status, address, hasHeaders: false, wait: asked)
        }
        wait = asked ?? Self.pause(retryCount)
      case .failure(.connection(let message, mayPass: true)) where retryCount < options.retryCount:
        logger.debug(
          "failed",
          metadata: ["url": "\(address.shown)", "cause": "\(WebText.shown(message))"]
        )
        wait = Self.pause(retryCount)
      case .failure(let failure): throw error(failure, address, tries: retryCount + 1)
      }
      retryCount += 1
      try sleep(wait)
    }
  }

  /// The addresses that may be connected to.
  private func admitted(
    at address: WebAddress,
    _ kind: SocketAddress.Kind?
  ) -> Set<SocketAddress.Kind> {
    if let kind { return [kind] }
    return address.isEncrypted || options.allowsUnencrypted
      ? [.loopback, .inner, .outer] : [.loopback]
  }

  private func headers(
    for address: WebAddress,
    _ first: WebAddress,
    _ version: Version?
  ) throws(ReadError) -> [String] {
    var lines = ["Accept-Encoding: gzip"]
    if let tag = version?.tag { lines.append("If-None-Match: \(tag)") }
    if let modified = version?.modified { lines.append("If-Modified-Since: \(modified)") }
    // Who the server is sent on to does not get what is the user's.
    guard address.isSameHost(as: first) else { return lines }
    for (name, value) in options.headers.sorted(by: { $0.key < $1.key }) {
      guard Self.isFieldName(name), Version.isFieldValue(value) else {
        throw ReadError(
          .address,
          "The header field \(ForeignText.shortened(name)) has a name or a value that none can have.",
          help: "a name has letters, digits and signs as - and _, a value is one line"
        )
      }
      lines.append("\(name): \(value)")
    }
    return lines
  }

  /// Whether a text is a token (RFC 9110, 5.6.2).
  private static func isFieldName(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy {
        ASCII.isLetter($0) || ASCII.isDigit($0) || "!#$%&'*+-.^_`|~".utf8.contains($0)
      }
  }

  private static func pause(_ retryCount: Int) -> Double {
    min(30, 0.5 * Double(1 << min(retryCount, 10)))
  }

  /// Waits, whatever becomes of the time of day meanwhile, and looks whether the import is to stop.
  private func sleep(_ seconds: Double) throws {
    let end = ContinuousClock.now + .seconds(seconds)
    while case let left = end - .now, left > .zero {
      if cancellation.isCancelled { throw CancellationError() }
      usleep(left < .milliseconds(100) ? 10_000 : 100_000)
    }
  }

  // MARK: - What is refused

  private func checkScheme(_ address: WebAddress) throws(ReadError) {
    guard !address.isEncrypted, !address.isLoopback, !options.allowsUnencrypted else { return }
    throw ReadError(
      .address,
      "\(address.shown) is not encrypted: anybody on the way could read and change the feed.",
      help: "use https, or allow it by `allowsUnencrypted`"
    )
  }

  private func checkRedirect(
    from address: WebAddress,
    to next: WebAddress,
    _ kind: SocketAddress.Kind?
  ) throws(ReadError) {
    guard address.isEncrypted == next.isEncrypted else {
      throw ReadError(
        .address,
        "\(address.shown) leads to \(next.shown), which is of another scheme.",
        help: "name that URL, if it is meant"
      )
    }
    // Behind a proxy only what stands in the URL can be told.
    if let named = next.namedKind, let kind, named != kind, address.namedKind != named {
      throw Self.kindRefusal(next, named)
    }
  }

  private static func kindRefusal(_ address: WebAddress, _ kind: SocketAddress.Kind) -> ReadError {
    let place =
      switch kind {
      case .loopback: "on this machine"
      case .inner: "in a private network"
      case .outer: "outside of it"
      }
    return ReadError(
      .address,
      "\(address.shown) is \(place), where the feed's server must not lead to.",
      help: "name that URL, if it is meant"
    )
  }

  private func error(_ failure: WebTransfer.Failure, _ address: WebAddress, tries: Int) -> any Error
  {
    let shown = address.shown
    switch failure {
    case .stopped: return CancellationError()
    case .noLibrary:
      return ReadError(
        .unsupported,
        "There is no libcurl on this system, by which feeds are fetched.",
        help: "install libcurl4, or fetch the feed by another tool"
      )
    case .tooLong:
      return ReadError(
        .limit,
        "\(shown) has more than \(maximumByteCount) bytes.",
        help: "where that is right, raise `maximumInputByteCount`"
      )
    case .noRoom:
      return ReadError(
        .inputOutput,
        "There is no room for \(shown) in the folder for temporary files."
      )
    case .address(let kind): return Self.kindRefusal(address, kind)
    case .connection(let message, _):
      let times = tries > 1 ? " (\(tries) tries)" : ""
      return ReadError(.web, "\(shown) cannot be fetched\(times): \(WebText.shown(message)).")
    }
  }

  private static func error(
    _ status: Int,
    _ address: WebAddress,
    hasHeaders: Bool,
    wait: Double? = nil
  ) -> ReadError {
    let shown = address.shown
    switch status {
    case 401, 403, 407:
      return ReadError(
        .permission,
        "\(shown) may not be read: the server answers \(status).",
        help: hasHeaders
          ? "are the values of the header fields right?"
          : "what proves who asks is sent in header fields: `headers`"
      )
    case 404, 410: return ReadError(.missing, "There is no \(shown): the server answers \(status).")
    default:
      let later =
        wait.map {
          ", and asks for \($0 < 1e9 ? "\(Int($0)) s" : "more than 30 years") of patience"
        } ?? ""
      return ReadError(.web, "\(shown) cannot be fetched: the server answers \(status)\(later).")
    }
  }
}
