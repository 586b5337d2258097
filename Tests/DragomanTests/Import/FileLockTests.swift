#if os(Linux)
import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

/// A process that closes any descriptor of a database loses SQLite's locks on it (`FileHead`).
@Suite("Locks of databases that this process looks at") struct FileLockTests {
  /// A look at the locks on a file that is not closed before the file's locks are of no use any more.
  private final class Look {
    /// `F_OFD_GETLK` of Linux: a descriptor's own locks are strangers to those of its process.
    private static let command: Int32 = 36
    private let descriptor: Int32

    init(_ path: String, _ flags: Int32 = O_RDWR) throws {
      descriptor = open(path, flags | O_CLOEXEC, 0o600)
      try #require(descriptor >= 0, "\(path)")
    }

    deinit { close(descriptor) }

    /// The first lock on the bytes from `start`; nil: there is none.
    func lock(from start: off_t, count: off_t) throws -> String? {
      var lock = flock()
      lock.l_type = Int16(F_WRLCK)
      lock.l_whence = Int16(SEEK_SET)
      (lock.l_start, lock.l_len) = (start, count)
      try #require(fcntl(descriptor, Self.command, &lock) == 0)
      return lock.l_type == Int16(F_UNLCK)
        ? nil : "\(lock.l_type) \(lock.l_start) \(lock.l_len)"
    }

    /// Whether the system tells of this process's locks.
    static let isPossible: Bool = {
      let path = NSTemporaryDirectory() + "lock-\(UUID().uuidString)"
      defer { unlink(path) }
      guard let own = try? Look(path, O_RDWR | O_CREAT), lockf(own.descriptor, F_TLOCK, 1) == 0
      else { return false }
      return (try? own.lock(from: 0, count: 1)) != nil
    }()
  }

  @Test(
    "Nothing that looks at an open database releases the locks on it",
    .enabled(if: Look.isPossible, "the system does not tell of a process's own locks")
  )
  func looks() async throws {
    let fixture = try FileFixture()
    let path = fixture.path
    let store = try SQLiteStore(at: .file(path))
    try store.grow(to: fixture.map.model())
    // Bytes of SQLite's os_unix.c: SHARED_FIRST of the database, and WAL_DMS, which says that somebody has it open.
    let (database, shared) = (try Look(path), try Look(path + "-shm"))
    func locks() throws -> [String?] {
      [try database.lock(from: 0x4000_0002, count: 510), try shared.lock(from: 128, count: 1)]
    }
    let held = try locks()
    try #require(!held.contains(nil), "\(held)")

    func check(_ what: String) throws { #expect(try locks() == held, "\(what)") }
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
    try store.close()
    withExtendedLifetime((database, shared)) {}
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
