import DragomanGraph

/// What reading finds at other places than those that are written: further paths of a value, names with
/// dots, the word that deletes an object.
///
/// A place that nothing is written at is missing when it is read. Where something else is written there,
/// inside of it or around it, the two are told apart record by record: by reading back (`ExportProof`).
extension ExportPlanner {
  /// Something that is written in the records of one place of the tree.
  struct WrittenPlace {
    let base: Int
    /// The attribute or relationship.
    let name: String
    let steps: [ForeignPath.Step]
  }

  /// Something that is read there.
  struct Reading {
    let base: Int
    let name: String
    let paths: [ForeignPath]
    /// How many records it stands in.
    let depth: Int
    /// The slot of an attribute that is written.
    var slot: Int?
  }

  /// What all records are written and read by.
  struct Readings {
    var written: [WrittenPlace] = []
    var values: [Reading] = []
    /// Which records delete their object.
    var tombstones: [(visit: Visit, rule: EntityPlan.Tombstone)] = []
    /// Whether reading may take something for something else.
    var areAmbiguous = false
  }

  /// Takes note of what records of an entity are read by, and of what its relationships claim.
  mutating func noteReadings(of visit: Visit, _ plan: EntityPlan, beside claims: [Claim]) {
    guard !isLocal else { return }
    let relationships = relationships(of: visit).map(\.name)
    for claim in claims where relationships.contains(where: { hasSameBytes($0, claim.name) }) {
      readings.written.append(
        WrittenPlace(base: visit.base, name: claim.name, steps: claim.steps)
      )
    }
    for link in plan.links where relationships.contains(where: { hasSameBytes($0, link.name) }) {
      for finding in link.findings {
        let paths = finding.paths.map(\.path)
        readings.values.append(
          Reading(base: visit.base, name: link.name, paths: paths, depth: visit.depth)
        )
      }
    }
    if let rule = plan.tombstone, visit.depth == 0 {
      readings.tombstones.append((visit, rule))
    }
  }

  /// Takes note of where an attribute is written, and by what it is read.
  mutating func noteReading(
    of attribute: AttributeMap,
    at path: [ForeignPath.Step],
    _ visit: Visit,
    _ slot: EntityPlan.Slot?
  ) {
    guard !isLocal else { return }
    readings.written.append(
      WrittenPlace(base: visit.base, name: attribute.name, steps: path)
    )
    guard let slot else { return }
    readings.values.append(
      Reading(
        base: visit.base,
        name: attribute.name,
        paths: slot.paths.map(\.path),
        depth: visit.depth,
        slot: slots.count
      )
    )
  }

  /// Finds out what reading may take for something else, when all has its place.
  mutating func settleReadings() throws(ExportError) {
    let written = Dictionary(grouping: readings.written, by: \.base)
    for reading in readings.values {
      let places = written[reading.base] ?? []
      // The path by which it is read where it is written.
      let own = reading.paths.firstIndex { path in
        path.root == .record
          && places.contains {
            hasSameBytes($0.name, reading.name) && path.steps.starts(with: $0.steps)
          }
      }
      for (number, path) in reading.paths.enumerated() where number != own {
        let isLater = own.map { number > $0 } ?? false
        // Where there is nothing at its own place, nothing of it stands elsewhere.
        let others = isLater ? places.filter { !hasSameBytes($0.name, reading.name) } : places
        guard finds(path, in: others, depth: reading.depth) else { continue }
        if isLater, let slot = reading.slot {
          // It is read there only where there is nothing at its own place: not even null.
          slots[slot].nulls.stand()
        } else {
          readings.areAmbiguous = true
        }
      }
    }
    for (visit, rule) in readings.tombstones {
      try settle(rule, of: visit, beside: written[visit.base] ?? [])
    }
  }

  // MARK: - What is not written

