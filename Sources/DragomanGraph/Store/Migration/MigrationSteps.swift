/// The sentences of a plan.
struct MigrationSteps {
  private(set) var steps: [Migration.Step] = []
  private let plan: MigrationPlan

  init(_ plan: MigrationPlan) {
    self.plan = plan
    for entity in plan.new.entities {
      if let known = plan.match.entities[entity.index] {
        describe(entity, plan.old.entities[known])
      } else {
        let below = entity.entity.parent.map { " as a sub-entity of \($0)" } ?? ""
        let names = (entity.entity.attributes.map(\.name) + entity.entity.relationships.map(\.name))
          .joined(separator: ", ")
        let isLost = entity.entity.renamedFrom.map { plan.old.entity(named: $0) == nil } ?? false
        let lost = isLost ? Self.lost(entity.entity.renamedFrom) : ""
        add(.add, entity.name, "Add the entity \(entity.name)\(below) (\(names))\(lost).")
      }
    }
    for entity in plan.old.entities where plan.match.successor(ofEntity: entity.index) == nil {
      add(.drop, entity.name, "Drop the entity \(entity.name) with all its objects.")
    }
  }

  private mutating func add(
    _ kind: Migration.Step.Kind,
    _ entity: String,
    _ property: String?,
    _ sentence: String
  ) {
    steps.append(
      Migration.Step(kind: kind, entity: entity, property: property, sentence: sentence)
    )
  }

  private mutating func add(
    _ kind: Migration.Step.Kind,
    _ entity: String,
    _ sentence: String
  ) {
    add(kind, entity, nil, sentence)
  }

  private mutating func describe(_ entity: EntityLayout, _ old: EntityLayout) {
    let name = entity.name
    if !same(old.name, name) {
      add(.rename, name, "Rename the entity \(old.name) to \(name).")
    }
    if entity.root == entity.index, !same(old.table, entity.table) {
      add(.rename, name, "Rename the table \(old.table) to \(entity.table).")
    }
    let oldParent = old.entity.parent.flatMap { parent in
      plan.old.entity(named: parent).flatMap { plan.match.successor(ofEntity: $0.index) }
    }.map { plan.new.entities[$0].name }
    if oldParent != entity.entity.parent {
      let sentence =
        entity.entity.parent.map { "Make \(name) a sub-entity of \($0)." }
        ?? "Make \(name) an entity without a parent."
      add(.change, name, sentence)
    }
    if entity.entity.admitsStubs != old.entity.admitsStubs {
      let verb = entity.entity.admitsStubs ? "Admit" : "Admit no"
      add(.change, name, "\(verb) stubs of \(name), objects of which only the key is known.")
    }
    if entity.entity.isAbstract != old.entity.isAbstract {
      add(.change, name, "Make \(name) \(entity.entity.isAbstract ? "abstract" : "concrete").")
    }
    for (property, attribute) in entity.entity.attributes.enumerated() {
      describe(attribute, plan.match.attributes[entity.index][property], of: entity)
    }
    for link in entity.relationships where link.owner == entity.index { describe(link, entity) }
    for (property, attribute) in old.entity.attributes.enumerated()
    where plan.match.successor(ofAttribute: .init(entity: old.index, property: property)) == nil {
      add(.drop, name, attribute.name, "Drop \(name).\(attribute.name) with its values.")
    }
    for (property, link) in old.entity.relationships.enumerated()
    where plan.match.successor(ofRelationship: .init(entity: old.index, property: property)) == nil
    {
      add(.drop, name, link.name, "Drop \(name).\(link.name) with its links.")
    }
    describeKeys(entity, old)
  }

  // MARK: - Attributes

