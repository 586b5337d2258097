import Foundation
import TestSupport
import Testing

@testable import DragomanGraph

/// Random requests over random graphs: the store and memory must give the same answer.
///
/// `DRAGOMAN_FETCH_ROUNDS` asks for more rounds than the default, `DRAGOMAN_SEED` for one seed.
@Suite("Fetch, SQL against memory")
struct FetchDifferentialTests {
  private static let requestsPerRound = 50

  @Test("SQL and memory give the same ids, rows, counts and errors")
  func agrees() throws {
    let rounds = Seeds.setting("DRAGOMAN_FETCH_ROUNDS") ?? 12
    var answered = 0
    var selective = 0
    for round in 0..<rounds {
      let seed = Seeds.seed(Int(round))
      var sample = try RandomGraph(seed: seed)
      let store = try sample.graph.store()
      for number in 0..<Self.requestsPerRound {
        let request = sample.request()
        let place: Comment = "seed \(seed), request \(number): \(request)"
        let memory = Result { try Self.answer(request, sample.graph) }
        let sql = Result { try Self.answer(request, store) }
        switch (memory, sql) {
        case (.success(let memory), .success(let sql)):
          #expect(memory == sql, place)
          answered += 1
          if !memory.rows.isEmpty, request.filter != nil { selective += 1 }
        case (.failure(let a as StoreError), .failure(let b as StoreError)):
          #expect(a.message == b.message, place)
          // SQL's wildcard is refused, too.
          #expect(a.message.contains("64 bits") || a.message.hasPrefix("LIKE has"), place)
        case (.failure(let error as StoreError), _), (_, .failure(let error as StoreError)):
          // Only where a sum leaves 64 bits may one of them not have looked at the object.
          #expect(error.message.contains("64 bits"), place)
        default:
          Issue.record(place)
        }
      }
    }
    #expect(answered > Int(rounds) * Self.requestsPerRound * 9 / 10)
    #expect(selective > Int(rounds) * Self.requestsPerRound / 5)
  }

  private struct Answer: Equatable {
    var ids: [ObjectID] = []
    var entities: [String] = []
    var rows: [[StoredValue]]
    var count: Int
    var exists: Bool
  }

  private static func answer(_ request: FetchRequest, _ graph: ObjectGraph) throws -> Answer {
    let fetch = MemoryFetch(try ResolvedRequest(request, in: graph.layout))
    let family = try graph.family(of: request.entity)
    let rows = try fetch.rows(of: family)
    var answer = Answer(rows: rows, count: rows.count, exists: !rows.isEmpty)
    if try ResolvedRequest(request, in: graph.layout).table == nil {
      let objects = try fetch.objects(of: family)
      answer.ids = objects.map(\.objectID)
      answer.entities = objects.map(\.entity.name)
    }
    return answer
  }

  private static func answer(_ request: FetchRequest, _ store: SQLiteStore) throws -> Answer {
    let isTable = try ResolvedRequest(request, in: store.layout).table != nil
    var answer = Answer(
      rows: [],
      count: try store.count(request),
      exists: try store.exists(request)
    )
    try store.forEachRow(request) { row in
      answer.rows.append(row.values)
      guard !isTable else { return }
      answer.ids.append(row.objectID)
      answer.entities.append(row.entityName)
    }
    return answer
  }
}
