extension Model {
  /// What comes of joining two models.
  struct Growth {
    /// Everything both models name.
    var model: Model
    /// Where the two contradict each other, a sentence each; not empty: nothing may be added.
    var conflicts: [String] = []
  }

  /// Joins another model to this one: what is new is added, nothing is ever dropped.
  ///
  /// Rules that the file does not depend on (required, default, limits, sensitivity) follow the
  /// newer model; types, columns, tables and the identity may not change.
  func growing(by other: Model) -> Growth {
    var growth = Growth(model: self)
    for entity in other.entities {
      let same = growth.model.entities.firstIndex { $0.name.utf8.elementsEqual(entity.name.utf8) }
      if let same {
        var grown = growth.model.entities[same]
        grown.grow(by: entity, into: &growth)
        growth.model.entities[same] = grown
      } else {
        if let former = former(entity.renamedFrom, entities.map(\.name), other.entities.map(\.name))
        {
          growth.conflicts.append("\(former) is called \(entity.name) in the map.")
        }
        growth.model.entities.append(entity)
      }
    }
    return growth
  }
}

/// The former name, if the file still has it and the map has nothing else of that name.
private func former(_ name: String?, _ stored: [String], _ wanted: [String]) -> String? {
  guard let name else { return nil }
  let isName = { (other: String) in other.utf8.elementsEqual(name.utf8) }
  return stored.contains(where: isName) && !wanted.contains(where: isName) ? name : nil
}

extension Entity {
  fileprivate mutating func grow(by newer: Entity, into growth: inout Model.Growth) {
    if table != newer.table {
      growth.conflicts.append(
        "\(name) is stored in table \(table) and the map wants table \(newer.table)."
      )
    }
    if let identity, let wanted = newer.identity, identity != wanted {
      growth.conflicts.append(
        "\(name)'s unique key is [\(identity.joined(separator: ", "))] in the database"
          + " and [\(wanted.joined(separator: ", "))] in the map."
      )
    }
    if parent != newer.parent {
      growth.conflicts.append(
        "\(name)'s parent is \(parent ?? "none") in the database"
          + " and \(newer.parent ?? "none") in the map."
      )
    }
    for attribute in newer.attributes {
      let same = attributes.firstIndex { $0.name.utf8.elementsEqual(attribute.name.utf8) }
      if let same {
        growth.conflicts += attributes[same].conflicts(with: attribute, of: name)
        attributes[same].adoptRules(of: attribute)
      } else {
        if let former = former(attribute.renamedFrom, attributes.map(\.name), newer.names) {
          growth.conflicts.append("\(name).\(former) is called \(attribute.name) in the map.")
        }
        attributes.append(attribute)
      }
    }
    for key in newer.uniqueKeys where !uniqueKeys.contains(key) { uniqueKeys.append(key) }
    for index in newer.indexes where !indexes.contains(index) { indexes.append(index) }
    isAbstract = newer.isAbstract
    admitsStubs = admitsStubs || newer.admitsStubs
    renamedFrom = newer.renamedFrom ?? renamedFrom
    for relationship in newer.relationships {
      let same = relationships.firstIndex { $0.name.utf8.elementsEqual(relationship.name.utf8) }
      if let same {
        growth.conflicts += relationships[same].conflicts(with: relationship, of: name)
        relationships[same].adoptRules(of: relationship)
      } else {
        let known = relationships.map(\.name)
        if let former = former(relationship.renamedFrom, known, newer.names) {
          growth.conflicts.append("\(name).\(former) is called \(relationship.name) in the map.")
        }
        relationships.append(relationship)
      }
    }
  }

  private var names: [String] { attributes.map(\.name) + relationships.map(\.name) }
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

  /// Takes over the rules that hold for new values only.
  fileprivate mutating func adoptRules(of newer: Relationship) {
    deleteRule = newer.deleteRule
    isRequired = newer.isRequired
    maximumCount = newer.maximumCount
    renamedFrom = newer.renamedFrom ?? renamedFrom
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

  /// Takes over the rules that hold for new values only.
  fileprivate mutating func adoptRules(of newer: Attribute) {
    isRequired = newer.isRequired
    defaultValue = newer.defaultValue
    isIndexed = isIndexed || newer.isIndexed
    rules = newer.rules
    isSensitive = newer.isSensitive
    renamedFrom = newer.renamedFrom ?? renamedFrom
    if let known = allowedValues {
      allowedValues = newer.allowedValues.map { added in
        known + added.filter { !known.contains($0) }
      }
    }
  }
}
