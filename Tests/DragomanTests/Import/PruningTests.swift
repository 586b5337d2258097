import Testing

@testable import Dragoman
@testable import DragomanGraph

/// What `prune` deletes: objects of exactly the entities that the feed's records can be, which the
/// feed does not have.
@Suite("Pruning")
struct PruningTests {
  /// A family with a source for each of its members.
  private static let family = """
    version: 1
    entities:
      Thing: { unique: id, attributes: { id: id } }
      Alpha: { parent: Thing, attributes: { a: a } }
      Beta: { parent: Thing, attributes: { b: b } }
    sources:
      things: { format: json, entity: Thing, records: /things }
      alphas: { format: json, entity: Alpha, records: /alphas }
      betas: { format: json, entity: Beta, records: /betas }
    """

  private func things(_ fixture: ImportFixture) throws -> [String] {
    try sql(fixture.store, "SELECT _entity, id FROM Thing ORDER BY id")
  }

  @Test(
    "Sources of siblings prune each their own entity",
    arguments: [ImportMap.ImportOptions.Commit.all, .batch]
  )
  func siblings(commit: ImportMap.ImportOptions.Commit) async throws {
    let fixture = try ImportFixture(Self.family)
    let feed = #"{"things":[{"id":"t"}],"alphas":[{"id":"a1"},{"id":"a2"}],"betas":[{"id":"b"}]}"#
    for _ in 1...2 {
      let report = try await fixture.run(feed) {
        $0.prune = .init()
        $0.options.commit = commit
        $0.options.batchSize = 1
      }
      #expect(report.pruned == 0)
    }
    #expect(try things(fixture) == ["Alpha|a1", "Alpha|a2", "Beta|b", "Thing|t"])
    let report = try await fixture.run(
      #"{"things":[{"id":"t"}],"alphas":[{"id":"a2"}],"betas":[{"id":"b2"}]}"#
    ) { $0.prune = .init() }
    #expect(report.pruned == 2)
    #expect(try things(fixture) == ["Alpha|a2", "Beta|b2", "Thing|t"])
  }

  @Test("Of sources at one place, however that is spelled, names do not tell which one prunes")
  func onePlace() throws {
    let map = try ImportMap(
      yaml: """
        version: 1
        entities:
          A: { unique: id, attributes: { id: id } }
          B: { unique: no, attributes: { no: no } }
          C: { unique: id, attributes: { id: id } }
        sources:
          a: { format: json, entity: A, records: /x }
          b: { format: json, entity: B, records: x }
          c: { format: json, entity: C, records: /y }
        """
    )
    var request = ImportRequest([.bytes([], name: "feed.json")])
    request.prune = .init()
    #expect(map.prunedEntities(by: request) == ["C"])
  }

  @Test("A source prunes neither the parent of its entity nor siblings nor sub-entities")
  func exactEntity() async throws {
    let fixture = try ImportFixture(Self.family)
    let feed = #"{"things":[{"id":"t"}],"alphas":[{"id":"a"}],"betas":[{"id":"b"}]}"#
    try await fixture.run(feed)
    try await fixture.run(#"{"things":[],"alphas":[{"id":"a2"}],"betas":[]}"#) {
      $0.sources = ["alphas"]
      $0.prune = .init(maximumShare: 0.5)
    }
    #expect(try things(fixture) == ["Alpha|a2", "Beta|b", "Thing|t"])
    try await fixture.run(#"{"things":[{"id":"u"}],"alphas":[],"betas":[]}"#) {
      $0.sources = ["things"]
      $0.prune = .init()
    }
    #expect(try things(fixture) == ["Alpha|a2", "Beta|b", "Thing|u"])
  }

