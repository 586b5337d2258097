import DragomanGraph

/// Gives each attribute and each relationship its place in the records of an export.
///
/// What has none is told in `notices`: nothing is left out silently but what the map says
/// (`export: false`, `none`).
///
/// Large because a map is read backwards in one go: each part of it claims places in the same tree.
struct ExportPlanner {
  let map: ImportMap
  let layout: ModelLayout
  let format: ForeignFormat
  let request: ExportRequest
  let spellings: NameSpellings
  var tree: ExportTree.Builder
  var slots: [ExportPlan.Slot] = []
  private(set) var notices: [String] = []
  /// What the format has no place for.
  private(set) var losses: [String] = []
  /// What stands inside of something else, which is written.
  var overlaps: [String] = []
  /// The relationships of all levels.
  var links: [ExportLink] = []
  /// What is written and read at each place for records.
  var readings = Readings()

  /// The places for targets that are being filled, the outermost first: each has a level of its own.
  var open: [Visit] = []
  /// Whether the places are those of something that is not written: what stands inside of itself ends there.
  var isApart = false
  /// What belongs to the map and does not stand in it.
  var code = ImportCode()
  /// Whether the records are of live objects, each of which can be asked what is linked to it.
  var isLive = false
  /// The first ancestor of the entity whose objects are the records, by its place in the model.
  let recordRoot: Int

  /// Whether objects of sub-entities are written as what they are.
  let writesFamilies: Bool
  /// How often an entity was given a place, those included that were not kept.
  var visitCount = 0
  /// Whether records come as CSV, too; else their columns are named as in JSON, for other programs.
  let readsCSV: Bool

  /// How many places for entities the records of a document may have, and how deep.
  ///
  /// Entities that hold each other two by two have twice the places at every step inwards.
  private static let visitLimit = 4_000
  private static let depthLimit = 64

  var isLocal: Bool { (request.style.names ?? map.exportOptions.style.names) == .local }
  var isFlat: Bool { (request.style.shape ?? map.exportOptions.style.shape) == .flat }

  /// One entity at one place of a record.
  struct Visit {
    var map: EntityMap
    var layout: EntityLayout
    /// The place of its record in the tree.
    var base: Int
    /// The to-one by which its members stand among those of the record that is linked (`from: "."`):
    /// their context in the tree; -1: none.
    var context = -1
    /// What tells its records from those of other entities.
    var words: [EntityWord] = []
    /// Whether its records stand under a name each, which an attribute may hold (`$key`).
    var isNamed = false
    /// Whether only the identity is written, and what is missed.
    var isReference = false
    /// What an import must not miss of a reference.
    var missed = Missed()
    /// The entities that it stands in, the outermost first: those of the records, and those whose
    /// families these are of.
    var around: [EntityMap] = []
    /// How many records it stands in.
    var depth = 0
    /// Whether its records are those of a list.
    var isListed = false
    /// The relationship that leads back to the entity around it.
    var inverse: String?
    /// Relationships that are included otherwise than their own map says.
    var inclusions: [String: ImportMap.ExportOptions.Inclusion] = [:]
  }

  init(
    map: ImportMap,
    layout: ModelLayout,
    format: ForeignFormat,
    request: ExportRequest,
    recordRoot: Int,
    writesFamilies: Bool,
    place: RecordPlace?
  ) {
    self.map = map
    self.layout = layout
    self.format = format
    self.request = request
    self.recordRoot = recordRoot
    spellings = NameSpellings(map, format: format)
    self.writesFamilies = writesFamilies
    readsCSV = place?.source != nil || map.isItsOwnSource
    tree = ExportTree.Builder(
      record: place?.elements.last ?? ExportTree.Name(local: ""),
      isNamed: place?.isNamed ?? false,
      isXML: format == .xml
    )
  }

  mutating func note(_ notice: String) {
    if !notices.contains(notice) { notices.append(notice) }
  }

