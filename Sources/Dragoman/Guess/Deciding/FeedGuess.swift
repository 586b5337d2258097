import DragomanGraph

/// What a map for a sample says: where records stand, which entities they are, with which members.
///
/// Large because each decision of a guess is an extension and leaves what the next ones need.
final class FeedGuess {
  let sample: FeedSample
  let spelling: ForeignPathSpelling
  let conventions: Conventions
  var entities: [GuessedEntity] = []
  private(set) var sources: [GuessedSource] = []
  /// What the map's reader should know besides.
  var remarks: [String] = []
  /// Whether a timestamp may have no zone.
  var hasTimestamps = false
  /// The words for records of all lists and of their kinds, before there are entities of them.
  private(set) var recordNames: [[String]] = []
  private let entityName: String?
  private var entityNames: Set<String> = []
  private var sourceNames: Set<String> = []
  /// Patterns for the names of the feed's files, where the map has other sources, which could take it for theirs.
  private let files: [String]
  /// XML: elements that stand several times in another one somewhere.
  private var lists: Set<ElementForm> = []

  /// The most attributes of an entity.
  static let maximumAttributeCount = 1000
  private static let maximumDepth = 5

  /// - Parameters:
  ///   - sample: What was read.
  ///   - entityName: The name of the first entity; nil: it is made of the name of its list.
  ///   - records: Where the records stand; nil: wherever there are any.
  ///   - known: The map that the guess is added to.
  /// - Throws: `ReadError` where there is nothing to guess from.
  init(
    _ sample: FeedSample,
    entityName: String?,
    records: String?,
    beside known: KnownMap? = nil
  ) throws(ReadError) {
    self.sample = sample
    self.entityName = entityName
    var spelling = ForeignPathSpelling(
      sample.format,
      namespaces: sample.namespaces,
      own: sample.prefixes,
      beside: known?.map.sources ?? []
    )
    Self.findPointedNames(in: sample.root, &spelling.pointedNames)
    self.spelling = spelling
    conventions = Conventions(sample.format, sample.root)
    if sample.format == .xml { Self.findLists(in: sample.root, &lists) }
    entityNames = known?.entityNames ?? []
    sourceNames = Set(known?.map.sources.map { $0.name.lowercased() } ?? [])
    let others = known?.files ?? []
    files =
      sourceNames.isEmpty ? [] : FeedFileName(sample.name)?.patterns(besides: others) ?? []
    let places = RecordPlaces(sample, spelling)
    var found = places.lists
    if let records {
      found = found.filter { ($0.path ?? "/") == records || $0.path == "/" + records }
      if found.isEmpty, let whole = places.whole(at: records) { found = [whole] }
      guard !found.isEmpty else { throw places.unknown(records) }
    }
    guard !found.isEmpty else { throw places.nothing }
    recordNames =
      found.flatMap(Self.recordNames) + (known?.entities ?? []).map { NameWords($0.name).words }
    for list in found { add(list, isOnly: found.count == 1 && known?.map.sources.isEmpty != false) }
    remarks += places.remarks
    for entity in entities where entity.parent == nil {
      KeyGuess(
        entity,
        beside: entities + (known?.entities ?? []),
        sampleCount: sample.inputCount
      ).apply()
    }
    ReferenceGuess(entities, besides: known?.entities ?? []).apply()
    declareInverses()
  }

  private static func recordNames(of list: RecordPlaces.List) -> [[String]] {
    let kinds = list.shape.recordKinds?.kinds ?? []
    return [list.name.words]
      + kinds.map { kindWords(String(decoding: $0.word, as: UTF8.self)).words }
  }

  /// An element by its name and what is in it.
  private struct ElementForm: Hashable {
    let name: [UInt8]
    let space: Int
    let members: Set<[UInt8]>

    init(_ shape: FeedShape) {
      name = shape.name
      space = shape.space
      members = Set(shape.members.map(\.name))
    }
  }

  private static func findPointedNames(in shape: FeedShape, _ names: inout Set<String>) {
    for member in shape.members {
      let name = member.nameText
      if name.contains(".") { names.insert(name) }
      findPointedNames(in: member, &names)
    }
    if let rest = shape.others { findPointedNames(in: rest, &names) }
    if let element = shape.element { findPointedNames(in: element, &names) }
  }

