import Foundation
import Testing

/// Holds the examples in the documentation of public symbols to code that the files beside this one
/// compile, as `DocumentedCodeTests` does for the documents.
@Suite struct SymbolExamplesTests {
  @Test("Every example of a public symbol is code that is compiled, and the other way round")
  func examples() throws {
    let folder = "Tests/DragomanTests/Documentation/Symbols"
    let compiled = try DocumentFile.swiftFiles(in: folder).flatMap { try $0.regions() }
    let documented = try DocumentFile.swiftFiles(in: "Sources").flatMap { file in
      try Self.examples(in: file.lines()).map { (file: file.path, code: $0) }
    }
    for example in documented {
      #expect(compiled.contains(example.code), "\(example.file): no region has the example's code")
    }
    for code in compiled {
      #expect(documented.contains { $0.code == code }, "no symbol has the example")
    }
    #expect(documented.count > 50)
  }

  @Test("An example is what stands indented behind an empty line of a public symbol's comment")
  func extraction() {
    let text = """
      /// A thing.
      ///
      ///     let thing = Thing()
      ///
      ///     thing.run()
      ///
      /// - Parameters:
      ///   - one: What is said in
      ///     two lines.
      @discardableResult
      public func run(one: Int)

      /// Ours.
      ///
      ///     none()
      func none()
      """
    let examples = Self.examples(in: text.components(separatedBy: "\n"))
    #expect(examples == ["let thing = Thing()\n\nthing.run()"])
  }

  /// The indented blocks of comments in front of public declarations and extensions; what is no Swift
  /// stands there between fences.
  private static func examples(in lines: [String]) -> [String] {
    var examples: [String] = []
    var comment: [String] = []
    for line in lines.map({ $0.trimmingPrefix { $0 == " " } }) {
      if line.hasPrefix("///") {
        comment.append(String(line.dropFirst(3)))
      } else if !line.hasPrefix("@") || line.contains("public ") {
        if line.contains("public ") || line.hasPrefix("extension ") {
          examples += blocks(of: comment)
        }
        comment = []
      }
    }
    return examples
  }

  private static func blocks(of comment: [String]) -> [String] {
    var blocks: [[String]] = []
    var isOpen = false
    for (index, line) in comment.enumerated() {
      if line.hasPrefix("     ") {
        if !isOpen, index > 0, !comment[index - 1].isEmpty { continue }
        if !isOpen { blocks.append([]) }
        isOpen = true
        blocks[blocks.count - 1].append(String(line.dropFirst(5)))
      } else if line.isEmpty, isOpen {
        blocks[blocks.count - 1].append("")
      } else {
        isOpen = false
      }
    }
    return blocks.map { lines in
      lines.joined(separator: "\n").trimmingCharacters(in: .newlines)
    }
  }
}

/// Takes expressions, whatever they are.
@resultBuilder enum Lines {
  static func buildBlock(_ lines: Any?...) {}
}

/// Takes what an example declares and does not use.
func use(_ values: Any?...) {}
