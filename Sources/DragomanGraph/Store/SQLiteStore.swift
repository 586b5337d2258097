import Foundation
import GRDB
import Synchronization

/// A SQLite file (or memory) that holds the objects of a model, laid out as docs/file.md says.
///
///     let store = try SQLiteStore(at: .file("people.db"))
///     try store.grow(to: model)
///
/// One process at a time writes, any number read (WAL). Every transaction that writes begins with
/// `BEGIN IMMEDIATE`; a lock held elsewhere is waited for as long as `Options.busyTimeout` says.
///
/// Large because a file is asked for many things, and each is an extension of its own over the same connection.
public final class SQLiteStore: Sendable {
  /// Where the objects are.
  public enum Location: Sendable, Hashable {
    /// A file; it is made when it does not exist, unless the options say otherwise.
    case file(String)
    /// Memory; gone with the store.
    case inMemory
    /// A temporary file that SQLite deletes when the store is closed: larger than memory.
    case temporary
  }

  /// How a store is opened.
  public struct Options: Sendable {
    /// How long to wait for a lock that another process holds; 5 seconds by default.
    ///
    /// Counted in milliseconds, a part of one as a whole one: from 0, which does not wait, to about 24
    /// days. What is beyond either end is the end. Connections that only read, beside the one that
    /// writes, wait 10 seconds for the write-ahead log.
    public var busyTimeout: Duration
    /// Whether nothing may be written.
    public var isReadOnly: Bool
    /// Whether a file that does not exist is made; otherwise that is an error.
    public var createsFile: Bool
    /// Whether reads run while a write is under way, on connections of their own; otherwise one
    /// connection does everything, and opening a file that exists writes nothing to it.
    public var readsConcurrently: Bool
    /// Whether a file that does not exist is built beside its place, and gets its name when the store is closed
    /// (`close()`): whatever stops the process before that leaves nothing, and nothing is written twice.
    ///
    /// Until then nobody else sees it, and one connection does everything. Another one who builds at that place
    /// is waited for as for a lock.
    public var buildsAside = false
    /// The page cache of the writing connection, in bytes; 16 MB by default: 32 took no less time where it was tried.
    ///
    /// SQLite sorts in portions of that size, too (https://www.sqlite.org/tempfiles.html).
    public var cacheByteCount: Int
    /// Asked every few thousand of SQLite's steps; true ends the statement with `StoreError.Code.stopped`.
    ///
    /// Called on whatever thread reads or writes. For stores that read what strangers ask for.
    public var shouldStop: (@Sendable () -> Bool)?

    /// Makes options.
    public init(
      busyTimeout: Duration = .seconds(5),
      isReadOnly: Bool = false,
      createsFile: Bool = true,
      readsConcurrently: Bool = true,
      cacheByteCount: Int = 16 << 20
    ) {
      self.busyTimeout = busyTimeout
      self.isReadOnly = isReadOnly
      self.createsFile = createsFile
      self.readsConcurrently = readsConcurrently
      self.cacheByteCount = cacheByteCount
    }
  }

  /// The file, or nil in memory.
  public let path: String?
  /// Whether this store made the file.
  public let isNew: Bool
  /// Whether nothing may be written.
  let isReadOnly: Bool
  private let database: any DatabaseWriter
  private let stored: Mutex<StoredModel>
  /// What the file was like when somebody who reads last looked at its model.
  let seen = Mutex<SeenModel?>(nil)
  /// The file, while it is built beside its place.
  let newFile: NewFile?
  /// SQLite is not asked through a connection that was closed.
  private let gate = StoreGate()

  /// Opens a store.
  ///
  /// - Throws: `StoreError`: `.missing`, `.unreachable`, `.permission`, `.notAStore`, `.newerFormat`,
  ///   `.damaged` or `.busy`.
  public init(at location: Location, options: Options = Options()) throws(StoreError) {
    let configuration = Self.configuration(options)
    isReadOnly = options.isReadOnly
    if case .file(let path) = location { try StoreFile.checkName(path) }
    let newFile = try Self.claim(location, options)
    self.newFile = newFile
    do {
      switch location {
      case .file(let path):
        self.path = path
        isNew = try StoreFile.check(path, options: options)
        database =
          options.readsConcurrently && newFile == nil
          ? try DatabasePool(path: FilePath.ofDatabase(path), configuration: configuration)
          : try DatabaseQueue(
            path: FilePath.ofDatabase(newFile?.temporaryPath ?? path),
            configuration: configuration
          )
      case .inMemory:
        path = nil
        isNew = true
        database = try DatabaseQueue(configuration: configuration)
      case .temporary:
        path = nil
        isNew = true
        database = try DatabaseQueue(path: "", configuration: configuration)
      }
      // On the writing connection: a reader would keep `discard()` from leaving WAL mode.
      stored = Mutex(
        try database.writeWithoutTransaction { [path] database in
          try database.tellingOfUnreadFiles(path) {
            let timeout = Duration.milliseconds(options.busyMilliseconds)
            if newFile != nil {
              try Self.buildAside(database)
            } else if !options.isReadOnly {
              try Self.makeDurable(database, within: timeout)
            }
            return try StoredModel(database)
          }
        }
      )
    } catch {
      var path: String?
      if case .file(let file) = location { path = file }
      var known = StoreError(error, path: path)
      known.path = known.path ?? path
      guard known.code == .damaged, let path else { throw known }
      throw StoreFile.readFailure(path) ?? known
    }
  }