  /// Looks after what records of an entity say nothing of: what is read of it from what else is written is read back, and
  /// what is missed is told.
  mutating func settleUnwritten(
    of visit: Visit,
    in level: inout ExportLevel
  ) throws(ExportError) {
    let places = readings.written.filter { $0.base == visit.base }
    let attributes = placedAttributes(of: visit).map(\.name)
    let relationships = relationships(of: visit).filter { form(of: $0, visit) != nil }.map(\.name)
    let lineage = map.lineage(of: visit.map)
    for (depth, owner) in lineage.enumerated().reversed() {
      let generations = lineage[...depth]
      for attribute in owner.attributes
      where attribute.compute == nil
        && !attributes.contains(where: { hasSameBytes($0, attribute.name) })
      {
        guard let stored = stored(attribute.name, in: visit.layout) else { continue }
        if isRead(readingPaths(attribute.from, attribute.name, of: visit.map), in: places) {
          try shadow(stored, attribute, of: visit, column: level.shadow(stored))
        } else if !attribute.isExported {
          noteMissed(attribute.name, of: visit, attribute.policies, generations)
        }
      }
      for relationship in owner.relationships
      where !relationships.contains(where: { hasSameBytes($0, relationship.name) }) {
        let isBack = visit.inverse.map { hasSameBytes($0, relationship.name) } ?? false
        guard !isBack, map.readsFeed(relationship, of: visit.map) else { continue }
        if isRead(readingPaths(relationship, of: visit.map), in: places) {
          var shown = relationship
          shown.export = nil
          try shadow(shown, of: visit, hasPath: true, in: &level)
        } else if relationship.export == ImportMap.ExportOptions.Inclusion.none {
          noteMissed(relationship.name, of: visit, relationship.policies, generations)
        }
      }
    }
  }

  /// Takes note of what an import of the export does with something that the map does not export.
  private mutating func noteMissed(
    _ name: String,
    of visit: Visit,
    _ policies: ValuePolicies,
    _ lineage: ArraySlice<EntityMap>
  ) {
    // Of the columns of records that is told by what they are not.
    guard request.columns == nil || visit.depth > 0, visit.map.overwriteExisting != false,
      let fate = fate(of: policies, in: lineage)
    else { return }
    note("\(visit.map.name).\(name) is not exported, and an import \(fate.rawValue)")
  }

  private func isRead(_ paths: [ForeignPath], in places: [WrittenPlace]) -> Bool {
    paths.contains { path in path.root == .record && places.contains { path.meets($0.steps) } }
  }

  /// The paths at which something is looked for in the format.
  func readingPaths(
    _ from: ForeignPaths?,
    _ name: String,
    of entity: EntityMap
  ) -> [ForeignPath] {
    from.map(paths) ?? [ownPath(name, of: entity)]
  }

  /// The same of targets, or of their keys.
  private func readingPaths(
    _ relationship: RelationshipMap,
    of entity: EntityMap
  ) -> [ForeignPath] {
    guard let key = relationship.key else {
      return format == .csv ? [] : readingPaths(relationship.from, relationship.name, of: entity)
    }
    return key.values.flatMap { part -> [ForeignPath] in
      if case .path(let from, _) = part { paths(from) } else { [] }
    }
  }

  private mutating func settle(
    _ rule: EntityPlan.Tombstone,
    of visit: Visit,
    beside places: [WrittenPlace]
  ) throws(ExportError) {
    let paths = rule.criterion.paths.map(\.path).filter { path in
      path.root == .key ? visit.isNamed : finds(path, in: places, depth: visit.depth)
    }
    guard let path = paths.first else { return }
    if paths.count == 1, path.root == .record,
      let slot = tree.slot(at: path.steps, from: visit.base, of: visit.context)
    {
      slots[slot].tombstone = rule.equals
      return
    }
    readings.areAmbiguous = true
    let speller = try speller(of: AttributeMap(name: "deleteWhen"))
    appendSlot(Attribute(name: "deleteWhen"), of: visit.map.name, speller, column: 0)
  }

  /// Whether a path leads to something that is written.
  private func finds(_ path: ForeignPath, in places: [WrittenPlace], depth: Int) -> Bool {
    switch path.root {
    case .record: places.contains { path.meets($0.steps) }
    // Names are written as names; nothing stands in front of the records of an export.
    case .key, .document: false
    case .parent: depth > 0
    case .index, .line, .file, .fileName, .fileStem: true
    }
  }
}

extension ForeignPath {
  /// Whether what stands at a place, or around it, or inside of it, is on the path's way.
  func meets(_ place: [Step]) -> Bool {
    let own = steps.filter { if case .having = $0 { false } else { $0 != .text } }
    let other = place.filter { $0 != .text }
    // Only the record as a whole has what is written as such.
    if own.isEmpty || other.isEmpty { return own.isEmpty && other.isEmpty }
    return zip(own, other).allSatisfy { step, other in
      if isPointer, case .index(let index) = step, case .member(let name, _) = other {
        return name == String(index)
      }
      return step.canLead(where: other)
    }
  }
}
