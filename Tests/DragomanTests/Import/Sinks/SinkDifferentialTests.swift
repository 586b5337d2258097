import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

/// The same records by three ways: straight into a store, through a context, and by `NaiveImport`.
///
/// `DRAGOMAN_ROUNDS` asks for more cases than the default, `DRAGOMAN_SEED` for one case again.
@Suite("Imports, the store's sink against the context's and a naive one")
struct SinkDifferentialTests {
  static func setting(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }

  /// The seeds of the cases to run.
  static func seeds(_ count: UInt64) -> [UInt64] {
    if let seed = setting("DRAGOMAN_SEED") { return [seed] }
    return (0..<(setting("DRAGOMAN_ROUNDS") ?? count)).map { _ in .random(in: 0...UInt64.max) }
  }

  @Test("Both sinks do what the rules say: the same counts, issues, rows and ids")
  func agree() async throws {
    var total = ImportLedgerEntry.Counts()
    for seed in Self.seeds(200) {
      var random = SplitMix(state: seed)
      let scheme = ImportScheme.random(&random)
      guard let trio = try SinkTrio(scheme) else { continue }
      var naive = NaiveImport(scheme)
      var records: [SampleRecord] = []
      for round in 0..<3 {
        // Half of the last rounds are an earlier one again.
        if round == 0 || random.chance(60) {
          records = (0..<Int.random(in: 1...9, using: &random)).map { _ in
            SampleRecord.random(scheme, &random)
          }
        }
        let mode: EntityWriter.Mode? =
          random.chance(60)
          ? nil : [.upsert, .insert, .ignore, .replace].randomElement(using: &random)
        let expected = naive.run(records, mode: mode)
        let place: Comment =
          """
          DRAGOMAN_SEED=\(seed), round \(round), mode \(mode.map(\.rawValue) ?? "none"), \(scheme)
          \(records.map { $0.foreign.json }.joined(separator: "\n"))
          """
        let stored = try await trio.importIntoStore(records.map(\.foreign), mode: mode)
        let imported = try await trio.importIntoContext(records.map(\.foreign), mode: mode)
        #expect(stored.comparable == imported.report.comparable, place)
        #expect(stored.counts == expected.counts, place)
        #expect(stored.naiveIssues == expected.issues, place)
        let rows = Self.sorted(naive.objects.map(\.values))
        #expect(try Self.sorted(trio.storeRows().map(\.values)) == rows, place)
        let contextRows = try trio.contextRows()
        #expect(Self.sorted(contextRows.map(\.values)) == rows, place)
        #expect(Set(imported.ids).count == imported.ids.count, place)
        let byID = Dictionary(contextRows.map { ($0.id, $0.values) }) { first, _ in first }
        #expect(imported.ids.map { byID[$0] } == expected.rows, place)
        total.add(expected.counts)
      }
    }
    // The cases would prove nothing if one of these were rare.
    guard Self.setting("DRAGOMAN_SEED") == nil else { return }
    let shares = [
      total.inserted, total.updated, total.unchanged, total.deleted, total.skipped, total.rejected,
    ]
    #expect(shares.allSatisfy { $0 * 200 > total.read }, "\(total)")
    #expect(
      total.read
        == total.inserted + total.updated + total.unchanged + total.deleted + total.skipped
        + total.rejected
    )
  }

  /// Rows in the order of their text, which any two equal sets of rows share.
  static func sorted(_ rows: [[StoredValue]]) -> [[StoredValue]] {
    rows.map { ($0, Array("\($0)".utf8)) }
      .sorted { $0.1.lexicographicallyPrecedes($1.1) }
      .map(\.0)
  }
}

/// A store and a stack with the same model, both empty.
struct SinkTrio {
  private let map: ImportMap
  private let code: ImportCode
  private let mapper: Mapper?
  private let columns: [String]
  let store: SQLiteStore
  let stack: Stack

  /// Nil: the scheme contradicts itself.
  init?(_ scheme: ImportScheme) throws {
    columns = scheme.lines.map(\.attribute.name)
    store = try SQLiteStore(at: .inMemory)
    if scheme.isCode {
      let mapper = try scheme.mapper()
      self.mapper = mapper
      map = mapper.importMap
      code = mapper.importCode
      stack = try Stack(mapper.model, at: .inMemory)
      try stack.mappers.register(mapper)
    } else {
      mapper = nil
      map = try scheme.map()
      code = ImportCode()
      stack = try Stack(map.model(), at: .inMemory)
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

  func importIntoContext(
    _ records: [ForeignValue],
    mode: EntityWriter.Mode?
  ) async throws -> ImportedObjects {
    if mapper != nil {
      return try await stack.import(records, into: ImportScheme.entity, mode: mode)
    }
    // A stack has mappers only; the sink takes maps as well.
    let (map, code) = (map, code)
    return try await stack.writeInOneTransaction { context in
      try ContextImport(map, code, context, mode, nil).run(records) { try context.flush() }
    }
  }

  func storeRows() throws -> [(id: ObjectID, values: [StoredValue])] { try rows(of: store) }

  func contextRows() throws -> [(id: ObjectID, values: [StoredValue])] { try rows(of: stack.store) }

  private func rows(of store: SQLiteStore) throws -> [(id: ObjectID, values: [StoredValue])] {
    guard store.model.entity(named: ImportScheme.entity) != nil else { return [] }
    var rows: [(id: ObjectID, values: [StoredValue])] = []
    let request = FetchRequest(ImportScheme.entity, columns: columns.map { FetchColumn($0) })
    try store.forEachRow(request) { row in rows.append((row.objectID, row.values)) }
    return rows
  }
}

extension ImportReport {
  /// The report without what differs from run to run.
  var comparable: ImportReport {
    var report = self
    report.duration = .zero
    report.byteCount = 0
    report.committed = 0
    report.status = .done
    return report
  }

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
