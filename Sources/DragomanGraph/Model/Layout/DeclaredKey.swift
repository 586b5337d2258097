/// A unique key that a program declares besides the model.
package struct DeclaredKey: Sendable, Hashable {
  /// The name of the entity whose objects are found by it.
  package let entity: String
  /// The names of its properties.
  package let properties: [String]

  /// Makes a key.
  package init(entity: String, properties: [String]) {
    self.entity = entity
    self.properties = properties
  }
}

extension Model {
  /// Takes over the keys that it does not have yet, each as the identity of its entity.
  ///
  /// - Returns: Whether there was any.
  /// - Throws: `StoreError`, `.modelConflict`, where an entity has another identity.
  package mutating func declare(_ keys: [DeclaredKey]) throws(StoreError) -> Bool {
    var isChanged = false
    for key in keys where try declare(key) { isChanged = true }
    return isChanged
  }

  /// The key goes to the most general entity that has all of its properties, as the family shares a
  /// table; where that has another identity, to the entity itself.
  private mutating func declare(_ key: DeclaredKey) throws(StoreError) -> Bool {
    guard !key.properties.isEmpty, let entity = entity(named: key.entity) else { return false }
    let lineage = [entity] + ancestors(of: entity)
    let names = key.properties.map(NameKey.init)
    let known = lineage.lazy.compactMap(\.uniqueKeys.first).first
    if let known, known.map(NameKey.init) == names { return false }
    let homes = lineage.indices.reversed().filter { place in
      names.allSatisfy { name in
        lineage[place...].contains { relative in
          relative.attribute(named: name.name) != nil
            || relative.relationship(named: name.name) != nil
        }
      }
    }
    let free = (homes + [0]).first { lineage[$0].uniqueKeys.isEmpty }
    guard let free,
      let place = entities.firstIndex(where: { hasSameBytes($0.name, lineage[free].name) })
    else {
      throw StoreError(
        .modelConflict,
        "\(key.entity) is found by [\(known?.joined(separator: ", ") ?? "")] in the model, and by"
          + " [\(key.properties.joined(separator: ", "))] in its mapper.",
        help: "an entity has one identity: leave the mapper's key out, or change the model"
      )
    }
    entities[place].uniqueKeys = [key.properties]
    return true
  }
}