  private static func findLists(in shape: FeedShape, _ lists: inout Set<ElementForm>) {
    if shape.isRepeated, !shape.members.isEmpty { lists.insert(ElementForm(shape)) }
    for member in shape.members { findLists(in: member, &lists) }
  }

  /// Whether an element is one of a list, here or elsewhere in the feed.
  private func isList(_ element: FeedShape) -> Bool {
    element.isRepeated
      || (!element.isAttribute && !element.members.isEmpty && lists.contains(ElementForm(element)))
  }

  private func add(_ list: RecordPlaces.List, isOnly: Bool) {
    let wanted = entities.isEmpty ? entityName : nil
    let name = freeEntityName(wanted ?? list.name.type)
    let entity = GuessedEntity(name: name, shape: list.shape, isNested: false, inverse: nil)
    entity.remarks.append(list.remark)
    entities.append(entity)
    if list.isDictionary {
      let key = entity.freeName("key")
      entity.attributes.append(GuessedAttribute(name: key, path: "$key", isAlwaysThere: true))
      entity.unique = [key]
      entity.uniqueRemarks.append("the names of the dictionary's members")
    } else if list.isOfLists {
      entity.attributes.append(
        GuessedAttribute(
          name: entity.freeName("key"),
          path: "$key",
          remarks: ["the name of the record's list"]
        )
      )
    }
    fill(entity, depth: 0)
    let words = NameWords(list.plural.isEmpty ? name : list.plural)
    let base = isOnly ? sample.format.rawValue : words.property
    var sourceName = base
    var number = 2
    while !sourceNames.insert(sourceName.lowercased()).inserted {
      sourceName = base + String(number)
      number += 1
    }
    sources.append(
      GuessedSource(
        name: sourceName,
        entity: name,
        records: list.path,
        files: files
      )
    )
  }

  /// What is no part of a key has to be declared.
  private func declareInverses() {
    for owner in entities {
      for relationship in owner.relationships {
        guard let child = entities.first(where: { $0.name == relationship.entity }),
          let inverse = child.inverse, !child.unique.contains(inverse),
          // One that leads back, which may have been declared here, is no owner's.
          ["from", "inverse"].allSatisfy({ key in relationship.entries.contains { $0.key == key } })
        else { continue }
        child.relationships.append(
          GuessedRelationship(
            name: inverse,
            entity: owner.name,
            isToMany: false,
            entries: [("inverse", YAML.scalar(relationship.name))]
          )
        )
      }
    }
  }

  func freeEntityName(_ wanted: String, in owner: String = "") -> String {
    var name = wanted
    if entityNames.contains(name.lowercased()) { name = owner + wanted }
    var number = 2
    while !entityNames.insert(name.lowercased()).inserted {
      name = wanted + String(number)
      number += 1
    }
    return name
  }

  // MARK: - Members

  /// Gives an entity the members of its records.
  func fill(_ entity: GuessedEntity, depth: Int) {
    let shape = entity.shape
    if let kinds = shape.recordKinds, !kinds.kinds.isEmpty {
      fill(entity, by: kinds, depth: depth)
    } else if shape.kinds.objects > 0 {
      if shape.values.textCount > 0, conventions.isXML {
        let isAlways = shape.kinds.texts == shape.kinds.total
        addValue(shape, steps: [], names: ["text"], to: entity, isAlways: isAlways)
      }
      collect(shape, Way(steps: [], names: [], isAlways: true, depth: depth), into: entity)
    } else {
      addValue(shape, steps: [], names: ["value"], to: entity, isAlways: true)
    }
    let strange = shape.kinds.total - shape.kinds.objects
    if shape.kinds.objects > 0, strange > 0, !conventions.isXML {
      entity.remarks.append("\(strange) of \(shape.kinds.total) are no objects: they are rejected")
    }
  }

  /// Gives an entity the members of an object.
  ///
  /// - Parameters:
  ///   - shape: The object.
  ///   - way: How it is reached.
  ///   - entity: The entity.
  ///   - isWanted: Whether a member is wanted.
  func collect(
    _ shape: FeedShape,
    _ way: Way,
    into entity: GuessedEntity,
    where isWanted: (FeedShape) -> Bool = { _ in true }
  ) {
    if let rest = shape.others {
      entity.remarks.append(
        "\(MessageWords.count(rest.presence.owners, "member")) beyond the first \(FeedShape.maximumMemberCount)"
          + " \(rest.presence.owners == 1 ? "is" : "are") left out"
      )
    }
    // An element that is empty or has nothing but text is none of the objects.
    let count = conventions.isXML ? shape.kinds.total : shape.kinds.objects
    for member in shape.members where isWanted(member) {
      guard entity.attributes.count < Self.maximumAttributeCount else { return }
      let step = Way(
        steps: way.steps + [.member(member)],
        names: way.names + [member.nameText],
        isAlways: way.isAlways && member.presence.owners == count,
        depth: way.depth
      )
      add(member, step, to: entity)
    }
  }

