import Foundation
import GRDB
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// What SQLite wants nobody to do to its files (https://www.sqlite.org/howtocorrupt.html).
@Suite("Files that others move, link, replace or have open") struct MovedFileTests {
  private final class Folder {
    let path = NSTemporaryDirectory() + "moved-\(UUID().uuidString)"
    init() throws {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    deinit { try? FileManager.default.removeItem(atPath: path) }
    func file(_ name: String) -> String { "\(path)/\(name)" }
  }

  private static let map = """
    version: 1
    entities: { T: { unique: k, attributes: { k: k, n: n } } }
    sources: { s: { format: json, entity: T } }
    """

  private func store(_ path: String) throws -> SQLiteStore {
    let store = try SQLiteStore(at: .file(path))
    try store.grow(to: ImportMap(yaml: Self.map).model())
    return store
  }

  private func run(_ text: String, into store: SQLiteStore) async throws {
    _ = try await Importer(map: ImportMap(yaml: Self.map), store: store)
      .run(ImportRequest([.bytes(Array(text.utf8), name: "f.json")]))
  }

  @Test(
    "Nothing is written into a file that was moved, removed or replaced",
    arguments: ["move", "remove", "replace"]
  )
  func moved(how: String) async throws {
    let folder = try Folder()
    let path = folder.file("a.db")
    let store = try store(path)
    try await run(#"[{"k":"1"}]"#, into: store)
    if how == "remove" { unlink(path) } else { rename(path, folder.file("b.db")) }
    if how == "replace" { try Data().write(to: URL(fileURLWithPath: path)) }
    for _ in 0..<2 {
      let failure = await #expect(throws: ImportFailure.self) {
        try await run(#"[{"k":"2"}]"#, into: store)
      }
      #expect((failure?.cause as? StoreError)?.code == .migrated)
    }
    // In the middle of a transaction, too.
    if how == "move" {
      rename(folder.file("b.db"), path)
      let error = #expect(throws: StoreError.self) {
        try store.write { session in
          try session.begin()
          rename(path, folder.file("b.db"))
          try session.commit()
        }
      }
      #expect(error?.code == .migrated)
      rename(folder.file("b.db"), path)
      try await run(#"[{"k":"2"}]"#, into: store)
    }
    try? store.close()
  }

  @Test("A file with two names is read, and not written")
  func linked() throws {
    let folder = try Folder()
    try store(folder.file("a.db")).close()
    #expect(link(folder.file("a.db"), folder.file("b.db")) == 0)
    for name in ["a.db", "b.db"] {
      let error = #expect(throws: StoreError.self) {
        _ = try SQLiteStore(at: .file(folder.file(name)))
      }
      #expect(error?.code == .unreachable && error?.message.contains("2 names") == true)
      let options = SQLiteStore.Options(isReadOnly: true, createsFile: false)
      try SQLiteStore(at: .file(folder.file(name)), options: options).close()
    }
    unlink(folder.file("b.db"))
    try SQLiteStore(at: .file(folder.file("a.db"))).close()
  }

  @Test("Text of another encoding is no store's", arguments: ["UTF-16le", "UTF-16be"])
  func encodings(name: String) throws {
    let folder = try Folder()
    let path = folder.file("a.db")
    try DatabaseQueue(path: path).write {
      try $0.execute(sql: "PRAGMA encoding = '\(name)'; CREATE TABLE t (x); DROP TABLE t")
    }
    let error = #expect(throws: StoreError.self) { _ = try SQLiteStore(at: .file(path)) }
    #expect(error?.code == .notAStore && error?.message.contains(name) == true)
  }

  @Test(
    "A backup replaces no database that somebody has open, idle or at work; a closed one it does"
  )
  func backups() throws {
    let folder = try Folder()
    let source = try store(folder.file("s.db"))
    let target = folder.file("c.db")
    let used = try store(target)
    let before = try FileManager.default.attributesOfItem(atPath: target)[.systemFileNumber] as? Int
    func isRefused() {
      let error = #expect(throws: StoreError.self) {
        _ = try source.backup(to: target, overwrites: true)
      }
      #expect(
        error?.code == .output && error?.message.hasPrefix("The file is a database in use") == true
      )
    }
    isRefused()
    try used.write { session in
      try session.begin()
      isRefused()
      try session.commit()
    }
    try used.close()
    #expect(
      try FileManager.default.attributesOfItem(atPath: target)[.systemFileNumber] as? Int == before
    )
    _ = try source.backup(to: target, overwrites: true)
    #expect(
      try FileManager.default.attributesOfItem(atPath: target)[.systemFileNumber] as? Int != before
    )
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("c.") }
        == ["c.db"]
    )
    try store(target).close()
    try source.close()
  }

  @Test(
    "A trigger that rolls back everything leaves everything as it was",
    arguments: [true, false]
  )
  func triggers(isDryRun: Bool) async throws {
    let folder = try Folder()
    let store = try store(folder.file("a.db"))
    let texts = [
      #"[{"k":"1","n":"a"},{"k":"2","n":"a"},{"k":"3","n":"a"}]"#,
      #"[{"k":"1","n":"b"},{"k":"2","n":"b"},{"k":"3","n":"b"}]"#,
    ]
    for text in texts { try await run(text, into: store) }
    try store.execute(
      "CREATE TRIGGER mine BEFORE UPDATE ON T WHEN old.k = '2' BEGIN SELECT RAISE(ROLLBACK, 'no'); END"
    )
    let before = try sql(store, "SELECT k, n, _v FROM T ORDER BY k")
    #expect(throws: (any Error).self) { _ = try store.undoImport(2, isDryRun: isDryRun) }
    #expect(try sql(store, "SELECT k, n, _v FROM T ORDER BY k") == before)
    try store.execute("DROP TRIGGER mine")
    _ = try store.undoImport(2)
    #expect(try sql(store, "SELECT DISTINCT n FROM T") == ["a"])
    try store.close()
  }
}
