import DragomanGraph

/// What a map for a sample says: where records stand, which entities they are, with which members.
final class FeedGuess {
  let sample: FeedSample
  let spelling: PathSpelling
  let conventions: Conventions
  private(set) var entities: [GuessedEntity] = []
  private(set) var sources: [GuessedSource] = []
  /// What the map's reader should know besides.
  var remarks: [String] = []
  /// Whether a timestamp may have no zone.
  var hasTimestamps = false
  private let entityName: String?
  private var entityNames: Set<String> = []

  /// The most attributes of an entity.
  static let maximumAttributeCount = 1000
  private static let maximumDepth = 5

  /// - Parameters:
  ///   - sample: What was read.
  ///   - entityName: The name of the first entity; nil: it is made of the name of its list.
  ///   - records: Where the records stand; nil: wherever there are any.
  /// - Throws: `ReadError` where there is nothing to guess from.
  init(_ sample: FeedSample, entityName: String?, records: String?) throws(ReadError) {
    self.sample = sample
    self.entityName = entityName
    spelling = PathSpelling(sample.format, namespaces: sample.namespaces)
    conventions = Conventions(sample.format, sample.root)
    let places = RecordPlaces(sample, spelling)
    var lists = places.lists
    if let records {
      lists = lists.filter { ($0.path ?? "/") == records || $0.path == "/" + records }
      guard !lists.isEmpty else { throw places.unknown(records) }
    }
    guard !lists.isEmpty else { throw places.nothing }
    for list in lists { add(list, isOnly: lists.count == 1) }
    remarks += places.remarks
    for entity in entities { KeyGuess(entity, conventions).apply() }
    ReferenceGuess(entities, spelling).apply()
    declareInverses()
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
    let words = NameWords(list.plural.isEmpty ? sample.format.rawValue : list.plural)
    let base = isOnly ? sample.format.rawValue : words.property
    var sourceName = base
    var number = 2
    while sources.contains(where: { $0.name == sourceName }) {
      sourceName = base + String(number)
      number += 1
    }
    sources.append(GuessedSource(name: sourceName, entity: name, records: list.path))
  }

