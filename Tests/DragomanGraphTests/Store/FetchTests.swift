import Testing

@testable import DragomanGraph

@Suite("Fetching from a store")
struct FetchTests {
  private static let person = Entity(
    name: "Person",
    attributes: [
      Attribute(name: "id", type: .int64), Attribute(name: "name", isIndexed: true),
      Attribute(name: "pay", type: .decimal, rules: AttributeRules(scale: 2)),
      Attribute(name: "ok", type: .bool),
      Attribute(name: "born", type: .date), Attribute(name: "raw", type: .data),
      Attribute(name: "odd\"name").with { $0.column = "odd\"column" },
    ],
    uniqueKeys: [["id"]]
  )
  private static let rows: [[StoredValue]] = [
    [
      .integer(1), .text("Ada"), .text("900.00"), .integer(1), .text("1815-12-10"), .blob([1]),
      .text("a"),
    ],
    [.integer(2), .text("Bo\u{0}b"), .text("1000.00"), .integer(0), .null, .blob([]), .text("b")],
    [.integer(3), .null, .text("-5.25"), .null, .text("1999-01-01"), .null, .null],
    [.integer(4), .text("ada"), .null, .null, .null, .null, .text("")],
  ]

  private func ids(_ predicate: String, _ variables: [String: Filter.Operand] = [:]) throws
    -> [Int64]
  {
    let filter = try Filter(parsing: predicate).substituting(variables)
    return try store(Self.person, Self.rows).rows(
      FetchRequest("Person", filter: filter, columns: ["id"])
    ).compactMap { if case .integer(let id) = $0[0] { id } else { nil } }
  }

  @Test(
    "A predicate selects what NSPredicate would",
    arguments: [
      ("TRUEPREDICATE", [1, 2, 3, 4]), ("FALSEPREDICATE", []),
      ("name == 'Ada'", [1]), ("name ==[c] 'ADA'", [1, 4]), ("name != 'Ada'", [2, 3, 4]),
      ("name == nil", [3]), ("name != nil", [1, 2, 4]), ("NOT name == 'Ada'", [2, 3, 4]),
      ("name == 'Bo\\u0000b'", [2]), ("name ENDSWITH[c] '\\u0000B'", [2]),
      ("name IN {'Bo\\u0000b', 'Ada', nil}", [1, 2, 3]), ("name IN {}", []),
      ("name IN[c] {'ADA'}", [1, 4]), ("NOT name IN {'Ada'}", [2, 3, 4]),
      ("name BEGINSWITH 'A'", [1]), ("name BEGINSWITH ''", [1, 2, 4]),
      ("name CONTAINS 'd'", [1, 4]), ("name CONTAINS ''", [1, 2, 4]),
      ("name LIKE 'A*'", [1]), ("name LIKE[c] '?D?'", [1, 4]), ("name MATCHES '[Aa]da'", [1, 4]),
      ("pay > 900", [2]), ("pay >= 900", [1, 2]), ("pay < 0", [3]), ("NOT pay > 900", [1, 3, 4]),
      ("pay == 900", [1]), ("pay == 900.001", []), ("pay BETWEEN {-5.25, 900.0}", [1, 3]),
      ("pay IN {900, '1000'}", [1, 2]), ("1000 <= pay", [2]),
      ("ok == TRUE", [1]), ("ok != YES", [2, 3, 4]), ("ok == 0", [2]),
      ("born > '1900-01-01'", [3]), ("raw == 'AQ=='", [1]), ("raw == ''", [2]),
      ("name == $n AND id < $m", [1]), ("id == id AND name == name", [1, 2, 3, 4]), ("id < id", []),
    ] as [(String, [Int64])]
  )
  func selects(predicate: String, expected: [Int64]) throws {
    #expect(try ids(predicate, ["n": "Ada", "m": "3"]) == expected)
  }

  @Test("Rows come in the order of the sort keys, then of their ids")
  func order() throws {
    let store = try store(Self.person, Self.rows)
    #expect(try store.keys(FetchRequest("Person", sortKeys: [SortKey("pay")])) == [4, 3, 1, 2])
    let keys = [SortKey("ok", ascending: false), SortKey("id", ascending: false)]
    #expect(try store.keys(FetchRequest("Person", sortKeys: keys)) == [1, 2, 4, 3])
    #expect(try store.keys(FetchRequest("Person", sortKeys: [SortKey("ok")])) == [3, 4, 2, 1])
  }

