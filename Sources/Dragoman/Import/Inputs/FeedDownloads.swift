import DragomanGraph
import Foundation
import Logging

/// The inputs of a request that come from the web, fetched.
struct FeedDownloads {
  /// The request with files in place of URLs.
  private(set) var request: ImportRequest
  /// The versions that were fetched.
  private(set) var versions: [(url: String, version: WebFetcher.Version)] = []
  /// The import since which nothing has changed; nil: there is something to import.
  private(set) var unchangedSince: KeptDownload?

  private static let standardByteCount = 64 << 30

  /// Fetches the inputs, in their order.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - map: Whose sources say which feeds have pages.
  ///   - kept: Which versions were imported already.
  ///   - cancellation: Ends it.
  ///   - logger: Told of redirects and faults.
  /// - Throws: `ReadError`, `CancellationError`.
  init(
    of request: ImportRequest,
    by map: ImportMap?,
    unless kept: [KeptDownload],
    _ cancellation: Cancellation,
    _ logger: Logger
  ) throws {
    self.request = request
    try request.web.check()
    if let file = request.web.certificatesFile, request.hasURLs,
      !FileManager.default.isReadableFile(atPath: file)
    {
      throw ReadError(.missing, "The certificates \(file) cannot be read.")
    }
    let fetcher = WebFetcher(
      options: request.web,
      maximumByteCount: request.maximumInputByteCount ?? Self.standardByteCount,
      cancellation: cancellation,
      logger: logger
    )
    let known = request.inputs.map { input in
      kept.first { hasSameBytes($0.url, request.identity(of: input)) }
    }
    // Of several feeds either all are as they were, or all are imported: each may refer to the others.
    let isConditional = request.mayBeConditional && known.allSatisfy { $0 != nil }
    var inputs: [[ImportInput]?] = []
    for (place, input) in request.inputs.enumerated() {
      let version = isConditional ? known[place].map { WebFetcher.Version($0) } : nil
      inputs.append(try fetch(input, by: map, unless: version, fetcher))
    }
    if !inputs.isEmpty, inputs.allSatisfy({ $0 == nil }) {
      unchangedSince = known.compactMap { $0 }.min { $0.run < $1.run }
    }
    for (place, input) in request.inputs.enumerated()
    where unchangedSince == nil && inputs[place] == nil {
      inputs[place] = try fetch(input, by: map, unless: nil, fetcher)
    }
    self.request.inputs = inputs.flatMap { $0 ?? [] }
  }

  /// Fetches an input, with its pages.
  ///
  /// - Returns: What there is in place of it: itself where it is no URL; nil: it has not changed since a version.
  private mutating func fetch(
    _ input: ImportInput,
    by map: ImportMap?,
    unless version: WebFetcher.Version?,
    _ fetcher: WebFetcher
  ) throws -> [ImportInput]? {
    guard case .url(let text) = input else { return [input] }
    let source = map.flatMap { map in
      InputSources.candidates(of: map, request, for: input.name).first { $0.pages != nil }
    }
    let rule = source?.pages
    // Of a feed in pages the first may be as it was, and another one not.
    guard let answer = try fetcher.fetch(WebAddress(text), unless: rule == nil ? version : nil)
    else { return nil }
    if rule == nil { versions.append((request.identity(of: input), answer.version)) }
    let pages =
      try rule.map { rule in
        try WebPages(fetcher: fetcher, rule: rule, encoding: source?.encoding).all(from: answer)
      } ?? [answer]
    return pages.enumerated().map { number, page in
      let name = number == 0 ? input.name : WebText.name(ofPage: number + 1, of: input.name)
      request.sourcesByInput[name] = request.sourcesByInput[input.name]
      return .opened(page.feed, name: name)
    }
  }
}

extension WebFetcher.Version {
  fileprivate init(_ kept: KeptDownload) {
    self.init(tag: kept.tag, modified: kept.modified, at: kept.place)
  }
}

extension WebOptions {
  fileprivate func check() throws(ImportError) {
    func refuse(_ what: String, _ range: ClosedRange<Int>, _ value: Int) throws(ImportError) {
      if !range.contains(value) {
        throw ImportError(
          .request,
          "\(what) is \(range.lowerBound) to \(range.upperBound), not \(value)."
        )
      }
    }
    try refuse("The timeout in seconds", 1...3600, timeout)
    try refuse("The number of retries", 0...20, retryCount)
    try refuse("The number of pages", 1...1_000_000, maximumPageCount)
  }
}

extension ImportRequest {
  /// Whether some input comes from the web.
  var hasURLs: Bool {
    inputs.contains { input in
      if case .url = input { true } else { false }
    }
  }

  /// What tells an input from others: its URL as it is shown, and a few digits of a hash where that leaves something
  /// out, or where header fields decide what is answered.
  fileprivate func identity(of input: ImportInput) -> String {
    guard case .url(let text) = input, !hasSameBytes(text, input.name) || !web.headers.isEmpty
    else {
      return input.name
    }
    let headers = web.headers.sorted { $0.key < $1.key }.map { "\n\($0.key): \($0.value)" }
    return "\(input.name) \(FeedHash.text(text + headers.joined()).prefix(8))"
  }

  /// Whether it may turn out that there is nothing to do.
  fileprivate var mayBeConditional: Bool {
    web.isConditional && !isDryRun && !resumes && limit == nil
      && inputs.allSatisfy { input in
        if case .url = input { true } else { false }
      }
  }
}

extension ImportRequest {
  /// Fetches the inputs that are URLs, and waits for them.
  ///
  /// - Parameter map: Whose sources say which feeds have pages; nil: none has.
  /// - Returns: The request with files in place of URLs.
  /// - Throws: `ReadError`, `ImportError`.
  package func fetching(by map: ImportMap?) throws -> ImportRequest {
    guard hasURLs else { return self }
    let logger = Logger(label: "dragoman")
    return try FeedDownloads(of: self, by: map, unless: [], Cancellation(), logger).request
  }
}
