import Foundation
import TestSupport
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Records with links into empty tables, loaded as far as that goes, against the same records one by one: who is told
/// of every change has them so.
@Suite("Imports of records with links into empty tables, loaded against record by record")
struct LoadedLinksTests {
  @Test("Loading orders with lines comes to the same objects, links, counts, issues and rejects")
  func agree() async throws {
    var total = ImportLedgerEntry.Counts()
    // The last one ends with too many rejects, behind an order that has got lines and nothing else.
    for seed in Seeds.seeds(50) + [2_535_992_034_191_412_249] {
      var random = SplitMix(state: seed)
      let sample = OrdersCase(&random)
      let differences = try await sample.differences(&total)
      let feeds = sample.feeds.joined(separator: "\n")
      #expect(differences == [], "DRAGOMAN_SEED=\(seed)\n\(sample.map)\n\(feeds)")
    }
    guard Seeds.asked == nil else { return }
    let shares = [total.inserted, total.updated, total.unchanged, total.skipped, total.rejected]
    #expect(shares.allSatisfy { $0 * 400 > total.read }, "\(total)")
  }

  @Test("Orders that come again late, and change lines of which nothing was looked up so far")
  func again() async throws {
    let fixture = try ImportFixture(
      OrdersCase.map(lineKey: "ordr, n", lines: ", onDelete: cascade, onUnlink: delete")
    )
    let orders = (1...3_000).map { number in
      #"{"no":\#(number),"note":"a","lines":[{"n":1,"q":1},{"n":2,"q":2}]}"#
    }
    let late = [
      #"{"no":7,"note":"b","lines":[{"n":2,"q":9},{"n":3,"q":3}]}"#, #"{"no":7,"lines":[]}"#,
      #"{"no":8,"note":null,"lines":[{"n":1,"q":1},{"n":1,"q":5}]}"#,
    ]
    let feed = #"{"orders":[\#((orders + late).joined(separator: ","))]}"#
    let report = try await fixture.run(feed)
    #expect(report.summary == "read 3003, inserted 3000, updated 3")
    let lines =
      "SELECT o.no, l.n, l.q FROM Line l JOIN Ordr o ON o._pk = l.ordr WHERE o.no IN (7, 8)"
    #expect(try sql(fixture.store, lines + " ORDER BY 1, 2") == ["8|1|5"])
    #expect(try sql(fixture.store, "SELECT count(*) FROM Line") == ["5997"])
    #expect(try sql(fixture.store, "PRAGMA integrity_check") == ["ok"])
    #expect(try await fixture.run(feed).summary.hasPrefix("read 3003, updated 5, unchanged 2998"))
  }

  private static let mixed = """
    version: 1
    entities:
      Root:
        unique: k
        attributes: { k: { type: int64 } }
        relationships: { parts: { entity: Part, kind: toMany, inverse: root } }
      Part: { unique: k, attributes: { k: { type: int64 } } }
    sources:
      roots: { format: json, entity: Root, records: /roots }
      parts: { format: json, entity: Part, records: /parts }
    """

