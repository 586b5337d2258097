import DragomanGraph
import Foundation
import Logging
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
    let map = try ImportMap(yaml: Self.map.replacingOccurrences(of: "KIND", with: kind))
    let place = SQLiteStore.Location.file(folder.appendingPathComponent("people.db").path)
    let store = try SQLiteStore(at: place)
    var isFirst = true
    func write(_ text: String, into store: SQLiteStore, _ progress: @escaping () throws -> Void)
      throws
    {
      var request = ImportRequest([.bytes(Array(text.utf8), name: "feed.ndjson")])
      request.options.commit = .batch
      request.options.batchSize = 1
      var fault: (any Error)?
      let writing = ImportWriting(
        map: map,
        code: ImportCode(),
        request: request,
        cancellation: Cancellation(),
        logger: Logger(label: "test")
      ) { _ in
        do { try progress() } catch { fault = error }
      }
      _ = try store.write { try writing.run($0) }
      if let fault { throw fault }
    }
    try write(records, into: store) {
      guard isFirst else { return }
      isFirst = false
      try write(between, into: SQLiteStore(at: place)) {}
    }
    return try sql(
      store,
      "SELECT o.id || ' ' || l.position || ' ' || t.id FROM Person_admired l"
        + " JOIN Person o ON o._pk = l.owner JOIN Person t ON t._pk = l.target ORDER BY 1"
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

  @Test("A list that is given whole keeps what another import joined to it, behind")
  func replacedList() throws {
    let records = [#"{"id":1,"admired":[2,4]}"#, #"{"id":4}"#, #"{"id":2}"#]
    let between = #"{"id":3}"# + "\n" + #"{"id":1,"admired":[3]}"#
    let links = try run(records.joined(separator: "\n"), between: between, "onUnresolved: pending")
    #expect(links == ["1 0 2", "1 1 4", "1 2 3"])
  }
}
