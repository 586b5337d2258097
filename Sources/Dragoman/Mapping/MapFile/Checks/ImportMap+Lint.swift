import DragomanGraph

extension ImportMap {
  /// What is allowed in the map and probably not meant: warnings in the order of the file.
  ///
  /// See docs/maps.md "Faults" for the list. A map with faults is linted too.
  public func lint() -> [MapFault] {
    var lints = MapLints(self)
    for entity in entities { lints.lint(entity) }
    lints.lintPatterns(defaults.dates ?? [], at: "defaults.dates", nil)
    lints.lintZone()
    for source in sources { lints.lintPrefixes(of: source) }
    return MapFaults.sorted(lints.found)
  }
}

private struct MapLints {
  let map: ImportMap
  /// Which sources read which entity.
  let reach: SourceReach
  var found: [MapFault] = []

  init(_ map: ImportMap) {
    self.map = map
    reach = SourceReach(map)
  }

  private mutating func warn(
    _ code: MapFault.Code,
    _ message: String,
    at place: String,
    _ position: MapPosition?,
    rule: String
  ) {
    found.append(
      MapFault(code, message, place: place, file: map.file, position: position, rule: rule)
    )
  }

  mutating func lint(_ entity: EntityMap) {
    let place = "entities.\(entity.name)"
    let formats = reach.formats(of: entity.name)
    lintKeys(of: entity, formats, at: place)
    for attribute in entity.attributes {
      let attributePlace = "\(place).attributes.\(attribute.name)"
      lintPatterns(attribute.format.dates ?? [], at: "\(attributePlace).dates", attribute.position)
      lintDefault(of: attribute, in: entity, at: attributePlace)
      // A path that is written for JSON alone is meant for JSON alone: it is no column of CSV either.
      if formats.contains(.xml), let from = attribute.from, from.xml.isEmpty {
        for path in from.json
        where isJSONSyntax(path.text) && from.csv.contains(where: { $0.text == path.text }) {
          let others = formats.count > 1
          warn(
            .jsonPath,
            "\"\(path.text)\" is a JSON path; XML records will not have the attribute.",
            at: "\(attributePlace).from",
            attribute.position,
            rule: others ? "write from: { json: …, xml: … }" : "XML paths are a/b, @a and text()"
          )
        }
      }
    }
    lintColumns(of: entity, formats, at: place)
    lintVersion(of: entity, at: place)
    for relationship in entity.relationships {
      lintInverse(of: relationship, at: place)
      lintUnion(relationship, at: place)
    }
  }

  /// In CSV every path is the name of a column, also one that is written for JSON.
  private mutating func lintColumns(
    of entity: EntityMap,
    _ formats: Set<ForeignFormat>,
    at place: String
  ) {
    guard formats.contains(.csv), formats.contains(.json) else { return }
    for attribute in entity.attributes {
      guard let from = attribute.from else { continue }
      for path in from.csv
      where isJSONSyntax(path.text) && from.json.contains(where: { $0.text == path.text }) {
        warn(
          .jsonPath,
          "\"\(path.text)\" is a JSON path; in CSV it is the name of a column.",
          at: "\(place).attributes.\(attribute.name).from",
          attribute.position,
          rule: "write from: { json: …, csv: … }"
        )
      }
    }
  }

  /// Dots and brackets only mean something in JSON; in XML they belong to a name or are refused.
  private func isJSONSyntax(_ text: String) -> Bool { text.hasPrefix("/") || text.contains("[") }

  private mutating func lintKeys(
    of entity: EntityMap,
    _ formats: Set<ForeignFormat>,
    at place: String
  ) {
    let attributes = map.lineage(of: entity).flatMap(\.attributes)
    for name in entity.uniqueKeys.joined() {
      guard let attribute = attributes.first(where: { $0.name.utf8.elementsEqual(name.utf8) }),
        attribute.defaultValue == nil, attribute.isRequired != true
      else { continue }
      let missing = formats.filter { !attribute.isFed(from: $0) }.map(\.rawValue).sorted()
      if !missing.isEmpty, missing.count < formats.count {
        warn(
          .unmappedKey,
          "The unique attribute \"\(name)\" has no path in \(missing.joined(separator: ", ")).",
          at: "\(place).attributes.\(name)",
          attribute.position,
          rule: "give it a path for every format, a default, or say required: true"
        )
      }
    }
  }

  private mutating func lintDefault(
    of attribute: AttributeMap,
    in entity: EntityMap,
    at place: String
  ) {
    guard attribute.defaultValue == nil else { return }
    let missing =
      attribute.policies.onMissing ?? entity.policies.onMissing
      ?? map.defaults.policies.onMissing
    let null = attribute.policies.onNull ?? entity.policies.onNull ?? map.defaults.policies.onNull
    let invalid =
      attribute.policies.onInvalid ?? entity.policies.onInvalid
      ?? map.defaults.policies.onInvalid
    if [missing, null, invalid].contains(.default), !attribute.policies.hasDefault {
      warn(
        .noDefault,
        "The policy \"default\" applies, and the attribute has no default: it becomes null.",
        at: place,
        attribute.position,
        rule: "add default:, or another policy for this attribute"
      )
    }
  }

