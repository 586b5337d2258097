import CCurl
import Foundation

/// One request and its answer.
final class WebTransfer {
  /// What came of it.
  enum Outcome {
    case answer(status: Int)
    /// There is none.
    case failure(Failure)
  }

  /// Why there is no answer.
  enum Failure {
    case noLibrary
    case stopped
    case tooLong
    case noRoom
    /// The host has an address of another kind than asked for.
    case address(SocketAddress.Kind)
    /// What libcurl says, and whether it may pass.
    case connection(String, mayPass: Bool)
  }

  private let body: OpenedFeed
  private let maximumByteCount: Int
  private let admitted: Set<SocketAddress.Kind>
  private let shouldStop: () -> Bool
  private var byteCount = 0
  private var refusal: Failure?
  /// The kind of the address that has answered, a proxy's where there is one; nil where there was none.
  private(set) var kind: SocketAddress.Kind?
  /// The fields of the head by their names in small letters.
  private(set) var fields: [String: String] = [:]

  /// Whether the server said how long the body is, or where it ends.
  ///
  /// Else one that broke off looks like a whole one (RFC 9112, 8). From HTTP/2 on it always does.
  var tellsItsEnd: Bool {
    byteCount == 0 || hasLength || !isFirstHTTP
      || fields["transfer-encoding"]?.lowercased().contains("chunked") == true
  }

  /// Whether the head has a length that can be one, and no two that differ (RFC 9112, 6.3): libcurl reads on to the
  /// end where there are too many digits, and takes the last of several.
  private var hasLength: Bool {
    let lengths = fields["content-length"]?.split(separator: ",").map { part -> Int64? in
      let digits = part.trimmingCharacters(in: .whitespaces)
      return digits.utf8.allSatisfy(ASCII.isDigit) ? Int64(digits) : nil
    }
    return lengths.map { !$0.contains(nil) && Set($0).count == 1 } ?? false
  }
  private var isFirstHTTP = true
  /// What the last line `HTTP/…` says; 0: there was none.
  private var status = 0
  /// The field whose value the next line may go on with.
  private var lastField: String?
  /// Whether a body that is no feed is cut off.
  private var isCutOff = false

  /// More of an answer that is no feed is not waited for.
  private static let longestOther = 64 << 10

  /// Errors of libcurl that may pass: hosts that cannot be found or reached, timeouts, connections that break.
  private static let passing: Set<CInt> = [5, 6, 7, 16, 18, 28, 35, 52, 55, 56, 92]

  init(
    into body: OpenedFeed,
    maximumByteCount: Int,
    admitting admitted: Set<SocketAddress.Kind>,
    shouldStop: @escaping () -> Bool
  ) {
    self.body = body
    self.maximumByteCount = maximumByteCount
    self.admitted = admitted
    self.shouldStop = shouldStop
  }

  /// Makes the request, and waits for the end of the answer.
  ///
  /// - Parameters:
  ///   - address: What is asked for.
  ///   - proxy: The URL of the proxy to ask; nil: the server itself.
  ///   - headers: The fields of the head, `Name: value`.
  ///   - options: Timeouts, and whom to trust.
  /// - Returns: What came of it.
  func run(
    _ address: WebAddress,
    by proxy: String?,
    headers: [String],
    _ options: WebOptions
  ) -> Outcome {
    var result = CCurlResult()
    var lines = headers.map { strdup($0) }
    defer { for line in lines { free(line) } }
    lines.withUnsafeMutableBufferPointer { lines in
      lines.withMemoryRebound(to: UnsafePointer<CChar>?.self) { lines in
        withCString(address.url.absoluteString, proxy ?? "") { url, proxy in
          withCString(options.certificatesFile) { certificates in
            var request = CCurlRequest()
            request.url = url
            request.headers = UnsafePointer(lines.baseAddress)
            request.headerCount = lines.count
            request.certificates = certificates
            request.connectMilliseconds = options.timeout * 1000
            request.stallSeconds = options.timeout
            request.proxy = proxy
            request.context = Unmanaged.passUnretained(self).toOpaque()
            request.write = { context, bytes, count in
              let part = UnsafeRawBufferPointer(start: bytes, count: count)
              return WebTransfer.of(context)?.take(part) == true ? 1 : 0
            }
            request.header = { context, bytes, count in
              WebTransfer.of(context)?.takeHead(UnsafeRawBufferPointer(start: bytes, count: count))
            }
            request.shouldStop = { WebTransfer.of($0)?.isStopped == false ? 0 : 1 }
            request.admits = { context, address, length in
              guard let address else { return 0 }
              return WebTransfer.of(context)?.admits(address, Int(length)) == true ? 1 : 0
            }
            CCurlPerform(&request, &result)
          }
        }
      }
    }
    let address = withUnsafeBytes(of: result.address) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    kind = SocketAddress(address)?.kind
    if result.code == 0 { return .answer(status: result.status) }
    if result.code < 0 { return .failure(.noLibrary) }
    if let refusal { return .failure(refusal) }
    if isCutOff { return .answer(status: status) }
    // A proxy that does not connect has said why.
    if result.connectStatus >= 400 { return .answer(status: result.connectStatus) }
    let message = withUnsafeBytes(of: result.message) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return .failure(.connection(message, mayPass: Self.passing.contains(result.code)))
  }

