import Foundation
import TestSupport
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Imports into empty tables, which are loaded, against the same imports record by record: who is told of every
/// change has them so.
@Suite("Imports into empty tables, loaded against record by record")
struct LoadDifferentialTests {
  @Test("Loading an empty table comes to the same contents, counts, issues, rejects and ledger")
  func agree() async throws {
    var total = ImportLedgerEntry.Counts()
    for seed in Seeds.seeds(75) {
      var random = SplitMix(state: seed)
      let differences = try await LoadCase(&random).differences(&total)
      #expect(differences == [], "DRAGOMAN_SEED=\(seed)")
    }
    guard Seeds.asked == nil else { return }
    let shares = [
      total.inserted, total.updated, total.unchanged, total.deleted, total.skipped, total.rejected,
    ]
    #expect(shares.allSatisfy { $0 * 200 > total.read }, "\(total)")
  }

  @Test(
    "A new key that the filter takes for a known one makes its object all the same, in its place"
  )
  func takenForKnown() async throws {
    // Keys of one block of the filter's first level, until there is one whose bits are all set.
    let filter = KeyFilter()
    var keys: [String] = []
    for number in 0... {
      let key = "k\(number)"
      var hash = KeyHash(seed: 0)
      Array(key.utf8).withUnsafeBytes { hash.add($0) }
      guard (hash.value >> 32) &* UInt64((1 << 18) * 24 / 256) >> 32 == 0 else { continue }
      keys.append(key)
      if filter.insert(hash.value) { break }
    }
    keys.append("after")
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: { type: string } } } }
      sources: { json: { format: json, entity: P } }
      """
    )
    let report = try await fixture.run(
      "[\(keys.map { "{\"id\":\"\($0)\"}" }.joined(separator: ","))]"
    )
    #expect(report.summary == "read \(keys.count), inserted \(keys.count)")
    #expect(try sql(fixture.store, "SELECT id FROM P ORDER BY _pk") == keys)
  }

  @Test("A record that gives a part of a second key to an object takes the whole key")
  func partOfAKey() async throws {
    var found: [[String]] = []
    for observer in [nil, { @Sendable _ in }] as [(@Sendable (ImportChange) throws -> Void)?] {
      let fixture = try ImportFixture(
        """
        version: 1
        entities:
          P:
            unique: [[id], [street, no]]
            attributes: { id: { type: int64 }, street: { type: string }, no: { type: int64 } }
        sources: { json: { format: json, entity: P } }
        """
      )
      let feed = #"[{"id":1,"street":"x"},{"id":1,"no":7},{"id":2,"street":"x","no":7}]"#
      let report = try await fixture.run(feed) { $0.changes = observer }
      #expect(report.summary == "read 3, inserted 1, updated 1, rejected 1")
      found.append(try fixture.rows())
    }
    #expect(found[0] == found[1])
  }

  @Test("More records about the same objects than are set aside: the rest goes record by record")
  func manyAgain() async throws {
    let fixture = try ImportFixture(attributes: "name: { type: string }")
    let records = (0..<40_000).map { "{\"id\":\($0 / 2),\"name\":\"n\($0)\"}" }
    let report = try await fixture.run("[\(records.joined(separator: ","))]")
    #expect(report.summary == "read 40000, inserted 20000, updated 20000")
    let wrong = "SELECT count(*) FROM P WHERE name <> 'n' || (2 * id + 1) OR _v <> 2"
    #expect(try sql(fixture.store, wrong) == ["0"])
    #expect(try sql(fixture.store, "PRAGMA integrity_check") == ["ok"])
  }

  @Test("A feed that breaks off tells of all records so far, also of those that were set aside")
  func brokenOff() async throws {
    let feed = #"[{"id":1},{"id":2},{"id":1},{"id":2,"id":3},{"id":1},{"#
    var reports: [ImportReport] = []
    for observer in [nil, { @Sendable _ in }] as [(@Sendable (ImportChange) throws -> Void)?] {
      let fixture = try ImportFixture(attributes: "name: { type: string }")
      do {
        try await fixture.run(feed, mode: .insert) { $0.changes = observer }
        Issue.record("the feed is taken")
      } catch let failure as ImportFailure {
        reports.append(failure.report)
      }
      #expect(try sql(fixture.store, "SELECT name FROM sqlite_master") == [])
    }
    #expect(reports.map(\.summary) == [reports[0].summary, reports[0].summary])
    #expect(reports[0].issueSummary == reports[1].issueSummary)
    #expect(reports[0].counts.rejected == 3)
  }

  @Test("Objects that others refer to are loaded until the first one refers to them")
  func linked() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Product: { unique: sku, attributes: { sku: { type: string }, price: { type: int64 } } }
        Line:
          unique: no
          attributes: { no: { type: int64 } }
          relationships:
            product: { entity: Product, kind: toOne, key: { sku: sku }, onUnresolved: pending }
      sources:
        products: { format: json, entity: Product, records: products }
        lines: { format: json, entity: Line, records: lines }
      """
    )
    let report = try await fixture.run(
      """
      {"products":[{"sku":"a","price":1},{"sku":"b"},{"sku":"a","price":2}],
       "lines":[{"no":1,"sku":"a"},{"no":2,"sku":"c"}]}
      """,
      """
      {"lines":[{"no":3,"sku":"b"}],"products":[{"sku":"c","price":3},{"sku":"b","price":4}]}
      """
    )
    #expect(report.summary == "read 8, inserted 6, updated 2")
    #expect(
      try sql(
        fixture.store,
        "SELECT no, sku, price FROM Line JOIN Product ON product = Product._pk ORDER BY no"
      ) == ["1|a|2", "2|c|3", "3|b|4"]
    )
  }
}

