import Testing

@testable import DragomanGraph

/// Fetches through every kind of link, each answered by the store and by memory.
@Suite("Fetching through relationships")
struct RelationshipFetchTests {
  static let model = Model(entities: [
    Entity(
      name: "Company",
      attributes: [
        Attribute(name: "name", isIndexed: true), Attribute(name: "city"),
        Attribute(name: "budget", type: .decimal, rules: AttributeRules(scale: 2)),
      ],
      relationships: [
        .toMany("employees", "Person", inverse: "company"),
        .toOne("boss", "Person", inverse: "leads"),
      ]
    ),
    Entity(
      name: "Person",
      attributes: [
        Attribute(name: "name", isIndexed: true),
        Attribute(name: "pay", type: .decimal, rules: AttributeRules(scale: 2)),
        Attribute(name: "age", type: .int32), Attribute(name: "town"),
      ],
      relationships: [
        .toOne("company", "Company", inverse: "employees"),
        .toOne("leads", "Company", inverse: "boss"), .toMany("phones", "Phone"),
        .toMany("friends", "Person", inverse: "friends"),
        .toMany("shelf", "Document", isOrdered: true).with { $0.allowsRepeats = true },
        .toMany("wrote", "Document", inverse: "authors"),
      ]
    ),
    Entity(
      name: "Phone",
      attributes: [Attribute(name: "kind"), Attribute(name: "minutes", type: .double)]
    ),
    Entity(
      name: "Document",
      attributes: [Attribute(name: "title")],
      relationships: [.toMany("authors", "Person", inverse: "wrote", isOrdered: true)],
      isAbstract: true
    ),
    Entity(name: "Book", attributes: [Attribute(name: "isbn")], parent: "Document"),
    Entity(name: "Letter", attributes: [Attribute(name: "sent", type: .date)], parent: "Document"),
  ])

  /// Ada (1) works at Acme and leads it, Bob (2) works at Acme, Cid (3) at Zeta, Dan (4) nowhere.
  static func graph() throws -> ObjectGraph {
    let graph = ObjectGraph(model)
    let acme = try graph.add("Company", ["name": "Acme", "city": "Bergen", "budget": "100.00"])
    let zeta = try graph.add("Company", ["name": "Zeta", "budget": "9.50"])
    try graph.add("Company", ["name": "Void", "city": "Oslo"])
    let ada = try graph.add("Person", ["name": "Ada", "pay": "30.10", "age": 40, "town": "Bergen"])
    let bob = try graph.add("Person", ["name": "Bob", "pay": "20.20", "town": "Oslo"])
    let cid = try graph.add("Person", ["name": "cid", "age": 20])
    try graph.add("Person", ["name": "Dan", "pay": "0.00", "age": 60])
    let phones = try [("work", 1.5), ("home", 2.25), (nil, nil), ("work", 4)].map {
      (kind, minutes) in
      try graph.add(
        "Phone",
        [
          "kind": kind.map(StoredValue.text) ?? .null,
          "minutes": minutes.map(StoredValue.real) ?? .null,
        ]
      )
    }
    let book = try graph.add("Book", ["title": "Notes", "isbn": "x"])
    let letter = try graph.add("Letter", ["title": "Dear", "sent": "1843-07-01"])
    for (owner, name, target) in [
      (ada, "company", acme), (bob, "company", acme), (cid, "company", zeta), (acme, "boss", ada),
      (ada, "phones", phones[0]), (ada, "phones", phones[1]), (bob, "phones", phones[2]),
      (cid, "phones", phones[3]), (cid, "phones", phones[0]), (ada, "friends", bob),
      (bob, "friends", cid), (ada, "shelf", book), (ada, "shelf", book), (ada, "shelf", letter),
      (bob, "shelf", letter), (ada, "wrote", book), (letter, "authors", ada),
      (letter, "authors", cid),
    ] {
      graph.link(owner, name, target)
    }
    return graph
  }

  private static func id(_ entity: String, _ key: Int64) -> Filter.Operand {
    .object(ObjectID(entity: entity, primaryKey: key))
  }

