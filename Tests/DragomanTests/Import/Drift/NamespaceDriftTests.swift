import DragomanGraph
import Testing

@testable import Dragoman

/// Feeds of XML whose names are told apart by their namespaces, as the import tells them.
@Suite("Contracts and namespaces") struct NamespaceDriftTests {
  private static func map(
    _ contract: String,
    namespaces: String = "",
    prefix: String = ""
  ) -> String {
    """
    version: 1
    name: spaces
    entities:
      E:
        unique: id
        \(contract)
        attributes: { id: { from: { xml: "@id" } }, t: { from: { xml: "\(prefix)t" } } }
    sources:
      x: { format: xml, entity: E, records: "/\(prefix)r/\(prefix)e"\(namespaces) }
    """
  }

  @Test("A mapped element that comes in another namespace is gone, and the other one is new")
  func freeze() async throws {
    let fixture = try ImportFixture(Self.map("contract: freeze"))
    try await fixture.run(#"<r><e id="1"><t>a</t></e></r>"#)
    let failure = await #expect(throws: ImportFailure.self) {
      try await fixture.run(#"<r xmlns:q="urn:q"><e id="2"><q:t>b</q:t></e></r>"#)
    }
    #expect((failure?.cause as? ImportError)?.code == .contract)
    #expect(
      failure?.report.drift?.changes.map(\.message) == [
        "no record has E.t", "E has q:t (text, once); nothing reads it",
      ]
    )
    #expect(try fixture.rows("E") == ["1|a"])
  }

  @Test("Two elements of one local name become two attributes")
  func evolve() async throws {
    let fixture = try ImportFixture(Self.map("contract: evolve"))
    try await fixture.run(#"<r><e id="1"><t>a</t></e></r>"#)
    let feed = #"<r xmlns:q="urn:q"><e id="2"><u>U</u><q:u>QU</q:u><q:t>QT</q:t></e></r>"#
    let report = try await fixture.run(feed)
    #expect(
      report.drift?.changes.compactMap(\.attribute) == [
        "u: { from: u }", #"u2: { from: "q:u" }"#, #"t2: { from: "q:t" }"#,
      ]
    )
    #expect(try fixture.rows("E", ["id", "u", "u2", "t2"]).last == "2|U|QU|QT")
    // Another prefix means the same.
    let other = feed.replacing("q:", with: "v:").replacing(":q=", with: ":v=")
    let again = try await fixture.run(other)
    #expect(again.drift?.changes.filter { $0.kind == .newKey } == [])
  }

  @Test("Where all names are in the namespace of the records, messages do without it")
  func usual() async throws {
    let fixture = try ImportFixture(
      Self.map("contract: report", namespaces: ", namespaces: { a: \"urn:a\" }", prefix: "a:")
    )
    try await fixture.run(#"<r xmlns="urn:a"><e id="1"><t>a</t></e></r>"#)
    let report = try await fixture.run(
      #"<r xmlns="urn:a" xmlns:q="urn:q"><e id="1" lang="no"><t>a</t><u>b</u><q:u>c</q:u></e></r>"#
    )
    #expect(report.drift?.changes.map(\.name) == ["@lang", "u", "q:u"])
  }

  @Test("The coverage tells an element that a path without a prefix does not read")
  func coverage() async throws {
    let fixture = try ImportFixture(Self.map(""))
    let feed = #"<r xmlns:q="urn:q"><e id="1"><t>a</t><q:t>b</q:t></e><q:t/></r>"#
    let (_, coverage) = try await Importer(map: fixture.map, store: fixture.store)
      .check(ImportRequest([.bytes(Array(feed.utf8), name: "feed.xml")]))
    #expect(coverage.unread.map { "\($0.entity ?? "-") \($0.path)" } == ["E q:t", "- /r/q:t"])
  }

  @Test("The coverage has the prefixes of the map, and of the feed where the map has none")
  func prefixes() async throws {
    let fixture = try ImportFixture(Self.map("", namespaces: ", namespaces: { m: \"urn:one\" }"))
    let feed = #"<r xmlns:a="urn:one" xmlns:b="urn:two"><e id="1"><a:t/><b:t>b</b:t></e></r>"#
    let (_, coverage) = try await Importer(map: fixture.map, store: fixture.store)
      .check(ImportRequest([.bytes(Array(feed.utf8), name: "feed.xml")]))
    #expect(coverage.unread.map(\.path) == ["m:t", "b:t"])
  }
}