  /// Takes note of what is not written, and so does not come back.
  mutating func lose(_ name: String, of visit: Visit, _ reason: String) {
    let loss = "\(visit.map.name).\(name) is left out: \(reason)"
    if !losses.contains(loss) { losses.append(loss) }
  }

  mutating func overlap(
    _ name: String,
    of visit: Visit,
    _ reason: String = "stands inside of another value"
  ) {
    let overlap = "\(visit.map.name).\(name) \(reason)"
    if !overlaps.contains(overlap) { overlaps.append(overlap) }
  }

  /// Takes note of what is not written because something else at its place holds it.
  mutating func shadow(
    _ stored: Attribute,
    _ attribute: AttributeMap,
    of visit: Visit,
    column: Int,
    _ reason: String = "stands inside of another value"
  ) throws(ExportError) {
    overlap(attribute.name, of: visit, reason)
    appendSlot(stored, of: visit.map.name, try speller(of: attribute), column: column)
  }

  /// Adds the entities that may stand at one place, each by a tree of its own.
  ///
  /// - Parameters:
  ///   - family: The entities.
  ///   - visit: The place, and the first of them.
  /// - Returns: What is to be read of them.
  /// - Throws: `.map` for a format that cannot be used.
  mutating func add(_ family: ExportFamily, _ visit: Visit) throws(ExportError) -> ExportLevel {
    var level = ExportLevel()
    level.kinds = family.kinds
    level.root = visit.layout.root
    guard writesFamilies else {
      level.kinds = []
      try add(visit, to: &level)
      return level
    }
    for (index, member) in family.members.enumerated() {
      var visit = visit
      // A record of a family inside of another of it would have no end either.
      visit.around.append(visit.map)
      visit.map = member.map
      visit.layout = member.layout
      visit.words = member.words
      if let place = member.place {
        visit.isNamed = place.isNamed
        if index > 0 {
          let name = place.elements.last ?? ExportTree.Name(local: "")
          visit.base = tree.addVariant(of: visit.base, record: (name, place.isNamed))
        }
      } else if index > 0, visit.context >= 0 {
        visit.context = tree.embed(visit.context, tree: index)
      } else if index > 0 {
        visit.base = tree.addVariant(of: visit.base)
      }
      if index > 0 { level.addTree() }
      if !visit.isReference, !open.isEmpty {
        loseEvolved(of: visit.map, visit.layout)
      }
      try add(visit, to: &level)
    }
    return level
  }

  /// Adds an entity with its attributes and relationships, in declared order.
  ///
  /// - Throws: `.map` where the records would have too many places, or inside of each other too deep.
  mutating func add(_ visit: Visit, to level: inout ExportLevel) throws(ExportError) {
    visitCount += 1
    let excess: String? =
      visitCount > Self.visitLimit
      ? "at more than \(Self.visitLimit) places"
      : visit.depth > Self.depthLimit ? "more than \(Self.depthLimit) deep" : nil
    if let excess {
      throw ExportError(
        .map,
        "A record of \(visit.around.first?.name ?? visit.map.name) would have others inside \(excess).",
        help: "write some of the relationships by key (export: key), or not at all (export: none)"
      )
    }
    if isLive {
      level.postExport = code.entity(visit.map.name).postExport
      level.missed = missedLinks(of: visit)
    }
    let claims = claims(of: visit)
    let covered = try addAttributes(of: visit, beside: claims, to: &level)
    for word in visit.words where !isLocal { try add(word, of: visit, to: &level) }
    for relationship in relationships(of: visit) {
      try add(relationship, of: visit, beside: claims, to: &level)
    }
    for attribute in covered { try addCovered(attribute, of: visit, to: &level) }
    if !isLocal { try settleUnwritten(of: visit, in: &level) }
  }

  /// Takes note of an attribute whose place lies inside of something else: it is written where that
  /// is the target of a to-one without such a member.
  private mutating func addCovered(
    _ attribute: AttributeMap,
    of visit: Visit,
    to level: inout ExportLevel
  ) throws(ExportError) {
    guard let stored = stored(attribute.name, in: visit.layout) else { return }
    if let path = path(of: attribute, in: visit) {
      try? tree.add(path, besideTargetAt: visit.base, slot: slots.count, of: visit.context)
    }
    try shadow(stored, attribute, of: visit, column: level.shadow(stored))
  }