  /// The transfer that waits for `CCurlPerform`.
  private static func of(_ context: UnsafeMutableRawPointer?) -> WebTransfer? {
    context.map { Unmanaged<WebTransfer>.fromOpaque($0).takeUnretainedValue() }
  }

  private var isStopped: Bool {
    if refusal == nil, shouldStop() { refusal = .stopped }
    return refusal != nil
  }

  private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
    byteCount += bytes.count
    // What explains an error, or a redirect, is no feed.
    guard WebFetcher.feedStatuses.contains(status) else {
      isCutOff = byteCount > Self.longestOther
      return !isCutOff
    }
    if byteCount > maximumByteCount {
      refusal = .tooLong
    } else if !body.append(bytes) {
      refusal = .noRoom
    }
    return refusal == nil
  }

  /// A line of the head; of several answers, as a proxy gives, the last counts.
  private func takeHead(_ bytes: UnsafeRawBufferPointer) {
    // What stands behind the body is not of the head (RFC 9110, 6.5.1).
    guard byteCount == 0 else { return }
    let line = Self.text(bytes)
    let goesOn = line.first == " " || line.first == "\t"
    let value = line.trimmingCharacters(in: .whitespacesAndNewlines)
    if goesOn, let lastField {
      fields[lastField] = (fields[lastField].map { $0 + " " } ?? "") + value
      return
    }
    lastField = nil
    if line.hasPrefix("HTTP/") {
      fields = [:]
      isFirstHTTP = line.hasPrefix("HTTP/1")
      status = value.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }
    guard let colon = value.firstIndex(of: ":"), fields.count < 200 else { return }
    let name = value[..<colon].lowercased()
    let said = value[value.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    fields[name] = fields[name].map { $0 + ", " + said } ?? said
    lastField = name
  }

  /// A line as text: bytes that are no UTF-8 stand as a URL has them.
  private static func text(_ bytes: UnsafeRawBufferPointer) -> String {
    String(validating: bytes, as: UTF8.self)
      ?? bytes.reduce(into: "") { text, byte in
        text += byte < 0x80 ? String(UnicodeScalar(byte)) : "%" + String(byte, radix: 16)
      }
  }

  private func admits(_ address: UnsafePointer<sockaddr>, _ length: Int) -> Bool {
    guard let found = SocketAddress(address, length: length)?.kind else { return false }
    if admitted.contains(found) {
      if case .address = refusal { refusal = nil }
      return true
    }
    refusal = .address(found)
    return false
  }
}

/// Lends two texts as C has them.
private func withCString(
  _ one: String,
  _ other: String,
  _ body: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Void
) {
  one.withCString { one in other.withCString { body(one, $0) } }
}

/// Lends a text as C has it, where there is one.
private func withCString(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Void) {
  guard let text else { return body(nil) }
  text.withCString { body($0) }
}
