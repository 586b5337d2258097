import DragomanGraph

/// Relationships: nested objects where the map reads nested objects, keys where it reads keys.
extension ExportPlanner {
  /// How a relationship is written.
  enum Form {
    /// The targets' records; `isReference`: of them the identity only.
    case nested(isReference: Bool)
    /// The targets' keys, at the places that the map takes them from.
    case keys([String: RelationshipMap.KeyPart])
  }

  mutating func add(
    _ relationship: RelationshipMap,
    of visit: Visit,
    beside claims: [Claim],
    to level: inout ExportLevel
  ) throws(ExportError) {
    let own = claims.filter { $0.name.utf8.elementsEqual(relationship.name.utf8) }
    if own.contains(where: { isCovered($0.steps, of: $0.name, by: claims) }) {
      return try shadow(relationship, of: visit, hasPath: true, in: &level)
    }
    let before = (level, slots, links, tree)
    if try !place(relationship, of: visit, in: &level) {
      (level, slots, links, tree) = before
      try shadow(relationship, of: visit, hasPath: !own.isEmpty, in: &level)
    }
  }

  /// Takes note of a relationship that is not written because something else at its place holds it:
  /// what is read of its targets when the record is read back.
  private mutating func shadow(
    _ relationship: RelationshipMap,
    of visit: Visit,
    hasPath: Bool,
    in level: inout ExportLevel
  ) throws(ExportError) {
    var apart = self
    apart.tree = ExportTree.Builder(
      record: ExportTree.Name(local: visit.map.name),
      isXML: format == .xml
    )
    var inner = ExportLevel()
    inner.columns = level.columns
    for _ in 0..<level.tree { inner.addTree() }
    let alone = Visit(
      map: visit.map,
      layout: visit.layout,
      base: 0,
      around: visit.around,
      depth: visit.depth,
      inverse: visit.inverse,
      inclusions: visit.inclusions
    )
    let isPlaced = try apart.place(relationship, of: alone, in: &inner)
    visitCount = apart.visitCount
    guard isPlaced, var link = inner.links.last else {
      let reason =
        hasPath
        ? "its path runs through another value"
        : "this map has no place for it in \(format.rawValue)"
      return lose(relationship.name, of: visit, reason)
    }
    link.isShadowed = true
    level.columns = inner.columns
    level.links.append(link)
    overlap(relationship.name, of: visit)
    appendSlot(
      Attribute(name: relationship.name),
      of: visit.map.name,
      try speller(of: AttributeMap(name: relationship.name)),
      column: 0
    )
  }

  /// Gives a relationship its place.
  ///
  /// - Returns: Whether it has one, or wants none.
  /// - Throws: `.map` where the records would have too many places.
  private mutating func place(
    _ relationship: RelationshipMap,
    of visit: Visit,
    in level: inout ExportLevel
  ) throws(ExportError) -> Bool {
    let name = "\(visit.map.name).\(relationship.name)"
    guard let form = form(of: relationship, visit) else { return true }
    guard let place = visit.layout.linkSlot(named: relationship.name),
      let target = map.entity(named: relationship.entity),
      let targetLayout = layout.entity(named: relationship.entity)
    else {
      note("\(name): the database does not have it")
      return true
    }
    let link = visit.layout.relationships[place]
    let targets: Visit?
    do throws(ExportTree.Builder.Obstacle) {
      switch form {
      case .keys(let parts):
        targets = nil
        let before = tree
        do throws(ExportTree.Builder.Obstacle) {
          try addKeys(parts, relationship, link, target, targetLayout, visit, to: &level)
        } catch {
          // A place of one part must not stay without the others.
          tree = before
          throw error
        }
      case .nested(let isReference):
        targets = try addLink(
          relationship,
          link,
          to: Visit(
            map: target,
            layout: targetLayout,
            base: visit.base,
            isReference: isReference,
            around: visit.around + [visit.map],
            depth: visit.depth + 1,
            inverse: link.relationship.inverse ?? relationship.inverse
          ),
          of: visit,
          in: &level
        )
      }
    } catch {
      return false
    }
    if let targets {
      let position = level.links.count - 1
      level.links[position].level = try nested(targets, name: name)
    }
    return true
  }

