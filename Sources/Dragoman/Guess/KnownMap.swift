import DragomanGraph

/// A map that a database was filled by, as far as a guess for another feed goes by it.
struct KnownMap {
  let map: ImportMap
  /// Names of entities that are in the map or in the database, in small letters.
  let entityNames: Set<String>
  /// Entities whose keys are known, as if they had been found in a feed.
  let entities: [GuessedEntity]
  /// The samples that the map was guessed of, as far as its head says so.
  let origins: [String]

  /// The keys of more objects are not read.
  private static let maximumKeyCount = 500_000

  /// - Parameters:
  ///   - map: The map.
  ///   - text: Its text.
  ///   - store: The database; nil where there is none yet.
  ///   - format: The format of the feed that is guessed.
  /// - Throws: `StoreError` where the database cannot be read.
  init(
    _ map: ImportMap,
    text: String,
    _ store: SQLiteStore?,
    format: ForeignFormat
  ) throws {
    self.map = map
    origins = Self.origins(in: text)
    let stored = store?.model.entities ?? []
    entityNames = Set((map.entities.map(\.name) + stored.map(\.name)).map { $0.lowercased() })
    guard let store else {
      entities = []
      return
    }
    let isTextual = format == .xml || format == .csv
    entities = try map.entities.compactMap { entity in
      guard stored.contains(where: { hasSameBytes($0.name, entity.name) }) else { return nil }
      return try Self.known(entity, store, isTextual: isTextual)
    }
  }

  /// An entity with the values of its key, where that is one text or whole number.
  private static func known(
    _ entity: EntityMap,
    _ store: SQLiteStore,
    isTextual: Bool
  ) throws -> GuessedEntity? {
    guard entity.uniqueKeys.first?.count == 1, let key = entity.uniqueKeys.first?.first,
      entity.attributes.contains(where: { hasSameBytes($0.name, key) })
    else { return nil }
    let request = FetchRequest(entity.name, columns: [FetchColumn(stringLiteral: key)])
    guard try store.count(FetchRequest(entity.name)) <= maximumKeyCount else { return nil }
    let shape = FeedShape(name: Array(key.utf8))
    let reader = try TextFormReader()
    let budget = HashBudget()
    for row in try store.dictionaries(request) {
      switch row[key] {
      case .integer(let value):
        var digits = String(value)
        digits.withUTF8 { bytes in
          let bytes = UnsafeRawBufferPointer(bytes)
          if isTextual {
            shape.kinds.texts += 1
            _ = shape.values.see(text: bytes, reader, budget)
          } else {
            shape.kinds.numbers += 1
            _ = shape.values.see(number: bytes, budget)
          }
        }
      case .text(var text):
        shape.kinds.texts += 1
        text.withUTF8 {
          _ = shape.values.see(text: UnsafeRawBufferPointer($0), reader, budget)
        }
      default: return nil
      }
    }
    let known = GuessedEntity(name: entity.name, shape: FeedShape(), isNested: false, inverse: nil)
    known.unique = [key]
    known.attributes = [GuessedAttribute(name: key, path: key, shape: shape)]
    return known
  }

  /// Patterns and names of the files of the feeds that the map is for.
  var files: [String] { map.sources.flatMap(\.files) + origins }

  /// The samples that the head of a guessed map names.
  private static func origins(in text: String) -> [String] {
    let (start, end) = ("# \(guessedOf) ", ". Every line is a guess")
    for line in text.split(whereSeparator: \.isNewline) {
      guard line.hasPrefix("#") else { break }
      guard line.hasPrefix(start) else { continue }
      let names = line.dropFirst(start.count)
      let list = names.firstRange(of: end).map { names[..<$0.lowerBound] } ?? names
      return list.split(separator: ", ").map { name in
        String(name.firstRange(of: " and ").map { name[..<$0.lowerBound] } ?? name)
      }
    }
    return []
  }

  /// What the comment begins with that names the samples of a guess.
  static let guessedOf = "Guessed by dragoman from"

  /// The names of the records' own members that an entity with its kinds is read from.
  static func members(
    of name: String,
    _ format: ForeignFormat,
    _ map: ImportMap
  ) -> Set<[UInt8]> {
    Set(paths(of: name, format, map).compactMap(member))
  }

  /// Those that an entity's key is read from.
  static func keyMembers(
    of name: String,
    _ format: ForeignFormat,
    _ map: ImportMap
  ) -> Set<[UInt8]> {
    guard let entity = map.entity(named: name) else { return [] }
    let lineage = map.lineage(of: entity)
    let spelling = NameSpellings(map, format: format).names(of: entity)
    let attributes = lineage.flatMap(\.attributes)
    let key = lineage.lazy.compactMap(\.uniqueKeys.first).first ?? []
    return Set(
      key.compactMap { part in
        guard let attribute = attributes.first(where: { hasSameBytes($0.name, part) }) else {
          return nil
        }
        let own = spelling.path(ofElement: attribute.name)
        return (attribute.from?.paths(in: format) ?? [own]).lazy.compactMap(member).first
      }
    )
  }

  /// The member of the record, or of what it is wrapped in, that a path begins with; nil: it begins elsewhere.
  private static func member(_ path: ForeignPath) -> [UInt8]? {
    guard path.root == .record else { return nil }
    var names: [String] = path.steps.compactMap { step in
      switch step {
      case .member(let name, _), .attribute(let name, _): name
      default: nil
      }
    }
    while names.count > 1, FeedGuess.wrappers.contains(names[0]) { names.removeFirst() }
    return Array((names.first ?? ".").utf8)
  }

  /// The paths that an entity with its kinds is read from.
  private static func paths(
    of name: String,
    _ format: ForeignFormat,
    _ map: ImportMap
  ) -> [ForeignPath] {
    let spellings = NameSpellings(map, format: format)
    let family = map.entities.filter { entity in
      map.lineage(of: entity).contains { hasSameBytes($0.name, name) }
    }
    func meanings(_ paths: ForeignPaths?, or own: ForeignPath) -> [ForeignPath] {
      paths?.paths(in: format) ?? [own]
    }
    return family.flatMap { entity -> [ForeignPath] in
      let spelling = spellings.names(of: entity)
      return entity.attributes.flatMap {
        meanings($0.from, or: spelling.path(ofElement: $0.name))
      }
        + entity.relationships.flatMap { relationship -> [ForeignPath] in
          let own = spelling.path(ofElement: relationship.name)
          guard let key = relationship.key else { return meanings(relationship.from, or: own) }
          return key.values.flatMap { part -> [ForeignPath] in
            if case .path(let paths, _) = part { meanings(paths, or: own) } else { [] }
          }
        }
    }
  }
}
