import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Rows of the history that say `running` of imports that do not run.
@Suite("Imports that seem to run") struct ForgottenImportTests {
  /// A store with an import whose row says that it runs.
  private func fixture(_ statements: String...) async throws -> ImportFixture {
    let fixture = try ImportFixture(attributes: "name: { type: string }")
    try await fixture.run(#"[{"id":1,"name":"a"}]"#)
    try fixture.store.write { session in
      try session.begin()
      for statement in ["UPDATE _dragoman_imports SET status = 'running', finished = NULL"]
        + statements
      {
        try session.database.execute(sql: statement)
      }
      try session.commit()
    }
    return fixture
  }

  @Test("One of which nothing tells that it runs is stopped with the next import")
  func next() async throws {
    let fixture = try await fixture()
    #expect(try fixture.store.history().map(\.status) == [.running])
    try await fixture.run(#"[{"id":2}]"#)
    #expect(try fixture.store.history().map(\.status) == [.stopped, .done])
  }

  @Test("A copy says that it was stopped")
  func copied() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID())").path
    defer {
      for end in [".db", ".db-wal", ".db-shm", "2.db", "2.db-wal", "2.db-shm"] {
        unlink(path + end)
      }
    }
    _ = try await fixture().store.backup(to: path + ".db")
    _ = try CopyPlace.file(path + ".db").copy(to: .file(path + "2.db"))
    #expect(try SQLiteStore(at: .file(path + "2.db")).history().map(\.status) == [.stopped])
  }

  @Test("One whose record says that its process is gone is stopped at once")
  func gone() async throws {
    let fixture = try await fixture(
      """
      UPDATE _dragoman_undo SET changes = CAST(json_set(CAST(changes AS TEXT), '$.mark',
        json('{"process":99999999,"begun":"1","name":"x"}')) AS BLOB) WHERE part = 0
      """
    )
    #expect(try fixture.store.history().map(\.status) == [.stopped])
  }
}
