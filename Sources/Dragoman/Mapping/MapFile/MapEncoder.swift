import DragomanGraph

/// Writes a map as the structure of a map file; `MapDecoder` reads it back to an equal map.
struct MapEncoder {
  /// A value of the file, with the members of mappings in order.
  indirect enum Value {
    case text(String)
    case number(Int)
    case flag(Bool)
    case list([Value])
    case mapping([(key: String, value: Value)])
  }

  let map: ImportMap

  func encode() -> Value {
    var top: [(key: String, value: Value)] = [("version", .number(1))]
    top.add("name", map.name)
    top.add("defaults", defaults())
    top.append(
      ("entities", .mapping(map.entities.map { ($0.name, .mapping(encode($0))) }))
    )
    top.add("sources", map.sources.map { ($0.name, .mapping(encode($0))) })
    top.add("import", importOptions())
    top.add("export", exportOptions())
    return .mapping(top)
  }

  private typealias Members = [(key: String, value: Value)]

  private func defaults() -> Members {
    var members: Members = []
    members.add("timeZone", map.defaults.timeZone)
    members.add("dates", map.defaults.dates)
    members.add("numbers", map.defaults.numbers.map(encode))
    members.add("strings", encode(map.defaults.strings))
    members.add("onUnresolved", map.defaults.onUnresolved?.rawValue)
    return members + encode(map.defaults.policies)
  }

  private func encode(_ policies: ValuePolicies) -> Members {
    var members: Members = []
    members.add("onMissing", policies.onMissing?.rawValue)
    members.add("onNull", policies.onNull?.rawValue)
    members.add("onInvalid", policies.onInvalid?.rawValue)
    members.add("ignoreNullValueOverwrites", policies.ignoreNullValueOverwrites)
    members.add("ignoreOptionalNullValues", policies.ignoreOptionalNullValues)
    return members
  }

  private func encode(_ numbers: NumberFormat) -> Members {
    var members: Members = []
    members.add("decimal", numbers.decimal)
    members.add("group", numbers.group)
    members.add("locale", numbers.locale)
    members.add("style", numbers.style?.rawValue)
    return members
  }

  private func encode(_ strings: StringFormat) -> Members {
    var members: Members = []
    members.add("trim", strings.trim)
    members.add("emptyAsNull", strings.emptyAsNull)
    members.add("nulls", strings.nulls)
    return members
  }

  private func encode(_ entity: EntityMap) -> Members {
    var members: Members = []
    members.add("table", entity.table)
    members.add("parent", entity.parent)
    if let discriminator = entity.discriminator {
      let values: Members = discriminator.values.sorted { $0.key < $1.key }
        .map { ($0.key, .text($0.value)) }
      members.append(
        (
          "discriminator",
          .mapping([("from", encode(discriminator.from)), ("values", .mapping(values))])
        )
      )
    }
    if entity.uniqueKeys.count == 1 {
      members.append(("unique", encode(words: entity.uniqueKeys[0])))
    } else if entity.uniqueKeys.count > 1 {
      members.append(("unique", .list(entity.uniqueKeys.map { .list($0.map { .text($0) }) })))
    }
    members.append(("attributes", .mapping(entity.attributes.map { ($0.name, encode($0)) })))
    members.add("relationships", entity.relationships.map { ($0.name, .mapping(encode($0))) })
    members.add("version", entity.version)
    if let tombstone = entity.deleteWhen {
      members.append(
        (
          "deleteWhen",
          .mapping([("from", encode(tombstone.from)), ("equals", .text(tombstone.equals))])
        )
      )
    }
    members.add("overwriteExisting", entity.overwriteExisting)
    var hooks: Members = []
    hooks.add("beforeRecord", entity.hooks.beforeRecord, omitEmpty: true)
    hooks.add("afterRecord", entity.hooks.afterRecord, omitEmpty: true)
    hooks.add("afterImport", entity.hooks.afterImport, omitEmpty: true)
    hooks.add("afterExport", entity.hooks.afterExport, omitEmpty: true)
    members.add("hooks", hooks)
    return members + encode(entity.policies)
  }

  private func encode(_ attribute: AttributeMap) -> Value {
    var members: Members = []
    if let from = attribute.from { members.append(("from", encode(from))) }
    if attribute.type != .string { members.append(("type", .text(attribute.type.rawValue))) }
    members.add("required", attribute.isRequired)
    members.add("default", attribute.defaultValue)
    members.add("index", attribute.isIndexed ? true : nil)
    members.add("column", attribute.column)
    members.add("dates", attribute.dates)
    members.add("timeZone", attribute.timeZone)
    // A map file has no word for numbers that may be strings.
    let numbers = attribute.numbers ?? (attribute.takesNumberText ? NumberFormat() : nil)
    members.add("numbers", numbers.map(encode))
    members.add("values", attribute.values.map { ($0.foreign, .text($0.local)) })
    members.add("unknown", attribute.unknown)
    members.add("trueValues", attribute.trueValues, omitEmpty: true)
    members.add("falseValues", attribute.falseValues, omitEmpty: true)
    members.add("scale", attribute.scale)
    members.add("coerce", attribute.coerce ? true : nil)
    members.add("strings", encode(attribute.strings))
    members.add("compute", attribute.compute)
    members.add("export", attribute.isExported ? nil : false)
    members.add("sensitive", attribute.isSensitive ? true : nil)
    members.add("renamedFrom", attribute.renamedFrom)
    members.add("min", attribute.minimum)
    members.add("max", attribute.maximum)
    if let length = attribute.length {
      var ends: Members = [("min", .number(length.lowerBound))]
      ends.add("max", length.upperBound == .max ? nil : length.upperBound)
      members.append(("length", .mapping(ends)))
    }
    members.add("pattern", attribute.pattern)
    members += encode(attribute.policies)
    // The short form, where one path for every format is all there is to say.
    if members.count == 1, members[0].key == "from" {
      switch members[0].value {
      case .text, .list: return members[0].value
      default: break
      }
    }
    return .mapping(members)
  }

