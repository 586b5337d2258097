/// The map language as data, for everything that speaks of it: editors, help, tests.
package enum MapLanguage {
  /// The sections, each once, in the order in which a map meets them.
  package static let sections: [MapSectionEntry] = {
    var found: [MapSectionEntry] = []
    func visit(_ shape: MapShape) {
      switch shape {
      case .nothing, .text, .flag, .number, .word: break
      case .list(let element), .table(let element, _): visit(element)
      case .either(let shapes): shapes.forEach(visit)
      case .section(let section):
        guard !found.contains(where: { $0.id == section.id }) else { return }
        found.append(section)
        section.keys.map(\.shape).forEach(visit)
      }
    }
    visit(.section(MapGrammar.top.entry))
    return found
  }()

  /// The language as a JSON Schema (draft-07), for editors: docs/dragoman-map.schema.json.
  ///
  /// It knows the shape of a map. What depends on other keys, such as names that refer to something or
  /// the types that a key is for, only a reader of the whole map can tell. Numbers and flags in quotes,
  /// which `MapReader` takes, are marked.
  package static var schema: String {
    let map = sections[0]
    let definitions = sections.dropFirst().map { ($0.id, MapValue.mapping(schema(of: $0))) }
    let top: [MapValue.Member] = [
      ("$schema", .text("http://json-schema.org/draft-07/schema#")),
      ("$id", .text("https://dragoman.example/dragoman-map.schema.json")),
      ("title", .text("Dragoman map")),
      ("description", .text("How JSON, NDJSON, XML and CSV records become objects.")),
    ]
    return MapValue.mapping(top + schema(of: map) + [("definitions", .mapping(definitions))]).json()
      + "\n"
  }

  private static func schema(of section: MapSectionEntry) -> [MapValue.Member] {
    let required = section.keys.filter(\.isRequired).map { MapValue.text($0.name) }
    var members: [MapValue.Member] = [
      ("type", .text("object")),
      ("additionalProperties", .flag(false)),
      ("properties", .mapping(section.keys.map { ($0.name, schema(of: $0)) })),
    ]
    if !required.isEmpty { members.append(("required", .list(required))) }
    return members
  }

  private static func schema(of key: MapKeyEntry) -> MapValue {
    var members = members(of: key.shape)
    if case .section(let section) = key.shape {
      // Beside a reference everything else is passed over (JSON Schema draft-07, 8.3). Nothing reads as an
      // empty mapping, where that may be empty.
      let isOptional = !section.keys.contains(where: \.isRequired)
      let null = MapValue.mapping([("type", .text("null"))])
      members = [("anyOf", .list([.mapping(members)] + (isOptional ? [null] : [])))]
    }
    members.append(("description", .text(key.fit.map { "For \($0). \(key.help)" } ?? key.help)))
    if let standard = key.standard {
      let value: MapValue =
        switch key.shape {
        case .flag: .flag(standard == "true")
        case .number: Int(standard).map { .number($0) } ?? .text(standard)
        default: .text(standard)
        }
      members.append(("default", value))
    }
    return .mapping(members)
  }

  private static func members(of shape: MapShape) -> [MapValue.Member] {
    func bounds(_ least: String, _ most: String, _ range: ClosedRange<Int>) -> [MapValue.Member] {
      (range.lowerBound > 0 || most == "maximum" ? [(least, .number(range.lowerBound))] : [])
        + (range.upperBound < .max ? [(most, .number(range.upperBound))] : [])
    }
    switch shape {
    case .nothing: return [("type", .text("null"))]
    case .text(let length):
      // Any scalar is read as the text that stands there.
      let types = ["string", "number", "boolean"].map { MapValue.text($0) }
      return [("type", .list(types))] + bounds("minLength", "maxLength", length)
    case .flag: return [("type", .text("boolean"))]
    case .number(let range) where range.lowerBound == range.upperBound:
      return [("enum", .list([.number(range.lowerBound)]))]
    case .number(let range):
      return [("type", .text("integer"))] + bounds("minimum", "maximum", range)
    case .word(let words): return [("enum", .list(words.map { .text($0) }))]
    case .list(let element):
      return [("type", .text("array")), ("items", .mapping(members(of: element)))]
    case .table(let element, let least):
      let object = MapValue.text("object")
      return [
        ("type", least > 0 ? object : .list([object, .text("null")])),
        ("additionalProperties", .mapping(members(of: element))),
      ] + (least > 0 ? [("minProperties", .number(least))] : [])
    case .section(let section): return [("$ref", .text("#/definitions/\(section.id)"))]
    case .either(let shapes): return [("anyOf", .list(shapes.map { .mapping(members(of: $0)) }))]
    }
  }
}
