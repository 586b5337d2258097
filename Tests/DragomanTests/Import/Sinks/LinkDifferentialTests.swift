import DragomanGraph
import TestSupport
import Testing

@testable import Dragoman

/// Records with links by three ways: straight into a store, through a context, by `NaiveLinks`.
@Suite("Imports of links, the store's sink against the context's and a naive one")
struct LinkDifferentialTests {
  @Test("Both sinks link what the rules say: the same counts, issues, rows and links")
  func agree() async throws {
    for seed in Seeds.seeds(60) {
      var random = SplitMix(state: seed)
      let sample = LinkCase.random(&random)
      guard try await !sample.differences().isEmpty else { continue }
      let smallest = try await sample.smallest()
      let what = try await smallest.differences().joined(separator: "\n")
      Issue.record("DRAGOMAN_SEED=\(seed)\n\(smallest)\n\(what)")
    }
  }
}

/// Some imports of people in a row.
struct LinkCase: CustomStringConvertible {
  struct Round {
    var records: [LinkRecord]
    var mode: EntityWriter.Mode?
  }

  var scheme: LinkScheme
  var rounds: [Round] = []

  static func random(_ random: inout SplitMix) -> LinkCase {
    var sample = LinkCase(scheme: .random(&random))
    for index in 0..<3 {
      let mode: EntityWriter.Mode? =
        random.chance(75)
        ? nil : [.insert, .ignore, .replace].randomElement(using: &random)
      if index > 0, random.chance(40) {
        sample.rounds.append(Round(records: sample.rounds[index - 1].records, mode: mode))
        continue
      }
      // Long rounds make runs of records, and undo them.
      let count = Int.random(in: random.chance(15) ? 7...40 : 1...6, using: &random)
      let records = (0..<count).map { _ in LinkRecord.random(&random) }
      sample.rounds.append(Round(records: records, mode: mode))
    }
    return sample
  }

  /// In what the three ways differ; empty: they agree.
  func differences() async throws -> [String] {
    let map = try ImportMap(yaml: scheme.description)
    let store = try SQLiteStore(at: .inMemory)
    let stack = try Stack(map.model(), at: .inMemory)
    var naive = NaiveLinks(scheme: scheme)
    var differences: [String] = []
    func compare<Value: Equatable>(_ what: String, _ value: Value, _ expected: Value) {
      if value != expected { differences.append("\(what):\n    \(value)\n    \(expected)") }
    }
    for (number, round) in rounds.enumerated() {
      let expected = naive.run(round.records, mode: round.mode)
      let records = round.records.map(\.foreign)
      let mode = round.mode
      let stored: ImportReport
      let imported: ImportReport
      do {
        stored = try await Importer(map: map, store: store)
          .run(ImportRequest([.records(records)], mode: mode))
        imported =
          try await stack.writeInOneTransaction { context in
            try ContextImport(map, ImportCode(), context, mode, nil).run(records) {
              try context.records.flush()
            }
          }
          .report
      } catch {
        return differences + ["round \(number) throws \(error)"]
      }
      // Whether a link that an earlier record of the same import made counts, where a later one takes
      // it back before the end, is open: so counts are compared where each owner comes once.
      let isDistinct = Set(round.records.map(\.id)).count == round.records.count
      if isDistinct { compare("\(number) counts, context and naive", imported.counts, expected) }
      if isDistinct {
        compare("\(number) counts, store and context", stored.counts, imported.counts)
        compare("\(number) counts, store and naive", stored.counts, expected)
        compare(
          "\(number) entities, store and context",
          stored.entitySummary,
          imported.entitySummary
        )
        compare("\(number) links, store and context", stored.linkSummary, imported.linkSummary)
        compare("\(number) issues, store and context", stored.issues, imported.issues)
      }
      let rows = naive.contents
      compare("\(number) rows, store and naive", try scheme.contents(of: store), rows)
      compare("\(number) rows, context and naive", try scheme.contents(of: stack.store), rows)
      // What follows from a difference is none of its own.
      if !differences.isEmpty { break }
    }
    return differences
  }

  /// The case with as little as still makes a difference.
  func smallest() async throws -> LinkCase {
    var best = self
    var isSmaller = true
    while isSmaller {
      isSmaller = false
      for round in best.rounds.indices.reversed() {
        for record in best.rounds[round].records.indices.reversed() {
          for change in LinkCase.simplifications {
            guard best.rounds[round].records.indices.contains(record) else { break }
            var next = best
            change(&next.rounds[round].records, record)
            guard next.rounds[round].records != best.rounds[round].records else { continue }
            if try await !next.differences().isEmpty {
              best = next
              isSmaller = true
            }
          }
        }
      }
    }
    best.rounds.removeAll { $0.records.isEmpty }
    return best
  }

  private static var simplifications: [(inout [LinkRecord], Int) -> Void] {
    [
      { $0.remove(at: $1) }, { $0[$1].fault = nil }, { $0[$1].name = .missing },
      { $0[$1].company = .missing }, { $0[$1].skills = .missing }, { $0[$1].boss = .missing },
      { $0[$1].friends = .missing },
      {
        if case .value(let keys) = $0[$1].friends {
          $0[$1].friends = .value(Array(keys.dropLast()))
        }
      },
      {
        if case .value(let keys) = $0[$1].skills { $0[$1].skills = .value(Array(keys.dropLast())) }
      },
    ]
  }

  var description: String {
    scheme.description
      + rounds.map { round in
        "\n  mode \(round.mode.map(\.rawValue) ?? "none")"
          + round.records.map { "\n    \($0.foreign.json)" }.joined()
      }.joined()
  }
}
