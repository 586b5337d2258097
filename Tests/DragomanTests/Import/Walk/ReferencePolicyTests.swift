import DragomanGraph
import Testing

@testable import Dragoman

/// What becomes of references whose target is not there: the same whichever way records come.
@Suite("References that nobody has, in every way to import") struct ReferencePolicyTests {
  private static func people(_ links: String, team: String = "name: name") -> String {
    """
    Person:
      unique: id
      attributes: { id: { type: int64 }, name: name }
      relationships: { \(links) }
    Team:
      unique: id
      attributes: { id: { type: int64 }, \(team) }
    """
  }

  private static let ann: ForeignValue = ["id": 1, "name": "Ann", "team_id": 9]

  @Test("stub makes an object of the key, which its record completes", arguments: Way.allCases)
  func stub(way: Way) async throws {
    let fixture = try WalkFixture(
      Self.people(
        "team: { entity: Team, kind: toOne, key: { id: team_id }, onUnresolved: stub }",
        team: "name: { from: name, required: true }"
      )
    )
    let report = try await fixture.run("Person", [Self.ann], by: way)
    #expect(report.summary == "read 1, inserted 1")
    #expect(report.entitySummary == ["Person: 1 inserted", "Team: 1 stubs"])
    #expect(report.relationships["Person.team"]?.unresolved == 1)
    #expect(try fixture.rows("SELECT id, name, _stub FROM Team") == ["9|null|1"])
    let joined = "SELECT p.id, t.id FROM Person p JOIN Team t ON t._pk = p.team"
    #expect(try fixture.rows(joined) == ["1|9"])
    #expect(try await fixture.run("Person", [Self.ann], by: way).summary == "read 1, unchanged 1")

    let team = try await fixture.run("Team", [["id": 9, "name": "Nine"]], by: way)
    #expect(team.summary == "read 1, updated 1")
    #expect(try fixture.rows("SELECT id, name, _stub FROM Team") == ["9|Nine|null"])
    #expect(try fixture.rows(joined) == ["1|9"])
  }

  @Test(
    "A stub is not there already: the modes ignore and insert complete it",
    arguments: Way.allCases,
    [EntityWriter.Mode.ignore, .insert]
  )
  func completed(way: Way, mode: EntityWriter.Mode) async throws {
    let fixture = try WalkFixture(
      Self.people("team: { entity: Team, kind: toOne, key: { id: team_id }, onUnresolved: stub }")
    )
    try await fixture.run("Person", [Self.ann], by: way)
    let first = try await fixture.run("Team", [["id": 9, "name": "Nine"]], by: way, mode: mode)
    #expect(first.summary == "read 1, updated 1")
    #expect(try fixture.rows("SELECT id, name, _stub FROM Team") == ["9|Nine|null"])
    let second = try await fixture.run("Team", [["id": 9, "name": "Ten"]], by: way, mode: mode)
    #expect(second.summary == (mode == .ignore ? "read 1, skipped 1" : "read 1, rejected 1"))
    #expect(try fixture.rows("SELECT id, name, _stub FROM Team") == ["9|Nine|null"])
  }

