import DragomanGraph

extension MapDecoder {
  /// One entity and everything below it.
  mutating func entity(_ member: MapNode.Member, in context: PathContext) -> EntityMap {
    let place = "entities.\(member.key)"
    let section = section(member.value, at: place, keys: MapGrammar.entity, of: "an entity")
    var entity = EntityMap(name: member.key, attributes: [], position: member.keyPosition)
    entity.table = text(section["table"])
    entity.parent = text(section["parent"])
    entity.discriminator = discriminator(section["discriminator"], in: context)
    entity.uniqueKeys = boundedKeys(section["unique"])
    if let attributes = section["attributes"] {
      entity.attributes = properties(attributes).map {
        attribute($0, at: "\(attributes.place).\($0.key)", in: context)
      }
    } else if section["parent"] == nil {
      missing("attributes", in: section)
    }
    if let relationships = section["relationships"] {
      entity.relationships = properties(relationships).compactMap {
        relationship($0, at: "\(relationships.place).\($0.key)", in: context)
      }
    }
    entity.version = text(section["version"])
    entity.deleteWhen = tombstone(section["deleteWhen"], in: context)
    entity.overwriteExisting = flag(section["overwriteExisting"])
    entity.hooks = hooks(section["hooks"])
    entity.policies = policies(section)
    return entity
  }

  /// The members of `attributes` or `relationships`, of which a table cannot have any number.
  private mutating func properties(_ found: (node: MapNode, place: String)) -> [MapNode.Member] {
    let members = members(of: found.node, at: found.place)
    guard members.count > Model.maximumColumnCount else { return members }
    report(
      .limit,
      "A table has at most \(Model.maximumColumnCount) columns; these are \(members.count).",
      at: found.place,
      found.node.position
    )
    return Array(members.prefix(Model.maximumColumnCount))
  }

  /// The unique keys, each of which is an index to keep up with every record.
  private mutating func boundedKeys(_ found: (node: MapNode, place: String)?) -> [[String]] {
    guard let found else { return [] }
    let keys = uniqueKeys(found)
    let count = keys.joined().count
    guard count > Self.maximumKeyPartCount else { return keys }
    report(
      .limit,
      "Unique keys have at most \(Self.maximumKeyPartCount) names in all, these \(count).",
      at: found.place,
      found.node.position
    )
    return []
  }

  private static let maximumKeyPartCount = 64

  /// A name; a list of names, one composite key; a list of lists, several keys.
  private mutating func uniqueKeys(_ found: (node: MapNode, place: String)) -> [[String]] {
    guard case .sequence(let nodes) = found.node.content else {
      return text(found).map { [[$0]] } ?? []
    }
    let lists = nodes.filter { if case .sequence = $0.content { true } else { false } }
    if lists.isEmpty {
      let key = list(found) ?? []
      if nodes.isEmpty { wanted("the name of an attribute", found) }
      return key.isEmpty ? [] : [key]
    }
    guard lists.count == nodes.count else {
      report(
        .shape,
        "A list of names and lists is neither one key nor several.",
        at: found.place,
        found.node.position,
        rule: "several keys are a list of lists: [[id], [country, number]]"
      )
      return []
    }
    return lists.enumerated().compactMap { index, node in
      let key = list((node, "\(found.place).\(index)")) ?? []
      return key.isEmpty ? nil : key
    }
  }

  private mutating func discriminator(
    _ found: (node: MapNode, place: String)?,
    in context: PathContext
  ) -> EntityMap.Discriminator? {
    guard let found else { return nil }
    let section = section(
      found.node,
      at: found.place,
      keys: MapGrammar.discriminator,
      of: "a discriminator"
    )
    for key in MapGrammar.discriminator where section[key] == nil { missing(key, in: section) }
    guard let from = paths(section["from"], in: context), let table = section["values"] else {
      return nil
    }
    var values: [String: String] = [:]
    for member in members(of: table.node, at: table.place) {
      values[member.key] = text((member.value, "\(table.place).\(member.key)"))
    }
    return EntityMap.Discriminator(from: from, values: values)
  }

