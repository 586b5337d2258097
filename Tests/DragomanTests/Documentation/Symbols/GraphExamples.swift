import Dragoman
import DragomanGraph
import DragomanPostgreSQL

/// The examples of `DragomanGraph`'s symbols, besides those of typed values: compiled, not run.
///
/// The parameters of a function are what its example takes for granted.
private enum GraphExamples {
  // MARK: Model

  static func rules() {
    @Lines func lines() {
      // docs: begin rules
      Attribute(name: "iban", isRequired: true).with { $0.isSensitive = true }
      FetchRequest("Person", columns: ["city"]).with { $0.isDistinct = true }
      // docs: end
      // docs: begin attribute
      Attribute(name: "age", type: .int16, isRequired: true, rules: AttributeRules(minimum: 0))
      Attribute(name: "town").with { $0.renamedFrom = "city" }
      // docs: end
      // docs: begin duration
      CalendarDuration("P1W")?.days  // 7
      CalendarDuration(months: 14)?.description  // "P1Y2M"
      // docs: end
      // docs: begin nearest
      nearest(to: "entitties", in: ["entities", "sources"])  // "entities"
      // docs: end
    }
    lines()
  }

  // MARK: Fetching

  static func request() throws {
    // docs: begin request
    let request = FetchRequest(
      "Person",
      filter: try Filter(parsing: "salary > 100000 AND company.city == 'Bergen'"),
      sortKeys: [SortKey("company.name"), SortKey("salary", ascending: false)],
      limit: 10
    )
    // docs: end
    // docs: begin table
    let payroll = try FetchRequest(
      "Person",
      sortKeys: [SortKey("pay", ascending: false)],
      columns: ["city", .count(), .sum("salary", as: "pay")],
      groupBy: ["city"]
    ).with { $0.having = try Filter(parsing: "count > 10") }
    // docs: end
    // docs: begin columns
    let columns: [FetchColumn] = [
      "name", "company.city", .count(), .sum("salary"), .average("company.size", as: "size"),
    ]
    // docs: end
    use(request, payroll, columns)
  }

  static func pages(store: SQLiteStore) throws {
    do {
      // docs: begin page
      var request = FetchRequest("Person", sortKeys: [SortKey("name")], limit: 100)
      request.after = try store.forEachRow(inPage: request) { print($0.values) }
      // docs: end
    }
    // docs: begin pages
    var request = FetchRequest("Person", sortKeys: [SortKey("name")], limit: 100)
    repeat {
      request.after = try store.forEachRow(inPage: request) { print($0.values) }
    } while request.after != nil
    // docs: end
  }

  static func origins(store: SQLiteStore, person: ObjectID) throws {
    // docs: begin origins
    for origin in try store.origins(of: person) {
      print(origin.run, origin.kind, origin.attributes.map(\.new))
    }
    // docs: end
  }

  static func filters(id: ObjectID) throws {
    @Lines func lines() throws {
      // docs: begin parsing
      try Filter(
        parsing: "lastName BEGINSWITH[cd] %@ AND born > %@",
        arguments: ["ó", "1990-01-01"]
      )
      try Filter(parsing: "company == %@ OR ANY phones.kind == 'work'", arguments: [.object(id)])
      try Filter(parsing: "city IN $CITIES").substituting(["CITIES": ["Bergen", "Oslo"]])
      // docs: end
    }
    try lines()
    // docs: begin filter
    let rich = try Filter(parsing: "salary > 100000 AND city == %@", arguments: ["Paris"])
    let same = Filter.and([
      .where("salary", .greaterThan, 100_000), .where("city", .equalTo, "Paris"),
    ])
    // docs: end
    use(rich, same)
  }

  // MARK: Store

  static func store(model: Model) throws {
    // docs: begin store
    let store = try SQLiteStore(at: .file("people.db"))
    try store.grow(to: model)
    // docs: end
    // docs: begin opening
    let opening = try SQLiteStore.open(model, at: .file("people.db"), onConflict: .migrate)
    // docs: end
    // docs: begin migration
    let migration = try store.migration(to: model)
    print(migration)  // 1. Rename Person.surname to lastName. …
    try store.migrate(to: model)
    // docs: end
    // docs: begin backup
    let backup = try store.backup(to: "people-2026-11-21.db")
    // docs: end
    // docs: begin delete
    let deletion = try store.delete(
      FetchRequest("Person", filter: try Filter(parsing: "lastSeen < '2020-01-01'"))
    ) { $0.matchedCount <= 100 }
    print(deletion.isDone, deletion.counts)
    // docs: end
    use(opening, backup)
  }

