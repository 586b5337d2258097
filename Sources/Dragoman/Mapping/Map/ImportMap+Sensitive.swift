import DragomanGraph

/// Which attributes hold values that others call sensitive.
extension ImportMap {
  /// The map with every attribute sensitive that is read from the place of a sensitive one, or from
  /// around it.
  ///
  /// Whoever calls `ssn: { from: person.ssn, sensitive: true }` does not want it to be
  /// seen in `person: { type: json }` either, nor in the nested object that a relationship makes of `person`. An
  /// attribute inside of a sensitive one says for itself whether it is.
  func markingSensitive() -> ImportMap {
    guard entities.contains(where: { $0.attributes.contains(where: \.isSensitive) }) else {
      return self
    }
    var hidden = entities.map { entity in
      Set(entity.attributes.filter(\.isSensitive).flatMap(\.places))
    }
    var isComplete = false
    // What is handed on gets shorter, or stays as it is: there is an end.
    while !isComplete {
      isComplete = true
      for (index, entity) in entities.enumerated() {
        for relationship in lineage(of: entity).flatMap(\.relationships) {
          guard let target = indexOfEntity(relationship.entity) else { continue }
          let handed = Set(hidden[index].flatMap { relationship.places(of: $0) })
          if !handed.isSubset(of: hidden[target]) {
            hidden[target].formUnion(handed)
            isComplete = false
          }
        }
        // The records of a family are all alike.
        for ancestor in lineage(of: entity).compactMap({ indexOfEntity($0.name) })
        where hidden[ancestor] != hidden[index] {
          let all = hidden[ancestor].union(hidden[index])
          (hidden[ancestor], hidden[index]) = (all, all)
          isComplete = false
        }
      }
    }
    var map = self
    for index in entities.indices {
      for attribute in entities[index].attributes.indices
      where entities[index].attributes[attribute].places.contains(where: { place in
        hidden[index].contains { $0.lies(in: place) }
      }) {
        map.entities[index].attributes[attribute].isSensitive = true
      }
      for relationship in entities[index].relationships {
        for (name, part) in relationship.key ?? [:] {
          guard case .path(let from, _) = part,
            from.places.contains(where: { place in hidden[index].contains { $0.lies(in: place) } })
          else { continue }
          map.markSensitive(name, of: relationship.entity)
        }
      }
    }
    return map
  }

  /// Whether the map calls an attribute of an entity, or of one of its ancestors, sensitive.
  func isSensitive(_ attribute: String, of entity: String) -> Bool {
    guard let entity = self.entity(named: entity) else { return false }
    return lineage(of: entity).flatMap(\.attributes).contains {
      $0.isSensitive && hasSameBytes($0.name, attribute)
    }
  }

  private mutating func markSensitive(_ attribute: String, of entity: String) {
    guard let entity = self.entity(named: entity) else { return }
    for owner in lineage(of: entity).compactMap({ indexOfEntity($0.name) }) {
      for index in entities[owner].attributes.indices
      where hasSameBytes(entities[owner].attributes[index].name, attribute) {
        entities[owner].attributes[index].isSensitive = true
      }
    }
  }

  private func indexOfEntity(_ name: String) -> Int? {
    entities.firstIndex { hasSameBytes($0.name, name) }
  }
}

/// A place in the records of a format.
private struct Place: Hashable {
  enum Format { case json, xml, csv }

  let format: Format
  let steps: [ForeignPath.Step]

  /// Whether the place is another one, or inside of it.
  func lies(in other: Place) -> Bool {
    format == other.format && steps.starts(with: other.steps)
  }
}

extension ForeignPaths {
  /// The places in the records themselves.
  fileprivate var places: [Place] {
    func places(_ paths: [ForeignPath], _ format: Place.Format) -> [Place] {
      paths.filter { $0.root == .record }.map { Place(format: format, steps: $0.steps) }
    }
    return places(json, .json) + places(xml, .xml) + places(csv, .csv)
  }
}

extension AttributeMap {
  /// The places that the attribute is read from.
  fileprivate var places: [Place] {
    let own = [ForeignPath.Step.member(name, namespace: nil)]
    return from?.places ?? [Place.Format.json, .xml, .csv].map { Place(format: $0, steps: own) }
  }
}

extension RelationshipMap {
  /// The places in the targets' records that a place in the owner's record is.
  fileprivate func places(of place: Place) -> [Place] {
    guard key == nil else { return [] }
    let own = [ForeignPath.Step.member(name, namespace: nil)]
    let paths = from?.places ?? [Place(format: place.format, steps: own)]
    return paths.compactMap { path in
      // The last step may stand for any member of a list, or of a dictionary.
      let isOpen = path.steps.last == .all || path.steps.last == .anyMember
      let list = Place(format: path.format, steps: isOpen ? path.steps.dropLast() : path.steps)
      guard place.lies(in: list) else { return nil }
      let rest = place.steps.dropFirst(list.steps.count)
      let isMember =
        switch rest.first {
        case .index, .all, .anyMember: true
        default: isOpen
        }
      return Place(format: place.format, steps: Array(isMember ? rest.dropFirst() : rest))
    }
  }
}
