import DragomanGraph
import Foundation
import TestSupport
import Testing

@testable import Dragoman

/// Imports of random maps and feeds, taken back one after the other.
@Suite("Imports taken back, random ones")
struct UndoPropertyTests {
  @Test(
    "What is taken back is as it was before, and an undo taken back as it was behind the import"
  )
  func linked() async throws {
    var total = 0
    for seed in Seeds.seeds(30) {
      var random = SplitMix(state: seed)
      let sample = LinkCase.random(&random)
      let requests = sample.rounds.map {
        ImportRequest([.records($0.records.map(\.foreign))], mode: $0.mode)
      }
      let map = try ImportMap(yaml: sample.scheme.description)
      total += try await check(map, requests, &random, "DRAGOMAN_SEED=\(seed)\n\(sample)")
    }
    #expect(Seeds.asked != nil || total > 30)
  }

  @Test("Values, versions, tombstones and rejects are taken back, too")
  func plain() async throws {
    var total = 0
    for seed in Seeds.seeds(30) {
      var random = SplitMix(state: seed)
      let scheme = ImportScheme.random(&random)
      guard !scheme.isCode else { continue }
      let requests = (0..<3).map { _ in
        ImportRequest([
          .records(
            (0..<Int.random(in: 0...20, using: &random)).map { _ in
              SampleRecord.random(scheme, &random).foreign
            }
          )
        ])
      }
      total += try await check(scheme.map(), requests, &random, "DRAGOMAN_SEED=\(seed)\n\(scheme)")
    }
    #expect(Seeds.asked != nil || total > 30)
  }

  /// Imports, and takes back in several ways; gives how many imports had done something.
  private func check(
    _ map: ImportMap,
    _ requests: [ImportRequest],
    _ random: inout SplitMix,
    _ place: String
  ) async throws -> Int {
    let place = Comment(rawValue: place)
    let store = try SQLiteStore(at: .inMemory)
    var states: [[String]] = [[]]
    var told: [Int64: [ImportChange]] = [:]
    for request in requests {
      let log = ChangeCollector()
      var request = request
      if random.chance(50) {
        request.options.commit = .batch
        request.options.batchSize = .random(in: 1...5, using: &random)
      } else {
        request.changes = { log.add($0) }
        request.tellsNetChanges = true
      }
      request.recording = random.chance(30) ? .always : .upToAMillionRows
      do {
        _ = try await Importer(map: map, store: store).run(request)
      } catch {
        continue
      }
      let id = try #require(try store.history(limit: 1).first?.id)
      if request.changes != nil { told[id] = log.all }
      while states.count <= Int(id) { states.append(states[states.count - 1]) }
      states[Int(id)] = try Self.state(of: store)
    }
    let runs = try store.write { try $0.recordedRuns() }.reversed().map(\.number)
    for (id, changes) in told where runs.contains(id) {
      var found: [ImportChange] = []
      try store.changes(ofImport: id) { found.append($0) }
      let (done, should) = (Self.text(found), Self.text(changes))
      #expect(
        done == should,
        "\(done.filter { !should.contains($0) })\n\(should.filter { !done.contains($0) })"
      )
    }
    for run in [0] + runs {
      let state = try store.withCopy(asOf: run) { try Self.state(of: $0) }
      #expect(state == states[Int(run)], place)
    }
    // Here and there back and forth, in the end all the way back.
    var open = runs
    while let run = open.popLast() {
      let before = states[Int(run) - 1]
      var previewed: [ImportChange] = []
      let dry = try store.previewUndo(run) { previewed.append($0) }
      if let done = told[run] { #expect(previewed.isEmpty == done.isEmpty, place) }
      #expect(try Self.state(of: store) == states[Int(run)], place)
      let report = try store.undoImport(run)
      #expect(report.conflicts.isEmpty, place)
      #expect(report.isPossible && dry.entities == report.entities, place)
      #expect(try Self.state(of: store) == before, place)
      if random.chance(40), let undo = try store.history(limit: 1).first?.id, undo > run {
        #expect(try store.undoImport(undo).isPossible, place)
        #expect(try Self.state(of: store) == states[Int(run)], place)
        let again = try #require(try store.history(limit: 1).first?.id)
        #expect(try store.undoImport(again).isPossible, place)
        #expect(try Self.state(of: store) == before, place)
      }
    }
    #expect(try Self.state(of: store) == [], place)
    #expect(try sql(store, "PRAGMA foreign_key_check") == [], place)
    return runs.count
  }

  /// All rows but their versions; references that wait without their numbers.
  static func state(of store: SQLiteStore) throws -> [String] {
    var lines: [String] = []
    let names = try sql(
      store,
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_dragoman*' ORDER BY 1"
    )
    for name in names + ["_dragoman_pending"] {
      let columns = try sql(
        store,
        "SELECT name FROM pragma_table_info('\(name)') WHERE name NOT IN ('_v', 'id')"
      )
      // The key of a plain feed may be called id.
      let all =
        name.hasPrefix("_")
        ? columns
        : try sql(
          store,
          "SELECT name FROM pragma_table_info('\(name)') WHERE name <> '_v'"
        )
      let list = all.map { "quote(\"\($0)\")" }.joined(separator: ", ")
      let rows = try sql(store, "SELECT \(list) FROM \"\(name)\"")
      lines += rows.map { "\(name) \($0)" }.sorted()
    }
    return lines
  }

  static func text(_ changes: [ImportChange]) -> [String] {
    changes.map { change in
      var change = change
      change.origin = nil
      if change.kind == .pruned { change.kind = .deleted }
      for index in change.links.indices {
        change.links[index].added.sort { "\($0)" < "\($1)" }
        change.links[index].removed.sort { "\($0)" < "\($1)" }
      }
      // Those of a file and of a server are others.
      let key = change.key.filter { $0.attribute.name != "_pk" }.map { "\($0.value)" }
      let fields = change.fields.map { "\($0.attribute.name) \($0.old as Any) \($0.new as Any)" }
      let links = change.links.map { link in
        "\(link.relationship) -\(link.removed.map { $0.map(\.value) }) +\(link.added.map { $0.map(\.value) })"
      }
      return "\(change.kind) \(change.entity) \(key) \(fields) \(links)"
    }.sorted()
  }
}

/// What an import tells of, from its thread.
private final class ChangeCollector: @unchecked Sendable {
  // Read when the import is over.
  private(set) var all: [ImportChange] = []

  func add(_ change: ImportChange) { all.append(change) }
}
