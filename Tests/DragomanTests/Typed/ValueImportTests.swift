import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

/// Maps that are derived from Swift types, and feeds that become values.
@Suite struct ValueImportTests {
  private let stack: Stack

  init() throws { stack = try Stack(Model(Trip.self, Stop.self, Line.self), at: .inMemory) }

  private static let feed = """
    [
      {"no": 7, "price": "1,250.50", "day": "01.02.2026", "line": "A",
       "stops": [{"name": "Mill"}, {"name": "Port"}]},
      {"no": 8, "line": "B", "stops": []},
      {"no": 7, "price": null, "line": "B"}
    ]
    """

  private func map() throws -> ImportMap {
    try ImportMap(
      for: Trip.self,
      [
        .map("no", "number", to: \.number),
        .map("price", to: \.price, numbers: NumberFormat(decimal: ".", group: ",")),
        .map("day", to: \.day, dates: ["dd.MM.yyyy"]),
        .nested("stops", to: \.stops),
        .keys("line", to: \.line),
      ]
    )
  }

  private func imported(
    _ text: String,
    by map: ImportMap?,
    maximumRejects: Int? = 0
  ) async throws -> ImportedValues<Trip> {
    try await stack.importValues(
      [.bytes(Array(text.utf8), name: "trips.json")],
      into: Trip.self,
      by: map,
      maximumRejects: maximumRejects
    )
  }

  @Test(
    "Rules by key paths read nested records, keys, numbers and dates; values come in feed order"
  )
  func rules() async throws {
    let lines = stack.repository(of: Line.self)
    _ = try await lines.save([Line(code: "A"), Line(code: "B")])
    let result = try await imported(Self.feed, by: map())
    #expect(result.report.counts.inserted == 2 && result.report.counts.updated == 1)
    let values = result.values
    #expect(values.map(\.number) == [7, 8])
    // The later record of trip 7 cleared its price, left its day and stops, and moved it to line B.
    #expect(values.map(\.price) == [nil, nil])
    #expect(values[0].day == Date(timeIntervalSince1970: 1_769_904_000))
    #expect(values[0].stops.map(\.name) == ["Mill", "Port"])
    let all = try await lines.fetch(\.code == "B")
    let b = try #require(all.first?.objectID)
    #expect(values.map { $0.line?.id } == [b, b])
    #expect(try await stack.repository(of: Trip.self).fetchAll() == values)
  }

  @Test("Without a map, properties are read under their own names")
  func defaults() async throws {
    let trips = try await stack.import(
      [["number": 3, "price": "12.5", "day": "2026-02-01"]],
      into: Trip.self
    )
    #expect(trips.map(\.number) == [3] && trips[0].price == Decimal(string: "12.5"))
    #expect(trips[0].day == Date(timeIntervalSince1970: 1_769_904_000))
  }

  @Test("A rejected record fails the import, unless it is told to be let through")
  func rejects() async throws {
    let feed = #"[{"no": 1}, {"no": "x"}, {"no": 2}]"#
    await #expect(throws: ImportError.self) { try await imported(feed, by: map()) }
    #expect(try await stack.repository(of: Trip.self).count() == 0)
    let result = try await imported(feed, by: map(), maximumRejects: nil)
    #expect(result.values.map(\.number) == [1, 2])
    #expect(result.report.counts.rejected == 1)
  }

