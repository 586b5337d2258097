import Foundation
import Testing

@testable import DragomanGraph

@Suite("A file that is built beside its place") struct NewFileTests {
  private let folder: String
  private let model = Model(entities: [
    Entity(
      name: "P",
      attributes: [Attribute(name: "id", type: .int64), Attribute(name: "name")],
      uniqueKeys: [["id"]]
    )
  ])

  init() throws {
    folder = NSTemporaryDirectory() + "new-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private var path: String { "\(folder)/p.db" }
  private var beside: String { "\(path).building" }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  private func opened(waiting timeout: Duration = .milliseconds(60)) throws -> SQLiteStore {
    var options = SQLiteStore.Options(busyTimeout: timeout)
    options.buildsAside = true
    return try SQLiteStore(at: .file(path), options: options)
  }

  private func fill(_ store: SQLiteStore, _ count: Int64 = 3000) throws {
    try store.write { session in
      try session.begin()
      try session.grow(to: model)
      let entity = model.entities[0]
      let writer = try session.writer(for: entity, slots: entity.attributes, mode: .upsert)
      for id in 1...count {
        let row: [RowValue] = [.integer(id), .null]
        _ = try row.withUnsafeBufferPointer { row in
          try withUnsafePointer(to: 0) { try writer.write(row, arena: UnsafeRawPointer($0)) }
        }
      }
      try session.commit()
    }
  }

  private func count() throws -> Int {
    let options = SQLiteStore.Options(isReadOnly: true, createsFile: false)
    return try SQLiteStore(at: .file(path), options: options).count(FetchRequest("P"))
  }

  private func error(_ body: () throws -> Void) -> StoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? StoreError)?.code
    }
  }

  @Test(
    "There is nothing under the name until the store is closed, and then all, in WAL mode, and nothing else"
  )
  func whole() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try opened()
    try fill(store)
    #expect(try names() == ["p.db.building", "p.db.building-journal"])
    try store.close()
    #expect(try names() == ["p.db"])
    let header = try Data(contentsOf: URL(fileURLWithPath: path)).prefix(20)
    #expect(Array(header[18...19]) == [2, 2])
    #expect(try count() == 3000)
    let again = try opened()
    #expect(try again.count(FetchRequest("P")) == 3000)
    try fill(again, 4000)
    try again.close()
    #expect(try count() == 4000)
  }

  @Test("What is rolled back within the one transaction is not there")
  func rolledBack() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try opened()
    try store.write { session in
      try session.begin()
      try session.grow(to: model)
      session.rollbackIfOpen()
    }
    try fill(store, 5)
    try store.close()
    #expect(try count() == 5)
  }

  @Test("Who made the file meanwhile keeps it, and the other one is told")
  func taken() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let late = try opened()
    try fill(late, 10)
    let first = try SQLiteStore(at: .file(path))
    try fill(first, 7)
    #expect(error { try late.close() } == .busy)
    try first.close()
    #expect(try names() == ["p.db"])
    #expect(try count() == 7)
  }

  @Test(
    "Who builds at the same place waits, gives up in time, and goes into the file that is there then"
  )
  func waits() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let first = try opened()
    #expect(error { _ = try opened() } == .busy)
    async let second = Task.detached { try opened(waiting: .seconds(900)) }.value
    try fill(first, 10)
    try first.close()
    let store = try await second
    try fill(store, 12)
    try store.close()
    #expect(try names() == ["p.db"])
    #expect(try count() == 12)
  }

  @Test(
    "What a build that was killed left is taken over",
    arguments: [Data(), Data(count: 9000), Data("SQLite format 3\0and rubbish".utf8)]
  )
  func leftover(_ rest: Data) throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for ending in ["", "-wal", "-journal"] {
      try rest.write(to: URL(fileURLWithPath: beside + ending))
    }
    let store = try opened()
    try fill(store)
    try store.close()
    #expect(try names() == ["p.db"])
    #expect(try count() == 3000)
  }

  @Test("Killed between the two names, a file has both: the second one goes, and the file stays")
  func bothNames() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try opened()
    try fill(store)
    try store.close()
    try FileManager.default.linkItem(atPath: path, toPath: beside)
    try opened().close()
    #expect(try names() == ["p.db"])
    try FileManager.default.linkItem(atPath: path, toPath: beside)
    try FileManager.default.moveItem(atPath: path, toPath: "\(folder)/kept.db")
    let other = try opened()
    try fill(other, 2)
    try other.close()
    #expect(try count() == 2)
    let kept = try SQLiteStore(at: .file("\(folder)/kept.db"))
    #expect(try kept.count(FetchRequest("P")) == 3000)
  }

  @Test("A file of somebody else beside the place stays as it is, and the store is made in place")
  func strange() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data("my notes about the building".utf8).write(to: URL(fileURLWithPath: beside))
    let store = try opened()
    try fill(store)
    try store.close()
    #expect(try count() == 3000)
    #expect(try String(contentsOfFile: beside, encoding: .utf8) == "my notes about the building")
  }

  @Test("A log without its database is nobody's: SQLite itself makes the file then")
  func log() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data("log".utf8).write(to: URL(fileURLWithPath: path + "-wal"))
    let store = try opened()
    try fill(store)
    try store.close()
    #expect(try names() == ["p.db"])
    #expect(try count() == 3000)
  }

  @Test("A store that is discarded, or let go without being closed, leaves nothing")
  func discarded() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try opened()
    try fill(store)
    try store.discard()
    #expect(try names() == [])
    try fill(opened())
    #expect(try names() == [])
  }
}
