import Foundation
import Testing

/// A document or a source file of the repository, by its path from the root.
struct DocumentFile: CustomTestStringConvertible {
  let path: String

  /// The repository's folder.
  static let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { folder, _ in
    folder.deletingLastPathComponent()
  }

  var url: URL { Self.root.appending(path: path) }
  var testDescription: String { path }

  /// The Swift files in a folder and below it, by their paths.
  static func swiftFiles(in folder: String) throws -> [DocumentFile] {
    try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
      .filter { $0.hasSuffix(".swift") }.sorted()
      .map { DocumentFile(path: "\(folder)/\($0)") }
  }

  /// The lines of the file.
  func lines() throws -> [String] {
    try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n")
  }

  /// The fenced blocks of a Markdown document that are marked with a language, in order.
  func blocks(in language: String) throws -> [String] {
    try spans { line in
      line == "```\(language)"
    } to: { line in
      line == "```"
    }
  }

  /// What stands between the lines `// docs: begin NAME` and `// docs: end` of a source file, in
  /// order, without the indentation of the marks.
  func regions() throws -> [String] {
    try spans { line in
      line.contains("// docs: begin ")
    } to: { line in
      line.hasSuffix("// docs: end")
    }
  }

  private func spans(
    from isStart: (String) -> Bool,
    to isEnd: (String) -> Bool
  ) throws -> [String] {
    var spans: [String] = []
    var open: (indentation: Int, lines: [String])?
    for line in try lines() {
      if let span = open {
        if isEnd(line) {
          spans.append(span.lines.joined(separator: "\n"))
          open = nil
        } else {
          let indentation = line.prefix { $0 == " " }.count
          open?.lines.append(String(line.dropFirst(min(indentation, span.indentation))))
        }
      } else if isStart(line) {
        open = (line.prefix { $0 == " " }.count, [])
      }
    }
    return spans
  }
}
