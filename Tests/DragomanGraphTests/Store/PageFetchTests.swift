import Foundation
import TestSupport
import Testing

@testable import DragomanGraph

/// Pages of a request, one behind the other.
@Suite("Fetching pages")
struct PageFetchTests {
  private static let entity = Entity(
    name: "T",
    attributes: [
      Attribute(name: "id", type: .int64), Attribute(name: "s", isIndexed: true),
      Attribute(name: "d", type: .decimal), Attribute(name: "iban").with { $0.isSensitive = true },
    ]
  )

  /// Text in both normal forms and with NUL, decimals of one value in two spellings, nulls.
  private static let rows: [[StoredValue]] = [
    [1, "\u{E9}", "10", "x"], [2, "e\u{301}", "9", "y"], [3, .null, "-1", .null],
    [4, "a\u{0}b", "10", "x"], [5, "a", .null, "x"], [6, .null, .null, .null],
    [7, "E", "100", "z"],
  ]

  private func pages(
    _ request: FetchRequest,
    _ store: SQLiteStore,
    of size: Int,
    atMost most: Int = 10_000
  ) throws -> [[StoredValue]] {
    var request = request
    var rows: [[StoredValue]] = []
    request.limit = size
    repeat {
      var count = 0
      let next = try store.forEachRow(inPage: request) { row in
        rows.append(row.values)
        count += 1
      }
      if let next {
        let again = try FetchCursor(next.text)
        #expect(count == size && again == next)
      }
      // As it comes back from a command line.
      request.after = try next.map { try FetchCursor($0.text) }
    } while request.after != nil && rows.count < most
    return rows
  }

