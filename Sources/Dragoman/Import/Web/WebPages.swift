/// Follows the pages of a feed, by the rule that the map's source declares.
struct WebPages {
  let fetcher: WebFetcher
  let rule: PageRule
  /// The encoding that the source of the map names; nil: none.
  let encoding: String?

  /// A page that says where the next one is has to be held in memory.
  private static let maximumByteCount = 64 << 20

  /// Fetches all pages behind the first.
  ///
  /// - Parameter first: The first page.
  /// - Returns: All pages, in their order.
  /// - Throws: `ReadError` for a page that cannot be fetched, came before, or is of another server.
  func all(from first: WebFetcher.Answer) throws -> [WebFetcher.Answer] {
    var pages = [first]
    var seen: Set<WebAddress> = [first.address]
    while let next = try next(behind: pages[pages.count - 1], first.address) {
      guard next.isSameHost(as: first.address) else {
        throw ReadError(
          .address,
          "The next page of \(first.address.shown) is at \(next.shown): pages are of one server."
        )
      }
      guard seen.insert(next).inserted else {
        throw ReadError(
          .web,
          "The pages of \(first.address.shown) go in a circle, at \(next.shown)."
        )
      }
      guard pages.count < fetcher.options.maximumPageCount else {
        throw ReadError(
          .limit,
          "\(first.address.shown) has more than \(fetcher.options.maximumPageCount) pages.",
          help: "import them in parts, or raise `maximumPageCount` in Swift"
        )
      }
      guard let page = try fetcher.fetch(next, behind: pages) else { break }
      guard page.address.isSameHost(as: first.address) else {
        throw ReadError(
          .address,
          "The next page of \(first.address.shown) leads to \(page.address.shown): pages are of one server."
        )
      }
      pages.append(page)
    }
    return pages
  }

  private func next(
    behind page: WebFetcher.Answer,
    _ first: WebAddress
  ) throws(ReadError) -> WebAddress? {
    switch rule {
    case .header:
      return try page.nextLink.map { link throws(ReadError) in try page.address.following(link) }
    case .link(let pointer):
      guard let link = try text(at: pointer, in: page) else { return nil }
      return try page.address.following(link)
    case .cursor(let pointer, let parameter):
      guard let cursor = try text(at: pointer, in: page) else { return nil }
      return try first.setting(parameter, to: cursor)
    }
  }

  /// The text or number at a JSON Pointer; nil where it is missing, null, false or empty: there is no page more.
  ///
  /// - Throws: `ReadError` where something else stands there: what is behind it would be lost without a word.
  private func text(at pointer: String, in page: WebFetcher.Answer) throws(ReadError) -> String? {
    var value: ForeignValue?
    do throws(ReadError) {
      value = try ForeignValue(json: try text(of: page))
    } catch {
      guard error.code != .limit else { throw error }
      throw ReadError(
        .json,
        "\(page.address.shown) is no JSON in which \(pointer) could name the next page.",
        help: "where a `Link` header names it, say `pages: { next: header }`"
      )
    }
    for token in pointer.unicodeScalars.dropFirst()
      .split(separator: "/", omittingEmptySubsequences: false)
    {
      let name = String(
        token.replacing("~1".unicodeScalars, with: "/".unicodeScalars)
          .replacing("~0".unicodeScalars, with: "~".unicodeScalars)
      )
      switch value {
      case .object(let record): value = record[name]
      case .array(let list):
        value = Int(name).flatMap { list.indices.contains($0) ? list[$0] : nil }
      default: return nil
      }
    }
    switch value {
    case nil, .null, .bool(false): return nil
    case .string(let text): return text.isEmpty ? nil : text
    case .integer(let number): return String(number)
    // As it is written: a server takes its own cursor only.
    case .number(let digits): return digits
    default: break
    }
    throw ReadError(
      .web,
      "At \(pointer) of \(page.address.shown) stands no text that could name the next page.",
      help: "say a pointer to the text itself, as /links/next/href"
    )
  }

  private func text(of page: WebFetcher.Answer) throws(ReadError) -> String {
    let source = try decodedByMark(
      try decoded(page.feed, name: page.address.shown),
      encoding: encoding
    )
    var bytes: [UInt8] = []
    let part = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
    defer { part.deallocate() }
    while true {
      let count = try source.read(into: part)
      if count == 0 { break }
      bytes.append(contentsOf: part[..<count])
      if bytes.count > Self.maximumByteCount {
        throw ReadError(
          .limit,
          "\(page.address.shown) is too long for a page: more than \(Self.maximumByteCount) bytes."
        )
      }
    }
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    return String(
      decoding: bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...],
      as: UTF8.self
    )
  }
}