  @Test("A discriminator covers the sub-entities that it tells, however many inputs there are")
  func discriminator() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Thing: { unique: id, discriminator: { from: kind, values: { a: Alpha } }, attributes: { id: id } }
        Alpha: { parent: Thing, attributes: { a: a } }
        Beta: { parent: Thing, attributes: { b: b } }
      sources:
        json: { format: json, entity: Thing }
        xml: { format: xml, entity: Beta, records: /r/b }
      """
    )
    try await fixture.run(
      #"[{"id":"t"},{"id":"u"},{"id":"a1","kind":"a"},{"id":"a2","kind":"a"}]"#,
      "<r><b><id>b</id></b></r>"
    )
    let report = try await fixture.run(
      #"[{"id":"t"}]"#,
      #"[{"id":"a2","kind":"a"}]"#
    ) { $0.prune = .init() }
    #expect(report.pruned == 2)
    #expect(try things(fixture) == ["Alpha|a2", "Beta|b", "Thing|t"])
  }

  @Test("Sources that stand in inputs of their own prune; one that is in none of them refuses")
  func inputsOfTheirOwn() async throws {
    let fixture = try ImportFixture(Self.family)
    let (things, alphas) = (#"{"things":[{"id":"t"}]}"#, #"{"alphas":[{"id":"a"}]}"#)
    try await fixture.run(
      things,
      #"{"alphas":[{"id":"a"},{"id":"b"}]}"#,
      #"{"betas":[{"id":"c"}]}"#
    )
    let report = try await fixture.run(things, alphas, #"{"betas":[{"id":"d"}]}"#) {
      $0.prune = .init()
    }
    #expect(report.pruned == 2)
    #expect(try self.things(fixture) == ["Alpha|a", "Beta|d", "Thing|t"])
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run(things, alphas) { $0.prune = .init() }
    }
    #expect((failure?.cause as? ImportError)?.code == .prune)
    #expect(try self.things(fixture) == ["Alpha|a", "Beta|d", "Thing|t"])
  }

  @Test("A list that came empty deletes nothing of its entity, and the report says so")
  func emptyList() async throws {
    let fixture = try ImportFixture(Self.family)
    try await fixture.run(#"{"things":[{"id":"t"}],"alphas":[{"id":"a"}],"betas":[{"id":"b"}]}"#)
    let report = try await fixture.run(
      #"{"things":[{"id":"u"}],"alphas":[],"betas":[{"id":"b"}]}"#
    ) { $0.prune = .init() }
    #expect(
      report.notices == ["nothing of Alpha was pruned: the source alphas brought no record"]
    )
    #expect(try things(fixture) == ["Alpha|a", "Beta|b", "Thing|u"])
  }

  /// Orders with nested customers, and a list of customers.
  private static let orders = """
    version: 1
    entities:
      Customer: { unique: id, attributes: { id: id, name: name } }
      Line:
        unique: [order, no]
        attributes: { no: { type: int32 } }
        relationships: { order: { entity: Order, kind: toOne, key: { id: order } } }
      Order:
        unique: id
        version: version
        attributes: { id: id, version: { type: int32 }, note: note }
        relationships:
          customer: { entity: Customer, kind: toOne }
          lines: { entity: Line, kind: toMany, inverse: order, assign: union }
    sources:
      customers: { format: json, entity: Customer, records: /customers }
      orders: { format: json, entity: Order, records: /orders }
      lines: { format: json, entity: Line, records: /lines }
    """

  @Test(
    "What is nested in a record is in the feed, also where the record is left alone",
    arguments: ["", #","version":1"#],
    [nil, EntityWriter.Mode.ignore]
  )
  func nested(version: String, mode: EntityWriter.Mode?) async throws {
    let fixture = try ImportFixture(Self.orders)
    let order = { (version: String) in
      #"{"id":"1"\#(version),"customer":{"id":"n"},"lines":[{"no":1},{"no":2}]}"#
    }
    try await fixture.run(
      #"{"customers":[{"id":"c"},{"id":"d"}],"orders":[\#(order(",\"version\":2"))],"lines":[{"order":"1","no":3}]}"#
    )
    let report = try await fixture.run(
      #"{"customers":[{"id":"c"}],"orders":[\#(order(version))],"lines":[{"order":"1","no":4}]}"#,
      mode: mode
    ) { $0.prune = .init() }
    #expect(report.pruned == 2)
    #expect(try sql(fixture.store, "SELECT id FROM Customer ORDER BY id") == ["c", "n"])
    #expect(try sql(fixture.store, "SELECT no FROM Line ORDER BY no") == ["1", "2", "4"])
  }

  @Test("A held record that is left alone in the end is in the feed")
  func held() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        T: { unique: id, attributes: { id: id } }
        P:
          unique: id
          attributes: { id: id }
          relationships: { t: { entity: T, kind: toOne, key: { id: t }, onUnresolved: reject } }
      sources:
        p: { format: json, entity: P, records: /p }
        t: { format: json, entity: T, records: /t }
      """
    )
    try await fixture.run(#"{"p":[{"id":"1"},{"id":"2"}],"t":[{"id":"x"}]}"#)
    let report = try await fixture.run(
      #"{"p":[{"id":"1","t":"y"}],"t":[{"id":"y"}]}"#,
      mode: .ignore
    ) { $0.prune = .init() }
    #expect(report.summary == "read 2, inserted 1, skipped 1, pruned 2")
    #expect(try sql(fixture.store, "SELECT id FROM P UNION ALL SELECT id FROM T") == ["1", "y"])
  }

  @Test("Objects without a key stay, because no feed can tell that it has them")
  func nullKey() async throws {
    let fixture = try ImportFixture(
      "version: 1\nentities: { P: { unique: id, attributes: { id: { required: false }, v: v } } }"
    )
    try await fixture.run(#"[{"v":"a"},{"id":"1"},{"id":"2"}]"#)
    let report = try await fixture.run(#"[{"v":"b"},{"id":"2"}]"#) { $0.prune = .init() }
    #expect(report.pruned == 1)
    #expect(try fixture.rows() == ["null|a", "2|null", "null|b"])
  }

  @Test("Without a unique key nothing is pruned, and the report says so")
  func noKey() async throws {
    let fixture = try ImportFixture("version: 1\nentities: { P: { attributes: { v: v } } }")
    try await fixture.run(#"[{"v":"a"}]"#)
    let report = try await fixture.run(#"[{"v":"b"}]"#) { $0.prune = .init() }
    #expect(
      report.notices == [
        "nothing of P was pruned: without a unique key nobody can tell its objects"
      ]
    )
    #expect(try fixture.rows() == ["a", "b"])
  }

  @Test("Pruning is refused where a delete rule would take along what the feed has")
  func cascade() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        C:
          unique: id
          attributes: { id: id }
          relationships: { os: { entity: O, kind: toMany, key: { id: os }, inverse: c, onDelete: cascade } }
        O: { unique: id, attributes: { id: id } }
      sources:
        c: { format: json, entity: C, records: /c }
        o: { format: json, entity: O, records: /o }
      """
    )
    try await fixture.run(#"{"c":[{"id":"1","os":["x"]},{"id":"2"}],"o":[{"id":"x"}]}"#)
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run(#"{"c":[{"id":"2"}],"o":[{"id":"x"}]}"#) { $0.prune = .init() }
    }
    #expect(
      (failure?.cause as? ImportError)?.message
        == "Pruning would delete 1 object of O that the feed has: a delete rule takes it along"
        + " with objects that it does not have."
    )
    #expect(try sql(fixture.store, "SELECT count(*) FROM C") == ["2"])
    // What the feed itself deletes or leaves out is no such object.
    let report = try await fixture.run(#"{"c":[{"id":"2"}],"o":[{"id":"y"}]}"#) {
      $0.prune = .init()
    }
    #expect(report.pruned == 2)
  }

  @Test(
    "What a delete rule takes along is told, and held against the share, also of a list that came empty"
  )
  func companions() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        C:
          unique: id
          attributes: { id: id }
          relationships: { os: { entity: O, kind: toMany, inverse: c, onDelete: cascade } }
        O:
          unique: id
          attributes: { id: id }
          relationships: { c: { entity: C, kind: toOne, key: { id: c } } }
      sources:
        c: { format: json, entity: C, records: /c }
        o: { format: json, entity: O, records: /o }
      """
    )
    try await fixture.run(
      #"{"c":[{"id":"1"},{"id":"2"}],"o":[{"id":"x","c":"1"},{"id":"y","c":"2"},{"id":"z","c":"2"}]}"#
    )
    let feed = #"{"c":[{"id":"1"}],"o":[]}"#
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run(feed) { $0.prune = .init(maximumShare: 0.5) }
    }
    #expect(
      (failure?.cause as? ImportError)?.message
        == "Pruning would delete 2 of 3 objects of O, with those that delete rules take along."
    )
    #expect(try sql(fixture.store, "SELECT count(*) FROM O") == ["3"])
    let report = try await fixture.run(feed) { $0.prune = .init(maximumShare: 0.7) }
    #expect(report.pruned == 3)
    #expect(
      report.notices == [
        "nothing of O was pruned: the source o brought no record",
        "2 of O went with what they belong to: the delete rule of a relationship takes them along",
      ]
    )
  }

  @Test("Links in a table of their own are named by their relationship, and no sensitive key is")
  func noActionInTable() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        Part: { unique: k, attributes: { k: k } }
        Box:
          unique: k
          attributes: { k: { from: k, sensitive: true } }
          deleteWhen: { from: del, equals: "yes" }
          relationships:
            parts: { entity: Part, kind: toMany, key: { k: "parts[*]" }, onUnresolved: stub, onDelete: noAction }
            in: { entity: Box, kind: toOne, key: { k: in }, inverse: boxes }
            boxes: { entity: Box, kind: toMany, inverse: in, onDelete: noAction }
        Crate: { parent: Box, attributes: { n: n } }
      sources:
        boxes: { format: json, entity: Box, records: /boxes }
        crates: { format: json, entity: Crate, records: /crates }
      """
    )
    try await fixture.run(
      #"{"boxes":[{"k":"a","parts":["p"]},{"k":"b"}],"crates":[{"k":"c","in":"b"}]}"#
    )
    for (key, words) in [
      ("a", "Box.parts would keep a link of Part k "), ("b", "Box k ••• would keep a link"),
    ] {
      let error = await #expect(throws: ImportFailure.self) {
        // The second batch is where it happens.
        try await fixture.run(#"{"boxes":[{"k":"d"},{"k":"\#(key)","del":"yes"}],"crates":[]}"#) {
          $0.options.batchSize = 1
        }
      }
      #expect((error?.cause as? StoreError)?.message.hasPrefix(words) == true)
    }
    #expect(try sql(fixture.store, "SELECT k FROM Box ORDER BY k") == ["a", "b", "c"])
  }

  @Test(
    "A link that noAction leaves without a target is named, by a dry run too",
    arguments: [false, true]
  )
  func noAction(isDryRun: Bool) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        A:
          unique: k
          attributes: { k: k }
          deleteWhen: { from: del, equals: "yes" }
          relationships:
            r: { entity: A, kind: toOne, key: { k: r }, inverse: back }
            back: { entity: A, kind: toMany, inverse: r, onDelete: noAction }
      sources: { json: { format: json, entity: A } }
      """
    )
    try await fixture.run(#"[{"k":"1"},{"k":"2","r":"1"}]"#)
    for (feed, prunes) in [(#"[{"k":"1","del":"yes"}]"#, false), (#"[{"k":"2","r":"1"}]"#, true)] {
      let error = await #expect(throws: ImportFailure.self) {
        try await fixture.run(feed) {
          $0.isDryRun = isDryRun
          if prunes { $0.prune = .init() }
        }
      }
      let cause = try #require(error?.cause as? StoreError)
      #expect(cause.code == .protected)
      #expect(cause.message.hasPrefix("A k \"2\" would keep a link to an object that is gone"))
      #expect(try sql(fixture.store, "SELECT k, r IS NULL FROM A ORDER BY k") == ["1|1", "2|0"])
    }
    // Who is unlinked in the same transaction has no such link.
    let unlinking = #"[{"k":"1","del":"yes"},{"k":"2","r":null}]"#
    let error = await #expect(throws: ImportFailure.self) {
      try await fixture.run(unlinking) {
        $0.isDryRun = isDryRun
        ($0.options.commit, $0.options.batchSize) = (.batch, 1)
      }
    }
    #expect((error?.cause as? StoreError)?.code == .protected)
    let report = try await fixture.run(unlinking) { $0.isDryRun = isDryRun }
    #expect(report.summary == "read 2, updated 1, deleted 1")
  }

  @Test("A row of a table of others is named whose object would go", arguments: [true, false])
  func tableOfOthers(isDryRun: Bool) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        A: { unique: k, attributes: { k: k }, deleteWhen: { from: del, equals: "yes" } }
      sources: { json: { format: json, entity: A } }
      """
    )
    try await fixture.run(#"[{"k":"1"}]"#)
    try fixture.store.write { session in
      try session.database.execute(
        sql: "CREATE TABLE note (a REFERENCES A (_pk) DEFERRABLE INITIALLY DEFERRED);"
          + " INSERT INTO note SELECT _pk FROM A"
      )
    }
    let error = await #expect(throws: ImportFailure.self) {
      try await fixture.run(#"[{"k":"1","del":"yes"}]"#) { $0.isDryRun = isDryRun }
    }
    let cause = try #require(error?.cause as? StoreError)
    #expect(cause.code == .protected)
    #expect(cause.message.contains("A row of the table \"note\" would keep a reference"))
    #expect(try sql(fixture.store, "SELECT k FROM A") == ["1"])
  }
}
