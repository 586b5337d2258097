import DragomanGraph

/// Where the records of each entity hold what a map calls sensitive: the one place that says whether a
/// place is to be masked.
///
/// A place is the same one wherever it is named from: `ssn` of a record is `$parent.ssn` of the records in
/// it, `person.ssn` of the record around it is `ssn` of the nested one, and `$root.secret` is the same for
/// all.
struct SensitivePlaces {
  private let entities: [EntityMap]
  /// For each entity, the relationships whose targets are nested in its records.
  private let nested: [[RelationshipMap]]
  private var hidden: [Set<Place>]

  /// Collects the places of sensitive attributes, and of keys that lead to them.
  init(of map: ImportMap) {
    entities = map.entities
    nested = map.entities.map { entity in
      map.lineage(of: entity).flatMap(\.relationships).filter { $0.key == nil }
    }
    hidden = map.entities.map { entity in
      var places = entity.attributes.filter(\.isSensitive).flatMap(\.places)
      for relationship in entity.relationships {
        for case (let name, .path(let from, _)) in relationship.key ?? [:]
        where map.keyAttribute(name, of: relationship.entity)?.isSensitive == true {
          places += from.places
        }
      }
      return Set(places)
    }
    guard hidden.contains(where: { !$0.isEmpty }) else { return }
    spread(in: map)
  }

  /// Hands places on to the records that are nested in others, and back to those around them.
  private mutating func spread(in map: ImportMap) {
    // What records of an entity themselves call sensitive around them; what was handed to them is that
    // of one owner alone.
    let claimed = hidden.map { places in places.filter { $0.root == .parent } }
    let lineages = entities.map { map.lineage(of: $0) }
    var isComplete = false
    // What is handed on gets shorter, or stays as it is: there is an end.
    while !isComplete {
      let before = hidden
      let shared = Set(hidden.joined().filter { $0.root == .document })
      for index in entities.indices {
        hidden[index].formUnion(shared)
        for relationship in nested[index] {
          guard let target = self.index(of: relationship.entity) else { continue }
          let own = hidden[index].filter { $0.root == .record }
          hidden[target].formUnion(own.flatMap { relationship.places(of: $0) })
          hidden[target].formUnion(own.map { $0.moved(to: .parent) })
          hidden[index].formUnion(claimed[target].map { $0.moved(to: .record) })
        }
        // The records of a family are all alike.
        for ancestor in lineages[index].compactMap({ self.index(of: $0.name) }) {
          let all = hidden[ancestor].union(hidden[index])
          (hidden[ancestor], hidden[index]) = (all, all)
        }
      }
      isComplete = hidden == before
    }
  }

  private func index(of entity: String) -> Int? {
    entities.firstIndex { hasSameBytes($0.name, entity) }
  }

  /// Whether values are sensitive that an attribute is read from.
  func hide(_ attribute: AttributeMap, of entity: EntityMap) -> Bool {
    hide(attribute.places, of: entity)
  }

  /// Whether values are sensitive that stand at one of the paths, or inside of it.
  func hide(_ paths: ForeignPaths, of entity: EntityMap) -> Bool {
    hide(paths.places, of: entity)
  }

  private func hide(_ places: [Place], of entity: EntityMap) -> Bool {
    guard let index = index(of: entity.name) else { return false }
    var known: Set<Visit> = []
    return places.contains { hides($0, index, &known) }
  }

  /// A place that was looked at.
  private struct Visit: Hashable {
    let entity: Int
    /// nil: all of a record.
    let place: Place?
  }

