extension ImportMap {
  /// The parts of the map that this version reads and checks, but cannot import with.
  ///
  /// An import refuses a map that has any: leaving them out silently would lose data.
  public func unsupportedParts() -> [MapFault] {
    entities.flatMap { entity in
      entity.unsupportedParts(formats: formats(of: entity)).map { part, position in
        MapFault(
          .unsupported,
          "\(part) cannot be imported by this version yet.",
          place: "entities.\(entity.name)",
          file: file,
          position: position,
          rule: "remove it from the map to import the rest"
        )
      }
    }
  }

  /// The formats that records of an entity may come in.
  private func formats(of entity: EntityMap) -> Set<ForeignFormat> {
    let named = sources.filter { $0.entity.utf8.elementsEqual(entity.name.utf8) }.map(\.format)
    return sources.isEmpty ? [.json, .ndjson] : Set(named)
  }

  /// Refuses a map that has parts that cannot be imported, or paths that mean nothing: a map built in
  /// code was perhaps never checked.
  func checkSupported() throws(MapFaults) {
    var validator = MapValidator(self, positions: [:])
    for entity in entities { validator.checkPaths(of: entity) }
    for source in sources { validator.checkRecords(of: source) }
    let faults = validator.faults + unsupportedParts()
    guard faults.isEmpty else { throw MapFaults(faults) }
  }
}

extension EntityMap {
  fileprivate func unsupportedParts(formats: Set<ForeignFormat>) -> [(String, MapPosition?)] {
    // What stands before the records is kept of JSON only.
    guard formats.contains(.xml) else { return [] }
    func parts(_ from: ForeignPaths?, _ owner: String, _ position: MapPosition?) -> [(
      String, MapPosition?
    )] {
      (from?.xml ?? []).filter { $0.root == .document }.map {
        ("The path \($0.text) of \(owner)", position)
      }
    }
    var found = attributes.flatMap { parts($0.from, $0.name, $0.position) }
    for relationship in relationships {
      found += parts(relationship.from, relationship.name, relationship.position)
      for (_, part) in (relationship.key ?? [:]).sorted(by: { $0.key < $1.key }) {
        guard case .path(let from, _) = part else { continue }
        found += parts(from, relationship.name, relationship.position)
      }
    }
    found += parts(discriminator?.from, "`discriminator`", position)
    return found + parts(deleteWhen?.from, "`deleteWhen`", position)
  }
}

extension ForeignPaths {
  /// The paths of all formats.
  var all: [ForeignPath] { json + xml + csv }
}

extension ForeignPath {
  /// Whether the path may name several values.
  var hasWildcard: Bool { steps.contains { $0 == .all || $0 == .anyMember } }

  /// Whether the path chooses among elements.
  var hasFilter: Bool {
    steps.contains { if case .having = $0 { true } else { false } }
  }
}