  @Test(
    "pending keeps the reference in the store until its target comes, by whichever way",
    arguments: Way.allCases,
    Way.allCases
  )
  func pending(way: Way, later: Way) async throws {
    let fixture = try WalkFixture(
      Self.people(
        "team: { entity: Team, kind: toOne, key: { id: team_id }, onUnresolved: pending }"
      )
    )
    let report = try await fixture.run("Person", [Self.ann], by: way)
    #expect(report.summary == "read 1, inserted 1")
    #expect(report.relationships["Person.team"]?.unresolved == 1)
    #expect(try fixture.waiting() == [#"Person.team {"id":9}"#])
    #expect(try await fixture.run("Person", [Self.ann], by: later).summary == "read 1, unchanged 1")
    #expect(try fixture.waiting() == [#"Person.team {"id":9}"#])
    #expect(try fixture.rows("SELECT _v FROM Person") == ["1"])
    // Of what waits nothing is said where no record of the import refers to it.
    let other = try await fixture.run("Person", [["id": 2]], by: later)
    #expect(other.linkSummary == [])
    #expect(try fixture.waiting() == [#"Person.team {"id":9}"#])

    try await fixture.run("Team", [["id": 9, "name": "Nine"]], by: later)
    #expect(try fixture.waiting() == [])
    #expect(
      try fixture.rows("SELECT p.id, t.id FROM Person p JOIN Team t ON t._pk = p.team") == ["1|9"]
    )
  }

  @Test("A later record takes back the reference that waits", arguments: Way.allCases)
  func takenBack(way: Way) async throws {
    let fixture = try WalkFixture(
      Self.people(
        "team: { entity: Team, kind: toOne, key: { id: team_id }, onUnresolved: pending }"
      )
    )
    try await fixture.run("Person", [Self.ann], by: way)
    try await fixture.run("Person", [["id": 1, "team_id": nil]], by: way)
    #expect(try fixture.waiting() == [])
  }

  @Test("reject refuses a record whose target does not come", arguments: Way.allCases)
  func reject(way: Way) async throws {
    let fixture = try WalkFixture(
      Self.people("boss: { entity: Person, kind: toOne, key: { id: boss }, onUnresolved: reject }")
    )
    let report = try await fixture.run(
      "Person",
      [["id": 1, "boss": 2], ["id": 2, "boss": 1], ["id": 3, "boss": 4], ["id": 5, "boss": 3]],
      by: way
    )
    #expect(report.summary == "read 4, inserted 2, rejected 2")
    #expect(report.issueSummary == ["link.unresolved 2"])
    #expect(
      try fixture.rows("SELECT p.id, b.id FROM Person p JOIN Person b ON b._pk = p.boss ORDER BY 1")
        == ["1|2", "2|1"]
    )
  }

  @Test(
    "The hook of a record that was held is given the record",
    arguments: [Way.context, .ownContext]
  )
  func heldHook(way: Way) async throws {
    let fixture = try WalkFixture(
      Self.people("boss: { entity: Person, kind: toOne, key: { id: boss }, onUnresolved: reject }")
    )
    var code = ImportCode()
    code.entities[Array("Person".utf8)] = EntityCode(postImport: { record, person in
      try person.setValue(
        .text("\(record["nick"]?.string ?? "-") of \(person["id"].text)"),
        of: "name"
      )
    })
    let records: [ForeignValue] = [["id": 1, "boss": 2, "nick": "A"], ["id": 2, "nick": "B"]]
    let report = try await fixture.run("Person", records, by: way, code: code)
    #expect(report.summary == "read 2, inserted 2")
    #expect(try fixture.rows("SELECT name FROM Person ORDER BY id") == ["A of 1", "B of 2"])
  }

  @Test(
    "What one relationship makes a stub is the target of the others, too",
    arguments: Way.allCases,
    ["clear", "pending"]
  )
  func stubFirst(way: Way, policy: String) async throws {
    let fixture = try WalkFixture(
      Self.people(
        "aside: { entity: Team, kind: toOne, key: { id: team_id }, onUnresolved: \(policy) },"
          + " team: { entity: Team, kind: toOne, key: { id: team_id }, onUnresolved: stub }"
      )
    )
    let report = try await fixture.run("Person", [Self.ann], by: way)
    #expect(report.issueSummary == [])
    #expect(try fixture.waiting() == [])
    #expect(try fixture.rows("SELECT aside = team FROM Person") == ["1"])
    #expect(try await fixture.run("Person", [Self.ann], by: way).summary == "read 1, unchanged 1")
  }

  @Test("A key twice in a list waits once, unless the list may repeat it", arguments: Way.allCases)
  func twice(way: Way) async throws {
    for (repeats, count) in [(false, 1), (true, 2)] {
      let fixture = try WalkFixture(
        Self.people(
          "teams: { entity: Team, kind: toMany, key: { id: team_ids }, onUnresolved: pending,"
            + " repeats: \(repeats) }"
        )
      )
      try await fixture.run("Person", [["id": 1, "team_ids": [7, 7]]], by: way)
      #expect(try fixture.waiting().count == count)
    }
  }

  @Test(
    "A record without a required value is skipped by mode ignore where its object is there",
    arguments: Way.allCases
  )
  func incomplete(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Team:
        unique: id
        attributes: { id: { type: int64 }, name: { required: true } }
      """
    )
    try await fixture.run("Team", [["id": 1, "name": "One"]], by: way)
    let report = try await fixture.run("Team", [["id": 1], ["id": 2]], by: way, mode: .ignore)
    #expect(report.summary == "read 2, skipped 1, rejected 1")
    #expect(report.issueSummary == ["record.incomplete 1"])
    let again = try await fixture.run("Team", [["id": 1]], by: way, mode: .insert)
    #expect(again.issueSummary == ["key.exists 1"])
  }

  @Test("A record that is no object has no key", arguments: Way.allCases)
  func noObject(way: Way) async throws {
    let fixture = try WalkFixture(Self.people(""))
    let report = try await fixture.run("Person", [["id": 1], "text", ["id": 2]], by: way)
    #expect(report.summary == "read 3, inserted 2, rejected 1")
    #expect(report.issues.flatMap(\.examples).map(\.key) == [nil])
  }

  @Test(
    "An object known by its parent entity becomes one of the sub-entity that a record names",
    arguments: Way.allCases
  )
  func specialized(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Vehicle: { unique: id, attributes: { id: { type: int64 }, wheels: { type: int64 } } }
      Car: { parent: Vehicle, attributes: { doors: { type: int64 } } }
      Bike: { parent: Vehicle }
      """
    )
    try await fixture.run("Vehicle", [["id": 1, "wheels": 4]], by: way)
    let car = try await fixture.run("Car", [["id": 1, "doors": 5]], by: way)
    #expect(car.summary == "read 1, updated 1")
    let all = "SELECT _entity, id, wheels, doors, _v FROM Vehicle"
    #expect(try fixture.rows(all) == ["Car|1|4|5|2"])
    let general = try await fixture.run("Vehicle", [["id": 1, "wheels": 4]], by: way)
    #expect(general.summary == "read 1, unchanged 1")
    let bike = try await fixture.run("Bike", [["id": 1]], by: way)
    #expect(bike.issueSummary == ["key.duplicate 1"])
    #expect(try fixture.rows(all) == ["Car|1|4|5|2"])
  }

  @Test(
    "What is joined to an ordered list comes behind the places that are kept",
    arguments: Way.allCases
  )
  func keptPlaces(way: Way) async throws {
    let fixture = try WalkFixture(
      Self.people(
        "friends: { entity: Person, kind: toMany, key: { id: friends }, ordered: true, assign: union }"
      )
    )
    let records: [ForeignValue] = [
      ["id": 3, "friends": [6, 4]], ["id": 4], ["id": 3, "friends": [3, 4]],
      ["id": 3, "friends": [2]], ["id": 2],
    ]
    try await fixture.run("Person", records, by: way)
    #expect(
      try fixture.rows(
        "SELECT p.id FROM Person_friends f JOIN Person p ON p._pk = f.target ORDER BY f.position"
      ) == ["4", "3", "2"]
    )
  }

  @Test("A list that repeats keeps its repeats where its inverse is declared first")
  func repeatsBehindInverse() async throws {
    for way in Way.allCases {
      let fixture = try WalkFixture(
        """
        Song:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { lists: { entity: List, kind: toMany, inverse: songs } }
        List:
          unique: id
          attributes: { id: { type: int64 } }
          relationships:
            songs: { entity: Song, kind: toMany, key: { id: songs }, repeats: true, inverse: lists }
        """
      )
      try await fixture.run("Song", [["id": 1], ["id": 2]], by: way)
      try await fixture.run("List", [["id": 7, "songs": [1, 2, 1]]], by: way)
      #expect(
        try fixture.rows(
          "SELECT s.id FROM List_songs l JOIN Song s ON s._pk = l.target ORDER BY l.position"
        ) == ["1", "2", "1"]
      )
    }
  }

  @Test(
    "What an earlier import waited for joins a list that may hold it twice; what is there stays",
    arguments: Way.allCases,
    [false, true]
  )
  func repeatsWaiting(way: Way, isOrdered: Bool) async throws {
    let fixture = try WalkFixture(
      """
      List:
        unique: id
        attributes: { id: { type: int64 } }
        relationships:
          songs: { entity: Song, kind: toMany, key: { id: songs }, repeats: true, ordered: \(isOrdered), onUnresolved: pending }
      Song: { unique: id, attributes: { id: { type: int64 } } }
      """
    )
    let songs = "SELECT s.id FROM List_songs l JOIN Song s ON s._pk = l.target ORDER BY l.position"
    try await fixture.run("Song", [["id": 1]], by: way)
    try await fixture.run("List", [["id": 7, "songs": [1, 2, 1, 2, 3]]], by: way)
    #expect(try fixture.rows(songs) == ["1", "1"])
    try await fixture.run("Song", [["id": 2]], by: way)
    #expect(try fixture.rows(songs) == ["1", "1", "2", "2"])
    try await fixture.run("Song", [["id": 3]], by: way)
    #expect(try fixture.rows(songs) == ["1", "1", "2", "2", "3"])
  }

  @Test(
    "A list that joins, and may hold a target twice, names twice who came since a record waited for it"
  )
  func repeatsJoining() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        List:
          unique: id
          attributes: { id: { type: int64 } }
          relationships: { songs: { entity: Song, kind: toMany, key: { id: songs }, repeats: true, assign: union } }
        Song: { unique: id, attributes: { id: { type: int64 } } }
      sources:
        lists: { format: json, entity: List, records: /lists }
        songs: { format: json, entity: Song, records: /songs }
      """
    )
    let feed =
      #"{"lists":[{"id":7,"songs":[1]},{"id":7,"songs":[1,1,2]}],"songs":[{"id":1},{"id":2}]}"#
    #expect(try await fixture.run(feed).summary == "read 4, inserted 3, updated 1")
    let songs = "SELECT s.id FROM List_songs l JOIN Song s ON s._pk = l.target ORDER BY l.position"
    let first = try sql(fixture.store, songs)
    #expect(Set(first) == ["1", "2"] && first.last == "2")
  }

  @Test("A record without the to-one of its key has no key", arguments: Way.allCases)
  func keyless(way: Way) async throws {
    let fixture = try WalkFixture(
      """
      Order: { unique: no, attributes: { no: { type: int64 } }, relationships: { lines: { entity: Line, kind: toMany, from: lines, inverse: order } } }
      Line:
        unique: [order, place]
        attributes: { place: { type: int64 } }
        relationships: { order: { entity: Order, kind: toOne, key: { no: order }, inverse: lines } }
      """
    )
    try await fixture.run("Order", [["no": 1, "lines": [["place": 1]]]], by: way)
    let lines: [ForeignValue] = [
      ["place": 1], ["place": 1, "order": nil], ["place": 2, "order": 1],
    ]
    let report = try await fixture.run("Line", lines, by: way)
    #expect(report.summary == "read 3, inserted 1, rejected 2")
    #expect(report.issues.map(\.code) == [.keyMissing])
    #expect(report.issues.first?.count == 2 && report.issues.first?.attribute == "order")
    #expect(try fixture.rows("SELECT place FROM Line ORDER BY 1") == ["1", "2"])
  }
}
