import DragomanGraph

/// The entities whose objects may stand at one place, each of which is written as its own map says.
struct ExportFamily {
  /// One entity of the map.
  struct Member {
    let map: EntityMap
    let layout: EntityLayout
    /// What tells its records.
    let words: [EntityWord]
    /// At the top: where its records stand.
    var place: RecordPlace?
    /// Why they do not come back as what they are; nil where they do.
    var loss: String?
    /// Why they are not written at all; nil where they are.
    var obstacle: String?
  }

  /// The entity of the place itself, then those below it that the map has.
  private(set) var members: [Member] = []
  /// Which of the members writes the objects of each entity that the store has.
  private(set) var kinds: [ExportLevel.Kind] = []

  /// Finds the entities that the targets of a relationship may be of.
  ///
  /// - Parameters:
  ///   - entity: The relationship's entity.
  ///   - layout: Its layout.
  ///   - map: The map.
  ///   - model: The model of the store.
  ///   - name: What the relationship is called in messages.
  init(
    ofTargets entity: EntityMap,
    _ layout: EntityLayout,
    in map: ImportMap,
    _ model: ModelLayout,
    name: String
  ) {
    for (entity, layout) in Self.entities(entity, layout, map, model) {
      let words = map.words(from: members.first?.map ?? entity, to: entity)
      members.append(
        Member(
          map: entity,
          layout: layout,
          words: map.words(of: entity, beside: words),
          loss: words == nil
            ? "\(name): nothing tells objects of \(entity.name) in their records" : nil
        )
      )
    }
    addKinds(of: layout, map, model)
  }

  /// Finds the entities that records may be of, and where they stand.
  ///
  /// - Parameters:
  ///   - entity: The entity that is exported.
  ///   - layout: Its layout.
  ///   - map: The map.
  ///   - model: The model of the store.
  ///   - format: The format.
  ///   - hasNames: Whether a JSON object may hold the records.
  /// - Throws: `.map` where no record can be written.
  init(
    ofRecords entity: EntityMap,
    _ layout: EntityLayout,
    in map: ImportMap,
    _ model: ModelLayout,
    _ format: ForeignFormat,
    hasNames: Bool
  ) throws(ExportError) {
    var faults: [ExportError] = []
    for (entity, layout) in Self.entities(entity, layout, map, model) {
      let found = Self.source(of: entity, first: members.first?.map ?? entity, map, format)
      var member = Member(
        map: entity,
        layout: layout,
        words: map.words(of: entity, beside: found?.words)
      )
      do throws(ExportError) {
        member.place = try RecordPlace(map, found?.source, format, hasNames: hasNames)
      } catch {
        member.obstacle = error.message
        faults.append(error)
      }
      members.append(member)
    }
    // The place of a document is that of the entity itself, if a source reads it.
    let places = members.compactMap(\.place)
    guard let main = places.first(where: { $0.source != nil }) ?? places.first else {
      throw faults[0]
    }
    for index in members.indices {
      guard let place = members[index].place else { continue }
      if place.source == nil, main.source != nil {
        members[index].place = main
        members[index].loss =
          "\(entity.name): no source tells objects of \(members[index].map.name) in their records"
      } else {
        members[index].obstacle = place.obstacle(beside: main, format)
      }
    }
    addKinds(of: layout, map, model)
  }

  /// The place of the document's records.
  var place: RecordPlace? {
    let written = members.filter { $0.obstacle == nil }.compactMap(\.place)
    return written.first { $0.source != nil } ?? written.first
  }

  /// The entity, and those below it that the map has.
  private static func entities(
    _ entity: EntityMap,
    _ layout: EntityLayout,
    _ map: ImportMap,
    _ model: ModelLayout
  ) -> [(EntityMap, EntityLayout)] {
    [(entity, layout)]
      + layout.family.dropFirst().compactMap { index in
        let layout = model.entities[index]
        return map.entity(named: layout.name).map { ($0, layout) }
      }
  }

  /// The source that reads records as those of an entity: that of the entity which is exported, else
  /// its own, else one of an ancestor that tells them.
  private static func source(
    of entity: EntityMap,
    first: EntityMap,
    _ map: ImportMap,
    _ format: ForeignFormat
  ) -> (source: SourceMap, words: [EntityWord])? {
    for candidate in [first] + map.lineage(of: entity) {
      if let source = map.exportSource(of: candidate.name, format: format),
        let words = map.words(from: candidate, to: entity)
      {
        return (source, words)
      }
    }
    return nil
  }

  /// Objects of an entity that the map does not have are written as those of its nearest ancestor.
  private mutating func addKinds(
    of layout: EntityLayout,
    _ map: ImportMap,
    _ model: ModelLayout
  ) {
    guard layout.family.count > 1 else { return }
    kinds = layout.family.map { index in
      let entity = model.entities[index]
      let nearest = entity.lineage.compactMap { index in
        members.firstIndex { $0.layout.index == index }
      }.first
      let tree = nearest ?? 0
      let member = members[tree]
      let isOwn = member.layout.index == index
      return ExportLevel.Kind(
        name: Array(entity.name.utf8),
        tree: tree,
        loss: isOwn
          ? member.loss
          : "objects of \(entity.name), which the map does not have, are written as \(member.map.name)",
        obstacle: member.obstacle
      )
    }
  }
}