  @Test(
    "Pages are the whole, in every order and of every size",
    arguments: ["", "s", "-s", "d,-s", "-d,s[cd]", "s[c],-id", "-s[l],d", "iban,-d"]
  )
  func whole(order: String) throws {
    let store = try store(Self.entity, Self.rows)
    let request = FetchRequest("T", sortKeys: order.isEmpty ? [] : try SortKey.parse(order))
    let whole = try store.rows(request)
    #expect(whole.count == 7)
    for size in 1...8 { #expect(try pages(request, store, of: size) == whole, "size \(size)") }
  }

  @Test("Random requests give the same by pages, from SQL and from memory")
  func random() throws {
    var tables = 0
    var longest = 0
    for round in 0..<8 {
      let seed = Seeds.seed(round)
      var sample = try RandomGraph(seed: seed)
      let store = try sample.graph.store()
      for number in 0..<40 {
        var request = sample.request()
        request.limit = nil
        request.offset = 0
        // A sum that leaves 64 bits stops whoever looks at its object, and each looks at others:
        // FetchDifferentialTests has that, and SQL's wildcard.
        do {
          longest = max(
            longest,
            try expectPages(of: request, of: sample, in: store, "seed \(seed), request \(number)")
          )
        } catch let error as StoreError
          where error.message.contains("64 bits") || error.message.hasPrefix("LIKE has")
        {
          continue
        }
        if try ResolvedRequest(request, in: store.layout).table != nil { tables += 1 }
      }
    }
    #expect(tables > 20 && longest > 5)
  }

  /// Holds the pages of a request against the whole, and what is behind the first against memory; the number of all rows.
  private func expectPages(
    of request: FetchRequest,
    of sample: RandomGraph,
    in store: SQLiteStore,
    _ place: Comment
  ) throws -> Int {
    var request = request
    let whole = try store.rows(request)
    #expect(try pages(request, store, of: 2) == whole, place)
    guard whole.count > 2 else { return whole.count }
    request.limit = 2
    request.after = try store.forEachRow(inPage: request) { _ in }
    request.limit = nil
    let memory = MemoryFetch(try ResolvedRequest(request, in: sample.graph.layout))
    let rest = try memory.rows(of: sample.graph.family(of: request.entity))
    #expect(rest == Array(whole.dropFirst(2)), place)
    #expect(try store.count(request) == whole.count - 2, place)
    return whole.count
  }

  @Test("A page goes on where the one before ended, whatever came and went in front of it")
  func changes() throws {
    let attributes = [Attribute(name: "n", type: .int64)]
    let entity = Entity(name: "T", attributes: attributes)
    let before = try store(entity, [[1], [3], [5], [7]])
    var request = FetchRequest("T", sortKeys: [SortKey("n")], limit: 2)
    request.after = try before.forEachRow(inPage: request) { _ in }
    // The row of the place is gone, one in front of it and one behind it are new.
    let later = try store(entity, [[0], [1], [4], [5], [7]])
    #expect(try later.rows(request) == [[4], [5]])
  }

  @Test("Nothing behind the last row, without a limit and with one of 0 or too many")
  func ends() throws {
    let store = try store(Self.entity, Self.rows)
    for limit in [nil, 0, 7, 8, Int.max] {
      var request = FetchRequest("T", limit: limit)
      #expect(try store.forEachRow(inPage: request) { _ in } == nil)
      request.filter = .constant(false)
      #expect(try store.forEachRow(inPage: request) { _ in } == nil)
    }
  }

  @Test("Downwards, a page that ends among the values, at the last of them, and among the nulls")
  func nulls() throws {
    let entity = Entity(
      name: "T",
      attributes: [Attribute(name: "n", type: .int64, isIndexed: true), Attribute(name: "k")]
    )
    let store = try store(
      entity,
      [[2, "a"], [.null, "b"], [1, "c"], [.null, "d"], [2, "e"], [.null, "f"]]
    )
    let request = FetchRequest("T", sortKeys: try SortKey.parse("-n"), columns: ["k"])
    let whole: [[StoredValue]] = [["a"], ["e"], ["c"], ["b"], ["d"], ["f"]]
    for size in 1...7 {
      #expect(try pages(request, store, of: size) == whole, "size \(size)")
      for rest in 1...7 {
        var request = request.with { $0.limit = size }
        request.after = try store.forEachRow(inPage: request) { _ in }
        guard request.after != nil else { continue }
        request.limit = rest == 7 ? nil : rest
        let wanted = Array(whole.dropFirst(size).prefix(request.limit ?? 7))
        #expect(try store.rows(request) == wanted)
        #expect(try store.count(request) == wanted.count)
        request.filter = try Filter(parsing: "k IN {\"b\", \"c\", \"f\"}")
        let chosen = whole.dropFirst(size).filter { ["b", "c", "f"].contains($0[0]) }
        #expect(try store.rows(request) == Array(chosen.prefix(request.limit ?? 7)))
      }
    }
  }

  @Test("The offset counts from the place, a filter may be another one")
  func offset() throws {
    let store = try store(Self.entity, Self.rows)
    var request = FetchRequest("T", sortKeys: [SortKey("id")], limit: 2, columns: ["id"])
    request.after = try store.forEachRow(inPage: request) { _ in }
    request.offset = 1
    #expect(try store.rows(request) == [[4], [5]])
    request.filter = try Filter(parsing: "s != nil")
    #expect(try store.rows(request) == [[5], [7]])
  }

  @Test("A place in another order is refused")
  func otherOrder() throws {
    let store = try store(Self.entity, Self.rows)
    var request = FetchRequest("T", sortKeys: [SortKey("s")], limit: 1)
    request.after = try store.forEachRow(inPage: request) { _ in }
    for keys in [[], [SortKey("s", ascending: false)], [SortKey("s"), SortKey("d")]] {
      request.sortKeys = keys
      let error = #expect(throws: StoreError.self) { try store.rows(request) }
      #expect(error?.message.hasPrefix("The place is one in another order") == true)
    }
    request.sortKeys = [SortKey("s")]
    request.columns = ["s"]
    request.isDistinct = true
    #expect(throws: StoreError.self) { try store.rows(request) }
  }

  @Test(
    "A text that is no place is refused",
    arguments: ["", "x", "MQ", "é", "MQoxCjE", "MQoxCjkKdGE"]
  )
  func noPlace(text: String) {
    let error = #expect(throws: StoreError.self) { try FetchCursor(text) }
    #expect(error?.code == .badRequest)
  }

  @Test("A place tells whether it holds what must not be printed")
  func sensitive() throws {
    let store = try store(Self.entity, Self.rows)
    for (key, isSensitive) in [("id", false), ("iban", true)] {
      let request = FetchRequest("T", sortKeys: [SortKey(key)], limit: 1)
      let place = try store.forEachRow(inPage: request) { _ in }
      #expect(place?.isSensitive == isSensitive)
    }
    let explanation = try store.explain(
      FetchRequest("T", filter: try Filter(parsing: "id == 3 AND iban IN {'x'} AND s == 'y'"))
    )
    #expect(explanation.sensitiveValues == [1])
    #expect(explanation.values.count == 3)
  }

  @Test("An index finds the beginning of a page")
  func index() throws {
    let store = try store(Self.entity, Self.rows)
    var request = FetchRequest("T", sortKeys: [SortKey("s")], limit: 2)
    request.after = FetchCursor(order: ["T", "s"], values: ["a"], key: 5)
    #expect(try store.rows(request).map { $0[0] } == [4, 2])
    let steps = try store.explain(request).steps
    #expect(steps.map(\.text) == ["SEARCH t0 USING INDEX T_s (s>?)"])
    request.sortKeys = []
    request.after = FetchCursor(order: ["T"], values: [], key: 5)
    #expect(
      try store.explain(request).steps.map(\.text) == [
        "SEARCH t0 USING INTEGER PRIMARY KEY (rowid>?)"
      ]
    )
  }

