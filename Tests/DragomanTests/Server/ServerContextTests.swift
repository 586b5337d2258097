import DragomanGraph
import DragomanPostgreSQL
import Foundation
import TestServer
import Testing

@testable import DragomanGraph

/// Where a server is promised (`Scripts/test.sh` installs one), no test may be passed over in silence.
@Suite struct ServerPresenceTests {
  @Test("A server is there where one is promised")
  func isThere() {
    let isPromised = ProcessInfo.processInfo.environment["DRAGOMAN_SERVER_TESTS"] != nil
    #expect(TestServer.isThere || !isPromised)
  }
}

/// Contexts over a server: what they do over a file.
@Suite("Stacks on a server", .enabled(if: TestServer.isThere))
struct ServerContextTests {
  static let model = Model(entities: [
    Entity(
      name: "Person",
      attributes: [
        Attribute(name: "email", type: .string), Attribute(name: "name", type: .string),
        Attribute(name: "age", type: .int16),
      ],
      relationships: [
        Relationship(name: "team", destination: "Team", kind: .toOne, inverse: "members"),
        Relationship(
          name: "friends",
          destination: "Person",
          kind: .toMany,
          isOrdered: true
        ),
        Relationship(name: "skills", destination: "Skill", kind: .toMany, inverse: "people"),
      ],
      uniqueKeys: [["email"]]
    ),
    Entity(
      name: "Team",
      attributes: [Attribute(name: "name", type: .string)],
      relationships: [
        Relationship(
          name: "members",
          destination: "Person",
          kind: .toMany,
          isOrdered: true,
          inverse: "team",
          deleteRule: .nullify
        )
      ],
      uniqueKeys: [["name"]]
    ),
    Entity(
      name: "Skill",
      attributes: [Attribute(name: "name", type: .string)],
      relationships: [
        Relationship(name: "people", destination: "Person", kind: .toMany, inverse: "skills")
      ],
      uniqueKeys: [["name"]]
    ),
  ])

  private func stack(_ url: String) throws -> Stack {
    try Stack(Self.model, at: .postgreSQL(url))
  }

