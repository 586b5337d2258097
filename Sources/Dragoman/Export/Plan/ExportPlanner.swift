import DragomanGraph

/// Gives each attribute and each relationship its place in the records of an export.
///
/// What has none is told in `notices`: nothing is left out silently but what the map says
/// (`export: false`, `none`).
struct ExportPlanner {
  let map: ImportMap
  let layout: ModelLayout
  let format: ForeignFormat
  let request: ExportRequest
  var tree: ExportTree.Builder
  var slots: [ExportPlan.Slot] = []
  private(set) var notices: [String] = []
  /// What the format has no place for.
  private(set) var losses: [String] = []
  /// What stands inside of something else, which is written.
  var overlaps: [String] = []
  /// The relationships of all levels.
  var links: [ExportLink] = []

  var isLocal: Bool { (request.names ?? map.exportOptions.names) == .local }
  private var isFlat: Bool { (request.shape ?? map.exportOptions.shape) == .flat }

  /// One entity at one place of a record.
  struct Visit {
    let map: EntityMap
    let layout: EntityLayout
    /// The place of its record in the tree.
    let base: Int
    /// The to-one by which its members stand among those of the record that is linked (`from: "."`).
    var link = ExportTree.Builder.LinkPlace.none
    /// Whether its records stand under a name each, which an attribute may hold (`$key`).
    var isNamed = false
    /// Whether only the identity is written.
    var isReference = false
    /// The entities around it, the record's own first.
    var around: [EntityMap] = []
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
    record: ExportTree.Name
  ) {
    self.map = map
    self.layout = layout
    self.format = format
    self.request = request
    tree = ExportTree.Builder(record: record, isXML: format == .xml)
  }

  mutating func note(_ notice: String) {
    if !notices.contains(notice) { notices.append(notice) }
  }

  /// Takes note of what is not written, and so does not come back.
  mutating func lose(_ name: String, of visit: Visit, _ reason: String) {
    let loss = "\(visit.map.name).\(name) is left out: \(reason)"
    if !losses.contains(loss) { losses.append(loss) }
  }

  mutating func overlap(_ name: String, of visit: Visit) {
    let overlap = "\(visit.map.name).\(name) stands inside of another value"
    if !overlaps.contains(overlap) { overlaps.append(overlap) }
  }

  /// Takes note of what is not written because something else at its place holds it.
  mutating func shadow(_ stored: Attribute, _ attribute: AttributeMap, of visit: Visit, column: Int)
    throws(ExportError)
  {
    overlap(attribute.name, of: visit)
    appendSlot(stored, of: visit.map.name, try speller(of: attribute), column: column)
  }

