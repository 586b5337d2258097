import Testing

@testable import Dragoman

/// Members that are added to the sections of a map's text.
@Suite("Sections of a map's text") struct MapSectionsTests {
  private static let added = [
    "entities": ["", "  # B.", "  B:", "    attributes:", "      id: id"],
    "sources": ["  b: { format: json, entity: B }"],
  ]

  /// A map with lines that end so, and members that are indented by so many spaces.
  private static func map(
    _ end: String,
    _ width: Int,
    _ more: [String] = [],
    _ source: String = ""
  ) -> String {
    func line(_ level: Int, _ text: String) -> String {
      String(repeating: " ", count: level * width) + text
    }
    let head = ["version: 1", "entities: # all", "# comment", line(1, "A:")]
    let lines =
      head + [line(2, "attributes: { id: id }")] + more
      + ["", "sources:", line(1, "a: { format: json, entity: A }")]
    return lines.map { $0 + end }.joined() + source
  }

  @Test(
    "They have the line ends and the indentation that the map has",
    arguments: ["\n", "\r\n"],
    [1, 2, 4]
  )
  func grows(end: String, width: Int) throws {
    let space = String(repeating: " ", count: width)
    let lines = [
      "", space + "# B.", space + "B:", space + space + "attributes:",
      space + space + space + "id: id",
    ]
    let wanted = Self.map(end, width, lines, space + "b: { format: json, entity: B }" + end)
    let text = try MapSections(Self.map(end, width), file: nil).adding(Self.added)
    #expect(Array(text.utf8) == Array(wanted.utf8))
    #expect(try ImportMap(yaml: text).entities.map(\.name) == ["A", "B"])
  }

  @Test("A last line without an end gets one", arguments: ["\n", "\r\n"])
  func unended(end: String) throws {
    let text = ["version: 1", "sources:", "  a: x"].joined(separator: end)
    let grown = try MapSections(text, file: nil).adding(["sources": ["  b: y"]])
    #expect(Array(grown.utf8) == Array((text + end + "  b: y" + end).utf8))
  }
}
