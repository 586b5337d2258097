/// Records of several kinds in one list: an entity for what all have, and a sub-entity a kind.
extension FeedGuess {
  /// Gives an entity the members that its kinds have alike, and makes a sub-entity of each kind.
  func fill(_ entity: GuessedEntity, by kinds: RecordKinds, depth: Int) {
    let parts = kinds.kinds
    var common: Set<ObjectIdentifier> = []
    for member in entity.shape.members {
      let twins = parts.compactMap { twin(of: member, in: $0.shape) }
      guard twins.count == parts.count else { continue }
      if member.name == kinds.name || areAlike(twins) { common.insert(ObjectIdentifier(member)) }
    }
    let way = Way(steps: [], names: [], isAlways: true, depth: depth)
    collect(entity.shape, way, into: entity) { common.contains(ObjectIdentifier($0)) }
    guard
      let place = entity.shape.members.first(where: { $0.name == kinds.name }),
      let path = spelling.path([.member(place)])
    else { return }
    for index in entity.attributes.indices where entity.attributes[index].shape === place {
      // Its words are held against those of the map as they are spelled.
      entity.attributes[index].type = .string
      entity.attributes[index].entries = []
      entity.attributes[index].reading = .spelled
      entity.attributes[index].isAlwaysThere = true
      entity.attributes[index].remarks = ["the kind of the record"]
      entity.kindAttribute = entity.attributes[index].name
    }
    var words: [(word: String, entity: String)] = []
    var columns = Set(
      (entity.attributes.map(\.name) + entity.relationships.map(\.name)).map { $0.lowercased() }
    )
    for part in parts {
      let word = String(decoding: part.word, as: UTF8.self)
      let sub = GuessedEntity(
        name: freeEntityName(Self.kindName(word, of: entity), in: entity.name),
        shape: part.shape,
        parent: entity,
        word: word
      )
      words.append((word, sub.name))
      let count = part.shape.kinds.total
      sub.remarks.append("\(count) \(count == 1 ? "record" : "records")")
      entities.append(sub)
      collect(part.shape, way, into: sub) { member in
        guard let twin = self.twin(of: member, in: entity.shape) else { return true }
        return !common.contains(ObjectIdentifier(twin))
      }
      // All kinds lie in one table.
      columns.formUnion(sub.relationships.map { $0.name.lowercased() })
      for index in sub.attributes.indices {
        let name = sub.attributes[index].name
        guard !columns.insert(name.lowercased()).inserted else { continue }
        var column = NameWords("\(sub.name) \(name)").property
        while !columns.insert(column.lowercased()).inserted { column += "2" }
        sub.attributes[index].entries.append(("column", YAML.scalar(column)))
      }
    }
    entity.discriminator = (path, words)
  }

  /// The member of another object with the same name.
  private func twin(of member: FeedShape, in shape: FeedShape) -> FeedShape? {
    shape.members.first { other in
      other.name == member.name && other.space == member.space
        && other.isAttribute == member.isAttribute
    }
  }

  /// Whether members of all kinds are read in one way: of one type, or with the same members.
  private func areAlike(_ all: [FeedShape]) -> Bool {
    // What is null in all records of a kind speaks against nothing.
    let twins = all.filter { $0.kinds.nulls < $0.kinds.total }
    guard let first = twins.first else { return true }
    if twins.allSatisfy({ $0.kinds.objects + $0.kinds.arrays == 0 }) {
      let types = twins.map { TypeGuess($0, name: NameWords(first.nameText), conventions) }
      return types.allSatisfy { type in
        type.type == types[0].type && type.entries.count == types[0].entries.count
          && zip(type.entries, types[0].entries).allSatisfy { $0 == $1 }
      }
    }
    let names = twins.map { Set((($0.element?.members ?? []) + $0.members).map(\.name)) }
    let isOneForm = twins.allSatisfy {
      ($0.kinds.objects > 0) == (first.kinds.objects > 0)
        && ($0.kinds.arrays > 0) == (first.kinds.arrays > 0)
        && ($0.kinds.scalars > 0) == (first.kinds.scalars > 0)
    }
    return isOneForm && names.allSatisfy { $0 == names[0] }
  }

  /// The words for a record of a kind.
  static func kindWords(_ word: String) -> NameWords {
    let last = word.split(whereSeparator: { "./:#".contains($0) }).last.map(String.init) ?? word
    return NameWords(last).singular
  }

  /// A name for a kind, out of its word: `library.author` is an Author.
  private static func kindName(_ word: String, of entity: GuessedEntity) -> String {
    let words = kindWords(word)
    let hasLetter = words.words.joined().unicodeScalars.contains { $0.properties.isAlphabetic }
    return hasLetter ? words.type : NameWords("\(entity.name) \(word)").type
  }
}
