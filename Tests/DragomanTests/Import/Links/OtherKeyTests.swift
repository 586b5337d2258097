import DragomanGraph
import Testing

@testable import Dragoman

/// Objects of more than one unique key, and keys that contain a to-one: who is meant, and who waits for whom.
///
/// From docs/relationships.md: each record applies as if it came in an import of its own, but for references to who comes
/// later; a record that waits is taken up when what it needs is there, and later records about its objects behind it.
@Suite("Links by other keys than the identity, and records that wait for them")
struct OtherKeyTests {
  struct Case: CustomTestStringConvertible {
    let testDescription: String
    let entities: String
    var store: String?
    let feed: String
    let summary: String
    let query: String
    let rows: [String]
  }

  private static let people = """
      Z: { unique: code, attributes: { code: code } }
      P:
        unique: [[id], [email]]
        attributes: { id: { type: int64 }, email: email }
        relationships:
          friends: { entity: P, kind: toMany, key: { email: "friends[*]" } }
          boss: { entity: P, kind: toOne, key: { email: boss }, onUnresolved: reject }
          z: { entity: Z, kind: toOne, key: { code: z }, onUnresolved: reject }
    """

  private static let pairs = """
      Z: { unique: code, attributes: { code: code } }
      P:
        unique: [[id], [a, b]]
        attributes: { id: { type: int64 }, a: a, b: b }
        deleteWhen: { from: op, equals: del }
        relationships:
          z: { entity: Z, kind: toOne, key: { code: z }, onUnresolved: reject }
          ref: { entity: P, kind: toOne, key: { a: ra, b: rb }, onUnresolved: reject }
          r2: { entity: P, kind: toOne, key: { id: r2 }, onUnresolved: reject }
          r3: { entity: P, kind: toOne, key: { id: r3 }, onUnresolved: reject }
    """

  private static let streets = """
      Z: { unique: code, attributes: { code: code } }
      C: { unique: [region, name], attributes: { region: region, name: name } }
      P:
        unique: [city, name]
        attributes: { name: name, v: v }
        deleteWhen: { from: op, equals: del }
        relationships:
          city: { entity: C, kind: toOne, from: city }
          z: { entity: Z, kind: toOne, key: { code: z }, onUnresolved: reject }
    """

  private static let family = """
      Z: { unique: code, attributes: { code: code } }
      P: { unique: id, attributes: { id: { type: int64 }, v: v }, deleteWhen: { from: op, equals: del } }
      C: { parent: P, relationships: { z: { entity: Z, kind: toOne, key: { code: z }, onUnresolved: reject } } }
      O: { unique: id, attributes: { id: { type: int64 } }, relationships: { p: { entity: P, kind: toOne, from: p } } }
    """

  private static let towns = """
      C: { unique: id, attributes: { id: { type: int64 } }, relationships: { main: { entity: P, kind: toOne, key: { city: id, name: main }, onUnresolved: reject } } }
      P: { unique: [city, name], attributes: { name: name }, relationships: { city: { entity: C, kind: toOne, key: { id: city } } } }
    """

  private static let boss = "SELECT p.id, b.id FROM P p LEFT JOIN P b ON b._pk = p.boss ORDER BY 1"
  private static let friends =
    "SELECT o.id, t.id FROM P_friends l JOIN P o ON o._pk = l.owner JOIN P t ON t._pk = l.target"