  static func reading(store: SQLiteStore) throws {
    // docs: begin contents
    let contents = try store.contents()
    print(contents.entities.map { "\($0.name): \($0.objectCount)" })
    // docs: end
    // docs: begin stubs
    for stub in try store.stubs(of: "Order") { print(stub.key.parts.map(\.value)) }
    // docs: end
    // docs: begin rows
    try store.forEachRow(FetchRequest("Person", sortKeys: [SortKey("lastName")])) { row in
      print(row.objectID, row.values)
    }
    // docs: end
    // docs: begin dictionaries
    let rows = try store.dictionaries(
      FetchRequest("Person", columns: ["company.name", .sum("salary")], groupBy: ["company.name"])
    )
    print(rows.first?["sum_salary"] ?? "nobody")
    // docs: end
  }

  // MARK: Contexts

  static func server(model: Model) throws -> Stack {
    // docs: begin server
    let stack = try Stack(model, at: .postgreSQL("postgresql://localhost/people"))
    // docs: end
    return stack
  }

  @MainActor static func stack(model: Model) async throws {
    // docs: begin stack
    let stack = try Stack(model, at: .file("people.db"))
    try await stack.write { context in
      let person = try context.insert("Person")
      person["firstName"] = "Rohan"
    }
    let people = try stack.main.fetch(FetchRequest("Person"))
    // docs: end
    // docs: begin writing
    try await stack.write { context in
      let person = try context.insert("Person")
      person["firstName"] = "Rohan"
    }
    // docs: end
    use(people)
  }

  static func object(context: ManagedObjectContext, company: ManagedObject) throws {
    // docs: begin object
    let person = try context.insert("Person")
    person["firstName"] = "Rohan"
    person[one: "employer"] = company
    try context.save()
    // docs: end
  }

  // MARK: Looking

  static func looking(store: SQLiteStore, customer: ObjectID) throws {
    // docs: begin profile
    let profile = try store.profile(of: "salary", in: "Person")
    print(profile.nullCount, profile.distinctCount, profile.histogram.map(\.count))
    // docs: end
    // docs: begin targets
    let orders = try store.targets(of: "orders", at: customer, limit: 20)
    // docs: end
    use(orders)
  }

  // MARK: Results

  @MainActor static func results(stack: Stack) async throws {
    // docs: begin results
    let people = try stack.main.results(
      FetchRequest("Person", sortKeys: [SortKey("city"), SortKey("lastName")]),
      sectionedBy: "city"
    )
    for try await event in people.events() { print(event) }
    let names = people.map { $0["lastName"] }
    // docs: end
    // docs: begin changes
    for await notice in stack.main.changes() { print(notice.updated.keys) }
    // docs: end
    use(names)
  }

  static func stored(stack: Stack, request: FetchRequest) async throws {
    // docs: begin projected
    let names = try await stack.results(request) { person in try person.value(of: "name") }
    // docs: end
    // docs: begin stored
    let people = try await stack.results(FetchRequest("Person", sortKeys: [SortKey("name")]))
    for try await event in people.events() { print(event) }
    // docs: end
    use(names)
  }

  static func events(results: StoredResults<Int>, table: Table) async throws {
    // docs: begin events
    for try await event in results.events() {
      switch event {
      case .snapshot(let snapshot): table.show(snapshot)
      case .difference(let difference): table.change(difference)
      case .ended: break
      }
    }
    // docs: end
  }

  static func observation(results: StoredResults<Int>) {
    // docs: begin observation
    let observation = results.observe { event in print(event) }
    observation.cancel()
    // docs: end
  }

  static func sections(snapshot: ResultSnapshot) {
    // docs: begin sections
    for (number, section) in snapshot.sections.enumerated() {
      print(section.value, snapshot.ids(in: number))
    }
    // docs: end
  }
}

private struct Table {
  func show(_ snapshot: ResultSnapshot) {}
  func change(_ difference: ResultDifference) {}
}
