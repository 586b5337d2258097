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

  /// Refuses a map that has parts that cannot be imported.
  func checkSupported() throws(MapFaults) {
    let faults = unsupportedParts()
    guard faults.isEmpty else { throw MapFaults(faults) }
  }
}

extension EntityMap {
  fileprivate func unsupportedParts(formats: Set<ForeignFormat>) -> [(String, MapPosition?)] {
    var parts: [(String, MapPosition?)] = []
    for attribute in attributes {
      for path in attribute.from?.unsupported(in: formats) ?? [] {
        parts.append(("The path \(path.text) of \(attribute.name)", attribute.position))
      }
    }
    for path in deleteWhen?.from.all ?? [] where path.root != .record || path.hasWildcard {
      parts.append(("The path \(path.text) of `deleteWhen`", position))
    }
    return parts
  }
}

extension ForeignPaths {
  fileprivate var all: [ForeignPath] { json + xml + csv }

  /// What stands before the records is kept of JSON only.
  fileprivate func unsupported(in formats: Set<ForeignFormat>) -> [ForeignPath] {
    formats.contains(.xml) ? xml.filter { $0.root == .document } : []
  }
}

extension ForeignPath {
  /// Whether the path chooses among values: the walk over a record cannot follow it.
  var hasWildcard: Bool {
    steps.contains { step in
      switch step {
      case .all, .anyMember, .having: true
      case .member, .attribute, .index, .text: false
      }
    }
  }
}