  private static let cases = [
    Case(
      testDescription: "a list means who has the key when its record comes",
      entities: people,
      feed:
        #"{"P":[{"id":1,"email":"a"},{"id":2,"email":"c","friends":["a"]},{"id":1,"email":"b"},{"id":3,"email":"a"}]}"#,
      summary: "read 4, inserted 3, updated 1",
      query: friends,
      rows: ["2|1"]
    ),
    Case(
      testDescription: "a list keeps whom it named, where nobody takes the key over",
      entities: people,
      feed: #"{"P":[{"id":1,"email":"a"},{"id":2,"friends":["a"]},{"id":1,"email":null}]}"#,
      summary: "read 3, inserted 2, updated 1",
      query: friends,
      rows: ["2|1"]
    ),
    Case(
      testDescription: "who is rejected takes no key from anybody",
      entities: people,
      feed:
        #"{"P":[{"id":1,"email":"a"},{"id":2,"email":"c","friends":["a"]},{"id":2,"email":"a"}]}"#,
      summary: "read 3, inserted 2, rejected 1",
      query: friends,
      rows: ["2|1"]
    ),
    Case(
      testDescription: "a held record takes the key away that a later one needs",
      entities: people,
      feed:
        #"{"P":[{"id":1,"email":"a"},{"id":1,"email":"b","z":"q"},{"id":2,"email":"c","boss":"a","z":"q"}],"Z":[{"code":"q"}]}"#,
      summary: "read 4, inserted 2, updated 1, rejected 1",
      query: boss,
      rows: ["1|null"]
    ),
    Case(
      testDescription: "of two that need each other one is refused, and with it all that need it",
      entities: people,
      feed:
        #"{"P":[{"id":9,"email":"a"},{"id":1,"email":"x","boss":"y"},{"id":2,"email":"y","boss":"x"},{"id":2,"email":"a","boss":"x"},{"id":3,"boss":"x"}]}"#,
      summary: "read 5, inserted 4, rejected 1",
      query: boss,
      rows: ["1|2", "2|1", "3|1", "9|null"]
    ),
    Case(
      testDescription: "a part of a key is given, and the store has the other one",
      entities: pairs,
      store: #"{"P":[{"id":1,"a":"1","b":"1"}]}"#,
      feed:
        #"{"P":[{"id":1,"a":"2","z":"q"},{"id":9,"a":"9","b":"9","ra":"2","rb":"1"}],"Z":[{"code":"q"}]}"#,
      summary: "read 3, inserted 2, updated 1",
      query: "SELECT p.id, r.id FROM P p LEFT JOIN P r ON r._pk = p.ref ORDER BY 1",
      rows: ["1|null", "9|1"]
    ),
    Case(
      testDescription: "each record is taken up once",
      entities: pairs,
      store: #"{"P":[{"id":60,"a":"1","b":"1"},{"id":70,"a":"7","b":"7"}]}"#,
      feed: """
        {"P":[{"id":60,"a":"2","z":"q"},{"id":70,"z":"q"},{"id":70,"op":"del"},{"id":80,"r2":81},{"id":81,"r2":80},
        {"id":50,"a":"2","b":"1","r2":70,"r3":81},{"id":90,"ra":"2","rb":"1","r2":70}],"Z":[{"code":"q"}]}
        """,
      summary: "read 8, inserted 3, updated 2, deleted 1, rejected 2",
      query: "SELECT p.id, r.id FROM P p LEFT JOIN P r ON r._pk = p.r2 ORDER BY 1",
      rows: ["60|null", "80|81", "81|80"]
    ),
    Case(
      testDescription: "records about an object whose key contains one of two parts",
      entities: streets,
      feed: """
        {"P":[{"city":{"region":"R","name":"C"},"name":"S","v":"1","z":"q"},{"city":{"region":"R","name":"C"},"name":"S","v":"2"},
        {"city":{"region":"R","name":"C"},"name":"T","z":"q"},{"city":{"region":"R","name":"C"},"name":"T","op":"del"}],"Z":[{"code":"q"}]}
        """,
      summary: "read 5, inserted 3, updated 1, deleted 1",
      query: "SELECT name, v FROM P",
      rows: ["S|2"]
    ),
    Case(
      testDescription: "a record of the parent comes behind the one of the sub-entity that waits",
      entities: family,
      feed: #"{"C":[{"id":1,"v":"1","z":"q"}],"P":[{"id":1,"v":"2"}],"Z":[{"code":"q"}]}"#,
      summary: "read 3, inserted 2, updated 1",
      query: "SELECT id, v, _entity FROM P",
      rows: ["1|2|C"]
    ),
    Case(
      testDescription: "who has an object by its key alone comes behind the tombstone that waits",
      entities: family,
      store: #"{"P":[{"id":5,"v":"old"}]}"#,
      feed:
        #"{"C":[{"id":5,"z":"q"}],"P":[{"id":5,"op":"del"}],"O":[{"id":1,"p":{"id":5}}],"Z":[{"code":"q"}]}"#,
      summary: "read 4, inserted 2, updated 1, deleted 1",
      query: "SELECT O.id, P.id, P.v FROM O LEFT JOIN P ON P._pk = O.p",
      rows: ["1|5|null"]
    ),
    Case(
      testDescription: "who needs another one than it makes, of which it gives a part, is rejected",
      entities: pairs,
      feed: #"{"P":[{"id":1,"b":"2","ra":"s","rb":"2"},{"id":2,"b":"3","r2":3},{"id":3,"r2":2}]}"#,
      summary: "read 3, inserted 2, rejected 1",
      query: "SELECT id FROM P",
      rows: ["2", "3"]
    ),
    Case(
      testDescription: "of two that seem to need each other one needs somebody else",
      entities: towns.replacing(
        "C: { unique: id, attributes: { id: { type: int64 } }",
        with: "C: { unique: [[id], [code]], attributes: { id: { type: int64 }, code: code }"
      )
      .replacing("{ city: id, name: main }", with: "{ city: other, name: main }"),
      feed: #"{"C":[{"id":2,"other":3,"main":"S"}],"P":[{"city":2,"name":"S"}]}"#,
      summary: "read 2, rejected 2",
      query: "SELECT id FROM C",
      rows: []
    ),
    Case(
      testDescription: "a record among them that is refused does not let a later one overtake",
      entities: people.replacing(
        "toMany, key: { email: \"friends[*]\" }",
        with: "toMany, key: { id: \"friends[*]\" }"
      ),
      feed: """
        {"P":[{"id":1,"friends":[3],"boss":"r"},{"id":1,"email":"p"},{"id":1,"friends":[2]},{"id":1,"email":"r"},{"id":3,"email":"p"}]}
        """,
      summary: "read 5, inserted 2, updated 2, rejected 1",
      query: friends,
      rows: []
    ),
    Case(
      testDescription: "an object comes again with other lists",
      entities: people,
      feed:
        #"{"P":[{"id":3,"friends":["q"]},{"id":3,"email":"p","friends":["r"]},{"id":3,"email":"r"}]}"#,
      summary: "read 3, inserted 1, updated 2",
      query: friends,
      rows: ["3|3"]
    ),
    Case(
      testDescription: "a tombstone stands between two that need each other",
      entities: pairs,
      feed: #"{"P":[{"id":1,"r2":2},{"id":1,"op":"del"},{"id":2,"r2":1},{"id":1}]}"#,
      summary: "read 4, inserted 3, deleted 1",
      query: "SELECT p.id, r.id FROM P p LEFT JOIN P r ON r._pk = p.r2 ORDER BY 1",
      rows: ["1|null", "2|1"]
    ),
    Case(
      testDescription: "of two that need each other the one begins that has no other in its key",
      entities: towns,
      feed: #"{"P":[{"city":1,"name":"S"}],"C":[{"id":1,"main":"S"}]}"#,
      summary: "read 2, inserted 2",
      query: "SELECT C.id, P.name FROM C JOIN P ON P._pk = C.main AND P.city = C._pk",
      rows: ["1|S"]
    ),
  ]

