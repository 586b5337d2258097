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
      let sample = SinkCase.random(&random)
      let differences = try await sample.differences(&total)
      guard !differences.isEmpty else { continue }
      let smallest = try await sample.smallest()
      var ignored = ImportLedgerEntry.Counts()
      let what = try await smallest.differences(&ignored).joined(separator: "\n")
      Issue.record("DRAGOMAN_SEED=\(seed) \(smallest)\n\(what)")
    }
    // The cases would prove nothing if one of these were rare.
    guard Self.setting("DRAGOMAN_SEED") == nil else { return }
    let shares = [
      total.inserted, total.updated, total.unchanged, total.deleted, total.skipped, total.rejected,
    ]
    #expect(shares.allSatisfy { $0 * 200 > total.read }, "\(total)")
    #expect(total.read == shares.reduce(0, +))
  }
}

/// Some imports in a row, into the same empty store.
struct SinkCase {
  struct Round {
    var records: [SampleRecord]
    var mode: EntityWriter.Mode?
  }

  var scheme: ImportScheme
  var rounds: [Round] = []

  static func random(_ random: inout SplitMix) -> SinkCase {
    let scheme = ImportScheme.random(&random)
    var sample = SinkCase(scheme: scheme)
    for index in 0..<3 {
      let mode: EntityWriter.Mode? =
        random.chance(60)
        ? nil : [.upsert, .insert, .ignore, .replace].randomElement(using: &random)
      // Some of the later rounds are the earlier one again.
      if index > 0, random.chance(40) {
        sample.rounds.append(Round(records: sample.rounds[index - 1].records, mode: mode))
        continue
      }
      let records = (0..<Int.random(in: 1...9, using: &random)).map { _ in
        SampleRecord.random(scheme, &random)
      }
      sample.rounds.append(Round(records: records, mode: mode))
    }
    return sample
  }

  /// In what the three ways differ, in words; empty: they agree.
  func differences(_ total: inout ImportLedgerEntry.Counts) async throws -> [String] {
    let trio = try SinkTrio(scheme)
    var naive = NaiveImport(scheme)
    var differences: [String] = []
    func compare<Value: Equatable>(_ what: String, _ value: Value, _ expected: Value) {
      if value != expected { differences.append("\(what):\n    \(value)\n    \(expected)") }
    }
    for (number, round) in rounds.enumerated() {
      let expected = naive.run(round.records, mode: round.mode)
      total.add(expected.counts)
      let records = round.records.map(\.foreign)
      let stored: ImportReport
      let imported: ImportedObjects
      do {
        stored = try await trio.importIntoStore(records, mode: round.mode)
        imported = try await trio.importIntoContext(records, mode: round.mode)
      } catch {
        return differences + ["round \(number) throws \(error)"]
      }
      let report = imported.report
      compare("\(number) counts, store and context", stored.counts, report.counts)
      compare("\(number) counts, store and naive", stored.counts, expected.counts)
      compare("\(number) issues, store and context", stored.issues, report.issues)
      compare("\(number) issues, store and naive", stored.naiveIssues, expected.issues)
      compare("\(number) entities, store and context", stored.entities, report.entities)
      compare("\(number) notices, store and context", stored.notices, report.notices)
      let rows = Self.text(naive.objects.map(\.values)).sorted()
      let contextRows = try trio.contextRows()
      compare(
        "\(number) rows, store and naive",
        Self.text(try trio.storeRows().map(\.values)).sorted(),
        rows
      )
      compare(
        "\(number) rows, context and naive",
        Self.text(contextRows.map(\.values)).sorted(),
        rows
      )
      let byID = Dictionary(contextRows.map { ($0.id, $0.values) }) { first, _ in first }
      compare("\(number) ids, distinct", Set(imported.ids).count, imported.ids.count)
      compare(
        "\(number) objects in input order, context and naive",
        imported.ids.map { byID[$0].map { Self.text([$0])[0] } ?? "gone" },
        Self.text(expected.rows)
      )
      // What follows from a difference is none of its own.
      if !differences.isEmpty { break }
    }
    return differences
  }

  /// The case with as few records as still make a difference.
  func smallest() async throws -> SinkCase {
    var best = self
    var isSmaller = true
    while isSmaller {
      isSmaller = false
      for round in best.rounds.indices.reversed() {
        for record in best.rounds[round].records.indices.reversed() {
          var next = best
          next.rounds[round].records.remove(at: record)
          var ignored = ImportLedgerEntry.Counts()
          if try await !next.differences(&ignored).isEmpty {
            best = next
            isSmaller = true
          }
        }
      }
    }
    best.rounds.removeAll { $0.records.isEmpty }
    return best
  }

  /// Rows as text that tells the types of the values and keeps every byte.
  private static func text(_ rows: [[StoredValue]]) -> [String] {
    rows.map { row in
      row.map { value in
        switch value {
        case .null: "null"
        case .integer(let integer): "\(integer)"
        case .real(let real): "\(real == 0 ? 0 : real)r"
        case .text(let text):
          "'" + text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined() + "'"
        case .blob(let bytes): "\(bytes)"
        }
      }.joined(separator: " | ")
    }
  }
}

extension SinkCase: CustomStringConvertible {
  var description: String {
    var text = scheme.description
    for round in rounds {
      text += "\n  mode \(round.mode.map(\.rawValue) ?? "none")"
      for record in round.records { text += "\n    \(record.foreign.json)" }
    }
    return text
  }
}

/// A store and a stack with the same model, both empty at first.
struct SinkTrio {
  private let map: ImportMap
  private let code: ImportCode
  private let mapper: Mapper?
  private let columns: [String]
  let store: SQLiteStore
  let stack: Stack

  init(_ scheme: ImportScheme) throws {
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
