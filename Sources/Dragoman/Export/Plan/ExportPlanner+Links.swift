import DragomanGraph

/// Relationships: nested objects where the map reads nested objects, keys where it reads keys.
extension ExportPlanner {
  /// How a relationship is written.
  private enum Form {
    /// The targets' records; `isReference`: of them the identity only.
    case nested(isReference: Bool)
    /// The targets' keys, at the places that the map takes them from.
    case keys([String: RelationshipMap.KeyPart])
  }

  mutating func add(
    _ relationship: RelationshipMap,
    of visit: Visit,
    isKey: Bool,
    to level: inout ExportLevel
  ) throws(ExportError) {
    let name = relationship.name
    // The way back to the record around this one is where this one stands.
    if let inverse = visit.inverse, inverse.utf8.elementsEqual(name.utf8) { return }
    let inclusion = visit.inclusions[name] ?? relationship.export
    guard inclusion != ImportMap.ExportOptions.Inclusion.none else { return }
    guard let place = visit.layout.linkSlot(named: name),
      let target = map.entity(named: relationship.entity),
      let targetLayout = layout.entity(named: relationship.entity)
    else {
      note("\(visit.map.name).\(name) is left out: the database does not have it")
      return
    }
    guard let form = form(of: relationship, inclusion, target, visit, isKey: isKey) else { return }
    let link = visit.layout.relationships[place]
    do throws(ExportTree.Builder.Obstacle) {
      switch form {
      case .keys(let parts):
        let before = tree
        do throws(ExportTree.Builder.Obstacle) {
          try addKeys(parts, relationship, link, target, targetLayout, visit, to: &level)
        } catch {
          // A place of one part must not stay without the others.
          tree = before
          throw error
        }
      case .nested(let isReference):
        guard let place = nestedPlace(of: relationship, visit) else {
          note(
            "\(visit.map.name).\(name) is left out: this map has no place for it in \(format.rawValue)"
          )
          return
        }
        let naming = place.arrangement == .dictionary ? self.naming(of: target) : nil
        if naming == .impossible {
          note("\(visit.map.name).\(name) is left out: what names its members is not exported")
          return
        }
        if naming == .madeUp {
          note("\(visit.map.name).\(name): the database does not have the names of its members")
        }
        let isMany = relationship.kind == .toMany
        let position = level.links.count
        let base = try tree.link(
          place.steps,
          at: visit.base,
          ExportTree.Builder.LinkPlace(local: position, plan: links.count),
          place.arrangement
        )
        // What tells an empty list from one that is not there.
        let around = place.steps.count - (place.arrangement == .dictionary ? 0 : 1)
        links.append(
          ExportLink(isToMany: isMany, hasWrapper: isMany && format == .xml && around > 0)
        )
        level.links.append(ExportLevel.Link(layout: link, level: ExportLevel()))
        level.links[position].level = try nested(
          Visit(
            map: target,
            layout: targetLayout,
            base: base,
            isNamed: place.arrangement == .dictionary,
            isReference: isReference,
            around: visit.around + [visit.map],
            inverse: link.relationship.inverse ?? relationship.inverse
          )
        )
      }
    } catch {
      note("\(visit.map.name).\(name) is left out: its path runs through another value")
    }
  }

  /// Errors of nested levels are of another type than obstacles: they are told as notices, and the level
  /// stays empty.
  private mutating func nested(_ visit: Visit) throws(ExportTree.Builder.Obstacle) -> ExportLevel {
    do throws(ExportError) {
      return try add(visit)
    } catch {
      note(error.message)
      throw .shape
    }
  }

  private func form(
    of relationship: RelationshipMap,
    _ inclusion: ImportMap.ExportOptions.Inclusion?,
    _ target: EntityMap,
    _ visit: Visit,
    isKey: Bool
  ) -> Form? {
    if let key = relationship.key, !isLocal { return .keys(key) }
    let isSilent = relationship.from == nil && inclusion == nil && !isLocal
    // A list that its inverse fills needs no place of its own.
    if isSilent, relationship.kind == .toMany, relationship.inverse != nil { return nil }
    let isAround = (visit.around + [visit.map]).contains {
      $0.name.utf8.elementsEqual(target.name.utf8)
    }
    let byKey = inclusion == .key || inclusion == .keys || (isLocal && relationship.key != nil)
    // A record inside of itself would have no end.
    let isReference = byKey || isAround || isKey || (isSilent && relationship.kind == .toOne)
    return .nested(isReference: isReference)
  }

