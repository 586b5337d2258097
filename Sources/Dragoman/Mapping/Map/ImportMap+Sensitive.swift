import DragomanGraph

/// Which attributes hold values that others call sensitive.
extension ImportMap {
  /// The map with every attribute sensitive that is read from the place of a sensitive one, or from
  /// around it, and every part of a key that such a value leads to.
  ///
  /// Whoever calls `ssn: { from: person.ssn, sensitive: true }` does not want it to be
  /// seen in `person: { type: json }` either, nor in the nested object that a relationship makes of `person`,
  /// nor as the key of what it names. An attribute inside of a sensitive one says for itself whether it is.
  func markingSensitive() -> ImportMap {
    var map = self
    guard map.sensitiveCount > 0 else { return map }
    var count = 0
    // Each round marks more of a finite number of attributes.
    while count != map.sensitiveCount {
      count = map.sensitiveCount
      map.mark(by: SensitivePlaces(of: map))
    }
    return map
  }

  /// The same, with what a store calls sensitive, whatever this map says of it.
  func markingSensitive(by model: ModelLayout) -> ImportMap {
    var map = self
    for entity in entities {
      guard let stored = model.entity(named: entity.name) else { continue }
      for attribute in stored.attributes where attribute.isSensitive {
        map.markSensitive(attribute.name, of: entity.name)
      }
    }
    return map.markingSensitive()
  }

  private var sensitiveCount: Int {
    entities.reduce(0) { $0 + $1.attributes.count(where: \.isSensitive) }
  }

  private mutating func mark(by places: SensitivePlaces) {
    for index in entities.indices {
      let entity = entities[index]
      for attribute in entity.attributes where places.hide(attribute, of: entity) {
        markSensitive(attribute.name, of: entity.name)
      }
      for relationship in entity.relationships {
        for (name, part) in relationship.key ?? [:] {
          switch part {
          case .path(let from, _) where places.hide(from, of: entity):
            markSensitive(name, of: relationship.entity)
          case .attribute(let own):
            if isSensitive(own, of: entity.name) {
              markSensitive(name, of: relationship.entity)
            } else if keyAttribute(name, of: relationship.entity)?.isSensitive == true {
              markSensitive(own, of: entity.name)
            }
          case .path, .value: break
          }
        }
      }
    }
  }

  /// Whether the map calls an attribute of an entity, or of one of its ancestors, sensitive.
  func isSensitive(_ attribute: String, of entity: String) -> Bool {
    guard let entity = self.entity(named: entity) else { return false }
    return lineage(of: entity).flatMap(\.attributes).contains {
      $0.isSensitive && hasSameBytes($0.name, attribute)
    }
  }

  /// Whether records of an entity, or of its family, hold something sensitive.
  func hasSensitive(_ entity: String) -> Bool {
    entities.contains { member in
      member.attributes.contains(where: \.isSensitive)
        && (lineage(of: member).contains { hasSameBytes($0.name, entity) }
          || self.entity(named: entity).map { own in
            lineage(of: own).contains { hasSameBytes($0.name, member.name) }
          } == true)
    }
  }

  /// Whether something sensitive stands where paths lead in the records of an entity.
  func hidesPlace(of paths: ForeignPaths, in entity: EntityMap) -> Bool {
    sensitiveCount > 0 && SensitivePlaces(of: self).hide(paths, of: entity)
  }

  private mutating func markSensitive(_ attribute: String, of entity: String) {
    guard let entity = self.entity(named: entity) else { return }
    for owner in lineage(of: entity) {
      guard let index = entities.firstIndex(where: { hasSameBytes($0.name, owner.name) }) else {
        continue
      }
      for place in entities[index].attributes.indices
      where hasSameBytes(entities[index].attributes[place].name, attribute) {
        entities[index].attributes[place].isSensitive = true
      }
    }
  }
}
