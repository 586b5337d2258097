/// Which entities and properties of an old model a new one goes on with, and under which names.
///
/// What has `renamedFrom` goes on with the thing of that name, unless that was done before; the rest
/// goes on with what has the same name. A property may move up or down in its hierarchy.
struct ModelMatch {
  /// A property: its entity, and its place among the entity's own attributes or relationships.
  struct Place: Hashable {
    let entity: Int
    let property: Int
  }

  /// By new entity: the old one.
  private(set) var entities: [Int?]
  /// By new entity and place: the old attribute.
  private(set) var attributes: [[Place?]]
  /// By new entity and place: the old relationship.
  private(set) var relationships: [[Place?]]
  /// What cannot be decided, a sentence each.
  private(set) var faults: [String] = []

  /// Compares two models.
  ///
  /// - Parameters:
  ///   - old: What there is.
  ///   - new: What is wanted.
  ///   - drops: Whether what `new` does not name goes: then a name that is taken by such a thing is free.
  init(from old: Model, to new: Model, drops: Bool = false) {
    let pairs = Self.pairs(
      old.entities.map { Named($0.name, $0.renamedFrom) },
      new.entities.map { Named($0.name, $0.renamedFrom) },
      prefix: "",
      drops: drops,
      &faults
    )
    entities = pairs
    attributes = []
    relationships = []
    for (index, entity) in new.entities.enumerated() {
      let other = pairs[index]
      let known = other.map { old.entities[$0] }
      attributes.append(
        Self.pairs(
          known?.attributes.map { Named($0.name, $0.renamedFrom) } ?? [],
          entity.attributes.map { Named($0.name, $0.renamedFrom) },
          prefix: entity.name + ".",
          drops: drops,
          &faults
        ).map { place in place.flatMap { p in other.map { Place(entity: $0, property: p) } } }
      )
      relationships.append(
        Self.pairs(
          known?.relationships.map { Named($0.name, $0.renamedFrom) } ?? [],
          entity.relationships.map { Named($0.name, $0.renamedFrom) },
          prefix: entity.name + ".",
          drops: drops,
          &faults
        ).map { place in place.flatMap { p in other.map { Place(entity: $0, property: p) } } }
      )
    }
    matchRelatives(old, new)
    checkKinds(old, new)
  }

  /// A property goes on with one of its kind only.
  private mutating func checkKinds(_ old: Model, _ new: Model) {
    for (index, entity) in new.entities.enumerated() {
      guard let known = entities[index].map({ old.entities[$0] }) else { continue }
      func check(_ name: String, _ before: String?, _ others: [String], _ kind: String) {
        guard let before, others.contains(where: { hasSameBytes($0, before) }) else { return }
        faults.append(
          "\(entity.name).\(name) was called \(before) before (renamedFrom), but that is \(kind) in the database."
        )
      }
      for (property, attribute) in entity.attributes.enumerated()
      where attributes[index][property] == nil {
        let names = known.relationships.map(\.name)
        check(attribute.name, attribute.renamedFrom, names, "a relationship")
      }
      for (property, relationship) in entity.relationships.enumerated()
      where relationships[index][property] == nil {
        let names = known.attributes.map(\.name)
        check(relationship.name, relationship.renamedFrom, names, "an attribute")
      }
    }
  }

  /// The new entity that goes on with an old one.
  func successor(ofEntity old: Int) -> Int? { entities.firstIndex { $0 == old } }

  /// The new attribute that goes on with an old one.
  func successor(ofAttribute old: Place) -> Place? { Self.successor(of: old, in: attributes) }

  /// The new relationship that goes on with an old one.
  func successor(ofRelationship old: Place) -> Place? {
    Self.successor(of: old, in: relationships)
  }

  private static func successor(of old: Place, in places: [[Place?]]) -> Place? {
    for (entity, list) in places.enumerated() {
      if let property = list.firstIndex(of: old) {
        return Place(entity: entity, property: property)
      }
    }
    return nil
  }

  // MARK: - Names

  private struct Named {
    let name: NameKey
    let renamedFrom: NameKey?

