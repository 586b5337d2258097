import DragomanGraph

/// Relationships whose targets the map finds by their keys.
extension ExportPlanner {
  mutating func addKeys(
    _ parts: [String: RelationshipMap.KeyPart],
    _ relationship: RelationshipMap,
    _ link: RelationshipLayout,
    _ target: EntityMap,
    _ targetLayout: EntityLayout,
    _ visit: Visit,
    to level: inout ExportLevel
  ) throws(ExportTree.Builder.Obstacle) {
    let isMany = relationship.kind == .toMany
    let place = ExportTree.Builder.LinkPlace(local: level.links.count, plan: links.count)
    var made = ExportLevel.Link(layout: link, level: ExportLevel(), tree: level.tree)
    var plan = ExportLink(isToMany: isMany)
    var ownKey = ExportLink.OwnKey(
      entity: target.name,
      onUnresolved: relationship.onUnresolved ?? map.defaults.onUnresolved ?? .clear
    )
    // Parts at one list are members of its elements; other lists stand beside it.
    var lists: [(steps: [ForeignPath.Step], base: Int)] = []
    for (name, part) in parts.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      guard let attribute = map.keyAttribute(name, of: target.name),
        let key = keyPart(name, of: targetLayout, in: &made.level)
      else { throw .shape }
      made.level.keys.append(key)
      switch part {
      case .attribute(let own):
        guard let ownStored = self.stored(own, in: visit.layout) else { throw .shape }
        let ownColumn = level.column(of: ownStored)
        plan.shared.append((ownColumn, key.place))
        ownKey.columns.append((key.steps, ownColumn))
      case .value(let text):
        guard let value = attribute.storedValue(ofLiteral: text) else { throw .shape }
        plan.constants.append((key.place, value))
        ownKey.constants.append((key.steps, value))
      case .path(let from, let separator):
        let isListed = isMany && separator == nil
        // The pieces of a text are texts, whatever the format.
        let pieces = separator == nil ? nil : ForeignFormat.csv
        guard let path = keyPath(from, isMany: isListed),
          let speller = try? speller(of: attribute, format: pieces)
        else { throw .shape }
        plan.keys.append(key.place)
        if isListed {
          let base: Int
          if let known = lists.first(where: { $0.steps == path.prefix }) {
            base = known.base
          } else {
            let arrangement = path.arrangement
            base = try tree.link(path.prefix, at: visit.base, place, arrangement, of: visit.context)
            lists.append((path.prefix, base))
          }
          try tree.add(path.suffix, at: base, slot: slots.count)
        } else {
          try tree.add(
            path.prefix + path.suffix,
            at: visit.base,
            slot: slots.count,
            link: place,
            of: visit.context
          )
        }
        appendSlot(key.attribute, of: key.entity, speller, column: key.place.column)
        if !key.place.links.isEmpty { slots[slots.count - 1].keyPlace = key.place }
        slots[slots.count - 1].split = separator.map { LinkPlan.KeyPart.Split($0) }
      }
    }
    // What the elements stand in tells that there are none.
    plan.hasWrapper = format == .xml && !lists.isEmpty && lists.allSatisfy { $0.steps.count > 1 }
    if plan.keys.isEmpty { plan.ownKey = ownKey }
    if let speller = try? speller(of: AttributeMap(name: relationship.name)) {
      plan.slot = slots.count
      appendSlot(Attribute(name: relationship.name), of: visit.map.name, speller, column: 0)
    }
    if plan.ownKey != nil { made.unwritten = plan } else { made.isByKey = true }
    links.append(plan)
    level.links.append(made)
  }

  /// A part of the key of objects: an attribute, or, of a to-one, the only part of its target's key.
  ///
  /// - Parameters:
  ///   - name: The name of the attribute or to-one.
  ///   - entity: The entity of the objects.
  ///   - level: Gets what is to be read of them.
  /// - Returns: The part; nil where it is none.
  private func keyPart(
    _ name: String,
    of entity: EntityLayout,
    in level: inout ExportLevel
  ) -> ExportLevel.KeyPart? {
    switch entity.property(named: name) {
    case .attribute(let slot):
      let attribute = entity.attributes[slot]
      return ExportLevel.KeyPart(
        name: name,
        attribute: attribute,
        entity: entity.name,
        steps: [name],
        place: ExportLevel.KeyPlace(column: level.attribute(attribute))
      )
    case .relationship(let slot):
      let link = entity.relationships[slot]
      let target = layout.entities[link.destination]
      var inner = ExportLevel()
      // A chain of to-ones that leads back to itself has no end, and is no key.
      guard let part = entity.uniqueKeys.joined().first(where: { hasSameBytes($0.name, name) }),
        KeyColumn(part, of: entity, in: layout) != nil,
        let identity = target.uniqueKeys.first?.first,
        let key = keyPart(identity.name, of: target, in: &inner)
      else { return nil }
      let own = Attribute(name: name).with { $0.column = part.column }
      let links = [level.links.count] + key.place.links
      let last = key.place.links.isEmpty ? key.place.column : key.place.last
      level.links.append(ExportLevel.Link(layout: link, level: inner, tree: level.tree))
      return ExportLevel.KeyPart(
        name: name,
        attribute: key.attribute,
        entity: key.entity,
        steps: [name] + key.steps,
        place: ExportLevel.KeyPlace(column: level.column(of: own), links: links, last: last)
      )
    case nil: return nil
    }
  }

  /// The way to the targets of a relationship, and from a target to its key.
  struct KeyPath {
    let prefix: [ForeignPath.Step]
    let suffix: [ForeignPath.Step]
    var arrangement = ExportTree.Builder.Arrangement.list
  }

  func keyPath(
    _ from: ForeignPaths,
    isMany: Bool
  ) -> KeyPath? {
    for path in paths(from) where path.root == .record && !path.steps.isEmpty {
      let steps = path.steps
      guard isMany else {
        if !Self.hasWildcard(steps) { return KeyPath(prefix: [], suffix: steps) }
        continue
      }
      guard format != .csv else { continue }
      if format == .xml {
        // The innermost element is the one that is repeated.
        let end = steps.lastIndex { if case .member = $0 { true } else { false } }
        guard let end, !Self.hasWildcard(steps) else { continue }
        return KeyPath(
          prefix: Array(steps[...end]),
          suffix: Array(steps[(end + 1)...]),
          arrangement: .plain
        )
      }
      if steps.last == .anyMember, steps.count > 1, !Self.hasWildcard(steps.dropLast()) {
        return KeyPath(prefix: steps.dropLast(), suffix: [], arrangement: .dictionary)
      }
      guard let all = steps.firstIndex(of: .all) else {
        if !Self.hasWildcard(steps) { return KeyPath(prefix: steps, suffix: []) }
        continue
      }
      let suffix = Array(steps[(all + 1)...])
      if all > 0, !Self.hasWildcard(suffix), !Self.hasWildcard(Array(steps[..<all])) {
        return KeyPath(prefix: Array(steps[..<all]), suffix: suffix)
      }
    }
    return nil
  }
}