  /// Whether something hidden stands at a place of an entity's records, or inside of it, in nested
  /// records too.
  private func hides(_ place: Place, _ index: Int, _ known: inout Set<Visit>) -> Bool {
    guard known.insert(Visit(entity: index, place: place)).inserted else { return false }
    if hidden[index].contains(where: { $0.lies(in: place) }) { return true }
    guard place.root == .record else { return false }
    for relationship in nested[index] {
      guard let target = self.index(of: relationship.entity) else { continue }
      if relationship.isInside(place) {
        if holdsAny(target, &known) { return true }
      } else if relationship.places(of: place).contains(where: { hides($0, target, &known) }) {
        return true
      }
    }
    return false
  }

  /// Whether records of an entity hold something hidden, however deep.
  private func holdsAny(_ index: Int, _ known: inout Set<Visit>) -> Bool {
    guard known.insert(Visit(entity: index, place: nil)).inserted else { return false }
    if hidden[index].contains(where: { $0.root == .record }) { return true }
    return nested[index].contains { relationship in
      self.index(of: relationship.entity).map { holdsAny($0, &known) } ?? false
    }
  }
}

/// A place in the records of a format, or around them.
private struct Place: Hashable {
  enum Format { case json, xml, csv }

  let format: Format
  var root = ForeignPath.Root.record
  let steps: [ForeignPath.Step]

  /// Whether the place is another one, or inside of it.
  func lies(in other: Place) -> Bool {
    format == other.format && root == other.root && steps.count >= other.steps.count
      && zip(steps, other.steps).allSatisfy { $0.canLead(where: $1) }
  }

  func moved(to root: ForeignPath.Root) -> Place {
    Place(format: format, root: root, steps: steps)
  }
}

extension ForeignPath.Step {
  /// Whether there is a value that both steps lead to.
  func canLead(where other: ForeignPath.Step) -> Bool {
    switch (self, other) {
    case (.all, .index), (.index, .all), (.anyMember, .member), (.member, .anyMember): true
    default: self == other
    }
  }
}

extension ForeignPath.Step {
  /// The step in no namespace: a name that says no path may be in the default one of a source, and rather
  /// too much is masked than too little.
  fileprivate var withoutNamespace: ForeignPath.Step {
    switch self {
    case .member(let name, _): .member(name, namespace: nil)
    case .attribute(let name, _): .attribute(name, namespace: nil)
    default: self
    }
  }
}

extension ForeignPaths {
  /// The places that are named by a way: from the record, from the one around it, from the document.
  fileprivate var places: [Place] {
    func places(_ paths: [ForeignPath], _ format: Place.Format) -> [Place] {
      paths.filter { [.record, .parent, .document].contains($0.root) }
        .map { Place(format: format, root: $0.root, steps: $0.steps.map(\.withoutNamespace)) }
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
  /// The places of nested records, as far as they stand in the owner's.
  private func lists(in format: Place.Format) -> [(steps: [ForeignPath.Step], isOpen: Bool)] {
    let own = [ForeignPath.Step.member(name, namespace: nil)]
    let paths = from?.places ?? [Place(format: format, steps: own)]
    return paths.filter { $0.format == format && $0.root == .record }.map { path in
      // The last step may stand for any member of a list, or of a dictionary.
      let isOpen = path.steps.last == .all || path.steps.last == .anyMember
      return (isOpen ? path.steps.dropLast() : path.steps, isOpen)
    }
  }

  /// The places in the targets' records that a place in the owner's record is.
  fileprivate func places(of place: Place) -> [Place] {
    lists(in: place.format).compactMap { list in
      guard place.lies(in: Place(format: place.format, steps: list.steps)) else { return nil }
      let rest = place.steps.dropFirst(list.steps.count)
      let isMember =
        switch rest.first {
        case .index, .all, .anyMember: true
        default: list.isOpen
        }
      return Place(format: place.format, steps: Array(isMember ? rest.dropFirst() : rest))
    }
  }

  /// Whether the nested records stand at a place of the owner's record, or inside of it.
  fileprivate func isInside(_ place: Place) -> Bool {
    lists(in: place.format).contains {
      Place(format: place.format, steps: $0.steps).lies(in: place)
    }
  }
}