  private mutating func describe(
    _ attribute: Attribute,
    _ place: ModelMatch.Place?,
    of entity: EntityLayout
  ) {
    let name = "\(entity.name).\(attribute.name)"
    let filling = attribute.isRequired ? attribute.defaultValue.map { Self.text($0) } : nil
    guard let place else {
      let filled = filling.map { ", \($0) in all objects" } ?? ""
      let lost = lost(attribute.renamedFrom, of: entity)
      let sentence = "Add \(name) (\(attribute.type.rawValue))\(filled)\(lost)."
      add(.add, entity.name, attribute.name, sentence)
      return
    }
    let known = plan.old.entities[place.entity].entity.attributes[property: place]
    let oldEntity = plan.old.entities[place.entity]
    let isMoved = plan.match.entities[entity.index] != place.entity
    if isMoved {
      add(.change, entity.name, attribute.name, "Move \(oldEntity.name).\(known.name) to \(name).")
    } else if !same(known.name, attribute.name) {
      add(
        .rename,
        entity.name,
        attribute.name,
        "Rename \(entity.name).\(known.name) to \(attribute.name)."
      )
    }
    if !same(known.column, attribute.column),
      !(same(known.column, known.name) && same(attribute.column, attribute.name))
    {
      let sentence = "Rename the column \(known.column) of \(name) to \(attribute.column)."
      add(.rename, entity.name, attribute.name, sentence)
    }
    if known.type != attribute.type {
      let sentence =
        "Convert \(name) from \(known.type.rawValue) to \(attribute.type.rawValue)."
      add(.convert, entity.name, attribute.name, sentence)
    } else if known.rules.scale != attribute.rules.scale {
      let scale = attribute.rules.scale.map { "with scale \($0)" } ?? "without a scale"
      add(.convert, entity.name, attribute.name, "Write \(name) \(scale).")
    }
    if attribute.isRequired && !known.isRequired {
      let sentence =
        filling.map { "Make \(name) required; null becomes \($0)." } ?? "Make \(name) required."
      add(.change, entity.name, attribute.name, sentence)
    }
    if !attribute.isRequired && known.isRequired {
      add(.change, entity.name, attribute.name, "Make \(name) optional.")
    }
    if attribute.isIndexed != known.isIndexed {
      let verb = attribute.isIndexed ? "Add an" : "Remove the"
      add(.change, entity.name, attribute.name, "\(verb) index of \(name).")
    }
    if attribute.isSensitive != known.isSensitive {
      let sentence =
        attribute.isSensitive
        ? "Mask the values of \(name) in messages, reports and the console."
        : "Show the values of \(name), masked until now, in messages, reports and the console."
      add(.change, entity.name, attribute.name, sentence)
    }
    if known.valueRules != attribute.valueRules {
      let sentence = "Change the rules of \(name) for new values."
      add(.change, entity.name, attribute.name, sentence)
    }
  }

  /// What is said of a property that is new though it has an earlier name: nothing in the database has that one.
  private func lost(_ name: String?, of entity: EntityLayout) -> String {
    guard let name, let known = plan.match.entities[entity.index].map({ plan.old.entities[$0] }),
      known.property(named: name) == nil
    else { return "" }
    return Self.lost(name)
  }

  private static func lost(_ name: String?) -> String {
    name.map { "; nothing is called \($0) (renamedFrom)" } ?? ""
  }

  private static func text(_ value: StoredValue) -> String {
    switch value {
    case .null: "null"
    case .integer(let integer): String(integer)
    case .real(let real): "\(real)"
    case .text(let text): JSONString.quoted(text, .lines)
    case .blob(let bytes): MessageWords.count(bytes.count, "byte")
    }
  }

  // MARK: - Relationships

  private mutating func describe(_ link: RelationshipLayout, _ entity: EntityLayout) {
    let name = "\(entity.name).\(link.name)"
    let destination = plan.new.entities[link.destination].name
    guard let known = plan.predecessor(of: link) else {
      add(
        .add,
        entity.name,
        link.name,
        "Add \(name) (\(link.relationship.described) \(destination))"
          + "\(lost(link.relationship.renamedFrom, of: entity))."
      )
      return
    }
    if plan.match.entities[entity.index] != known.owner {
      let old = plan.old.entities[known.owner].name
      add(.change, entity.name, link.name, "Move \(old).\(known.name) to \(name).")
    } else if !same(known.name, link.name) {
      add(
        .rename,
        entity.name,
        link.name,
        "Rename \(entity.name).\(known.name) to \(link.name)."
      )
    }
    let (before, after) = (known.relationship, link.relationship)
    if plan.match.entities[link.destination] != known.destination {
      add(.change, entity.name, link.name, "Let \(name) lead to \(destination).")
    }
    if before.described != after.described {
      let sentence = "Make \(name) \(after.described) (it was \(before.described))."
      add(.change, entity.name, link.name, sentence)
    }
    let inverse = plan.new.inverse(of: link)
    let knownInverse = plan.old.inverse(of: known)
    let followed = inverse.flatMap { plan.predecessor(of: $0) }
    if inverse == nil, knownInverse != nil {
      add(.change, entity.name, link.name, "Let \(name) have no inverse.")
    } else if let inverse, knownInverse == nil || followed.map({ $0 != knownInverse }) ?? false {
      let other = "\(plan.new.entities[inverse.owner].name).\(inverse.name)"
      add(.change, entity.name, link.name, "Let \(other) be the inverse of \(name).")
    }
    if before.rules != after.rules {
      let sentence = "Change the rules of \(name)."
      add(.change, entity.name, link.name, sentence)
    }
  }

