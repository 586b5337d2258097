import Foundation

/// A pattern of `ENDSWITH`, `LIKE` or `MATCHES`, compiled once and then held against many texts.
package struct TextTest {
  /// Which test; the raw value is what the SQL function is given.
  package enum Kind: Int {
    case endsWith = 1
    case like = 2
    case matches = 3
  }

  /// Why a test could not be made or finished.
  struct Failure: Error {
    let message: String
  }

  private enum Compiled {
    case suffix([UInt8])
    case wildcards([Wildcard])
    case expression(NSRegularExpression)
  }

  private enum Wildcard: Equatable {
    case scalar(Unicode.Scalar)
    case one
    case many
  }

  private let compiled: Compiled
  private let options: Filter.Comparison.Options

  /// Compiles a pattern; suffix and wildcards are folded here, texts when they are tested.
  init(_ kind: Kind, _ pattern: String, _ options: Filter.Comparison.Options) throws(Failure) {
    self.options = options
    switch kind {
    case .endsWith: compiled = .suffix(Array(TextFold.fold(pattern, options).utf8))
    case .like: compiled = .wildcards(Self.wildcards(TextFold.fold(pattern, options)))
    case .matches: compiled = .expression(try Self.expression(pattern, options))
    }
  }

  /// Whether the text passes.
  ///
  /// - Throws: `Failure` if a regular expression takes more steps, or more memory, than any sane one needs.
  func admits(_ text: String) throws(Failure) -> Bool {
    switch compiled {
    case .suffix(let suffix):
      let folded = options.isEmpty ? text : TextFold.fold(text, options)
      return folded.utf8.suffix(suffix.count).elementsEqual(suffix)
    case .wildcards(let pattern):
      let folded = options.isEmpty ? text : TextFold.fold(text, options)
      return Self.fits(Array(folded.unicodeScalars), pattern)
    case .expression(let expression):
      let isFolded = options.contains(.diacriticInsensitive)
      return try Self.matches(
        isFolded ? TextFold.fold(text, .diacriticInsensitive) : text,
        expression
      )
    }
  }

  // MARK: LIKE

  private static func wildcards(_ pattern: String) -> [Wildcard] {
    var wildcards: [Wildcard] = []
    var isEscaped = false
    for scalar in pattern.unicodeScalars {
      if isEscaped {
        wildcards.append(.scalar(scalar))
        isEscaped = false
      } else if scalar == "\\" {
        isEscaped = true
      } else if scalar == "*" {
        if wildcards.last != .many { wildcards.append(.many) }
      } else {
        wildcards.append(scalar == "?" ? .one : .scalar(scalar))
      }
    }
    if isEscaped { wildcards.append(.scalar("\\")) }
    return wildcards
  }

  /// Greedy matching with one point of return, the last `*`: at worst length times length steps.
  private static func fits(_ text: [Unicode.Scalar], _ pattern: [Wildcard]) -> Bool {
    var t = 0
    var p = 0
    var retry: (text: Int, pattern: Int)?
    while t < text.count {
      if p < pattern.count, pattern[p] == .many {
        retry = (t, p + 1)
        p += 1
      } else if p < pattern.count, pattern[p] == .one || pattern[p] == .scalar(text[t]) {
        t += 1
        p += 1
      } else if let last = retry {
        retry = (last.text + 1, last.pattern)
        t = last.text + 1
        p = last.pattern
      } else {
        return false
      }
    }
    return pattern[p...].allSatisfy { $0 == .many }
  }

  // MARK: MATCHES

  private static let maximumPatternLength = 10_000

  private static func expression(
    _ pattern: String,
    _ options: Filter.Comparison.Options
  ) throws(Failure) -> NSRegularExpression {
    guard pattern.unicodeScalars.count <= maximumPatternLength else {
      throw Failure(message: "the regular expression is longer than \(maximumPatternLength)")
    }
    let folded =
      options.contains(.diacriticInsensitive)
      ? TextFold.fold(pattern, .diacriticInsensitive) : pattern
    do {
      return try .whole(folded, options: options.contains(.caseInsensitive) ? .caseInsensitive : [])
    } catch {
      throw Failure(message: "\"\(pattern.prefix(80))\" is no valid regular expression")
    }
  }

  private static func matches(
    _ text: String,
    _ expression: NSRegularExpression
  ) throws(Failure) -> Bool {
    let match = expression.boundedMatch(in: text)
    if match.isFound { return true }
    guard match.excess <= NSRegularExpression.maximumExcess else {
      throw Failure(message: "the regular expression takes too long: simplify it")
    }
    guard !match.isOverflown else {
      throw Failure(
        message: "the regular expression wants too much memory for a text of "
          + "\(text.unicodeScalars.count) characters: simplify it, (a|b)+ to [ab]+"
      )
    }
    return false
  }
}
