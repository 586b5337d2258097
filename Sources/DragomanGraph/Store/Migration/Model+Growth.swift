extension Model {
  /// What comes of joining two models.
  struct Growth {
    /// Everything both models name.
    let model: Model
    /// Where the two contradict each other, a sentence each; not empty: nothing may be added.
    let conflicts: [String]
  }

  /// Joins another model to this one: a migration that may only add.
  ///
  /// Rules that the file does not depend on (required, default, limits) follow the newer model; types, columns,
  /// tables, names and the identity may not change. What is sensitive stays so: a second map that does not say it
  /// shows nobody's values.
  func growing(by other: Model) -> Growth {
    let match = ModelMatch(from: self, to: other)
    var newer = other
    var conflicts: [String] = []
    for (index, entity) in other.entities.enumerated() {
      let former = match.entities[index].map { entities[$0] }
      conflicts +=
        former.map { $0.conflicts(with: entity) }
        ?? renamed(
          entity.name,
          entities.map { ($0.name, $0.renamedFrom) },
          other.entities.map(\.name)
        )
      for (property, attribute) in entity.attributes.enumerated() {
        guard let place = match.attributes[index][property] else {
          conflicts += conflict(attribute.name, of: entity, isAttribute: true)
          let known = former?.attributes.map { ($0.name, $0.renamedFrom) } ?? []
          let names = entity.attributes.map(\.name)
          conflicts += renamed(attribute.name, of: entity, known, names)
          continue
        }
        let owner = entities[place.entity]
        let known = owner.attributes[place.property]
        let conflict = Growth.conflict(known.name, of: owner, attribute.name, of: entity)
        conflicts += conflict.map { [$0] } ?? known.conflicts(with: attribute, of: owner.name)
        if known.isSensitive { newer.entities[index].attributes[property].isSensitive = true }
      }
      for (property, relationship) in entity.relationships.enumerated() {
        guard let place = match.relationships[index][property] else {
          conflicts += conflict(relationship.name, of: entity, isAttribute: false)
          let known = former?.relationships.map { ($0.name, $0.renamedFrom) } ?? []
          let names = entity.relationships.map(\.name)
          conflicts += renamed(relationship.name, of: entity, known, names)
          continue
        }
        let owner = entities[place.entity]
        let known = owner.relationships[place.property]
        let conflict = Growth.conflict(known.name, of: owner, relationship.name, of: entity)
        conflicts += conflict.map { [$0] } ?? known.conflicts(with: relationship, of: owner.name)
        // A side that says nothing of its inverse does not take it away.
        if relationship.inverse == nil {
          newer.entities[index].relationships[property].inverse = known.inverse
        }
      }
    }
    let model = migrated(to: newer, match, drops: false)
    if conflicts.isEmpty {
      // What each of them has for itself may clash: names, columns, tables.
      let own = Set(validate() + other.validate())
      conflicts += model.validate().filter { !own.contains($0) }.map(\.description)
    }
    return Growth(model: model, conflicts: conflicts)
  }

  /// Whether what is new has the name that something in the store had before, which the newer model does not know.
  ///
  /// - Parameters:
  ///   - name: The new name.
  ///   - owner: The entity of a property; nil: it is an entity's name.
  ///   - known: What there is, with the names of before.
  ///   - names: What the newer model has.
  /// - Returns: The conflict, a sentence.
  private func renamed(
    _ name: String,
    of owner: Entity? = nil,
    _ known: [(name: String, renamedFrom: String?)],
    _ names: [String]
  ) -> [String] {
    let successor = known.first { known in
      known.renamedFrom.map { hasSameBytes($0, name) } ?? false
        && !names.contains { hasSameBytes($0, known.name) }
    }
    guard let successor else { return [] }
    let place = owner.map { "\($0.name)." } ?? ""
    return ["\(place)\(name) is called \(successor.name) in the database (renamedFrom)."]
  }

  /// Whether a new property has the name of one of the other kind.
  private func conflict(_ name: String, of newer: Entity, isAttribute: Bool) -> [String] {
    guard let known = entity(named: newer.name) else { return [] }
    let others =
      isAttribute ? known.relationships.map(\.name) : known.attributes.map(\.name)
    guard others.contains(where: { hasSameBytes($0, name) }) else { return [] }
    let kinds = ["an attribute", "a relationship"]
    return [
      "\(known.name).\(name) is \(kinds[isAttribute ? 1 : 0]) in the database and"
        + " \(kinds[isAttribute ? 0 : 1]) in the map."
    ]
  }

  /// What a store holds after it has grown by another model.
  ///
  /// - Parameters:
  ///   - model: What it is to hold, too.
  ///   - place: The store, for messages.
  ///   - help: What can be done where the two contradict each other.
  /// - Returns: The joined model.
  /// - Throws: `StoreError`: `.badRequest` where the model is faulty, `.modelConflict`.
  func grown(to model: Model, at place: String?, help: String) throws(StoreError) -> Model {
    let wanted = model.completingInverses()
    let faults = wanted.validate().filter { $0.rule == .value }
    guard faults.isEmpty else {
      throw StoreError(
        .badRequest,
        "The model is faulty: " + faults.map(\.description).joined(separator: "; "),
        path: place
      )
    }
    let growth = growing(by: wanted)
    guard growth.conflicts.isEmpty else {
      throw StoreError(
        .modelConflict,
        growth.conflicts.joined(separator: " "),
        help: help,
        path: place
      )
    }
    return growth.model
  }
}