  @Test("Whoever is meant is linked", arguments: cases, [nil, 1, 2])
  func outcomes(one: Case, batchSize: Int?) async throws {
    let names = one.entities.split(separator: "\n").map(String.init)
      .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
      .map { $0.dropFirst(2).prefix { $0 != ":" } }
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
      \(one.entities)
      sources:
      \(names.map { "  \($0): { format: json, entity: \($0), records: /\($0) }" }.joined(separator: "\n"))
      """
    )
    if let store = one.store { try await fixture.run(store) }
    let report = try await fixture.run(one.feed) { request in
      request.options.commit = batchSize.map { _ in .batch }
      request.options.batchSize = batchSize
    }
    #expect(report.summary == one.summary, "\(report.issues)")
    #expect(try sql(fixture.store, one.query) == one.rows)
  }

  @Test("Of those that need each other one is refused: none is written", arguments: Way.allCases)
  func refusedRing(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      P:
        unique: [[id], [dup]]
        attributes: { id: id, dup: dup }
        relationships: { boss: { entity: P, kind: toOne, key: { id: boss }, onUnresolved: reject } }
      """
    )
    let report = try await fixture.run(
      "P",
      [
        ["id": "9", "dup": "z"], ["id": "1", "boss": "2"], ["id": "2", "boss": "1", "dup": "z"],
        ["id": "3", "boss": "1"], ["id": "4", "boss": "5"], ["id": "5", "boss": "4"],
      ],
      by: way
    )
    #expect(report.summary == "read 6, inserted 3, rejected 3")
    #expect(report.issueSummary.sorted() == ["key.duplicate 1", "link.unresolved 2"])
    #expect(try fixture.rows("SELECT id FROM P ORDER BY id") == ["4", "5", "9"])
  }
}
