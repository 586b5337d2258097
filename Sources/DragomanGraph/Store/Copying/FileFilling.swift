import Foundation
import GRDB

/// A file that a copy makes: beside its place, until it is whole.
final class FileFilling: CopyTarget {
  private let name: String
  private let session: WriteSession
  private var insertions: [NameKey: RawStatement] = [:]

  private init(_ name: String, _ session: WriteSession) {
    self.name = name
    self.session = session
  }

  /// Makes the file, lends what fills it, and gives it its name.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - source: The file that is copied, whose permissions it gets; nil: none.
  ///   - body: Fills it.
  /// - Returns: What the closure returns.
  /// - Throws: `StoreError`, `.output`, where a file is there; what the closure throws, and then nothing is left.
  static func fill<T>(
    _ path: String,
    like source: String?,
    _ body: (FileFilling) throws -> T
  ) throws -> T {
    guard !FileManager.default.fileExists(atPath: path) else {
      throw StoreError(
        .output,
        "There is a file already: a copy makes a new one.",
        help: "name another file, or move this one away",
        path: path
      )
    }
    let folder = FilePath.openFolder(of: path)
    guard FileStatus(folder)?.kind == .folder else {
      throw StoreError(.output, "There is no folder \(folder).", help: "make it first", path: path)
    }
    var options = SQLiteStore.Options(readsConcurrently: false)
    options.buildsAside = true
    let store = try SQLiteStore(at: .file(path), options: options)
    if let source = source.flatMap({ FileStatus($0) }) {
      chmod(store.newFile?.temporaryPath ?? path, source.permissions & 0o666 | 0o600)
    }
    do {
      let value = try store.write { try body(FileFilling(path, $0)) }
      try store.close()
      return value
    } catch {
      try? store.discard()
      throw error
    }
  }

  private var database: Database { session.database }
  var rows: FileRows { FileRows(database: database, name: name) }

  func begin(_ layout: ModelLayout, startsAnew: Bool) throws -> [NameKey: CopyProgress] {
    try session.begin()
    try session.grow(to: layout.model)
    try session.commit()
    // A row may lead to one that comes later.
    try rows.naming { try database.execute(sql: "PRAGMA foreign_keys=OFF") }
    try session.begin()
    return [:]
  }

  func add(_ rows: [[StoredValue]], to table: Schema.Table, _ progress: CopyProgress) throws {
    try self.rows.naming { try add(rows, table.columns.map(\.name), to: table.name) }
  }

  private func add(_ rows: [[StoredValue]], _ columns: [String], to table: String) throws {
    let names = columns.map(Schema.quoted).joined(separator: ", ")
    let places = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
    let insertion =
      try insertions[NameKey(table)]
      ?? RawStatement(
        "INSERT INTO \(Schema.quoted(table)) (\(names)) VALUES (\(places))",
        in: database
      )
    insertions[NameKey(table)] = insertion
    for row in rows {
      for (index, value) in row.enumerated() { try insertion.bind(value, Int32(index) + 1) }
      try insertion.run()
    }
  }

  func end(_ own: [CopyOwnRows], from source: String) throws {
    try rows.naming {
      for own in own {
        if let creation = own.table.creation { try database.execute(sql: creation) }
        try database.execute(sql: "DELETE FROM \(own.table.name)")
        try add(own.rows, own.table.columns, to: own.table.name)
      }
    }
    if let link = try session.danglingLink() {
      throw dangling(link.table, link.key, to: link.target, from: source)
    }
    try session.commit()
    try rows.naming { try database.execute(sql: "PRAGMA foreign_keys=ON") }
  }
}