  // MARK: - Keys

  private mutating func describeKeys(_ entity: EntityLayout, _ old: EntityLayout) {
    let name = entity.name
    let before = old.entity.uniqueKeys.map { renamed($0, old) }
    let after = entity.entity.uniqueKeys
    for key in after where !before.contains(key) {
      add(.change, name, "Make [\(key.joined(separator: ", "))] a unique key of \(name).")
    }
    for key in before where !after.contains(key) {
      add(.change, name, "Remove the unique key [\(key.joined(separator: ", "))] of \(name).")
    }
    if let key = after.first, let was = before.first, key != was {
      add(.change, name, "Find objects of \(name) by [\(key.joined(separator: ", "))].")
    }
    let indexes = old.entity.indexes.map { renamed($0, old) }
    for list in entity.entity.indexes where !indexes.contains(list) {
      add(.change, name, "Add an index of \(name) over \(list.joined(separator: ", ")).")
    }
    for list in indexes where !entity.entity.indexes.contains(list) {
      add(.change, name, "Remove the index of \(name) over \(list.joined(separator: ", ")).")
    }
  }

  /// The names of a key as the new model has them.
  private func renamed(_ key: [String], _ entity: EntityLayout) -> [String] {
    key.map { name in
      for ancestor in entity.lineage.map({ plan.old.entities[$0] }) {
        if let own = ancestor.entity.attributes.firstIndex(where: { same($0.name, name) }),
          let found = plan.match.successor(
            ofAttribute: .init(entity: ancestor.index, property: own)
          )
        {
          return plan.new.entities[found.entity].entity.attributes[property: found].name
        }
        if let own = ancestor.entity.relationships.firstIndex(where: { same($0.name, name) }),
          let found = plan.match.successor(
            ofRelationship: .init(entity: ancestor.index, property: own)
          )
        {
          return plan.new.entities[found.entity].entity.relationships[property: found].name
        }
      }
      return name
    }
  }

  private func same(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }
}

extension Attribute {
  /// What holds for new values only, with everything else made equal.
  fileprivate var valueRules: Attribute {
    var rules = Attribute(
      name: "",
      defaultValue: defaultValue,
      allowedValues: allowedValues,
      rules: self.rules
    )
    rules.rules.scale = nil
    return rules
  }
}

extension Relationship {
  /// Kind and order in words.
  fileprivate var described: String {
    guard kind == .toMany else { return "to-one" }
    return "\(isOrdered ? "ordered " : "")to-many\(allowsRepeats ? " with repeats" : "")"
  }

  fileprivate var rules: Relationship {
    Relationship(
      name: "",
      destination: "",
      kind: .toOne,
      deleteRule: deleteRule,
      isRequired: isRequired
    ).with { $0.maximumCount = maximumCount }
  }
}

extension Migration.Step {
  /// The index of a unique key that was there, and that somebody has dropped, is made again.
  init(remaking index: Schema.Index, in layout: ModelLayout) {
    let entity = layout.entities.first { hasSameBytes($0.table, index.table) }?.name ?? index.table
    self.init(
      kind: .change,
      entity: entity,
      property: nil,
      sentence:
        "Make the index of the unique key [\(index.columns.joined(separator: ", "))] of \(entity) again:"
        + " it is gone."
    )
  }
}
