import DragomanGraph
import Testing

@testable import Dragoman

/// Paths that no record has are told; inputs of which a source knows nothing are refused.
@Suite("Paths that match nothing") struct UnmatchedPathTests {
  private static let map = """
    version: 1
    entities:
      P:
        unique: id
        discriminator: { from: knid, values: { q: Q } }
        deleteWhen: { from: gnoe, equals: "true" }
        attributes:
          id: id
          name: nmae
          city: { from: { json: adress.city, xml: adress/city, csv: ctiy } }
          first: { from: [alias, name] }
          tag: { from: { json: "tags[*].nmae", xml: "tags/nmae", csv: name } , type: json }
          note: { onMissing: keep }
          line: { from: $line }
        relationships:
          t: { entity: T, kind: toOne, key: { id: t_di } }
          list: { entity: T, kind: toMany, from: lsit }
          friends: { entity: P, kind: toMany }
      Q: { parent: P }
      T: { unique: id, attributes: { id: id } }
    sources:
      json: { format: json, entity: P }
      ndjson: { format: ndjson, entity: P }
      xml: { format: xml, entity: P, records: /r/p }
      csv: { format: csv, entity: P }
    """

  private func told(_ report: ImportReport) -> [String] {
    report.unmatchedPaths.map { "\($0.message); \($0.suggestion ?? "-")" }
  }

  @Test(
    "Paths of attributes, relationships, keys, discriminator and deletions are told with the nearest"
  )
  func json() async throws {
    let fixture = try ImportFixture(Self.map)
    let record =
      #"{"id":"1","name":"n","kind":"q","gone":"false","address":{"city":"x"},"t_id":"7","list":[],"tags":[{"name":1}]}"#
    let records = (0..<300).map { record.replacing(#""1""#, with: "\"\($0)\"") }
    for text in ["[\(records.joined(separator: ","))]", records.joined(separator: "\n")] {
      let report = try await fixture.run(text)
      #expect(report.counts.read == 300)
      #expect(
        told(report) == [
          "P.name: the path nmae matched 0 of 300 records; name",
          "P.city: the path adress.city matched 0 of 300 records; address.city",
          "P.note: the path note matched 0 of 300 records; -",
          "P.t: the path t_di matched 0 of 300 records; t_id",
          "P.list: the path lsit matched 0 of 300 records; list",
          "P.discriminator: the path knid matched 0 of 300 records; kind",
          "P.deleteWhen: the path gnoe matched 0 of 300 records; gone",
        ]
      )
      #expect(
        report.unmatchedPaths.map(\.mayBeMissing) == [
          false, false, true, false, false, false, false,
        ]
      )
    }
  }

