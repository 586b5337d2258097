import DragomanGraph
import Foundation
import TestSupport
import Testing

@testable import Dragoman

/// The same records by four ways: straight into a store, through a context, past the context's objects, and by
/// `NaiveImport`.
///
/// `DRAGOMAN_ROUNDS` asks for more cases than the default, `DRAGOMAN_SEED` for one case again.
@Suite("Imports, the store's sink against the context's and a naive one")
struct SinkDifferentialTests {
  @Test("All sinks do what the rules say: the same counts, issues, rows and ids")
  func agree() async throws {
    var total = ImportLedgerEntry.Counts()
    for seed in Seeds.seeds(200) {
      var random = SplitMix(state: seed)
      let sample = SinkCase.random(&random)
      let differences = try await sample.differences(&total)
      guard !differences.isEmpty else { continue }
      let smallest = try await sample.smallest()
      var ignored = ImportLedgerEntry.Counts()
      let what = try await smallest.differences(&ignored).joined(separator: "\n")
      Issue.record("DRAGOMAN_SEED=\(seed) \(smallest)\n\(what)")
    }
    // The cases would prove nothing if one of these were rare.
    guard Seeds.asked == nil else { return }
    let shares = [
      total.inserted, total.updated, total.unchanged, total.deleted, total.skipped, total.rejected,
    ]
    #expect(shares.allSatisfy { $0 * 200 > total.read }, "\(total)")
    #expect(total.read == shares.reduce(0, +))
  }

  @Test("The same import again changes nothing, and the order of distinct keys does not matter")
  func again() async throws {
    for seed in Seeds.seeds(60) {
      var random = SplitMix(state: seed)
      var scheme = ImportScheme.random(&random)
      guard !scheme.uniqueKeys.isEmpty else { continue }
      scheme.uniqueKeys = [scheme.uniqueKeys[0]]
      scheme.overwriteExisting = true
      scheme.hasTombstones = false
      // Records that each make an object which they find again.
      var naive = NaiveImport(scheme)
      var records: [ForeignValue] = []
      for _ in 0..<12 {
        let record = SampleRecord.random(scheme, &random)
        var next = naive
        guard next.run([record], mode: nil).counts.inserted == 1 else { continue }
        var again = next
        guard again.run([record], mode: nil).counts.unchanged == 1 else { continue }
        naive = next
        records.append(record.foreign)
      }
      let place: Comment = "DRAGOMAN_SEED=\(seed) \(scheme)\n\(records.map(\.json))"
      let first = try SinkTrio(scheme)
      let second = try SinkTrio(scheme)
      let all = try await first.importIntoStore(records, mode: nil).counts
      #expect(all.inserted == records.count, place)
      _ = try await first.importIntoContext(records, mode: nil)
      records.shuffle(using: &random)
      let storeAgain = try await first.importIntoStore(records, mode: nil).counts
      let contextAgain = try await first.importIntoContext(records, mode: nil)
      #expect(storeAgain.unchanged == records.count, place)
      #expect(contextAgain.report.counts == storeAgain, place)
      #expect(contextAgain.ids.count == records.count, place)
      _ = try await second.importIntoStore(records, mode: nil)
      _ = try await second.importIntoContext(records, mode: nil)
      let rows = SinkCase.text(naive.objects.map(\.values)).sorted()
      for trio in [first, second] {
        #expect(SinkCase.text(try trio.storeRows().map(\.values)).sorted() == rows, place)
        #expect(SinkCase.text(try trio.contextRows().map(\.values)).sorted() == rows, place)
      }
    }
  }
}

/// A store and two stacks with the same model, all empty at first.
struct SinkTrio {
  private let map: ImportMap
  private let code: ImportCode
  private let mapper: Mapper?
  private let columns: [String]
  let store: SQLiteStore
  let stack: Stack
  private let past: Stack

  init(_ scheme: ImportScheme) throws {
    columns = scheme.lines.map(\.attribute.name)
    store = try SQLiteStore(at: .inMemory)
    if scheme.isCode {
      let mapper = try scheme.mapper()
      self.mapper = mapper
      map = mapper.importMap
      code = mapper.importCode
      stack = try Stack(mapper.model, at: .inMemory)
      past = try Stack(mapper.model, at: .inMemory)
      for stack in [stack, past] { try stack.mappers.register(mapper) }
    } else {
      mapper = nil
      map = try scheme.map()
      code = ImportCode()
      stack = try Stack(map.model(), at: .inMemory)
      past = try Stack(map.model(), at: .inMemory)
    }
  }

  func importIntoStore(
    _ records: [ForeignValue],
    mode: EntityWriter.Mode?
  ) async throws -> ImportReport {
    let request = ImportRequest([.records(records)], mode: mode)
    if let mapper { return try await Importer(mapper: mapper, store: store).run(request) }
    return try await Importer(map: map, store: store).run(request)
  }

  /// As objects.
  func importIntoContext(
    _ records: [ForeignValue],
    mode: EntityWriter.Mode?
  ) async throws -> ImportedObjects {
    try await importing(into: stack) { map, code, context in
      try ContextImport(map, code, context, mode, nil).run(records) { try context.records.flush() }
    }
  }

  /// As rows, where nobody could tell the difference.
  func importPastContext(
    _ records: [ForeignValue],
    mode: EntityWriter.Mode?
  ) async throws -> ImportedObjects {
    try await importing(into: past) { map, code, context in
      try ContextImport(map, code, context, mode, nil).runInTransaction(records)
    }
  }

  private func importing(
    into stack: Stack,
    _ body:
      @escaping @Sendable (ImportMap, ImportCode, ManagedObjectContext) throws -> ImportedObjects
  ) async throws -> ImportedObjects {
    // A stack has mappers only; the sink takes maps as well.
    var (map, code) = (map, code)
    if mapper != nil { (map, code) = try stack.mappers.importMap(for: ImportScheme.entity) }
    try await stack.declare(stack.mappers.keys)
    return try await stack.writeInOneTransaction { [map, code] context in
      try body(map, code, context)
    }
  }

  func storeRows() throws -> [(id: ObjectID, values: [StoredValue])] { try rows(of: store) }

  func contextRows() throws -> [(id: ObjectID, values: [StoredValue])] { try rows(of: stack.store) }

  func pastRows() throws -> [(id: ObjectID, values: [StoredValue])] { try rows(of: past.store) }

  private func rows(of store: SQLiteStore) throws -> [(id: ObjectID, values: [StoredValue])] {
    guard store.model.entity(named: ImportScheme.entity) != nil else { return [] }
    var rows: [(id: ObjectID, values: [StoredValue])] = []
    let request = FetchRequest(ImportScheme.entity, columns: columns.map { FetchColumn($0) })
    try store.forEachRow(request) { row in rows.append((row.objectID, row.values)) }
    return rows
  }
}

extension ImportReport {
  /// How many issues there are of a code and an attribute, as `NaiveReport` has them.
  var naiveIssues: [String: Int] {
    Dictionary(issues.map { ("\($0.code.rawValue) \($0.attribute ?? "-")", $0.count) }) { $0 + $1 }
  }
}

extension ImportLedgerEntry.Counts {
  mutating func add(_ other: Self) {
    read += other.read
    inserted += other.inserted
    updated += other.updated
    unchanged += other.unchanged
    deleted += other.deleted
    skipped += other.skipped
    rejected += other.rejected
  }
}