  @Test("What is inserted, linked and saved is there for another stack, with its order")
  func saved() async throws {
    let url = try #require(TestServer.shared).schema()
    let first = try stack(url)
    try await first.write { context in
      let team = try context.insert("Team")
      team["name"] = "red"
      var people: [ManagedObject] = []
      for name in ["c", "a", "b"] {
        let person = try context.insert("Person")
        person["email"] = .text("\(name)@x")
        person["name"] = .text("\"\(name)\\,{}'\n é")
        people.append(person)
      }
      team[many: "members"] = people
      people[0][many: "friends"] = [people[2], people[1]]
      let skill = try context.insert("Skill")
      skill["name"] = "swift"
      skill[many: "people"] = people
    }
    try first.close()
    let second = try stack(url)
    let found = try await second.read { context -> [String] in
      let team = try context.fetch(FetchRequest("Team"))[0]
      let members = team[many: "members"].map { "\($0["email"])" }
      let people = try context.fetch(
        FetchRequest("Person", filter: try Filter(parsing: "email == 'c@x'"))
      )
      let friends = people[0][many: "friends"].map { "\($0["email"])" }
      let skills = people[0][many: "skills"].map { "\($0["name"])" }
      return members + friends + skills + ["\(people[0]["name"])"]
    }
    #expect(found.count == 7)
    #expect(
      found
        == [
          "c@x", "a@x", "b@x", "b@x", "a@x", "swift", "\"c\\,{}'\n é",
        ].map { "\(StoredValue.text($0))" }
    )
    try second.close()
  }

  @Test("What is new and required has its default in the objects that are there")
  func defaults() async throws {
    let url = try #require(TestServer.shared).schema()
    func model(_ more: [Attribute]) -> Model {
      Model(entities: [
        Entity(
          name: "P",
          attributes: [Attribute(name: "id", type: .int64)] + more.prefix(1),
          uniqueKeys: [["id"]]
        ),
        Entity(name: "Q", attributes: Array(more.dropFirst()), parent: "P"),
      ])
    }
    let old = try Stack(model([]), at: .postgreSQL(url))
    try await old.write { context in
      try context.insert("P")["id"] = 1
      try context.insert("Q")["id"] = 2
    }
    try old.close()
    let stack = try Stack(
      model([
        Attribute(name: "day", type: .date, isRequired: true, defaultValue: .text("2024-01-01")),
        Attribute(name: "level", type: .int16, isRequired: true, defaultValue: .integer(7)),
        Attribute(name: "free", type: .int16, defaultValue: .integer(7)),
      ]),
      at: .postgreSQL(url)
    )
    let found = try await stack.read { context in
      try context.fetch(FetchRequest("P", sortKeys: [SortKey("id")])).map { object in
        object.layout.name == "Q"
          ? "\(object["day"]) \(object["level"]) \(object["free"])" : "\(object["day"])"
      }
    }
    let day = "\(StoredValue.text("2024-01-01"))"
    #expect(found == [day, "\(day) \(StoredValue.integer(7)) \(StoredValue.null)"])
    try stack.close()
  }

  private static let badges = Model(entities: [
    Entity(
      name: "Employee",
      attributes: [Attribute(name: "name")],
      relationships: [.toOne("badge", "Badge", inverse: "owner")]
    ),
    Entity(
      name: "Badge",
      attributes: [Attribute(name: "code")],
      relationships: [.toOne("owner", "Employee", inverse: "badge")]
    ),
  ])

  /// Employees, and who of them has the badges, by their numbers.
  private func owners(_ stack: Stack) async throws -> [Int64: [Int64]] {
    try await stack.read { context in
      let people = try context.fetch(FetchRequest("Employee"))
      let pairs = people.compactMap { person in
        person[one: "badge"].map { ($0.objectID.primaryKey, person.objectID.primaryKey) }
      }
      return Dictionary(grouping: pairs, by: \.0).mapValues { $0.map(\.1).sorted() }
    }
  }

  @Test(
    "A target of a one-to-one has one owner, though two stacks give it to two",
    arguments: [MergePolicy.error, .objectTrumps, .overwrite, .storeTrumps, .rollback],
    [false, true]
  )
  func oneToOne(policy: MergePolicy, isNew: Bool) async throws {
    let url = try #require(TestServer.shared).schema()
    let ours = try Stack(Self.badges, at: .postgreSQL(url))
    try await ours.write { context in
      _ = try (context.insert("Employee"), context.insert("Employee"), context.insert("Badge"))
    }
    let theirs = try Stack(Self.badges, at: .postgreSQL(url))
    var code: ContextError.Code?
    do {
      try await ours.write(policy: policy) { context in
        let people = try context.fetch(FetchRequest("Employee"))
        let person = try isNew ? context.insert("Employee") : people[0]
        try context.fetch(FetchRequest("Badge"))[0].setTarget(person, of: "owner")
        try Self.change(theirs) { context in
          let people = try context.fetch(FetchRequest("Employee"))
          try context.fetch(FetchRequest("Badge"))[0].setTarget(people[1], of: "owner")
        }
      }
    } catch let error as ContextError {
      code = error.code
    }
    #expect((code == .conflict) == (policy == .error))
    let isOurs = policy == .objectTrumps || policy == .overwrite
    #expect(try await owners(theirs) == [1: [isOurs ? (isNew ? 3 : 1) : 2]])
    try ours.close()
    try theirs.close()
  }

  @Test("Many who give badges away at once leave each with one owner")
  func manyOneToOnes() async throws {
    let url = try #require(TestServer.shared).schema()
    let stacks = try (0..<3).map { _ in try Stack(Self.badges, at: .postgreSQL(url)) }
    try await stacks[0].write { context in
      for _ in 0..<4 { _ = try (context.insert("Employee"), context.insert("Badge")) }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, stack) in stacks.enumerated() {
        group.addTask {
          for round in 0..<20 {
            do {
              try await stack.write { context in
                let people = try context.fetch(FetchRequest("Employee"))
                let badge = try context.fetch(FetchRequest("Badge"))[(round + number) % 4]
                try badge.setTarget(people[(3 * round + number) % 4], of: "owner")
              }
            } catch let error as ContextError where error.code == .conflict {
            } catch let error as StoreError where error.code == .busy {}
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await owners(stacks[0]).values.allSatisfy { $0.count == 1 })
    for stack in stacks { try stack.close() }
  }

  @Test("A row that another stack has changed is a conflict by default, and the policies settle it")
  func conflicts() async throws {
    for policy in [MergePolicy.error, .objectTrumps, .storeTrumps, .rollback] {
      let url = try #require(TestServer.shared).schema()
      let ours = try stack(url)
      try await ours.write { context in
        let person = try context.insert("Person")
        person["email"] = "a@x"
        person["name"] = "old"
      }
      let theirs = try stack(url)
      let isConflict: Bool
      do {
        try await ours.write(policy: policy) { context in
          let person = try context.fetch(FetchRequest("Person"))[0]
          person["name"] = "ours"
          try self.rename(theirs)
        }
        isConflict = false
      } catch let error as ContextError {
        #expect(error.code == .conflict)
        #expect(error.conflicts.map(\.property) == ["name"])
        isConflict = true
      }
      #expect(isConflict == (policy == .error), "\(policy)")
      let name = try await theirs.read { context -> String in
        "\(try context.fetch(FetchRequest("Person"))[0]["name"])"
      }
      #expect(
        name == "\(StoredValue.text(policy == .objectTrumps ? "ours" : "theirs"))",
        "\(policy)"
      )
      try ours.close()
      try theirs.close()
    }
  }

  /// Another program changes the name meanwhile.
  private func rename(_ stack: Stack) throws {
    try Self.change(stack) { try $0.fetch(FetchRequest("Person"))[0]["name"] = "theirs" }
  }

  /// Changes what another stack has, on the caller's thread.
  private static func change(
    _ stack: Stack,
    _ body: (ManagedObjectContext) throws -> Void
  ) throws {
    let context = ManagedObjectContext(.background, root: stack.root)
    defer { context.close() }
    try body(context)
    try context.save()
  }

  @Test("Two objects swap a unique key in one save; a key that another one has is named")
  func keys() async throws {
    let url = try #require(TestServer.shared).schema()
    let stack = try stack(url)
    try await stack.write { context in
      for name in ["a", "b"] { try context.insert("Person")["email"] = .text(name) }
    }
    try await stack.write { context in
      let people = try context.fetch(FetchRequest("Person", sortKeys: [SortKey("email")]))
      people[0]["email"] = "b"
      people[1]["email"] = "a"
    }
    do {
      try await stack.write { context in try context.insert("Person")["email"] = "b" }
      Issue.record("a key was given twice")
    } catch let error as ContextError {
      #expect(error.code == .duplicate)
      #expect(error.message.contains("Person.email"))
      #expect(error.object != nil)
    }
    let count = try await stack.read { try $0.count(FetchRequest("Person")) }
    #expect(count == 2)
    try stack.close()
  }

  @Test("A deletion clears the links of rows that the context has not read")
  func deletions() async throws {
    let url = try #require(TestServer.shared).schema()
    let stack = try stack(url)
    try await stack.write { context in
      let team = try context.insert("Team")
      team["name"] = "red"
      let person = try context.insert("Person")
      person["email"] = "a"
      let friend = try context.insert("Person")
      friend["email"] = "b"
      person[many: "friends"] = [friend]
      team[many: "members"] = [person]
    }
    try await stack.write { context in
      try context.delete(try context.fetch(FetchRequest("Team"))[0])
      try context.delete(
        try context.fetch(FetchRequest("Person", filter: try Filter(parsing: "email == 'b'")))[0]
      )
    }
    let schema = TestServer.schema(of: url)
    let server = try #require(TestServer.shared)
    #expect(try server.psql("SELECT email, team FROM \(schema).\"Person\"") == "a|")
    #expect(try server.psql("SELECT count(*) FROM \(schema).\"Person_friends\"") == "0")
    try stack.close()
  }

  @Test("Every type keeps its extreme values, and holds them natively")
  func values() async throws {
    let url = try #require(TestServer.shared).schema()
    let values: [(type: AttributeType, values: [StoredValue])] = [
      (
        .string,
        [.text(""), .text("\u{FEFF}e\u{301}\u{10FFFF}"), .text("NULL"), .text("{a,\"b\\\"}")]
      ),
      (.int16, [.integer(-32768), .integer(32767)]),
      (.int32, [.integer(-2_147_483_648), .integer(2_147_483_647)]),
      (.int64, [.integer(.min), .integer(.max)]),
      (
        .double,
        [
          .real(-.infinity), .real(.leastNonzeroMagnitude), .real(.greatestFiniteMagnitude),
          .real(0.1),
        ]
      ),
      (.float, [.real(Double(Float.leastNonzeroMagnitude)), .real(Double(Float(0.1)))]),
      (
        .decimal,
        [.text("-0.000000000000000000000000000001"), .text(String(repeating: "9", count: 200))]
      ),
      (.bool, [.integer(0), .integer(1)]),
      (
        .timestamp,
        [
          .text("0000-02-29 00:00:00"), .text("9999-12-31 23:59:59.999999"),
          .text("1969-12-31 23:59:59.5"),
        ]
      ),
      (.date, [.text("0000-01-01"), .text("9999-12-31")]),
      (.time, [.text("00:00:00"), .text("23:59:59.999999")]),
      (.duration, [.text("P1Y2M3DT4H5M6.5S")]),
      (.uuid, [.text("00112233-4455-6677-8899-aabbccddeeff")]),
      (.url, [.text("https://x/ü?a=%20")]),
      (.data, [.blob([]), .blob([0, 255, 92, 34])]),
      (.json, [.text("{\"b\":1.50,\"a\":[true,\"\\u0000\"]}"), .text("null")]),
      (.enum, [.text("x")]),
    ]
    let model = Model(entities: [
      Entity(
        name: "Thing",
        attributes: [Attribute(name: "number", type: .int64)]
          + values.map { Attribute(name: "a_\($0.type.rawValue)", type: $0.type) },
        uniqueKeys: [["number"]]
      )
    ])
    let stack = try Stack(model, at: .postgreSQL(url))
    let count = values.map(\.values.count).max() ?? 0
    try await stack.write { context in
      for row in 0..<count {
        let thing = try context.insert("Thing")
        thing["number"] = .integer(Int64(row))
        for (type, values) in values where row < values.count {
          try thing.setValue(values[row], of: "a_\(type.rawValue)")
        }
      }
    }
    try stack.close()
    let again = try Stack(model, at: .postgreSQL(url))
    let rows = try await again.read { context -> [[StoredValue]] in
      try context.fetch(FetchRequest("Thing", sortKeys: [SortKey("number")])).map { thing in
        try values.map { try thing.value(of: "a_\($0.type.rawValue)") }
      }
    }
    for (column, (type, values)) in values.enumerated() {
      for row in 0..<count {
        #expect(rows[row][column] == (row < values.count ? values[row] : .null), "\(type) \(row)")
      }
    }
    let types = try #require(TestServer.shared).psql(
      "SELECT string_agg(data_type, ', ' ORDER BY ordinal_position) FROM information_schema.columns"
        + " WHERE table_name = 'Thing' AND table_schema = '\(TestServer.schema(of: url))'"
    )
    #expect(
      types
        == """
        bigint, bigint, bigint, text, smallint, integer, bigint, double precision, double precision, numeric, \
        boolean, timestamp with time zone, date, time without time zone, text, uuid, text, bytea, json, text
        """
    )
    try again.close()
  }

  @Test("Another stack's commits arrive in results that are followed")
  @MainActor func followed() async throws {
    let url = try #require(TestServer.shared).schema()
    let (ours, theirs) = (try stack(url), try stack(url))
    try await theirs.write { try $0.insert("Person")["email"] = "a" }
    let request = FetchRequest("Person", sortKeys: [SortKey("email")])
    let results = try ours.main.results(request, pollingEvery: .milliseconds(20))
    var events = results.events().makeAsyncIterator()
    _ = try await events.next()
    #expect(try results.object(at: 0)["email"] == "a")
    try await theirs.write { try $0.insert("Person")["email"] = "0" }
    // Whatever else is committed on the server may be told, too.
    while try results.object(at: 0)["email"] != "0" { _ = try await events.next() }
    try ours.close()
    try theirs.close()
  }

  @Test("A text with U+0000 is refused with the reason, and nothing is written")
  func nul() async throws {
    let url = try #require(TestServer.shared).schema()
    let stack = try stack(url)
    do {
      try await stack.write { context in
        try context.insert("Person")["email"] = "a"
        try context.insert("Person")["email"] = "b\0c"
      }
      Issue.record("it was not refused")
    } catch let error as ContextError {
      #expect(error.message.contains("U+0000"))
    }
    #expect(try await stack.read { try $0.count(FetchRequest("Person")) } == 0)
    try stack.close()
  }

  @Test("Predicates and orders give what a file gives, whoever decides them")
  func predicates() async throws {
    let url = try #require(TestServer.shared).schema()
    let stacks = [try stack(url), try Stack(Self.model, at: .inMemory)]
    for stack in stacks {
      try await stack.write { context in
        let team = try context.insert("Team")
        team["name"] = "Red"
        for (index, name) in ["Ä", "a", "B", "b", "", "éa", "10", "9"].enumerated() {
          let person = try context.insert("Person")
          person["email"] = .text("\(index)")
          if !name.isEmpty { person["name"] = .text(name) }
          if index % 3 > 0 { person["age"] = .integer(Int64(index * 10 - 20)) }
          if index % 2 == 0 { person[one: "team"] = team }
        }
      }
    }
    let predicates = [
      "TRUEPREDICATE", "FALSEPREDICATE", "age > 10", "age != 10", "NOT (age > 10)", "age == nil",
      "age BETWEEN {0, 30}", "age IN {10, 20}", "NOT (age IN {10, 20})", "name BEGINSWITH 'é'",
      "name CONTAINS 'a'", "name < 'a'", "name ==[cd] 'A'", "name LIKE '?'", "name ENDSWITH 'a'",
      "team.name == 'Red'", "team == nil", "team != nil", "name == nil OR age < 0",
      "age > 10 AND NOT (name == 'b')", "name MATCHES '[0-9]+'",
      "SUBQUERY(friends, $f, $f.age > 1).@count == 0",
      "skills.@count == 0 AND age >= 0",
    ]
    let orders = [
      [SortKey("email")], [SortKey("name"), SortKey("email", ascending: false)],
      [SortKey("age", ascending: false), SortKey("name")],
      [SortKey("team.name"), SortKey("email")],
    ]
    for predicate in predicates {
      for order in orders {
        var answers: [[String]] = []
        for stack in stacks {
          answers.append(
            try await stack.read { context in
              var request = FetchRequest(
                "Person",
                filter: try Filter(parsing: predicate),
                sortKeys: order
              )
              let all = try context.fetch(request).map { "\($0["email"])" }
              let count = try context.count(request)
              request.limit = 3
              request.offset = 1
              return all + ["\(count)"] + (try context.fetch(request).map { "\($0["email"])" })
            }
          )
        }
        #expect(answers[0] == answers[1], "\(predicate) by \(order.map(\.text))")
      }
    }
    for stack in stacks { try stack.close() }
  }

  @Test(
    "An entity may be called as the index of another one's primary key is",
    arguments: [true, false]
  )
  func primaryKeyName(grows: Bool) throws {
    let url = try #require(TestServer.shared).schema()
    let tag = Entity(name: "Tag", attributes: [Attribute(name: "a")])
    let key = Entity(name: "Tag_pkey", attributes: [Attribute(name: "a")])
    if grows { try Stack(Model(entities: [tag]), at: .postgreSQL(url)).close() }
    let stack = try Stack(Model(entities: [tag, key]), at: .postgreSQL(url))
    #expect(stack.model.entities.map { $0.name } == ["Tag", "Tag_pkey"])
    try stack.close()
  }
}