  /// Makes the place of a relationship whose targets are nested.
  ///
  /// - Parameters:
  ///   - relationship: The relationship as the map has it.
  ///   - link: The relationship as the store has it.
  ///   - targets: The targets, without a place.
  ///   - visit: The record around them.
  ///   - level: The level of the record.
  /// - Returns: The targets at their place; nil where there can be none, which is noted.
  /// - Throws: `Obstacle` where something else stands at the place.
  private mutating func addLink(
    _ relationship: RelationshipMap,
    _ link: RelationshipLayout,
    to targets: Visit,
    of visit: Visit,
    in level: inout ExportLevel
  ) throws(ExportTree.Builder.Obstacle) -> Visit? {
    guard let place = nestedPlace(of: relationship, visit) else {
      lose(relationship.name, of: visit, "this map has no place for it in \(format.rawValue)")
      return nil
    }
    var targets = targets
    targets.isNamed = place.arrangement == .dictionary
    let naming = targets.isNamed ? self.naming(of: targets.map) : nil
    if naming == .impossible {
      lose(relationship.name, of: visit, "what names its members is not exported")
      return nil
    }
    if naming == .madeUp {
      let name = "\(visit.map.name).\(relationship.name)"
      note("\(name): the database does not have the names of its members")
    }
    let isMany = relationship.kind == .toMany
    let position = level.links.count
    if place.isRecord {
      targets.context = tree.embed(position, of: visit.context)
    } else {
      targets.base = try tree.link(
        place.steps,
        at: visit.base,
        ExportTree.Builder.LinkPlace(local: position, plan: links.count),
        place.arrangement,
        of: visit.context
      )
    }
    // What tells an empty list from one that is not there.
    let around = place.steps.count - (targets.isNamed ? 0 : 1)
    links.append(ExportLink(isToMany: isMany, hasWrapper: isMany && format == .xml && around > 0))
    level.links.append(ExportLevel.Link(layout: link, level: ExportLevel(), tree: level.tree))
    return targets
  }

  /// Adds the targets of a relationship, of whichever entity they are; of a reference the identity says
  /// all.
  ///
  /// - Throws: `.map` where the records would have too many places.
  private mutating func nested(_ visit: Visit, name: String) throws(ExportError) -> ExportLevel {
    if visit.isReference {
      var level = ExportLevel()
      try add(visit, to: &level)
      return level
    }
    let family = ExportFamily(ofTargets: visit.map, visit.layout, in: map, layout, name: name)
    return try add(family, visit)
  }

  /// How a relationship is written; nil where the map does not want it.
  func form(of relationship: RelationshipMap, _ visit: Visit) -> Form? {
    // The way back to the record around this one is where this one stands.
    if let inverse = visit.inverse, inverse.utf8.elementsEqual(relationship.name.utf8) {
      return nil
    }
    let inclusion = visit.inclusions[relationship.name] ?? relationship.export
    guard inclusion != ImportMap.ExportOptions.Inclusion.none else { return nil }
    if let key = relationship.key, !isLocal { return .keys(key) }
    // What an import does not read needs no place: the other side says everything.
    if inclusion == nil, !isLocal, !map.readsFeed(relationship, of: visit.map) { return nil }
    let isSilent = relationship.from == nil && inclusion == nil && !isLocal
    let isAround = (visit.around + [visit.map]).contains {
      $0.name.utf8.elementsEqual(relationship.entity.utf8)
    }
    let byKey = inclusion == .key || inclusion == .keys || (isLocal && relationship.key != nil)
    // A record inside of itself would have no end.
    let isReference =
      byKey || isAround || isKey(relationship.name, of: visit)
      || (isSilent && isInverse(relationship, visit) && hasRecords(relationship.entity))
    return .nested(isReference: isReference)
  }

  /// Whether an entity has records of its own, so that nobody else has to say what it is.
  private func hasRecords(_ entity: String) -> Bool {
    guard let root = layout.entity(named: entity)?.root else { return false }
    return map.sources.contains { layout.entity(named: $0.entity)?.root == root }
  }

  /// Whether another relationship leads the other way.
  private func isInverse(_ relationship: RelationshipMap, _ visit: Visit) -> Bool {
    visit.layout.linkSlot(named: relationship.name).map {
      visit.layout.relationships[$0].relationship.inverse != nil
    } ?? false
  }

  /// Where the targets of a relationship stand.
  struct NestedPlace {
    let steps: [ForeignPath.Step]
    let arrangement: ExportTree.Builder.Arrangement

    /// Whether a target's members stand among those of the record itself.
    var isRecord: Bool { steps.isEmpty && arrangement != .dictionary }
  }

  func nestedPlace(of relationship: RelationshipMap, _ visit: Visit) -> NestedPlace? {
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
      guard path.root == .record, !isRecord || !isMany, !Self.hasWildcard(steps) else {
        return nil
      }
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
          guard parts.count == 1 else { throw .shape }
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
    if plan.ownKey != nil { made.unwritten = plan }
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