  @Test("Limit and offset cut rows and counts alike")
  func slices() throws {
    let store = try store(Self.person, Self.rows)
    let request = FetchRequest("Person", limit: 2, offset: 1)
    #expect(try store.keys(request) == [2, 3])
    #expect(try store.count(request) == 2)
    #expect(try store.keys(FetchRequest("Person", offset: 3)) == [4])
    #expect(try store.count(FetchRequest("Person", offset: 9)) == 0)
    #expect(try store.count(FetchRequest("Person", limit: 0)) == 0)
    #expect(try store.count(FetchRequest("Person")) == 4)
  }

  @Test("Values come back whole, by the columns asked for")
  func columns() throws {
    let store = try store(Self.person, Self.rows)
    #expect(try store.rows(FetchRequest("Person")) == Self.rows)
    let request = FetchRequest("Person", limit: 1, columns: ["raw", "odd\"name"])
    #expect(try store.rows(request) == [[.blob([1]), .text("a")]])
    #expect(try store.attributes(of: request).map(\.name) == ["raw", "odd\"name"])
  }

  @Test("The SQL holds no value and quotes every name")
  func sql() throws {
    let filter = try Filter(
      parsing: "NOT (pay > 1 OR name BEGINSWITH 'A') AND name IN {'a', nil} AND %K == 'x'",
      arguments: [.name("odd\"name")]
    )
    let request = FetchRequest(
      "Person",
      filter: filter,
      sortKeys: [SortKey("pay", ascending: false)],
      limit: 5,
      columns: ["id"]
    )
    let plan = try FetchPlan(request, in: ModelLayout(Model(entities: [Self.person])))
    #expect(
      plan.rowsSQL == """
        SELECT t0._pk, t0."id" FROM "Person" AS t0 WHERE (((t0."pay" > ? COLLATE DRAGOMAN_DECIMAL \
        OR (t0."name" >= ? AND t0."name" < ?))) IS NOT TRUE \
        AND (t0."name" IN (SELECT dragoman_value(value) FROM json_each(?)) OR t0."name" IS NULL) \
        AND t0."odd""column" = ?) \
        ORDER BY t0."pay" COLLATE DRAGOMAN_DECIMAL DESC, t0._pk LIMIT ? OFFSET ?
        """
    )
    #expect(
      plan.arguments == [
        .text("1.00"), .text("A"), .text("B"), .text("[\"ta\"]"), .text("x"), .integer(5),
        .integer(0),
      ]
    )
  }

  @Test(
    "A request that does not fit the model is refused with what to do",
    arguments: [
      ("nmae == 'x'", "The entity Person has no attribute \"nmae\". (did you mean \"name\"?)"),
      ("name.x == 'x'", "The path name.x cannot go on behind name, which is a string."),
      (
        "ANY name == 'x'",
        "ANY wants a path through a to-many relationship; name leads to one value."
      ),
      (
        "id == $x",
        "The variable $x of the predicate has no value. (give it one: "
          + "`substituting([\"x\": …])`)"
      ),
      ("1 == 1", "A comparison names no attribute on either side."),
      ("id CONTAINS '1'", "CONTAINS wants a text attribute; id is an int64."),
      ("pay ==[c] '1'", "[c] and [d] want a text attribute; pay is a decimal."),
      ("ok > FALSE", "> wants an order; ok is a bool, which has none."),
      ("id < nil", "< cannot compare id with nil. (nil goes with == and != only)"),
      ("id BETWEEN {1}", "BETWEEN wants two bounds, {low, high}; found 1."),
      ("id IN 1", "IN wants a list, {a, b}."),
      ("id == {1}", "id is compared with a list where one value fits."),
      ("name LIKE 1", "LIKE wants a string on its right side."),
      (
        "name LIKE '%a%'",
        "LIKE has the wildcards * and ?; in \"%a%\" there is neither. "
          + "(write LIKE \"*a*\", or == for the very text)"
      ),
      (
        "name MATCHES '('", "MATCHES cannot be used: \"(\" is no valid regular expression."
      ),
      ("'Ada' BEGINSWITH name", "BEGINSWITH wants the attribute on its left side."),
      ("id == name", "id (int64) and name (string) cannot be compared with one another."),
    ]
  )
  func refused(predicate: String, message: String) throws {
    let filter = try Filter(parsing: predicate)
    let error = #expect(throws: StoreError.self) {
      try FetchPlan(
        FetchRequest("Person", filter: filter),
        in: ModelLayout(Model(entities: [Self.person]))
      )
    }
    #expect(error?.description == "store.request: " + message)
  }

  @Test("Unknown entities, sort keys, columns and negative limits are refused")
  func refusedNames() throws {
    let model = ModelLayout(Model(entities: [Self.person]))
    let requests = [
      FetchRequest("Persn"), FetchRequest("Person", sortKeys: [SortKey("x")]),
      FetchRequest("Person", columns: ["id", "id"]), FetchRequest("Person", limit: -1),
      FetchRequest("Person", columns: ["nome"]), FetchRequest("Person", offset: -1),
    ]
    let messages = requests.map { request -> String? in
      #expect(throws: StoreError.self) { try FetchPlan(request, in: model) }?.description
    }
    let known = "it has id, name, pay, ok, born, raw, odd\"name"
    #expect(
      messages == [
        "store.request: There is no entity \"Persn\". (did you mean \"Person\"?)",
        "store.request: The entity Person has no attribute \"x\". (\(known))",
        "store.request: The column \"id\" is named twice.",
        "store.request: The limit and the offset of a fetch cannot be negative.",
        "store.request: The entity Person has no attribute \"nome\". (did you mean \"name\"?)",
        "store.request: The limit and the offset of a fetch cannot be negative.",
      ]
    )
  }

  @Test("Wide predicates run, deep and huge ones are refused, none crashes")
  func sizes() throws {
    let store = try store(Self.person, Self.rows)
    let wide = Filter.or(Array(repeating: .where("id", .equalTo, 1), count: 5_000))
    #expect(try store.keys(FetchRequest("Person", filter: wide)) == [1])
    let huge = Filter.or(Array(repeating: .where("id", .equalTo, 1), count: 50_000))
    #expect(throws: StoreError.self) { try store.count(FetchRequest("Person", filter: huge)) }
    let list = Filter.where("id", .in, .values((1...100_000).map { .integer($0) }))
    #expect(try store.count(FetchRequest("Person", filter: list)) == 4)
    for depth in [5, 15, 31, 99, 500] {
      var deep = Filter.where("id", .equalTo, 1)
      for _ in 0..<depth { deep = .not(.and([.where("id", .greaterThan, 0), deep])) }
      do {
        #expect(try store.count(FetchRequest("Person", filter: deep)) == (depth % 2 == 0 ? 1 : 3))
      } catch {
        #expect(error.code == .badRequest && depth > 31)
        #expect(error.message.hasPrefix("The predicate is nested deeper than 64 levels"))
      }
    }
  }

  @Test("A chain that code makes pair by pair is not deep, whichever way it leans")
  func chains() throws {
    let store = try store(Self.person, Self.rows)
    let tests = (0..<1_000).map { Filter.where("id", .equalTo, .value(.number("\($0)"))) }
    let left = tests.reduce(.constant(false)) { .or([$0, $1]) }
    let right = tests.reversed().reduce(.constant(false)) { .or([$1, $0]) }
    let twice = (0..<1_000).reduce(left) { filter, _ in .not(.not(filter)) }
    for filter in [left, right, twice] {
      #expect(try store.count(FetchRequest("Person", filter: filter)) == 4)
    }
    // As deep as the stack of a thread would hold no calls.
    let folded = (0..<9_500).reduce(Filter.constant(false)) { .or([$0, tests[$1 % 1_000]]) }
    #expect(!folded.looksFurther { $0 == "id" })
    #expect(Filter.or([folded, .where("x", .equalTo, 1)]).looksFurther { $0 == "id" })
  }

  @Test("ANDs and ORs in turns go to the depth that is promised, in any place of a statement")
  func alternation() throws {
    let store = try store(Self.person, Self.rows)
    var deep = Filter.where("id", .equalTo, 1)
    for _ in 0..<31 {
      deep = .or([.where("id", .equalTo, 4), deep])
      deep = .and([.where("id", .greaterThan, 0), deep])
    }
    let request = FetchRequest("Person", filter: deep, limit: 5)
    #expect(try store.count(request) == 2 && store.exists(request))
    #expect(try store.rows(request.with { $0.columns = ["id"] }) == [[1], [4]])
    let table = request.with {
      $0.columns = ["name"]
      $0.isDistinct = true
    }
    #expect(try store.count(table) == 2)
  }

  @Test(
    "A number is compared with integers by its value, whole or not",
    arguments: [
      ("id > 1.5", [2, 3, 4]), ("id >= 1.5", [2, 3, 4]), ("id < 1.5", [1]), ("id <= 1.5", [1]),
      ("id < -1.5", []), ("id > -0.5", [1, 2, 3, 4]), ("1.5 < id", [2, 3, 4]),
      ("id == 1.5", []), ("id != 1.5", [1, 2, 3, 4]), ("NOT id == 1.5", [1, 2, 3, 4]),
      ("id < 9223372036854775808", [1, 2, 3, 4]), ("id > 9223372036854775807.5", []),
      ("id > -1e30", [1, 2, 3, 4]), ("id >= 9e999", []), ("id IN {1.5, 2, 1e30}", [2]),
      ("id IN {1.5}", []), ("id BETWEEN {1.5, 3.5}", [2, 3]),
      ("id BETWEEN {-1e30, 1e30}", [1, 2, 3, 4]),
      ("id BETWEEN {1e30, 1e31}", []), ("id BETWEEN {1, 2.5}", [1, 2]), ("id == 2.0", [2]),
      ("id > $x", [2, 3, 4]),
    ] as [(String, [Int64])]
  )
  func numbersBesideIntegers(predicate: String, expected: [Int64]) throws {
    #expect(try ids(predicate, ["x": "1.5"]) == expected)
  }

  @Test("A number that is no integer keeps the meaning of null, in the store and in memory")
  func fractionsAndNull() throws {
    let graph = ObjectGraph(
      Model(entities: [Entity(name: "T", attributes: [Attribute(name: "n", type: .int32)])])
    )
    for value in [StoredValue.null, -1, 0, 1] { try graph.add("T", ["n": value]) }
    let store = try graph.store()
    for (predicate, count) in [
      ("n < 1e30", 3), ("n > 1e30", 0), ("NOT n < 1e30", 1), ("n != 0.5", 4), ("n == 0.5", 0),
      ("NOT n > 0.5", 3), ("n < -0.5", 1), ("n >= -0.5", 2), ("NOT n BETWEEN {0.5, 1e30}", 3),
      ("NOT n IN {0.5}", 4),
    ] {
      let request = FetchRequest("T", filter: try Filter(parsing: predicate))
      #expect(try store.count(request) == count, "\(predicate)")
      let memory = MemoryFetch(try ResolvedRequest(request, in: graph.layout))
      #expect(try memory.objects(of: graph.objects).count == count, "\(predicate)")
    }
  }

  @Test("Infinity is found by a number beyond all others")
  func infinity() throws {
    let entity = Entity(name: "T", attributes: [Attribute(name: "d", type: .double)])
    let store = try store(entity, [[.real(.infinity)], [.real(-.infinity)], [.real(1)], [.null]])
    for (predicate, count) in [
      ("d == 9e999", 1), ("d < 1e309", 2), ("d == -9e999", 1), ("d == 'inf'", 1),
      ("d IN {1, 9e999}", 2),
    ] {
      let request = FetchRequest("T", filter: try Filter(parsing: predicate))
      #expect(try store.count(request) == count, "\(predicate)")
    }
  }

  @Test(
    "An attribute whose name is no word is named in quotes",
    arguments: ["#\"odd\\\"name\" == 'a'", "#'odd\"name' == 'a'"]
  )
  func quotedNames(predicate: String) throws {
    #expect(try ids(predicate) == [1])
  }

  @Test("An expression without end stops the fetch with a message")
  func endless() throws {
    let row = [StoredValue.integer(1), .text(String(repeating: "a", count: 5_000))]
    let entity = Entity(name: "T", attributes: Array(Self.person.attributes.prefix(2)))
    let filter = try Filter(parsing: "name MATCHES '(a+)+b'")
    let error = #expect(throws: StoreError.self) {
      try store(entity, [row]).count(FetchRequest("T", filter: filter))
    }
    #expect(
      error?.message
        == "The fetch was stopped: the regular expression takes too long: simplify it."
    )
  }

  @Test("What the closure throws ends the fetch and comes back as it was")
  func interruption() throws {
    struct Enough: Error {}
    let store = try store(Self.person, Self.rows)
    var count = 0
    #expect(throws: Enough.self) {
      try store.forEachRow(FetchRequest("Person")) { _ in
        count += 1
        if count == 2 { throw Enough() }
      }
    }
    #expect(count == 2)
  }

  @Test("Equality, lists and prefixes use an index")
  func plans() throws {
    let store = try store(Self.person, Self.rows)
    for predicate in ["name == 'a'", "name IN {'a', 'b'}", "name BEGINSWITH 'a'", "id == 1"] {
      let request = FetchRequest("Person", filter: try Filter(parsing: predicate))
      let details = try store.explanation(of: request)
      #expect(details.first?.hasPrefix("SEARCH t0 USING INDEX") == true, "\(details)")
    }
  }
}

extension SQLiteStore {
  /// How SQLite would run a request: the lines of EXPLAIN QUERY PLAN.
  func explanation(of request: FetchRequest) throws -> [String] {
    try explain(request).steps.map(\.text)
  }
}
