import Foundation
import Testing

/// The libraries speak of what a program sets; options and commands are the tool's words.
///
/// What the console, which the tool starts, says of them stands in one file.
@Suite struct WordsTests {
  @Test(
    "No text of a library names an option or a command of the tool",
    arguments: [
      "DragomanGraph", "Dragoman", "DragomanConsole", "DragomanEntities", "DragomanMacros",
      "DragomanOperators", "DragomanPostgreSQL",
    ]
  )
  func words(target: String) throws {
    let root = DocumentFile.root.appending(path: "Sources/\(target)")
    var found: [String] = []
    for path in try FileManager.default.subpathsOfDirectory(atPath: root.path).sorted()
    where path.hasSuffix(".swift") && !path.hasSuffix("/ConsoleWords.swift") {
      let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
      for (number, line) in text.components(separatedBy: "\n").enumerated()
      where Self.isOfTheTool(line) {
        found.append("\(path):\(number + 1): \(line.trimmingCharacters(in: .whitespaces))")
      }
    }
    #expect(found == [])
  }

  @Test(
    "The words of the tool are found",
    arguments: [
      (#"  help: "raise --max-rejects""#, true),
      (#"  help: "give it one with -p \(name)=…""#, true),
      (#"  help: "run `dragoman migrate`""#, true),
      ("  /// Chosen with `--source`.", true),
      ("  return --count - -minimum", false),
      (#"  /// A column "_dragoman_id" of dragoman's own."#, false),
    ]
  )
  func detection(line: String, isOfTheTool: Bool) {
    #expect(Self.isOfTheTool(line) == isOfTheTool)
  }

  private static func isOfTheTool(_ line: String) -> Bool {
    let isSpoken = line.contains("\"") || line.contains("//")
    return isSpoken
      && line.contains(/(^|[\s"`(])(--[a-z]|-[a-z] \\\()|`dragoman [a-z]/)
  }
}