/// Two imports into the same store, the first one into an empty table.
private struct LoadCase {
  let scheme: ImportScheme
  let rounds: [ImportRequest]
  /// Records a batch, where the same is committed in batches.
  let batchSize: Int

  init(_ random: inout SplitMix) {
    let scheme = ImportScheme.random(&random)
    self.scheme = scheme
    var rounds: [ImportRequest] = []
    for _ in 0..<2 {
      let mode: EntityWriter.Mode? =
        random.chance(60)
        ? nil : [.upsert, .insert, .ignore, .replace].randomElement(using: &random)
      var inputs: [ImportInput] = []
      for number in 0..<Int.random(in: 1...3, using: &random) {
        let records = (0..<Int.random(in: 0...40, using: &random)).map { _ in
          SampleRecord.random(scheme, &random).foreign
        }
        inputs.append(.records(records, name: "records\(number)"))
      }
      var request = ImportRequest(inputs, mode: mode)
      if random.chance(25) { request.options.maximumRejects = .random(in: 0...12, using: &random) }
      if random.chance(15) { request.limit = .random(in: 0...60, using: &random) }
      rounds.append(request)
    }
    self.rounds = rounds
    batchSize = .random(in: 1...30, using: &random)
  }

  /// What an import came to, as text.
  private struct Result: Equatable {
    var parts: [String: [String]] = [:]
    var counts = ImportLedgerEntry.Counts()
  }

  func differences(_ total: inout ImportLedgerEntry.Counts) async throws -> [String] {
    let (loaded, observed) = (
      try SQLiteStore(at: .inMemory), try SQLiteStore(at: .inMemory)
    )
    var batched: SQLiteStore? = try SQLiteStore(at: .inMemory)
    for (number, request) in rounds.enumerated() {
      var told = request
      told.changes = { _ in }
      let expected = try await result(of: told, in: observed)
      let found = try await result(of: request, in: loaded)
      total.add(expected.counts)
      let differences = differences(of: found, from: expected, "\(number)")
      if !differences.isEmpty { return differences }
      // Of an import that fails a part is committed then. Issues come in another order.
      guard let store = batched, expected.parts["failure"] == nil else {
        batched = nil
        continue
      }
      var inBatches = request
      inBatches.options.commit = .batch
      inBatches.options.batchSize = batchSize
      let committed = try await result(of: inBatches, in: store)
      let others = self.differences(
        of: committed,
        from: expected,
        "\(number) in batches",
        [
          "issues"
        ]
      )
      if !others.isEmpty { return others }
    }
    return []
  }

  private func differences(
    of found: Result,
    from expected: Result,
    _ name: String,
    _ ignored: [String] = []
  ) -> [String] {
    let parts = expected.parts.keys.filter { !ignored.contains($0) }
    return parts.filter { expected.parts[$0] != found.parts[$0] }.sorted().map {
      "\(name) \($0):\n  \(found.parts[$0] ?? [])\n  \(expected.parts[$0] ?? [])\n\(scheme)"
    }
  }

  private func result(of request: ImportRequest, in store: SQLiteStore) async throws -> Result {
    let rejects = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).ndjson").path
    defer { try? FileManager.default.removeItem(atPath: rejects) }
    var request = request
    request.options.rejectsFile = rejects
    let importer =
      scheme.isCode
      ? Importer(mapper: try scheme.mapper(), store: store)
      : Importer(map: try scheme.map(), store: store)
    var result = Result()
    let report: ImportReport
    do {
      report = try await importer.run(request)
    } catch {
      report = error.report
      result.parts["failure"] = ["\(error.cause)"]
    }
    result.counts = report.counts
    result.parts["counts"] = ["\(report.counts)"]
    result.parts["entities"] = ["\(report.entities)"]
    result.parts["notices"] = report.notices
    result.parts["paths"] = ["\(report.unmatchedPaths)"]
    result.parts["issues"] = report.issues.map { "\($0)" }
    // Their order is that of the batches, within which what the mapper told comes first.
    result.parts["issue counts"] =
      report.issues.map {
        "\($0.code.rawValue) \($0.entity).\($0.attribute ?? "") \($0.count)"
      }.sorted()
    if let text = try? String(contentsOfFile: rejects, encoding: .utf8) {
      result.parts["rejects"] = text.split(separator: "\n").map(String.init).sorted()
    }
    guard store.model.entity(named: ImportScheme.entity) != nil else { return result }
    let columns = ["_v"] + scheme.lines.map { "quote(\($0.attribute.name))" }
    let list = columns.joined(separator: ", ")
    result.parts["rows"] = try sql(store, "SELECT \(list) FROM P ORDER BY _pk")
    result.parts["schema"] = try sql(store, "SELECT sql FROM sqlite_master ORDER BY sql")
    result.parts["faults"] = try sql(store, "PRAGMA integrity_check")
    result.parts["ledger"] = try sql(
      store,
      """
      SELECT id, source, status, committed, read, inserted, updated, unchanged, deleted, skipped, rejected
      FROM _dragoman_imports ORDER BY id
      """
    )
    return result
  }
}