  /// The model of everything the store holds.
  public var model: Model { layout.model }

  /// The model compiled: slots and places of all properties.
  package var layout: ModelLayout { stored.withLock { $0.layout } }

  /// Adds to the store what `model` names and the store does not have yet, in one transaction.
  ///
  /// Runs `CREATE TABLE`, `ALTER TABLE … ADD COLUMN` and `CREATE INDEX`; drops nothing. What is required from now on has
  /// its default in the objects that are there: `UPDATE … SET … WHERE … IS NULL`.
  /// - Throws: `.modelConflict` when the model contradicts what is stored.
  public func grow(to model: Model) throws(StoreError) {
    try StoreError.naming(path) {
      try write { session in
        try session.begin()
        let old = session.layout.model
        try session.grow(to: model)
        let fills = session.layout.fills(since: old)
        for fill in fills { try session.database.fill(fill) }
        try RowAddition.note(fills.map(\.addition), session.sql)
        try session.commit()
      }
    }
  }

  /// Closes the connections; the last one moves the write-ahead log into the file.
  ///
  /// A store that is let go closes by itself; closing it tells of errors. A file that is built beside its place
  /// gets its name here, and only here. Who reads or writes is waited for; nobody can from then on.
  /// - Throws: `.busy` where another process has made the file meanwhile: nothing of this one is kept then;
  ///   `.badRequest` from within a read or write.
  public func close() throws(StoreError) {
    guard try gate.close() else { return }
    do {
      try StoreError.naming(path) {
        if newFile != nil {
          try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode=WAL") }
        }
        try database.close()
      }
    } catch {
      // It can be tried again, or discarded.
      gate.open()
      throw error
    }
    try StoreError.naming(path) { try newFile?.publish() }
  }

  /// Closes the store, and removes its file if it was made by this store and holds nothing.
  ///
  /// The file stays when another process has opened it in the meantime: SQLite leaves WAL mode
  /// (`PRAGMA journal_mode=DELETE`) only for the last connection.
  public func discard() throws(StoreError) {
    if let newFile {
      guard try gate.close() else { return }
      do {
        try StoreError.naming(path) { try database.close() }
      } catch {
        gate.open()
        throw error
      }
      newFile.discard()
      return
    }
    if isNew, let path {
      try StoreError.naming(path) {
        try gate.pass(.writer) {
          try database.writeWithoutTransaction { try Self.removeUnused(path, $0) }
        }
      }
    }
    try close()
  }

  /// Removes the file where it holds nothing, and nobody else has it open or comes to it meanwhile: who waits for the
  /// lock finds that it has moved (`WriteSession.begin()`).
  private static func removeUnused(_ path: String, _ database: Database) throws {
    do {
      let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode=DELETE")
      guard mode == "delete" else { return }
      try database.inTransaction(.exclusive) {
        let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master")
        if count == 0 { unlink(path) }
        return .rollback
      }
    } catch is DatabaseError {
      // Somebody has it: it stays.
    }
  }

  /// Reads from one snapshot of the store.
  func read<T>(_ body: (Database) throws -> T) throws(StoreError) -> T {
    try StoreError.naming(path) {
      try gate.pass(readingConnection) {
        try database.read { database in
          try database.tellingOfUnreadFiles(path) { try body(database) }
        }
      }
    }
  }

  /// Reads through the connection that writes, when nobody else uses it.
  func onWriter<T>(_ body: (Database) throws -> T) throws(StoreError) -> T {
    try StoreError.naming(path) {
      try gate.pass(.writer) {
        try database.writeWithoutTransaction { database in
          try database.tellingOfUnreadFiles(path) { try body(database) }
        }
      }
    }
  }

  /// In memory, and where reads wait for writes, the connection that writes is the only one.
  private var readingConnection: StoreGate.Connection {
    database is DatabaseQueue ? .writer : .reader
  }

  func checkIsOutside() throws(StoreError) { try gate.checkIsOutside() }

  func checkMayWrite() throws(StoreError) { try gate.checkMayPass(.writer) }

