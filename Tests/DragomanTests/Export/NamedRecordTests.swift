import GRDB
import TestSupport
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Records and children that stand under a name each: dictionaries in JSON, `*` in XML.
@Suite struct NamedRecordTests {
  private static let map = """
    version: 1
    entities:
      Country:
        unique: code
        attributes: { code: { from: code } }
        relationships:
          currencies: { entity: Currency, kind: toMany, from: "money.currencies.*", onMissing: clear, ordered: true }
          rates: { entity: Rate, kind: toMany, from: "rates.*", inverse: country }
      Currency:
        unique: code
        attributes:
          code: { from: $key }
          name: {}
          minor: { from: minor.digits, type: int32 }
      Rate:
        unique: [country, year]
        attributes:
          year: { from: $key, type: int32, numbers: { decimal: "." } }
          value: { from: ".", type: decimal }
        relationships: { country: { entity: Country, kind: toOne, inverse: rates } }
    sources: { json: { format: json, entity: Country } }
    export: { entity: Country }
    """

  private static let feed = """
    [
    {"code":"CH","money":{"currencies":{"CHF":{"name":"Swiss franc","minor":{"digits":2}},"CHE":{"name":"WIR \\"euro\\""}}},"rates":{"2023":1.05,"2024":0.98}},
    {"code":"US","money":{"currencies":{"USD":{"name":"dollar","minor":{"digits":2}}}},"rates":{}}
    ]

    """

  /// A map of elements of any name, with parts of any name.
  private static func elements(_ partAttributes: String) throws -> ImportMap {
    try ImportMap(
      yaml: """
        version: 1
        entities:
          Element:
            unique: [type, id]
            attributes: { type: $key, id: { from: "@id", type: int64 } }
            relationships:
              parts: { entity: Part, kind: toMany, from: "parts/*", inverse: element, ordered: true }
          Part:
            unique: [element, kind]
            attributes: \(partAttributes)
            relationships: { element: { entity: Element, kind: toOne, inverse: parts } }
        sources: { xml: { format: xml, entity: Element, records: "/osm/*" } }
        export: { entity: Element }
        """
    )
  }

  /// Whether an import found everything as it is: the records, what is nested in them, the links.
  private func isUnchanged(_ report: ImportReport, _ count: Int) -> Bool {
    let objects = report.entities.values.reduce(0) { $0 + $1.inserted + $1.updated + $1.stubs }
    return report.counts.unchanged == count && report.counts.read == count && objects == 0
      && report.linkSummary == []
  }

  private func imported(
    _ text: String,
    _ name: String = "feed.json",
    by map: ImportMap,
    into store: SQLiteStore
  ) async throws -> ImportReport {
    try await Importer(map: map, store: store)
      .run(ImportRequest([.bytes(Array(text.utf8), name: name)]))
  }

  private func text(
    _ request: ExportRequest,
    _ map: ImportMap,
    _ store: SQLiteStore
  ) async throws -> String {
    String(decoding: try await Exporter(map: map, store: store).bytes(request), as: UTF8.self)
  }

