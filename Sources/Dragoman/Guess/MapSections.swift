import DragomanGraph

/// The text of a map in YAML, to which members are added at the end of sections.
struct MapSections {
  /// The lines, each with its end.
  private let lines: [String]
  /// How the first line ends.
  private let lineEnd: String
  private let file: String?

  init(_ text: String, file: String?) {
    // A carriage return and a line feed are one character, but two scalars.
    let pieces = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
      .map { String($0) }
    let isCRLF = pieces.count > 1 && pieces[0].unicodeScalars.last == "\r"
    let lineEnd = isCRLF ? "\r\n" : "\n"
    var lines = pieces.dropLast().map { $0 + "\n" }
    if let last = pieces.last, !last.isEmpty { lines.append(last + lineEnd) }
    self.lines = lines
    self.lineEnd = lineEnd
    self.file = file
  }

  /// The text with lines at the end of sections.
  ///
  /// - Parameter added: The lines by the names of the sections, indented by two spaces a level; they get the
  ///   indentation of their section.
  /// - Returns: The text.
  /// - Throws: `MapFaults` where the text has no such section, or has it not in lines.
  func adding(_ added: [String: [String]]) throws(MapFaults) -> String {
    var insertions: [(line: Int, lines: [String])] = []
    for (name, lines) in added {
      let section = try lineRange(of: name)
      let width = indentation(of: section)
      let indented = lines.map { Self.indented($0, by: width) + lineEnd }
      insertions.append((section.upperBound, indented))
    }
    var result = lines
    for (line, lines) in insertions.sorted(by: { $0.line > $1.line }) {
      result.insert(contentsOf: lines, at: line)
    }
    return result.joined()
  }

  /// The lines of a section's members.
  private func lineRange(of section: String) throws(MapFaults) -> Range<Int> {
    let start = lines.firstIndex { line in
      guard line.hasPrefix(section + ":") else { return false }
      let rest = line.dropFirst(section.count + 1).drop(while: \.isWhitespace)
      return rest.isEmpty || rest.hasPrefix("#")
    }
    guard let start else {
      throw MapFaults([
        MapFault(
          .shape,
          "Nothing can be added to the map: \"\(section)\" does not stand in it with a line for each member.",
          file: file
        )
      ])
    }
    var end = start + 1
    for (place, line) in lines.enumerated().dropFirst(start + 1) {
      guard let first = line.first, !first.isNewline else { continue }
      if first == " " { end = place + 1 } else if first != "#" { break }
    }
    return start + 1..<end
  }

  /// How many spaces stand before the members of a section.
  private func indentation(of section: Range<Int>) -> Int {
    for line in lines[section] {
      let rest = line.drop { $0 == " " }
      guard let first = rest.first, !first.isNewline, first != "#" else { continue }
      return line.count - rest.count
    }
    return 2
  }

  /// A line that is indented by two spaces a level, with another width of them.
  private static func indented(_ line: String, by width: Int) -> String {
    let rest = line.drop { $0 == " " }
    return String(repeating: " ", count: (line.count - rest.count) / 2 * width) + rest
  }
}
