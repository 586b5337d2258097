import DragomanGraph
import Testing

@testable import Dragoman

@Suite struct FaultyMapTests {
  /// A faulty map and its faults, each as `line:column code [suggestion]`.
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var yaml: String
    var faults: [String]
  }

  @Test("Every fault of a map is told, with place and nearest word", arguments: cases)
  func faults(_ faulty: Case) {
    #expect(summary(of: faulty.yaml) == faulty.faults)
  }

  @Test(
    "A value of another shape is told with what its key means",
    arguments: [
      ("key: order", "A mapping belongs here, not \"order\"."),
      (
        "from: order, key: { id: order }",
        "A relationship has \"from\" (nested records) or \"key\", not both."
      ),
    ]
  )
  func rules(relationship: String, message: String) {
    let error = #expect(throws: MapFaults.self) {
      try ImportMap(
        yaml: """
          version: 1
          entities:
            O: { unique: id, attributes: { id: {} } }
            L: { attributes: { n: {} }, relationships: { o: { entity: O, kind: toOne, \(relationship) } } }
          """
      )
    }
    #expect(error?.faults.map(\.message) == [message])
    #expect(error?.faults.first?.rule?.contains("key attributes") == true)
  }

  private func summary(of yaml: String) -> [String] {
    do {
      _ = try ImportMap(yaml: yaml)
      return []
    } catch {
      return error.faults.map { fault in
        let place = fault.position.map { "\($0.line):\($0.column)" } ?? "-"
        return "\(place) \(fault.code.rawValue)\(fault.suggestion.map { " → \($0)" } ?? "")"
      }
    }
  }

  static let cases = [
    Case(
      testDescription: "unknown keys at every level",
      yaml: """
        version: 1
        entitties: {}
        entities:
          Person:
            uniqe: id
            attributes:
              id: { type: int64, requird: true }
              name: { form: full_name, onMising: keep }
        defaults: { date: [iso8601] }
        import: { batchsize: 5, rejects: { fil: a } }
        """,
      faults: [
        "2:1 map.key → entities", "5:5 map.key → unique", "7:26 map.key → required",
        "8:15 map.key → from", "8:32 map.key → onMissing", "9:13 map.key → dates",
        "10:11 map.key → batchSize", "10:36 map.key → file",
      ]
    ),
    Case(
      testDescription: "wrong shapes",
      yaml: """
        version: [1]
        name: { a: b }
        entities:
          Person:
            unique: { id: id }
            attributes:
              id: { type: [int64], index: yes, scale: many }
              tags: [[a]]
              born: { dates: { a: b } }
              size: { length: { min: 5, max: 2 } }
            relationships: none
        sources: []
        """,
      faults: [
        "1:10 map.shape", "2:7 map.shape", "5:13 map.shape", "7:19 map.shape",
        "7:35 map.value → true", "7:47 map.value", "8:14 map.shape", "9:22 map.shape",
        "10:23 map.value", "11:20 map.shape", "12:10 map.shape",
      ]
    ),
    Case(
      testDescription: "words and numbers",
      yaml: """
        version: 2
        defaults: { onMissing: ignore, timeZone: Europe/Olso, dates: [iso8602, "dd.MM.yyy'"] }
        entities:
          A:
            overwriteExisting: off
            attributes:
              a: { type: integer }
              b: { type: bool, default: ture, trueValues: [Y], falseValues: [N, Y] }
              c: { type: decimal, scale: 2, default: "1.234", min: 10, max: 9 }
              d: { type: int16, default: 70000 }
              e: { type: enum, values: { FT: full_time }, default: fulltime }
              f: { type: date, default: 2023-02-29 }
              g: { type: double, numbers: { decimal: ".", group: "." } }
              h: { type: timestamp, timeZone: Mars/Base, dates: [] }
              i: { type: json, default: hello }
        import: { rejects: { file: a, max: -1 }, batchSize: 0 }
        """,
      faults: [
        "1:10 map.value → 1", "2:24 map.value", "2:42 map.format → Europe/Oslo",
        "2:63 map.format → iso8601", "2:72 map.format", "5:24 map.value → false",
        "7:18 map.value → int64", "8:33 map.literal → true", "8:69 map.value",
        "9:46 map.literal", "9:60 map.literal", "10:34 map.literal",
        "11:60 map.literal → full_time", "12:33 map.literal", "13:35 map.format",
        "14:39 map.format", "14:57 map.format", "15:33 map.literal", "16:36 map.value",
        "16:53 map.value",
      ]
    ),
    Case(
      testDescription: "a type or a kind that is none, and rules for the one that was meant",
      yaml: """
        version: 1
        entities:
          A:
            unique: id
            attributes: { id: { type: int64 }, a: { type: timestmp, dates: iso8601 }, b: { type: [int64], scale: 2 } }
            relationships: { as: { entity: A, kind: toMeny, ordered: true } }
        """,
      faults: ["5:51 map.value → timestamp", "5:90 map.shape", "6:45 map.value → toMany"]
    ),
    Case(
      testDescription: "rules that do not belong to the type",
      yaml: """
        version: 1
        entities:
          A:
            attributes:
              a: { scale: 2, dates: iso8601, min: 1, numbers: { decimal: "," } }
              b: { type: int64, length: 3, unknown: x, coerce: true, pattern: a, values: { a: 1 } }
              c: { trueValues: [Y], falseValues: [N], timeZone: UTC, unknown: x }
        """,
      faults: [
        "5:19 map.misplaced", "5:29 map.misplaced", "5:43 map.misplaced", "5:55 map.misplaced",
        "6:33 map.misplaced", "6:45 map.misplaced", "6:56 map.misplaced", "6:71 map.misplaced",
        "6:82 map.misplaced", "7:24 map.misplaced", "7:42 map.misplaced", "7:57 map.misplaced",
        "7:71 map.misplaced",
      ]
    ),
    Case(
      testDescription: "policies, patterns and output paths",
      yaml: """
        version: 1
        entities:
          A:
            attributes:
              a: { onNull: default }
              b: { pattern: "(a+)+$" }
              c: { pattern: "[" }
              d: { pattern: "(a)\\\\1" }
              e: { pattern: "([a-z]+)(-[a-z]+)?" }
              f: { pattern: "(\\\\w*){3}" }
        import: { rejects: { file: ../../etc/passwd } }
        """,
      faults: [
        "5:20 map.policy", "6:21 map.pattern", "7:21 map.pattern", "8:21 map.pattern",
        "10:21 map.pattern", "11:28 map.output",
      ]
    ),
    Case(
      testDescription: "an output path of a shell",
      yaml: """
        version: 1
        entities: { A: { attributes: { a: } } }
        import: { rejects: { file: .profile } }
        """,
      faults: ["3:28 map.output"]
    ),
    Case(
      testDescription: "an output path in a hidden folder",
      yaml: """
        version: 1
        entities: { A: { attributes: { a: } } }
        import: { rejects: { file: out/.config/x } }
        """,
      faults: ["3:28 map.output"]
    ),
    Case(
      testDescription: "an output path of settings",
      yaml: """
        version: 1
        entities: { A: { attributes: { a: } } }
        import: { rejects: { file: dragoman.yaml } }
        """,
      faults: ["3:28 map.output"]
    ),
    Case(
      testDescription: "names that SQLite or Dragoman keeps, and names that clash",
      yaml: """
        version: 1
        entities:
          sqlite_stat: { attributes: { _id: id, name: name, NAME: other, x: { column: y }, y: y } }
          Person: { attributes: { id: id, a: { column: sqlite_a } } }
          person: { attributes: { id: id } }
          Animal: { table: PERSON, attributes: { id: id } }
          Dog: { parent: Animl, attributes: { id: id } }
          Cat: { parent: Cow, table: cats, attributes: { id2: id } }
          Cow: { parent: Cat, attributes: { id: id } }
          Fish: { parent: Animal, attributes: { ID: id } }
          "": { attributes: { "a\\tb": c } }
        """,
      faults: [
        "3:3 map.name", "3:32 map.name", "3:53 map.clash", "3:87 map.clash", "4:48 map.name",
        "5:3 map.clash", "6:20 map.clash", "7:18 map.reference → Animal", "8:18 map.reference",
        "8:30 map.misplaced", "9:18 map.reference", "10:45 map.clash", "11:3 map.name",
        "11:23 map.name",
      ]
    ),
    Case(
      testDescription: "names that refer to nothing",
      yaml: """
        version: 1
        entities:
          Person:
            unique: [contry, id]
            version: updated
            deleteWhen: { from: deleted }
            discriminator: { from: kind, values: { c: Company } }
            attributes: { id: id, country: country, updatedAt: { type: timestamp } }
            relationships:
              boss: { entity: Persn, kind: toOne }
              firm: { entity: Company, kind: toOne, key: { number: { attribute: idd } }, ordered: true }
              both: { entity: Company, kind: toMany, from: a, key: { id: b } }
              none: { kind: toSome }
              name: { entity: Company, kind: toOne, inverse: name }
          Company: { unique: id, attributes: { id: id, name: name } }
        sources:
          a: { format: jsn, entity: Person }
          b: { format: json, entity: Persona }
          c: { format: ndjson, entity: Person, records: /a }
          d: { format: xml, entity: Person }
          e: { format: json, entity: Company, namespaces: { a: b }, separator: "," }
        export: { entity: Company, sort: [-nam], include: { boss: key } }
        """,
      faults: [
        "4:13 map.reference → country", "5:14 map.reference → updatedAt", "6:17 map.missing",
        "7:47 map.reference", "10:23 map.reference → Person", "11:50 map.reference",
        "11:73 map.reference → id", "11:91 map.misplaced", "12:60 map.shape",
        "13:13 map.missing", "13:21 map.value → toOne", "14:54 map.reference",
        "17:16 map.value → json", "18:30 map.reference → Person", "19:49 map.misplaced",
        "20:6 map.missing", "21:51 map.misplaced", "21:72 map.misplaced",
        "22:35 map.reference → name", "22:59 map.reference",
      ]
    ),
    Case(
      testDescription: "paths",
      yaml: """
        version: 1
        entities:
          P:
            unique: key
            attributes:
              key: { from: { csv: key } }
              a: "a..b"
              b: { from: { json: ["ok", "a[x]"], xml: "c:a" } }
              c: { from: { xml: "a//b" } }
              d: { from: { xml: "a[1]" } }
              e: $indx
              f: $root
              g: "a.*.b"
              h: "/a~2b"
              i: ""
              j: { from: { jsn: a } }
              k: { from: { xml: "d:a/@d:b" } }
              l: "a[*].b"
        sources:
          x: { format: xml, entity: P, records: "/r/@a", namespaces: { d: "urn:d" } }
          j: { format: json, entity: P, records: $root.a }
        """,
      faults: [
        "4:13 map.unique", "7:10 map.path", "8:33 map.path", "8:47 map.path", "9:25 map.path",
        "10:25 map.path", "11:10 map.path → $index", "12:10 map.path", "13:10 map.path",
        "14:10 map.path", "15:10 map.path", "16:20 map.key → json", "20:41 map.path",
        "21:42 map.path",
      ]
    ),
    Case(
      testDescription: "inverses that a relationship cannot have",
      yaml: """
        version: 1
        entities:
          A:
            unique: id
            attributes: { id: id }
            relationships:
              spouse: { entity: A, kind: toOne, inverse: spouse, key: { id: spouse } }
              friends: { entity: A, kind: toMany, inverse: friends, key: { id: friends } }
              bs: { entity: B, kind: toMany, inverse: a, key: { id: bs }, repeats: true }
          B: { unique: id, attributes: { id: id }, relationships: { a: { entity: A, kind: toOne, inverse: bs, from: [] } } }
        """,
      faults: ["7:50 map.reference", "9:76 map.misplaced"]
    ),
    Case(
      testDescription: "keys of what is stored on the other side",
      yaml: """
        version: 1
        entities:
          P:
            unique: id
            attributes: { id: id }
            relationships:
              addr: { entity: Ad, kind: toOne, from: addr, inverse: p }
              phones: { entity: Ph, kind: toMany, from: phones, inverse: p }
          Ad: { unique: [p, street], attributes: { street: street } }
          Ph: { unique: [p, number], attributes: { number: number } }
        """,
      faults: ["9:17 map.reference"]
    ),
    Case(
      testDescription: "duplicate keys",
      yaml: "version: 1\nentities:\n  A:\n    attributes: { id: a, id: b }",
      faults: ["4:19 map.duplicate"]
    ),
    Case(testDescription: "nothing", yaml: "", faults: ["- map.syntax"]),
    Case(
      testDescription: "a tab that indents",
      yaml: "version: 1\nentities:\n\tA: b",
      faults: ["3:1 map.syntax"]
    ),
    Case(
      testDescription: "two documents",
      yaml: "version: 1\n---\nversion: 1",
      faults: ["2:1 map.syntax"]
    ),
    Case(
      testDescription: "a list instead of a map",
      yaml: "- a",
      faults: ["1:1 map.shape"]
    ),
    Case(
      testDescription: "a model file",
      yaml: "version: 1\nmodel: ../other.json\nentities: {}",
      faults: ["2:8 map.unsupported", "3:11 map.value"]
    ),
  ]

  @Test("What would be too much for a table or take too long is refused")
  func limits() {
    func names(_ count: Int) -> String { (0..<count).map { "a\($0)" }.joined(separator: ", ") }
    func attributes(_ count: Int) -> String {
      (0..<count).map { "a\($0): b" }.joined(separator: ", ")
    }
    let chain = (0..<20).map { level in
      let parent = level > 0 ? "parent: E\(level - 1), " : ""
      return "  E\(level): { \(parent)attributes: { a\(level): b } }\n"
    }
    let entities = (0..<251).map { "  E\($0): { attributes: { a: b } }\n" }
    let head = "version: 1\nentities:\n"
    #expect(summary(of: head + "  A: { attributes: { \(attributes(1997)) } }") == ["3:6 map.limit"])
    #expect(
      summary(of: head + "  A: { attributes: { \(attributes(20_000)) } }")
        == ["3:6 map.limit", "3:20 map.limit"]
    )
    #expect(
      summary(of: head + "  A: { unique: [\(names(65))], attributes: { \(attributes(65)) } }")
        == ["3:16 map.limit"]
    )
    #expect(summary(of: head + entities.joined()) == ["3:3 map.limit"])
    // What names one behind the limit is no fault of its own.
    let source = "sources: { s: { format: json, entity: E250 } }\n"
    #expect(summary(of: head + entities.joined() + source) == ["3:3 map.limit"])
    #expect(summary(of: head + chain.joined()).count == 11)
  }

  @Test("A description spells out fifty faults and counts the rest")
  func description() throws {
    let keys = (0..<60).map { "x\($0): 1" }.joined(separator: "\n")
    let error = #expect(throws: MapFaults.self) { try ImportMap(yaml: keys, file: "a.map.yaml") }
    let lines = (error?.description ?? "").split(separator: "\n")
    #expect(error?.faults.count == 62)
    #expect(lines.first == "error[map.key]: a.map.yaml:1:1: \"x0\" is no key of a map.")
    #expect(lines.last == "… and 12 more faults")
  }

  @Test("A key that stands in the wrong place is told with what has it")
  func misplacedKey() {
    let yaml =
      "version: 1\nnamespaces: { m: urn:m }\nentities: { A: { attributes: { a: { unique: b } } } }"
    let error = #expect(throws: MapFaults.self) { try ImportMap(yaml: yaml) }
    let messages = error?.faults.filter { $0.code == .unknownKey }.map(\.message)
    #expect(
      messages == [
        "\"namespaces\" is no key of a map, but of a source.",
        "\"unique\" is no key of an attribute, but of an entity.",
      ]
    )
    #expect(error?.faults.allSatisfy { $0.suggestion == nil } == true)
  }

  @Test("A missing file and a folder are told, not thrown as something else")
  func unreadable() {
    for path in ["/nowhere/a.map.yaml", "/tmp"] {
      let error = #expect(throws: MapFaults.self) { try ImportMap(contentsOf: path) }
      #expect(error?.faults.map(\.code) == [.file])
    }
  }
}
