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

  /// The text with patterns for the files of a source that has none.
  ///
  /// - Parameters:
  ///   - files: The patterns.
  ///   - source: The name of the source; where it is not found, or has lines of braces, the text stays as it is.
  /// - Returns: The text.
  /// - Throws: `MapFaults` where the text has no section of sources, or has it not in lines.
  func declaring(files: [String], of source: String) throws(MapFaults) -> MapSections {
    let section = try lineRange(of: "sources")
    let indent = String(repeating: " ", count: indentation(of: section))
    let entry = "files: \(MapText.list(files))"
    var result = lines
    for name in [source, YAML.quoted(source)] {
      let start = "\(indent)\(name):"
      guard let place = lines[section].firstIndex(where: { $0.hasPrefix(start) }) else { continue }
      let rest = lines[place].dropFirst(start.count).drop { $0 == " " }
      if rest.first == "{" {
        guard let brace = Self.end(ofBracesIn: rest) else { return self }
        let before = lines[place][..<brace].reversed().drop { $0 == " " }.reversed()
        result[place] = "\(String(before)), \(entry) \(lines[place][brace...])"
      } else if place + 1 < section.upperBound {
        let inner = lines[place + 1].prefix { $0 == " " }
        guard inner.count > indent.count else { return self }
        result.insert("\(inner)\(entry)\(lineEnd)", at: place + 1)
      }
      return MapSections(result.joined(), file: file)
    }
    return self
  }

  /// Where the braces end that a text begins with; nil: not in it.
  private static func end(ofBracesIn text: Substring) -> Substring.Index? {
    var depth = 0
    var quote: Character?
    for index in text.indices {
      switch text[index] {
      case let sign where quote != nil: if sign == quote { quote = nil }
      case "\"", "'": quote = text[index]
      case "{": depth += 1
      case "}":
        depth -= 1
        if depth == 0 { return index }
      default: break
      }
    }
    return nil
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
