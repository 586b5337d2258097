import Testing

@testable import Dragoman

@Suite struct LintTests {
  private func lints(_ yaml: String) throws -> [String] {
    try ImportMap(yaml: "version: 1\n" + yaml).lint().map { fault in
      let place = fault.position.map { "\($0.line):\($0.column)" } ?? "-"
      return "\(place) \(fault.code.rawValue)"
    }
  }

  @Test("A clean map has no warnings")
  func clean() throws {
    #expect(try lints("entities:\n  A: { attributes: { a: a } }") == [])
  }

  @Test("Letters of date patterns that are seldom meant are told")
  func letters() throws {
    let yaml = """
      defaults: { timeZone: UTC }
      entities:
        A:
          attributes:
            a: { type: date, dates: ["dd.MM.YYYY", "DD.MM.yyyy"] }
            b: { type: time, dates: "hh:mm" }
            c: { type: time, dates: "hh:mm a" }
            d: { type: time, dates: "HH:mm 'hh DD'" }
      """
    #expect(try lints(yaml) == ["6:7 lint.letter", "6:7 lint.letter", "7:7 lint.letter"])
  }

  @Test("A missing time zone is told once, where values may lack one")
  func zone() throws {
    let yaml = """
      entities:
        A:
          attributes:
            a: { type: timestamp, dates: "yyyy-MM-dd HH:mmXXX" }
            b: { type: timestamp, dates: unix }
            c: { type: timestamp, timeZone: UTC }
            d: { type: timestamp }
            e: { type: timestamp }
      """
    #expect(try lints(yaml) == ["8:7 lint.zone"])
    #expect(try lints("defaults: { timeZone: UTC }\n" + yaml) == [])
  }

  @Test("JSON paths on XML sources, unused prefixes and half-mapped keys are told")
  func xml() throws {
    let yaml = """
      entities:
        A:
          unique: id
          attributes:
            id: { from: { json: id } }
            a: "list[0]"
            b: /with.dots
            c: name
            d: { from: { json: "list[1]" } }
      sources:
        j: { format: json, entity: A }
        x: { format: xml, entity: A, records: /p:r, namespaces: { p: "urn:p", q: "urn:q" } }
      """
    #expect(
      try lints(yaml) == [
        "6:7 lint.unmapped", "7:7 lint.path", "8:7 lint.path", "13:3 lint.prefix",
      ]
    )
  }

  @Test("A default policy over attributes without a default, and an inverse that is nobody's")
  func policies() throws {
    let yaml = """
      entities:
        A:
          onNull: default
          attributes: { a: { default: x }, b: b }
          relationships:
            c: { entity: B, kind: toOne, inverse: d }
            e: { entity: B, kind: toMany, inverse: f }
        B:
          unique: [f, a]
          attributes: { a: a }
      """
    #expect(try lints(yaml) == ["5:38 lint.default", "7:7 lint.inverse"])
  }

  @Test(
    "A version that records may take away is told",
    arguments: [
      ("{ type: int64 }", "", true), ("{ type: int64, onNull: keep }", "", false),
      ("{ type: int64, onNull: reject }", "", false),
      ("{ type: int64, required: true }", "", false),
      ("{ type: int64 }", "onNull: keep", false),
      ("{ type: int64 }", "ignoreNullValueOverwrites: false", true),
      ("{ type: int64, onNull: keep, onMissing: clear }", "", true),
      ("{ type: int64, onNull: keep, onInvalid: clear }", "", true),
    ]
  )
  func version(attribute: String, policy: String, isTold: Bool) throws {
    let yaml = """
      defaults: { \(policy) }
      entities:
        A: { unique: id, version: v, attributes: { id: id, v: \(attribute) } }
        B: { parent: A }
      """
    #expect(try lints(yaml) == (isTold ? ["4:54 lint.version"] : []))
  }

  @Test("A version that is a part of the key is none that records take away")
  func versionInKey() throws {
    let yaml = "entities: { A: { unique: v, version: v, attributes: { v: { type: int64 } } } }"
    #expect(try lints(yaml) == [])
  }

  @Test("A list that is only added to, and says itself when it is cleared")
  func union() throws {
    let yaml = """
      defaults: { onNull: clear }
      entities:
        A:
          unique: id
          attributes: { id: id }
          relationships:
            a: { entity: A, kind: toMany, key: { id: a }, assign: union, onNull: clear }
            b: { entity: A, kind: toMany, key: { id: b }, assign: union, onMissing: keep }
            c: { entity: A, kind: toMany, key: { id: c }, onNull: clear }
            d: { entity: A, kind: toMany, key: { id: d }, assign: union, ignoreNullValueOverwrites: false }
      """
    #expect(try lints(yaml) == ["8:7 lint.union", "11:7 lint.union"])
  }
}
