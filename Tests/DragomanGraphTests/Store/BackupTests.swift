import Foundation
import Testing

@testable import DragomanGraph

@Suite struct BackupTests {
  private let folder: String
  private let entity = Entity(
    name: "P",
    attributes: [Attribute(name: "id", type: .int64, isRequired: true), Attribute(name: "name")],
    uniqueKeys: [["id"]]
  )

  init() throws {
    folder = NSTemporaryDirectory() + "backup-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private func file(_ name: String) -> String { "\(folder)/\(name)" }

  private func filled(_ name: String, rows: Int64 = 3) throws -> SQLiteStore {
    try store(entity, (0..<rows).map { [.integer($0), .text("n\($0)")] }, at: .file(file(name)))
  }

  private func count(_ name: String) throws -> Int {
    let options = SQLiteStore.Options(isReadOnly: true, createsFile: false)
    return try SQLiteStore(at: .file(file(name)), options: options).count(FetchRequest("P"))
  }

  private func refusal(of store: SQLiteStore, _ path: String) -> StoreError? {
    do {
      _ = try store.backup(to: path)
      return nil
    } catch {
      return error
    }
  }

  @Test("A backup has every object, and its size is told")
  func copies() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try filled("a.db", rows: 5000)
    let backup = try store.backup(to: file("b.db"))
    let size = try FileManager.default.attributesOfItem(atPath: file("b.db"))[.size] as? Int
    #expect(backup.byteCount == size)
    #expect(backup.pageCount > 1 && backup.byteCount % backup.pageCount == 0)
    #expect(try count("b.db") == 5000)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(!names.contains { $0.hasSuffix(".part") })
  }

  @Test("A backup that is stopped leaves nothing, and what stood there")
  func stopped() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try filled("a.db", rows: 100)
    _ = try store.backup(to: file("b.db"))
    let before = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    let error = #expect(throws: StoreError.self) {
      try store.backup(to: file("b.db"), unless: { true })
    }
    #expect(error?.code == .stopped)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == before)
    #expect(try count("b.db") == 100)
  }

  @Test("A backup is of one moment while another transaction is open, and ends without it")
  func inUse() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let other = try filled("a.db")
    let reader = try SQLiteStore(
      at: .file(file("a.db")),
      options: SQLiteStore.Options(isReadOnly: true, createsFile: false)
    )
    try other.write { session in
      try session.begin()
      try session.grow(to: Model(entities: [Entity(name: "Q", attributes: [Attribute(name: "x")])]))
      _ = try reader.backup(to: file("b.db"))
      try session.commit()
    }
    #expect(try count("b.db") == 3)
    let copy = try SQLiteStore(at: .file(file("b.db")))
    #expect(copy.model.entities.map(\.name) == ["P"])
  }

  @Test("An older backup is replaced, also one that was read since")
  func replaces() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    _ = try filled("a.db").backup(to: file("b.db"))
    #expect(try count("b.db") == 3)
    _ = try filled("c.db", rows: 7).backup(to: file("b.db"))
    #expect(try count("b.db") == 7)
  }

  @Test("The database itself is never overwritten, by whatever name it is called")
  func itself() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try filled("a.db")
    try FileManager.default.createSymbolicLink(
      atPath: file("link"),
      withDestinationPath: file("a.db")
    )
    try FileManager.default.linkItem(atPath: file("a.db"), toPath: file("hard"))
    for path in ["a.db", "./a.db", "link", "hard", "a.db-wal", "a.db-shm"] {
      #expect(refusal(of: store, file(path))?.code == .output, "\(path)")
    }
    #expect(try count("a.db") == 3)
  }

  @Test("Behind a link the file of the link is written, and the link stays")
  func links() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try filled("a.db")
    let manager = FileManager.default
    try manager.createDirectory(atPath: file("kept"), withIntermediateDirectories: true)
    for (link, target) in [
      ("latest.db", "kept/b.db"), ("over.db", "latest.db"), ("c1", "c2"), ("c2", "c1"),
    ] {
      try manager.createSymbolicLink(atPath: file(link), withDestinationPath: target)
    }
    // There is nothing yet, and then an older backup.
    for link in ["over.db", "latest.db"] {
      _ = try store.backup(to: file(link))
      #expect(try count("kept/b.db") == 3)
      #expect(try manager.destinationOfSymbolicLink(atPath: file("latest.db")) == "kept/b.db")
    }
    #expect(refusal(of: store, file("c1"))?.code == .output)
    let inUse = try SQLiteStore(at: .file(file("kept/b.db")))
    try inUse.write { try $0.database.execute(sql: "CREATE TABLE later (a)") }
    #expect(throws: StoreError.self) { try store.backup(to: file("latest.db"), overwrites: true) }
    try inUse.close()
    // A file that has lost its name, as what /dev/stdout leads to.
    let gone = open(file("gone"), O_RDWR | O_CREAT, 0o600)
    defer { close(gone) }
    unlink(file("gone"))
    try manager.createSymbolicLink(
      atPath: file("stream"),
      withDestinationPath: "/dev/fd/\(gone)"
    )
    #expect(refusal(of: store, file("stream"))?.code == .output)
    #expect(try manager.destinationOfSymbolicLink(atPath: file("stream")) == "/dev/fd/\(gone)")
  }

  @Test("What is no old backup is not replaced")
  func refusals() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try filled("a.db")
    try Data("[1]".utf8).write(to: URL(fileURLWithPath: file("feed.json")))
    #expect(refusal(of: store, file("feed.json"))?.code == .output)
    #expect(try String(contentsOfFile: file("feed.json"), encoding: .utf8) == "[1]")
    #expect(refusal(of: store, folder)?.code == .output)
    #expect(refusal(of: store, file("none/b.db"))?.code == .output)
    let inUse = try filled("b.db")
    #expect(
      refusal(of: store, file("b.db"))?.message
        == "The file is a database in use: \(file("b.db"))-wal belongs to it."
    )
    try inUse.close()
  }

  @Test("A store in memory can be kept by its backup")
  func memory() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    _ = try store(entity, [[.integer(1), .null]]).backup(to: file("m.db"))
    #expect(try count("m.db") == 1)
  }
}
