import Foundation

/// What a browser asks for, as the pages see it: no more of HTTP than they need.
public struct ConsoleRequest: Sendable {
  /// The method in capitals, such as `GET`.
  public var method: String
  /// The path's steps, each percent-decoded; empty for `/`.
  public var path: [String]
  /// The query's pairs in order, decoded.
  public var query: [(name: String, value: String)]
  /// The header fields by their names in small letters.
  public var headers: [String: String]
  /// The body; empty where there is none.
  public var body: Data

  /// Makes a request.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - target: Path and query as they stand in the request line.
  ///   - headers: The header fields, in any case.
  ///   - body: The body.
  public init(
    _ method: String = "GET",
    target: String,
    headers: [String: String] = [:],
    body: Data = Data()
  ) {
    self.method = method
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    // Steps are decoded one by one, so that an encoded slash stays in its step.
    path = (parts.first ?? "").split(separator: "/").map { WebText.decoded(String($0)) }
    query = parts.count > 1 ? WebText.pairs(String(parts[1])) : []
    self.headers = [:]
    for (name, value) in headers { self.headers[name.lowercased()] = value }
    self.body = body
  }

  /// Whether a page is asked for as JSON: by `.json` behind its path.
  var wantsJSON: Bool { path.last?.hasSuffix(".json") == true }

  /// The first value of a name in the query; nil where there is none.
  func value(of name: String) -> String? { query.first { $0.name == name }?.value }

  /// The values of a name in the query.
  func values(of name: String) -> [String] { query.filter { $0.name == name }.map(\.value) }

  /// The value of a cookie.
  func cookie(_ name: String) -> String? {
    for part in (headers["cookie"] ?? "").split(separator: ";") {
      let pair = part.trimmingCharacters(in: .whitespaces)
        .split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if pair.count == 2, pair[0] == name { return String(pair[1]) }
    }
    return nil
  }
}

/// Text as it stands in addresses.
enum WebText {
  /// Undoes percent-encoding; what is not UTF-8 gets U+FFFD.
  static func decoded(_ text: String, isForm: Bool = false) -> String {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "+"), isForm {
        bytes.append(UInt8(ascii: " "))
      } else if byte == UInt8(ascii: "%"), rest.count >= 2,
        rest.prefix(2).allSatisfy({ UnicodeScalar($0).properties.isASCIIHexDigit }),
        let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The pairs of a query or of a form (https://url.spec.whatwg.org/#urlencoded-parsing).
  static func pairs(_ text: String) -> [(name: String, value: String)] {
    text.split(separator: "&").map { pair in
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (
        decoded(String(sides[0]), isForm: true),
        sides.count > 1 ? decoded(String(sides[1]), isForm: true) : ""
      )
    }
  }

  /// Text as one step of a path, or as a name or value of a query.
  static func encoded(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: "."), UInt8(ascii: "~"):
        result.unicodeScalars.append(UnicodeScalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        result += "%" + (digits.count == 1 ? "0" : "") + digits
      }
    }
    return result
  }

  /// An address within the console.
  ///
  /// - Parameters:
  ///   - steps: The path's steps.
  ///   - suffix: What stands behind the last step: `.json`.
  ///   - query: The query; pairs whose value is nil are left out.
  /// - Returns: The path and the query.
  static func address(
    _ steps: [String],
    suffix: String = "",
    _ query: [(String, String?)] = []
  ) -> String {
    let path = "/" + steps.map(step).joined(separator: "/") + suffix
    let pairs = query.compactMap { name, value in
      value.map { "\(encoded(name))=\(encoded($0))" }
    }
    return pairs.isEmpty ? path : path + "?" + pairs.joined(separator: "&")
  }

  /// A step of a path: one of dots only would be taken for a way up.
  private static func step(_ text: String) -> String {
    text.allSatisfy { $0 == "." } ? text.replacing(".", with: "%2E") : encoded(text)
  }
}
