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
    let isInside = own.contains { claim in
      isCovered(claim.steps, of: claim.name, by: claims) || isHeld(claim, by: claims)
    }
    if isInside {
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
  mutating func shadow(
    _ relationship: RelationshipMap,
    of visit: Visit,
    hasPath: Bool,
    in level: inout ExportLevel
  ) throws(ExportError) {
    var apart = self
    apart.isApart = true
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
      isListed: visit.isListed,
      inverse: visit.inverse,
      inclusions: visit.inclusions
    )
    let isPlaced = try apart.place(relationship, of: alone, in: &inner)
    visitCount = apart.visitCount
    guard isPlaced, var link = inner.links.last else {
      return lose(relationship.name, of: visit, obstacle(to: relationship, hasPath: hasPath))
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

  /// Why a relationship has no place, not even alone.
  private func obstacle(to relationship: RelationshipMap, hasPath: Bool) -> String {
    if !hasPath { return "this map has no place for it in \(format.rawValue)" }
    guard relationship.key != nil, !isLocal else { return "its path runs through another value" }
    return "not all parts of its key have a place in \(format.rawValue)"
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
      try checkRenamed(relationship.renamedFrom, to: relationship.name, of: visit)
      note("\(name): the database does not have it")
      return true
    }
    let link = visit.layout.relationships[place]
    guard link.isToOne || relationship.kind == .toMany else {
      throw ExportError(
        .map,
        "\(name) leads to many objects in the database, and to one in the map.",
        help: "export by a map of the database as it is"
      )
    }
    let targets: Visit?
    let number = links.count
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
            missed: isReference ? missed(of: target, targetLayout) : Missed(),
            around: visit.around + [visit.map],
            depth: visit.depth + 1,
            isListed: relationship.kind == .toMany,
            inverse: link.relationship.inverse ?? relationship.inverse
          ),
          of: visit,
          in: &level
        )
      }
    } catch {
      return false
    }
    if number < links.count { try settleNulls(of: relationship, of: visit, at: number) }
    if let targets, let model = model(of: targets) {
      try nest(targets, as: model, at: number, name: name, in: &level)
    } else if let targets {
      noteMissedLinks(of: targets)
      let position = level.links.count - 1
      // Local names make objects of keys: those that nobody has yet are keys, too.
      level.links[position].isByKey = isLocal && relationship.key != nil
      level.links[position].level = try nested(targets, name: name)
    }
    return true
  }

  /// Finds out how having no target comes back, and by which name it is told.
  private mutating func settleNulls(
    of relationship: RelationshipMap,
    of visit: Visit,
    at number: Int
  ) throws(ExportError) {
    if links[number].slot == nil {
      // What is wrong with it is told by its name.
      links[number].slot = slots.count
      appendSlot(
        Attribute(name: relationship.name),
        of: visit.map.name,
        try speller(of: AttributeMap(name: relationship.name)),
        column: 0
      )
    }
    if isLocal { return }
    let lineage = map.lineage(of: visit.map)
    let depth = lineage.firstIndex { owner in
      owner.relationships.contains { hasSameBytes($0.name, relationship.name) }
    }
    let policies = map.policies(relationship.policies, of: lineage[...(depth ?? 0)])
    links[number].refusesMissing = policies.onMissing == .reject
    links[number].refusesNull = policies.onNull == .reject
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
  /// which one.
  ///
  /// - Throws: `.map` where the records would have too many places.
  mutating func nested(_ visit: Visit, name: String) throws(ExportError) -> ExportLevel {
    open.append(visit)
    defer { open.removeLast() }
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
    // Its own records say what the target is, unless its key takes away what they said.
    let isElsewhere =
      isSilent && hasRecords(relationship.entity)
      && (isInverse(relationship, visit) || isKey(relationship.name, of: visit))
      && (visit.isReference || !keysLoseLinks(of: relationship, visit))
    // Of a reference everything is the key only.
    if visit.isReference || byKey || isElsewhere { return .nested(isReference: true) }
    return .nested(isReference: isAround && !nestsOn(relationship, of: visit))
  }

  /// Whether an entity has records of its own in the format, so that nobody else has to say what it is.
  func hasRecords(_ entity: String) -> Bool {
    guard let root = layout.entity(named: entity)?.root else { return false }
    return map.sources.contains { source in
      source.reads(format) && layout.entity(named: source.entity)?.root == root
    }
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
    let isMany = relationship.kind == .toMany
    let plain: ExportTree.Builder.Arrangement = isMany && format != .xml ? .list : .plain
    guard !isLocal, let from = relationship.from else {
      if format == .csv { return nil }
      if format == .xml, !relationship.name.isXMLName { return nil }
      return NestedPlace(
        steps: ownPath(relationship.name, of: visit.map).steps,
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
      guard path.root == .record, !isRecord || !isMany, !Self.hasWildcard(steps),
        // A row has no others inside, but for those whose members are among its own.
        isRecord || format != .csv
      else { return nil }
      return NestedPlace(steps: steps, arrangement: arrangement)
    }.first
  }

  static func hasWildcard(_ steps: [ForeignPath.Step]) -> Bool {
    steps.contains { $0 == .all || $0 == .anyMember }
  }
}
