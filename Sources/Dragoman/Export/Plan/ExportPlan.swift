import CSimdJSON
import DragomanGraph

/// A map and a request, compiled: what is left to do for a record is to walk the tree once.
///
/// Large because it is a map compiled backwards: each property is a table that the encoders index.
struct ExportPlan: Sendable {
  /// One attribute that is written.
  struct Slot: Sendable {
    /// The entity's name.
    let entity: String
    let attribute: Attribute
    let speller: ValueSpeller
    /// The place of its value in a row.
    let column: Int
    /// Where the row has the value of a part of a key; nil: in the column.
    var keyPlace: ExportLevel.KeyPlace?
    /// How the keys of several targets in one text are told apart; nil where each has a place of its own.
    var split: LinkPlan.KeyPart.Split?
    /// How null comes back.
    var nulls = NullSpelling()
    let isMasked: Bool
    /// What the map wants of its values; nil: nothing.
    var rules: ValueRules?
    /// The word that deletes the object when it is read there.
    var tombstone: [UInt8]?
    /// What is written whatever the row holds: the word that tells the sub-entity.
    var constant: [UInt8]?
    /// The words that may stand there, as they tell the object's entity; nil: whatever the row holds.
    var words: [[UInt8]]?
    /// Whether null may stand there beside these.
    var admitsNull = true
    /// The mapper's closure in place of the spelling; nil: there is none.
    var closure: ExportClosure?
  }

  let format: ForeignFormat
  let entity: Entity
  let slots: [Slot]
  let tree: ExportTree
  /// How relationships are written.
  let links: [ExportLink]
  /// What is read of a record and of what it is linked to.
  let level: ExportLevel
  /// The columns of the identity, for messages, and whether they are masked there.
  let keyColumns: [(column: Int, isMasked: Bool)]
  let sortKeys: [SortKey]
  let writesNulls: Bool
  let isPretty: Bool
  let isLossy: Bool
  /// JSON: the members above the array of records.
  let envelope: [String]
  /// Whether the records stand under a name each: in a JSON object, or as elements of any name.
  let hasNamedRecords: Bool
  /// XML: the elements above the records and their own, from the root.
  let elements: [ExportTree.Name]
  /// XML: the declared prefixes and their URIs.
  let namespaces: [String: String]
  /// CSV: the separator.
  let separator: UInt8
  /// Whether a byte order mark tells that the text is UTF-8, where the source has another encoding.
  let isMarked: Bool
  let notices: [String]
  /// That the map puts records where its source does not read them; nil: it does not.
  let unread: String?
  /// What is not written at all, because the format has no place for it.
  let losses: [String]
  /// What stands inside of something else, which is written.
  let overlaps: [String]
  /// How records are read back; nil where everything is written, or nothing is to come back.
  let proof: ExportReadingPlan?
  /// Whether all of what is read is compared, and not only what stands inside of something else.
  let provesAll: Bool

  /// How deep values may stand in what is written, as an import reads it: in XML from the root on, else from the record.
  let maximumDepth: Int

  /// Whether rows have no more than one cell.
  let hasOneColumn: Bool

  /// What the records are made for.
  enum Purpose {
    /// A document.
    case document
    /// Values in memory, one by one.
    case records
    /// Live objects, each by the mapper of its own entity.
    case objects
  }

  /// Live objects are written on the stack of whoever asks.
  private static let maximumLiveDepth = 200

