import Testing

@testable import Dragoman

/// What costs a map that it is canonical (docs/export.md).
@Suite("Canonical maps") struct CanonicalMapTests {
  private func differences(_ yaml: String) throws -> [String] {
    try ImportMap(yaml: "version: 1\n" + yaml).spellingsThatDiffer()
  }

  @Test(
    "Policies cost it on whatever level they stand, but never of keys and of required values",
    arguments: [
      ("defaults: { onInvalid: clear }", ""), ("", "onInvalid: clear, "),
      ("defaults: { onInvalid: reject }", "onInvalid: clear, "),
    ]
  )
  func levels(defaults: String, entity: String) throws {
    let map = """
      \(defaults)
      entities:
        P:
          { \(entity)unique: id, attributes: { id: {}, a: {}, b: { required: true }, c: { onInvalid: reject } } }
      """
    #expect(try differences(map) == ["P.a loses what is invalid"])
  }

  @Test("An entity's word wins over that of the defaults, and a sub-entity's over its parent's")
  func families() throws {
    let map = """
      defaults: { onInvalid: clear }
      entities:
        P: { unique: id, onInvalid: reject, attributes: { id: {}, a: {} } }
        Q: { parent: P, onInvalid: default, attributes: { d: { default: x } } }
      """
    #expect(
      try differences(map) == [
        "P.a loses what is invalid", "Q.d may have its default for another value",
      ]
    )
  }

  @Test("A column of CSV is what its name is, whatever that means elsewhere")
  func columns() throws {
    let entities = "entities: { P: { attributes: { k: $key, i: $index, w: 'a[*]' } } }\n"
    #expect(
      try differences(entities + "sources: { c: { format: csv, entity: P } }")
        == ["P.i stands outside of the record"]
    )
    #expect(
      try differences(entities + "sources: { j: { format: json, entity: P } }") == [
        "P.k stands outside of the record", "P.i stands outside of the record",
        "P.w gathers several values",
      ]
    )
  }
}
