import DragomanGraph

extension MapReader {
  /// What is known about the sources when paths are parsed.
  struct PathContext {
    /// The formats in which a path that is written for all of them has to be one.
    var formats: Set<ForeignFormat>
    /// The prefixes that XML paths may use.
    var namespaces: [String: String]

    /// What the paths of an entity are parsed with.
    init(of entity: String, _ reach: SourceReach) {
      formats = reach.ownFormats(of: entity)
      namespaces = reach.namespaces(of: entity)
    }
  }

  /// A path, a list of paths, or `{ json, xml, csv }` of them.
  ///
  /// A path written for every format must be one in every format that the sources have; where no
  /// source has the format, a text that is no path of it is left out. JSON syntax on an XML source
  /// is left out too and is told by `lint()`.
  mutating func paths(_ found: Found) -> ForeignPaths? {
    guard case .mapping = found.node.content else {
      return list(found).map { sharedPaths($0, found) }
    }
    var paths = ForeignPaths()
    _ = fill(&paths, from: found, by: MapGrammar.paths)
    return paths
  }

  /// The paths of one format.
  mutating func paths(_ found: Found, in format: ForeignFormat) -> [ForeignPath]? {
    let parser = ForeignPathParser(format: format, namespaces: context.namespaces)
    return list(found)?.enumerated().compactMap { path($1, by: parser, at: place(found, $0)) }
  }

  private mutating func sharedPaths(_ texts: [String], _ found: Found) -> ForeignPaths {
    var paths = ForeignPaths()
    for (index, text) in texts.enumerated() {
      // A text that is wrong in several formats is told once.
      var isTold = false
      for (format, member) in ForeignPaths.members {
        let parser = ForeignPathParser(format: format, namespaces: context.namespaces)
        let isUsed = context.formats.contains(format)
        let isXMLOnly = context.formats == [.xml]
        do {
          paths[keyPath: member].append(try parser.parse(text))
        } catch {
          // JSON syntax in a path that serves both is a warning, told by lint().
          let isJSONSyntax = text.hasPrefix("/") || text.contains("[")
          if !isTold, isUsed, format != .xml || isXMLOnly || !isJSONSyntax {
            report(error, in: text, at: place(found, index))
            isTold = true
          }
        }
      }
    }
    return paths
  }

  /// One path by one parser; a fault is reported at its place in the file.
  mutating func path(
    _ text: String,
    by parser: ForeignPathParser,
    at place: String
  ) -> ForeignPath? {
    do {
      return try parser.parse(text)
    } catch {
      report(error, in: text, at: place)
      return nil
    }
  }

  private mutating func report(_ fault: PathFault, in text: String, at place: String) {
    let shown = text.unicodeScalars.count > 60 ? "\(String(text.unicodeScalars.prefix(60)))…" : text
    let position = positions[place] ?? MapPosition(line: 1, column: 1)
    let node = MapNode(content: .scalar(text, isPlain: false), position: position)
    report(
      .path,
      "\"\(shown)\" at character \(fault.offset + 1): \(fault.message)",
      at: Found(node: node, place: place),
      suggestion: fault.suggestion
    )
  }

  private func place(_ found: Found, _ index: Int) -> String {
    if case .sequence = found.node.content { return "\(found.place).\(index)" }
    return found.place
  }
}

extension ForeignPaths {
  /// The formats a path is written for, and where each is kept.
  static var members: [(ForeignFormat, WritableKeyPath<ForeignPaths, [ForeignPath]>)] {
    [(.json, \.json), (.xml, \.xml), (.csv, \.csv)]
  }
}

extension ForeignPaths {
  /// The texts that serve every format, as the short form says them; nil where formats differ.
  func shared(_ writer: MapWriter) -> [String]? {
    let texts = Self.members.map { self[keyPath: $0.1].map(\.text) }
    let parser = ForeignPathParser(format: .xml, namespaces: writer.namespaces)
    // What is no XML path at all was left out of XML when the short form was read.
    let isShared =
      texts[0] == texts[1] || (texts[1].isEmpty && !texts[0].contains { parser.parses($0) })
    return texts[0] == texts[2] && isShared ? texts[0] : nil
  }
}

extension ForeignPathParser {
  fileprivate func parses(_ text: String) -> Bool {
    do {
      _ = try parse(text)
      return true
    } catch {
      return false
    }
  }
}

extension ImportMap {
  /// The most entities a map may declare.
  static let maximumEntityCount = 250

  /// The prefixes of several sources together; the first declaration of a prefix counts.
  static func namespaces(of sources: [SourceMap]) -> [String: String] {
    sources.filter { $0.format == .xml }.reduce(into: [:]) { all, source in
      all.merge(source.namespaces) { first, _ in first }
    }
  }
}