  /// Where the targets of a relationship stand.
  private struct NestedPlace {
    let steps: [ForeignPath.Step]
    let arrangement: ExportTree.Builder.Arrangement
  }

  private func nestedPlace(of relationship: RelationshipMap, _ visit: Visit) -> NestedPlace? {
    guard format != .csv else { return nil }
    let isMany = relationship.kind == .toMany
    let plain: ExportTree.Builder.Arrangement = isMany && format != .xml ? .list : .plain
    guard !isLocal, let from = relationship.from else {
      if format == .xml, !relationship.name.isXMLName { return nil }
      return NestedPlace(
        steps: [.member(relationship.name, namespace: nil)],
        arrangement: plain
      )
    }
    return paths(from).lazy.compactMap { path -> NestedPlace? in
      var steps = path.steps
      var arrangement = plain
      if isMany, steps.last == .all || steps.last == .anyMember {
        if steps.removeLast() == .anyMember { arrangement = .dictionary }
      }
      let isRecord = steps.isEmpty && !(format == .xml && arrangement == .dictionary)
      guard path.root == .record, !isRecord, !Self.hasWildcard(steps) else { return nil }
      return NestedPlace(steps: steps, arrangement: arrangement)
    }.first
  }

  private static func hasWildcard(_ steps: [ForeignPath.Step]) -> Bool {
    steps.contains { $0 == .all || $0 == .anyMember }
  }

  // MARK: - Keys

  private mutating func addKeys(
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
    var made = ExportLevel.Link(layout: link, level: ExportLevel())
    var plan = ExportLink(isToMany: isMany)
    var base: Int?
    var prefix: [ForeignPath.Step] = []
    for (name, part) in parts.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      guard
        let attribute = map.lineage(of: target).flatMap(\.attributes).first(where: {
          $0.name.utf8.elementsEqual(name.utf8)
        }), let stored = stored(name, in: targetLayout)
      else { throw .shape }
      let column = made.level.column(of: stored)
      switch part {
      case .attribute(let own):
        guard let ownStored = self.stored(own, in: visit.layout) else { throw .shape }
        plan.shared.append((level.column(of: ownStored), column))
      case .value(let text):
        guard let value = attribute.storedValue(ofLiteral: text) else { throw .shape }
        plan.constants.append((column, value))
      case .path(let from, let separator):
        guard let path = keyPath(from, isMany: isMany && separator == nil) else { throw .shape }
        // The pieces of a text are texts, whatever the format.
        let pieces = separator == nil ? nil : ForeignFormat.csv
        guard let speller = try? speller(of: attribute, format: pieces) else { throw .shape }
        if let separator {
          plan.separator = Array((separator == "whitespace" ? " " : separator).utf8)
          guard parts.count == 1 else { throw .shape }
        }
        if isMany, separator == nil {
          if let base {
            guard path.prefix == prefix else { throw .shape }
            try tree.add(path.suffix, at: base, slot: slots.count)
          } else {
            base = try tree.link(path.prefix, at: visit.base, place, path.arrangement)
            prefix = path.prefix
            try tree.add(path.suffix, at: base ?? 0, slot: slots.count)
          }
        } else {
          try tree.add(path.prefix + path.suffix, at: visit.base, slot: slots.count, link: place)
        }
        appendSlot(stored, of: target.name, speller, column: column)
      }
    }
    links.append(plan)
    level.links.append(made)
  }

  /// The way to the targets of a relationship, and from a target to its key.
  private struct KeyPath {
    let prefix: [ForeignPath.Step]
    let suffix: [ForeignPath.Step]
    var arrangement = ExportTree.Builder.Arrangement.list
  }

  private func keyPath(
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
