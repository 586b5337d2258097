import DragomanGraph

/// Which sources the records of each entity come from: its own, those in whose records it is nested, and
/// those whose records turn out to be of it.
///
/// What an entity inherits is read with it: the sources of a sub-entity are those of its parent, too.
struct SourceReach: Sendable {
  /// The way from a record to one of another entity.
  private struct Way {
    /// The formats in which it is open.
    let formats: [ForeignFormat]
    /// The entity at its end, by its number.
    let end: Int
  }

  private let places: [[UInt8]: Int]
  private let all: [SourceMap]
  /// The sources by the numbers of the entities, in the order of the map.
  private var sources: [[SourceMap]]

  /// Follows the ways from every source: O(sources × relationships), and as much again where a name is the
  /// other side of several relationships.
  init(_ map: ImportMap) {
    let places = Dictionary(
      map.entities.enumerated().map { (Array($1.name.utf8), $0) },
      uniquingKeysWith: { first, _ in first }
    )
    self.places = places
    all = map.sources
    sources = map.entities.map { _ in [] }
    let lineages = map.entities.map { entity in
      map.lineage(of: entity).compactMap { places[Array($0.name.utf8)] }
    }
    let sides = map.entities.flatMap { entity in entity.relationships.map { (entity, $0) } }
    let others = Dictionary(grouping: sides) { Array(($0.1.inverse ?? "").utf8) }
    let nested = map.entities.map { entity in
      Self.ways(of: entity, to: places) { relationship in
        // Only the other side of another relationship may be left unread.
        map.readsFeed(
          relationship,
          of: entity,
          among: others[Array(relationship.name.utf8)] ?? []
        )
      }
    }
    let kinds = map.entities.map { Self.kinds(of: $0, places) }
    for source in map.sources {
      var seen: Set<Int> = []
      var read: Set<Int> = []
      var next = places[Array(source.entity.utf8)].map { [$0] } ?? []
      while let entity = next.popLast() {
        guard seen.insert(entity).inserted else { continue }
        read.formUnion(lineages[entity])
        let ways = lineages[entity].flatMap { nested[$0] } + kinds[entity]
        next += ways.filter { $0.formats.contains(source.format) }.map(\.end)
      }
      for entity in read { sources[entity].append(source) }
    }
  }

  /// The ways to the records that the relationships of an entity find inside of its own.
  private static func ways(
    of entity: EntityMap,
    to places: [[UInt8]: Int],
    isRead: (RelationshipMap) -> Bool
  ) -> [Way] {
    entity.relationships.compactMap { relationship in
      guard relationship.key == nil, let end = places[Array(relationship.entity.utf8)],
        isRead(relationship)
      else { return nil }
      let formats = ForeignFormat.allCases.filter { format in
        // A cell of CSV holds no records: only the row itself may be one.
        guard format != .csv else {
          return relationship.from?.csv.contains { $0.root == .record && $0.steps.isEmpty } ?? false
        }
        return relationship.from.map { !$0.paths(in: format).isEmpty } ?? true
      }
      return Way(formats: formats, end: end)
    }
  }

  /// The ways to the entities that a discriminator finds records to be of.
  private static func kinds(of entity: EntityMap, _ places: [[UInt8]: Int]) -> [Way] {
    guard let rule = entity.discriminator else { return [] }
    let formats = ForeignFormat.allCases.filter { !rule.from.paths(in: $0).isEmpty }
    return rule.values.values.compactMap { places[Array($0.utf8)] }
      .map { Way(formats: formats, end: $0) }
  }

  /// The sources that records of an entity come from; empty for one that others only name by its key.
  func readers(of entity: String) -> [SourceMap] {
    places[Array(entity.utf8)].map { sources[$0] } ?? []
  }

  /// The sources by which the paths of an entity are meant: where none reads it, all of them.
  private func sources(of entity: String) -> [SourceMap] {
    let readers = readers(of: entity)
    return readers.isEmpty ? all : readers
  }

  /// The formats of these sources, of which NDJSON is JSON; JSON where there are no sources.
  func formats(of entity: String) -> Set<ForeignFormat> { Self.formats(of: sources(of: entity)) }

  /// The formats in which each path of an entity has to be one: of its own sources, or, where it has none, of those
  /// that reach it.
  ///
  /// Who writes for the own sources need not know what else may lead to the entity: that is told by `lint()`.
  func ownFormats(of entity: String) -> Set<ForeignFormat> {
    let own = all.filter { hasSameBytes($0.entity, entity) }
    return own.isEmpty ? formats(of: entity) : Self.formats(of: own)
  }

  private static func formats(of sources: [SourceMap]) -> Set<ForeignFormat> {
    let formats = sources.map { $0.format == .ndjson ? .json : $0.format }
    return formats.isEmpty ? [.json] : Set(formats)
  }

  /// The prefixes of these sources together, and the namespaces they stand for; prefixes that others declare are
  /// known, too.
  func namespaces(of entity: String) -> [String: String] {
    let others = ImportMap.namespaces(of: all).filter { !$0.key.isEmpty }
    return ImportMap.namespaces(of: sources(of: entity)).merging(others) { own, _ in own }
  }
}
