extension Model {
  /// One thing that a store has to add so that it can hold a larger model.
  enum Addition: Hashable {
    case entity(Entity)
    case attribute(Attribute, of: Entity)
    case uniqueKey([String], of: Entity)
    case index(Attribute, of: Entity)
  }

  /// What comes of joining two models.
  struct Growth {
    /// Everything both models name.
    var model: Model
    /// What the joined model has and this one had not, in order.
    var additions: [Addition] = []
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
        growth.model.entities.append(entity)
        growth.additions.append(.entity(entity))
      }
    }
    return growth
  }
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
    if identity == nil, let wanted = newer.identity {
      growth.conflicts.append(
        "\(name) has no unique key in the database"
          + " and [\(wanted.joined(separator: ", "))] in the map."
      )
    }
    for attribute in newer.attributes {
      let same = attributes.firstIndex { $0.name.utf8.elementsEqual(attribute.name.utf8) }
      if let same {
        if attribute.isIndexed && !attributes[same].isIndexed {
          growth.additions.append(.index(attribute, of: self))
        }
        growth.conflicts += attributes[same].conflicts(with: attribute, of: name)
        attributes[same].adoptRules(of: attribute)
      } else {
        attributes.append(attribute)
        growth.additions.append(.attribute(attribute, of: self))
      }
    }
    for key in newer.uniqueKeys where !uniqueKeys.contains(key) {
      uniqueKeys.append(key)
      growth.additions.append(.uniqueKey(key, of: self))
    }
    for relationship in newer.relationships {
      let same = relationships.first { $0.name.utf8.elementsEqual(relationship.name.utf8) }
      if same == nil { relationships.append(relationship) }
    }
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
    if scale != newer.scale {
      conflicts.append(
        "\(entity).\(name) has scale \(scale.map(String.init) ?? "none") in the database"
          + " and \(newer.scale.map(String.init) ?? "none") in the map."
      )
    }
    return conflicts
  }

  /// Takes over the rules that hold for new values only.
  fileprivate mutating func adoptRules(of newer: Attribute) {
    isRequired = newer.isRequired
    defaultValue = newer.defaultValue
    isIndexed = isIndexed || newer.isIndexed
    minimum = newer.minimum
    maximum = newer.maximum
    minimumLength = newer.minimumLength
    maximumLength = newer.maximumLength
    pattern = newer.pattern
    isSensitive = newer.isSensitive
    renamedFrom = newer.renamedFrom ?? renamedFrom
    if let known = allowedValues {
      allowedValues = newer.allowedValues.map { added in
        known + added.filter { !known.contains($0) }
      }
    }
  }
}