  @Test("What the map bounds holds where nothing else is said: rejects, memory of what waits")
  func bounds() async throws {
    var map = try map()
    map.importOptions.maximumRejects = 1
    let feed = #"[{"no": 1}, {"no": "x"}, {"no": "y"}]"#
    let many = await #expect(throws: ImportError.self) {
      try await imported(feed, by: map, maximumRejects: nil)
    }
    #expect(many?.code == .tooManyRejects)
    map.importOptions.maximumWaitingByteCount = 1 << 20
    let place = try #require(map.entities.firstIndex { $0.name == "Trip" })
    let line = try #require(map.entities[place].relationships.firstIndex { $0.name == "line" })
    map.entities[place].relationships[line].onUnresolved = .reject
    let waiting = (1...2000).map { #"{"no": \#($0), "line": "Z\#($0)"}"# }.joined(separator: ",")
    let large = await #expect(throws: ImportError.self) {
      try await imported("[\(waiting)]", by: map, maximumRejects: nil)
    }
    #expect(large?.code == .tooManyWaiting)
  }

  @Test("The same map reads CSV, and imports by it straight into the store")
  func otherFormats() async throws {
    let csv = "no,price,day,line,stops\n5,\"1,000.5\",03.04.2026,,\n"
    let values = try await stack.importValues(
      [.bytes(Array(csv.utf8), name: "trips.csv")],
      into: Trip.self,
      by: ImportMap(
        for: Trip.self,
        rulesOnly: true,
        [
          .map("no", to: \.number),
          .map("price", to: \.price, numbers: NumberFormat(decimal: ".", group: ",")),
        ]
      )
    )
    #expect(values.values.map(\.price) == [Decimal(string: "1000.5")])
    let report = try await stack.import(
      ImportRequest([.bytes(Array(#"[{"no": 6}]"#.utf8), name: "trips.json")]),
      by: map()
    )
    #expect(report.counts.inserted == 1)
    #expect(try await stack.repository(of: Trip.self).count() == 2)
  }

  @Test("The model of a derived map is the types' model")
  func model() throws {
    let derived = try map().model()
    #expect(Set(derived.entities.map(\.name)) == ["Trip", "Stop", "Line"])
    let before = try stack.store.model
    try stack.store.grow(to: derived)
    #expect(try stack.store.model == before)
  }

  @Test("Faults of a derived map are told together")
  func faults() {
    do throws(MapFaults) {
      _ = try ImportMap(
        for: Trip.self,
        [
          .map("a", to: \.number), .map("b", to: \.number),
          .map("c[", to: \.price), .map("d", to: \.day, dates: ["no such format Q9"]),
          .nested("a[", to: \.stops), .keys("b[", to: \.line),
        ]
      )
      Issue.record("a faulty map was made")
    } catch {
      let places = error.faults.map(\.place)
      #expect(error.faults.count >= 5, "\(error)")
      #expect(places.contains("entities.Trip.relationships.stops.from"), "\(places)")
      #expect(places.contains("entities.Trip.relationships.line.key"), "\(places)")
    }
  }

  @Test("Keys of a sub-entity are those that its parent declares")
  func keysOfSubEntity() async throws {
    let stack = try Stack(Model(Rail.self, Metro.self, Ride.self), at: .inMemory)
    let m1 = try #require(
      try await stack.repository(of: Metro.self).save(Metro(code: "M1")).objectID
    )
    let rides = try await stack.import(
      [["id": 1, "line": "M1"]],
      into: Ride.self,
      by: ImportMap(for: Ride.self, [.keys("line", to: \.metro)])
    )
    #expect(rides.map(\.metro?.id) == [m1])
  }

  @Test("A cancelled import writes nothing, and says so")
  func cancelled() async throws {
    let stack = stack
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await stack.import([["number": 3]], into: Trip.self)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await stack.repository(of: Trip.self).count() == 0)
  }
}

private struct Trip: PersistentValue, Equatable {
  var objectID: ObjectID?
  var number: Int
  var price: Decimal?
  var day: Date?
  var stops: [Stop]
  var line: Ref<Line>?

  struct Fields: Sendable {
    let number = Field(0, "number", \Trip.number, isUnique: true)
    let price = Field(1, "price", \Trip.price)
    let day = Field(2, "day", \Trip.day) { $0.type = .date }
    let stops = Field(3, "stops", \Trip.stops, deleteRule: .cascade)
    let line = Field(4, "line", \Trip.line)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Trip>(
    "Trip",
    [fields.number, fields.price, fields.day, fields.stops, fields.line]
  )

  init(from row: borrowing UnboxingRow) throws {
    objectID = row.objectID
    number = try row[Self.fields.number]
    price = try row[Self.fields.price]
    day = try row[Self.fields.day]
    stops = try row[Self.fields.stops]
    line = try row[Self.fields.line]
  }
}

private struct Rail: PersistentValue {
  var objectID: ObjectID?
  var code: String

  struct Fields: Sendable {
    let code = Field(0, "code", \Rail.code, isUnique: true)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Rail>("Rail", [fields.code])

  init(from row: borrowing UnboxingRow) throws {
    objectID = row.objectID
    code = try row[Self.fields.code]
  }
}

private struct Metro: PersistentValue {
  var objectID: ObjectID?
  var code: String

  struct Fields: Sendable {
    let code = Field(0, "code", \Metro.code)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Metro>("Metro", parent: Rail.self, [fields.code])

  init(code: String) { self.code = code }

  init(from row: borrowing UnboxingRow) throws {
    objectID = row.objectID
    code = try row[Self.fields.code]
  }
}

private struct Ride: EntityValue {
  var id: Int
  var metro: Ref<Metro>?

  struct Fields: Sendable {
    let id = Field(0, "id", \Ride.id, isUnique: true)
    let metro = Field(1, "metro", \Ride.metro)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Ride>("Ride", [fields.id, fields.metro])

  init(from row: borrowing UnboxingRow) throws {
    id = try row[Self.fields.id]
    metro = try row[Self.fields.metro]
  }
}

private struct Stop: PersistentValue, Equatable {
  var objectID: ObjectID?
  var name: String

  struct Fields: Sendable {
    let name = Field(0, "name", \Stop.name)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Stop>("Stop", [fields.name])

  init(from row: borrowing UnboxingRow) throws {
    objectID = row.objectID
    name = try row[Self.fields.name]
  }
}

private struct Line: PersistentValue, Equatable {
  var objectID: ObjectID?
  var code: String

  struct Fields: Sendable {
    let code = Field(0, "code", \Line.code, isUnique: true)
  }
  static let fields = Fields()
  static let schema = EntitySchema<Line>("Line", [fields.code])

  init(code: String) { self.code = code }

  init(from row: borrowing UnboxingRow) throws {
    objectID = row.objectID
    code = try row[Self.fields.code]
  }
}
