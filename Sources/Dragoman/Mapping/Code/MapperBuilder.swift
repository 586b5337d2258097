import DragomanGraph

/// Checks a mapper's lines against the model, one by one, and collects what is wrong with them.
struct MapperBuilder {
  private let entity: Entity
  private let attributes: [Attribute]
  private let relationships: [Relationship]
  private var mapped: Set<[UInt8]> = []
  private var faults: [MapFault] = []
  /// The model, in which the entity has the mapper's unique key.
  private(set) var model: Model
  /// What the lines so far come to.
  var map: EntityMap

  /// - Throws: That the model does not have the entity.
  init(entity name: String, model: Model) throws(MapFaults) {
    entity = try Self.find(name, in: model)
    self.model = model
    attributes = model.allAttributes(of: entity)
    relationships = ([entity] + model.ancestors(of: entity)).reversed().flatMap(\.relationships)
    map = EntityMap(
      name: name,
      table: entity.parent == nil ? entity.table : nil,
      parent: entity.parent,
      uniqueKeys: model.allUniqueKeys(of: entity),
      attributes: []
    )
  }

  /// The entity of that name.
  static func find(_ name: String, in model: Model) throws(MapFaults) -> Entity {
    guard let entity = model.entity(named: name) else {
      throw MapFaults([
        MapFault(
          .reference,
          "The model has no entity \"\(name)\".",
          place: "entities.\(name)",
          suggestion: nearest(to: name, in: model.entities.map(\.name))
        )
      ])
    }
    return entity
  }

  private mutating func report(
    _ code: MapFault.Code,
    _ message: String,
    at place: String,
    suggestion: String? = nil,
    rule: String? = nil
  ) {
    faults.append(
      MapFault(
        code,
        message,
        place: "entities.\(entity.name)\(place)",
        suggestion: suggestion,
        rule: rule
      )
    )
  }

  // MARK: - Keys

