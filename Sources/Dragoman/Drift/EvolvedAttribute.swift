import DragomanGraph

/// An attribute that a new key has become by the contract of its entity: no file of the user's has it, so it
/// stands in the database, and imports by the same map take it along.
struct EvolvedAttribute: Codable, Equatable {
  let entity: String
  let name: String
  let type: AttributeType
  /// The attribute as a line of a map, with a comment where it may mean more than the text that it is.
  let line: String
  /// A whole map of this attribute alone, with the namespaces that its path names.
  let map: String

  /// Describes what a key becomes: its type and formats are guessed from its values.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - path: Its path.
  ///   - entity: The entity.
  ///   - format: The format of the feed.
  ///   - taken: The names that there are, in small letters; the new one is added.
  init(
    _ key: FeedKeys.UnreadKey,
    at path: String,
    of entity: String,
    _ format: ForeignFormat,
    taken: inout Set<String>
  ) {
    let words = NameWords(key.words)
    var name = words.property
    var number = 2
    while !taken.insert(name.lowercased()).inserted {
      name = words.property + String(number)
      number += 1
    }
    var guess = key.guess(in: format)
    var comment = ""
    // Nobody looks at it before it is imported, and a text loses nothing.
    if let doubt = guess.remarks.first(where: { $0.hasPrefix("ambiguous: ") }) {
      comment = " # a text, since \(Self.spelled(Self.entries(guess))) is \(doubt)"
      guess.keepText()
    }
    type = guess.type
    let entries = [("from", YAML.scalar(path))] + Self.entries(guess)
    let entry = "\(YAML.scalar(name)): \(Self.spelled(entries))"
    self.entity = entity
    self.name = name
    line = entry + comment
    var source = "format: \(format.rawValue), entity: \(YAML.quoted(entity))"
    if format == .xml { source += ", records: /r/r" }
    if !key.namespaces.isEmpty {
      let spaces = key.namespaces.map { "\($0.prefix): \(YAML.quoted($0.uri))" }
      source += ", namespaces: { \(spaces.joined(separator: ", ")) }"
    }
    map = """
      version: 1
      entities: { \(YAML.quoted(entity)): { attributes: { \(entry) } } }
      sources: { s: { \(source) } }
      """
  }

  private static func entries(_ guess: TypeGuess) -> [GuessedEntry] {
    (guess.type == .string ? [] : [("type", guess.type.rawValue)]) + guess.entries
  }

  private static func spelled(_ entries: [GuessedEntry]) -> String {
    "{ " + entries.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + " }"
  }

  /// The attribute as a map has it.
  ///
  /// - Throws: `MapFaults` where the text is none of ours.
  func attribute() throws(MapFaults) -> AttributeMap? {
    var attribute = try ImportMap(yaml: map).entities.first?.attributes.first
    // It stands in no file.
    attribute?.position = nil
    return attribute
  }
}

extension FeedKeys.UnreadKey {
  /// What the values are, by all of them: JSON alone can hold several elements of one name, and elements
  /// with others in them.
  func guess(in format: ForeignFormat) -> TypeGuess {
    var guess = TypeGuess(shape, name: NameWords(shape.nameText), conventions)
    if shape.kinds.objects > 0 || (format == .xml && shape.isRepeated) {
      guess.type = .json
      guess.entries = []
      guess.remarks = []
    }
    return guess
  }
}

extension ImportMap {
  /// The map with attributes that keys have become, but for those that it has itself by now.
  ///
  /// - Returns: The map, and the attributes that were added.
  /// - Throws: `MapFaults` where the text of one is none of ours.
  func adding(
    _ evolved: [EvolvedAttribute]
  ) throws(MapFaults) -> (map: ImportMap, added: [EvolvedAttribute]) {
    var map = self
    var added: [EvolvedAttribute] = []
    for attribute in evolved {
      guard let place = map.entities.firstIndex(where: { hasSameBytes($0.name, attribute.entity) }),
        let own = try attribute.attribute()
      else { continue }
      let family = map.family(of: map.entities[place])
      let isKnown = family.contains { entity in
        entity.relationships.contains { hasSameBytes($0.name, own.name) }
          || entity.attributes.contains { hasSameBytes($0.name, own.name) || $0.reads(own) }
      }
      if isKnown { continue }
      map.entities[place].attributes.append(own)
      added.append(attribute)
    }
    return (map, added)
  }

  /// The entities whose objects lie in one table with those of an entity, itself among them.
  func family(of entity: EntityMap) -> [EntityMap] {
    let root = lineage(of: entity).last ?? entity
    return entities.filter { other in
      lineage(of: other).last.map { hasSameBytes($0.name, root.name) } ?? false
    }
  }
}

extension AttributeMap {
  /// Whether the attribute reads a path of another one.
  fileprivate func reads(_ other: AttributeMap) -> Bool {
    func texts(_ map: AttributeMap) -> [String] {
      guard let from = map.from else { return [map.name] }
      return (from.json + from.xml + from.csv).map(\.text)
    }
    let own = texts(self)
    return texts(other).contains { path in own.contains { hasSameBytes($0, path) } }
  }
}
