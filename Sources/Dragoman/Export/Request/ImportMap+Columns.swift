import DragomanGraph

/// The columns of an export, as a map that writes nothing else of an entity.
extension ImportMap {
  /// Leaves out what is not among the columns of an entity, except for its unique key.
  ///
  /// - Parameters:
  ///   - columns: The names of attributes and relationships of the entity, of its ancestors and of its
  ///     sub-entities.
  ///   - entity: The entity.
  ///   - layout: Its layout.
  ///   - model: The model of the store.
  /// - Returns: What an import of the export does to what is left out, where that is anything.
  /// - Throws: `.request` for a name that there is not.
  mutating func choose(
    _ columns: [String],
    of entity: EntityMap,
    _ layout: EntityLayout,
    in model: ModelLayout
  ) throws(ExportError) -> [String] {
    var family = Set(lineage(of: entity).map { Array($0.name.utf8) })
    for index in layout.family { family.insert(Array(model.entities[index].name.utf8)) }
    let places = entities.indices.filter { family.contains(Array(entities[$0].name.utf8)) }
    let names = places.flatMap { place in
      entities[place].attributes.map(\.name) + entities[place].relationships.map(\.name)
    }
    for column in columns where !names.contains(where: { hasSameBytes($0, column) }) {
      let known = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      throw ExportError(
        .request,
        "The map has no attribute or relationship \"\(column)\" of \(entity.name).",
        help: nearest(to: column, in: known).map { "did you mean \"\($0)\"?" }
          ?? "it has \(known.prefix(20).joined(separator: ", "))\(known.count > 20 ? ", …" : "")"
      )
    }
    let kept = columns + (layout.uniqueKeys.first ?? []).map(\.name)
    let isKept = { (name: String) in kept.contains { hasSameBytes($0, name) } }
    let notes = fates(of: layout.family.compactMap { self.entity(named: model.entities[$0].name) })
    {
      !isKept($0)
    }
    for place in places {
      for index in entities[place].attributes.indices
      where !isKept(entities[place].attributes[index].name) {
        entities[place].attributes[index].isExported = false
      }
      for index in entities[place].relationships.indices
      where !isKept(entities[place].relationships[index].name) {
        entities[place].relationships[index].export = ExportOptions.Inclusion.none
      }
    }
    for name in exportOptions.include.keys where !isKept(name) { exportOptions.include[name] = nil }
    return notes
  }

  /// Adds the to-ones of a key that the map has from their other side only: alone, a record needs all of its key.
  ///
  /// - Parameters:
  ///   - entity: The entity.
  ///   - layout: Its layout.
  ///   - model: The model of the store.
  mutating func addKeyLinks(
    of entity: EntityMap,
    _ layout: EntityLayout,
    in model: ModelLayout
  ) {
    let known = lineage(of: entity).flatMap(\.relationships).map(\.name)
    guard let index = entities.firstIndex(where: { hasSameBytes($0.name, entity.name) }) else {
      return
    }
    for part in layout.uniqueKeys.first ?? []
    where !known.contains(where: { hasSameBytes($0, part.name) }) {
      guard case .relationship(let slot) = layout.property(named: part.name) else { continue }
      let target = model.entities[layout.relationships[slot].destination]
      let names = (target.uniqueKeys.first ?? []).map(\.name)
      let path = ForeignPath(own: part.name)
      // What stands there is something else: a feed that has the key does not have it by its name.
      let isTaken = lineage(of: entity).flatMap(\.attributes).contains { attribute in
        (attribute.from?.json ?? [ForeignPath(own: attribute.name)]).contains {
          $0.steps == path.steps
        }
      }
      if isTaken { continue }
      var key: [String: RelationshipMap.KeyPart] = [:]
      for name in names {
        var nested = path
        if names.count > 1 { nested.steps.append(.member(name, namespace: nil)) }
        let column = names.count > 1 ? ForeignPath(own: "\(part.name).\(name)") : path
        key[name] = .path(ForeignPaths(json: [nested], xml: [nested], csv: [column]), split: nil)
      }
      entities[index].relationships.append(
        RelationshipMap(name: part.name, entity: target.name, kind: .toOne, key: key)
      )
    }
  }

  /// What an import does with what records lack: a note each where it does anything.
  ///
  /// The policies of an entity hold for what it inherits, too: a note that a former entity has is not told again. What
  /// is not read from a place of its own in the record is not missing.
  private func fates(of family: [EntityMap], _ isLeftOut: (String) -> Bool) -> [String] {
    var told: Set<[UInt8]> = []
    var notes: [String] = []
    for entity in family where entity.overwriteExisting != false {
      let lineage = lineage(of: entity)
      let kept =
        lineage.flatMap(\.attributes).filter { !isLeftOut($0.name) }.flatMap(\.places)
        + lineage.flatMap(\.relationships).filter { !isLeftOut($0.name) }.flatMap(\.places)
      func isMissing(_ places: [ForeignPath]) -> Bool {
        !places.isEmpty
          && places.allSatisfy { place in
            place.root == .record && !place.steps.isEmpty
              && !kept.contains { place.steps.starts(with: $0.steps) }
          }
      }
      for (depth, owner) in lineage.enumerated() {
        func note(_ name: String, _ policies: ValuePolicies, clearing: String, default: String) {
          let done: String
          switch self.policies(policies, of: lineage[...depth]).onMissing {
          case .keep: return
          case .clear: done = clearing
          case .default: done = `default`
          case .reject: done = Self.rejects
          }
          guard told.insert(Array("\(owner.name).\(name) \(done)".utf8)).inserted else { return }
          notes.append(
            "\(entity.name).\(name) is not among the columns: an import of the export \(done)"
          )
        }
        for attribute in owner.attributes
        where attribute.isExported && isLeftOut(attribute.name) && isMissing(attribute.places) {
          let clears = attribute.isRequired == true ? Self.rejects : "sets it to null"
          let gives = attribute.defaultValue == nil ? clears : "gives it its default"
          note(attribute.name, attribute.policies, clearing: clears, default: gives)
        }
        for link in owner.relationships where isLeftOut(link.name) && isMissing(link.places) {
          let unlinks =
            link.onUnlink == .delete ? "deletes what it has" : "unlinks what it has"
          note(link.name, link.policies, clearing: unlinks, default: unlinks)
        }
      }
    }
    return notes
  }

  private static let rejects = "rejects its record"

  /// The entities whose records the sources bring, each once, in the order of the map.
  ///
  /// - Parameter format: The format that is asked for: where sources have it, they alone count.
  /// - Returns: The names; the only entity's where there is no source.
  func exportedEntities(_ format: ForeignFormat?) -> [String] {
    let own = sources.filter { $0.format == format }
    let names = (own.isEmpty ? sources : own).map(\.entity)
    if names.isEmpty, entities.count == 1 { return entities.map(\.name) }
    return entities.map(\.name).filter { name in names.contains { hasSameBytes($0, name) } }
  }
}

extension AttributeMap {
  /// The paths at which it is looked for, of all formats.
  fileprivate var places: [ForeignPath] {
    compute == nil ? from?.all ?? [ForeignPath(own: name)] : []
  }
}

extension RelationshipMap {
  /// The paths at which targets or their keys are looked for, of all formats; none where something of the key is
  /// always there.
  fileprivate var places: [ForeignPath] {
    guard let key else { return from?.all ?? [ForeignPath(own: name)] }
    var places: [ForeignPath] = []
    for part in key.values {
      guard case .path(let from, _) = part else { return [] }
      places += from.all
    }
    return places
  }
}