    init(_ name: String, _ renamedFrom: String?) {
      self.name = NameKey(name)
      self.renamedFrom = renamedFrom.map(NameKey.init)
    }
  }

  /// For each new name the place of the old one.
  private static func pairs(
    _ old: [Named],
    _ new: [Named],
    prefix: String,
    drops: Bool,
    _ faults: inout [String]
  ) -> [Int?] {
    var pairs = [Int?](repeating: nil, count: new.count)
    var claimed: Set<Int> = []
    for (index, item) in new.enumerated() {
      guard let source = item.renamedFrom, source != item.name,
        let place = old.firstIndex(where: { $0.name == source })
      else { continue }
      if let same = old.first(where: { $0.name == item.name }) {
        // Renamed by an earlier migration; what has the old name now is something else.
        if same.renamedFrom == source { continue }
        let givesWay = new.contains { $0.renamedFrom == item.name && $0.name != item.name }
        if !givesWay, !(drops && !new.contains { $0.name == source }) {
          if !new.contains(where: { $0.name == source }) {
            faults.append(
              "\(prefix)\(item.name.name) was called \(source.name) before (renamedFrom),"
                + " but the database has both names."
            )
          }
          continue
        }
      }
      if claimed.insert(place).inserted {
        pairs[index] = place
      } else {
        faults.append("More than one name says renamedFrom: \(prefix)\(source.name).")
      }
    }
    for (index, item) in new.enumerated() where pairs[index] == nil {
      guard let place = old.firstIndex(where: { $0.name == item.name }),
        claimed.insert(place).inserted
      else { continue }
      pairs[index] = place
    }
    return pairs
  }

  // MARK: - Hierarchies

  /// Properties that moved to an ancestor or a descendant: the column stays where it is.
  private mutating func matchRelatives(_ old: Model, _ new: Model) {
    for (index, entity) in new.entities.enumerated() {
      for (property, attribute) in entity.attributes.enumerated()
      where attributes[index][property] == nil {
        let names = [attribute.name, attribute.renamedFrom].compactMap { $0 }.map(NameKey.init)
        attributes[index][property] = free(relatives(of: entity, index, old, new), attributes) {
          old.entities[$0].attributes.firstIndex { names.contains(NameKey($0.name)) }
        }
      }
      for (property, relationship) in entity.relationships.enumerated()
      where relationships[index][property] == nil {
        let names = [relationship.name, relationship.renamedFrom].compactMap { $0 }
          .map(NameKey.init)
        relationships[index][property] = free(
          relatives(of: entity, index, old, new),
          relationships
        ) {
          old.entities[$0].relationships.firstIndex { names.contains(NameKey($0.name)) }
        }
      }
    }
  }

  /// The first of the entities that has such a property which nothing goes on with yet.
  private func free(
    _ candidates: [Int],
    _ taken: [[Place?]],
    _ find: (Int) -> Int?
  ) -> Place? {
    for candidate in candidates {
      guard let property = find(candidate) else { continue }
      let place = Place(entity: candidate, property: property)
      if Self.successor(of: place, in: taken) == nil { return place }
    }
    return nil
  }

  /// The old entities above and below the one that a new entity goes on with, or, for a new
  /// ancestor, those that its descendants go on with.
  private func relatives(of entity: Entity, _ index: Int, _ old: Model, _ new: Model) -> [Int] {
    let indexOf = { (name: String, model: Model) in
      model.entities.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
    }
    let family = new.entities.indices.filter { other in
      other != index
        && (new.ancestors(of: new.entities[other]).contains {
          $0.name.utf8.elementsEqual(entity.name.utf8)
        }
          || new.ancestors(of: entity).contains {
            $0.name.utf8.elementsEqual(new.entities[other].name.utf8)
          })
    }
    var found = family.compactMap { entities[$0] }
    if let known = entities[index] {
      found += old.ancestors(of: old.entities[known]).compactMap { indexOf($0.name, old) }
      found += old.entities.indices.filter { other in
        old.ancestors(of: old.entities[other]).contains {
          $0.name.utf8.elementsEqual(old.entities[known].name.utf8)
        }
      }
    }
    return found
  }
}
