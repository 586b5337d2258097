extension ImportMap {
  /// Parts of the grammar that this version reads and checks, but cannot import with: leaving them
  /// out silently would lose data.
  func checkSupported() throws(MapFaults) {
    let faults = entities.flatMap { entity in
      entity.unsupportedParts.map { part, position in
        MapFault(
          .unsupported,
          "\(part) cannot be imported by this version yet.",
          place: "entities.\(entity.name)",
          file: file,
          position: position,
          rule: "remove it from the map to import the attributes alone"
        )
      }
    }
    guard faults.isEmpty else { throw MapFaults(faults) }
  }
}

extension EntityMap {
  fileprivate var unsupportedParts: [(String, MapPosition?)] {
    var parts = relationships.map { ("The relationship \($0.name)", $0.position) }
    if parent != nil { parts.append(("A sub-entity (`parent`)", position)) }
    if discriminator != nil { parts.append(("A `discriminator`", position)) }
    return parts
  }
}
