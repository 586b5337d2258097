import Synchronization
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// What changes call the objects that they are of, and those that links lead to.
@Suite("Objects and targets of changes")
struct ChangeTargetTests {
  /// What a dry run tells, what the import tells, and what the history says of it.
  private func told(_ text: String, _ fixture: ImportFixture) async throws -> [[String]] {
    let found = Mutex<[String]>([])
    var all: [[String]] = []
    for isDryRun in [true, false] {
      try await fixture.run(text) { request in
        request.isDryRun = isDryRun
        request.tellsNetChanges = true
        request.changes = { change in found.withLock { $0.append(Self.told(change)) } }
      }
      all.append(
        found.withLock { found in
          defer { found = [] }
          return found
        }
      )
    }
    let run = try #require(try fixture.store.history(limit: 1).first?.id)
    var history: [String] = []
    try fixture.store.changes(ofImport: run) { history.append(Self.told($0)) }
    return all + [history]
  }

  private static func told(_ change: ImportChange) -> String {
    var change = change
    change.origin = nil
    return ChangeJSON.text(change).replacing("\"", with: "")
  }

  @Test("An object whose identity is null is told by its next unique key, or by its primary key")
  func nullIdentity() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: [[id], [email]]
          attributes: { id: { from: id, required: false }, email: email, name: name }
          relationships:
            boss: { entity: P, kind: toOne, key: { email: boss }, onUnresolved: stub }
            friends: { entity: P, kind: toMany, key: { email: friends } }
      sources: { s: { format: json, entity: P } }
      """
    )
    try await fixture.run(#"[{"id":"1","email":"a@x"},{"email":"c@x"},{"email":"d@x"}]"#)
    let link = "{change:updated,entity:P,key:{id:1},attributes:{},relationships:{boss:{old:"
    for (record, sides) in [
      (#"{"id":"1","boss":"c@x"}"#, "null,new:{email:c@x}"),
      (#"{"id":"1","boss":"d@x"}"#, "{email:c@x},new:{email:d@x}"),
    ] {
      let expected = ["\(link)\(sides)}}}"]
      #expect(try await told("[\(record)]", fixture) == [expected, expected, expected])
    }
    for lines in try await told(
      #"[{"email":"z@x","name":"Z"},{"id":"1","friends":["c@x"]}]"#,
      fixture
    ) {
      #expect(
        lines.sorted() == [
          "{change:inserted,entity:P,key:{email:z@x},attributes:{name:{new:Z}}}",
          "{change:updated,entity:P,key:{id:1},attributes:{},relationships:{friends:{removed:[],added:[{email:c@x}]}}}",
        ]
      )
    }
  }

  @Test("Objects without a unique key are told by their primary keys")
  func keyless() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        O:
          unique: id
          attributes: { id: id }
          relationships: { parts: { entity: E, kind: toMany } }
        E: { attributes: { v: v } }
      sources: { s: { format: json, entity: O } }
      """
    )
    for lines in try await told(#"[{"id":"1","parts":[{"v":"a"},{"v":"b"}]}]"#, fixture) {
      let parts = lines.filter { $0.contains("entity:E") }.map { $0.prefix { $0 != "}" } }
      #expect(parts.sorted() == [1, 2].map { "{change:inserted,entity:E,key:{_pk:\($0)" })
    }
  }

  @Test(
    "Targets of a list are told as often as they come and go, in its order, by the history, too"
  )
  func repeats() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes: { id: id }
          relationships:
            tags: { entity: T, kind: toMany, ordered: true, repeats: true, key: { code: tags }, onUnresolved: stub }
        T: { unique: code, attributes: { code: code } }
      sources: { s: { format: json, entity: P } }
      """
    )
    try await fixture.run(#"[{"id":"0","tags":["a","b","c"]}]"#)
    for (tags, expected) in [
      ("c,a,a,b,a", "removed:[],added:[c,a,a,b,a]"), ("a", "removed:[c,a,a,b],added:[]"),
      ("a,a,a", "removed:[],added:[a,a]"), ("a,b,a", "removed:[a],added:[b]"),
      ("b,a", "removed:[a],added:[]"), ("a,b", "removed:[],added:[]"),
    ] {
      let list = tags.split(separator: ",").map { "\"\($0)\"" }.joined(separator: ",")
      for lines in try await told(#"[{"id":"1","tags":[\#(list)]}]"#, fixture) {
        let keys = lines.map { line in
          ["a", "b", "c"].reduce(line) { $0.replacing("{code:\($1)}", with: $1) }
        }
        #expect(
          keys.count == 1 && keys[0].hasSuffix("relationships:{tags:{\(expected)}}}"),
          "\(lines)"
        )
      }
    }
  }

  @Test("Where a key is deleted and made again, the deletion is told first, whichever way")
  func madeAgain() async throws {
    let fixture = try ImportFixture(
      attributes: "name: { type: string }",
      entity: #"deleteWhen: { from: gone, equals: "1" }"#
    )
    try await fixture.run(#"[{"id":1,"name":"a"}]"#)
    for lines in try await told(#"[{"id":1,"gone":"1"},{"id":1,"name":"again"}]"#, fixture) {
      #expect(lines.map { $0.prefix(16) } == ["{change:deleted,", "{change:inserted"])
    }
    var preview: [ImportChange.Kind] = []
    _ = try fixture.store.previewUndo { preview.append($0.kind) }
    _ = try fixture.store.undoImport()
    var undo: [ImportChange.Kind] = []
    try fixture.store.changes(ofImport: 3) { undo.append($0.kind) }
    #expect(preview == [.deleted, .inserted] && undo == preview)
  }

  @Test("What keeps an import from being told is named by its key")
  func named() async throws {
    let fixture = try ImportFixture(attributes: "name: { type: string }")
    try await fixture.run(#"[{"id":3},{"id":4},{"id":5}]"#)
    try await fixture.run(#"[{"id":5,"name":"a"}]"#)
    try fixture.store.write { session in
      try session.begin()
      try session.database.execute(sql: "UPDATE P SET name = 'mine', _v = _v + 1 WHERE id = 5")
      try session.commit()
    }
    let error = #expect(throws: StoreError.self) { try fixture.store.changes(ofImport: 2) { _ in } }
    #expect(error?.message.hasSuffix("by something that is not recorded, P id 5.") == true)
  }
}
