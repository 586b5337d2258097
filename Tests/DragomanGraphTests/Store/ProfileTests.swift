import Dragoman
import DragomanGraph
import Foundation
import Testing

/// What values are like, and what objects are linked to: for those who look into a store.
@Suite struct ProfileTests {
  private static let map = """
    version: 1
    entities:
      Thing:
        unique: id
        attributes:
          id: { type: int64 }
          word: word
          price: { type: decimal }
          share: { type: double }
          day: { type: date }
          at: { type: timestamp }
          clock: { type: time }
          flag: { type: bool }
        relationships:
          parts: { entity: Thing, kind: toMany, ordered: true, key: { id: parts }, onUnresolved: pending }
          owner: { entity: Thing, kind: toOne, key: { id: owner }, onUnresolved: clear }
        discriminator: { from: kind, values: { s: Special } }
      Special: { parent: Thing }
    sources:
      things: { format: json, entity: Thing }
    """

  private func store(_ records: String) async throws -> SQLiteStore {
    let store = try SQLiteStore(at: .inMemory)
    let input = ImportInput.bytes(Array("[\(records)]".utf8), name: "things.json")
    let report = try await Importer(map: try ImportMap(yaml: Self.map), store: store)
      .run(ImportRequest([input]))
    try #require(report.counts.rejected == 0, "\(report.issues)")
    return store
  }

