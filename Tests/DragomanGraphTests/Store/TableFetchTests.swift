import Testing

@testable import DragomanGraph

/// Groups, aggregates and distinct rows, each answered by the store and by memory.
@Suite("Fetching tables")
struct TableFetchTests {
  private func answers(_ request: FetchRequest) throws -> [[StoredValue]] {
    let graph = try RelationshipFetchTests.graph()
    let store = try graph.store()
    let rows = try store.rows(request)
    let fetch = MemoryFetch(try ResolvedRequest(request, in: graph.layout))
    let memory = try fetch.rows(of: graph.family(of: request.entity))
    #expect(memory == rows)
    let count = try store.count(request)
    #expect(count == rows.count)
    return rows
  }

  @Test("Aggregates without groups make one row, of nothing too")
  func totals() throws {
    let columns: [FetchColumn] = [
      .count(), .count("age"), .sum("age"), .sum("pay"), .average("pay"), .min("name"), .max("pay"),
      .average("age"),
    ]
    #expect(
      try answers(FetchRequest("Person", columns: columns)) == [
        [4, 3, 120, "50.30", "16.76666666666666667", "Ada", "30.10", .real(40)]
      ]
    )
    let none = FetchRequest("Person", filter: .constant(false), columns: columns)
    #expect(try answers(none) == [[0, 0, 0, "0.00", .null, .null, .null, .null]])
  }

  @Test("Groups come in the order of their values, or of sort keys, and pass having")
  func groups() throws {
    var request = FetchRequest(
      "Person",
      columns: ["company.name", .count(), .sum("pay", as: "total")],
      groupBy: ["company.name"]
    )
    #expect(
      try answers(request) == [[.null, 1, "0.00"], ["Acme", 2, "50.30"], ["Zeta", 1, "0.00"]]
    )
    request.sortKeys = [
      SortKey("total", ascending: false), SortKey("company.name", ascending: false),
    ]
    #expect(
      try answers(request) == [["Acme", 2, "50.30"], ["Zeta", 1, "0.00"], [.null, 1, "0.00"]]
    )
    request.having = try Filter(parsing: "count == 1 AND company.name != nil OR total > 50.2")
    #expect(try answers(request) == [["Acme", 2, "50.30"], ["Zeta", 1, "0.00"]])
    request.offset = 1
    #expect(try answers(request) == [["Zeta", 1, "0.00"]])
  }

  @Test("The number of objects of a to-one has an order and is compared with numbers")
  func countOfToOnes() throws {
    let request = FetchRequest(
      "Person",
      sortKeys: [SortKey("companies", ascending: false)],
      columns: ["town", .count("company", as: "companies")],
      groupBy: ["town"]
    ).with { $0.having = .where("companies", .greaterThan, 0) }
    #expect(try answers(request) == [[.null, 1], ["Bergen", 1], ["Oslo", 1]])
  }

  @Test("Distinct rows come once, in their order")
  func distinct() throws {
    let request = FetchRequest("Phone", columns: ["kind"]).with { $0.isDistinct = true }
    #expect(try answers(request) == [[.null], ["home"], ["work"]])
    var last = request
    last.sortKeys = [SortKey("kind", ascending: false)]
    last.limit = 2
    #expect(try answers(last) == [["work"], ["home"]])
    let counts = FetchRequest("Person", columns: [.count()], groupBy: ["company"]).with {
      $0.isDistinct = true
    }
    #expect(try answers(counts) == [[1], [2]])
  }

  @Test("Rows come as dictionaries by the names of their columns")
  func dictionaries() throws {
    let store = try RelationshipFetchTests.graph().store()
    let request = FetchRequest(
      "Person",
      limit: 1,
      columns: ["name", "company.city", FetchColumn("age", as: "years")]
    )
    #expect(
      try store.dictionaries(request) == [["name": "Ada", "company.city": "Bergen", "years": 40]]
    )
    let table = FetchRequest("Person", columns: [.max("company.budget")])
    #expect(try store.dictionaries(table) == [["max_company.budget": "100.00"]])
  }

  @Test("A sum that leaves 64 bits stops the fetch, in the store and in memory")
  func overflow() throws {
    let graph = ObjectGraph(
      Model(entities: [Entity(name: "T", attributes: [Attribute(name: "n", type: .int64)])])
    )
    try graph.add("T", ["n": .integer(.max)])
    try graph.add("T", ["n": 1])
    let request = FetchRequest("T", columns: [.sum("n")])
    let store = try graph.store()
    let memory = MemoryFetch(try ResolvedRequest(request, in: graph.layout))
    let message = "The fetch was stopped: the sum of the integers has more than 64 bits."
    #expect(throws: StoreError.self) { try store.rows(request) }
    #expect(#expect(throws: StoreError.self) { try store.rows(request) }?.message == message)
    #expect(
      #expect(throws: StoreError.self) { try memory.rows(of: graph.objects) }?.message == message
    )
  }

  @Test(
    "A request for a table that makes no sense is refused",
    arguments: [
      (
        FetchRequest("Person", columns: ["name", .count()]),
        "The column \"name\" has no single value in a group. (name it in groupBy, or take an aggregate of it)"
      ),
      (FetchRequest("Person", groupBy: ["name"]), "A fetch with groupBy wants columns."),
      (
        FetchRequest("Person").with { $0.isDistinct = true },
        "A fetch with isDistinct wants columns."
      ),
      (
        FetchRequest("Person").with { $0.having = .constant(true) },
        "A fetch with having wants groupBy, an aggregate or isDistinct."
      ),
      (
        FetchRequest("Person", sortKeys: [SortKey("nmae")], columns: ["name"]).with {
          $0.isDistinct = true
        },
        "The rows of this fetch have no column \"nmae\". (did you mean \"name\"?)"
      ),
      (
        FetchRequest("Person", columns: [.sum("name")]), "sum wants a number; name is a string."
      ),
      (
        FetchRequest("Person", columns: ["phones.kind"]),
        "phones.kind leads to many values where a column, group or sort key wants one. (take its @count, "
          + "or an aggregate of it)"
      ),
      (
        FetchRequest("Person", sortKeys: [SortKey("company")]),
        "company is a relationship, which has no order. (sort by an attribute of it: company.name)"
      ),
      (
        FetchRequest("Person", sortKeys: [SortKey("age", options: .caseInsensitive)]),
        "The options of the sort key age[c] want a text attribute; age is an int32."
      ),
    ] as [(FetchRequest, String)]
  )
  func refused(request: FetchRequest, message: String) {
    let error = #expect(throws: StoreError.self) {
      try ResolvedRequest(request, in: ModelLayout(RelationshipFetchTests.model))
    }
    #expect(error?.description == "store.request: " + message)
  }
}