  /// Five thousand objects of two entities: `n` has three values and null, `b` two and null, `u` is unique, `s` and
  /// `d` tie now and then, `plain` has no index.
  private func crowd(_ count: Int = 5000) throws -> SQLiteStore {
    let base = Entity(
      name: "T",
      attributes: [
        Attribute(name: "n", type: .int64, isIndexed: true), Attribute(name: "u"),
        Attribute(name: "s", isIndexed: true),
        Attribute(name: "d", type: .decimal, isIndexed: true),
        Attribute(name: "plain", type: .int64),
        Attribute(name: "b", type: .bool, isIndexed: true),
      ],
      uniqueKeys: [["u"]]
    )
    let store = try SQLiteStore(at: .inMemory)
    try store.grow(to: Model(entities: [base, Entity(name: "Sub", attributes: [], parent: "T")]))
    try store.write { session in
      try session.begin()
      try session.database.execute(
        sql: """
          WITH RECURSIVE m(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM m WHERE i < \(count - 1))
          INSERT INTO T (_pk, _v, _entity, n, u, s, d, plain, b)
          SELECT i + 1, 1, iif(i % 10, 'T', 'Sub'), nullif(i % 4, 0), 'u' || (i * 7919 % \(count)),
            's' || (i * 31 % 900), (i % 50) || iif(i % 2, '', '.0'), i, nullif(i % 3, 2) FROM m
          """
      )
      try session.commit()
    }
    return store
  }