  /// Adds an entity with its attributes and relationships, in declared order.
  ///
  /// - Returns: What is to be read of it.
  mutating func add(_ visit: Visit) throws(ExportError) -> ExportLevel {
    var level = ExportLevel()
    let claims = claims(of: visit)
    let covered = try addAttributes(of: visit, beside: claims, to: &level)
    addDiscriminator(of: visit)
    for relationship in relationships(of: visit) {
      try add(relationship, of: visit, beside: claims, to: &level)
    }
    for attribute in covered { try addCovered(attribute, of: visit, to: &level) }
    return level
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
      try? tree.add(path, besideTargetAt: visit.base, slot: slots.count)
    }
    try shadow(stored, attribute, of: visit, column: level.shadow(stored))
  }

  /// The relationships that are written: of a reference those in its identity.
  func relationships(of visit: Visit) -> [RelationshipMap] {
    map.lineage(of: visit.map).reversed().flatMap(\.relationships).filter {
      !visit.isReference || isKey($0.name, of: visit)
    }
  }

  /// The attributes that are written: of a reference its identity and its name.
  func placedAttributes(of visit: Visit) -> [AttributeMap] {
    let name = visit.isNamed ? nameAttribute(of: visit.map) : nil
    return attributes(of: visit.map).filter {
      !visit.isReference || isKey($0.name, of: visit)
        || name?.utf8.elementsEqual($0.name.utf8) == true
    }
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
        in: map,
        format: format,
        planOf: { _ in 0 }
      )
    } catch {
      throw ExportError(.map, error.description)
    }
    let name = visit.isNamed ? nameAttribute(of: visit.map) : nil
    for attribute in placedAttributes(of: visit) {
      guard let stored = stored(attribute.name, in: visit.layout) else {
        note("\(visit.map.name).\(attribute.name) is left out: the database does not have it")
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
        lose(attribute.name, of: visit, "this map has no place for it in \(format.rawValue)")
        continue
      }
      let speller = try speller(of: attribute)
      if isCovered(path, of: attribute.name, by: claims) {
        covered.append(attribute)
        continue
      }
      do throws(ExportTree.Builder.Obstacle) {
        try tree.add(path, at: visit.base, slot: slots.count, link: visit.link)
      } catch {
        try shadow(stored, attribute, of: visit, column: level.shadow(stored))
        continue
      }
      let slot = plan.slots.first { $0.attribute.name.utf8.elementsEqual(attribute.name.utf8) }
      let nulls = NullSpelling(
        isLocal ? nil : slot,
        speller,
        format: format,
        path: path,
        yieldsToName: visit.isNamed && readsName(attribute)
      )
      appendSlot(stored, of: visit.map.name, speller, column: level.attribute(stored), nulls)
    }
    return covered
  }

  /// Whether reading may take the attribute from the name of its record (`$key`).
  private func readsName(_ attribute: AttributeMap) -> Bool {
    namePaths(of: attribute).contains(true)
  }

  /// Whether no other path of the attribute is ever read: a name is always there.
  private func readsNameFirst(_ attribute: AttributeMap) -> Bool {
    namePaths(of: attribute).first == true
  }

  /// Which of the attribute's paths are the name of its record.
  private func namePaths(of attribute: AttributeMap) -> [Bool] {
    guard !isLocal, let from = attribute.from else { return [] }
    return paths(from).map { $0.root == .key }
  }

  /// Where the names of records come from that stand under a name each.
  enum Naming {
    /// An attribute holds it.
    case stored
    /// Nothing reads it: any name will do.
    case madeUp
    /// An attribute is read from it, and not exported.
    case impossible
  }

  func naming(of entity: EntityMap) -> Naming {
    if nameAttribute(of: entity) != nil { return .stored }
    let isRead = map.lineage(of: entity).flatMap(\.attributes).contains(where: readsName)
    return isRead ? .impossible : .madeUp
  }

  /// The attribute that is written as the name of its record: one that has no other place, before one
  /// that is read from the name first, before one that is read from it at all.
  func nameAttribute(of entity: EntityMap) -> String? {
    let readers = attributes(of: entity).filter(readsName)
    let alone = readers.first { !namePaths(of: $0).contains(false) }
    return (alone ?? readers.first(where: readsNameFirst) ?? readers.first)?.name
  }

  /// Writes an attribute as the name of its record.
  private mutating func addName(
    _ attribute: AttributeMap,
    _ stored: Attribute,
    of visit: Visit,
    column: Int
  ) throws(ExportError) {
    // A name is a text, whatever the format.
    let speller = try speller(of: attribute, format: .csv)
    tree.setName(at: visit.base, slot: slots.count)
    appendSlot(stored, of: visit.map.name, speller, column: column)
  }

  private func identity(of visit: Visit) -> [String] {
    visit.layout.uniqueKeys.first?.map(\.name) ?? []
  }

  /// Writes the word by which a record is known as one of this entity.
  private mutating func addDiscriminator(of visit: Visit) {
    let rules = map.lineage(of: visit.map).compactMap(\.discriminator)
    guard !isLocal, let rule = rules.first else { return }
    let words = rule.values.filter { $0.value.utf8.elementsEqual(visit.map.name.utf8) }.keys
    guard let word = words.min(), let path = paths(rule.from).first, path.root == .record,
      let speller = try? speller(of: AttributeMap(name: "discriminator"))
    else { return }
    // Where an attribute stands in its place, that attribute has the word.
    guard (try? tree.add(path.steps, at: visit.base, slot: slots.count, link: visit.link)) != nil
    else { return }
    let attribute = Attribute(name: "discriminator")
    appendSlot(attribute, of: visit.map.name, speller, column: 0)
    slots[slots.count - 1].constant = Array(word.utf8)
  }

  /// What is written of an entity: neither what the map keeps back, nor what a closure computes from
  /// the rest when it is read.
  private func attributes(of entity: EntityMap) -> [AttributeMap] {
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
    _ nulls: NullSpelling? = nil
  ) {
    slots.append(
      ExportPlan.Slot(
        entity: entity,
        attribute: attribute,
        speller: speller,
        column: column,
        needsNull: nulls?.isNeeded ?? false,
        losesNull: nulls?.isLost ?? false,
        isMasked: request.masksSensitive && attribute.isSensitive
      )
    )
  }

  // MARK: - Paths

  /// Where the attribute is written: the first of its paths that one record can be written by.
  func path(of attribute: AttributeMap, in visit: Visit) -> [ForeignPath.Step]? {
    let own = [ForeignPath.Step.member(attribute.name, namespace: nil)]
    guard !isLocal, let from = attribute.from else {
      return format == .xml && !attribute.name.isXMLName ? nil : own
    }
    let paths = paths(from)
    if format == .csv, paths.isEmpty, !readsCSV(visit.map) {
      return [.member(from.json.first?.text ?? attribute.name, namespace: nil)]
    }
    let isAlone = visit.isReference || placedCount(in: visit) == 1
    return paths.lazy.compactMap { steps(of: $0, attribute.type, isAlone: isAlone) }.first
  }

  /// How many attributes want a place in the record, and not in its name.
  private func placedCount(in visit: Visit) -> Int {
    let all = attributes(of: visit.map)
    guard visit.isNamed else { return all.count }
    let name = nameAttribute(of: visit.map)
    return all.count {
      !readsNameFirst($0) && name?.utf8.elementsEqual($0.name.utf8) != true
    }
  }

  /// The paths that hold in the format.
  func paths(_ from: ForeignPaths) -> [ForeignPath] {
    switch format {
    case .json, .ndjson: from.json
    case .xml: from.xml
    case .csv: from.csv
    }
  }

  /// Whether records come as CSV, too; else their columns are named as in JSON, for other programs.
  func readsCSV(_ entity: EntityMap) -> Bool {
    map.exportSource(of: entity.name, format: .csv) != nil
      || (map.sources.isEmpty && map.entities.count == 1)
  }

  private func steps(
    of path: ForeignPath,
    _ type: AttributeType,
    isAlone: Bool
  ) -> [ForeignPath.Step]? {
    guard path.root == .record else { return nil }
    var steps = path.steps
    // A list that is read element by element is a list.
    if steps.last == .all, type == .json { steps.removeLast() }
    for step in steps {
      switch step {
      case .all, .anyMember, .having: return nil
      case .index(let index) where index > ExportTree.Builder.maximumHoleCount: return nil
      default: break
      }
    }
    if steps.isEmpty, format == .csv || (format != .xml && !isAlone) { return nil }
    let isLiteral = isFlat && format != .xml && steps.count > 1 && !path.text.hasPrefix("/")
    return isLiteral ? [.member(path.text, namespace: nil)] : steps
  }
}

extension String {
  /// Whether the text can be the name of an XML element or attribute, without a prefix.
  ///
  /// `Name` of XML 1.0 (https://www.w3.org/TR/xml/#NT-Name) but for the colon, which would end a
  /// prefix.
  var isXMLName: Bool {
    guard let first = unicodeScalars.first, first.startsXMLName else { return false }
    return unicodeScalars.allSatisfy { $0.startsXMLName || $0.continuesXMLName }
  }
}

extension Unicode.Scalar {
  /// `NameStartChar` without the colon.
  fileprivate var startsXMLName: Bool {
    switch value {
    case 0x41...0x5A, 0x5F, 0x61...0x7A, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D,
      0x37F...0x1FFF, 0x200C...0x200D, 0x2070...0x218F, 0x2C00...0x2FEF, 0x3001...0xD7FF,
      0xF900...0xFDCF, 0xFDF0...0xFFFD, 0x10000...0xEFFFF:
      true
    default: false
    }
  }

  /// What `NameChar` has beyond that.
  fileprivate var continuesXMLName: Bool {
    switch value {
    case 0x2D, 0x2E, 0x30...0x39, 0xB7, 0x300...0x36F, 0x203F...0x2040: true
    default: false
    }
  }
}