  @Test(
    "Records about the same objects are written in their order where one of the tables has rows",
    arguments: [
      (#"{"roots":[{"k":9}]}"#, #"{"k":1,"parts":[{"k":3}]},{"k":1,"parts":[]}"#, "3|0"),
      (
        #"{"roots":[{"k":9}]}"#,
        #"{"k":1,"parts":[{"k":3}]},{"k":2,"parts":[{"k":3}]},{"k":2,"parts":[]}"#, "3|0"
      ),
      (
        #"{"parts":[{"k":9}]}"#,
        #"{"k":1,"parts":[{"k":4}]},{"k":1,"parts":[{"k":3}]},{"k":2,"parts":[{"k":3}]}"#, "3|2"
      ),
    ]
  )
  func mixed(before: String, roots: String, owner: String) async throws {
    let fixture = try ImportFixture(Self.mixed)
    _ = try await fixture.run(before)
    _ = try await fixture.run(#"{"roots":[\#(roots)]}"#)
    let owners =
      "SELECT p.k, coalesce(r.k, 0) FROM Part p LEFT JOIN Root r ON r._pk = p.root WHERE p.k = 3"
    #expect(try sql(fixture.store, owners) == [owner])
  }
}

/// A map of orders with lines and options nested in them, and feeds for it, some of which speak of the same objects.
struct OrdersCase {
  let map: String
  let feeds: [String]
  let mode: EntityWriter.Mode?
  let maximumRejects: Int?

  static func map(
    lineKey: String,
    line: String = "",
    order: String = "",
    lines: String = "",
    customer: String = "",
    option: String = ""
  ) -> String {
    """
    version: 1
    defaults: { onMissing: keep }
    entities:
      Customer: { unique: id, attributes: { id: { type: string }, name: { type: string } } }
      Ordr:
        unique: no
        \(order)
        attributes:
          no: { type: int64 }
          note: { type: string }
          at: { type: int64 }
        relationships:
          customer: { entity: Customer, kind: toOne, key: { id: customer } \(customer) }
          lines: { entity: Line, kind: toMany, from: lines, inverse: ordr \(lines) }
      Line:
        \(lineKey.isEmpty ? "" : "unique: [\(lineKey)]")
        \(line)
        attributes:
          n: { type: int64 }
          sku: { type: string }
          q: { type: int32, min: 0 }
        relationships:
          options: { entity: Choice, kind: toMany, from: options, inverse: line \(option) }
      Choice: { unique: [line, word], attributes: { word: { type: string }, extra: { type: int64 } } }
    sources:
      customers: { format: json, entity: Customer, records: /customers }
      orders: { format: json, entity: Ordr, records: /orders }
      late: { format: json, entity: Customer, records: /late }
    """
  }

  init(_ random: inout SplitMix) {
    func pick(_ words: [String]) -> String { words.randomElement(using: &random) ?? "" }
    let lineKey = pick(["ordr, n", "ordr, n", "sku", ""])
    var lines = pick(["", ", onDelete: cascade, onUnlink: delete", ", assign: union"])
    if random.chance(40) { lines += ", ordered: true" }
    map = Self.map(
      lineKey: lineKey,
      order: pick(["", "", "version: at", "overwriteExisting: false"]),
      lines: lines,
      customer: pick([
        "", ", onUnresolved: stub", ", onUnresolved: pending", ", onUnresolved: clear",
      ]),
      option: pick(["", ", ordered: true", ", onDelete: cascade, onUnlink: delete"])
    )
    mode =
      random.chance(70)
      ? nil : [.upsert, .insert, .ignore, .replace].randomElement(using: &random)
    maximumRejects = random.chance(15) ? .random(in: 0...4, using: &random) : nil
    let span = Int.random(in: 5...200, using: &random)
    feeds = (0..<Int.random(in: 1...3, using: &random)).map { _ in Self.feed(span, &random) }
  }

  private static func feed(_ span: Int, _ random: inout SplitMix) -> String {
    func customers(_ count: Int) -> String {
      let all = (0..<count).map { _ in
        let id = Int.random(in: 0...12, using: &random)
        return #"{"id":"c\#(id)","name":"\#(Int.random(in: 0...3, using: &random))"}"#
      }
      return "[\(all.joined(separator: ","))]"
    }
    let orders = (0..<Int.random(in: 0...50, using: &random)).map { _ in order(span, &random) }
    var parts = [#""orders":[\#(orders.joined(separator: ","))]"#]
    if random.chance(60) { parts.insert(#""customers":\#(customers(6))"#, at: 0) }
    if random.chance(40) { parts.append(#""late":\#(customers(6))"#) }
    return "{\(parts.joined(separator: ",\n"))}"
  }

  private static func order(_ span: Int, _ random: inout SplitMix) -> String {
    func number(_ bound: Int) -> Int { .random(in: 0...bound, using: &random) }
    var members = [random.chance(2) ? #""no":"x""# : #""no":\#(number(span))"#]
    if random.chance(70) { members.append(#""note":"n\#(number(2))""#) }
    if random.chance(70) { members.append(#""at":\#(number(5))"#) }
    if random.chance(60) { members.append(#""customer":"c\#(number(14))""#) }
    if random.chance(5) { members.append(#""customer":null"#) }
    if random.chance(80) {
      let lines = (0..<number(3)).map { place in
        var line = [#""n":\#(random.chance(90) ? place : number(2))"#]
        line.append(#""sku":"s\#(number(20 * span))""#)
        if random.chance(80) { line.append(#""q":\#(random.chance(98) ? number(9) : -1)"#) }
        if random.chance(40) {
          let options = (0..<number(2)).map { _ in
            #"{"word":"w\#(number(4))","extra":\#(number(3))}"#
          }
          line.append(#""options":[\#(options.joined(separator: ","))]"#)
        }
        return "{\(line.joined(separator: ","))}"
      }
      members.append(#""lines":[\#(lines.joined(separator: ","))]"#)
    }
    return "{\(members.joined(separator: ","))}"
  }

  /// In what the two ways differ.
  func differences(_ total: inout ImportLedgerEntry.Counts) async throws -> [String] {
    var results: [[String: [String]]] = []
    for observer in [nil, { @Sendable _ in }] as [(@Sendable (ImportChange) throws -> Void)?] {
      let fixture = try ImportFixture(map)
      var result: [String: [String]] = [:]
      for round in 1...2 {
        let rejects = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).ndjson")
          .path
        defer { try? FileManager.default.removeItem(atPath: rejects) }
        var request = ImportRequest(
          feeds.enumerated().map { .bytes(Array($1.utf8), name: "feed\($0)") },
          mode: mode
        )
        request.changes = observer
        request.options.maximumRejects = maximumRejects
        request.options.rejectsFile = rejects
        let report: ImportReport
        do {
          report = try await Importer(map: fixture.map, store: fixture.store).run(request)
        } catch {
          report = error.report
          result["\(round) failure"] = ["\(error.cause)"]
        }
        if observer == nil { total.add(report.counts) }
        result["\(round) counts"] = ["\(report.counts)"]
        result["\(round) entities"] = report.entitySummary
        // Whether two records contradict each other on a list is told when their links are stored, which depends on what
        // else is stored together.
        result["\(round) issues"] =
          report.issues.filter { $0.code != .contradiction }.map {
            "\($0.code.rawValue) \($0.entity).\($0.attribute ?? "") \($0.count)"
          }.sorted()
        if let text = try? String(contentsOfFile: rejects, encoding: .utf8) {
          result["\(round) rejects"] = text.split(separator: "\n").map(String.init).sorted()
        }
        result["\(round) links"] = report.linkSummary
        // How far the reader is when an import fails is chance.
        if result["\(round) failure"] == nil { result["\(round) notices"] = report.notices }
        guard fixture.store.model.entity(named: "Ordr") != nil else { continue }
        for (name, query) in Self.contents {
          result["\(round) \(name)"] = try sql(fixture.store, query)
        }
      }
      results.append(result)
    }
    return results[1].keys.filter { results[0][$0] != results[1][$0] }.sorted().map {
      "\($0):\n  \(results[0][$0] ?? [])\n  \(results[1][$0] ?? [])"
    }
  }

  private static let contents = [
    "customers": "SELECT id, quote(name) FROM Customer ORDER BY 1",
    "orders": """
    SELECT no, quote(note), quote(at), quote(c.id) FROM Ordr LEFT JOIN Customer c ON c._pk = customer ORDER BY 1
    """,
    "lines": """
    SELECT quote(o.no), quote(n), quote(sku), quote(q), count(*) FROM Line LEFT JOIN Ordr o ON o._pk = ordr
    GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    """,
    "options": """
    SELECT quote(o.no), quote(n), quote(sku), quote(word), quote(extra), count(*) FROM Choice
    LEFT JOIN Line l ON l._pk = line LEFT JOIN Ordr o ON o._pk = l.ordr
    GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
    """,
    "schema": "SELECT sql FROM sqlite_master ORDER BY sql", "faults": "PRAGMA integrity_check",
    "dangling": "PRAGMA foreign_key_check",
    "ledger": """
    SELECT id, source, status, committed, read, inserted, updated, unchanged, deleted, skipped, rejected
    FROM _dragoman_imports ORDER BY id
    """,
  ]
}
