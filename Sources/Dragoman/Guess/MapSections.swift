import DragomanGraph

/// The text of a map in YAML, to which members are added at the end of sections.
struct MapSections {
  private let lines: [String]
  private let file: String?

  init(_ text: String, file: String?) {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last?.isEmpty == true { lines.removeLast() }
    self.lines = lines
    self.file = file
  }

  /// The text with lines at the end of sections.
  ///
  /// - Parameter added: The lines by the names of the sections.
  /// - Returns: The text.
  /// - Throws: `MapFaults` where the text has no such section, or has it not in lines.
  func adding(_ added: [String: [String]]) throws(MapFaults) -> String {
    var insertions: [(line: Int, lines: [String])] = []
    for (name, lines) in added { insertions.append((try end(of: name), lines)) }
    var result = lines
    for (line, lines) in insertions.sorted(by: { $0.line > $1.line }) {
      result.insert(contentsOf: lines, at: line)
    }
    return result.map { $0 + "\n" }.joined()
  }

  /// The line behind the last member of a section.
  private func end(of section: String) throws(MapFaults) -> Int {
    let start = lines.firstIndex { line in
      guard line.hasPrefix(section + ":") else { return false }
      let rest = line.dropFirst(section.count + 1).drop { $0 == " " }
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
      if let first = line.first {
        if first == " " { end = place + 1 } else if first != "#" { break }
      }
    }
    return end
  }
}
