/// Finds attributes whose values are keys of another entity, and makes relationships of them.
struct ReferenceGuess {
  private let entities: [GuessedEntity]
  private let spelling: PathSpelling
  private let targets: [Target]

  init(_ entities: [GuessedEntity], _ spelling: PathSpelling) {
    self.entities = entities
    self.spelling = spelling
    targets = Self.targets(entities)
  }

  /// An entity with a key of one attribute.
  private struct Target {
    let entity: GuessedEntity
    let key: GuessedAttribute
    let words: [String]
  }

  /// Whether no other entity has all of the values as keys.
  private func isOnly(_ target: Target, _ values: HashSet) -> Bool {
    targets.allSatisfy { other in
      other.entity === target.entity
        || other.key.shape?.values.distinct.map { !values.isSubset(of: $0) } ?? true
    }
  }

  /// Makes the relationships.
  func apply() {
    guard !targets.isEmpty else { return }
    for entity in entities { link(entity) }
  }

  /// Entities with a key of one attribute.
  private static func targets(_ entities: [GuessedEntity]) -> [Target] {
    entities.compactMap { entity -> Target? in
      guard entity.unique.count == 1,
        let key = entity.attributes.first(where: { $0.name == entity.unique[0] }),
        key.shape?.values.distinct != nil
      else { return nil }
      return Target(entity: entity, key: key, words: NameWords(entity.name).words)
    }
  }

  private func link(_ entity: GuessedEntity) {
    for attribute in entity.attributes {
      guard let shape = attribute.shape, entity.unique != [attribute.name],
        attribute.entries.allSatisfy({ $0.key == "from" })
      else { continue }
      let isList = attribute.type == .json && shape.kinds.scalars == 0
      let values = isList ? shape.element : shape
      guard let values,
        isList ? values.kinds.scalars == values.kinds.total : attribute.type != .json,
        let target = targets.first(where: {
          refers(attribute, values, of: entity, isList: isList, to: $0)
        })
      else { continue }
      replace(attribute, in: entity, by: target, isList: isList)
    }
  }

  /// Whether all values are keys of the target, and the name says so or the keys are no mere numbers.
  private func refers(
    _ attribute: GuessedAttribute,
    _ shape: FeedShape,
    of entity: GuessedEntity,
    isList: Bool,
    to target: Target
  ) -> Bool {
    guard let keys = target.key.shape?.values.distinct, let values = shape.values.distinct,
      values.count > 0, shape.values.emptyCount == 0, values.isSubset(of: keys),
      (shape.kinds.numbers > 0) == (target.key.shape?.kinds.numbers ?? 0 > 0),
      attribute.shape !== target.key.shape
    else { return false }
    let words = NameWords(attribute.name).words
    var stem = words
    let endings: Set = ["id", "ids", "key", "code", "no", "number", "ref", "refs"]
    if stem.count > 1, let last = stem.last, endings.contains(last) { stem.removeLast() }
    let isSelf = target.entity === entity
    if !isSelf, words == NameWords(target.key.name).words, words.count > 1 { return true }
    let singular = isList ? NameWords(stem.joined(separator: " ")).singular.words : stem
    if singular.suffix(target.words.count) == target.words[...], !isSelf || stem != target.words {
      return true
    }
    // What is called a reference and is contained in one entity's keys alone leads there.
    if words.last == "ref", !isSelf, values.count > 2, isOnly(target, values) { return true }
    let ups: Set = [
      "parent", "manager", "supervisor", "boss", "replaces", "previous", "predecessor",
    ]
    let isUp =
      stem.last.map(ups.contains) ?? false || words.suffix(2) == ["reports", "to"]
      || (words.last == "by" && words.count > 1)
    return isSelf && isUp && !isList
  }

  private func replace(
    _ attribute: GuessedAttribute,
    in entity: GuessedEntity,
    by target: Target,
    isList: Bool
  ) {
    var words = NameWords(attribute.name).words
    if words.count > 1, let last = words.last, ["id", "ids", "key", "code", "ref"].contains(last) {
      words.removeLast()
      if last == "ids", let word = words.popLast() {
        words.append(word.hasSuffix("s") ? word : word + "s")
      }
    }
    let wanted = NameWords(words.joined(separator: " ")).property
    let name = wanted == attribute.name ? wanted : entity.freeName(wanted)
    entity.attributes.removeAll { $0.name == attribute.name }
    var entries: [GuessedEntry] = [
      ("key", "{ \(YAML.scalar(target.key.name)): \(YAML.scalar(attribute.path)) }")
    ]
    if isList { entries += [("ordered", "true"), ("repeats", "true")] }
    entity.relationships.append(
      GuessedRelationship(
        name: name,
        entity: target.entity.name,
        isToMany: isList,
        entries: entries,
        remarks: ["every value is a \(target.entity.name).\(target.key.name)"] + attribute.remarks
      )
    )
    entity.unique = entity.unique.map { $0 == attribute.name ? name : $0 }
  }
}