  @Test(
    "Paths, quantifiers and aggregates select what they say",
    arguments: [
      ("company.city == 'Bergen'", [1, 2]), ("company.city != 'Bergen'", [3, 4]),
      ("company.city == nil", [3, 4]), ("NOT company.city == 'Bergen'", [3, 4]),
      ("company == nil", [4]), ("company != nil", [1, 2, 3]), ("company.boss == nil", [3, 4]),
      ("company.boss.name == 'Ada'", [1, 2]), ("leads.name == 'Acme'", [1]),
      ("leads == nil", [2, 3, 4]),
      ("company == 'dragoman:///Company/2'", [3]), ("company.city == town", [1, 3, 4]),
      ("town == company.boss.town", [1, 3, 4]), ("company.boss == SELF", [1]),
      ("company.budget > 20", [1, 2]), ("company.name BEGINSWITH[c] 'a'", [1, 2]),
      ("ANY phones.kind == 'work'", [1, 3]), ("ANY phones.kind == nil", [2]),
      ("ALL phones.kind == 'work'", [3, 4]), ("NONE phones.kind == 'work'", [2, 4]),
      ("NOT ANY phones.kind == 'work'", [2, 4]), ("ANY phones.kind IN {'home', nil}", [1, 2]),
      ("SOME phones.kind LIKE '?o*'", [1, 3]), ("ANY phones.minutes BETWEEN {2, 3}", [1]),
      ("phones.@count > 1", [1, 3]), ("phones.@count == 0", [4]),
      ("phones.@sum.minutes > 3", [1, 3]), ("phones.@sum.minutes == 0", [2, 4]),
      ("phones.@max.minutes == 4", [3]), ("phones.@min.kind == 'home'", [1]),
      ("phones.@avg.minutes == nil", [2, 4]), ("company.employees.@count == 2", [1, 2]),
      ("company.employees.@count == 0", [4]), ("company.employees.@sum.pay == 50.3", [1, 2]),
      ("company.employees.@avg.pay == 25.15", [1, 2]),
      ("ANY company.employees.name == 'Bob'", [1, 2]),
      ("ANY friends.name == 'Bob'", [1, 3]), ("friends.@count == 2", [2]),
      ("ANY friends.phones.kind == nil", [1, 3]), ("ALL friends.phones.kind != nil", [2, 4]),
      ("ANY friends.company.city == nil", [2]), ("ANY friends.company == company", [1, 2]),
      ("shelf.@count == 3", [1]), ("ANY shelf.title == 'Dear'", [1, 2]),
      ("ANY shelf.@entity == 'Book'", [1]),
      ("ANY wrote.title BEGINSWITH 'D'", [1, 3]), ("wrote.@count == 2", [1]),
      ("ANY phones == 'dragoman:///Phone/1'", [1, 3]), ("'home' IN phones.kind", [1]),
      ("phones CONTAINS 'dragoman:///Phone/4'", [3]), ("company.boss IN friends", [2]),
      ("SELF IN {'dragoman:///Person/2', 'dragoman:///Person/4'}", [2, 4]),
      ("company.boss.age > 30", [1, 2]),
      ("SUBQUERY(phones, $p, $p.kind == 'work').@count == 2", [3]),
      ("SUBQUERY(phones, $p, $p.kind == 'work').@count == 1", [1]),
      ("SUBQUERY(phones, $p, $p.kind == 'work' AND $p.minutes > 2).@count == 1", [3]),
      ("SUBQUERY(phones, $p, $p.kind == nil).@count > 0", [2]),
      ("SUBQUERY(phones, $p, $p.kind == 'work').@sum.minutes > 5", [3]),
      ("SUBQUERY(phones, $p, $p.kind == 'x').@max.minutes == nil", [1, 2, 3, 4]),
      ("SUBQUERY(phones, $p, $p.minutes > 0).@min.kind BEGINSWITH 'h'", [1]),
      ("SUBQUERY(phones, $p, $p.minutes > 0).@min.kind IN {nil, 'home'}", [1, 2, 4]),
      (
        "SUBQUERY(company.employees, $e, $e.town == town AND $e != SELF).@count == 0", [1, 2, 3, 4]
      ),
      ("SUBQUERY(company.employees, $e, $e.pay < pay).@count == 1", [1]),
      ("SUBQUERY(friends.company, $c, $c.name == nil).@count == 0", [1, 2, 3, 4]),
      ("SUBQUERY(friends.phones, $p, $p.kind == 'home').@count == 1", [2]),
      ("SUBQUERY(shelf, $d, $d.title == 'Notes').@count == 2", [1]),
      (
        "SUBQUERY(friends, $f, SUBQUERY($f.phones, $p, $p.kind == 'work' AND town == $f.town).@count > 0)"
          + ".@count > 0", []
      ),
      (
        "SUBQUERY(friends, $f, SUBQUERY($f.phones, $p, $p.kind != $f.name AND name < $f.name).@count == 2)"
          + ".@count > 0", [2]
      ),
      ("SUBQUERY(friends, $f, ANY $f.phones.kind == 'home').@count == 1", [2]),
      ("SUBQUERY(friends, $f, $f.phones.@count > phones.@count).@count == 2", [2]),
      ("2 == SUBQUERY(phones, $p, TRUEPREDICATE).@count", [1, 3]),
      (
        "SUBQUERY(phones, $p, $p.kind == 'home').@count < SUBQUERY(phones, $p, $p.kind == 'work').@count",
        [3]
      ),
      ("NOT SUBQUERY(phones, $p, NOT $p.kind == 'work').@count == 0", [1, 2]),
      ("SUBQUERY(friends, $f, $f == 'dragoman:///Person/2').@count == 1", [1, 3]),
      ("SUBQUERY(wrote, $d, $d.@entity == 'Letter').@count == 1", [1, 3]),
    ] as [(String, [Int64])]
  )
  func selects(predicate: String, expected: [Int64]) throws {
    let graph = try Self.graph()
    let request = FetchRequest("Person", filter: try Filter(parsing: predicate))
    #expect(try graph.store().keys(request) == expected)
    let fetch = MemoryFetch(try ResolvedRequest(request, in: graph.layout))
    let memory = try fetch.objects(of: graph.family(of: "Person"))
    #expect(memory.map(\.objectID.primaryKey) == expected)
  }

