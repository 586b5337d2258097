import DragomanGraph

extension MapValidator {
  /// Checks one entity: what it refers to, its unique keys, its attributes and relationships.
  mutating func check(_ entity: EntityMap) {
    let place = "entities.\(entity.name)"
    let lineage = map.lineage(of: entity)
    let attributes = lineage.flatMap(\.attributes)
    if entity.table != nil, entity.parent != nil {
      report(
        .misplaced,
        "A sub-entity shares the table of its root and has none of its own.",
        at: "\(place).table"
      )
    }
    if let version = entity.version {
      if let attribute = find(version, in: attributes) {
        if !attribute.type.isOrdered {
          report(
            .misplaced,
            "The version \"\(version)\" is \(attribute.type.rawValue), which has no order.",
            at: "\(place).version"
          )
        }
      } else {
        reportUnknown(
          "attribute",
          version,
          at: "\(place).version",
          in: attributes.map(\.name),
          of: entity.name
        )
      }
    }
    checkDiscriminator(of: entity, at: place)
    checkPaths(of: entity)
    checkPrefixes(of: entity, at: place)
    checkKeys(of: entity, attributes, at: place)
    for attribute in entity.attributes {
      check(attribute, at: "\(place).attributes.\(attribute.name)")
    }
    for relationship in entity.relationships {
      let relationshipPlace = "\(place).relationships.\(relationship.name)"
      check(relationship, of: entity, attributes, at: relationshipPlace)
    }
  }

  private mutating func checkDiscriminator(of entity: EntityMap, at place: String) {
    guard let discriminator = entity.discriminator else { return }
    let below = map.entities.filter { other in
      map.lineage(of: other).contains { $0.name.utf8.elementsEqual(entity.name.utf8) }
    }
    for (word, name) in discriminator.values.sorted(by: { $0.key < $1.key })
    where !below.contains(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
      report(
        .reference,
        "\"\(name)\" is neither \(entity.name) nor a sub-entity of it.",
        at: "\(place).discriminator.values.\(word)",
        suggestion: nearest(to: name, in: below.map(\.name))
      )
    }
  }

  /// A key attribute that no source can fill would make every record a reject.
  private mutating func checkKeys(
    of entity: EntityMap,
    _ attributes: [AttributeMap],
    at place: String
  ) {
    let formats = reach.formats(of: entity.name)
    for name in entity.uniqueKeys.joined() {
      guard let attribute = find(name, in: attributes), attribute.defaultValue == nil else {
        continue
      }
      if !formats.contains(where: { attribute.isFed(from: $0) }) {
        report(
          .unique,
          "The unique attribute \"\(name)\" has no path in the format of any source.",
          at: "\(place).unique",
          rule: "give it a path, or a default"
        )
      }
    }
  }

  private mutating func check(
    _ relationship: RelationshipMap,
    of entity: EntityMap,
    _ own: [AttributeMap],
    at place: String
  ) {
    check(relationship, by: MapGrammar.relationship, at: place, "one is to-one")
    if relationship.from != nil, relationship.key != nil {
      report(
        .shape,
        "A relationship has \"from\" (nested records) or \"key\", not both.",
        at: "\(place).key",
        rule: "key: { id: owner_id } names the target's key attributes, and the path of each"
      )
    }
    if relationship.policies.hasDefault {
      report(
        .policy,
        "A relationship has no default: clear, keep and reject remain.",
        at: place + ".\(relationship.policies.defaultKey)"
      )
    }
    checkInverse(of: relationship, at: place)
    guard let key = relationship.key, let target = map.entity(named: relationship.entity) else {
      return
    }
    for (name, part) in key.sorted(by: { $0.key < $1.key }) {
      if case .attribute(let attribute) = part, find(attribute, in: own) == nil {
        reportUnknown(
          "attribute",
          attribute,
          at: "\(place).key.\(name).attribute",
          in: own.map(\.name),
          of: entity.name
        )
      }
      if case .value(let text) = part, let attribute = map.keyAttribute(name, of: target.name),
        attribute.storedValue(ofLiteral: text) == nil
      {
        report(
          .literal,
          "\"\(text)\" is no \(attribute.type.rawValue), which \(target.name).\(name) is.",
          at: "\(place).key.\(name).value"
        )
      }
    }
    let uniqueKeys = map.lineage(of: target).flatMap(\.uniqueKeys)
    let given = Set(key.keys.map { Array($0.utf8) })
    if !uniqueKeys.contains(where: { Set($0.map { Array($0.utf8) }) == given }) {
      let names = uniqueKeys.map { "[\($0.joined(separator: ", "))]" }.joined(separator: " or ")
      report(
        .reference,
        "The key must name exactly a unique key of \(target.name)"
          + (names.isEmpty ? ", which has none." : ": \(names)."),
        at: "\(place).key",
        suggestion: key.count == 1
          ? key.keys.first.flatMap { nearest(to: $0, in: uniqueKeys.joined()) } : nil
      )
    } else if let name = key.keys.sorted().first(where: {
      map.keyAttribute($0, of: target.name) == nil
    }) {
      report(
        .reference,
        "\(target.name).\(name) is a to-one whose target has no unique key of one part: no key can"
          + " name it.",
        at: "\(place).key.\(name)"
      )
    }
  }

  /// What leads back decides what a relationship can hold.
  private mutating func checkInverse(
    of relationship: RelationshipMap,
    at place: String
  ) {
    guard let name = relationship.inverse, let target = map.entity(named: relationship.entity),
      let inverse = map.lineage(of: target).flatMap(\.relationships).first(where: {
        $0.name.utf8.elementsEqual(name.utf8)
      }), inverse.kind == .toOne
    else { return }
    if relationship.allowsRepeats {
      report(
        .misplaced,
        "\(target.name).\(name) is a to-one: no target can stand in the list twice.",
        at: "\(place).repeats",
        rule: "leave out repeats, or make the inverse a to-many"
      )
    }
  }

  private func find(_ name: String, in attributes: [AttributeMap]) -> AttributeMap? {
    attributes.first { $0.name.utf8.elementsEqual(name.utf8) }
  }
}

extension AttributeMap {
  /// Whether records of a format can give the attribute a value.
  func isFed(from format: ForeignFormat) -> Bool {
    guard let from, compute == nil else { return true }
    switch format {
    case .json, .ndjson: return !from.json.isEmpty
    case .xml: return !from.xml.isEmpty
    case .csv: return !from.csv.isEmpty
    }
  }
}

extension ValuePolicies {
  /// Whether one of the policies is `default`.
  var hasDefault: Bool { onMissing == .default || onNull == .default || onInvalid == .default }

  /// The key of the first policy that is `default`.
  var defaultKey: String {
    onMissing == .default ? "onMissing" : onNull == .default ? "onNull" : "onInvalid"
  }
}
