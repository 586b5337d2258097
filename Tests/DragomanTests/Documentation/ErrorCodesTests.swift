import Foundation
import Testing

/// Holds docs/errors.md to the codes in the sources.
@Suite struct ErrorCodesTests {
  @Test("docs/errors.md explains every code of the sources, once each, and no other")
  func codes() throws {
    let headings = try DocumentFile(path: "docs/errors.md").lines()
      .compactMap { $0.wholeMatch(of: /### `(.+)`/).map { String($0.output.1) } }
    #expect(headings.sorted() == Set(headings).sorted())
    #expect(Set(headings) == (try Self.codes()))
  }

  /// The codes of the error types, and those that the tool prints on its own account.
  private static func codes() throws -> Set<String> {
    let sources = DocumentFile.root.appending(path: "Sources")
    var codes: Set<String> = []
    for path in try FileManager.default.subpathsOfDirectory(atPath: sources.path)
    where path.hasSuffix(".swift") {
      let file = sources.appending(path: path)
      let text = try String(contentsOf: file, encoding: .utf8)
      for match in text.matches(of: /(?:Code\(rawValue: |text\(\s*)"([a-z]+\.[a-z]+)"/) {
        codes.insert(String(match.output.1))
      }
    }
    return codes
  }
}