  /// What is no part of a key has to be declared.
  private func declareInverses() {
    for owner in entities {
      for relationship in owner.relationships {
        guard let child = entities.first(where: { $0.name == relationship.entity }),
          let inverse = child.inverse, !child.unique.contains(inverse),
          relationship.entries.contains(where: { $0.key == "inverse" })
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

  private func freeEntityName(_ wanted: String, in owner: String = "") -> String {
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
  private func fill(_ entity: GuessedEntity, depth: Int) {
    let shape = entity.shape
    if shape.kinds.objects > 0 {
      if shape.values.textCount > 0, conventions.isXML {
        addValue(shape, steps: [], names: ["text"], to: entity, isAlways: true)
      }
      collect(shape, steps: [], names: [], into: entity, isAlways: true, depth: depth)
    } else {
      addValue(shape, steps: [], names: ["value"], to: entity, isAlways: true)
    }
    let strange = shape.kinds.total - shape.kinds.objects
    if shape.kinds.objects > 0, strange > 0, !conventions.isXML {
      entity.remarks.append("\(strange) of \(shape.kinds.total) are no objects: they are rejected")
    }
  }

  private func collect(
    _ shape: FeedShape,
    steps: [PathSpelling.Step],
    names: [String],
    into entity: GuessedEntity,
    isAlways: Bool,
    depth: Int
  ) {
    if let rest = shape.others {
      entity.remarks.append(
        "\(rest.presence.owners) members beyond the first \(FeedShape.maximumMemberCount) are left out"
      )
    }
    for member in shape.members {
      guard entity.attributes.count < Self.maximumAttributeCount else { return }
      let way = Way(
        steps: steps + [.member(member)],
        names: names + [member.nameText],
        isAlways: isAlways && member.presence.owners == shape.kinds.objects,
        depth: depth
      )
      add(member, way, to: entity)
    }
  }

  /// How a place is reached from its record.
  private struct Way {
    var steps: [PathSpelling.Step]
    var names: [String]
    var isAlways: Bool
    var depth: Int
  }

  private func add(_ member: FeedShape, _ way: Way, to entity: GuessedEntity) {
    let kinds = member.kinds
    let canNest = way.depth < Self.maximumDepth
    if conventions.isXML {
      guard !member.isRepeated else { return addChildren(member, way, to: entity, isList: true) }
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
    if member.others != nil || isOpen(member) {
      addValue(member, steps: way.steps, names: way.names, to: entity, isAlways: false)
      return
    }
    flatten(member, way, into: entity)
  }

  private func flatten(_ member: FeedShape, _ way: Way, into entity: GuessedEntity) {
    let isWrapper = Self.wrappers.contains(member.nameText)
    collect(
      member,
      steps: way.steps,
      names: isWrapper ? way.names.dropLast() : way.names,
      into: entity,
      isAlways: way.isAlways && member.kinds.nulls == 0,
      depth: way.depth
    )
  }

  private static let wrappers: Set<String> = ["properties", "attributes", "fields", "_source"]

  /// Whether the members of an object differ from record to record, as words in a table do.
  private func isOpen(_ shape: FeedShape) -> Bool {
    shape.members.count > 8
      && shape.members.allSatisfy { $0.presence.owners * 4 < shape.kinds.objects }
  }

  /// Whether an object is one that several records have; one of a list has to come twice for that.
  private func isShared(_ shape: FeedShape, isList: Bool) -> Bool {
    guard let identity = shape.identity, !identity.isRefuted,
      let id = shape.members.first(where: { $0.name == identity.name })
    else { return false }
    return id.kinds.scalars == shape.kinds.objects && id.values.emptyCount == 0
      && shape.members.count > 1 && (!isList || id.values.distinctCount != shape.kinds.objects)
  }

  private func isDictionary(_ shape: FeedShape) -> Bool {
    let varies =
      shape.others != nil
      || shape.members.contains { $0.presence.owners < shape.kinds.objects }
    return varies && RecordPlaces.isDictionary(shape)
  }

  private func addArray(
    _ member: FeedShape,
    _ element: FeedShape,
    _ way: Way,
    to entity: GuessedEntity,
    canNest: Bool
  ) {
    let kinds = element.kinds
    if kinds.objects > 0, kinds.scalars + kinds.arrays + kinds.nulls == 0, canNest {
      return addChildren(element, way, to: entity, isList: true)
    }
    let isPoint = !element.values.numbers.isWhole && member.lengths.upperBound <= 4
    let isPair = member.lengths == 2...2 || (member.lengths == 0...2 && isPoint)
    if kinds.numbers == kinds.total, kinds.total > 0, member.lengths.lowerBound >= 2,
      isPoint || isPair
    {
      let names =
        isPoint && way.names.last == "coordinates" ? ["longitude", "latitude", "height"] : []
      for index in 0..<member.lengths.upperBound {
        addValue(
          element,
          steps: way.steps + [.index(index)],
          names: index < names.count ? [names[index]] : way.names + [String(index + 1)],
          to: entity,
          isAlways: way.isAlways && index < member.lengths.lowerBound
        )
      }
      return
    }
    addValue(member, steps: way.steps, names: way.names, to: entity, isAlways: false)
  }

  private func addDictionary(_ member: FeedShape, _ way: Way, to entity: GuessedEntity) {
    var way = way
    way.steps.append(.anyMember)
    addChildren(
      RecordPlaces.merged(member),
      way,
      to: entity,
      isList: true,
      isDictionary: true
    )
  }

  /// Makes an entity of nested objects, and a relationship that leads to it.
  private func addChildren(
    _ shape: FeedShape,
    _ way: Way,
    to entity: GuessedEntity,
    isList: Bool,
    isDictionary: Bool = false
  ) {
    guard let path = spelling.path(way.steps) else {
      return entity.remarks.append(
        "\(way.names.joined(separator: ".")) has no path that can be said"
      )
    }
    let words = NameWords(way.names.last ?? "")
    let name = freeEntityName((isList ? words.singular : words).type, in: entity.name)
    let isOwn = isDictionary || !isShared(shape, isList: isList)
    let inverse = isOwn ? NameWords(entity.name).property : nil
    let child = GuessedEntity(name: name, shape: shape, isNested: true, inverse: inverse)
    var relationship = GuessedRelationship(
      name: entity.freeName(
        words.property,
        or: NameWords(way.names.joined(separator: " ")).property
      ),
      entity: name,
      isToMany: isList
    )
    // Said even where it is the name: what is nested is exported nested then.
    relationship.entries.append(("from", YAML.scalar(path)))
    if let inverse {
      relationship.entries += [
        ("inverse", YAML.scalar(inverse)), ("ordered", "true"), ("onDelete", "cascade"),
        ("onUnlink", "delete"),
      ]
    } else if isList {
      relationship.entries += [("ordered", "true"), ("repeats", "true")]
    }
    entities.append(child)
    entity.relationships.append(relationship)
    child.remarks.append("\(shape.kinds.total) at \(path) of \(entity.name)")
    if isDictionary {
      let key = child.freeName("key")
      child.attributes.append(GuessedAttribute(name: key, path: "$key", isAlwaysThere: true))
      child.unique = [inverse ?? "", key]
      child.uniqueRemarks.append("the names of the dictionary's members")
    } else if !isOwn {
      let id = shape.members.first { $0.name == shape.identity?.name }
      let count = id?.values.distinctCount.map { "\($0) different, " } ?? ""
      child.remarks.append(count + "each the same wherever it stands")
    }
    fill(child, depth: way.depth + 1)
  }

  /// A name made of all steps to a place.
  private func longName(of steps: [PathSpelling.Step]) -> String {
    let names = steps.map { step in
      switch step {
      case .member(let shape): shape.nameText
      case .index(let index): String(index + 1)
      case .anyMember, .anyList: ""
      }
    }
    return NameWords(names.joined(separator: " ")).property
  }

  private func addValue(
    _ shape: FeedShape,
    steps: [PathSpelling.Step],
    names: [String],
    to entity: GuessedEntity,
    isAlways: Bool
  ) {
    guard var path = spelling.path(steps) else {
      return entity.remarks.append("\(names.joined(separator: ".")) has no path that can be said")
    }
    let words = NameWords(names.joined(separator: " "))
    // An element with others in it has a text only where it is asked for.
    if shape.members.contains(where: { !$0.isAttribute }), conventions.isXML {
      path = path == "." ? "text()" : path + "/text()"
    }
    let guess = TypeGuess(shape, name: NameWords(names.last ?? ""), conventions)
    if guess.type == .timestamp { hasTimestamps = true }
    let total = max(1, entity.count)
    let missing = total - shape.presence.owners
    var remarks = guess.remarks
    let isOfRecord = steps.count == 1 && !steps.isEmpty
    if isOfRecord, missing > 0 { remarks.append("missing in \(missing) of \(total)") }
    if shape.kinds.nulls > 0, shape.kinds.nulls < shape.kinds.total {
      remarks.append("\(shape.kinds.nulls) null")
    }
    let isFilled =
      shape.kinds.nulls == 0 && shape.values.emptyCount == 0
      && shape.values.sentinels.isEmpty
    entity.attributes.append(
      GuessedAttribute(
        name: entity.freeName(words.property, or: longName(of: steps)),
        path: path,
        type: guess.type,
        entries: guess.entries,
        remarks: remarks,
        shape: shape,
        isAlwaysThere: isAlways && isFilled
      )
    )
  }
}
