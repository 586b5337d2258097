import DragomanGraph

/// Finds attributes whose values are keys of another entity, and makes relationships of them.
struct ReferenceGuess {
  private let entities: [GuessedEntity]
  private let targets: [Target]

  /// - Parameters:
  ///   - entities: The entities that may refer to each other.
  ///   - others: Entities that they may refer to as well.
  init(_ entities: [GuessedEntity], besides others: [GuessedEntity]) {
    self.entities = entities
    targets = Self.targets(entities + others)
  }

  /// An entity whose key is one attribute, or one beside the word that tells its kind.
  private struct Target {
    let entity: GuessedEntity
    let key: GuessedAttribute
    /// The place of the key's values.
    let shape: FeedShape
    /// The part of the key that has the same value always, as the map says it.
    let kind: String?
    let words: [String]
  }

  /// Whether no other entity has all of the values as keys.
  private func isOnly(_ target: Target, _ values: HashSet) -> Bool {
    targets.allSatisfy { other in
      other.entity === target.entity
        || other.shape.values.distinct.map { !values.isSubset(of: $0) } ?? true
    }
  }

  /// Makes the relationships.
  func apply() {
    guard !targets.isEmpty else { return }
    for entity in entities { link(entity) }
  }

  /// What can be referred to, kinds before what has all of them.
  private static func targets(_ entities: [GuessedEntity]) -> [Target] {
    let found = entities.compactMap(target)
    return found.filter { $0.entity.parent != nil } + found.filter { $0.entity.parent == nil }
  }

  private static func target(_ entity: GuessedEntity) -> Target? {
    let root = entity.parent ?? entity
    let open = root.unique.filter { entity.parent == nil || $0 != root.kindAttribute }
    guard open.count == 1, let key = root.attributes.first(where: { $0.name == open[0] }),
      let place = key.shape
    else { return nil }
    let own =
      entity.parent == nil
      ? place : entity.shape.members.first { $0.name == place.name && $0.space == place.space }
    guard let own, own.values.distinct != nil else { return nil }
    var kind: String?
    if root.unique.count > 1, let name = root.kindAttribute, let word = entity.word {
      kind = "\(YAML.scalar(name)): { value: \(YAML.scalar(word)) }"
    }
    return Target(
      entity: entity,
      key: key,
      shape: own,
      kind: kind,
      words: NameWords(entity.name).words
    )
  }

  private func link(_ entity: GuessedEntity) {
    for attribute in entity.attributes {
      guard let shape = attribute.shape, entity.unique != [attribute.name],
        attribute.name != entity.kindAttribute,
        attribute.entries.allSatisfy({ ["from", "column"].contains($0.key) })
      else { continue }
      let isList = attribute.type == .json && shape.kinds.scalars == 0
      let values = isList ? shape.element : shape
      guard let values,
        isList ? values.kinds.scalars == values.kinds.total : attribute.type != .json
      else { continue }
      // A list is no part of a key.
      let isKey = entity.unique.contains(attribute.name)
      let split = attribute.type == .string && !isList && !isKey ? values.values.lists.split : nil
      if let target = targets.first(where: {
        refers(attribute, values, of: entity, isList: isList || split != nil, split, to: $0)
      }) {
        replace(attribute, in: entity, by: target, isList: isList, split)
      } else if split == "," || split == ";" || split == "|", let split,
        NameWords(attribute.name).isPlural,
        let place = entity.attributes.firstIndex(where: { $0.name == attribute.name })
      {
        entity.attributes[place].remarks.append("lists, divided by \(YAML.quoted(split))")
      }
    }
  }

  /// Words behind what a reference leads to.
  private static let endings: Set = ["id", "ids", "key", "code", "no", "number", "ref", "refs"]

  /// Whether all values are keys of the target, and the name says so or the keys are no mere numbers.
  private func refers(
    _ attribute: GuessedAttribute,
    _ shape: FeedShape,
    of entity: GuessedEntity,
    isList: Bool,
    _ split: String?,
    to target: Target
  ) -> Bool {
    let found = split == nil ? shape.values.distinct : shape.values.lists.keys
    guard let keys = target.shape.values.distinct, let values = found,
      values.count > 0, split != nil || shape.values.emptyCount == 0, values.isSubset(of: keys),
      split != nil || (shape.kinds.numbers > 0) == (target.shape.kinds.numbers > 0),
      attribute.shape !== target.shape, attribute.shape !== target.key.shape
    else { return false }
    let words = NameWords(attribute.name).words
    var stem = words
    if stem.count > 1, let last = stem.last, Self.endings.contains(last) { stem.removeLast() }
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
    isList: Bool,
    _ split: String?
  ) {
    var words = NameWords(attribute.name).words
    if words.count > 1, let last = words.last, Self.endings.contains(last) {
      words.removeLast()
      if last == "ids" || last == "refs", let word = words.popLast() {
        words.append(word.hasSuffix("s") ? word : word + "s")
      }
    }
    let wanted = NameWords(words.joined(separator: " ")).property
    let name = entity.freeRelationshipName(wanted, for: attribute.name)
    entity.attributes.removeAll { $0.name == attribute.name }
    let path = YAML.scalar(attribute.path)
    let from = split.map { "{ from: \(path), split: \(YAML.scalar($0)) }" } ?? path
    let parts = [target.kind, "\(YAML.scalar(target.key.name)): \(from)"].compactMap { $0 }
    var entries: [GuessedEntry] = [("key", "{ \(parts.joined(separator: ", ")) }")]
    let isToMany = isList || split != nil
    if isToMany { entries += [("ordered", "true"), ("repeats", "true")] }
    // Who comes a day later is waited for; who has it in its key waits anyway.
    if !entity.unique.contains(attribute.name) { entries.append(("onUnresolved", "pending")) }
    entity.relationships.append(
      GuessedRelationship(
        name: name,
        entity: target.entity.name,
        isToMany: isToMany,
        entries: entries,
        remarks: [
          "every value is \(MessageWords.withArticle(target.entity.name)).\(target.key.name)"
        ] + attribute.remarks
      )
    )
    entity.unique = entity.unique.map { $0 == attribute.name ? name : $0 }
  }
}
