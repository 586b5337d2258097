import DragomanGraph
import TestSupport

@testable import Dragoman

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
      let past: ImportedObjects
      do {
        stored = try await trio.importIntoStore(records, mode: round.mode)
        imported = try await trio.importIntoContext(records, mode: round.mode)
        past = try await trio.importPastContext(records, mode: round.mode)
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
      compare("\(number) counts, past the context", past.report.counts, report.counts)
      compare("\(number) issues, past the context", past.report.issues, report.issues)
      compare("\(number) entities, past the context", past.report.entities, report.entities)
      let pastRows = try trio.pastRows()
      compare("\(number) ids, distinct past the context", Set(past.ids).count, past.ids.count)
      compare(
        "\(number) rows, past the context",
        Self.text(pastRows.map(\.values)),
        Self.text(contextRows.map(\.values))
      )
      // A record that is rejected takes a key along where it was an object.
      compare(
        "\(number) objects in input order, past the context",
        Self.text(past.ids, in: pastRows),
        Self.text(expected.rows)
      )
      compare("\(number) ids, distinct", Set(imported.ids).count, imported.ids.count)
      compare(
        "\(number) objects in input order, context and naive",
        Self.text(imported.ids, in: contextRows),
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

  private static func text(
    _ ids: [ObjectID],
    in rows: [(id: ObjectID, values: [StoredValue])]
  ) -> [String] {
    let values = Dictionary(rows.map { ($0.id, $0.values) }) { first, _ in first }
    return ids.map { values[$0].map { text([$0])[0] } ?? "gone" }
  }

  /// Rows as text that tells the types of the values and keeps every byte.
  static func text(_ rows: [[StoredValue]]) -> [String] {
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
