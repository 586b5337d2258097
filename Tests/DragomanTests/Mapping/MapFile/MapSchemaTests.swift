import Foundation
import Testing

@testable import Dragoman

/// Holds the published JSON Schema and the decoder's grammar together.
@Suite struct MapSchemaTests {
  private struct Schema: Decodable {
    var properties: [String: Ignored]?
    var additionalProperties: Additional?
    var definitions: [String: Schema]?
    var oneOf: [Schema]?
  }

  private struct Ignored: Decodable {
    init(from decoder: any Decoder) throws {}
  }

  /// `false`, or a schema, which does not matter here.
  private struct Additional: Decodable {
    var isAllowed: Bool

    init(from decoder: any Decoder) throws {
      isAllowed = (try? decoder.singleValueContainer().decode(Bool.self)) ?? true
    }
  }

  private static let places: [(String, [String])] = [
    ("defaults", MapGrammar.defaults), ("entity", MapGrammar.entity),
    ("discriminator", MapGrammar.discriminator), ("deleteWhen", MapGrammar.deleteWhen),
    ("hooks", MapGrammar.hooks), ("attributeLong", MapGrammar.attribute),
    ("numbers", MapGrammar.numbers), ("strings", MapGrammar.strings),
    ("relationship", MapGrammar.relationship), ("pathsByFormat", MapGrammar.paths),
    ("keyPartLong", MapGrammar.keyPart), ("source", MapGrammar.source),
    ("import", MapGrammar.importOptions), ("rejects", MapGrammar.rejects),
    ("export", MapGrammar.exportOptions), ("exportJSON", MapGrammar.exportJSON),
    ("exportXML", MapGrammar.exportXML),
  ]

  @Test("The published schema admits exactly the keys of the decoder")
  func keys() throws {
    var folder = URL(fileURLWithPath: #filePath)
    for _ in 0..<5 { folder.deleteLastPathComponent() }
    let file = folder.appending(path: "docs/dragoman-map.schema.json")
    let schema = try JSONDecoder().decode(Schema.self, from: Data(contentsOf: file))
    #expect(Set(schema.properties?.keys.map(\.self) ?? []) == Set(MapGrammar.top))
    for (name, keys) in Self.places {
      let place = schema.definitions?[name]
      #expect(Set(place?.properties?.keys.map(\.self) ?? []) == Set(keys), "\(name)")
      #expect(place?.additionalProperties?.isAllowed == false, "\(name)")
    }
    let closed = (schema.definitions ?? [:]).filter { $0.value.properties != nil }.keys
    #expect(Set(closed) == Set(Self.places.map(\.0)))
  }
}
