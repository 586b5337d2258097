import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

/// Holds to the table of the map language what is made of it or speaks of it.
@Suite struct MapLanguageTests {
  @Test("docs/dragoman-map.schema.json is what `dragoman schema --map-language` prints")
  func schemaIsCurrent() throws {
    let file = DocumentFile(path: "docs/dragoman-map.schema.json")
    #expect(try file.lines().joined(separator: "\n") == MapLanguage.schema)
  }

  @Test("Every key has a line of help, and no key stands twice in a section")
  func help() {
    for section in MapLanguage.sections {
      for key in section.keys {
        #expect(key.help.hasSuffix(".") && !key.help.contains("\n"), "\(section.id).\(key.name)")
      }
      #expect(Set(section.keys.map(\.name)).count == section.keys.count, "\(section.id)")
    }
  }

  // MARK: Reader and schema

  @Test("The schema admits the maps of the repository")
  func maps() throws {
    let schema = try SchemaValidator(MapLanguage.schema)
    let folder = DocumentFile.root.appending(path: "Maps")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.count > 5)
    for name in names {
      let root = try MapNode.parse(
        String(contentsOf: folder.appending(path: name), encoding: .utf8),
        as: .yaml,
        file: name
      )
      #expect(try schema.admits(Self.value(root)), "\(name)")
    }
    let everything = try MapNode.parse(MapWritingTests.everything, as: .yaml, file: nil)
    #expect(try schema.admits(Self.value(everything)))
    let written = try ImportMap(yaml: MapWritingTests.everything).json()
    #expect(try schema.admits(JSONSerialization.jsonObject(with: Data(written.utf8))))
  }

  /// A key with a value in a map that is right but for them, as JSON.
  struct Case: CustomTestStringConvertible {
    let section: String
    let key: String
    let value: Any
    var testDescription: String { "\(section).\(key): \(value)" }
  }

  @Test("For right and wrong values of every key, the reader and the schema agree")
  func agreement() throws {
    let schema = try SchemaValidator(MapLanguage.schema)
    var counts = (right: 0, wrong: 0)
    for section in MapLanguage.sections {
      for key in section.keys where key.name != "model" {
        let example = Case(section: section.id, key: key.name, value: 0)
        for value in try Self.right(key, in: section.id) {
          let map = Self.map(example, value)
          #expect(try schema.admits(map), "\(example): \(value)")
          #expect(try Self.faults(map) == [], "\(example): \(value)")
          counts.right += 1
        }
        for value in Self.wrong(key.shape) {
          let map = Self.map(example, value)
          #expect(try !schema.admits(map), "\(example): \(value)")
          #expect(try Self.faults(map) != [], "\(example): \(value)")
          counts.wrong += 1
        }
      }
      let typo = Case(section: section.id, key: "nonsense", value: 0)
      #expect(try !schema.admits(Self.map(typo, "a")), "\(section.id)")
      let faults = try Self.faults(Self.map(typo, "a"))
      #expect(faults.contains { $0.contains("\"nonsense\" is no key of ") }, "\(section.id)")
      for key in section.keys where key.isRequired {
        let map = Self.map(Case(section: section.id, key: key.name, value: 0), nil)
        #expect(try !schema.admits(map), "\(section.id) without \(key.name)")
        #expect(try Self.faults(map).contains("The key \"\(key.name)\" is missing."))
      }
    }
    #expect(counts.right > 200 && counts.wrong > 200)
  }

  /// What the reader and the validator say of a map.
  private static func faults(_ map: Any) throws -> [String] {
    let text = try JSONSerialization.data(withJSONObject: map, options: .sortedKeys)
    do throws(MapFaults) {
      _ = try ImportMap(json: String(decoding: text, as: UTF8.self))
      return []
    } catch {
      return error.faults.map(\.message)
    }
  }

  /// A right map in which the key of a section has a value, or is not there for nil.
  private static func map(_ example: Case, _ value: Any?) -> [String: Any] {
    var thing: [String: Any] = [
      "unique": "id",
      "attributes": ["id": "id", "a": [:] as [String: Any]] as [String: Any],
      "relationships": ["other": ["entity": "Other", "kind": "toMany"]],
    ]
    var map: [String: Any] = [
      "version": 1, "sources": ["s": ["format": "json", "entity": "Thing", "records": "things"]],
    ]
    var other: [String: Any] = ["unique": "id", "attributes": ["id": "id"]]
    let entry = MapLanguage.sections.first { $0.id == example.section }?
      .keys.first { $0.name == example.key }
    func set(_ members: [String: Any]) -> [String: Any] {
      var members = members
      members[example.key] = value
      return members
    }
    var attribute: [String: Any] = ["type": Self.type(for: entry?.fit)]
    var relationship: [String: Any] = ["entity": "Other", "kind": "toMany"]
    switch example.section {
    case "map":
      map["entities"] = ["Thing": thing, "Other": other]
      return set(map)
    case "defaults", "import", "export": map[example.section] = set([:])
    case "rejects": map["import"] = ["rejects": set([:])]
    case "exportJSON": map["export"] = ["json": set([:])]
    case "exportXML": map["export"] = ["xml": set([:])]
    case "source":
      let format = ["xml", "csv"].contains(entry?.fit) ? entry?.fit ?? "" : "json"
      var source: [String: Any] = ["format": format, "entity": "Thing"]
      if format == "xml" { source["records"] = "/a" }
      map["sources"] = ["s": set(source)]
    case "pages":
      let neighbour = ["cursor": "parameter", "parameter": "cursor"][example.key]
      let pages = neighbour.map { [$0: "/a"] } ?? [:]
      map["sources"] = ["s": ["format": "json", "entity": "Thing", "pages": set(pages)]]
    case "numbers": map["defaults"] = ["numbers": set(["decimal": ","])]
    case "strings": map["defaults"] = ["strings": set([:])]
    case "entity": thing = set(thing)
    case "discriminator": thing["discriminator"] = set(["from": "a", "values": ["a": "Thing"]])
    case "deleteWhen": thing["deleteWhen"] = set(["from": "a", "equals": "b"])
    case "contract": thing["contract"] = set([:])
    case "attributeContract": attribute["contract"] = set([:])
    case "hooks": thing["hooks"] = set([:])
    case "length": attribute["length"] = set([:])
    case "attribute":
      if example.key == "unknown" { attribute["values"] = ["a": "b"] }
      if example.key.hasPrefix("on") { attribute["default"] = "a" }
      attribute = set(attribute)
    case "paths": attribute["from"] = set([:])
    case "relationship":
      // A parent's key names its attribute: an identity of one part.
      relationship = set(relationship)
    case "keyPart":
      var part: [String: Any] = example.key == "split" ? ["from": "a"] : [:]
      part[example.key] = value
      relationship["key"] = ["id": part]
    default: Issue.record("No map for \(example.section)")
    }
    if ["length", "attribute", "attributeContract", "paths"].contains(example.section) {
      thing["attributes"] = ["id": "id", "a": attribute] as [String: Any]
    }
    if example.section == "relationship" || example.section == "keyPart" {
      thing["relationships"] = ["other": relationship]
    }
    other["relationships"] = ["back": ["entity": "Thing", "kind": "toMany"]]
    map["entities"] = ["Thing": thing, "Other": other, "Base": ["attributes": ["b": "b"]]]
    return map
  }

  /// A type that a key is for.
  private static func type(for fit: String?) -> String {
    let type = fit?.prefix { $0 != "," && $0 != " " } ?? "string"
    return type == "numbers" ? "double" : String(type)
  }

  /// Right values: every word, both flags, the ends of ranges; texts that mean something are named.
  private static func right(_ key: MapKeyEntry, in section: String) throws -> [Any] {
    try meaningful("\(section).\(key.name)") ?? meaningful(key.name) ?? right(key.shape)
  }

  private static func right(_ shape: MapShape) -> [Any] {
    switch shape {
    case .nothing: [NSNull()]
    case .text(1...1): [",", 5]
    case .text: ["a", 12, 1.5, true]
    case .flag: [true, false]
    case .number(let range): [range.lowerBound, range.upperBound]
    case .word(let words): words
    case .list(let element): right(element).map { [$0] }
    case .table(let element, let least):
      right(element).map { ["a": $0] as [String: Any] } + (least > 0 ? [] : [NSNull()])
    case .section(let section): section.keys.contains(where: \.isRequired) ? [] : [NSNull()]
    case .either(let shapes):
      shapes.flatMap { shape in if case .section = shape { [] } else { right(shape) } }
    }
  }

  /// The keys whose texts must mean something, and those that want particular neighbours.
  private static let meaningful = """
    timeZone ["UTC", "Europe/Oslo"]
    encoding ["utf-8", "windows-1252"]
    dates ["iso8601", ["iso8601", "unix"]]
    locale ["de_DE"]
    numbers.decimal [",", "."]
    group [".", "'"]
    numbers [{ "decimal": "," }]
    numbers.style ["percent"]
    split ["whitespace", ",", 5]
    namespaces [{ "a": "urn:a" }]
    map.version [1]
    map.sources [{ "s": { "format": "csv", "entity": "Other" } }]
    map.entities [{ "Thing": { "attributes": { "a": null } }, "Other": { "attributes": { "a": ["b"] } } }]
    entity.table ["t"]
    entity.parent ["Base"]
    entity.unique ["id", ["id"], [["id"], ["a"]]]
    entity.version ["a"]
    entity.discriminator [{ "from": "a", "values": { "x": "Thing" } }]
    entity.deleteWhen [{ "from": "a", "equals": 5 }]
    entity.attributes [{ "id": null, "a": ["x", "y"] }, { "id": { "type": "int64" } }]
    entity.relationships [{ "r": { "entity": "Other", "kind": "toOne" } }, null]
    discriminator.values [{ "a": "Thing" }]
    attribute.min [1, "2.5", "1e3"]
    attribute.max [1, "2.5"]
    attribute.default ["a", 1, true]
    attribute.length [5, { "min": 1 }, { "max": 3 }]
    attribute.pattern ["[a-z]+"]
    relationship.entity ["Other", "Thing"]
    relationship.inverse ["back"]
    relationship.key [{ "id": "a" }, { "id": { "attribute": "a" } }, { "id": { "value": 5 } }]
    relationship.onMissing ["keep", "clear", "reject"]
    relationship.onNull ["keep", "clear", "reject"]
    relationship.onInvalid ["keep", "clear", "reject"]
    keyPart.attribute ["a", "id"]
    source.entity ["Thing", "Other"]
    source.pages [{ "next": "header" }, { "cursor": "/a", "parameter": "b" }]
    pages.next ["header", "/a/b"]
    pages.cursor ["/a/b"]
    pages.parameter ["a"]
    source.format ["json", "ndjson", "csv"]
    rejects.file ["out/rejects.ndjson"]
    paths.xml ["a", "a/@b", ["a", "b"]]
    keyPart.xml ["a", "a/@b", ["a", "b"]]
    exportXML.at ["a", "/a/b"]
    export.entity ["Thing"]
    export.sort ["a", ["-a", "id"]]
    export.include [{ "other": "keys" }, null]
    """

  private static func meaningful(_ key: String) throws -> [Any]? {
    let line = meaningful.split(separator: "\n").first { $0.hasPrefix("\(key) ") }
    return try line.flatMap {
      try JSONSerialization.jsonObject(with: Data($0.dropFirst(key.count).utf8)) as? [Any]
    }
  }

  /// Values that no key of the shape can have.
  private static func wrong(_ shape: MapShape) -> [Any] {
    let nested: [Any] = [[[[String: Any]()]]]
    switch shape {
    case .nothing, .text: return [["a"], NSNull(), ["nonsense": "a"], nested]
    case .flag: return ["maybe", 1, [true], NSNull()]
    case .number(let range):
      let beyond = range.upperBound < .max ? [range.upperBound + 1] : []
      return ["many", 1.5, [1], NSNull(), range.lowerBound - 1] + beyond
    case .word: return ["nonsense", ["a"], NSNull(), 7]
    case .list, .either: return [["nonsense": "a"], nested]
    case .table: return ["a", ["a"], nested]
    case .section: return ["a", ["a"], ["nonsense": "a"]]
    }
  }

  /// A file's value as JSON has it.
  private static func value(_ node: MapNode) -> Any {
    switch node.content {
    case .sequence(let nodes): return nodes.map { value($0) }
    case .mapping(let members):
      return Dictionary(members.map { ($0.key, value($0.value)) }) { $1 }
    case .scalar(let text, let isPlain):
      guard isPlain else { return text }
      if node.isNull { return NSNull() }
      if text == "true" || text == "false" { return text == "true" }
      if let number = Int(text) { return number }
      return Double(text) ?? text
    }
  }

  // MARK: Documents

  @Test(
    "docs/maps.md has a row for every key of the table and for no other",
    arguments: [
      ("The top", "map", []), ("Entities", "entity", ["policies"]),
      ("Attributes", "attribute", ["policies"]), ("Relationships", "relationship", ["policies"]),
      ("Sources", "source", []),
    ]
  )
  func documented(heading: String, id: String, others: [String]) throws {
    let lines = try DocumentFile(path: "docs/maps.md").lines()
    let rows =
      lines.drop { $0 != "## \(heading)" }.dropFirst().drop { !$0.hasPrefix("|") }
      .prefix { $0.hasPrefix("|") }.dropFirst(2)
    let cells = rows.map { $0.split(separator: "|", omittingEmptySubsequences: false)[1] }
    let told = cells.flatMap { cell in cell.matches(of: /`(\w+)`/).map { String($0.output.1) } }
    let policies = MapGrammar.policies.keys.map(\.entry.name)
    let keys = MapLanguage.sections.first { $0.id == id }?.keys.map(\.name) ?? []
    let isNamed = cells.contains { $0.contains("[policies]") }
    #expect(isNamed == others.contains("policies"))
    let unread = ["model", "hooks"]
    #expect(
      Set(told).union(isNamed ? policies : []).union(unread.filter(keys.contains)) == Set(keys)
    )
    // A key that is for some types says which, in the table and in the message.
    let fits = MapLanguage.sections.first { $0.id == id }?.keys.filter { $0.fit != nil } ?? []
    if id == "attribute" {
      for key in fits {
        let row = rows.first { $0.contains("`\(key.name)`") } ?? ""
        #expect(!row.contains("| all |"), "\(key.name)")
      }
    }
  }

  @Test("docs/maps.md names every key of the smaller sections, too")
  func smallSections() throws {
    let text = try DocumentFile(path: "docs/maps.md").lines().joined(separator: "\n")
    for section in MapLanguage.sections {
      for key in section.keys {
        #expect(
          text.contains(try Regex("[`{,. ]\(key.name)[`:,. ]")),
          "\(section.id).\(key.name)"
        )
      }
    }
  }

  @Test("A map that says `numbers: {}` comes back with it")
  func emptyNumbers() throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities: { A: { attributes: { a: { type: double, numbers: {} } } } }
        """
    )
    #expect(map.entities[0].attributes[0].format.numbers == NumberFormat())
    try MapWritingTests.expectRoundTrip(map)
  }

  @Test("A map built in code is held to the numbers that a file may say")
  func numbersInCode() {
    var attribute = AttributeMap(name: "a", type: .decimal)
    attribute.rules.scale = 1001
    var map = ImportMap(entities: [EntityMap(name: "A", attributes: [attribute])])
    map.importOptions.batchSize = 0
    let faults = map.validate().map { "\($0.place) \($0.code.rawValue) \($0.message)" }
    #expect(
      faults == [
        "entities.A.attributes.a.scale map.value \"1001\" is no whole number from 0 to 1000.",
        "import.batchSize map.value \"0\" is no whole number from 1 to 1000000.",
      ]
    )
  }
}