  /// The relationships that are written.
  func relationships(of visit: Visit) -> [RelationshipMap] {
    visit.isReference
      ? referenceRelationships(of: visit)
      : map.lineage(of: visit.map).reversed().flatMap(\.relationships)
  }

  /// The attributes that are written.
  func placedAttributes(of visit: Visit) -> [AttributeMap] {
    visit.isReference ? referenceAttributes(of: visit) : attributes(of: visit.map)
  }

  /// Whether an attribute or relationship is part of the identity.
  func isKey(_ name: String, of visit: Visit) -> Bool {
    identity(of: visit).contains { $0.utf8.elementsEqual(name.utf8) }
  }

  // MARK: - Attributes

  private mutating func addAttributes(
    of visit: Visit,
    beside claims: [Claim],
    to level: inout ExportLevel
  ) throws(ExportError) -> [AttributeMap] {
    var covered: [AttributeMap] = []
    let plan: EntityPlan
    do throws(FormatFault) {
      plan = try EntityPlan(
        visit.map,
        layout: visit.layout,
        of: layout,
        in: spellings,
        planOf: { _ in 0 }
      )
    } catch {
      throw ExportError(.map, error.description)
    }
    noteReadings(of: visit, plan, beside: claims)
    let name = visit.isNamed ? nameAttribute(of: visit.map) : nil
    let identity = identity(of: visit)
    for attribute in placedAttributes(of: visit) {
      guard let stored = stored(attribute.name, in: visit.layout) else {
        try checkRenamed(attribute.renamedFrom, to: attribute.name, of: visit)
        note("\(visit.map.name).\(attribute.name): the database does not have it")
        continue
      }
      if name?.utf8.elementsEqual(attribute.name.utf8) == true {
        let column = level.attribute(stored)
        try addName(attribute, stored, of: visit, column: column)
        continue
      }
      if name != nil, readsNameFirst(attribute) {
        // Reading takes both from the same name.
        try shadow(stored, attribute, of: visit, column: level.shadow(stored))
        continue
      }
      guard let path = path(of: attribute, in: visit) else {
        let isOwnName = format == .xml && !visit.isNamed && readsNameFirst(attribute)
        let isElsewhere =
          isOwnName || (visit.isListed && readsPlaceFirst(attribute))
          || (visit.depth > 0 && readsParentFirst(attribute))
        if isElsewhere {
          // An element's own name, the place in a list, the record around: whether it is the stored one is seen when the
          // record is read back.
          try shadow(
            stored,
            attribute,
            of: visit,
            column: level.shadow(stored),
            "is read from outside of its record"
          )
          continue
        }
        lose(attribute.name, of: visit, "this map has no place for it in \(format.rawValue)")
        continue
      }
      let speller = try speller(of: attribute)
      if isCovered(path, of: attribute.name, by: claims) {
        covered.append(attribute)
        continue
      }
      do throws(ExportTree.Builder.Obstacle) {
        try tree.add(path, at: visit.base, slot: slots.count, of: visit.context)
      } catch {
        try shadow(stored, attribute, of: visit, column: level.shadow(stored))
        continue
      }
      let slot = plan.slots.first { $0.attribute.name.utf8.elementsEqual(attribute.name.utf8) }
      let declared = attribute.attribute(
        isKey: identity.contains { hasSameBytes($0, attribute.name) }
      )
      let nulls = NullSpelling(
        isLocal ? nil : slot,
        declared,
        speller,
        format: format,
        path: path,
        yieldsToName: visit.isNamed && readsName(attribute)
      )
      noteReading(of: attribute, at: path, visit, slot)
      appendSlot(stored, of: visit.map.name, speller, column: level.attribute(stored), nulls)
      slots[slots.count - 1].closure = closure(of: attribute, visit)
      do throws(FormatFault) {
        if !isLocal { slots[slots.count - 1].rules = try ValueRules(declared) }
      } catch {
        throw ExportError(.map, error.description)
      }
    }
    return covered
  }