  private func encode(_ relationship: RelationshipMap) -> Members {
    var members: Members = [
      ("entity", .text(relationship.entity)), ("kind", .text(relationship.kind.rawValue)),
    ]
    if let from = relationship.from { members.append(("from", encode(from))) }
    if let key = relationship.key {
      let parts: Members = key.sorted { $0.key < $1.key }.map { ($0.key, encode($0.value)) }
      members.append(("key", .mapping(parts)))
    }
    members.add("inverse", relationship.inverse)
    members.add("ordered", relationship.isOrdered ? true : nil)
    members.add("repeats", relationship.allowsRepeats ? true : nil)
    members.add("assign", relationship.assign?.rawValue)
    members.add("onDelete", relationship.onDelete?.rawValue)
    members.add("onUnlink", relationship.onUnlink?.rawValue)
    members.add("onUnresolved", relationship.onUnresolved?.rawValue)
    members.add("export", relationship.export?.rawValue)
    return members + encode(relationship.policies)
  }

  private func encode(_ part: RelationshipMap.KeyPart) -> Value {
    switch part {
    case .attribute(let name): return .mapping([("attribute", .text(name))])
    case .value(let text): return .mapping([("value", .text(text))])
    case .path(let paths, nil): return encode(paths)
    case .path(let paths, let split?):
      return .mapping([("from", encode(paths)), ("split", .text(split))])
    }
  }

  /// One text where it serves every format, otherwise `{ json, xml, csv }`.
  private func encode(_ paths: ForeignPaths) -> Value {
    let texts = ForeignPaths.members.map { paths[keyPath: $0.1].map(\.text) }
    // What is no XML path at all was left out of XML when the short form was read.
    let isShared = texts[0] == texts[1] || (texts[1].isEmpty && !texts[0].contains(where: isXML))
    if texts[0] == texts[2], isShared { return encode(words: texts[0]) }
    var members: Members = []
    for ((format, _), words) in zip(ForeignPaths.members, texts) where !words.isEmpty {
      members.append((format.rawValue, encode(words: words)))
    }
    return .mapping(members)
  }

  private func isXML(_ text: String) -> Bool {
    let namespaces = ImportMap.namespaces(of: map.sources)
    let parser = ForeignPathParser(format: .xml, namespaces: namespaces)
    do {
      _ = try parser.parse(text)
      return true
    } catch {
      return false
    }
  }

  private func encode(words: [String]) -> Value {
    words.count == 1 ? .text(words[0]) : .list(words.map { .text($0) })
  }

  private func encode(_ source: SourceMap) -> Members {
    var members: Members = [
      ("format", .text(source.format.rawValue)), ("entity", .text(source.entity)),
    ]
    members.add("records", source.records?.text)
    members.add("files", source.files, omitEmpty: true)
    let namespaces = source.namespaces.sorted { $0.key < $1.key }
    members.add("namespaces", namespaces.map { ($0.key, .text($0.value)) })
    members.add("encoding", source.encoding)
    members.add("separator", source.separator)
    return members
  }

  private func importOptions() -> Members {
    var members: Members = []
    members.add("batchSize", map.importOptions.batchSize)
    members.add("commit", map.importOptions.commit?.rawValue)
    members.add("maxRecordSize", map.importOptions.maximumRecordByteCount.map { $0 >> 20 })
    var rejects: Members = []
    rejects.add("file", map.importOptions.rejectsFile)
    rejects.add("max", map.importOptions.maximumRejects)
    members.add("rejects", rejects)
    return members
  }

  private func exportOptions() -> Members {
    let options = map.exportOptions
    var members: Members = []
    members.add("entity", options.entity)
    members.add("names", options.names?.rawValue)
    members.add("shape", options.shape?.rawValue)
    members.add("nulls", options.nulls?.rawValue)
    members.add("sort", options.sort)
    let include = options.include.sorted { $0.key < $1.key }
    members.add("include", include.map { ($0.key, .text($0.value.rawValue)) })
    var json: Members = []
    json.add("at", options.jsonAt)
    json.add("pretty", options.jsonPretty)
    members.add("json", json)
    var xml: Members = []
    xml.add("at", options.xmlAt)
    members.add("xml", xml)
    return members
  }
}

extension [(key: String, value: MapEncoder.Value)] {
  fileprivate mutating func add(_ key: String, _ text: String?) {
    if let text { append((key, .text(text))) }
  }

  fileprivate mutating func add(_ key: String, _ flag: Bool?) {
    if let flag { append((key, .flag(flag))) }
  }

  fileprivate mutating func add(_ key: String, _ number: Int?) {
    if let number { append((key, .number(number))) }
  }

  fileprivate mutating func add(_ key: String, _ words: [String]?, omitEmpty: Bool = false) {
    guard let words, !omitEmpty || !words.isEmpty else { return }
    append((key, .list(words.map { .text($0) })))
  }

  fileprivate mutating func add(_ key: String, _ members: Self?) {
    if let members, !members.isEmpty { append((key, .mapping(members))) }
  }
}