  @Test(
    "Pages of many objects that one index chooses and another orders are the whole too",
    arguments: [
      "", "n", "-n", "u", "-u", "s", "-s", "d", "-d", "plain", "-plain", "n,u", "-n,u", "-s[c]",
      "b", "-b",
    ]
  )
  func crowds(order: String) throws {
    let store = try crowd()
    let predicates = [
      "", "n == nil", "n > 1", "n != 2 AND plain > 4000", "s BEGINSWITH \"s1\"", "u > \"u2\"",
      "d BETWEEN {10, 40}", "n == 1 OR plain < 100", "plain == -1", "n >= 1 AND plain >= 4990",
      "n < 2", "n BETWEEN {2, 3}", "n > 1 AND n != nil", "b == true", "b != false", "s < \"s5\"",
      "s == \"s7\"", "n IN {1, 3}", "n IN {2, nil}", "s BETWEEN {\"s1\", \"s3\"} AND s != nil",
    ]
    for (entity, predicate) in predicates.flatMap({ [("T", $0), ("Sub", $0)] }) {
      let request = FetchRequest(
        entity,
        filter: predicate.isEmpty ? nil : try Filter(parsing: predicate),
        sortKeys: order.isEmpty ? [] : try SortKey.parse(order)
      )
      let whole = try store.rows(request)
      #expect(try pages(request, store, of: 700) == whole, "\(entity) \(predicate)")
      let first = request.with { $0.limit = 20 }
      var rows: [[StoredValue]] = []
      _ = try store.forEachRow(inPage: first) { rows.append($0.values) }
      #expect(rows == Array(whole.prefix(20)), "\(entity) \(predicate)")
    }
  }

  @Test(
    "A walk finds what a sort would, where there is an index to walk along",
    arguments: [
      ("n IN {1, 2}", "", true), ("n IN {1, 2}", "u", true), ("n > 0", "-u", true),
      ("", "-n", true), ("n >= 2", "-n", true), ("n > 0", "-s", true),
      // Yes and no; values that the condition leaves out are not looked at.
      ("", "-b", true), ("n > 0", "-b", true), ("n < 2", "-n", true),
      ("n IN {1, 2}", "-n", true), ("s < \"s5\"", "-s", true),
      // Few are chosen by an index.
      ("n == nil", "u", true), ("s > \"s9\"", "", true), ("n == nil", "-d", true),
      // SQLite goes along the order by itself, no index holds the order, or decimals of two spellings.
      ("n == 1", "", false), ("", "n", false), ("n > 0", "u", false), ("n > 0", "plain", false),
      ("n > 0", "-d", false),
      ("plain > 7", "u", false),
      // What is chosen stands at the end of the order.
      ("n IN {2, 3} AND plain >= 4990", "u", true),
    ]
  )
  func walks(predicate: String, order: String, isWalked: Bool) throws {
    let store = try crowd()
    let request = FetchRequest(
      "T",
      filter: predicate.isEmpty ? nil : try Filter(parsing: predicate),
      sortKeys: order.isEmpty ? [] : try SortKey.parse(order),
      limit: 51
    )
    let plans = try ResolvedRequest(request, in: store.layout).parts(after: nil)
      .map { FetchPlan($0, in: store.layout, readsPlaces: true) }
    try store.withSnapshot { snapshot in
      let page = try PageWalk.shortened(plans, of: request, store.layout, snapshot.database)
      #expect((page.first?.rowsSQL != plans.first?.rowsSQL) == isWalked)
    }
  }

  @Test(
    "Where a look for the few, or a walk, takes too long, the page is that of the statement",
    arguments: ["", "u", "-u", "-s", "-n", "-b", "s"]
  )
  func patience(order: String) throws {
    let store = try crowd(60_000)
    for predicate in [
      "n >= 1 AND plain < 0", "n >= 1 AND plain > 59990", "s > \"s1\" AND plain == 17",
      "b == true AND plain >= 59000", "n IN {1, 2} AND plain < 40",
    ] {
      var request = FetchRequest(
        "T",
        filter: try Filter(parsing: predicate),
        sortKeys: order.isEmpty ? [] : try SortKey.parse(order)
      )
      let whole = try store.rows(request)
      #expect(
        try pages(request, store, of: 3, atMost: 60) == Array(whole.prefix(60)),
        "\(predicate)"
      )
      // Behind a place of another condition, in the middle of the order.
      var middle = request.with { $0.filter = try? Filter(parsing: "plain < 30000") }
      middle.limit = 1
      middle.offset = 0
      request.after = try store.forEachRow(inPage: middle) { _ in }
      let rest = try store.rows(request)
      #expect(
        try pages(request, store, of: 3, atMost: 60) == Array(rest.prefix(60)),
        "\(predicate)"
      )
    }
  }
}