  @Test("An inherited path is told once, and only where no entity of the family has it")
  func inherited() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          discriminator: { from: kind, values: { q: Q, r: R } }
          attributes: { id: id, name: nmae, size: size }
          relationships: { t: { entity: T, kind: toOne, key: { id: t_di } }, u: { entity: T, kind: toOne, from: u } }
        Q: { parent: P, attributes: { more: more }, discriminator: { from: sort, values: { s: S } } }
        S: { parent: Q, attributes: { most: most } }
        R: { parent: P, attributes: { other: mroe } }
        T: { unique: id, attributes: { id: id } }
      sources: { json: { format: json, entity: P } }
      """
    )
    let feed = """
      [{"id":"1","name":"n","t_id":"7","u":{"id":"7"}}, {"id":"2","kind":"q","size":"3","more":"4"},
       {"id":"3","kind":"q","sort":"s","most":"5"}, {"id":"4","kind":"r","more":"x"}]
      """
    #expect(
      told(try await fixture.run(feed)) == [
        "P.name: the path nmae matched 0 of 4 records; name",
        "P.t: the path t_di matched 0 of 4 records; t_id",
        "R.other: the path mroe matched 0 of 1 record; more",
      ]
    )
  }

  @Test("What is suggested for a name with a prefix has it")
  func prefixes() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P: { unique: id, attributes: { id: "@id", name: m:nmae, city: m:address/m:ctiy, zip: m:adress/zip } }
      sources: { xml: { format: xml, entity: P, records: /m:r/m:p, namespaces: { m: urn:m } } }
      """
    )
    let report = try await fixture.run(
      #"<r xmlns="urn:m"><p id="1"><name>a</name><address><city>b</city><zip xmlns="">c</zip></address></p></r>"#
    )
    #expect(
      report.unmatchedPaths.map(\.suggestion) == ["m:name", "m:address/m:city", "m:address/zip"]
    )
  }

  @Test("What is suggested keeps the prefixes of attributes and of conditions")
  func attributePrefixes() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P: { unique: id, attributes: { id: "@id", v: "@p:vv", w: "@p:w", n: 't[@p:l="en"]/nmae' } }
      sources: { xml: { format: xml, entity: P, records: /r/p, namespaces: { p: urn:p } } }
      """
    )
    let report = try await fixture.run(
      #"<r xmlns:q="urn:p"><p id="1" q:v="a" q:w="b"><t q:l="en"><name>c</name></t></p></r>"#
    )
    #expect(report.unmatchedPaths.map(\.suggestion) == ["@p:v", #"t[@p:l="en"]/name"#])
  }

  @Test("A name that is there in another namespace is told with it, or with its prefix")
  func otherNamespaces() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P: { unique: id, attributes: { id: "@id", title: title, size: size, code: p:code } }
      sources: { xml: { format: xml, entity: P, records: /p:r/p:x, namespaces: { p: urn:p } } }
      """
    )
    let report = try await fixture.run(
      """
      <p:r xmlns:p="urn:p" xmlns="urn:d"><p:x id="1"><title>a</title><p:size>1</p:size><code>c</code></p:x></p:r>
      """
    )
    #expect(
      report.unmatchedPaths.map(\.help) == [
        "it is there in the namespace urn:d: declare a prefix for that under `namespaces:` of the source,"
          + " and write it in the path",
        "did you mean p:size?",
        "it is there in the namespace urn:d: declare a prefix for that under `namespaces:` of the source,"
          + " and write it in the path",
      ]
    )
    #expect(report.unmatchedPaths.map(\.hasRemedy) == [true, true, true])
  }

  @Test("Under a default namespace a name that is there in none is told so")
  func noNamespace() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: "@id", title: title, name: } } }
      sources: { xml: { format: xml, entity: P, records: /r/p, namespaces: { "": urn:d } } }
      """
    )
    let report = try await fixture.run(
      #"<r xmlns="urn:d"><p id="1"><title xmlns="">a</title><name xmlns="">b</name></p></r>"#
    )
    #expect(report.unmatchedPaths.map(\.property) == ["title", "name"])
    #expect(
      report.unmatchedPaths.map(\.help)
        == Array(
          repeating: "it is there in no namespace: declare a prefix in place of the default one",
          count: 2
        )
    )
  }

  @Test(
    "A discriminator that the walk over a record cannot follow is found all the same",
    arguments: [
      ("json", "$key", #"{"list":{"q":{"id":"1"}}}"#),
      ("json", "$root.kind", #"{"kind":"q","list":[{"id":"1"}]}"#),
      ("json", "$file.stem", #"{"list":[{"id":"1"}]}"#),
      ("xml", "$root/@kind", #"<r kind="q"><list><id>1</id></list></r>"#),
      ("xml", "'t[@a]/@k'", #"<r><list><id>1</id><t k="x"/><t a="" k="q"/></list></r>"#),
    ]
  )
  func discriminators(format: String, path: String, text: String) async throws {
    let isNamed = path == "$key"
    let records = format == "xml" ? "/r/list" : isNamed ? "/list/*" : "/list"
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P: { unique: id, discriminator: { from: \(path), values: { q: Q } }, attributes: { id: id } }
        Q: { parent: P }
      sources: { s: { format: \(format), entity: P, records: \(records) } }
      """
    )
    let report = try await fixture.run {
      $0.inputs = [.bytes(Array(text.utf8), name: "q.\(format)")]
    }
    #expect(try fixture.rows("Q", ["id"]) == ["1"])
    #expect(report.unmatchedPaths.isEmpty)
  }

  @Test("What no policy can say of a discriminator is not asked for")
  func discriminatorHelp() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P: { unique: id, discriminator: { from: $root.kind, values: { q: Q } }, attributes: { id: id } }
        Q: { parent: P }
      sources: { s: { format: json, entity: P, records: /list } }
      """
    )
    let report = try await fixture.run(#"{"list":[{"id":"1"}]}"#)
    #expect(
      report.unmatchedPaths.map(\.help) == [
        "check the path, or leave the discriminator out if all records are of P"
      ]
    )
  }

  @Test("In XML an attribute may be meant where an element is named")
  func xml() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: "@id", code: code, city: a/ctiy, n: "@nmu" } } }
      sources: { xml: { format: xml, entity: P, records: /r/p } }
      """
    )
    let report = try await fixture.run(
      #"<r><p id="1" code="x" num="3"><a><city>b</city></a></p><p id="2"/></r>"#
    )
    #expect(
      told(report) == [
        "P.code: the path code matched 0 of 2 records; @code",
        "P.city: the path a/ctiy matched 0 of 2 records; a/city",
        "P.n: the path @nmu matched 0 of 2 records; @num",
      ]
    )
  }

  @Test("What one record of any input has is no wrong path, nor what is nested")
  func matched() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes: { id: id, a: a, b: "l[0].b", c: /c/d }
          relationships: { o: { entity: O, kind: toOne, from: o } }
        O: { unique: id, attributes: { id: id, up: $parent.id, x: x } }
      sources: { json: { format: json, entity: P } }
      """
    )
    let report = try await fixture.run(
      #"[{"id":"1"},{"id":"2","a":null,"o":{"id":"3"}}]"#,
      #"[{"id":"2","l":[{"b":"x"}],"c":{"d":"e"}}]"#
    )
    #expect(
      told(report) == [
        "O.x: the path x matched 0 of 1 records; -".replacing("1 records", with: "1 record")
      ]
    )
    let nothing = try await fixture.run("[]")
    #expect(nothing.unmatchedPaths.isEmpty)
  }

  @Test("An import that breaks off tells none, however far its reader was")
  func brokenOff() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: { type: int64 }, name: nmae } } }
      sources: { json: { format: json, entity: P } }
      """
    )
    for _ in 1...20 {
      let failure = await #expect(throws: ImportFailure.self) {
        try await fixture.run(#"[{"id":1},{"name":"n"}]"#) { $0.options.maximumRejects = 0 }
      }
      #expect(failure?.report.counts.rejected == 1)
      #expect(failure?.report.unmatchedPaths.isEmpty == true)
    }
  }

  @Test("The columns of a CSV file are told, too")
  func csv() async throws {
    let fixture = try ImportFixture(Self.map)
    let report = try await fixture.run("id,name,city\n1,a,b\n") { $0.sources = ["csv"] }
    #expect(
      told(report).prefix(2) == [
        "P.name: the path nmae matched 0 of 1 record; name",
        "P.city: the path ctiy matched 0 of 1 record; city",
      ]
    )
  }

  @Test(
    "An input of which a source knows nothing is refused",
    arguments: [
      ("json", #"[{"x":1,"y":2}]"#, "keys are “x”, “y”."),
      ("ndjson", "{\"x\":1}\n{\"z\":1}\n", "keys are “x”, “z”."),
      ("xml", #"<r><p x="1"><y>2</y></p></r>"#, "keys are “@x”, “y”."),
      ("csv", "x;y\n1;2\n", "columns are “x;y”."),
    ]
  )
  func unknown(format: String, text: String, keys: String) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { attributes: { name: name, v: { type: int64 } } } }
      sources: { s: { format: \(format), entity: P\(format == "xml" ? ", records: /r/p" : "") } }
      """
    )
    let good = [
      "json": #"[{"name":"a"}]"#, "ndjson": #"{"name":"a"}"#, "xml": "<r><p><name>a</name></p></r>",
    ]
    let failure = await #expect(throws: ImportFailure.self) {
      // What another input had does not count.
      try await fixture.run(good[format] ?? "name\na\n", text)
    }
    let error = failure?.cause as? ImportError
    #expect(error?.code == .unmatched)
    #expect(error?.message.hasPrefix("Of feed2 the source s knows nothing: ") == true)
    #expect(error?.message.hasSuffix(keys) == true)
    #expect(error?.help != nil)
  }

  @Test("Records without any key are no reason to refuse")
  func empty() async throws {
    let fixture = try ImportFixture(
      "version: 1\nentities: { P: { attributes: { v: { default: d } } } }"
    )
    try await fixture.run("[{}]")
    #expect(try fixture.rows() == ["d"])
  }

  @Test("A date does not lose a time of day")
  func dates() async throws {
    let fixture = try ImportFixture(
      attributes: """
        d: { type: date, dates: ["dd.MM.yyyy HH:mm:ss", iso8601, unix], timeZone: Europe/Oslo }
        """
    )
    let report = try await fixture.run(
      """
      [{"id":1,"d":"01.02.2024 13:45:10"},{"id":2,"d":"01.02.2024 00:00:00"},
       {"id":3,"d":"2024-02-01T00:00:00.5Z"},{"id":4,"d":"2024-02-01T00:00Z"},
       {"id":5,"d":1706742000},{"id":6,"d":1706742001}]
      """
    )
    #expect(report.issueSummary == ["value.date 3"])
    #expect(report.issues.first?.examples.first?.help?.contains("it is a timestamp") == true)
    #expect(try fixture.rows() == ["2|2024-02-01", "4|2024-02-01", "5|2024-02-01"])
  }

  @Test("Of an input of another map nothing is kept, also where batches are committed")
  func strangeInput() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { attributes: { a: a, b: b } } }
      sources: { c: { format: json, entity: P } }
      """
    )
    let strange = "[" + Array(repeating: #"{"x":1}"#, count: 25).joined(separator: ",") + "]"
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run(#"[{"a":"1"},{"b":"2"}]"#, strange) {
        $0.options.commit = .batch
        $0.options.batchSize = 10
      }
    }
    #expect((failure?.cause as? ImportError)?.code == .unmatched)
    #expect(failure?.report.committed == 2)
    #expect(try fixture.rows() == ["1|null", "null|2"])
    // Where one of its records has a path, they all are the map's, however late it comes.
    let late = String(strange.dropLast()) + #",{"a":"3"}]"#
    let report = try await fixture.run(late) {
      $0.options.commit = .batch
      $0.options.batchSize = 10
    }
    #expect(report.committed == 26)
    #expect(try fixture.rows().count == 28)
  }

  @Test(
    "Records without anything are no objects of an entity that has no key",
    arguments: [
      ("[{},{}]", ForeignFormat.json), ("{}\n{}\n", .ndjson), ("<r><p/><p/></r>", .xml),
    ]
  )
  func empty(text: String, format: ForeignFormat) async throws {
    let map = """
      version: 1
      entities: { P: { attributes: { a: {}, b: {} } } }
      sources:
        json: { format: json, entity: P }
        ndjson: { format: ndjson, entity: P }
        xml: { format: xml, entity: P, records: /r/p }
      """
    let fixture = try ImportFixture(map)
    let failure = await #expect(throws: ImportFailure.self) { try await fixture.run(text) }
    let error = failure?.cause as? ImportError
    #expect(error?.code == .unmatched)
    #expect(
      error?.message.hasSuffix("none of its paths occurs in the records, which are empty.") == true
    )
    // One that has something makes the others objects whose values are missing.
    let some = ["[{},{\"a\":\"1\"}]", "{}\n{\"a\":\"1\"}\n", "<r><p/><p><a>1</a></p></r>"]
    let feed = some[[ForeignFormat.json, .ndjson, .xml].firstIndex(of: format) ?? 0]
    #expect(try await fixture.run(feed).counts.inserted == 2)
  }

  @Test(
    "A CSV header without any column of the map is refused, also where nothing stands behind it",
    arguments: ["404 <html> page", "a;b\n1;2\n", "x,y\n", "x\n1\n"]
  )
  func strangeHeaders(text: String) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { attributes: { a: a, b: b, line: { from: $line, type: int32 } } } }
      sources: { c: { format: csv, entity: P } }
      """
    )
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run { $0.inputs = [.bytes(Array(text.utf8), name: "p.csv")] }
    }
    #expect((failure?.cause as? ImportError)?.code == .unmatched)
    #expect(fixture.store.model.entities.isEmpty)
    let failing = await #expect(throws: ImportFailure.self) {
      try await fixture.run {
        $0.inputs = [.bytes(Array(text.utf8), name: "p.csv")]
        $0.options.commit = .batch
      }
    }
    #expect((failing?.cause as? ImportError)?.code == .unmatched)
    // One column is enough, and a header alone is a feed of no records.
    let report = try await fixture.run { $0.inputs = [.bytes(Array("b,z\n".utf8), name: "p.csv")] }
    #expect(report.counts.read == 0)
  }
}
