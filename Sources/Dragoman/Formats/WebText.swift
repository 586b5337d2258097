import Foundation

/// URLs as messages, the ledger and maps that are written may have them.
package enum WebText {
  private static let secretWords = [
    "token", "key", "secret", "sig", "pass", "pwd", "auth", "cred", "session", "code", "jwt",
  ]
  /// A longer value of a query may be a secret, whatever its name.
  private static let longestPlainValue = 31

  /// The name of a page of a feed behind its first.
  static func name(ofPage number: Int, of feed: String) -> String { "\(feed) (page \(number))" }

  /// The part of an input's name that has the ending of a file: of a URL the path, which pages of it share.
  static func path(ofInput name: String) -> String {
    guard name.contains("://") else { return name }
    let page = name.firstMatch(of: /\ \(page \d+\)$/)
    return String(
      name[..<(page?.range.lowerBound ?? name.endIndex)].prefix { $0 != "?" && $0 != "#" }
    )
  }

  /// A text without what may be secret where a URL is in it, or what is meant for one: the user, values of the query,
  /// the fragment.
  ///
  /// It goes by scalars: to a `Character` a sign is another one where a combining mark stands behind it.
  package static func shown(_ text: String) -> String {
    let all = text.unicodeScalars
    guard let start = all.firstRange(of: "://".unicodeScalars) else { return shownMisspelt(text) }
    return String(all[..<start.upperBound]) + shown(rest: all[start.upperBound...])
  }

  /// A text that begins as a URL does, but for the slashes: `https:/user:password@host`.
  private static func shownMisspelt(_ text: String) -> String {
    let all = text.unicodeScalars
    let scheme = all.prefix { sign in
      sign.isASCII
        && (sign.properties.isAlphabetic || "0123456789+-.".unicodeScalars.contains(sign))
    }
    guard scheme.first?.properties.isAlphabetic == true, scheme.endIndex < all.endIndex,
      all[scheme.endIndex] == ":"
    else { return text }
    let behind = all[all.index(after: scheme.endIndex)...]
    guard behind.first == "/" || behind.contains("@") else { return text }
    return String(all[..<behind.startIndex]) + shown(rest: behind)
  }

  /// What stands behind the slashes of a URL.
  private static func shown(rest: Substring.UnicodeScalarView) -> String {
    var rest = rest
    var shown = ""
    let slashes = rest.prefix { $0 == "/" }
    let authority = rest[slashes.endIndex...].prefix { !"/?".unicodeScalars.contains($0) }
    if let at = authority.lastIndex(of: "@") {
      shown = String(slashes) + "…"
      rest = rest[at...]
    } else if authority.contains(":"), let at = rest.lastIndex(of: "@") {
      // A password that is not escaped may have signs in it that end the authority; a port ends it itself.
      let port = authority.drop { $0 != ":" }.dropFirst()
      let isPort = !port.isEmpty && port.allSatisfy { "0123456789".unicodeScalars.contains($0) }
      shown = isPort ? String(rest[..<authority.endIndex]) + "/…" : String(slashes) + "…"
      rest = rest[at...]
    }
    rest = rest.prefix { $0 != "#" }
    guard let mark = rest.firstIndex(of: "?") else { return shown + String(rest) }
    shown += String(rest[...mark])
    let query = rest[rest.index(after: mark)...]
    let parts = query.split(separator: "&", omittingEmptySubsequences: false).map { part in
      // Some servers take a semicolon for a separator, too.
      part.split(separator: ";", omittingEmptySubsequences: false).map { value(String($0)) }
        .joined(separator: ";")
    }
    return shown + parts.joined(separator: "&")
  }

  /// A parameter of a query without what may be secret.
  private static func value(_ part: String) -> String {
    guard let equals = part.unicodeScalars.firstIndex(of: "=") else {
      return part.unicodeScalars.count > longestPlainValue ? "…" : part
    }
    let name = String(part.unicodeScalars[..<equals])
    let word = (name.removingPercentEncoding ?? name).lowercased()
    let count = part.unicodeScalars[equals...].count - 1
    let isSecret = count > longestPlainValue || secretWords.contains { word.contains($0) }
    return isSecret ? name + "=…" : part
  }
}
