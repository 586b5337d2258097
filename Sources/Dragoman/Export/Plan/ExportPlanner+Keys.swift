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
    var base: Int?
    var prefix: [ForeignPath.Step] = []
    for (name, part) in parts.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      guard
        let attribute = map.lineage(of: target).flatMap(\.attributes).first(where: {
          $0.name.utf8.elementsEqual(name.utf8)
        }), let stored = stored(name, in: targetLayout)
      else { throw .shape }
      let column = made.level.attribute(stored)
      switch part {
      case .attribute(let own):
        guard let ownStored = self.stored(own, in: visit.layout) else { throw .shape }
        let ownColumn = level.column(of: ownStored)
        plan.shared.append((ownColumn, column))
        ownKey.columns.append((stored.name, ownColumn))
      case .value(let text):
        guard let value = attribute.storedValue(ofLiteral: text) else { throw .shape }
        plan.constants.append((column, value))
        ownKey.constants.append((stored.name, value))
      case .path(let from, let separator):
        guard let path = keyPath(from, isMany: isMany && separator == nil) else { throw .shape }
        plan.keys.append(column)
        // The pieces of a text are texts, whatever the format.
        let pieces = separator == nil ? nil : ForeignFormat.csv
        guard let speller = try? speller(of: attribute, format: pieces) else { throw .shape }
        if let separator {
          plan.split = LinkPlan.KeyPart.Split(separator)
          // Beside a text of keys nothing else is read for each of them.
          guard parts.values.count(where: \.isPath) == 1 else { throw .shape }
        }
        if isMany, separator == nil {
          if let base {
            guard path.prefix == prefix else { throw .shape }
            try tree.add(path.suffix, at: base, slot: slots.count)
          } else {
            base = try tree.link(
              path.prefix,
              at: visit.base,
              place,
              path.arrangement,
              of: visit.context
            )
            prefix = path.prefix
            try tree.add(path.suffix, at: base ?? 0, slot: slots.count)
          }
        } else {
          try tree.add(
            path.prefix + path.suffix,
            at: visit.base,
            slot: slots.count,
            link: place,
            of: visit.context
          )
        }
        appendSlot(stored, of: target.name, speller, column: column)
      }
    }
    if plan.keys.isEmpty { plan.ownKey = ownKey }
    if let speller = try? speller(of: AttributeMap(name: relationship.name)) {
      plan.slot = slots.count
      appendSlot(Attribute(name: relationship.name), of: visit.map.name, speller, column: 0)
    }
    if plan.ownKey != nil { made.unwritten = plan } else { made.isByKey = true }
    links.append(plan)
    level.links.append(made)
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

extension RelationshipMap.KeyPart {
  /// Whether it is read from the record.
  fileprivate var isPath: Bool {
    if case .path = self { true } else { false }
  }
}
