import DragomanGraph

extension MapDecoder {
  /// What is known about the sources when paths are parsed.
  struct PathContext {
    /// The formats of the sources that the entity's records come from.
    var formats: Set<ForeignFormat>
    /// The prefixes that XML paths may use.
    var namespaces: [String: String]
  }

  /// A path, a list of paths, or `{ json, xml, csv }` of them.
  ///
  /// A path written for every format must be one in every format that the sources have; where no
  /// source has the format, a text that is no path of it is left out. JSON syntax on an XML source
  /// is left out too and is told by `lint()`.
  mutating func paths(
    _ found: (node: MapNode, place: String)?,
    in context: PathContext
  ) -> ForeignPaths? {
    guard let found else { return nil }
    guard case .mapping = found.node.content else {
      guard let texts = list(found) else { return nil }
      return sharedPaths(texts, found, in: context)
    }
    let section = section(found.node, at: found.place, keys: MapGrammar.paths, of: "a path")
    return paths(byFormat: section, in: context)
  }

  /// The paths of a mapping's `json`, `xml` and `csv`.
  mutating func paths(byFormat section: Section, in context: PathContext) -> ForeignPaths? {
    var paths = ForeignPaths()
    for (format, member) in ForeignPaths.members {
      guard let found = section[format.rawValue], let texts = list(found) else { continue }
      let parser = ForeignPathParser(format: format, namespaces: context.namespaces)
      for (index, text) in texts.enumerated() {
        if let path = path(text, by: parser, at: place(found, index)) {
          paths[keyPath: member].append(path)
        }
      }
    }
    return paths
  }

  private mutating func sharedPaths(
    _ texts: [String],
    _ found: (node: MapNode, place: String),
    in context: PathContext
  ) -> ForeignPaths {
    var paths = ForeignPaths()
    for (index, text) in texts.enumerated() {
      for (format, member) in ForeignPaths.members {
        let parser = ForeignPathParser(format: format, namespaces: context.namespaces)
        let isUsed = context.formats.contains(format)
        let isXMLOnly = context.formats == [.xml]
        do {
          paths[keyPath: member].append(try parser.parse(text))
        } catch {
          // JSON syntax in a path that serves both is a warning, told by lint().
          let isJSONSyntax = text.hasPrefix("/") || text.contains("[")
          if isUsed, format != .xml || isXMLOnly || !isJSONSyntax {
            report(error, in: text, at: place(found, index))
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
    let shown = text.unicodeScalars.count > 60 ? "\(text.unicodeScalars.prefix(60))…" : text
    report(
      .path,
      "\"\(shown)\" at character \(fault.offset + 1): \(fault.message)",
      at: place,
      positions[place] ?? MapPosition(line: 1, column: 1),
      suggestion: fault.suggestion
    )
  }

  private func place(_ found: (node: MapNode, place: String), _ index: Int) -> String {
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
