import Foundation

/// The bounds on regular expressions in maps: they run once a value on text from outside.
enum PatternCheck {
  /// The longest pattern, in bytes.
  static let maximumByteCount = 1000

  /// Why the pattern is refused; nil when it compiles and repeats nothing that repeats.
  ///
  /// A repetition inside a repeated group, `(a+)+`, may take time that doubles with each character
  /// of the value; every such pattern can be written without it.
  static func problem(in pattern: String) -> String? {
    if pattern.utf8.count > maximumByteCount {
      return "A pattern has at most \(maximumByteCount) bytes, this one \(pattern.utf8.count)."
    }
    do {
      _ = try NSRegularExpression(pattern: pattern)
    } catch {
      return "\"\(pattern)\" is no regular expression."
    }
    if hasNestedRepetition(pattern) {
      return "\"\(pattern)\" repeats a group that repeats something itself."
    }
    if hasBackReference(pattern) { return "\"\(pattern)\" refers back to a group." }
    return nil
  }

  private static func hasBackReference(_ pattern: String) -> Bool {
    var isEscaped = false
    for scalar in pattern.unicodeScalars {
      if isEscaped, "123456789k".unicodeScalars.contains(scalar) { return true }
      isEscaped = scalar == "\\" && !isEscaped
    }
    return false
  }

  private static func hasNestedRepetition(_ pattern: String) -> Bool {
    // One entry an open group: whether something in it repeats.
    var groups = [false]
    // Whether the piece just read repeats inside itself.
    var pieceRepeats = false
    var isEscaped = false
    var classDepth = 0
    let scalars = Array(pattern.unicodeScalars)
    for (index, scalar) in scalars.enumerated() {
      if isEscaped || (classDepth > 0 && !"\\[]".unicodeScalars.contains(scalar)) {
        isEscaped = false
        pieceRepeats = false
        continue
      }
      switch scalar {
      case "\\": isEscaped = true
      case "[": classDepth += 1
      case "]":
        classDepth = max(0, classDepth - 1)
        pieceRepeats = false
      case "(": groups.append(false)
      case ")":
        let inner = groups.count > 1 ? groups.removeLast() : false
        if inner { groups[groups.count - 1] = true }
        pieceRepeats = inner
      case "*", "+", "{":
        // A second sign after a repetition only makes it lazy or possessive.
        let isSuffix = index > 0 && "*+?}".unicodeScalars.contains(scalars[index - 1])
        if pieceRepeats, !isSuffix { return true }
        groups[groups.count - 1] = true
      default: if scalar != "?" { pieceRepeats = false }
      }
    }
    return false
  }
}