  @Test("Children that a feed keys by a dictionary come out as it had them, and change nothing")
  func children() async throws {
    let map = try ImportMap(yaml: Self.map)
    let store = try SQLiteStore(at: .inMemory)
    let first = try await imported(Self.feed, by: map, into: store)
    #expect(first.counts.inserted == 2 && first.counts.rejected == 0)
    let text = try await text(ExportRequest(format: .json), map, store)
    #expect(text == Self.feed)
    let again = try await imported(text, by: map, into: store)
    #expect(isUnchanged(again, 2))
    let lines = try await self.text(ExportRequest(format: .ndjson), map, store)
    #expect(
      lines.split(separator: "\n").map { "\($0)" }
        == Self.feed.split(separator: "\n")[1...2].map {
          $0.hasSuffix(",") ? String($0.dropLast()) : String($0)
        }
    )
  }

  @Test("The records of a dictionary come out as its members")
  func records() async throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          Currency:
            unique: code
            attributes: { code: { from: $key }, name: {} }
            relationships: { uses: { entity: Use, kind: toMany, from: "uses.*" } }
          Use: { unique: name, attributes: { name: { from: "." } } }
        sources: { json: { format: json, entity: Currency, records: "/data/currencies/*" } }
        export: { entity: Currency }
        """
    )
    let store = try SQLiteStore(at: .inMemory)
    let feed = """
      {"data":{"currencies":{
      "CHF":{"name":"Swiss franc","uses":{}},
      "EUR":{"name":"euro","uses":{"1":"cash","2":"card"}}
      }}}

      """
    let named = feed.replacing("\"1\":", with: "\"in \\\"x\\\"\":").replacing(
      "\"2\":",
      with: "\"y\":"
    )
    #expect(try await imported(named, by: map, into: store).counts.inserted == 2)
    // Nothing reads the names of uses: they are numbers.
    var sorted = feed
    sorted.replace("\"1\":\"cash\",\"2\":\"card\"", with: "\"1\":\"card\",\"2\":\"cash\"")
    let text = try await text(ExportRequest(format: .json), map, store)
    #expect(text == feed || text == sorted)
    let again = try await imported(text, by: map, into: store)
    #expect(isUnchanged(again, 2))
    let pretty = try await self.text(
      ExportRequest(format: .json, style: ExportStyle(isPretty: true)),
      map,
      store
    )
    #expect(pretty.contains("    \"currencies\": {\n      \"CHF\": {\n        \"name\""))
    #expect(try await isUnchanged(imported(pretty, by: map, into: store), 2))

    // Records that do not come as one document have no names: that is said.
    let output = try await Exporter(map: map, store: store)
      .records(ExportRequest(isLossy: true))
    #expect(output.count == 2 && output[0].record?["code"] == nil)
  }

  @Test("Elements of any name have the name that was read")
  func elements() async throws {
    let map = try Self.elements(#"{ kind: $key, text: { from: "text()" }, unit: "@unit" }"#)
    let store = try SQLiteStore(at: .inMemory)
    let feed = """
      <?xml version="1.0" encoding="UTF-8"?>
      <osm>
      <node id="1"><parts><door unit="m">2</door><stair/></parts></node>
      <node id="2"><parts/></node>
      <way id="1"><parts><lane>a &amp; b</lane></parts></way>
      </osm>

      """
    let report = try await imported(feed, "feed.xml", by: map, into: store)
    #expect(report.counts.inserted == 3 && report.counts.rejected == 0)
    let text = try await text(ExportRequest(format: .xml), map, store)
    #expect(text == feed)
    #expect(try await isUnchanged(imported(text, "feed.xml", by: map, into: store), 3))
    let pretty = try await self.text(
      ExportRequest(format: .xml, style: ExportStyle(isPretty: true)),
      map,
      store
    )
    #expect(try await isUnchanged(imported(pretty, "feed.xml", by: map, into: store), 3))

    try store.execute("UPDATE Part SET kind = '2 doors' WHERE kind = 'door'")
    let error = await #expect(throws: ExportError.self) {
      _ = try await self.text(ExportRequest(format: .xml), map, store)
    }
    #expect(error?.message.hasPrefix("kind of Part in Element node, 1 is no name") == true)
    let lossy = try await self.text(ExportRequest(format: .xml, isLossy: true), map, store)
    #expect(lossy.contains("<item unit=\"m\">2</item><stair/>"))
  }

  @Test("An element whose text is null is still there, for its name")
  func emptyElements() async throws {
    let map = try Self.elements(#"{ kind: $key, text: "text()" }"#)
    let store = try SQLiteStore(at: .inMemory)
    let feed = """
      <?xml version="1.0" encoding="UTF-8"?>
      <osm>
      <node id="1"><parts><stair/><door>2</door><lift/></parts></node>
      </osm>

      """
    #expect(try await imported(feed, "feed.xml", by: map, into: store).counts.inserted == 1)
    #expect(try await text(ExportRequest(format: .xml), map, store) == feed)
    let nulls = try await text(
      ExportRequest(format: .xml, style: ExportStyle(nulls: .write)),
      map,
      store
    )
    #expect(nulls.contains("<parts><stair/><door>2</door><lift/></parts></node>"))
    #expect(try await isUnchanged(imported(nulls, "feed.xml", by: map, into: store), 1))
    let local = try await text(
      ExportRequest(format: .xml, style: ExportStyle(names: .local)),
      map,
      store
    )
    #expect(local.contains("<item>") && local.contains("</item>"))
    #expect(!local.contains("<node"))

    for kind in ["'Größe→'", "'a×b'", "x'61ff'", "'a:b'"] {
      try store.execute("UPDATE Part SET kind = CAST(\(kind) AS TEXT) WHERE text = '2'")
      await #expect(throws: ExportError.self, "\(kind)") {
        _ = try await self.text(ExportRequest(format: .xml), map, store)
      }
      let lossy = try await text(ExportRequest(format: .xml, isLossy: true), map, store)
      #expect(lossy.contains("<item>2</item>"), "\(kind)")
    }
    try store.execute("UPDATE Part SET kind = 'Größe·2' WHERE text = '2'")
    let named = try await text(ExportRequest(format: .xml), map, store)
    #expect(named.contains("<Größe·2>2</Größe·2>"))
  }

  @Test("Elements of any name hold the values that stand in elements beside them")
  func siblings() async throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          Element:
            unique: id
            attributes: { id: "@id", count: parts/count }
            relationships: { parts: { entity: Part, kind: toMany, from: "parts/*", ordered: true } }
          Part: { unique: kind, attributes: { kind: $key, text: { from: "." } } }
        sources: { xml: { format: xml, entity: Element, records: "/osm/el" } }
        export: { entity: Element }
        """
    )
    let store = try SQLiteStore(at: .inMemory)
    let feed = #"<osm><el id="1"><parts><count>2</count><door>a</door></parts></el></osm>"#
    #expect(try await imported(feed, "feed.xml", by: map, into: store).counts.inserted == 1)
    let text = try await text(ExportRequest(format: .xml), map, store)
    let element = #"<el id="1"><parts><count>2</count><door>a</door></parts></el>"#
    #expect(text.contains(element))
    try store.execute("UPDATE Element SET count = '3'")
    let lossy = try await self.text(ExportRequest(format: .xml, isLossy: true), map, store)
    #expect(lossy.contains(element))
    let report = try await Exporter(map: map, store: store)
      .run(ExportRequest(format: .xml), to: .file("/dev/null"))
    #expect(report.issues.map(\.attribute) == ["count"])
  }

  @Test("What does not come back is counted by entity and in records, though names are the same")
  func issuesByEntity() async throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          O:
            unique: id
            attributes: { id: { type: int64 }, day: { type: date, dates: [dd.MM.yyyy] } }
            relationships: { ls: { entity: L, kind: toMany, from: ls, inverse: o, ordered: true } }
          L:
            unique: no
            attributes: { no: { type: int64 }, day: { type: date, dates: [dd.MM.yyyy] } }
            relationships: { o: { entity: O, kind: toOne, inverse: ls } }
        sources: { json: { format: json, entity: O } }
        export: { entity: O }
        """
    )
    let store = try SQLiteStore(at: .inMemory)
    let feed = #"[{"id":1,"ls":[{"no":1},{"no":2}]},{"id":2,"ls":[{"no":3}]}]"#
    _ = try await imported(feed, by: map, into: store)
    try store.execute("UPDATE O SET day = '2024-1'; UPDATE L SET day = 'x'")
    let report = try await Exporter(map: map, store: store)
      .run(ExportRequest(format: .json, isLossy: true), to: .file("/dev/null"))
    #expect(
      Set(report.issues.map { "\($0.entity).\($0.attribute) \($0.count)" }) == [
        "O.day 2", "L.day 2",
      ]
    )
  }

  @Test("A member that is null is a fault, as no import takes it")
  func nullMembers() async throws {
    let map = try ImportMap(yaml: Self.map)
    let store = try SQLiteStore(at: .inMemory)
    _ = try await imported(Self.feed, by: map, into: store)
    try store.execute("UPDATE Rate SET value = NULL WHERE year = 2023")
    for nulls in [ExportStyle.Nulls.omit, .write] {
      let error = await #expect(throws: ExportError.self) {
        _ = try await self.text(
          ExportRequest(format: .json, style: ExportStyle(nulls: nulls)),
          map,
          store
        )
      }
      #expect(error?.message.hasPrefix("value of Rate in Country CH is null") == true)
    }
    let lossy = try await text(ExportRequest(format: .json, isLossy: true), map, store)
    #expect(lossy.contains(#""rates":{"2023":null,"2024":0.98}"#))
  }

  @Test("An attribute that has another path leaves the name to one that has none")
  func severalReaders() async throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          Shelf:
            unique: id
            attributes: { id: {} }
            relationships: { items: { entity: Item, kind: toMany, from: "items.*", ordered: true } }
          Item:
            unique: id
            attributes: { code: { from: [code, $key] }, label: $key, id: {}, other: $key }
        sources: { json: { format: json, entity: Shelf } }
        export: { entity: Shelf }
        """
    )
    let store = try SQLiteStore(at: .inMemory)
    let feed = #"[{"id":"s","items":{"a":{"code":"x","id":"1"},"b":{"id":"2"}}}]"#
    #expect(try await imported(feed, by: map, into: store).counts.inserted == 1)
    let text = try await text(ExportRequest(format: .ndjson), map, store)
    #expect(
      text == #"{"id":"s","items":{"a":{"code":"x","id":"1"},"b":{"code":"b","id":"2"}}}"# + "\n"
    )
    let again = try await imported("[\(text)]", by: map, into: store)
    #expect(isUnchanged(again, 1))
    let plan = try ExportPlan(ExportRequest(), map, format: .json, layout: store.layout)
    #expect(plan.overlaps == ["Item.other stands inside of another value"])
    #expect(plan.notices.isEmpty && plan.losses.isEmpty)

    // Without null in its place the name would be read.
    try store.execute("UPDATE Item SET code = NULL WHERE id = '1'")
    let nulls = try await self.text(ExportRequest(format: .ndjson), map, store)
    #expect(nulls.contains(#""a":{"code":null,"id":"1"}"#))
  }

  @Test("With local names a dictionary is an array")
  func localNames() async throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          Currency: { unique: code, attributes: { code: { from: $key }, name: {} } }
        sources: { json: { format: json, entity: Currency, records: "/currencies/*" } }
        export: { entity: Currency }
        """
    )
    let store = try SQLiteStore(at: .inMemory)
    let feed = #"{"currencies":{"CHF":{"name":"franc"}}}"#
    #expect(try await imported(feed, by: map, into: store).counts.inserted == 1)
    let text = try await text(
      ExportRequest(format: .json, style: ExportStyle(names: .local)),
      map,
      store
    )
    #expect(text == "{\"currencies\":[\n{\"code\":\"CHF\",\"name\":\"franc\"}\n]}\n")
  }

  @Test("A name that JSON cannot tell apart is a fault, with the record's key")
  func faults() async throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          Shelf:
            unique: id
            attributes: { id: {} }
            relationships: { items: { entity: Item, kind: toMany, from: "items.*" } }
          Item: { unique: id, attributes: { id: {}, label: { from: $key } } }
        sources: { json: { format: json, entity: Shelf } }
        export: { entity: Shelf }
        """
    )
    for label in ["NULL", "'b'"] {
      let store = try SQLiteStore(at: .inMemory)
      let feed = #"[{"id":"s","items":{"a":{"id":"1"},"b":{"id":"2"}}}]"#
      #expect(try await imported(feed, by: map, into: store).counts.inserted == 1)
      try store.execute("UPDATE Item SET label = \(label) WHERE id = '1'")
      let error = await #expect(throws: ExportError.self) {
        _ = try await self.text(ExportRequest(format: .json), map, store)
      }
      #expect(error?.message.hasPrefix("label of Item in Shelf s is no name") == true, "\(label)")
      let lossy = try await text(ExportRequest(format: .ndjson, isLossy: true), map, store)
      let name = label == "'b'" ? "b" : "1"
      #expect(lossy == #"{"id":"s","items":{"\#(name)":{"id":"1"},"b":{"id":"2"}}}"# + "\n")
    }
  }

  @Test("Names of any characters come back to the last byte")
  func randomNames() async throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          Shelf:
            unique: id
            attributes: { id: { from: $key } }
            relationships: { items: { entity: Item, kind: toMany, from: "in.items.*", inverse: shelf, ordered: true } }
          Item:
            unique: [shelf, label]
            attributes: { label: { from: $key }, count: { from: n, type: int32 } }
            relationships: { shelf: { entity: Shelf, kind: toOne, inverse: items } }
        sources: { json: { format: json, entity: Shelf, records: "/*" } }
        export: { entity: Shelf }
        """
    )
    var itemCount = 0
    for seed in Seeds.seeds(30) {
      var dice = Dice(seed: seed)
      func names() -> [String] {
        // By bytes: the two Unicode normal forms of a name are two names.
        var known: Set<[UInt8]> = [[]]
        return (0..<dice.number(0...6))
          .map { _ in RandomExport.text(&dice).replacing("\u{0}", with: "0") }
          .filter { known.insert(Array($0.utf8)).inserted }
      }
      let store = try SQLiteStore(at: .inMemory)
      try store.grow(to: map.model())
      try store.write { session in
        try session.begin()
        var key = 0
        for (number, shelf) in names().enumerated() {
          try session.database.execute(
            sql: "INSERT INTO Shelf (_pk, _v, id) VALUES (?, 1, ?)",
            arguments: [number + 1, shelf]
          )
          for (place, label) in names().enumerated() {
            key += 1
            try session.database.execute(
              sql: "INSERT INTO Item (_pk, _v, label, count, shelf, _items_order)"
                + " VALUES (?, 1, ?, ?, ?, ?)",
              arguments: [key, label, dice.number(0...9), number + 1, place]
            )
          }
        }
        itemCount += key
        try session.commit()
      }
      let text = try await text(ExportRequest(format: .json), map, store)
      let again = try await imported(text, by: map, into: store)
      let place: Comment = "DRAGOMAN_SEED=\(seed)\n\(text)"
      #expect(isUnchanged(again, again.counts.read), place)
      let copy = try SQLiteStore(at: .inMemory)
      _ = try await imported(text, by: map, into: copy)
      #expect(try await self.text(ExportRequest(format: .json), map, copy) == text, place)
      let contents =
        "SELECT id, label, count, _items_order FROM Shelf LEFT JOIN Item ON shelf = Shelf._pk ORDER BY 1, 2"
      #expect(try copy.rows(contents) == store.rows(contents), place)
    }
    #expect(itemCount > 30)
  }

  @Test("What names the members but is not exported leaves them out, with a notice")
  func notExported() async throws {
    let map = try ImportMap(
      yaml: Self.map.replacing("code: { from: $key }", with: "code: { from: $key, export: false }")
    )
    let store = try SQLiteStore(at: .inMemory)
    _ = try await imported(Self.feed, by: map, into: store)
    let plan = try ExportPlan(ExportRequest(), map, format: .json, layout: store.layout)
    #expect(
      plan.losses == [
        "Country.currencies is left out: what names its members is not exported"
      ]
    )
  }

  @Test("Masked names are numbers")
  func masked() async throws {
    let map = try ImportMap(
      yaml: Self.map.replacing(
        "code: { from: $key }",
        with: "code: { from: $key, sensitive: true }"
      )
    )
    let store = try SQLiteStore(at: .inMemory)
    _ = try await imported(Self.feed, by: map, into: store)
    let text = try await text(
      ExportRequest(format: .json).with { $0.masksSensitive = true },
      map,
      store
    )
    #expect(text.contains("\"currencies\":{\"1\":{\"name\":\"Swiss franc\""))
    #expect(!text.contains("CHF"))
  }
}

extension SQLiteStore {
  fileprivate func rows(_ sql: String) throws -> [[DatabaseValue]] {
    try read { database in
      try Row.fetchAll(database, sql: sql).map { Array($0.databaseValues) }
    }
  }

  func execute(_ sql: String) throws {
    try write { session in
      try session.begin()
      try session.database.execute(sql: sql)
      try session.commit()
    }
  }
}
