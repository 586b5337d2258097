import Foundation

/// URLs as messages, the ledger and maps that are written may have them.
package enum WebText {
  private static let secretWords = [
    "token", "key", "secret", "sig", "pass", "pwd", "auth", "cred", "session", "code", "jwt",
  ]
  /// A longer value of a query may be a secret, whatever its name.
  private static let longestPlainValue = 31

  /// A text without what may be secret where it is a URL, or meant for one: the user, values of the query, the fragment.
  ///
  /// It goes by scalars: to a `Character` a sign is another one where a combining mark stands behind it.
  package static func shown(_ text: String) -> String {
    let all = text.unicodeScalars
    let scheme = all.prefix {
      $0.isASCII && ($0.properties.isAlphabetic || "0123456789+-.".unicodeScalars.contains($0))
    }
    guard scheme.first?.properties.isAlphabetic == true, scheme.endIndex < all.endIndex,
      all[scheme.endIndex] == ":"
    else { return text }
    var rest = all[all.index(after: scheme.endIndex)...]
    let slashes = rest.prefix { $0 == "/" }
    rest = rest[slashes.endIndex...]
    let isURL = slashes.count >= 2
    if isURL { rest = rest.prefix { $0 != "#" } }
    var shown = String(all[..<slashes.endIndex])
    let authority = rest.prefix { !"/?".unicodeScalars.contains($0) }
    // A password that is not escaped has signs in it that end the authority.
    let isClear = isURL && (authority.contains("@") || !authority.contains(":"))
    if let at = (isClear ? authority : rest).lastIndex(of: "@") {
      shown += "…"
      rest = rest[at...]
    }
    guard isURL, let mark = rest.firstIndex(of: "?") else { return shown + String(rest) }
    shown += String(rest[...mark])
    for part in rest[rest.index(after: mark)...].split(
      separator: "&",
      omittingEmptySubsequences: false
    ) {
      // Some servers take a semicolon for a separator, too.
      let values = part.split(separator: ";", omittingEmptySubsequences: false).map {
        self.value(String($0))
      }
      shown += values.joined(separator: ";") + "&"
    }
    return String(shown.dropLast())
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
