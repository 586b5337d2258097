import Foundation

/// URLs as messages, the ledger and maps that are written may have them.
package enum WebText {
  private static let secretWords = [
    "token", "key", "secret", "sig", "pass", "pwd", "auth", "cred", "session", "code", "jwt",
  ]
  /// A longer value of a query may be a secret, whatever its name.
  private static let longestPlainValue = 31

  /// A text without what may be secret where it is a URL: the user, values of the query, the fragment.
  package static func shown(_ text: String) -> String {
    guard let scheme = text.firstRange(of: "://") else { return text }
    var text = String(text.prefix { $0 != "#" })
    let rest = text[scheme.upperBound...]
    let authority = rest.prefix { !"/?".contains($0) }
    // A password that is not escaped has signs in it that end the authority.
    let isUnescaped =
      authority.contains(":") && !authority.contains("@")
      && authority.drop { $0 != ":" }.dropFirst().contains { !$0.isNumber }
    if let at = (isUnescaped ? rest : authority).lastIndex(of: "@") {
      text.replaceSubrange(authority.startIndex..<at, with: "…")
    }
    guard let mark = text.firstIndex(of: "?") else { return text }
    let query = text[text.index(after: mark)...]
    let parts = query.split(separator: "&", omittingEmptySubsequences: false).map { part in
      guard let equals = part.firstIndex(of: "=") else {
        return part.count > longestPlainValue ? "…" : String(part)
      }
      let name = (part[..<equals].removingPercentEncoding ?? String(part[..<equals])).lowercased()
      let value = part[part.index(after: equals)...]
      let isSecret = value.count > longestPlainValue || secretWords.contains(where: name.contains)
      return isSecret ? part[...equals] + "…" : String(part)
    }
    return text[...mark] + parts.joined(separator: "&")
  }
}
