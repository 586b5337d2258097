import DragomanPostgreSQL
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// A file and a server that get the same.
final class FileAndServer {
  let file: SQLiteStore
  let server: ServerStore
  let map: ImportMap
  /// The server's numbers of the file's runs.
  var numbers: [Int64: Int64] = [:]

  init(file: SQLiteStore, server: ServerStore, map: ImportMap) {
    self.file = file
    self.server = server
    self.map = map
  }

  func run(_ request: ImportRequest, _ words: Comment) async throws {
    let expected = try await Importer(map: map, store: file).run(request)
    let report = try await Importer(map: map, server: server).run(request)
    #expect(report.counts == expected.counts, words)
    try noteNumbers()
    let (theirs, ours) = (try serverContents(), try fileContents())
    #expect(theirs == ours, words)
  }

  func run(_ feed: String, _ change: (inout ImportRequest) -> Void = { _ in }) async throws {
    var request = ImportRequest([.bytes(Array(feed.utf8), name: "feed")])
    change(&request)
    try await run(request, "\(feed)")
  }

  /// Takes a run of the file back, and the same of the server.
  func undo(_ run: Int64, _ words: Comment) throws {
    let number = try #require(numbers[run])
    let expected = try file.undoImport(run)
    let report = try server.undoImport(number)
    #expect(report.isPossible == expected.isPossible, "\(run) \(report.conflicts) \(words)")
    // An object that only another version of its row was written of counts as changed, too.
    let counts = [report, expected].map { report in
      report.entities.mapValues { [$0.restored, $0.deleted] }.filter { $0.value != [0, 0] }
    }
    #expect(counts[0] == counts[1], "\(run) \(words)")
    #expect(report.isRecorded == expected.isRecorded, "\(run) \(words)")
    try noteNumbers()
    #expect(try serverContents() == fileContents(), "undo \(run) \(words)")
    let (copy, history) = (try server.copy(of: .history), try file.history())
    #expect(try copy.history().map(\.status) == history.map(\.status), "undo \(run) \(words)")
    try copy.close()
  }

  private func noteNumbers() throws {
    let copy = try server.copy(of: .history)
    numbers[try #require(try file.history().last?.id)] = try #require(try copy.history().last?.id)
    try copy.close()
  }

  func serverContents() throws -> [String] {
    let copy = try server.copy(of: .everything)
    defer { try? copy.close() }
    return try ranked(copy)
  }

  func fileContents() throws -> [String] {
    let last = try file.history().last?.id ?? 0
    return try file.withCopy(asOf: last) { try ranked($0) }
  }

  /// The contents of a copy; of a list that has lost a target it is the order that counts, not whether there is a gap.
  func ranked(_ copy: SQLiteStore) throws -> [String] {
    let layout = copy.layout
    try copy.write { session in
      try session.begin()
      for (index, table) in layout.tables.enumerated() {
        for link in layout.linkColumns[index] {
          guard let order = link.order else { continue }
          let name = Schema.quoted(table.name)
          let own = Schema.quoted(table.columns[link.column].name)
          let place = Schema.quoted(table.columns[order].name)
          try session.database.execute(
            sql: "UPDATE \(name) SET \(place) = _r.rank FROM (SELECT _pk AS key, row_number() OVER"
              + " (PARTITION BY \(own) ORDER BY \(place)) - 1 AS rank FROM \(name)) AS _r"
              + " WHERE _r.key = \(name)._pk AND \(place) NOT NULL"
          )
        }
      }
      try session.commit()
    }
    return try contents(of: copy)
  }

  /// All of the server's rows, with their keys.
  func state() throws -> [String] {
    let copy = try server.copy(of: .everything)
    defer { try? copy.close() }
    return try UndoPropertyTests.state(of: copy)
  }
}