  @Test("Object ids stand for objects in code, alone and in lists")
  func objectIDs() throws {
    let store = try Self.graph().store()
    let one = try Filter(parsing: "company == %@", arguments: [Self.id("Company", 2)])
    #expect(try store.keys(FetchRequest("Person", filter: one)) == [3])
    let ids = [1, 2].map { ObjectID(entity: "Company", primaryKey: $0) }
    let list = Filter.where("company", .in, .objects(ids))
    #expect(try store.keys(FetchRequest("Person", filter: list)) == [1, 2, 3])
  }

  @Test("A fetch gives sub-entities too, unless told otherwise; ids carry the root's name")
  func subentities() throws {
    let store = try Self.graph().store()
    func answer(_ request: FetchRequest) throws -> [String] {
      var answer: [String] = []
      try store.forEachRow(request) { answer.append("\($0.entityName) \($0.objectID.uri)") }
      return answer
    }
    let both = ["Book dragoman:///Document/1", "Letter dragoman:///Document/2"]
    #expect(try answer(FetchRequest("Document")) == both)
    #expect(try answer(FetchRequest("Document").with { $0.includesSubentities = false }).isEmpty)
    #expect(try answer(FetchRequest("Letter", columns: ["title", "sent"])) == [both[1]])
    let books = try Filter(parsing: "@entity == 'Book' AND title == 'Notes'")
    #expect(try answer(FetchRequest("Document", filter: books)) == [both[0]])
    #expect(try store.count(FetchRequest("Book")) == 1)
    #expect(
      try store.exists(FetchRequest("Document").with { $0.includesSubentities = false }) == false
    )
  }

  @Test("Columns and sort keys go through to-one relationships, in one statement")
  func columns() throws {
    let request = FetchRequest(
      "Person",
      sortKeys: [SortKey("company.name", ascending: false), SortKey("name", options: .localized)],
      columns: ["name", "company.name", "company", "phones.@count"]
    )
    let store = try Self.graph().store()
    let expected: [[StoredValue]] = [
      ["cid", "Zeta", 2, 2], ["Ada", "Acme", 1, 2], ["Bob", "Acme", 1, 1],
      ["Dan", .null, .null, 0],
    ]
    #expect(try store.rows(request) == expected)
    #expect(try store.attributes(of: request).map(\.type) == [.string, .string, .int64, .int64])
    #expect(
      try FetchPlan(request, in: store.layout).rowsSQL == """
        SELECT t0._pk, t0."name", t1."name", t0."company", \
        (SELECT count(t2.target) FROM "Person_phones" AS t2 WHERE t2.owner = t0._pk) \
        FROM "Person" AS t0 LEFT JOIN "Company" AS t1 ON t1._pk = t0."company" \
        ORDER BY t1."name" DESC, dragoman_fold(t0."name", 3), dragoman_fold(t0."name", 1), \
        t0."name", t0._pk
        """
    )
  }

  @Test(
    "Indexes serve attributes, keys of links and paths",
    arguments: [
      ("company == 'dragoman:///Company/1'", ["SEARCH t0 USING INDEX Person_company"]),
      (
        "company.name == 'Acme'",
        ["SEARCH t1 USING COVERING INDEX Company_name", "SEARCH t0 USING INDEX Person_company"]
      ),
      ("SELF IN {'dragoman:///Person/1'}", ["SEARCH t0 USING INTEGER PRIMARY KEY"]),
      (
        "ANY phones.kind == 'x'",
        ["SCAN t0", "SEARCH t1 USING PRIMARY KEY", "SEARCH t2 USING INTEGER PRIMARY KEY"]
      ),
      ("ANY company.employees.name == 'x'", ["SCAN t0", "SEARCH t1 USING INDEX Person_"]),
    ] as [(String, [String])]
  )
  func plans(predicate: String, steps: [String]) throws {
    let store = try Self.graph().store()
    let request = FetchRequest("Person", filter: try Filter(parsing: predicate))
    let searches = try store.explanation(of: request).filter {
      $0.hasPrefix("SEARCH") && !$0.contains("json_each") || $0.hasPrefix("SCAN t")
    }
    let fits =
      searches.count == steps.count && zip(searches, steps).allSatisfy { $0.hasPrefix($1) }
    #expect(fits, "\(searches)")
  }

  @Test(
    "A path that does not fit the model is refused with what to do",
    arguments: [
      (
        "compny.city == 'x'",
        "The entity Person has no relationship \"compny\". (did you mean \"company\"?)"
      ),
      (
        "company.cty == 'x'",
        "The entity Company has no attribute \"cty\". (did you mean \"city\"?)"
      ),
      (
        "phones.kind == 'x'",
        "phones.kind leads to many values where one is compared. (put ANY, ALL or NONE in front, or compare its @count)"
      ),
      (
        "ANY company.city == 'x'",
        "ANY wants a path through a to-many relationship; company.city leads to one value."
      ),
      (
        "company.@count == 1",
        "@count wants a to-many relationship in front of it; company.@count has none."
      ),
      (
        "phones.@median.minutes == 1",
        "The path phones.@median.minutes has an unknown step \"@median\". (there are @count, @sum, @avg, @min, @max and @entity)"
      ),
      ("phones.@sum.kind == 1", "sum wants a number; kind is a string."),
      ("phones.@sum == 1", "@sum wants an attribute behind it: phones.@sum.name."),
      (
        "company == 3",
        "company is compared with the number 3, but it wants an object. (compare an attribute of it, company.name, or give an object id)"
      ),
      ("company == 'x'", "\"x\" is no object id. (an id is written dragoman:///Entity/number)"),
      (
        "company == 'dragoman:///Person/1'",
        "company is compared with dragoman:///Person/1, but its objects have ids of Company."
      ),
      (
        "company > 'dragoman:///Company/1'",
        "> wants an order; company is an object, which has none."
      ),
      (
        "company == leads.boss",
        "company (Company) and leads.boss (Person) cannot be compared with one another."
      ),
      (
        "ANY phones.kind == ANY",
        "The predicate is malformed at column 20: expected a value, found \"ANY\"."
      ),
      (
        "ANY phones.kind == friends.name",
        "phones.kind and friends.name both lead to many values; one of them must lead to one."
      ),
      ("company LIKE 'x'", "LIKE wants a text attribute; company is an object."),
      (
        "ANY shelf.isbn == 'x'",
        "The entity Document has no attribute \"isbn\". (it has title, authors)"
      ),
    ]
  )
  func refused(predicate: String, message: String) throws {
    let error = #expect(throws: StoreError.self) {
      let filter = try Filter(parsing: predicate)
      _ = try ResolvedRequest(
        FetchRequest("Person", filter: filter),
        in: ModelLayout(Self.model)
      )
    }
    #expect(error?.description == "store.request: " + message)
  }
}
