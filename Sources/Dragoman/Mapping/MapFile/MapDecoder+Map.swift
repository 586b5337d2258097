import DragomanGraph

extension MapDecoder {
  /// Decodes the whole file; the value is only meant to be used when there are no faults.
  mutating func map(_ root: MapNode) -> ImportMap {
    positions[""] = root.position
    guard isMap(root) else { return ImportMap(entities: [], file: file) }
    let top = section(root, at: "", keys: MapGrammar.top, of: "a map")
    version(top)
    var map = ImportMap(entities: [], file: file)
    map.name = text(top["name"])
    if let model = top["model"] {
      report(
        .unsupported,
        "Model files are not read by this version; the entities are those the map declares.",
        at: model.place,
        model.node.position
      )
    }
    map.defaults = defaults(top["defaults"])
    // Sources come first: paths are parsed with their formats and prefixes.
    let entityNames = top["entities"].map { peekKeys($0.node) } ?? []
    map.sources = sources(top["sources"], onlyEntity: entityNames.count == 1 ? entityNames[0] : nil)
    map.entities = entities(top, sources: map.sources)
    map.importOptions = importOptions(top["import"])
    map.exportOptions = exportOptions(top["export"], sources: map.sources)
    return map
  }

  /// Whether the text can be a map; one fault tells of another text, such as a feed.
  private mutating func isMap(_ root: MapNode) -> Bool {
    let what: String
    switch root.content {
    case .mapping: return true
    case .sequence: what = "it is a list"
    case .scalar where root.isNull: return true
    case .scalar(let text, _):
      what = text.hasPrefix("<") ? "it is XML" : "it is plain text"
    }
    report(
      .shape,
      "This is no map: \(what).",
      at: "",
      root.position,
      rule: "a map starts with version: 1 and entities:, see docs/maps.md; feeds come behind it"
    )
    return false
  }

  private mutating func version(_ top: Section) {
    guard let version = top["version"] else {
      missing("version", in: top, rule: "write version: 1")
      return
    }
    guard let text = text(version), text != "1" else { return }
    report(
      .value,
      "Version \"\(text)\" of the map format is not known.",
      at: version.place,
      version.node.position,
      suggestion: "1"
    )
  }

  private func peekKeys(_ node: MapNode) -> [String] {
    guard case .mapping(let members) = node.content else { return [] }
    return members.map(\.key)
  }

  private mutating func entities(_ top: Section, sources: [SourceMap]) -> [EntityMap] {
    guard let found = top["entities"] else {
      missing("entities", in: top)
      return []
    }
    let members = members(of: found.node, at: found.place)
    if members.isEmpty, faults.last?.place != found.place {
      report(.value, "A map declares at least one entity.", at: found.place, found.node.position)
    }
    guard members.count <= ImportMap.maximumEntityCount else {
      report(
        .limit,
        "A map has at most \(ImportMap.maximumEntityCount) entities, this one \(members.count).",
        at: found.place,
        found.node.position
      )
      return []
    }
    return members.map { member in
      entity(member, in: ImportMap.pathContext(of: member.key, sources: sources))
    }
  }

  private mutating func defaults(
    _ found: (node: MapNode, place: String)?
  ) -> ImportMap.Defaults {
    guard let found else { return ImportMap.Defaults() }
    let section = section(found.node, at: found.place, keys: MapGrammar.defaults, of: "defaults")
    return ImportMap.Defaults(
      timeZone: text(section["timeZone"]),
      dates: list(section["dates"]),
      numbers: numbers(section["numbers"]),
      strings: strings(section["strings"]),
      onUnresolved: word(section["onUnresolved"]),
      policies: policies(section)
    )
  }

  /// The policies of any section.
  mutating func policies(_ section: Section) -> ValuePolicies {
    ValuePolicies(
      onMissing: word(section["onMissing"]),
      onNull: word(section["onNull"]),
      onInvalid: word(section["onInvalid"]),
      ignoreNullValueOverwrites: flag(section["ignoreNullValueOverwrites"]),
      ignoreOptionalNullValues: flag(section["ignoreOptionalNullValues"])
    )
  }

  /// `{ decimal, group, locale, style }`.
  mutating func numbers(_ found: (node: MapNode, place: String)?) -> NumberFormat? {
    guard let found else { return nil }
    let section = section(found.node, at: found.place, keys: MapGrammar.numbers, of: "numbers")
    return NumberFormat(
      decimal: text(section["decimal"]),
      group: text(section["group"]),
      locale: text(section["locale"]),
      style: word(section["style"])
    )
  }

  /// `{ trim, emptyAsNull, nulls }`.
  mutating func strings(_ found: (node: MapNode, place: String)?) -> StringFormat {
    guard let found else { return StringFormat() }
    let section = section(found.node, at: found.place, keys: MapGrammar.strings, of: "strings")
    return StringFormat(
      trim: flag(section["trim"]),
      emptyAsNull: flag(section["emptyAsNull"]),
      nulls: list(section["nulls"])
    )
  }

