import Foundation

/// Reads what fields of a head say.
enum WebLink {
  /// The URL that `Link` names as the next page (RFC 8288): `<https://…?page=2>; rel="next"`.
  static func next(in field: String?) -> String? {
    for link in parts(of: Substring(field ?? ""), at: ",") {
      let parts = parts(of: link, at: ";")
      guard let target = parts.first, target.hasPrefix("<"), target.hasSuffix(">") else { continue }
      let isNext = parts.dropFirst().contains { parameter in
        let sides = parameter.split(separator: "=", maxSplits: 1)
          .map { $0.trimmingCharacters(in: .whitespaces) }
        guard sides.count == 2, sides[0].lowercased() == "rel" else { return false }
        return sides[1].trimmingCharacters(in: CharacterSet(charactersIn: "\"")).lowercased()
          .split(separator: " ").contains("next")
      }
      if isNext { return String(target.dropFirst().dropLast()) }
    }
    return nil
  }

  /// Cuts a text at a sign that neither is in quotes nor in a URL; without white space at the ends.
  private static func parts(of text: Substring, at sign: Character) -> [Substring] {
    var parts: [Substring] = []
    var start = text.startIndex
    var isQuoted = false
    var isURL = false
    func part(upTo end: String.Index) -> Substring {
      let part = text[start..<end].drop { $0 == " " }
      return part.last == " " ? part[...(part.lastIndex { $0 != " " } ?? part.startIndex)] : part
    }
    for place in text.indices {
      switch text[place] {
      case "\"" where !isURL: isQuoted.toggle()
      case "<" where !isQuoted: isURL = true
      case ">" where !isQuoted: isURL = false
      case sign where !isQuoted && !isURL:
        parts.append(part(upTo: place))
        start = text.index(after: place)
      default: break
      }
    }
    return parts + [part(upTo: text.endIndex)]
  }

  /// How many seconds `Retry-After` asks for; nil where it says nothing that can be read.
  static func wait(in field: String?, now: Date = Date()) -> Double? {
    guard let field else { return nil }
    // More than a number holds is more than anybody waits.
    if !field.isEmpty, field.utf8.allSatisfy(ASCII.isDigit) { return Double(field) }
    guard let time = Array(field.utf8).withUnsafeBytes(RFC2822.read), time.civil.isValid else {
      return nil
    }
    let seconds = time.civil.secondsSinceEpoch - (time.offset ?? 0)
    return max(0, Double(seconds) - now.timeIntervalSince1970)
  }
}