  @Test("Nulls, different values, bounds and the most frequent values are counted")
  func counts() async throws {
    let store = try await store(
      (1...12).map { number in
        let word = number <= 6 ? "\"a\"" : number <= 9 ? "\"b\"" : number == 10 ? "\"c\"" : "null"
        return #"{"id":\#(number),"word":\#(word),"kind":"\#(number % 2 == 0 ? "s" : "t")"}"#
      }.joined(separator: ",").replacing(#""kind":"t""#, with: #""kind":null"#)
    )
    let profile = try store.profile(of: "word", in: "Thing")
    #expect(profile.objectCount == 12 && profile.nullCount == 2 && profile.distinctCount == 3)
    #expect(profile.smallest == .text("a") && profile.largest == .text("c"))
    #expect(profile.frequentValues.map(\.value) == [.text("a"), .text("b")])
    #expect(profile.frequentValues.map(\.count) == [6, 3])
    #expect(profile.histogram.isEmpty)
    let some = try store.profile(of: "word", in: "Thing", filter: try Filter(parsing: "id > 6"))
    #expect(some.objectCount == 6 && some.distinctCount == 2)
    #expect(try store.profile(of: "word", in: "Special").objectCount == 6)
  }

  @Test(
    "A histogram counts each value once, in ranges that meet and reach from end to end",
    arguments: [
      ("id", ["1", "2", "3", "5"]), ("id", ["-9223372036854775808", "9223372036854775807"]),
      ("price", ["-0.01", "0", "12345678901234567890.5"]),
      ("share", ["0.1", "0.1000001", "-3e10"]), ("share", ["1", "2", "1e300", "-1e305"]),
      ("share", ["-1.7976931348623157e308", "0", "1.7976931348623157e308"]),
      ("clock", [#""12:00:00.1""#, #""12:00:00.5""#, #""12:00:00.9""#]),
      ("clock", [#""00:00:00""#, #""23:59:59.999999""#]),
      ("day", [#""0001-01-01""#, #""2026-02-28""#, #""9999-12-31""#]),
      ("at", [#""2026-01-01T00:00:00Z""#, #""2026-01-01T00:00:00.000001Z""#]),
      ("at", [#""0001-01-01T00:00:00Z""#, #""9999-12-31T23:59:59.999999Z""#]),
    ]
  )
  func histograms(attribute: String, values: [String]) async throws {
    let store = try await store(
      values.enumerated().map { number, value in
        attribute == "id" ? #"{"id":\#(value)}"# : #"{"id":\#(number),"\#(attribute)":\#(value)}"#
      }.joined(separator: ",")
    )
    let profile = try store.profile(of: attribute, in: "Thing")
    let bars = profile.histogram
    #expect((1...20).contains(bars.count))
    #expect(bars.reduce(0) { $0 + $1.count } == values.count)
    #expect(bars.first?.lower == profile.smallest && bars.last?.upper == profile.largest)
    for (one, next) in zip(bars, bars.dropFirst()) { #expect(one.upper == next.lower) }
    #expect(Set(bars.map(\.lower)).count == bars.count)
  }

  @Test("Ranges begin and end where they are said to, and are spelled as short as values are")
  func edges() async throws {
    let store = try await store(
      #"{"id":1,"share":0,"clock":"12:00:00.1"},{"id":2,"share":0.5,"clock":"12:00:00.5"},"#
        + #"{"id":3,"share":1,"clock":"12:00:00.9"}"#
    )
    let shares = try store.profile(of: "share", in: "Thing").histogram
    #expect(shares[3].lower == .real(0.15) && shares[10].count == 1)
    let clocks = try store.profile(of: "clock", in: "Thing").histogram
    #expect(clocks[1].lower == .text("12:00:00.14") && clocks[10].lower == .text("12:00:00.5"))
    #expect(clocks[10].count == 1)
  }

  @Test("Whole numbers and days are never divided")
  func wholeRanges() async throws {
    let store = try await store(
      #"{"id":1,"day":"2026-01-30"},{"id":2},{"id":3,"day":"2026-02-02"}"#
    )
    let ids = try store.profile(of: "id", in: "Thing").histogram
    #expect(ids.map(\.lower) == [.integer(1), .integer(2), .integer(3)])
    #expect(ids.map(\.count) == [1, 1, 1])
    let days = try store.profile(of: "day", in: "Thing").histogram
    #expect(
      days.map(\.lower)
        == ["2026-01-30", "2026-01-31", "2026-02-01", "2026-02-02"].map(StoredValue.text)
    )
    #expect(days.map(\.count) == [1, 0, 0, 1])
  }

  @Test("What has no order has no bounds, and what has one value no ranges")
  func noRanges() async throws {
    let store = try await store(#"{"id":1,"flag":true,"share":2},{"id":2,"flag":false,"share":2}"#)
    let flags = try store.profile(of: "flag", in: "Thing")
    #expect(flags.smallest == nil && flags.histogram.isEmpty && flags.distinctCount == 2)
    #expect(try store.profile(of: "share", in: "Thing").histogram.isEmpty)
    let none = try store.profile(of: "price", in: "Thing")
    #expect(none.nullCount == 2 && none.distinctCount == 0 && none.smallest == nil)
  }

  @Test("Who does not want it any more ends it")
  func stopping() async throws {
    let store = try await store(
      (1...20_000).map { #"{"id":\#($0),"word":"w\#($0)"}"# }.joined(separator: ",")
    )
    var asked = 0
    #expect(throws: StoreError.self) {
      try store.profile(of: "word", in: "Thing") {
        asked += 1
        return true
      }
    }
    #expect(asked == 1)
    // The connection is as it was.
    #expect(try store.profile(of: "word", in: "Thing").distinctCount == 20_000)
  }

  @Test("Origins are what each recorded import did to an object, its links on both sides included")
  func origins() async throws {
    let store = try await store(
      #"{"id":1,"word":"a","price":1.5,"parts":[2]},{"id":2,"word":"b"},{"id":3,"word":"c"}"#
    )
    func imports(_ records: String) async throws {
      let input = ImportInput.bytes(Array("[\(records)]".utf8), name: "things.json")
      _ = try await Importer(map: try ImportMap(yaml: Self.map), store: store).run(
        ImportRequest([input])
      )
    }
    try await imports(#"{"id":1,"word":"z","parts":[3,2],"owner":2},{"id":4,"word":"new"}"#)
    try await imports(#"{"id":2,"word":"b"}"#)
    func id(_ number: Int) throws -> ObjectID {
      var found: ObjectID?
      try store.forEachRow(FetchRequest("Thing", filter: try Filter(parsing: "id == \(number)"))) {
        found = $0.objectID
      }
      return try #require(found)
    }
    let one = try store.origins(of: id(1))
    #expect(one.map(\.run) == [2, 1] && one.map(\.kind) == [.updated, .inserted])
    #expect(one[0].attributes.map(\.attribute.name) == ["word"])
    #expect(
      one[0].attributes.first?.old == .text("a") && one[0].attributes.first?.new == .text("z")
    )
    let links = Dictionary(uniqueKeysWithValues: one[0].links.map { ($0.relationship, $0) })
    #expect(try links["owner"]?.added == [id(2)] && links["owner"]?.removed == [])
    #expect(try links["parts"]?.added == [id(3)] && links["parts"]?.removed == [])
    // That others link to it is theirs.
    #expect(try store.origins(of: id(2)).map(\.run) == [1])
    let new = try store.origins(of: id(4))
    #expect(new.map(\.kind) == [.inserted])
    #expect(new[0].attributes.contains { $0.attribute.name == "word" && $0.new == .text("new") })
    #expect(try store.origins(of: ObjectID(entity: "Thing", primaryKey: 99)).isEmpty)
    #expect(throws: StoreError.self) {
      try store.origins(of: ObjectID(entity: "Thng", primaryKey: 1))
    }
  }

  @Test("A name that is none is an error", arguments: ["wrd", "parts", "owner.wrd"])
  func unknown(name: String) async throws {
    let store = try await store(#"{"id":1}"#)
    #expect(throws: StoreError.self) { try store.profile(of: name, in: "Thing") }
  }

  @Test(
    "The targets of an object come in the relationship's order, as many as are asked for, with their own entities"
  )
  func targets() async throws {
    let store = try await store(
      #"{"id":1,"parts":[4,2,3],"owner":2},{"id":2},{"id":3,"kind":"s"},{"id":4}"#
    )
    let owner = ObjectID(entity: "Thing", primaryKey: 1)
    func ids(_ limit: Int?) throws -> [Int64] {
      try store.targets(of: "parts", at: owner, limit: limit).map(\.id.primaryKey)
    }
    let all = try ids(nil)
    #expect(all.count == 3 && Set(all).count == 3)
    #expect(try ids(2) == Array(all.prefix(2)))
    #expect(try ids(0).isEmpty && ids(9) == all)
    let entities = try store.targets(of: "parts", at: owner).map(\.entity)
    #expect(entities.filter { $0 == "Special" }.count == 1)
    #expect(try store.targets(of: "owner", at: owner).count == 1)
    #expect(try store.targets(of: "parts", at: ObjectID(entity: "Thing", primaryKey: 99)).isEmpty)
    #expect {
      try store.targets(of: "prts", at: owner)
    } throws: { ($0 as? StoreError)?.help == "did you mean parts?" }
  }

  @Test("References that wait are counted")
  func waiting() async throws {
    let store = try await store(#"{"id":1,"parts":[4,5]},{"id":4}"#)
    #expect(try store.pendingReferenceCount() == 1)
    #expect(try SQLiteStore(at: .inMemory).pendingReferenceCount() == 0)
  }
}