  private mutating func sources(
    _ found: (node: MapNode, place: String)?,
    onlyEntity: String?
  ) -> [SourceMap] {
    guard let found else { return [] }
    var sources: [SourceMap] = []
    for member in members(of: found.node, at: found.place) {
      let place = "\(found.place).\(member.key)"
      let section = section(member.value, at: place, keys: MapGrammar.source, of: "a source")
      let formatCount = faults.count
      let format: ForeignFormat? = word(section["format"])
      if format == nil, faults.count == formatCount {
        missing(
          "format",
          in: section,
          rule: "format: \(ForeignFormat.allCases.map(\.rawValue).joined(separator: ", "))"
        )
      }
      let entity = text(section["entity"]) ?? onlyEntity
      if entity == nil, section["entity"] == nil { missing("entity", in: section) }
      let namespaces = namespaces(section["namespaces"])
      guard let format, let entity else { continue }
      let parser = ForeignPathParser(format: format, namespaces: namespaces, leadsToRecords: true)
      let records = section["records"].flatMap { found in
        text(found).flatMap { path($0, by: parser, at: found.place) }
      }
      if format == .xml, section["records"] == nil {
        missing("records", in: section, rule: "the path of the repeated element: /people/person")
      }
      sources.append(
        SourceMap(
          name: member.key,
          format: format,
          entity: entity,
          records: records,
          files: list(section["files"]) ?? [],
          namespaces: namespaces,
          encoding: text(section["encoding"]),
          separator: text(section["separator"]),
          position: member.keyPosition
        )
      )
    }
    return sources
  }

  private mutating func namespaces(
    _ found: (node: MapNode, place: String)?
  ) -> [String: String] {
    guard let found else { return [:] }
    var namespaces: [String: String] = [:]
    for member in members(of: found.node, at: found.place) {
      namespaces[member.key] = text((member.value, "\(found.place).\(member.key)"))
    }
    return namespaces
  }

  private mutating func importOptions(
    _ found: (node: MapNode, place: String)?
  ) -> ImportMap.ImportOptions {
    guard let found else { return ImportMap.ImportOptions() }
    let section = section(found.node, at: found.place, keys: MapGrammar.importOptions, of: "import")
    var options = ImportMap.ImportOptions(
      batchSize: integer(section["batchSize"], in: 1...1_000_000),
      commit: word(section["commit"])
    )
    options.maximumRecordByteCount = integer(section["maxRecordSize"], in: 1...1024).map {
      $0 << 20
    }
    if let rejects = section["rejects"] {
      let section = self.section(
        rejects.node,
        at: rejects.place,
        keys: MapGrammar.rejects,
        of: "rejects"
      )
      options.rejectsFile = text(section["file"])
      options.maximumRejects = integer(section["max"], in: 0...Int.max)
    }
    return options
  }

  private mutating func exportOptions(
    _ found: (node: MapNode, place: String)?,
    sources: [SourceMap]
  ) -> ImportMap.ExportOptions {
    guard let found else { return ImportMap.ExportOptions() }
    let section = section(found.node, at: found.place, keys: MapGrammar.exportOptions, of: "export")
    var options = ImportMap.ExportOptions(
      entity: text(section["entity"]),
      names: word(section["names"]),
      shape: word(section["shape"]),
      nulls: word(section["nulls"]),
      sort: list(section["sort"])
    )
    if let include = section["include"] {
      for member in members(of: include.node, at: include.place) {
        options.include[member.key] = word((member.value, "\(include.place).\(member.key)"))
      }
    }
    if let json = section["json"] {
      let section = self.section(json.node, at: json.place, keys: MapGrammar.exportJSON, of: "json")
      options.jsonAt = text(section["at"])
      options.jsonPretty = flag(section["pretty"])
      if let at = options.jsonAt {
        let parser = ForeignPathParser(format: .json, leadsToRecords: true)
        _ = path(at, by: parser, at: "\(json.place).at")
      }
    }
    if let xml = section["xml"] {
      let section = self.section(xml.node, at: xml.place, keys: MapGrammar.exportXML, of: "xml")
      options.xmlAt = text(section["at"])
      if let at = options.xmlAt {
        let namespaces = ImportMap.namespaces(of: sources.filter { $0.format == .xml })
        let parser = ForeignPathParser(format: .xml, namespaces: namespaces, leadsToRecords: true)
        _ = path(at, by: parser, at: "\(xml.place).at")
      }
    }
    return options
  }
}

extension ImportMap {
  /// The most entities a map may declare.
  static let maximumEntityCount = 250

  /// The sources that an entity's records come from: its own, or, where it is only met inside
  /// other records, all of them.
  static func sources(of entity: String, in sources: [SourceMap]) -> [SourceMap] {
    let own = sources.filter { $0.entity.utf8.elementsEqual(entity.utf8) }
    return own.isEmpty ? sources : own
  }

  /// The prefixes of several sources together; the first declaration of a prefix counts.
  static func namespaces(of sources: [SourceMap]) -> [String: String] {
    sources.reduce(into: [:]) { all, source in
      all.merge(source.namespaces) { first, _ in first }
    }
  }

  /// What an entity's paths are parsed with.
  static func pathContext(
    of entity: String,
    sources all: [SourceMap]
  ) -> MapDecoder.PathContext {
    let sources = sources(of: entity, in: all)
    return MapDecoder.PathContext(
      formats: sources.isEmpty
        ? [.json] : Set(sources.map { $0.format == .ndjson ? .json : $0.format }),
      namespaces: namespaces(of: sources.filter { $0.format == .xml })
    )
  }
}
