import DragomanGraph
import Testing

@testable import Dragoman

/// Which sources of a map read which inputs.
@Suite("Choice of sources") struct SourceChoiceTests {
  /// Two entities whose records stand at the same place, in any format.
  private func map(_ format: String, files: (String, String) = ("", "")) -> String {
    let records = format == "xml" ? ", records: /r/e" : ""
    return """
      version: 1
      entities:
        Category: { unique: id, attributes: { id: { type: int64 }, name: name } }
        Product:
          unique: id
          attributes: { id: { type: int64 }, name: name, price: { type: decimal } }
          relationships: { category: { entity: Category, kind: toOne, key: { id: category } } }
      sources:
        categories: { format: \(format), entity: Category\(records)\(files.0) }
        products: { format: \(format), entity: Product\(records)\(files.1) }
      """
  }

  private func text(_ records: [[(String, String)]], _ format: String) -> String {
    let objects = records.map { record in
      "{\(record.map { "\"\($0)\":\($1)" }.joined(separator: ","))}"
    }
    switch format {
    case "json": return "[\(objects.joined(separator: ","))]"
    case "ndjson": return objects.map { $0 + "\n" }.joined()
    case "xml":
      let elements = records.map { record in
        "<e>\(record.map { "<\($0)>\($1.replacing("\"", with: ""))</\($0)>" }.joined())</e>"
      }
      return "<r>\(elements.joined())</r>"
    default:
      let rows = records.map { $0.map(\.1).joined(separator: ",") + "\n" }
      return records[0].map(\.0).joined(separator: ",") + "\n" + rows.joined()
    }
  }

  @Test(
    "Records that have less than half of what each source knows are nobody's",
    arguments: ["json", "ndjson", "xml", "csv"]
  )
  func sparse(format: String) async throws {
    let fixture = try ImportFixture(map(format))
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run(text([[("id", "1")], [("id", "2")]], format))
    }
    let error = failure?.cause as? ImportError
    #expect(error?.code == .request)
    #expect(error?.message.hasSuffix("can be those of the sources categories, products.") == true)
  }

  @Test(
    "Of sources at one place each input has the one whose keys and paths its records have",
    arguments: ["json", "ndjson", "xml", "csv"],
    [false, true]
  )
  func tried(format: String, isReversed: Bool) async throws {
    let fixture = try ImportFixture(map(format))
    let categories = text(
      [[("id", "1"), ("name", "\"a\"")], [("id", "2"), ("name", "\"b\"")]],
      format
    )
    let products = text(
      [
        [("id", "1"), ("name", "\"p\""), ("price", "2"), ("category", "2")],
        [("id", "7"), ("name", "\"q\""), ("price", "3"), ("category", "1")],
      ],
      format
    )
    let report =
      isReversed
      ? try await fixture.run(products, categories) : try await fixture.run(categories, products)
    #expect(report.summary == "read 4, inserted 4")
    #expect(try fixture.rows("Category", ["id", "name"]) == ["1|a", "2|b"])
    #expect(
      try fixture.rows("Product", ["id", "name", "price", "category.name"])
        == ["1|p|2|b", "7|q|3|a"]
    )
  }

  @Test(
    "Paths that lead to the same records are one place, however they are spelled",
    arguments: [
      ("json", "/x", "x"), ("json", "x", "x[*]"), ("json", "x[*]", "/x"),
      ("json", "a[0].x", "a[0].x[*]"), ("xml", "/r/e", "r/e"),
    ]
  )
  func places(format: String, first: String, second: String) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        C: { unique: id, attributes: { id: id, name: name } }
        P: { unique: id, attributes: { id: id, name: name, price: price } }
      sources:
        c: { format: \(format), entity: C, records: "\(first)" }
        p: { format: \(format), entity: P, records: "\(second)" }
      """
    )
    func feed(_ record: [(String, String)]) -> String {
      let text = text([record], format)
      guard format == "json" else { return text }
      return first.hasPrefix("a") ? #"{"a":[{"x":\#(text)}]}"# : #"{"x":\#(text)}"#
    }
    let report = try await fixture.run(
      feed([("id", "\"1\""), ("name", "\"n\"")]),
      feed([("id", "\"2\""), ("name", "\"m\""), ("price", "\"3\"")])
    )
    #expect(report.entities.mapValues(\.inserted) == ["C": 1, "P": 1])
  }

  @Test("A list, the members of an object and the elements of lists in it are different places")
  func otherPlaces() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        C: { unique: id, attributes: { id: id } }
        P: { unique: id, attributes: { id: id } }
      sources:
        c: { format: json, entity: C, records: /x }
        p: { format: json, entity: P, records: "/y/*" }
      """
    )
    let report = try await fixture.run(#"{"x":[{"id":"1"}],"y":{"a":{"id":"2"}}}"#)
    #expect(report.entities.mapValues(\.inserted) == ["C": 1, "P": 1])
  }

  /// A family whose parent and one of its kinds have a source each.
  private func family(_ format: String) -> String {
    """
    version: 1
    entities:
      Thing:
        unique: id
        discriminator: { from: kind, values: { car: Car, boat: Boat } }
        attributes: { id: id, name: name }
      Car: { parent: Thing, attributes: { doors: doors } }
      Boat: { parent: Thing, attributes: { length: length } }
    sources:
      things: { format: \(format), entity: Thing }
      cars: { format: \(format), entity: Car }
    """
  }

  @Test(
    "The source of a family knows the keys of all its kinds, and the word that tells them",
    arguments: [
      ("csv", "id,name,kind,doors,length\n1,a,boat,,9\n2,b,car,4,\n"),
      (
        "ndjson",
        """
        {"id":"1","name":"a","kind":"boat","length":"9"}
        {"id":"2","name":"b","kind":"car","doors":"4"}

        """
      ),
    ]
  )
  func families(format: String, text: String) async throws {
    let fixture = try ImportFixture(family(format))
    try await fixture.run(text)
    #expect(
      try sql(fixture.store, "SELECT id, _entity, doors, length FROM Thing ORDER BY id")
        == ["1|Boat|null|9", "2|Car|4|null"]
    )
  }

  @Test("Records of one kind alone, without the word, are those of its own source")
  func oneKind() async throws {
    for (format, text) in [
      ("csv", "id,name,doors\n2,b,4\n3,c,2\n"),
      (
        "ndjson",
        #"{"id":"2","name":"b","doors":"4"}"# + "\n" + #"{"id":"3","name":"c","doors":"2"}"# + "\n"
      ),
    ] {
      let fixture = try ImportFixture(family(format))
      try await fixture.run(text)
      let rows = try sql(fixture.store, "SELECT id, _entity, doors FROM Thing ORDER BY id")
      #expect(rows == ["2|Car|4", "3|Car|2"])
    }
  }

  @Test("What marks deleted records is known to the source whose entity says so")
  func deletions() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        A: { unique: id, deleteWhen: { from: gone, equals: "1" }, attributes: { id: id, name: name } }
        B: { unique: id, attributes: { id: id, name: name } }
      sources:
        as: { format: csv, entity: A }
        bs: { format: csv, entity: B }
      """
    )
    let report = try await fixture.run("id,name,gone\n1,n,0\n")
    #expect(report.entities.mapValues(\.inserted) == ["A": 1])
  }

  @Test("Records in memory are tried, too")
  func inMemory() async throws {
    let fixture = try ImportFixture(map("json"))
    let report = try await Importer(map: fixture.map, store: fixture.store).run(
      ImportRequest([
        .records([["id": 1, "name": "p", "price": 2]]), .records([["id": 1, "name": "c"]]),
      ])
    )
    #expect(report.entities.mapValues(\.inserted) == ["Category": 1, "Product": 1])
  }

  @Test("A source that divides columns otherwise is tried in its own way")
  func separators() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P: { unique: id, attributes: { id: { type: int64 }, v: v } }
        Q: { unique: id, attributes: { id: { type: int64 } } }
      sources:
        p: { format: csv, entity: P, separator: ";" }
        q: { format: csv, entity: Q }
      """
    )
    let report = try await fixture.run("id;v\n1;a\n", "id\n5\n", "id;v\n1;a\n") { _ in }
    #expect(report.summary == "read 3, inserted 2, unchanged 1")
    #expect(try fixture.rows() == ["1|a"])
    #expect(try fixture.rows("Q") == ["5"])
  }

  @Test(
    "What two sources fit, or none, is refused with their names and what to do",
    arguments: ["json", "ndjson", "xml", "csv"]
  )
  func ambiguous(format: String) async throws {
    let records = format == "xml" ? ", records: /r/e" : ""
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        A: { unique: id, attributes: { id: id, name: name } }
        B: { unique: id, attributes: { id: id, name: name } }
      sources:
        as: { format: \(format), entity: A\(records) }
        bs: { format: \(format), entity: B\(records) }
      """
    )
    func failure(_ text: String) async -> ImportError? {
      let failure = await #expect(throws: ImportFailure.self) { try await fixture.run(text) }
      return failure?.cause as? ImportError
    }
    let both = await failure(text([[("id", "\"1\""), ("name", "\"n\"")]], format))
    #expect(both?.message == "The records of feed1 can be those of the sources as, bs.")
    #expect(
      both?.help
        == #"choose one: `sourcesByInput["feed1"] = ["as"]` or `sourcesByInput["feed1"] = "#
        + #"["bs"]`, or say which `files:` each of them reads"#
    )
    let none = await failure(text([[("key", "\"1\""), ("text", "\"n\"")]], format))
    #expect(
      none?.message
        == "None of the sources as, bs fits the records of feed1: their keys are key, text."
    )
    let report = try await fixture.run(text([[("id", "\"1\""), ("name", "\"n\"")]], format)) {
      $0.sourcesByInput = ["feed1": ["bs"]]
    }
    #expect(report.entities.mapValues(\.inserted) == ["B": 1])
  }

  @Test("Globs say which inputs a source reads; who has none reads the others")
  func files() async throws {
    let fixture = try ImportFixture(
      map("json", files: (", files: [\"cat*.json\", old/c.json]", ""))
    )
    let inputs: [ImportInput] = [
      .bytes(Array(#"[{"id":1,"name":"a","price":1}]"#.utf8), name: "/feeds/cat-1.json.gz"),
      .bytes(Array(#"[{"id":2,"name":"b"}]"#.utf8), name: "x/old/c.json"),
      .bytes(Array(#"[{"id":3,"name":"c"}]"#.utf8), name: "c.json"),
    ]
    let importer = Importer(map: fixture.map, store: fixture.store)
    let report = try await importer.run(ImportRequest(inputs))
    #expect(report.entities.mapValues(\.inserted) == ["Category": 2, "Product": 1])
    // Who asks for one source by its name gets it.
    let chosen = try await importer.run(ImportRequest([inputs[2]], sources: ["categories"]))
    #expect(chosen.entities.mapValues(\.inserted) == ["Category": 1])
  }

  @Test("An input that no source is for, or the wrong one, is refused")
  func noSource() async throws {
    let fixture = try ImportFixture(
      map("json", files: (", files: a.json", ", files: b.json"))
        + "\n  x: { format: csv, entity: Category }"
    )
    for (sources, message) in [
      ([:], "No source of the map that reads JSON is for feed1."),
      (["feed1": ["x"]], "The source x reads CSV, and feed1 is JSON."),
      (["feed1": ["prodcts"]], "The map has no source prodcts."),
    ] as [([String: [String]], String)] {
      let failure = await #expect(throws: ImportFailure.self) {
        try await fixture.run(#"[{"id":1,"name":"a"}]"#) { $0.sourcesByInput = sources }
      }
      #expect((failure?.cause as? ImportError)?.message == message)
      #expect((failure?.cause as? ImportError)?.help != nil)
    }
  }

  @Test("A map with globs is written as it is read")
  func encoded() throws {
    let map = try ImportMap(
      yaml: map("json", files: (", files: a.json", ", files: [b, \"c?.json\"]"))
    )
    #expect(map.sources.map(\.files) == [["a.json"], ["b", "c?.json"]])
    #expect(try ImportMap(yaml: map.yaml()) == map)
  }
}
