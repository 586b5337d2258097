import Foundation
import Testing

@testable import Dragoman

@Suite struct MapWritingTests {
  static func expectRoundTrip(_ map: ImportMap) throws {
    let file = map.file
    #expect(try ImportMap(json: map.json(), file: file) == map)
    #expect(try ImportMap(yaml: map.yaml(), file: file) == map)
    var plain = map
    plain.file = nil
    #expect(try JSONDecoder().decode(ImportMap.self, from: JSONEncoder().encode(plain)) == plain)
  }

  @Test("A map with every key comes back equal from JSON, YAML and Codable")
  func everything() throws {
    try Self.expectRoundTrip(ImportMap(yaml: Self.everything))
  }

  @Test("Words that YAML readers mistake are written in quotes")
  func doubtfulWords() throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          A: { unique: n, attributes: { n: { default: "no" }, i: "~", "null": "12", k: a } }
        """
    )
    try Self.expectRoundTrip(map)
    let text = try map.yaml()
    #expect(
      text == #"""
        version: 1
        entities:
          A:
            unique: "n"
            attributes:
              "n":
                default: "no"
              i: "~"
              "null": "12"
              k: a

        """#
    )
  }

  @Test("The JSON of a small map is the file a person would write")
  func smallJSON() throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          Person:
            unique: id
            attributes: { id: id, born: { from: dob, type: date } }
        """
    )
    #expect(
      map.json() == """
        {
          "version": 1,
          "entities": {
            "Person": {
              "unique": "id",
              "attributes": {
                "id": "id",
                "born": {
                  "from": "dob",
                  "type": "date"
                }
              }
            }
          }
        }

        """
    )
  }

  static let everything = """
    version: 1
    name: everything
    defaults:
      timeZone: Europe/Oslo
      dates: [iso8601, unix-ms]
      numbers: { locale: de_DE, style: percent }
      strings: { trim: true, emptyAsNull: false, nulls: ["", "N/A"] }
      onUnresolved: pending
      onMissing: keep
      onNull: clear
      onInvalid: reject
      ignoreNullValueOverwrites: true
      ignoreOptionalNullValues: false
    entities:
      Animal:
        table: animals
        discriminator: { from: { json: kind, xml: "@kind" }, values: { d: Dog, a: Animal } }
        unique: [[id], [owner, name]]
        version: seen
        deleteWhen: { from: [gone, "state[0]"], equals: yes }
        overwriteExisting: false
        hooks: { beforeRecord: a, afterRecord: [b, c], afterImport: d, afterExport: e }
        contract: { newKeys: evolve, changedTypes: discard, vanishedKeys: freeze }
        onMissing: clear
        attributes:
          id: { type: int64, required: false }
          name: ["a", "b.c"]
          seen: { from: { json: s, xml: x/s }, type: timestamp, dates: unix, timeZone: UTC }
          price: { type: decimal, scale: 2, default: "1.5", min: 1, max: 10 }
          rate: { type: double, numbers: { decimal: ",", group: "'" }, index: true, column: r }
          kind: { type: enum, values: { "1": one, "": none }, unknown: other, default: one }
          ok: { type: bool, trueValues: [Y], falseValues: [N], onInvalid: default, default: false }
          code: { coerce: true, strings: { nulls: "-" }, length: { min: 2, max: 4 }, pattern: "[A-Z]+" }
          free: { contract: freeze }
          loose: { contract: { vanishedKeys: discard } }
          note: { length: 80, sensitive: true, export: false, renamedFrom: remark }
          long: { length: { min: 5 }, compute: later }
        relationships:
          owner: { entity: Owner, kind: toOne, key: { id: owner_id }, onUnresolved: stub, export: key }
          friends:
            entity: Animal
            kind: toMany
            key: { id: { from: friends, split: whitespace } }
            ordered: true
            repeats: true
            assign: union
            onDelete: deny
            onUnlink: keep
            inverse: friends
            onNull: keep
      Dog: { parent: Animal, contract: evolve, attributes: { tail: } }
      Owner: { unique: id, attributes: { id: { type: uuid } } }
    sources:
      j: { format: json, entity: Animal, records: data.animals, pages: { next: /links/next } }
      k: { format: json, entity: Owner, pages: { cursor: /c, parameter: after } }
      l: { format: ndjson, entity: Owner, pages: { next: header } }
      x:
        format: xml
        entity: Animal
        records: /p:r/a
        namespaces: { p: "urn:p" }
        encoding: latin1
      c: { format: csv, entity: Owner, separator: ";" }
    import: { batchSize: 10, commit: batch, rejects: { file: out/rejects.ndjson, max: 0 } }
    export:
      entity: Animal
      names: local
      shape: flat
      nulls: write
      sort: [-id, name]
      include: { owner: none }
      json: { at: /a, pretty: false }
      xml: { at: /p:r/a }
    """
}
