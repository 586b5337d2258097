import DragomanGraph
import GRDB
import Synchronization
import Testing

@testable import Dragoman
@testable import DragomanGraph

@Suite("What links cost") struct LinkCostTests {
  /// Statements by their first word.
  private final class Counter: Sendable {
    let counts = Mutex<[String: Int]>([:])

    func add(_ sql: String) {
      let word = sql.split(separator: " ").first.map(String.init) ?? ""
      counts.withLock { $0[word, default: 0] += 1 }
    }
  }

  private func statements(records: Int, times: Int) async throws -> [String: Int] {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Company: { unique: id, attributes: { id: { type: int64 }, name: name } }
        Phone: { unique: [owner, kind], attributes: { kind: kind, number: number } }
        Team: { unique: id, attributes: { id: { type: int64 } } }
        Person:
          unique: id
          attributes: { id: { type: int64 } }
          relationships:
            company: { entity: Company, kind: toOne }
            boss: { entity: Person, kind: toOne, key: { id: boss } }
            phones: { entity: Phone, kind: toMany, inverse: owner }
            teams: { entity: Team, kind: toMany, key: { id: teams }, onUnresolved: stub }
      sources: { json: { format: json, entity: Person } }
      """
    )
    let people = (0..<records).map {
      #"{"id":\#($0),"company":{"id":\#($0 % 7),"name":"c"},"boss":\#($0 / 2),"#
        + #""phones":[{"kind":"a","number":"1"},{"kind":"b","number":"2"}],"teams":[1,\#($0 % 5)]}"#
    }
    let feed = "[\(people.joined(separator: ","))]"
    for _ in 1..<times { try await fixture.run(feed) }
    let counter = Counter()
    try fixture.store.write { session in
      session.database.trace { counter.add($0.description) }
    }
    let report = try await fixture.run(feed)
    #expect(report.counts.read == records)
    #expect(times == 1 || report.counts.unchanged == records)
    return counter.counts.withLock { $0 }
  }

  @Test("No SELECT a record; a statement a row or link, and a few a batch", arguments: [1, 2])
  func counts(times: Int) async throws {
    let few = try await statements(records: 100, times: times)
    let many = try await statements(records: 400, times: times)
    #expect(few["SELECT"] == many["SELECT"])
    #expect(few["DELETE"] == many["DELETE"])
    // Four rows a record and two lists of two. The rows of the one list say their links themselves. The
    // references of the other wait for a stub at first; later they are staged, with their owner, which
    // may have other links.
    let inserts = (many["INSERT"] ?? 0) - (few["INSERT"] ?? 0)
    #expect(inserts == 300 * (times == 1 ? 4 + 2 + 2 : 4 + 2 + 1))
    // Records are written in runs.
    #expect((1...8).contains(many["SAVEPOINT"] ?? 0))
  }
}
