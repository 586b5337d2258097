@testable import Dragoman
@testable import DragomanGraph

/// How much of a map that a person wrote a guess has found.
struct MapComparison {
  /// What was found of how many.
  struct Share {
    var found = 0
    var count = 0

    mutating func add(_ isFound: Bool) {
      count += 1
      if isFound { found += 1 }
    }

    static func + (left: Share, right: Share) -> Share {
      Share(found: left.found + right.found, count: left.count + right.count)
    }

    var percentage: Double { count == 0 ? 100 : 100 * Double(found) / Double(count) }
    var text: String { count == 0 ? "–" : "\(found)/\(count)" }
  }

  /// Attributes with the same path and the same type; integers of all widths are one type.
  private(set) var attributes = Share()
  private(set) var keys = Share()
  private(set) var relationships = Share()
  /// What was not found.
  private(set) var missed: [String] = []

  private let person: ImportMap
  private let guess: ImportMap
  private var format = ForeignFormat.json
  /// The guess's entities, by the names that the person gave them.
  private var twins: [String: EntityMap] = [:]

  init(_ person: ImportMap, _ guess: ImportMap) {
    self.person = person
    self.guess = guess
    for source in person.sources {
      let twin = guess.sources.first {
        $0.format == source.format && $0.records?.steps == source.records?.steps
      }
      format = source.format
      guard let twin else { continue }
      match(source.entity, twin.entity)
    }
    for entity in person.entities { compare(entity) }
  }

  private mutating func match(_ own: String, _ other: String) {
    guard twins[own] == nil, let entity = person.entity(named: own),
      let twin = guess.entity(named: other)
    else { return }
    twins[own] = twin
    for relationship in entity.relationships {
      guard let paths = nested(relationship, of: entity, person),
        let found = twin.relationships.first(where: { nested($0, of: twin, guess) == paths })
      else { continue }
      match(relationship.entity, found.entity)
    }
  }

  private mutating func compare(_ entity: EntityMap) {
    let twin = twins[entity.name]
    for attribute in entity.attributes {
      let path = place(attribute.from, or: attribute.name)
      let found = twin?.attributes.first { place($0.from, or: $0.name) == path }
      // A place in a list has no value of the feed.
      guard path.first != "$index" else { continue }
      let isFound = found.map { kind($0.type) == kind(attribute.type) } ?? false
      attributes.add(isFound)
      if !isFound {
        missed.append(
          "\(entity.name).\(attribute.name): \(attribute.type.rawValue), guessed"
            + " \(found?.type.rawValue ?? "nothing")"
        )
      }
    }
    if !entity.uniqueKeys.isEmpty {
      let wanted = entity.uniqueKeys.map { Set($0.map { part($0, of: entity) }) }
      let own = twin?.uniqueKeys.first.map { names in
        Set(names.map { part($0, of: twin ?? entity) })
      }
      let isFound = own.map(wanted.contains) ?? false
      keys.add(isFound)
      if !isFound {
        missed.append("\(entity.name): key \(entity.uniqueKeys), guessed \(twin?.uniqueKeys ?? [])")
      }
    }
    for relationship in entity.relationships {
      let target = twins[relationship.entity]?.name
      let own = nested(relationship, of: entity, person)
      let isFound =
        twin?.relationships.contains { other in
          other.entity == target && other.kind == relationship.kind
            && nested(other, of: twin ?? entity, guess) == own
            && referring(other) == referring(relationship)
        } ?? false
      relationships.add(isFound)
      if !isFound { missed.append("\(entity.name).\(relationship.name): \(relationship.entity)") }
    }
  }

  private func kind(_ type: AttributeType) -> String {
    [.int16, .int32, .int64].contains(type) ? "integer" : type.rawValue
  }

  /// The parts of a key: where each stands, or that it is the record around.
  private func part(_ name: String, of entity: EntityMap) -> [String] {
    if let attribute = entity.attributes.first(where: { $0.name == name }) {
      return place(attribute.from, or: name)
    }
    if let relationship = entity.relationships.first(where: { $0.name == name }),
      let paths = referring(relationship)
    {
      return paths
    }
    return ["the record around"]
  }

  /// Where nested records stand; nil of a reference by key, and of the way back to the record around.
  private func nested(
    _ relationship: RelationshipMap,
    of entity: EntityMap,
    _ map: ImportMap
  ) -> [String]? {
    guard relationship.key == nil else { return nil }
    let isWayBack =
      relationship.from == nil
      && map.entity(named: relationship.entity)?.relationships.contains {
        $0.inverse == relationship.name && $0.entity == entity.name
      } == true
    return isWayBack ? nil : place(relationship.from, or: relationship.name)
  }

  /// Where the keys of a reference stand.
  private func referring(_ relationship: RelationshipMap) -> [String]? {
    guard let key = relationship.key else { return nil }
    return key.values.flatMap { part -> [String] in
      if case .path(let paths, _) = part { place(paths, or: "") } else { [] }
    }.sorted()
  }

  private func place(_ paths: ForeignPaths?, or name: String) -> [String] {
    let found: [ForeignPath]? = paths.map { paths in
      switch format {
      case .json, .ndjson: paths.json
      case .xml: paths.xml
      case .csv: paths.csv
      }
    }
    guard let path = found?.first else {
      return paths == nil ? ["\(ForeignPath.Step.member(name, namespace: nil))"] : []
    }
    return path.root == .index ? ["$index"] : path.steps.map { "\($0)" }
  }
}
