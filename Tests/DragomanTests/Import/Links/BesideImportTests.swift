import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

/// Imports in batches, between whose batches another one writes.
@Suite("Imports beside others") struct BesideImportTests {
  private static let map = """
    version: 1
    entities:
      Person:
        unique: id
        attributes: { id: { type: int64 } }
        relationships:
          admired: { entity: Person, kind: toMany, key: { id: admired }, ordered: true, KIND }
    sources: { json: { format: ndjson, entity: Person } }
    """

  /// Imports a record a batch; behind the first one, another store of the file imports `between`.
  private func run(_ records: String, between: String, _ kind: String) throws -> [String] {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let place = SQLiteStore.Location.file(folder.appendingPathComponent("people.db").path)
    let yaml = Self.map.replacingOccurrences(of: "KIND", with: kind)
    let (one, other) = try (
      ImportFixture(yaml, in: SQLiteStore(at: place)),
      ImportFixture(yaml, in: SQLiteStore(at: place))
    )
    var isFirst = true
    try one.runInBatches(records) {
      if isFirst { try other.runInBatches(between) }
      isFirst = false
    }
    return try sql(
      one.store,
      "SELECT o.id || ' ' || l.position || ' ' || t.id FROM Person_admired l"
        + " JOIN Person o ON o._pk = l.owner JOIN Person t ON t._pk = l.target ORDER BY 1"
    )
  }

  @Test(
    "A place that is kept may be taken by the other side of the relationship, in the same import"
  )
  func ownOtherSide() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        A:
          unique: id
          attributes: { id: { type: int64 } }
          relationships:
            bs: { entity: B, kind: toMany, key: { id: bs }, inverse: as, ordered: true, assign: union }
        B:
          unique: id
          attributes: { id: { type: int64 } }
          relationships:
            as: { entity: A, kind: toMany, key: { id: as }, inverse: bs, ordered: true, assign: union }
      sources:
        a: { format: json, entity: A, records: a }
        b: { format: json, entity: B, records: b }
      """
    )
    try await fixture.run(#"{"a":[{"id":1,"bs":[9]}],"b":[{"id":2,"as":[1]},{"id":9}]}"#)
    #expect(
      try sql(
        fixture.store,
        "SELECT position, B.id FROM A_bs l JOIN B ON B._pk = l.target ORDER BY position"
      ) == ["0|2", "1|9"]
    )
  }

  @Test("A record takes back what another import lets wait for its object since the last batch")
  func pendingOfOthers() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).db").path
    defer {
      for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
    }
    let yaml = """
      version: 1
      entities:
        P:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { boss: { entity: P, kind: toOne, key: { id: boss }, onUnresolved: pending } }
      sources: { json: { format: ndjson, entity: P } }
      """
    let (one, other) = try (
      ImportFixture(yaml, in: SQLiteStore(at: .file(path))),
      ImportFixture(yaml, in: SQLiteStore(at: .file(path)))
    )
    var isFirst = true
    let lines = [#"{"id":1,"boss":2}"#, #"{"id":2}"#, #"{"id":1,"boss":2}"#]
    try one.runInBatches(lines.joined(separator: "\n")) {
      if isFirst { try other.runInBatches(#"{"id":1,"boss":91}"#) }
      isFirst = false
    }
    try other.runInBatches(#"{"id":91}"#)
    let bosses = "SELECT b.id FROM P p JOIN P b ON b._pk = p.boss WHERE p.id = 1"
    #expect(try sql(one.store, bosses) == ["2"])
  }

  @Test(
    "What another import says of an object since counts, and not what this one lets wait of it",
    arguments: [
      (#"{"id":1,"boss":91,"fr":[]}"#, "91|null"), (#"{"id":1,"boss":5,"fr":[91]}"#, "5|91"),
      (#"{"id":1,"boss":null,"fr":[5]}"#, "null|5"), (#"{"id":1,"boss":91}"#, "91|90"),
    ],
    [ImportMap.ImportOptions.Commit.all, .batch]
  )
  func laterWord(
    word: (record: String, links: String),
    commit: ImportMap.ImportOptions.Commit
  ) throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).db").path
    defer {
      for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) }
    }
    let (one, other) = try (
      ImportFixture(Self.waitingMap, in: SQLiteStore(at: .file(path))),
      ImportFixture(Self.waitingMap, in: SQLiteStore(at: .file(path)))
    )
    try one.runInBatches(#"{"id":5}"#)
    var isFirst = true
    try one.runInBatches(#"{"id":1,"boss":90,"fr":[90]}"# + "\n" + #"{"id":2,"boss":90}"#) {
      if isFirst { try other.runInBatches(word.record, change: { $0.options.commit = commit }) }
      isFirst = false
    }
    try other.runInBatches("{\"id\":90}\n{\"id\":91}")
    let links = "SELECT b.id, f.id FROM P p LEFT JOIN P b ON b._pk = p.boss LEFT JOIN P_fr l"
    let end = " ON l.owner = p._pk LEFT JOIN P f ON f._pk = l.target WHERE p.id = "
    #expect(try sql(one.store, links + end + "1") == [word.links])
    #expect(try sql(one.store, links + end + "2") == ["90|null"])
    #expect(try sql(one.store, "SELECT count(*) FROM _dragoman_pending") == ["0"])
  }

  static let waitingMap = """
    version: 1
    entities:
      P:
        unique: id
        attributes: { id: { type: int64 }, n: n }
        relationships:
          boss: { entity: P, kind: toOne, key: { id: boss }, onUnresolved: pending }
          fr: { entity: P, kind: toMany, key: { id: fr }, onUnresolved: pending, onMissing: keep }
    sources: { json: { format: ndjson, entity: P } }
    """

  @Test("Friends who wait are found beside those who came by the other side")
  func symmetric() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes: { id: { type: int64 } }
          relationships:
            friends: { entity: P, kind: toMany, key: { id: friends }, inverse: friends, ordered: true, assign: union }
      sources: { json: { format: ndjson, entity: P } }
      """
    )
    try fixture.runInBatches(
      #"{"id":1,"friends":[9]}"# + "\n" + #"{"id":2,"friends":[1]}"# + "\n" + #"{"id":9}"#
    )
    #expect(
      try sql(
        fixture.store,
        "SELECT o.id, t.id FROM P_friends l JOIN P o ON o._pk = l.owner JOIN P t ON t._pk = l.target ORDER BY 1, 2"
      ) == ["1|2", "1|9", "2|1", "9|1"]
    )
  }

  @Test(
    "A place that is kept for who comes later may be taken by another import",
    arguments: [
      (#"{"id":1,"admired":[2]}"#, #"{"id":2}"#),
      (#"{"id":1,"admired":[2]}"#, #"{"id":2}"# + "\n" + #"{"id":1,"admired":[2]}"#),
    ]
  )
  func takenPlace(first: String, later: String) throws {
    let between = #"{"id":3}"# + "\n" + #"{"id":1,"admired":[3]}"#
    let links = try run("\(first)\n\(later)\n", between: between, "assign: union")
    #expect(links == ["1 0 3", "1 1 2"])
  }

  @Test("A list that another import gives whole since is that one's")
  func replacedList() throws {
    let records = [#"{"id":1,"admired":[2,4]}"#, #"{"id":4}"#, #"{"id":2}"#]
    let between = #"{"id":3}"# + "\n" + #"{"id":1,"admired":[3]}"#
    let links = try run(records.joined(separator: "\n"), between: between, "onUnresolved: pending")
    #expect(links == ["1 0 3"])
  }
}
