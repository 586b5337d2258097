import DragomanGraph
import Foundation
import TestSupport
import Testing

@testable import Dragoman

/// What YAML and JSON text become before they mean anything.
@Suite struct MapTextTests {
  private func attributes(_ yaml: String) throws -> [AttributeMap] {
    try ImportMap(yaml: "version: 1\nentities:\n  A:\n    attributes:\n" + yaml).entities[0]
      .attributes
  }

  @Test("Scalars stay text: NO is Norway, 007 keeps its zeros, 1e3 is a word")
  func scalars() throws {
    let found = try attributes(
      """
            a: { default: NO }
            b: { default: 007 }
            c: { default: 1e3 }
            d: { type: enum, values: { NO: no, on: 0x10, 12:30:45: 1_000 } }
            e: { default: "null" }
            f: { default: "" }
            g:
            h: ~
            yes: no
      """
    )
    #expect(
      found.map(\.defaultValue) == ["NO", "007", "1e3", nil, "null", "", nil, nil, nil]
    )
    #expect(
      found[3].format.values == [
        .init(foreign: "NO", local: "no"), .init(foreign: "on", local: "0x10"),
        .init(foreign: "12:30:45", local: "1_000"),
      ]
    )
    #expect(found[6].from == nil && found[7].from == nil)
    #expect(found[8].name == "yes" && found[8].from?.json.map(\.text) == ["no"])
  }

  @Test("Null is refused where a word is wanted")
  func null() {
    let error = #expect(throws: MapFaults.self) { try attributes("      a: { default: null }") }
    #expect(error?.faults.map(\.message) == ["A word belongs here, not nothing."])
  }

  @Test(
    "Paths in two Unicode normal forms are two; names in both, which look the same, are refused"
  )
  func normalForms() throws {
    func map(_ names: (String, String)) throws -> ImportMap {
      try ImportMap(
        json:
          #"{"version": 1, "entities": {"A": {"attributes": {"\#(names.0)": "\#u{E9}", "\#(names.1)": "e\#u{301}"}}}}"#
      )
    }
    let paths = try map(("a", "b")).entities[0].attributes.compactMap { $0.from?.json[0].text }
    #expect(paths.map { Array($0.utf8) } == [[0xC3, 0xA9], [0x65, 0xCC, 0x81]])
    let error = #expect(throws: MapFaults.self) { try map(("\u{E9}", "e\u{301}")) }
    #expect(error?.faults.map(\.code) == [.clash])
    #expect(error?.faults.first?.message.contains("NFC and NFD") == true)
  }

  @Test("Anchors, aliases and merge keys work; own keys win")
  func aliases() throws {
    let found = try attributes(
      """
            a: &money { type: decimal, scale: 2 }
            b: *money
            c: { <<: *money, scale: 3 }
      """
    )
    #expect(found.map(\.type) == [.decimal, .decimal, .decimal])
    #expect(found.map(\.rules.scale) == [2, 2, 3])
  }

  @Test(
    "An alias bomb ends with a fault",
    arguments: [
      "x: *a9", "*a9 : x", "? *a9\n: x", "? [*a9]\n: x", "{[*a9]: x}", "x: [*a9:b]", "x: {*a9:b}",
      "x: {*a9}", "x: [*a9: b]", "x: ['*', \"'\", *a9 : b]", "x: it's\n *a9 : 'b'",
      "x: [a #'\n, *a9: b]", "x: |\n '\ny: {? *a9 : '}", "x: [*a9:\u{308}b]",
    ]
  )
  func aliasBomb(last: String) {
    var yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in 1...9 {
      let aliases = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
      yaml += "a\(level): &a\(level) [\(aliases)]\n"
    }
    let error = #expect(throws: MapFaults.self) { try ImportMap(yaml: yaml + last) }
    #expect(error?.faults.count == 1)
    #expect([.limit, .syntax].contains(error?.faults.first?.code))
  }

  @Test("A key that is an alias is told with its place")
  func aliasKey() throws {
    let error = #expect(throws: MapFaults.self) {
      try ImportMap(yaml: "version: 1\n# *x\nb: &a [x]\nc: { é: *a, *a : 2 }\n")
    }
    let fault = try #require(error?.faults.first)
    #expect(fault.code == .limit && fault.position.map { [$0.line, $0.column] } == [4, 13])
    #expect(
      fault.message == "In a map with anchors an alias or a collection cannot be a key."
    )
  }

  @Test(
    "Comments and quoted texts are no keys, aliases and anchors",
    arguments: [
      "# Is it so ? Nobody knows.\n", "# [1]: Annex B, {2}: *p : x\n",
      "name: \"Berg &Sons [1]: *x : y\"\n", "name: 'it''s *p: [x]: y'\n",
      "name: |-\n  ? [*p]: x 'b\n", "name: a*p:b *q:c\n",
    ]
  )
  func quoted(line: String) throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        \(line)entities:
          P: &p { unique: id, attributes: { id: { from: id, pattern: "[A-Z]:[0-9]*a" } } }  # as in [1]: Annex B
          Q: *p
        """
    )
    #expect(map.entities.map(\.name) == ["P", "Q"])
    #expect(map.entities.map(\.uniqueKeys) == [[["id"]], [["id"]]])
  }

  @Test(
    "Deep nesting ends with a fault",
    arguments: ["[", "{a: ", "- ", "? ", "{? "],
    [100, 500, 100_000]
  )
  func deep(opening: String, depth: Int) {
    let text = String(repeating: opening, count: depth)
    let error = #expect(throws: MapFaults.self) { try ImportMap(yaml: text) }
    #expect(error?.faults.count == 1)
    if opening == "[" {
      #expect(throws: MapFaults.self) { try ImportMap(json: text) }
    }
  }

  @Test(
    "JSON that is not JSON is refused with its place",
    arguments: [
      (#"{"a" 1}"#, "1:6"), (#"{"a": 01}"#, "1:7"), (#"{"a": tru}"#, "1:7"),
      (#"{"a": "\x"}"#, "1:9"), (#"{"a": "\uD800"}"#, "1:14"), ("{\"a\": \"\t\"}", "1:8"),
      (#"{"a": 1,}"#, "1:9"), (#"{"a": [1 2]}"#, "1:10"), (#"{'a': 1}"#, "1:2"),
      ("{\n  \"é\": x}", "2:8"), (#"{} {}"#, "1:4"), (#"{"a": "b"#, "1:9"), ("", "1:1"),
      (#"{"a": NaN}"#, "1:7"), (#"{"a": "\u12"}"#, "1:10"), ("// a\n{}", "1:1"),
    ]
  )
  func badJSON(text: String, place: String) {
    let error = #expect(throws: MapFaults.self) { try ImportMap(json: text) }
    let fault = error?.faults.first
    #expect(error?.faults.count == 1)
    #expect(fault?.code == .syntax)
    #expect(fault?.position.map { "\($0.line):\($0.column)" } == place)
  }

  @Test(
    "What beginners write that is no YAML is told with its place and how it is written",
    arguments: [
      ("a: { from: score.ft[0] }", "1:20", "flow mapping, did", "written in quotes"),
      ("a: {b: 1,\n  from: items[*].x}", "2:14", "flow mapping that begins in line 1", "quotes"),
      ("a: [x[0], y]", "1:6", "flow sequence, did", "written in quotes"),
      ("a: { b: 1\nc: { d: 2 }", "2:2", "flow mapping that begins in line 1", nil),
      ("a:\n\tb: 1", "2:1", "cannot start any token", "spaces, not with tabs"),
      ("a: b: c", "1:5", "mapping values are not allowed", nil),
      ("a: [1\n", "2:1", "flow sequence that begins in line 1", nil),
    ]
  )
  func badYAML(text: String, place: String, message: String, rule: String?) {
    let error = #expect(throws: MapFaults.self) { try ImportMap(yaml: text) }
    let fault = error?.faults.first
    #expect(error?.faults.count == 1)
    #expect(fault?.code == .syntax)
    #expect(fault?.position.map { "\($0.line):\($0.column)" } == place)
    #expect(fault?.message.contains(message) == true)
    #expect((fault?.rule == nil) == (rule == nil))
    if let rule { #expect(fault?.rule?.contains(rule) == true) }
  }

  @Test("JSON escapes are read, duplicate keys are faults beside the others")
  func goodJSON() throws {
    let json = #"""
      {"version": 1, "name": "\u00e9\/\ud83d\ude00\t\"", "entities": {"A": {"attributes": {"a": null}}}}
      """#
    #expect(try ImportMap(json: json).name == "é/😀\t\"")
    let error = #expect(throws: MapFaults.self) {
      try ImportMap(json: #"{"entity": 1, "version": 1, "version": 1}"#)
    }
    #expect(error?.faults.map(\.code) == [.missingKey, .unknownKey, .duplicateKey])
  }

  @Test("Garbage of a megabyte is a fault, never a crash")
  func garbage() {
    let seed: UInt64 = 20_261_121
    print("seed \(seed)")
    var random = SplitMix(state: seed)
    let alphabet = Array("{}[]:,-?&*!|>'\"%@`#~ \n\t\\ab01.\u{E9}".unicodeScalars)
    for size in [10, 100, 1000, 10_000, 1 << 20] {
      for _ in 0..<(size > 10_000 ? 2 : 50) {
        var text = String.UnicodeScalarView()
        for _ in 0..<size { text.append(alphabet[Int(random.next() % UInt64(alphabet.count))]) }
        #expect(throws: MapFaults.self) { try ImportMap(yaml: String(text)) }
        #expect(throws: MapFaults.self) { try ImportMap(json: String(text)) }
      }
    }
  }

  @Test("Bytes that are no UTF-8 and files that are too large are told")
  func badFiles() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files: [(String, Data, MapFault.Code)] = [
      ("a.map.yaml", Data([0x61, 0xFF, 0x00]), .encoding),
      ("b.map.json", Data(repeating: 0x20, count: (1 << 20) + 1), .limit),
      ("c.map.yaml", Data(repeating: 0, count: 10), .syntax),
    ]
    for (name, data, code) in files {
      let file = folder.appending(path: name)
      try data.write(to: file)
      let error = #expect(throws: MapFaults.self) { try ImportMap(contentsOf: file.path) }
      #expect(error?.faults.map(\.code) == [code])
    }
  }

  @Test(
    "The hostile maps are refused",
    arguments: [
      ("m_cycle", ["map.missing", "map.missing", "map.key", "map.missing", "map.key"]),
      ("m_dup_key", ["map.missing", "map.missing", "map.key", "map.duplicate"]),
      ("m_entity_sql", ["map.missing", "map.missing", "map.key", "map.key"]),
      ("m_entity_sqlite", ["map.missing", "map.missing", "map.key", "map.key"]),
      ("m_huge_path", ["map.missing", "map.missing", "map.key", "map.key"]),
      ("m_regex_bomb", ["map.missing", "map.missing", "map.key", "map.key"]),
      ("m_traversal", ["map.missing", "map.missing", "map.key", "map.key"]),
      ("m_traversal_include", ["map.missing", "map.missing", "map.key"]),
      ("m_unknown_key", ["map.missing", "map.missing", "map.key"]),
    ]
  )
  func hostile(name: String, codes: [String]) {
    let path = "\(Shared.folder)/hostile/synthetic/\(name).map.json"
    guard Shared.has(path) else { return }
    let error = #expect(throws: MapFaults.self) { try ImportMap(contentsOf: path) }
    #expect(error?.faults.map(\.code.rawValue) == codes)
  }
}

/// The folder of shared examples beside the repository, where there is one.
enum Shared {
  static let folder: String = {
    var folder = URL(fileURLWithPath: #filePath)
    for _ in 0..<6 { folder.deleteLastPathComponent() }
    return folder.appending(path: "shared").path
  }()

  /// Whether the file exists; says that the test is skipped where it does not.
  static func has(_ path: String) -> Bool {
    let exists = FileManager.default.fileExists(atPath: path)
    if !exists { print("skipped: \(path) is not there") }
    return exists
  }
}