  /// Copies one snapshot of the store into an empty database.
  func backUp(
    to copy: DatabaseQueue,
    progress: (DatabaseBackupProgress) throws -> Void
  ) throws {
    try gate.pass(readingConnection) {
      try withoutActuallyEscaping(progress) { progress in
        try copy.writeWithoutTransaction { target in
          try database.read { source in
            // One transaction reads all steps, so that none is begun again; it begins with what is read first.
            _ = try Int.fetchOne(source, sql: "PRAGMA schema_version")
            try source.backup(to: target, pagesPerStep: 4096) { try progress($0) }
          }
        }
      }
    }
  }

  /// Lends the writing connection to `body`, which decides where transactions begin and end.
  ///
  /// A transaction that `body` leaves open is rolled back.
  /// - Throws: What `body` throws; `.badRequest` within the `body` of another one.
  public func write<T>(_ body: (WriteSession) throws -> T) throws -> T {
    try gate.pass(.writer) {
      try database.writeWithoutTransaction { database in
        let session = WriteSession(database: database, path: path, stored.withLock { $0 })
        defer {
          session.rollbackIfOpen()
          session.endObserving()
          stored.withLock { $0 = session.committed }
        }
        return try database.tellingOfUnreadFiles(path) { try body(session) }
      }
    }
  }

  /// Makes every commit wait until it is on the disk.
  ///
  /// See https://www.sqlite.org/pragma.html#pragma_synchronous. Set here, because GRDB lowers it when
  /// it opens a pool. A database that is in WAL mode already is not written to.
  private static func makeDurable(_ database: Database, within timeout: Duration) throws {
    let deadline = ContinuousClock.now + timeout
    while true {
      do {
        try database.execute(sql: "PRAGMA journal_mode=WAL")
        break
      } catch let error as DatabaseError
        where error.resultCode == .SQLITE_BUSY && ContinuousClock.now < deadline
      {
        // Two processes make the same new file: SQLite does not wait here by itself.
        Thread.sleep(forTimeInterval: 0.02)
      }
    }
    // The last two do something on macOS only, where the disk keeps what it was given in its own memory otherwise.
    try database.execute(
      sql: "PRAGMA synchronous=FULL; PRAGMA fullfsync=1; PRAGMA checkpoint_fullfsync=1"
    )
    // Batches with random keys touch pages all over the file: fewer checkpoints write each less often.
    try database.execute(sql: "PRAGMA wal_autocheckpoint=8000")
  }

  /// A file that nobody else sees and that goes with any failure is written through once
  /// (`NewFile.publish()`).
  ///
  /// Its journal holds nothing, since the file was empty before. It is on the disk all the same: SQLite would
  /// keep in memory, too, the pages that a savepoint may have to bring back.
  private static func buildAside(_ database: Database) throws {
    try database.execute(
      sql: "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=DELETE; PRAGMA synchronous=OFF"
    )
  }

  private static func claim(
    _ location: Location,
    _ options: Options
  ) throws(StoreError) -> NewFile? {
    #if canImport(Darwin)
    // There the lock of `NewFile` and those of SQLite exclude one another, even of one process.
    return nil
    #else
    guard case .file(let path) = location, options.buildsAside, options.createsFile,
      !options.isReadOnly
    else { return nil }
    return try NewFile.claim(path, within: .milliseconds(options.busyMilliseconds))
    #endif
  }

  private static func configuration(_ options: Options) -> Configuration {
    var configuration = Configuration()
    configuration.readonly = options.isReadOnly
    // GRDB cuts what is behind the millisecond, and a double may be a little less than it should be.
    configuration.busyMode = .timeout((Double(options.busyMilliseconds) + 0.25) / 1000)
    configuration.maximumReaderCount = 4
    let cacheKilobytes = options.cacheByteCount >> 10
    let question = options.shouldStop.map { Question($0) }
    configuration.prepareDatabase { database in
      // A file may come from a stranger: its views and triggers get no functions with side effects
      // (https://www.sqlite.org/pragma.html#pragma_trusted_schema).
      try database.execute(
        sql: """
          PRAGMA cache_size=-\(cacheKilobytes); PRAGMA temp_store=FILE; PRAGMA trusted_schema=OFF
          """
      )
      try FetchFunctions.register(on: database)
      if let question { database.ask(question) }
    }
    return configuration
  }
}

extension SQLiteStore.Options {
  /// `busyTimeout` as SQLite takes it (https://www.sqlite.org/c3ref/busy_timeout.html).
  var busyMilliseconds: Int32 {
    let (seconds, attoseconds) = busyTimeout.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    // More seconds than SQLite has milliseconds need no product.
    guard seconds < Int64(Int32.max) else { return .max }
    let parts = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return Int32(clamping: seconds * 1000 + parts)
  }
}
