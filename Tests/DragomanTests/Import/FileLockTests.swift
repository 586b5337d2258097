#if os(Linux)
import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

/// A process that closes any descriptor of a database loses SQLite's locks on it (`FileHead`).
@Suite("Locks of databases that this process looks at") struct FileLockTests {
  /// The locks of this process on a file, as the system tells them.
  private static func locks(on path: String) throws -> [String] {
    var status = stat()
    try #require(stat(path, &status) == 0)
    // Its size is 0, and it may be longer than what is read of such a file at once.
    let handle = try #require(FileHandle(forReadingAtPath: "/proc/locks"))
    let text = String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
    return text.split(separator: "\n").map { $0.split(separator: " ").dropFirst() }.filter {
      words in
      words.contains("POSIX") && words.contains("\(getpid())")
        && words.contains { $0.hasSuffix(":\(status.st_ino)") }
    }.map { $0.joined(separator: " ") }.sorted()
  }

  /// Whether the system tells of this process's locks: in some containers it does not.
  private static let tellsLocks: Bool = {
    let path = NSTemporaryDirectory() + "lock-\(UUID().uuidString)"
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer {
      close(descriptor)
      unlink(path)
    }
    guard descriptor >= 0, lockf(descriptor, F_TLOCK, 1) == 0 else { return false }
    return (try? locks(on: path).isEmpty) == false
  }()

  @Test(
    "Nothing that looks at an open database releases the locks on it",
    .enabled(if: tellsLocks, "/proc/locks does not tell of this process's locks here")
  )
  func looks() async throws {
    let fixture = try FileFixture()
    let path = fixture.path
    let store = try SQLiteStore(at: .file(path))
    try store.grow(to: fixture.map.model())
    let held = try Self.locks(on: path)
    try #require(!held.isEmpty, "no lock is told of: \(path)")
    // Others come and go; this one says that somebody has it open (WAL_DMS of SQLite's os_unix.c).
    func holdsShared() throws -> Bool {
      try Self.locks(on: path + "-shm").contains { $0.hasSuffix(" 128 128") }
    }
    try #require(try holdsShared())

    func check(_ what: String) throws {
      #expect(try Self.locks(on: path) == held, "\(what)")
    }
    try SQLiteStore(at: .file(path)).close()
    try check("another store")
    try SQLiteStore(at: .file(path), options: .init(isReadOnly: true, createsFile: false)).close()
    try check("another store that only reads")
    #expect(throws: ReadError.self) { _ = try openSource(path: path) }
    try check("a feed")
    #expect(throws: MapFaults.self) { _ = try ImportMap(contentsOf: path) }
    try check("a map")
    #expect(throws: ReadError.self) { _ = try RejectLines(path) }
    try check("a rejects file")
    #expect(!RejectsFile.isThere(at: path))
    try check("a place for rejects")
    let other = try SQLiteStore(at: .inMemory)
    #expect(throws: StoreError.self) { _ = try other.backup(to: path, overwrites: true) }
    try check("a place for a backup")
    await #expect(throws: (any Error).self) {
      var request = ImportRequest([.file(path)])
      request.options.rejectsFile = path
      _ = try await Importer(map: fixture.map, store: store).run(request)
    }
    try check("an input, and a place for rejects")
    #expect(throws: ReadError.self) { _ = try openSource(path: path + "-shm") }
    #expect(throws: MapFaults.self) { _ = try ImportMap(contentsOf: path + "-shm") }
    #expect(!RejectsFile.isThere(at: path + "-shm"))
    try check("what its connections share")
    #expect(try holdsShared())
    try store.close()
  }

  @Test(
    "What another process commits into a database that is looked at meanwhile stays",
    .enabled(if: FeedServer.isPossible, "python3 is needed as the other process")
  )
  func otherProcess() throws {
    let fixture = try FileFixture()
    let store = try SQLiteStore(at: .file(fixture.path))
    try store.grow(to: fixture.map.model())
    try SQLiteStore(at: .file(fixture.path)).close()
    let log = fixture.path + "-wal"
    var (before, after) = (stat(), stat())
    try #require(stat(log, &before) == 0)
    // It opens the file, and is the last to close it where nobody else has a lock.
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "python3", "-c",
      "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT count(*) FROM T').fetchall(); c.close()",
      fixture.path,
    ]
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "python3 is needed as the other process")
    #expect(
      stat(log, &after) == 0 && before.st_ino == after.st_ino,
      "the log is another one, or gone"
    )
    try store.close()
  }
}

/// A map, and a place for its database, which is removed with the fixture.
private final class FileFixture {
  let path = NSTemporaryDirectory() + "locks-\(UUID().uuidString).db"
  let map: ImportMap

  init() throws {
    map = try ImportMap(
      yaml: """
        version: 1
        entities: { T: { unique: k, attributes: { k: k } } }
        sources: { s: { format: json, entity: T } }
        """
    )
  }

  deinit { for ending in ["", "-wal", "-shm"] { unlink(path + ending) } }
}
#endif