  private mutating func tombstone(
    _ found: (node: MapNode, place: String)?,
    in context: PathContext
  ) -> EntityMap.Tombstone? {
    guard let found else { return nil }
    let section = section(
      found.node,
      at: found.place,
      keys: MapGrammar.deleteWhen,
      of: "deleteWhen"
    )
    for key in MapGrammar.deleteWhen where section[key] == nil { missing(key, in: section) }
    let from = paths(section["from"], in: context)
    guard let from, let equals = text(section["equals"]) else { return nil }
    return EntityMap.Tombstone(from: from, equals: equals)
  }

  private mutating func hooks(_ found: (node: MapNode, place: String)?) -> EntityMap.Hooks {
    guard let found else { return EntityMap.Hooks() }
    let section = section(found.node, at: found.place, keys: MapGrammar.hooks, of: "hooks")
    return EntityMap.Hooks(
      beforeRecord: list(section["beforeRecord"]) ?? [],
      afterRecord: list(section["afterRecord"]) ?? [],
      afterImport: list(section["afterImport"]) ?? [],
      afterExport: list(section["afterExport"]) ?? []
    )
  }

  /// `name: path`, `name:` alone (the path is the name), or the long form.
  private mutating func attribute(
    _ member: MapNode.Member,
    at place: String,
    in context: PathContext
  ) -> AttributeMap {
    var attribute = AttributeMap(name: member.key, position: member.keyPosition)
    if member.value.isNull { return attribute }
    guard case .mapping = member.value.content else {
      attribute.from = paths((member.value, place), in: context)
      return attribute
    }
    let section = section(
      member.value,
      at: place,
      keys: MapGrammar.attribute,
      of: "an attribute"
    )
    attribute.from = paths(section["from"], in: context)
    attribute.type = word(section["type"], others: Self.otherTypeNames) ?? .string
    attribute.isRequired = flag(section["required"])
    attribute.defaultValue = text(section["default"])
    attribute.isIndexed = flag(section["index"]) ?? false
    attribute.column = text(section["column"])
    attribute.dates = list(section["dates"])
    attribute.timeZone = text(section["timeZone"])
    attribute.numbers = numbers(section["numbers"])
    attribute.values = valueTable(section["values"])
    attribute.unknown = text(section["unknown"])
    attribute.trueValues = list(section["trueValues"]) ?? []
    attribute.falseValues = list(section["falseValues"]) ?? []
    attribute.scale = integer(section["scale"], in: 0...PlainNumber.maximumScale)
    attribute.coerce = flag(section["coerce"]) ?? false
    attribute.strings = strings(section["strings"])
    attribute.compute = text(section["compute"])
    attribute.isExported = flag(section["export"]) ?? true
    attribute.isSensitive = flag(section["sensitive"]) ?? false
    attribute.renamedFrom = text(section["renamedFrom"])
    attribute.minimum = text(section["min"])
    attribute.maximum = text(section["max"])
    attribute.length = length(section["length"])
    attribute.pattern = text(section["pattern"])
    attribute.policies = policies(section)
    return attribute
  }

  private static let otherTypeNames = [
    "int": "int64", "integer": "int64", "bigint": "int64", "long": "int64", "text": "string",
    "varchar": "string", "boolean": "bool", "number": "double", "numeric": "decimal",
    "real": "double", "datetime": "timestamp", "binary": "data", "blob": "data", "uri": "url",
    "object": "json", "array": "json",
  ]

  private mutating func valueTable(
    _ found: (node: MapNode, place: String)?
  ) -> [AttributeMap.ValuePair] {
    guard let found else { return [] }
    return members(of: found.node, at: found.place).compactMap { member in
      text((member.value, "\(found.place).\(member.key)")).map {
        AttributeMap.ValuePair(foreign: member.key, local: $0)
      }
    }
  }