extension Model.Growth {
  /// Why a property cannot go on with another one: it has another name, or stands elsewhere in the
  /// hierarchy.
  fileprivate static func conflict(
    _ name: String,
    of owner: Entity,
    _ newName: String,
    of newOwner: Entity
  ) -> String? {
    if !hasSameBytes(name, newName) {
      return "\(owner.name).\(name) is called \(newName) in the map."
    }
    // That the entity has another name is told once, of the entity.
    if !hasSameBytes(owner.name, newOwner.name), newOwner.renamedFrom != owner.name {
      return
        "\(name) is a property of \(owner.name) in the database and of \(newOwner.name) in the map."
    }
    return nil
  }
}

extension Entity {
  fileprivate func conflicts(with newer: Entity) -> [String] {
    guard hasSameBytes(name, newer.name) else {
      return ["\(name) is called \(newer.name) in the map."]
    }
    var conflicts: [String] = []
    // Sub-entities are in the table of their root.
    if parent == nil, newer.parent == nil, table != newer.table {
      conflicts.append(
        "\(name) is stored in table \(table) and the map wants table \(newer.table)."
      )
    }
    if let identity, let wanted = newer.identity, identity != wanted {
      conflicts.append(
        "\(name)'s unique key is [\(identity.joined(separator: ", "))] in the database"
          + " and [\(wanted.joined(separator: ", "))] in the map."
      )
    }
    if parent != newer.parent {
      conflicts.append(
        "\(name)'s parent is \(parent ?? "none") in the database"
          + " and \(newer.parent ?? "none") in the map."
      )
    }
    return conflicts
  }
}

extension Relationship {
  fileprivate func conflicts(with newer: Relationship, of entity: String) -> [String] {
    var conflicts: [String] = []
    let name = "\(entity).\(name)"
    if destination != newer.destination {
      conflicts.append(
        "\(name) leads to \(destination) in the database and to \(newer.destination) in the map."
      )
    }
    if kind != newer.kind {
      conflicts.append(
        "\(name) is \(kind.rawValue) in the database and \(newer.kind.rawValue) in the map."
      )
    }
    if isOrdered != newer.isOrdered || allowsRepeats != newer.allowsRepeats {
      conflicts.append(
        "\(name) is \(order) in the database and \(newer.order) in the map."
      )
    }
    if let wanted = newer.inverse, inverse != wanted {
      conflicts.append(
        "\(name) has the inverse \(inverse ?? "none") in the database and \(wanted) in the map."
      )
    }
    return conflicts
  }

  private var order: String {
    (isOrdered ? "ordered" : "unordered") + (allowsRepeats ? " with repeats" : "")
  }
}

extension Attribute {
  fileprivate func conflicts(with newer: Attribute, of entity: String) -> [String] {
    var conflicts: [String] = []
    if type != newer.type {
      conflicts.append(
        "\(entity).\(name) is \(type.rawValue) in the database"
          + " and \(newer.type.rawValue) in the map."
      )
    }
    if column != newer.column {
      conflicts.append(
        "\(entity).\(name) is column \(column) in the database and \(newer.column) in the map."
      )
    }
    if rules.scale != newer.rules.scale {
      conflicts.append(
        "\(entity).\(name) has scale \(rules.scale.map(String.init) ?? "none") in the database"
          + " and \(newer.rules.scale.map(String.init) ?? "none") in the map."
      )
    }
    return conflicts
  }
}
