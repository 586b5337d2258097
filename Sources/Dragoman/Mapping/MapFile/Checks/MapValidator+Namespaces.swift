import DragomanGraph

/// What may be declared under `namespaces`, and that what is declared means one thing.
extension MapValidator {
  /// The namespace of declarations themselves, which no prefix can stand for.
  private static let declarationNamespace = "http://www.w3.org/2000/xmlns/"

  /// Checks the prefixes of a source (Namespaces in XML 1.0, section 3, "Reserved Prefixes and Namespace Names").
  mutating func checkNamespaces(of source: SourceMap, at place: String) {
    for (prefix, uri) in source.namespaces.sorted(by: { $0.key < $1.key }) {
      guard let problem = Self.problem(ofPrefix: prefix, uri) else { continue }
      report(.value, problem.message, at: "\(place).namespaces.\(prefix)", rule: problem.rule)
    }
  }

  private static func problem(
    ofPrefix prefix: String,
    _ uri: String
  ) -> (message: String, rule: String?)? {
    let xml = XMLPathSteps.xmlNamespace
    if uri.isEmpty { return ("The namespace of \"\(prefix)\" is empty.", nil) }
    if prefix == "xmlns" {
      return ("The prefix \"xmlns\" is reserved for declarations.", "choose another prefix")
    }
    if hasSameBytes(uri, declarationNamespace) {
      return ("No prefix can stand for \(uri).", "leave it out: a declaration is no attribute")
    }
    let isXML = hasSameBytes(uri, xml)
    if prefix == "xml", !isXML {
      return ("The prefix \"xml\" always stands for \(xml).", "choose another prefix")
    }
    if prefix != "xml", isXML {
      return (
        "Only the prefix \"xml\" stands for \(xml).", "write xml:lang, which needs no declaration"
      )
    }
    return nil
  }

  /// Checks that each prefix in the paths of an entity means the same in all sources that read it.
  mutating func checkPrefixes(of entity: EntityMap, at place: String) {
    let sources = reach.readers(of: entity.name).filter { $0.format == .xml }
    guard sources.count > 1 else { return }
    let namespaces = ImportMap.namespaces(of: sources)
    let parser = ForeignPathParser(format: .xml, namespaces: namespaces)
    for (prefix, uri) in namespaces.sorted(by: { $0.key < $1.key }) {
      let first = sources.first { $0.namespaces[prefix] != nil }
      let other = sources.first { source in
        // A prefix that a source does not declare is that of the others; names without one are in none.
        guard let own = source.namespaces[prefix] else { return prefix.isEmpty }
        return !hasSameBytes(own, uri)
      }
      guard let first, let other, self.uses(prefix, in: entity, parser) else { continue }
      let otherURI = other.namespaces[prefix] ?? "no namespace"
      let rule =
        other.namespaces[prefix] != nil
        ? "declare a prefix for each, and list the paths where both are meant: [a:name, b:name]"
        : "declare a prefix in place of \"\", and list the paths where both are meant: [a:name, name]; or"
          + " say `from: []` of what never leads to \(entity.name) in \(other.name)"
      let names = prefix.isEmpty ? "A name without a prefix" : "The prefix \"\(prefix)\""
      report(
        .value,
        "\(names) means \(uri) in source \(first.name) and \(otherURI) in source \(other.name), and both"
          + " read \(entity.name).",
        at: place,
        entity.position,
        rule: rule
      )
    }
  }

  /// Whether a path of the entity, also one that is a property's own name, has the prefix.
  private func uses(_ prefix: String, in entity: EntityMap, _ parser: ForeignPathParser) -> Bool {
    if entity.xmlPaths.contains(where: { parser.uses(prefix, in: $0.text) }) { return true }
    guard prefix.isEmpty else { return false }
    return entity.attributes.contains { $0.from == nil && $0.compute == nil }
      || entity.relationships.contains {
        $0.from == nil && $0.key == nil && map.readsFeed($0, of: entity)
      }
  }
}

extension EntityMap {
  /// The paths that the entity says for XML, of whatever is read by them.
  var xmlPaths: [ForeignPath] {
    var paths = attributes.flatMap { $0.from?.xml ?? [] }
    for relationship in relationships {
      paths += relationship.from?.xml ?? []
      for case .path(let part, _) in (relationship.key ?? [:]).values { paths += part.xml }
    }
    return paths + (deleteWhen?.from.xml ?? []) + (discriminator?.from.xml ?? [])
  }
}
