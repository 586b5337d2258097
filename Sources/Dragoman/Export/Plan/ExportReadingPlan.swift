import DragomanGraph

/// How documents of an export are read.
struct ExportReadingPlan: Sendable {
  let reading: ImportPlan
  let mapFile: String?
  /// Which source reads the records of each tree: indexes of `reading.sources`.
  let sources: [Int]
  /// The attributes that cannot be compared: masked ones, and those that closures read.
  private let ignored: [(entity: String, attribute: String)]

  /// Compiles the map for records that stand where an export writes them; nil where they have no key that
  /// can be read: it is masked, or a closure reads it.
  ///
  /// - Parameters:
  ///   - map: The map.
  ///   - family: The entities that records may be of.
  ///   - format: The format.
  ///   - isNamed: Whether records stand under a name each.
  ///   - model: The model of the store.
  ///   - code: What belongs to the map and does not stand in it.
  ///   - masks: Whether sensitive values are masked.
  /// - Throws: `ExportError` where the map cannot be read in the format.
  init?(
    _ map: ImportMap,
    _ family: ExportFamily,
    format: ForeignFormat,
    isNamed: Bool,
    model: Model,
    code: ImportCode,
    masks: Bool
  ) throws(ExportError) {
    var map = map
    var ignored: [(entity: String, attribute: String)] = []
    for index in map.entities.indices {
      let entity = map.entities[index]
      let parts = code.entity(entity.name).parts.map(\.name)
      let isDropped = { (attribute: AttributeMap) in
        masks && attribute.isSensitive || parts.contains { hasSameBytes($0, attribute.name) }
      }
      let dropped = entity.attributes.filter(isDropped).map(\.name)
      let keys = entity.uniqueKeys.joined()
      if dropped.contains(where: { name in keys.contains { hasSameBytes($0, name) } }) {
        return nil
      }
      ignored += dropped.map { (entity.name, $0) }
      map.entities[index].attributes.removeAll(where: isDropped)
      if format == .csv, family.place?.source == nil, !map.isItsOwnSource {
        map.entities[index].readColumnsLikeJSON()
      }
    }
    var sources: [SourceMap] = []
    var places: [Int] = []
    for member in family.members {
      let source = member.place?.source
      var records = member.place?.path
      if !isNamed, records?.steps.last == .anyMember, format != .xml { records?.steps.removeLast() }
      let entity = source?.entity ?? family.members[0].map.name
      let known = sources.firstIndex {
        hasSameBytes($0.entity, entity) && $0.records?.steps == records?.steps
      }
      places.append(known ?? sources.count)
      guard known == nil else { continue }
      sources.append(
        SourceMap(
          name: "export \(sources.count)",
          format: format,
          entity: entity,
          records: records,
          namespaces: source?.namespaces ?? [:],
          separator: source?.separator
        )
      )
    }
    map.sources = sources
    var flags = ImportCode()
    for (name, entity) in code.entities {
      flags.entities[name] = EntityCode(isBestEffort: entity.isBestEffort)
    }
    do {
      reading = try ImportPlan(map, format: format, names: [], model: model, code: flags)
    } catch {
      guard ignored.isEmpty else { return nil }
      throw ExportError(.map, "The map cannot read back what it writes: \(error)")
    }
    mapFile = map.file
    self.sources = places
    self.ignored = ignored
  }

  /// Whether a value is not compared.
  func ignores(_ attribute: String, of entity: EntityLayout, in model: ModelLayout) -> Bool {
    ignored.contains { ignored in
      hasSameBytes(ignored.attribute, attribute)
        && entity.lineage.contains { hasSameBytes(model.entities[$0].name, ignored.entity) }
    }
  }
}

extension EntityMap {
  /// Names the columns of a map that reads no CSV as its export does.
  fileprivate mutating func readColumnsLikeJSON() {
    for index in attributes.indices {
      guard let from = attributes[index].from, from.csv.isEmpty, let first = from.json.first else {
        continue
      }
      let column = ForeignPath(
        root: .record,
        steps: [.member(first.text, namespace: nil)],
        text: first.text
      )
      attributes[index].from?.csv = [column]
    }
  }
}