  /// How a place is reached from its record.
  struct Way {
    var steps: [ForeignPathSpelling.Step]
    var names: [String]
    var isAlways: Bool
    var depth: Int
  }

  func add(_ member: FeedShape, _ way: Way, to entity: GuessedEntity) {
    let kinds = member.kinds
    let canNest = way.depth < Self.maximumDepth
    if conventions.isXML {
      guard !isList(member) else { return addChildren(member, way, to: entity, isList: true) }
      let isEntity = isShared(member, isList: false) && canNest
      if !isEntity, member.values.textCount > 0 || kinds.objects == 0 {
        let isAlways = way.isAlways && kinds.texts == kinds.total
        addValue(member, steps: way.steps, names: way.names, to: entity, isAlways: isAlways)
      }
      guard kinds.objects > 0 else { return }
      if isEntity { return addChildren(member, way, to: entity, isList: false) }
      return flatten(member, way, into: entity)
    }
    if kinds.arrays > 0, kinds.scalars == 0, kinds.objects == 0, let element = member.element {
      return addArray(member, element, way, to: entity, canNest: canNest)
    }
    guard kinds.objects > 0, kinds.scalars == 0, kinds.arrays == 0, !member.members.isEmpty else {
      return addValue(
        member,
        steps: way.steps,
        names: way.names,
        to: entity,
        isAlways: way.isAlways && kinds.nulls == 0
      )
    }
    if isDictionary(member), canNest {
      return addDictionary(member, way, to: entity)
    }
    if isShared(member, isList: false), canNest {
      return addChildren(member, way, to: entity, isList: false)
    }
    if member.others != nil || isOpen(member)
      || way.steps.count >= ForeignPathParser.maximumStepCount
    {
      addValue(member, steps: way.steps, names: way.names, to: entity, isAlways: false)
      return
    }
    flatten(member, way, into: entity)
  }

  func flatten(_ member: FeedShape, _ way: Way, into entity: GuessedEntity) {
    // What has members that no path leads to is taken as a whole.
    if !conventions.isXML, !canSpell(member, way.steps) {
      return addValue(member, steps: way.steps, names: way.names, to: entity, isAlways: false)
    }
    var inside = way
    if Self.wrappers.contains(member.nameText) { inside.names.removeLast() }
    inside.isAlways = way.isAlways && member.kinds.nulls == 0
    collect(member, inside, into: entity)
  }

  private func canSpell(_ member: FeedShape, _ steps: [ForeignPathSpelling.Step]) -> Bool {
    spelling.path(steps) == nil
      || member.members.allSatisfy { spelling.path(steps + [.member($0)]) != nil }
  }

  /// Members that have the record in them, and are no part of it.
  static let wrappers: Set<String> = ["properties", "attributes", "fields", "_source"]

  /// Whether the members of an object differ from record to record, as words in a table do.
  private func isOpen(_ shape: FeedShape) -> Bool {
    shape.members.count > 8
      && shape.members.allSatisfy { $0.presence.owners * 4 < shape.kinds.objects }
  }

  /// Whether an object is one that several records have; one of a list has to come twice for that.
  func isShared(_ shape: FeedShape, isList: Bool) -> Bool {
    guard let identity = shape.identity, !identity.isRefuted,
      let id = shape.members.first(where: { $0.name == identity.name })
    else { return false }
    let reading = TypeGuess(id, name: NameWords(id.nameText), conventions).reading
    guard reading == .spelled || id.values.areApart(as: reading) else { return false }
    return id.kinds.scalars == shape.kinds.objects && id.values.emptyCount == 0
      && shape.members.count > 1 && (!isList || id.values.distinctCount != shape.kinds.objects)
  }

  func isDictionary(_ shape: FeedShape) -> Bool {
    let varies =
      shape.others != nil
      || shape.members.contains { $0.presence.owners < shape.kinds.objects }
    return varies && RecordPlaces.isDictionary(shape)
  }
}