  /// A number is the longest length; `{ min, max }` gives both ends.
  private mutating func length(_ found: (node: MapNode, place: String)?) -> ClosedRange<Int>? {
    guard let found else { return nil }
    guard case .mapping = found.node.content else {
      return integer(found, in: 0...Int.max).map { 0...$0 }
    }
    let section = section(found.node, at: found.place, keys: MapGrammar.length, of: "length")
    let shortest = integer(section["min"], in: 0...Int.max) ?? 0
    let longest = integer(section["max"], in: 0...Int.max) ?? .max
    guard shortest <= longest else {
      report(
        .value,
        "The shortest length, \(shortest), is more than the longest, \(longest).",
        at: found.place,
        found.node.position
      )
      return nil
    }
    return shortest...longest
  }

  private mutating func relationship(
    _ member: MapNode.Member,
    at place: String,
    in context: PathContext
  ) -> RelationshipMap? {
    let section = section(
      member.value,
      at: place,
      keys: MapGrammar.relationship,
      of: "a relationship"
    )
    for key in ["entity", "kind"] where section[key] == nil {
      missing(key, in: section, rule: key == "kind" ? "kind: toOne or toMany" : nil)
    }
    if section["from"] != nil, let key = section["key"] {
      report(
        .shape,
        "A relationship has \"from\" (nested records) or \"key\", not both.",
        at: key.place,
        key.node.position
      )
    }
    let entity = text(section["entity"])
    let kind: Relationship.Kind? = word(section["kind"])
    let from = paths(section["from"], in: context)
    let key = relationshipKey(section["key"], in: context)
    let relationship = RelationshipMap(
      name: member.key,
      entity: entity ?? "",
      kind: kind ?? .toOne,
      from: from,
      key: key,
      inverse: text(section["inverse"]),
      isOrdered: flag(section["ordered"]) ?? false,
      allowsRepeats: flag(section["repeats"]) ?? false,
      assign: word(section["assign"]),
      onDelete: word(section["onDelete"]),
      onUnlink: word(section["onUnlink"]),
      onUnresolved: word(section["onUnresolved"]),
      export: word(section["export"]),
      policies: policies(section),
      position: member.keyPosition
    )
    return entity == nil || kind == nil ? nil : relationship
  }

  private mutating func relationshipKey(
    _ found: (node: MapNode, place: String)?,
    in context: PathContext
  ) -> [String: RelationshipMap.KeyPart]? {
    guard let found else { return nil }
    let members = members(of: found.node, at: found.place)
    if members.isEmpty, found.node.isNull {
      wanted("a mapping of the target's key attributes", found)
    }
    return members.reduce(into: [:]) { parts, member in
      parts[member.key] = keyPart(member.value, at: "\(found.place).\(member.key)", in: context)
    }
  }

  /// A path, `{ json, xml }`, `{ attribute }`, `{ value }` or `{ from, split }`.
  private mutating func keyPart(
    _ node: MapNode,
    at place: String,
    in context: PathContext
  ) -> RelationshipMap.KeyPart? {
    guard case .mapping = node.content else {
      return paths((node, place), in: context).map { .path($0, split: nil) }
    }
    let section = section(node, at: place, keys: MapGrammar.keyPart, of: "a key")
    let isByFormat = MapGrammar.paths.contains { section[$0] != nil }
    let forms =
      ["attribute", "value", "from"].filter { section[$0] != nil }.count + (isByFormat ? 1 : 0)
    guard forms == 1, section["split"] == nil || section["from"] != nil else {
      report(
        .shape,
        "A key is one of { attribute }, { value }, { from, split } and { json, xml, csv }.",
        at: place,
        node.position
      )
      return nil
    }
    if let attribute = section["attribute"] {
      return text(attribute).map { .attribute($0) }
    }
    if let value = section["value"] { return text(value).map { .value($0) } }
    if isByFormat {
      return paths(byFormat: section, in: context).map { .path($0, split: nil) }
    }
    let split = text(section["split"])
    if let split, split != "whitespace", split.unicodeScalars.count != 1,
      let found = section["split"]
    {
      report(
        .value,
        "\"\(split)\" is neither \"whitespace\" nor one character.",
        at: found.place,
        found.node.position,
        suggestion: nearest(to: split, in: ["whitespace"])
      )
    }
    return paths(section["from"], in: context).map { .path($0, split: split) }
  }
}
