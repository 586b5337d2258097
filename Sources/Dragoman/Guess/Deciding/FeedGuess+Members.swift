import DragomanGraph

/// What becomes of the members of records: attributes, and entities of what is nested.
extension FeedGuess {
  func addArray(
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
    let isPair =
      (member.lengths == 2...2 && !names(way.names.last ?? "", keysOfRecords: element))
      || (member.lengths == 0...2 && isPoint)
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

  /// Whether a list is named as keys of other records are: `tag_ids`, or `authors` where there are some.
  private func names(_ list: String, keysOfRecords element: FeedShape) -> Bool {
    guard element.values.numbers.isWhole else { return false }
    var words = NameWords(list).words
    if words.count > 1, let last = words.last, ["ids", "refs", "keys"].contains(last) {
      return true
    }
    words = NameWords(list).singular.words
    return recordNames.contains { !$0.isEmpty && words.suffix($0.count) == $0[...] }
  }

  func addDictionary(_ member: FeedShape, _ way: Way, to entity: GuessedEntity) {
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
  func addChildren(
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
    // Elements of XML stand side by side, each under the name of one.
    let isSingular = isList && conventions.isXML && !isDictionary
    let isOwn = isDictionary || !isShared(shape, isList: isList)
    let inverse = isOwn ? NameWords(entity.name).property : nil
    let child = GuessedEntity(name: name, shape: shape, isNested: true, inverse: inverse)
    var relationship = GuessedRelationship(
      name: entity.freeRelationshipName(
        (isSingular ? words.plural : words).property,
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
  private func longName(of steps: [ForeignPathSpelling.Step]) -> String {
    let names = steps.map { step in
      switch step {
      case .member(let shape): shape.nameText
      case .index(let index): String(index + 1)
      case .anyMember, .anyList: ""
      }
    }
    return NameWords(names.joined(separator: " ")).property
  }

  func addValue(
    _ shape: FeedShape,
    steps: [ForeignPathSpelling.Step],
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
    var guess = TypeGuess(shape, name: NameWords(names.last ?? ""), conventions)
    // A plain value that is null would leave nothing of its record.
    if steps.isEmpty, !shape.values.sentinels.isEmpty { guess.keepText() }
    if guess.type == .timestamp { hasTimestamps = true }
    let total = max(1, entity.count)
    let missing = total - shape.presence.owners
    var remarks = guess.remarks
    let isOfRecord = steps.count == 1 && !steps.isEmpty
    if isOfRecord, missing > 0 { remarks.append("missing in \(missing) of \(total)") }
    if shape.kinds.nulls > 0, shape.kinds.nulls < shape.kinds.total {
      remarks.append("\(shape.kinds.nulls) null")
    }
    // Words for nothing are null where they are declared to be.
    let isFilled =
      shape.kinds.nulls == 0 && shape.values.emptyCount == 0
      && (shape.values.sentinels.isEmpty || guess.type == .string)
    entity.attributes.append(
      GuessedAttribute(
        name: entity.freeName(words.property, or: longName(of: steps)),
        path: path,
        type: guess.type,
        entries: guess.entries,
        remarks: remarks,
        shape: shape,
        reading: guess.reading,
        isAlwaysThere: isAlways && isFilled
      )
    )
  }
}
