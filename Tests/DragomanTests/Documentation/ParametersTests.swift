import Foundation
import Testing

/// Holds the sources to short lists of parameters: what more can be said of a thing is a value of rules
/// or options, or a property of it (`Adjustable`).
///
/// The macros `@Attribute` and `@Relationship` are left out: their arguments stand in the declaration of
/// a property, behind which nothing could be set.
@Suite struct ParametersTests {
  /// How many parameters an initialiser or a function may have.
  private static let most = 7

  @Test("No initialiser and no function of the sources has more than seven parameters")
  func sources() throws {
    var count = 0
    for file in try DocumentFile.swiftFiles(in: "Sources") {
      for declaration in try Self.declarations(in: file.lines()) {
        count += 1
        #expect(
          declaration.parameterCount <= Self.most,
          "\(file.path):\(declaration.line) has \(declaration.parameterCount) parameters"
        )
      }
    }
    #expect(count > 3000)
  }

  @Test("Parameters are counted whatever their types, defaults and comments hold")
  func counting() {
    let text = """
      public init(
        _ name: String = "a, b: c)",  // the name: as written
        of pairs: [String: (Int, Int)] = [:],
        with body: @escaping (inout Self) -> Result<Int, any Error> = { _ in f(a: 1, b: 2) }
      ) {
        self.init(a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8)
      }
      @inlinable package static func make<A: B>(a: A, b: Int) -> Int { 1 }
      func none() { let x = Thing(a: 1) }
      subscript<T>(at key: T = 1 << 20, of: Int) -> Int { 0 }
      """
    let found = Self.declarations(in: text.components(separatedBy: "\n"))
    #expect(found.map(\.parameterCount) == [3, 2, 0, 2])
    #expect(found.map(\.line) == [1, 8, 9, 10])
  }

  private struct Declaration {
    var line: Int
    var parameterCount: Int
  }

  private static let modifiers: Set<Substring> = [
    "public", "package", "internal", "fileprivate", "private", "static", "class", "final",
    "override",
    "convenience", "required", "mutating", "nonmutating", "consuming", "borrowing", "nonisolated",
    "prefix", "postfix", "isolated",
  ]

  private static func declarations(in lines: [String]) -> [Declaration] {
    lines.indices.compactMap { index in
      guard isDeclaration(lines[index]) else { return nil }
      // A list that is longer than 100 lines would be told by its count.
      let text = lines[index...].prefix(100).joined(separator: "\n")
      return Declaration(line: index + 1, parameterCount: parameterCount(text))
    }
  }

  private static func isDeclaration(_ line: String) -> Bool {
    guard line.contains("(") else { return false }
    let words = line.split(separator: " ").drop { $0.hasPrefix("@") || modifiers.contains($0) }
    guard let first = words.first else { return false }
    return first == "func"
      || ["init(", "init?(", "init<", "subscript(", "subscript<"].contains { first.hasPrefix($0) }
  }

  /// The colons of the first list in parentheses that stand in no brackets, string or comment.
  private static func parameterCount(_ text: String) -> Int {
    var depth = 0
    var count = 0
    var isString = false
    var isComment = false
    var last: UInt8 = 0
    for byte in text.utf8.drop(while: { $0 != UInt8(ascii: "(") }) {
      defer { last = byte }
      if isComment {
        isComment = byte != UInt8(ascii: "\n")
      } else if isString {
        isString = byte != UInt8(ascii: "\"") || last == UInt8(ascii: "\\")
      } else {
        switch byte {
        case UInt8(ascii: "\""): isString = true
        case UInt8(ascii: "/") where last == byte: isComment = true
        case UInt8(ascii: ">") where last == UInt8(ascii: "-"): break
        // `1 << 20`
        case UInt8(ascii: "<") where last == byte: depth -= 1
        case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: "<"): depth += 1
        case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ">"):
          depth -= 1
          if depth == 0 { return count }
        case UInt8(ascii: ":") where depth == 1: count += 1
        default: break
        }
      }
    }
    return count
  }
}
