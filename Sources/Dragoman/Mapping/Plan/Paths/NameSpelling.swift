import DragomanGraph

/// How the paths of a map spell the names that records of a format have, for each of its entities.
struct NameSpellings: Sendable {
  /// The map.
  let map: ImportMap
  /// The format.
  let format: ForeignFormat
  /// Which sources declare the prefixes of which entity; nil where there are no prefixes.
  private let reach: SourceReach?

  init(_ map: ImportMap, format: ForeignFormat) {
    self.map = map
    self.format = format
    let declares = map.sources.contains { !$0.namespaces.isEmpty }
    reach = format == .xml && declares ? SourceReach(map) : nil
  }

  /// Those of one entity: with the prefixes of the sources that read it.
  func names(of entity: EntityMap) -> NameSpelling {
    NameSpelling(reach?.namespaces(of: entity.name) ?? [:])
  }
}

/// How the paths of an entity spell the names that records have: in XML with the prefixes of its sources.
struct NameSpelling: Sendable {
  /// The prefixes and the namespaces they stand for; empty where names have none.
  private let namespaces: [String: String]

  fileprivate init(_ namespaces: [String: String]) { self.namespaces = namespaces }

  /// The path of what says nothing of where it is read from: the member of its name, in XML an element
  /// in the namespace of names without a prefix.
  func path(ofElement name: String) -> ForeignPath {
    ForeignPath(steps: [.member(name, namespace: namespaces[""])], text: name)
  }

  /// The name of a member or an element; nil where no prefix stands for its namespace.
  func element(_ name: String, in namespace: String?) -> String? {
    if namespaces[""].map({ hasSameBytes($0, namespace ?? "") }) ?? (namespace == nil) {
      return name
    }
    return namespace.flatMap(prefix(of:)).map { "\($0):\(name)" }
  }

  /// The name of an XML attribute, with `@` in front; nil where no prefix stands for its namespace.
  func attribute(_ name: String, in namespace: String?) -> String? {
    guard let namespace else { return "@\(name)" }
    return prefix(of: namespace).map { "@\($0):\(name)" }
  }

  private func prefix(of namespace: String) -> String? {
    if hasSameBytes(namespace, XMLPathSteps.xmlNamespace) { return "xml" }
    return namespaces.filter { !$0.key.isEmpty && hasSameBytes($0.value, namespace) }.keys.min()
  }
}
