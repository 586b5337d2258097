import DragomanGraph

/// A place where an import looks for the word that tells an entity, and what it is to find there.
struct EntityWord {
  let from: ForeignPaths
  /// What is written there; nil: nothing, as the record is of the entity already.
  let word: String?
  /// All words that say the same, as bytes.
  let admitted: [[UInt8]]
  /// Whether the record comes back as another one without it.
  var isRequired = true
}

extension ImportMap {
  /// How records that are read as those of an entity are told as those of one below it.
  ///
  /// - Returns: The words; nil where nothing tells them.
  func words(from source: EntityMap, to entity: EntityMap) -> [EntityWord]? {
    let lineage = lineage(of: entity)
    guard lineage.contains(where: { hasSameBytes($0.name, source.name) }) else { return nil }
    var words: [EntityWord] = []
    func known(_ rule: EntityMap.Discriminator) -> String? {
      words.first { $0.from == rule.from }?.word
    }
    var current = source
    while !hasSameBytes(current.name, entity.name) {
      let below = lineage.prefix { !hasSameBytes($0.name, current.name) }
      guard let rule = current.discriminator,
        let next = below.first(where: { !rule.words(of: $0).isEmpty })
      else { return nil }
      let admitted = rule.words(of: next)
      // Where two rules look at one place, both have to take what stands there.
      guard let word = known(rule) ?? admitted.first, admitted.contains(word) else { return nil }
      words.append(
        EntityWord(from: rule.from, word: word, admitted: admitted.map { Array($0.utf8) })
      )
      current = next
    }
    if let rule = entity.discriminator {
      let admitted = rule.words(of: entity)
      if let word = known(rule) { return admitted.contains(word) ? words : nil }
      words.append(
        EntityWord(from: rule.from, word: nil, admitted: admitted.map { Array($0.utf8) })
      )
    }
    return words
  }

  /// The words that a record of an entity carries.
  ///
  /// - Parameters:
  ///   - entity: The entity.
  ///   - required: The words by which its source tells it; nil: there is no such source.
  /// - Returns: These, and those by which sources of its ancestors would, where their places are free.
  func words(of entity: EntityMap, beside required: [EntityWord]?) -> [EntityWord] {
    var words = required ?? []
    let above = lineage(of: entity).reversed().lazy.compactMap { self.words(from: $0, to: entity) }
    for var word in above.first ?? [] where !words.contains(where: { $0.from == word.from }) {
      word.isRequired = false
      if word.word != nil { words.append(word) }
    }
    return words
  }
}

extension EntityMap.Discriminator {
  /// The words that mean an entity, in order.
  fileprivate func words(of entity: EntityMap) -> [String] {
    values.filter { hasSameBytes($0.value, entity.name) }.keys
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }
}
