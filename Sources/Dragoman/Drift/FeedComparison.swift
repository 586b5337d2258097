import DragomanGraph

/// Holds what a feed has against what earlier ones had, entity by entity.
struct FeedComparison {
  private let map: ImportMap
  private let before: SeenKeys?
  private let stored: Model
  private(set) var seen: SeenKeys
  private(set) var changes: [FeedDrift.Change] = []
  private(set) var evolved: [EvolvedAttribute] = []
  /// The names that attributes cannot have any more, by the root of their family.
  private var taken: [String: Set<String>] = [:]

  /// - Parameters:
  ///   - map: The map.
  ///   - before: What earlier feeds had; nil: there are none.
  ///   - stored: The model of the store, whose names are taken.
  init(_ map: ImportMap, _ before: SeenKeys?, stored: Model) {
    self.map = map
    self.before = before
    self.stored = stored
    seen = before ?? SeenKeys()
  }

  /// Compares an entity.
  mutating func compare(_ now: FeedKeys.Entity) {
    guard let entity = map.entity(named: now.name) else { return }
    let known = before?.entity(named: now.name, in: now.format)
    var next = SeenKeys.Entity(format: now.format, name: now.name, unread: known?.unread ?? [])
    for property in now.properties {
      let earlier = known?.property(named: property.name)
      if let earlier { compare(property, earlier, of: entity) }
      let kinds = Self.sorted(property.kinds)
      next.properties.append(
        SeenKeys.Property(
          name: property.name,
          values: kinds.isEmpty ? earlier?.values ?? [] : kinds,
          isPresent: property.isPresent
        )
      )
    }
    let rule = map.contract(of: entity)?.newKeys
    let names = Set(next.unread.map { Array($0.utf8) })
    for key in now.unread where !names.contains(Array(key.path.utf8)) {
      // What is null only may become an attribute when its first value tells the type.
      let waits =
        rule == .evolve && key.obstacle == nil && key.shape.kinds.total == key.shape.kinds.nulls
      let isRoom = next.unread.count < UnreadKeys.maximumCount
      if !waits, isRoom { next.unread.append(key.path) }
      // Of more keys than are remembered it is not known which are new; a feed that is frozen has none.
      guard known != nil, let rule, isRoom || rule == .freeze else { continue }
      if let attribute = report(key, rule, of: entity, now.format) {
        let isTextual = now.format == .xml || now.format == .csv
        let kinds = key.shape.valueKinds(as: attribute.type, isTextual: isTextual)
        next.properties.append(
          SeenKeys.Property(name: attribute.name, values: Self.sorted(kinds), isPresent: true)
        )
      }
    }
    seen.replace(next)
  }

  private mutating func compare(
    _ now: FeedKeys.Property,
    _ before: SeenKeys.Property,
    of entity: EntityMap
  ) {
    let contract = map.contract(of: now.name, in: entity)
    if !now.isPresent, before.isPresent, let rule = contract.vanishedKeys {
      changes.append(
        FeedDrift.Change(
          kind: .vanishedKey,
          entity: entity.name,
          name: now.name,
          rule: Contract(rule).newKeys,
          count: 0,
          values: [],
          valuesBefore: before.values
        )
      )
    }
    let added = now.openKinds.filter { !before.values.contains($0.key) }
    guard !added.isEmpty, !before.values.isEmpty, let rule = contract.changedTypes else { return }
    changes.append(
      FeedDrift.Change(
        kind: .changedType,
        entity: entity.name,
        name: now.name,
        rule: Contract(rule).newKeys,
        count: added.values.reduce(0, +),
        values: Self.sorted(added),
        valuesBefore: before.values
      )
    )
  }

  /// Reports a new key, and returns the attribute that it has become.
  private mutating func report(
    _ key: FeedKeys.UnreadKey,
    _ rule: Contract.KeyRule,
    of entity: EntityMap,
    _ format: ForeignFormat
  ) -> EvolvedAttribute? {
    let isTextual = format == .xml || format == .csv
    let kinds = key.shape.valueKinds(as: key.guess(in: format).type, isTextual: isTextual)
    // Each row of a table has a cell of each column.
    let filledCount = kinds.values.reduce(0, +)
    var change = FeedDrift.Change(
      kind: .newKey,
      entity: entity.name,
      name: key.name,
      rule: rule,
      count: isTextual && filledCount > 0 ? filledCount : key.count,
      values: Self.sorted(kinds)
    )
    if rule == .evolve { change.obstacle = key.obstacle }
    defer { changes.append(change) }
    guard rule == .evolve, !change.values.isEmpty, key.obstacle == nil, let path = key.spelled
    else { return nil }
    let root = map.lineage(of: entity).last?.name ?? entity.name
    var names = taken[root] ?? self.names(in: entity)
    let attribute = EvolvedAttribute(key, at: path, of: entity.name, format, taken: &names)
    taken[root] = names
    evolved.append(attribute)
    change.attribute = attribute.line
    let declared = SourceReach(map).namespaces(of: entity.name)
    let undeclared = key.namespaces
      .filter { space in declared[space.prefix].map { hasSameBytes($0, space.uri) } != true }
      .map { "\($0.prefix): \(YAML.quoted($0.uri))" }
    if !undeclared.isEmpty {
      change.namespaces = "namespaces: { \(undeclared.joined(separator: ", ")) }"
    }
    return attribute
  }

  /// The names of the attributes, columns and relationships in the table of an entity, in small letters.
  private func names(in entity: EntityMap) -> Set<String> {
    var names: Set<String> = []
    for entity in map.family(of: entity) {
      names.formUnion(entity.attributes.flatMap { [$0.name, $0.column ?? $0.name] })
      names.formUnion(entity.relationships.map(\.name))
    }
    let family = Set(map.family(of: entity).map(\.name))
    for entity in stored.entities where family.contains(entity.name) {
      names.formUnion(entity.attributes.flatMap { [$0.name, $0.column] })
      names.formUnion(entity.relationships.map(\.name))
    }
    return Set(names.map { $0.lowercased() })
  }

  private static func sorted(_ kinds: [FeedDrift.ValueKind: Int]) -> [FeedDrift.ValueKind] {
    FeedDrift.ValueKind.allCases.filter { kinds[$0] != nil }
  }
}