  /// Compiles a request.
  ///
  /// - Parameters:
  ///   - request: What to export.
  ///   - map: How.
  ///   - format: The format that the request or the output's name asks for.
  ///   - layout: The model of the store.
  ///   - purpose: What the records are made for.
  ///   - code: What belongs to the map and does not stand in it.
  ///   - fallback: CSV: what divides cells where the source does not say.
  /// - Throws: `ExportError`.
  init(
    _ request: ExportRequest,
    _ map: ImportMap,
    format: ForeignFormat,
    layout: ModelLayout,
    for purpose: Purpose = .document,
    code: ImportCode = ImportCode(),
    separator fallback: UInt8 = UInt8(ascii: ",")
  ) throws(ExportError) {
    var map = request.masksSensitive ? map.markingSensitive() : map
    // JSON is what nobody asked for, too.
    let asked = request.format ?? (format == .json ? nil : format)
    var entityMap = try Self.entity(request.entity, of: map, asked)
    let entityLayout = try Self.layout(of: entityMap, in: layout)
    guard request.offset >= 0, request.limit ?? 0 >= 0 else {
      throw ExportError(.request, "The limit and the offset of an export cannot be negative.")
    }
    map.addKeyLinks(of: entityMap, entityLayout, in: layout)
    entityMap = map.entity(named: entityMap.name) ?? entityMap
    var choices: [String] = []
    if let columns = request.columns {
      choices = try map.choose(columns, of: entityMap, entityLayout, in: layout)
      entityMap = map.entity(named: entityMap.name) ?? entityMap
    }
    let entity = entityLayout.entity
    self.format = format
    self.entity = entity
    writesNulls = format == .csv || (request.style.nulls ?? map.exportOptions.style.nulls) == .write
    isPretty =
      format != .ndjson
      && (request.style.isPretty ?? (format == .json && map.exportOptions.style.isPretty == true))
    isLossy = request.isLossy
    maximumDepth =
      switch purpose {
      case .objects: Self.maximumLiveDepth
      case .document, .records: format == .xml ? XMLTapeBuilder.maxDepth : Int(JSON_MAX_DEPTH)
      }
    namespaces = map.exportNamespaces
    let isLocal = (request.style.names ?? map.exportOptions.style.names) == .local
    // With local names nothing is a dictionary; elements need a name in any case.
    let family = try ExportFamily(
      ofRecords: entityMap,
      entityLayout,
      in: map,
      layout,
      format,
      hasNames: purpose == .document && !isLocal
    )
    let place = family.place
    let source = place?.source
    separator = source?.separator?.utf8.first ?? fallback
    isMarked =
      format != .xml
      && source?.encoding.map { !["utf-8", "utf8"].contains($0.lowercased()) } ?? false
    envelope = place?.envelope ?? []
    elements = place?.elements ?? []
    hasNamedRecords = place?.isNamed ?? false
    var planner = ExportPlanner(
      map: map,
      layout: layout,
      format: format,
      request: request,
      recordRoot: entityLayout.root,
      writesFamilies: purpose != .objects,
      place: family.members[0].place ?? place
    )
    planner.code = code
    planner.isLive = purpose == .objects
    var level = try planner.add(
      family,
      ExportPlanner.Visit(
        map: entityMap,
        layout: entityLayout,
        base: 0,
        inclusions: map.exportOptions.include
      )
    )
    if !isLocal {
      for member in family.members where member.place?.isNamed == true && member.obstacle == nil {
        try Self.checkNames(of: member.map, member.layout, &planner)
      }
    }
    for choice in choices { planner.note(choice) }
    if request.columns == nil { planner.loseEvolved(of: entityMap, entityLayout) }
    try planner.settleReadings()
    guard !planner.slots.isEmpty else {
      throw ExportError(
        .map,
        "No attribute of \(entity.name) has a place in \(format.rawValue).",
        help: planner.notices.first
      )
    }
    slots = planner.slots
    links = planner.links
    tree = planner.tree.build(isTable: format == .csv)
    hasOneColumn = format == .csv && tree.nodes[0].end - tree.nodes[0].start == 1
    if isLocal {
      planner.note("the names are those of the attributes: this map need not read them")
    } else {
      planner.noteReading(of: entityLayout, hasSource: source != nil || map.isItsOwnSource)
    }
    unread =
      isLocal
      ? nil
      : place?.unread.map { place in
        "the records stand at \(place), where the map has no \(format.rawValue.uppercased()) source of \(entity.name)"
      }
    if let unread { planner.note("\(unread): what is exported cannot be imported by it") }
    if slots.contains(where: \.isMasked) {
      planner.note("sensitive values are masked: what is exported cannot be imported")
    }
    notices = planner.notices
    losses = planner.losses
    overlaps = planner.overlaps
    // By local names nothing stands inside of anything else.
    let isRead = (!planner.overlaps.isEmpty || planner.readings.areAmbiguous) && !isLocal
    provesAll = planner.readings.areAmbiguous
    proof =
      isRead
      ? try ExportReadingPlan(
        map,
        family,
        format: format,
        isNamed: hasNamedRecords,
        model: layout.model,
        code: code,
        masks: request.masksSensitive
      ) : nil
    keyColumns = planner.keyColumns(of: entityLayout, entityMap, &level)
    self.level = level
    sortKeys = try Self.sortKeys(request, map, entityLayout, in: layout)
  }

  private static func layout(
    of map: EntityMap,
    in model: ModelLayout
  ) throws(ExportError) -> EntityLayout {
    if let layout = model.entity(named: map.name) { return layout }
    throw ExportError(
      .request,
      "The database has no entity \(map.name).",
      help: nearest(to: map.name, in: model.entities.map(\.name)).map { "did you mean \($0)?" }
        ?? "import something by this map first"
    )
  }

