import Foundation

/// The head of a request as it comes over the wire (RFC 9112).
///
/// What two readers could take for two different things is refused: line ends of LF alone, folded lines, a length
/// that is told twice.
struct HTTPHead {
  /// How long the body is.
  enum BodyLength: Equatable {
    case none
    case bytes(Int)
    case chunked
  }

  /// So many bytes a head may have.
  static let maximumByteCount = 32 << 10

  /// The request, without its body.
  let request: ConsoleRequest
  /// How long its body is.
  let bodyLength: BodyLength
  /// Whether the browser is of HTTP/1.0, which knows no chunks.
  let isOld: Bool
  /// Whether another request may follow on the connection.
  let keepsConnection: Bool
  /// Whether the body is sent only when it is asked for.
  let expectsContinue: Bool

  /// Reads a head.
  ///
  /// - Parameter bytes: Its lines up to the empty one, without it.
  /// - Throws: `ConsoleError`, 400, 501 or 505, for what is none.
  init(_ bytes: ArraySlice<UInt8>) throws(ConsoleError) {
    let isPlain = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || [0x09, 0x0A, 0x0D].contains($0) }
    guard isPlain else { throw Self.malformed }
    var lines: [String] = []
    for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
      let text = line.last == 0x0D ? line.dropLast() : line
      guard !text.contains(0x0D), line.count > text.count || line.endIndex == bytes.endIndex else {
        throw Self.malformed
      }
      lines.append(String(decoding: text, as: UTF8.self))
    }
    let parts = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, parts[0].utf8.allSatisfy(Self.isNameByte),
      let target = Self.target(parts[1]), parts[2].hasPrefix("HTTP/")
    else { throw Self.malformed }
    guard ["HTTP/1.0", "HTTP/1.1"].contains(parts[2]) else {
      throw ConsoleError(505, "This server speaks HTTP/1.1.")
    }
    var fields = try Self.fields(lines.dropFirst())
    if let host = target.host { fields["host"] = host }
    request = ConsoleRequest(String(parts[0]), target: target.path, headers: fields)
    bodyLength = try Self.bodyLength(fields)
    isOld = parts[2] == "HTTP/1.0"
    let connection = (fields["connection"] ?? "").lowercased()
    keepsConnection = isOld ? connection.contains("keep-alive") : !connection.contains("close")
    expectsContinue = !isOld && fields["expect"]?.lowercased() == "100-continue"
  }

  /// What a request asks for: a path, or a whole URL as to a proxy, whose host counts more than the field's (RFC 9112, 3.2.2).
  private static func target(_ text: Substring) -> (path: String, host: String?)? {
    if text.hasPrefix("/") { return (String(text), nil) }
    guard text.lowercased().hasPrefix("http://") else { return nil }
    let rest = text.dropFirst("http://".count)
    let host = rest.prefix { $0 != "/" && $0 != "?" }
    let path = rest.dropFirst(host.count)
    return host.isEmpty ? nil : (path.hasPrefix("/") ? String(path) : "/\(path)", String(host))
  }

  /// The fields by their names in small letters; of those that come twice all values stand in one, so that a
  /// field that may come only once is none that is known.
  private static func fields(_ lines: some Sequence<String>) throws(ConsoleError) -> [String:
    String]
  {
    var fields: [String: String] = [:]
    for line in lines {
      guard let colon = line.firstIndex(of: ":"), colon > line.startIndex,
        line[..<colon].utf8.allSatisfy(isNameByte)
      else { throw malformed }
      let name = line[..<colon].lowercased()
      let value = line[line.index(after: colon)...].trimmingCharacters(in: blanks)
      // Pairs of cookies are divided by another sign (RFC 9113, 8.2.3).
      let sign = name == "cookie" ? "; " : ", "
      fields[name] = fields[name].map { $0 + sign + value } ?? value
    }
    return fields
  }

  /// RFC 9110, 5.6.3: what may stand around values.
  static let blanks = CharacterSet(charactersIn: " \t")

  private static func bodyLength(_ fields: [String: String]) throws(ConsoleError) -> BodyLength {
    switch (fields["content-length"], fields["transfer-encoding"]) {
    case (nil, nil): return .none
    case (nil, let coding?):
      guard coding.lowercased() == "chunked" else {
        throw ConsoleError(501, "This server reads bodies as they are, or in chunks.")
      }
      return .chunked
    case (let length?, nil):
      guard !length.isEmpty, length.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let count = Int(length)
      else { throw ConsoleError(400, "The length of the body is no number.") }
      return count == 0 ? .none : .bytes(count)
    case (.some, .some): throw ConsoleError(400, "The length of the body is told twice.")
    }
  }

  /// RFC 9110, 5.6.2: what names of methods and fields consist of.
  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }

  private static var malformed: ConsoleError {
    ConsoleError(400, "This is no request that a browser would send.")
  }
}