  /// Takes the mapper's unique key; nil is the model's.
  mutating func setKey(_ key: [String]?) {
    guard let key else { return }
    for name in key where !names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
      report(
        .reference,
        "\(entity.name) has no attribute \"\(name)\".",
        at: ".unique",
        suggestion: nearest(to: name, in: names)
      )
    }
    if let known = map.uniqueKeys.first {
      guard !known.map({ Array($0.utf8) }).elementsEqual(key.map { Array($0.utf8) }) else { return }
      report(
        .unique,
        "The model finds \(entity.name) by [\(known.joined(separator: ", "))], and the mapper by"
          + " [\(key.joined(separator: ", "))].",
        at: ".unique",
        rule: "an entity has one identity: leave uniqueKey out, or declare it in the model"
      )
    } else if !key.isEmpty {
      map.uniqueKeys = [key]
      do throws(StoreError) {
        _ = try model.declare([DeclaredKey(entity: entity.name, properties: key)])
      } catch {
        report(.unique, error.message, at: ".unique", rule: error.help)
      }
    }
  }

  // MARK: - Lines

  /// Takes one line; `foreign` is the path of a relationship whose map has none yet.
  mutating func add(_ part: MapperPart, foreign: String? = nil) {
    switch part {
    case .attribute(let map): add(map)
    case .relationship(let map): add(map, foreign: foreign)
    }
  }

  private mutating func add(_ line: Map) {
    let place = ".attributes.\(line.local)"
    guard let attribute = attribute(named: line.local) else {
      let isRelationship = relationships.contains { $0.name.utf8.elementsEqual(line.local.utf8) }
      report(
        .reference,
        "\(entity.name) has no attribute \"\(line.local)\".",
        at: place,
        suggestion: isRelationship
          ? nil : nearest(to: line.local, in: attributes.map(\.name)),
        rule: isRelationship ? "a relationship is mapped by a RelationshipMap" : nil
      )
      return
    }
    guard mapped.insert(Array(line.local.utf8)).inserted else {
      report(
        .duplicateKey,
        "\"\(line.local)\" is mapped twice.",
        at: place,
        rule: "one map an attribute: .or(path) gives it a second place to look"
      )
      return
    }
    var map = AttributeMap(attribute)
    map.from = paths(line.foreign, at: "\(place).from")
    // Without words of the line the raw values of the model mean themselves.
    let own = map.format.values
    map.format = line.format
    if line.format.values.isEmpty {
      map.format.values = own
    } else {
      checkWords(line.format, attribute, at: "\(place).values")
    }
    map.isExported = line.isExported
    map.policies = line.policies
    self.map.attributes.append(map)
  }

  private mutating func checkWords(
    _ format: ValueFormat,
    _ attribute: Attribute,
    at place: String
  ) {
    guard let allowed = attribute.allowedValues else { return }
    let words = format.values.map(\.local) + (format.unknown.map { [$0] } ?? [])
    for word in words where !allowed.contains(where: { $0.utf8.elementsEqual(word.utf8) }) {
      report(
        .value,
        "\"\(word)\" is no value of \(attribute.name): \(allowed.joined(separator: ", ")).",
        at: place,
        suggestion: nearest(to: word, in: allowed)
      )
    }
  }

  private mutating func add(_ line: RelationshipMap, foreign: String?) {
    let place = ".relationships.\(line.name)"
    guard let known = relationships.first(where: { $0.name.utf8.elementsEqual(line.name.utf8) })
    else {
      report(
        .reference,
        "\(entity.name) has no relationship \"\(line.name)\".",
        at: place,
        suggestion: nearest(to: line.name, in: relationships.map(\.name))
      )
      return
    }
    guard mapped.insert(Array(line.name.utf8)).inserted else {
      report(.duplicateKey, "\"\(line.name)\" is mapped twice.", at: place)
      return
    }
    if !known.destination.utf8.elementsEqual(line.entity.utf8) || known.kind != line.kind {
      report(
        .value,
        "In the model \"\(line.name)\" is \(known.kind.rawValue) of \(known.destination), in the"
          + " mapper \(line.kind.rawValue) of \(line.entity).",
        at: place
      )
      return
    }
    if line.onUnresolved == .stub,
      ModelLayout(model).entity(named: line.entity)?.hasStubColumn != true
    {
      report(
        .value,
        "In the model \(line.entity) admits no stubs.",
        at: "\(place).onUnresolved",
        rule: "set admitsStubs of \(line.entity) in the model"
      )
    }
    // What the model says of the link is not for the mapper to repeat.
    var map = line
    if let foreign { setPath(foreign, of: &map, at: place) }
    map.inverse = map.inverse ?? known.inverse
    map.isOrdered = known.isOrdered
    map.allowsRepeats = known.allowsRepeats
    map.onDelete = map.onDelete ?? known.deleteRule
    self.map.relationships.append(map)
  }

  /// Sets the path of nested records, or that of plain keys.
  private mutating func setPath(
    _ foreign: String,
    of map: inout RelationshipMap,
    at place: String
  ) {
    guard let key = map.key else {
      map.from = paths([foreign], at: "\(place).from")
      return
    }
    let paths = paths([foreign], at: "\(place).key")
    map.key = key.mapValues { part in
      if case .path(_, let split) = part { .path(paths, split: split) } else { part }
    }
  }

  /// The paths of a line, in every format in which they are paths; JSON's must be.
  private mutating func paths(_ texts: [String], at place: String) -> ForeignPaths {
    var paths = ForeignPaths()
    for text in texts {
      for (format, member) in ForeignPaths.members {
        do throws(PathFault) {
          paths[keyPath: member].append(try ForeignPathParser(format: format).parse(text))
        } catch {
          guard format == .json else { continue }
          report(
            .path,
            "\"\(printable(text))\" at character \(error.offset + 1): \(error.message)",
            at: place,
            suggestion: error.suggestion
          )
        }
      }
    }
    return paths
  }

  /// What a key may consist of: attributes, and to-ones.
  private var names: [String] {
    attributes.map(\.name) + relationships.filter { $0.kind == .toOne }.map(\.name)
  }

  private func attribute(named name: String) -> Attribute? {
    attributes.first { $0.name.utf8.elementsEqual(name.utf8) }
  }

  // MARK: - The whole

  /// The map that the lines come to; unique keys besides the identity are in it where the lines have all their parts,
  /// since a feed need not have the others.
  ///
  /// - Throws: Everything that is wrong, together.
  func checked() throws(MapFaults) -> EntityMap {
    var faults = self.faults
    for name in map.uniqueKeys.first ?? []
    where names.contains(where: { $0.utf8.elementsEqual(name.utf8) })
      && !mapped.contains(Array(name.utf8))
    {
      faults.append(
        MapFault(
          .unique,
          "No map feeds \"\(name)\", by which records find their object.",
          place: "entities.\(entity.name).unique",
          rule: "map it, or every record would make a new object"
        )
      )
    }
    // The rest of the model stands beside the map, so that references into it can be checked.
    let others = model.entities.filter { !$0.name.utf8.elementsEqual(entity.name.utf8) }
    var map = map
    map.uniqueKeys = map.uniqueKeys.enumerated().filter { number, key in
      number == 0 || key.allSatisfy { mapped.contains(Array($0.utf8)) }
    }.map(\.element)
    var whole = map
    // It has all that its ancestors have already.
    whole.parent = nil
    let own = MapFaults.ofMap(
      ImportMap(entities: [whole] + others.map { EntityMap($0) }),
      entity: entity.name
    )
    let told = Set(faults.map(\.place))
    faults += own.filter { !told.contains($0.place) }
    guard faults.isEmpty else { throw MapFaults(faults) }
    return map
  }
}

extension MapFaults {
  /// What is wrong with one entity of a map that was built in code.
  fileprivate static func ofMap(_ map: ImportMap, entity: String) -> [MapFault] {
    let place = "entities.\(entity)"
    return map.validate().filter { $0.place == place || $0.place.hasPrefix("\(place).") }
  }
}