  /// The mapper's closure that writes an attribute.
  func closure(of attribute: AttributeMap, _ visit: Visit) -> ExportClosure? {
    code.entity(visit.map.name).parts.first { hasSameBytes($0.name, attribute.name) }?.exporting
  }

  private func identity(of visit: Visit) -> [String] {
    visit.layout.uniqueKeys.first?.map(\.name) ?? []
  }

  /// Writes a word by which a record is known as one of this entity.
  private mutating func add(
    _ word: EntityWord,
    of visit: Visit,
    to level: inout ExportLevel
  ) throws(ExportError) {
    guard let path = paths(word.from).first else { return }
    let speller = try speller(of: AttributeMap(name: "discriminator"))
    let attribute = Attribute(name: "discriminator")
    if path.root == .key, visit.isNamed, nameAttribute(of: visit.map) == nil, let text = word.word {
      tree.setName(at: visit.base, slot: slots.count)
      appendSlot(attribute, of: visit.map.name, speller, column: 0)
      slots[slots.count - 1].constant = Array(text.utf8)
      return
    }
    guard path.root == .record else {
      if word.isRequired { try hideEntity(of: visit, &level) }
      return
    }
    if let slot = tree.slot(at: path.steps, from: visit.base, of: visit.context) {
      // An attribute stands in its place, and has the word.
      guard word.isRequired else { return }
      slots[slot].words = word.admitted
      slots[slot].admitsNull = word.word == nil
      return
    }
    guard let text = word.word else { return }
    readings.written.append(
      WrittenPlace(base: visit.base, name: "discriminator", steps: path.steps)
    )
    do throws(ExportTree.Builder.Obstacle) {
      try tree.add(path.steps, at: visit.base, slot: slots.count, of: visit.context)
    } catch {
      if word.isRequired { try hideEntity(of: visit, &level) }
      return
    }
    appendSlot(attribute, of: visit.map.name, speller, column: 0)
    slots[slots.count - 1].constant = Array(text.utf8)
  }

  /// Takes note that reading a record back has to show which entity it tells.
  private mutating func hideEntity(
    of visit: Visit,
    _ level: inout ExportLevel
  ) throws(ExportError) {
    overlap("discriminator", of: visit)
    level.hideEntity()
    let speller = try speller(of: AttributeMap(name: "discriminator"))
    appendSlot(Attribute(name: "discriminator"), of: visit.map.name, speller, column: 0)
  }

  /// What is written of an entity: neither what the map keeps back, nor what a closure computes from
  /// the rest when it is read.
  func attributes(of entity: EntityMap) -> [AttributeMap] {
    map.lineage(of: entity).reversed().flatMap(\.attributes).filter {
      $0.isExported && (isLocal || $0.compute == nil)
    }
  }

  func stored(_ name: String, in layout: EntityLayout) -> Attribute? {
    layout.attributeSlot(named: name).map { layout.attributes[$0] }
  }

  func speller(
    of attribute: AttributeMap,
    format: ForeignFormat? = nil
  ) throws(ExportError) -> ValueSpeller {
    do throws(FormatFault) {
      return try ValueSpeller(attribute, defaults: map.defaults, format: format ?? self.format)
    } catch {
      throw ExportError(.map, error.description)
    }
  }

  mutating func appendSlot(
    _ attribute: Attribute,
    of entity: String,
    _ speller: ValueSpeller,
    column: Int,
    _ nulls: NullSpelling = NullSpelling()
  ) {
    slots.append(
      ExportPlan.Slot(
        entity: entity,
        attribute: attribute,
        speller: speller,
        column: column,
        nulls: nulls,
        isMasked: request.masksSensitive
          && (attribute.isSensitive || map.isSensitive(attribute.name, of: entity))
      )
    )
  }
}
