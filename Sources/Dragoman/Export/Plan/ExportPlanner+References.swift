import DragomanGraph

/// Targets of which the identity is written, inside of others or by the map's word.
///
/// An import reads them as records of their entity: what they lack is missing, and a policy may say what happens then.
extension ExportPlanner {
  /// What an import does where a record lacks something, in the words of the notes.
  enum Fate: String {
    /// Existing objects are left alone, so that only new ones lack it.
    case madeWithout = "makes them without"
    /// `onMissing: clear` or `default`.
    case takenAway = "takes away what they have"
    /// `onMissing: reject`, whether the object has any or not.
    case rejected = "rejects the record"
  }

  /// What a record of the identity alone changes of its object.
  struct Missed {
    /// The names of attributes.
    var attributes: Set<[UInt8]> = []
    /// The names of relationships, with what an import does to them.
    var relationships: [[UInt8]: Fate] = [:]
  }

  /// The attributes that are written of a reference: its identity, its name, and what is missed.
  func referenceAttributes(of visit: Visit) -> [AttributeMap] {
    let name = visit.isNamed ? nameAttribute(of: visit.map) : nil
    return attributes(of: visit.map).filter {
      isKey($0.name, of: visit) || name.map { [name = $0.name] in hasSameBytes($0, name) } == true
        || visit.missed.attributes.contains(Array($0.name.utf8))
    }
  }

  /// Its relationships: those of the identity, and what is missed and leads further by keys.
  func referenceRelationships(of visit: Visit) -> [RelationshipMap] {
    map.lineage(of: visit.map).reversed().flatMap(\.relationships).filter {
      isKey($0.name, of: visit)
        || ($0.key != nil && visit.missed.relationships[Array($0.name.utf8)] != nil)
    }
  }

  /// Takes note of the relationships of objects inside of others that are not written there, and missed.
  ///
  /// It is a notice and no loss: whether any object has targets there, only the objects know.
  mutating func noteMissedLinks(of visit: Visit) {
    for missed in missedLinks(of: visit) { note(missed.loss) }
  }

  /// What records inside of others do not say of the links of their objects, though an import misses it: of a reference
  /// all that has no end, and of any a list that leads back to the object around, and to others.
  func missedLinks(of visit: Visit) -> [ExportLevel.MissedLink] {
    guard visit.depth > 0, !isLocal else { return [] }
    let harms = visit.isReference ? harms(of: visit) : [:]
    let fates = missed(of: visit.map, visit.layout).relationships
    return map.lineage(of: visit.map).reversed().flatMap(\.relationships).compactMap {
      relationship in
      let name = Array(relationship.name.utf8)
      let isWayBack =
        visit.inverse.map { hasSameBytes($0, relationship.name) } == true
        && relationship.kind == .toMany && relationship.key == nil
        && map.readsFeed(relationship, of: visit.map)
      guard let fate = isWayBack ? fates[name] : harms[name],
        fate != .madeWithout || visit.isReference,
        let slot = visit.layout.linkSlot(named: relationship.name)
      else { return nil }
      return ExportLevel.MissedLink(
        layout: visit.layout.relationships[slot],
        loss:
          "\(visit.map.name).\(relationship.name) is not written inside of others, and an import \(fate.rawValue)",
        isWayBack: isWayBack,
        fate: fate
      )
    }
  }

  /// The relationships of a reference that are missed and have no end, with what an import does to them.
  func harms(of visit: Visit) -> [[UInt8]: Fate] {
    var harms: [[UInt8]: Fate] = [:]
    for relationship in map.lineage(of: visit.map).flatMap(\.relationships) {
      guard relationship.key == nil, !isKey(relationship.name, of: visit),
        let fate = visit.missed.relationships[Array(relationship.name.utf8)],
        form(of: relationship, visit) != nil
      else { continue }
      harms[Array(relationship.name.utf8)] = fate
    }
    return harms
  }

  /// What a record of the identity alone changes.
  ///
  /// Where it changes anything, an object that needs more than its key is not known by the key alone: what it needs is
  /// written, too.
  func missed(of entity: EntityMap, _ layout: EntityLayout) -> Missed {
    var missed = Missed()
    if isLocal { return missed }
    let lineage = map.lineage(of: entity)
    for (depth, owner) in lineage.enumerated() {
      func fate(_ policies: ValuePolicies) -> Fate? {
        if entity.overwriteExisting == false { return .madeWithout }
        return self.fate(of: policies, in: lineage[...depth])
      }
      for attribute in owner.attributes
      where fate(attribute.policies) != nil || isReadFromKey(attribute, lineage, layout) {
        missed.attributes.insert(Array(attribute.name.utf8))
      }
      for relationship in owner.relationships {
        missed.relationships[Array(relationship.name.utf8)] = fate(relationship.policies)
      }
    }
    if missed.attributes.isEmpty, missed.relationships.isEmpty { return missed }
    for attribute in layout.attributes
    where attribute.isRequired && attribute.defaultValue == nil {
      missed.attributes.insert(Array(attribute.name.utf8))
    }
    return missed
  }

