import DragomanGraph

/// A map that a database was filled by, as far as a guess for another feed goes by it.
struct KnownMap {
  let map: ImportMap
  /// Names of entities that are in the map or in the database, in small letters.
  let entityNames: Set<String>
  /// Entities whose keys are known, as if they had been found in a feed.
  let entities: [GuessedEntity]

  /// The keys of more objects are not read.
  private static let maximumKeyCount = 500_000

  /// - Parameters:
  ///   - map: The map.
  ///   - store: The database; nil where there is none yet.
  ///   - format: The format of the feed that is guessed.
  /// - Throws: `StoreError` where the database cannot be read.
  init(_ map: ImportMap, _ store: SQLiteStore?, format: ForeignFormat) throws {
    self.map = map
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

  /// The sources of the map that read what the guess is of: at the same place, and most of its members.
  func sources(of guess: ImportMap) -> [String] {
    map.sources.filter { own in
      guess.sources.contains { source in
        guard own.format == source.format, own.records?.steps == source.records?.steps else {
          return false
        }
        let found = Self.paths(of: source.entity, source.format, guess)
        let known = Self.paths(of: own.entity, own.format, map)
        return found.intersection(known).count * 2 > found.count
      }
    }.map(\.name)
  }

  /// A pattern for the names of a feed's files: `orders*.json` of `orders-2026-11-23.json.gz`.
  static func pattern(of file: String) -> String? {
    var parts = (file.split(separator: "/").last ?? "").split(separator: ".")
    if let last = parts.last, ["gz", "zst"].contains(last) { parts.removeLast() }
    guard parts.count > 1, let stem = parts.first, let ending = parts.last,
      !file.contains(where: { "*?[]\\".contains($0) })
    else { return nil }
    let letters = stem.prefix { !$0.isNumber }
    let name = letters.reversed().drop { "-_ ".contains($0) }.reversed()
    return name.count < 3 ? parts.joined(separator: ".") : String(name) + "*." + ending
  }

  /// The paths that an entity with its kinds is read from, however they are spelled.
  private static func paths(
    of name: String,
    _ format: ForeignFormat,
    _ map: ImportMap
  ) -> Set<ForeignPath> {
    let spellings = NameSpellings(map, format: format)
    let family = map.entities.filter { entity in
      map.lineage(of: entity).contains { hasSameBytes($0.name, name) }
    }
    func meanings(_ paths: ForeignPaths?, or own: ForeignPath) -> [ForeignPath] {
      (paths?.paths(in: format) ?? [own])
        .map { ForeignPath(root: $0.root, steps: $0.steps, text: "") }
    }
    return Set(
      family.flatMap { entity -> [ForeignPath] in
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
    )
  }
}
