import Foundation

/// Follows the pages of a feed, by the rule that the map's source declares.
struct WebPages {
  let fetcher: WebFetcher
  let rule: PageRule

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
    let bytes = try bytes(of: page)
    let document: Any
    do {
      document = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
    } catch {
      throw ReadError(
        .json,
        "\(page.address.shown) is no JSON in which \(pointer) could name the next page.",
        help: "where a `Link` header names it, say `pages: { next: header }`"
      )
    }
    var value: Any? = document
    for token in pointer.unicodeScalars.dropFirst()
      .split(separator: "/", omittingEmptySubsequences: false)
    {
      let name = String(
        token.replacing("~1".unicodeScalars, with: "/".unicodeScalars)
          .replacing("~0".unicodeScalars, with: "~".unicodeScalars)
      )
      if let object = value as? [String: Any] {
        value = object[name]
      } else if let list = value as? [Any], let place = Int(name), list.indices.contains(place) {
        value = list[place]
      } else {
        return nil
      }
    }
    switch value {
    case let text as String: return text.isEmpty ? nil : text
    case let number as NSNumber:
      // JSON's booleans are numbers, too, of one byte.
      guard String(cString: number.objCType) == "c" else { return number.stringValue }
      if !number.boolValue { return nil }
    case nil, is NSNull: return nil
    default: break
    }
    throw ReadError(
      .web,
      "At \(pointer) of \(page.address.shown) stands no text that could name the next page.",
      help: "say a pointer to the text itself, as /links/next/href"
    )
  }

  private func bytes(of page: WebFetcher.Answer) throws(ReadError) -> [UInt8] {
    let source = try decoded(OpenedFeedSource(page.feed, name: page.address.shown))
    var bytes: [UInt8] = []
    let part = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
    defer { part.deallocate() }
    while true {
      let count = try source.read(into: part)
      if count == 0 { return bytes }
      bytes.append(contentsOf: part[..<count])
      if bytes.count > Self.maximumByteCount {
        throw ReadError(
          .limit,
          "\(page.address.shown) is too long for a page: more than \(Self.maximumByteCount) bytes."
        )
      }
    }
  }
}