  /// A record that takes the version away lets any older one come after it.
  private mutating func lintVersion(of entity: EntityMap, at place: String) {
    guard let name = entity.version else { return }
    let lineage = map.lineage(of: entity)
    // Without a part of its key a record is rejected.
    let keys = lineage.flatMap(\.uniqueKeys).joined()
    guard !keys.contains(where: { hasSameBytes($0, name) }) else { return }
    for (depth, owner) in lineage.enumerated() {
      guard let attribute = owner.attributes.first(where: { hasSameBytes($0.name, name) }) else {
        continue
      }
      let levels = [attribute.policies] + lineage[...depth].map(\.policies)
      let policies = ResolvedPolicies(levels + [map.defaults.policies])
      let losing = [policies.onNull, policies.onMissing, policies.onInvalid].contains {
        $0 == .clear || $0 == .default
      }
      guard losing, attribute.isRequired != true else { return }
      warn(
        .version,
        "A record without the version \"\(name)\" takes the stored one away: any older record may follow.",
        at: "\(place).version",
        attribute.position,
        rule: "say required: true, or onNull: keep (or reject) for the attribute"
      )
      return
    }
  }

  /// Nothing clears a list that is only added to.
  private mutating func lintUnion(_ relationship: RelationshipMap, at place: String) {
    let policies = relationship.policies
    guard relationship.kind == .toMany, relationship.assign == .union,
      [policies.onMissing, policies.onNull, policies.onInvalid, policies.byShorthand].contains(
        .clear
      )
    else { return }
    warn(
      .union,
      "The policy \"clear\" does nothing here: \"assign: union\" only adds.",
      at: "\(place).relationships.\(relationship.name)",
      relationship.position,
      rule: "leave the policy out, or write assign: replace"
    )
  }

  private mutating func lintInverse(of relationship: RelationshipMap, at place: String) {
    guard let inverse = relationship.inverse, let target = map.entity(named: relationship.entity)
    else { return }
    let isDeclared = target.relationships.contains { $0.name.utf8.elementsEqual(inverse.utf8) }
    let isInKey = target.uniqueKeys.joined().contains { $0.utf8.elementsEqual(inverse.utf8) }
    guard !isDeclared, !isInKey else { return }
    warn(
      .inverse,
      "\(target.name) declares no relationship \"\(inverse)\".",
      at: "\(place).relationships.\(relationship.name).inverse",
      relationship.position,
      rule: "declare it there if it is to be fetched or exported"
    )
  }

  /// `YYYY` is the year of the week, `DD` the day of the year, `hh` counts to 12 (UTS #35).
  mutating func lintPatterns(_ formats: [String], at place: String, _ position: MapPosition?) {
    for format in formats where !DateReader.names.contains(format) {
      let letters = unquoted(format)
      let doubts = [
        (
          "YYYY", letters.contains("YYYY") && !letters.contains("w"),
          "the year of the week; the year is yyyy"
        ),
        ("DD", letters.contains("DD"), "the day of the year; the day of the month is dd"),
        (
          "hh",
          letters.contains("hh") && !letters.contains("a") && !letters.contains("b")
            && !letters.contains("B"), "the hour up to 12 and needs a; the hour up to 23 is HH"
        ),
      ]
      for (word, isFound, meaning) in doubts where isFound {
        warn(
          .patternLetter,
          "In \"\(format)\" \(word) is \(meaning).",
          at: place,
          position,
          rule: "see Unicode TR35, Date Field Symbol Table"
        )
      }
    }
  }

  private func unquoted(_ format: String) -> String {
    format.split(separator: "'", omittingEmptySubsequences: false).enumerated()
      .compactMap { $0.offset.isMultiple(of: 2) ? String($0.element) : nil }
      .joined(separator: " ")
  }

  /// One warning for the whole map, at the first attribute concerned.
  mutating func lintZone() {
    guard map.defaults.timeZone == nil else { return }
    let zoneFields = Set("ZOvVXx")
    let concerned = map.entities.flatMap { entity in
      entity.attributes.filter { attribute in
        guard attribute.type == .timestamp, attribute.format.timeZone == nil else { return false }
        return (attribute.format.dates ?? map.defaults.dates ?? ["iso8601"]).contains { format in
          DateReader.names.contains(format)
            ? format.hasPrefix("iso8601") : !unquoted(format).contains(where: zoneFields.contains)
        }
      }.map { (entity.name, $0) }
    }
    guard let (entity, attribute) = concerned.first else { return }
    let count = concerned.count > 1 ? ", of \(concerned.count) attributes" : ""
    warn(
      .zone,
      "No time zone is declared: date-times that carry none are read as UTC\(count).",
      at: "entities.\(entity).attributes.\(attribute.name)",
      attribute.position,
      rule: "write defaults: { timeZone: UTC }, or the zone of the feed"
    )
  }

  mutating func lintPrefixes(of source: SourceMap) {
    guard source.format == .xml else { return }
    let namespaces = ImportMap.namespaces(of: map.sources)
    let values = ForeignPathParser(format: .xml, namespaces: namespaces)
    let records = ForeignPathParser(format: .xml, namespaces: namespaces, leadsToRecords: true)
    let paths = map.entities.flatMap(\.xmlPaths).map(\.text)
    let places = [source.records?.text, map.exportOptions.xmlAt].compactMap(\.self)
    for prefix in source.namespaces.keys.sorted() where !prefix.isEmpty {
      guard !paths.contains(where: { values.uses(prefix, in: $0) }),
        !places.contains(where: { records.uses(prefix, in: $0) })
      else { continue }
      warn(
        .prefix,
        "The prefix \"\(prefix)\" is declared and not used.",
        at: "sources.\(source.name).namespaces.\(prefix)",
        source.position,
        rule: "remove it, or write it in the paths: \(prefix):name"
      )
    }
  }
}