  /// What an import does with what records lack, by the policies of it; nil: nothing.
  func fate(of policies: ValuePolicies, in lineage: ArraySlice<EntityMap>) -> Fate? {
    switch map.policies(policies, of: lineage).onMissing {
    case .keep: nil
    case .clear, .default: .takenAway
    case .reject: .rejected
    }
  }

  /// Whether something that is not in the key is read where the key stands: another one of its paths leads there, or it
  /// is what the key is a part of.
  private func isReadFromKey(
    _ attribute: AttributeMap,
    _ lineage: [EntityMap],
    _ layout: EntityLayout
  ) -> Bool {
    let key = (layout.uniqueKeys.first ?? []).map(\.name)
    func isInKey(_ name: String) -> Bool { key.contains { hasSameBytes($0, name) } }
    if isInKey(attribute.name) || attribute.compute != nil { return false }
    let places = lineage.flatMap(\.attributes).filter { isInKey($0.name) }
      .compactMap { readingPaths($0.from, $0.name, of: lineage[0]).first { $0.root == .record } }
    return readingPaths(attribute.from, attribute.name, of: lineage[0]).contains { path in
      path.root == .record && places.contains { path.meets($0.steps) }
    }
  }
}

/// Entities that stand inside of themselves: the replies to a comment, the parts of a part.
///
/// Their targets are written as those around them are, as deep as there are any: their place in the tree has the
/// members of the place around it, and their rows are rows of its level.
extension ExportPlanner {
  /// Whether targets whose entity stands around them are written whole: nobody else says what they are, or an import
  /// would take away from live objects what their keys do not say.
  func nestsOn(_ relationship: RelationshipMap, of visit: Visit) -> Bool {
    guard !isApart, map.entity(named: relationship.entity) != nil,
      let targetLayout = layout.entity(named: relationship.entity),
      // By local names both sides are written; only what a feed nests is nested there, too.
      !isLocal || map.readsFeed(relationship, of: visit.map),
      let place = nestedPlace(of: relationship, visit), !place.isRecord
    else { return false }
    if targetLayout.root != recordRoot, !hasRecords(relationship.entity) { return true }
    return keysLoseLinks(of: relationship, visit)
  }

  /// Whether an import of the keys of live targets would take away links of theirs.
  func keysLoseLinks(of relationship: RelationshipMap, _ visit: Visit) -> Bool {
    guard isLive, let target = map.entity(named: relationship.entity),
      let targetLayout = layout.entity(named: relationship.entity)
    else { return false }
    let link = visit.layout.linkSlot(named: relationship.name).map {
      visit.layout.relationships[$0].relationship
    }
    let keys = Visit(
      map: target,
      layout: targetLayout,
      base: visit.base,
      isReference: true,
      missed: missed(of: target, targetLayout),
      around: visit.around + [visit.map],
      inverse: link?.inverse ?? relationship.inverse
    )
    return harms(of: keys).values.contains { $0 != .madeWithout }
  }

  /// The place around this one whose records are like those of the targets; nil where there is none.
  func model(of targets: Visit) -> Int? {
    guard !targets.isReference, targets.context < 0 else { return nil }
    return open.lastIndex { other in
      !other.isReference && other.context < 0 && hasSameBytes(other.map.name, targets.map.name)
        && other.isNamed == targets.isNamed && other.isListed == targets.isListed
        && other.inverse == targets.inverse
    }
  }

  /// Lets targets be written as those around them are.
  ///
  /// - Parameters:
  ///   - targets: The targets, at their place.
  ///   - model: Those around them: an index into `open`.
  ///   - number: The relationship among all of the export.
  ///   - name: What it is called in messages.
  ///   - level: The level of the record that has it, whose last link it is.
  /// - Throws: `.map` where the records would have too many places.
  mutating func nest(
    _ targets: Visit,
    as model: Int,
    at number: Int,
    name: String,
    in level: inout ExportLevel
  ) throws(ExportError) {
    tree.nest(targets.base, as: open[model].base)
    let position = level.links.count - 1
    level.links[position].up = open.count - 1 - model
    var keys = targets
    keys.isReference = true
    keys.missed = missed(of: targets.map, targets.layout)
    var cut = ExportLink.Cut(name: name, missed: harms(of: keys))
    if targets.layout.uniqueKeys.first?.isEmpty == false {
      keys.base = tree.addReference(to: targets.base)
      var link = level.links[position]
      link.up = nil
      link.isReference = true
      link.level = try nested(keys, name: name)
      // What else the key does not say is told of the object that is cut.
      link.level.missed.removeAll { !$0.isWayBack }
      cut.reference = level.links.count
      level.links.append(link)
    }
    links[number].cut = cut
  }
}