  /// What names the records is exported, and unique.
  private static func checkNames(
    of entity: EntityMap,
    _ layout: EntityLayout,
    _ planner: inout ExportPlanner
  ) throws(ExportError) {
    switch planner.naming(of: entity) {
    case .stored:
      if planner.format == .json, let name = planner.nameAttribute(of: entity),
        !layout.uniqueKeys.contains(where: {
          $0.count == 1 && $0[0].name.utf8.elementsEqual(name.utf8)
        })
      {
        planner.note("\(entity.name).\(name) is not unique: several records may have one name")
      }
    case .madeUp:
      planner.note("\(entity.name): the database does not have the names of the records")
    case .impossible:
      throw ExportError(
        .map,
        "The records of \(entity.name) cannot be named: the attribute that is their name is not"
          + " exported.",
        help: planner.format == .xml
          ? "say another place under `export: { xml: { at: /people/person } }`"
          : "say another place under `export: { json: { at: /data/people } }`"
      )
    }
  }

  /// The entity that is asked for; else the map's choice, the one whose records its sources bring (those of
  /// the format that is asked for, then all), or its only one.
  private static func entity(
    _ name: String?,
    of map: ImportMap,
    _ format: ForeignFormat?
  ) throws(ExportError) -> EntityMap {
    if let name = name ?? map.exportOptions.entity ?? onlySource(of: map, format) {
      if let entity = map.entity(named: name) { return entity }
      throw ExportError(
        .request,
        "The map has no entity \(name).",
        help: nearest(to: name, in: map.entities.map(\.name)).map { "did you mean \($0)?" }
          ?? "it has \(map.entities.map(\.name).joined(separator: ", "))"
      )
    }
    guard map.entities.count == 1 else {
      throw ExportError(
        .request,
        "The map has several entities; which one is to be exported?",
        help: "name one of \(map.entities.map(\.name).joined(separator: ", ")), with `entity` or"
          + " in the map with `export: { entity: … }`"
      )
    }
    return map.entities[0]
  }

  private static func onlySource(of map: ImportMap, _ format: ForeignFormat?) -> String? {
    let names = map.exportedEntities(format)
    return names.count == 1 ? names[0] : nil
  }

  /// By the unique key, so that the same contents give the same bytes however they were inserted.
  private static func sortKeys(
    _ request: ExportRequest,
    _ map: ImportMap,
    _ entity: EntityLayout,
    in layout: ModelLayout
  ) throws(ExportError) -> [SortKey] {
    if let keys = request.sortKeys { return keys }
    if let texts = map.exportOptions.sort {
      do throws(StoreError) {
        var keys: [SortKey] = []
        for text in texts { keys += try SortKey.parse(text) }
        return keys
      } catch {
        throw ExportError(.request, error.message, help: error.help)
      }
    }
    return entity.keyPaths(in: layout).map { SortKey($0) }
  }
}

extension ExportPlanner {
  /// Takes note of what has become an attribute by the contract of the map, which does not have it.
  mutating func loseEvolved(of map: EntityMap, _ entity: EntityLayout) {
    guard self.map.contract(of: map)?.newKeys == .evolve else { return }
    let known = self.map.family(of: map).flatMap(\.attributes).map(\.name)
    for attribute in entity.attributes
    where !known.contains(where: { hasSameBytes($0, attribute.name) }) {
      lose(
        attribute.name,
        of: Visit(map: map, layout: entity, base: 0),
        "it has come by the contract, and stands in no file: take it into the map"
      )
    }
  }

  /// Takes note of why an import of the export does not give what there is.
  fileprivate mutating func noteReading(of entity: EntityLayout, hasSource: Bool) {
    if !hasSource {
      note(
        "the map has no \(format.rawValue.uppercased()) source of \(entity.name): what is exported cannot be imported by it"
      )
    } else if entity.uniqueKeys.isEmpty {
      note("\(entity.name) has no unique key: an import of the export makes its objects once more")
    }
  }

  /// The columns of the identity, and whether they are masked in messages.
  fileprivate func keyColumns(
    of entity: EntityLayout,
    _ map: EntityMap,
    _ level: inout ExportLevel
  ) -> [(column: Int, isMasked: Bool)] {
    let marked = self.map.markingSensitive()
    var columns: [(column: Int, isMasked: Bool)] = []
    for part in entity.uniqueKeys.first ?? [] {
      guard let stored = stored(part.name, in: entity) else { continue }
      let isMasked = stored.isSensitive || marked.isSensitive(part.name, of: map.name)
      columns.append((level.column(of: stored), isMasked))
    }
    return columns
  }
}

extension ImportMap {
  /// The first source that records of an entity come from in a format; a line of NDJSON has the paths
  /// of a JSON record.
  func exportSource(of entity: String, format: ForeignFormat) -> SourceMap? {
    let own = sources.filter { $0.entity.utf8.elementsEqual(entity.utf8) }
    return own.first { $0.format == format }
      ?? own.first { format == .ndjson && $0.format == .json }
  }

  /// Whether it is a map of one entity without sources: records of any format but XML are read by it.
  var isItsOwnSource: Bool { sources.isEmpty && entities.count == 1 }

  /// The prefixes of all XML sources.
  var exportNamespaces: [String: String] {
    Self.namespaces(of: sources.filter { $0.format == .xml })
  }
}
