import DragomanGraph
import Foundation
import Testing

@testable import Dragoman

/// Links of public feeds; passed over where the feeds are not there.
@Suite("Links of public feeds") struct FeedLinkTests {
  private static let folder = "\(Shared.folder)/feeds"

  /// Imports files twice, the second time in another order; the second import changes nothing.
  private func imported(_ map: String, _ files: [String]) async throws -> SQLiteStore {
    let store = try SQLiteStore(at: .inMemory)
    let importer = Importer(map: try ImportMap(yaml: map), store: store)
    let first = try await importer.run(ImportRequest(files.map { .file($0) }))
    #expect(first.issueSummary == [])
    let before = try contents(of: store)
    let again = try await importer.run(ImportRequest(files.reversed().map { .file($0) }))
    #expect(again.counts.unchanged == again.counts.read)
    #expect(again.linkSummary == [])
    #expect(try contents(of: store) == before)
    return store
  }

  // MARK: - OpenStreetMap

  /// The map of docs/relationships.md: members lead to nodes, ways and relations by type and id.
  private func osmMap() throws -> String {
    let blocks = try DocumentFile(path: "docs/relationships.md").blocks(in: "yaml")
    return "version: 1\n" + (try #require(blocks.first { $0.contains("/osm/relation") }))
  }

  @Test("Members by type and ref, whose ids may be the same, in order and repeated")
  func members() async throws {
    let fixture = try ImportFixture(osmMap())
    let relation =
      #"<relation id="1"><member type="way" ref="1" role="a"/><member type="node" ref="1" role="b"/>"#
      + #"<member type="relation" ref="2" role="b"/><member type="way" ref="1" role="a"/></relation>"#
    let feed =
      "<osm>\(relation)<relation id=\"2\"/>"
      + #"<way id="1"><nd ref="2"/><nd ref="1"/><nd ref="2"/></way><node id="1"/><node id="2"/></osm>"#
    let report = try await fixture.run(feed)
    #expect(report.summary == "read 5, inserted 5")
    #expect(report.linkSummary == ["Member.element +4", "Relation.members +4", "Way.nodes +2"])
    let expected = [
      "Element: Node|node|1", "Element: Node|node|2", "Element: Relation|relation|1",
      "Element: Relation|relation|2", "Element: Way|way|1", "Member: 0|a|way,1|relation,1|0",
      "Member: 1|b|node,1|relation,1|1", "Member: 2|b|relation,2|relation,1|2",
      "Member: 3|a|way,1|relation,1|3", "Element_nodes: way,1|0|node,2",
      "Element_nodes: way,1|1|node,1", "Element_nodes: way,1|2|node,2",
    ]
    #expect(try contents(of: fixture.store) == expected)
    #expect(try await fixture.run(feed).summary == "read 5, unchanged 5")
    #expect(try contents(of: fixture.store) == expected)
  }

  /// What the file says, read with plain regular expressions: one line an element or reference.
  private func osmText(_ path: String) throws -> (ways: [String], members: [String]) {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    var (ways, members): ([String], [String]) = ([], [])
    var (id, place) = ("", 0)
    for line in text.split(separator: "<") {
      let value = { (name: String) -> String in
        line.firstRange(of: " \(name)=\"").map {
          String(line[$0.upperBound...].prefix { $0 != "\"" })
        } ?? ""
      }
      switch line.prefix(while: { $0 != " " && $0 != ">" && $0 != "/" }) {
      case "way", "relation":
        if line.hasPrefix("/") { continue }
        (id, place) = (value("id"), 0)
      case "nd":
        ways.append("\(id)|\(place)|\(value("ref"))")
        place += 1
      case "member":
        members.append("\(id)|\(place)|\(value("type"))|\(value("ref"))|\(value("role"))")
        place += 1
      default: break
      }
    }
    return (ways.sorted(), members.sorted())
  }

  @Test("OpenStreetMap: nodes of ways in order with repeats, members by type and ref")
  func osm() async throws {
    let file = "\(Self.folder)/osm/all.osm"
    guard Shared.has(file) else { return }
    let store = try await imported(osmMap(), [file])
    let counts = "SELECT _entity, count(*) FROM Element GROUP BY 1"
    #expect(try sql(store, counts) == ["Node|960", "Relation|96", "Way|259"])
    let expected = try osmText(file)
    #expect(expected.members.count == 231)
    #expect(
      try sql(
        store,
        "SELECT w.id, l.position, n.id FROM Element_nodes l JOIN Element w ON w._pk = l.owner"
          + " JOIN Element n ON n._pk = l.target AND n.type = 'node'"
      ).sorted() == expected.ways
    )
    #expect(
      try sql(
        store,
        "SELECT r.id, m._members_order, e.type, e.id, coalesce(m.role, '') FROM Member m"
          + " JOIN Element r ON r._pk = m.relation AND r.type = 'relation'"
          + " JOIN Element e ON e._pk = m.element"
      ).sorted() == expected.members
    )
  }

  @Test("OpenStreetMap: ids of 64 bits")
  func wideIDs() async throws {
    let file = "\(Self.folder)/osm/misc/64bit_ids.osm"
    guard Shared.has(file) else { return }
    let store = try await imported(osmMap(), [file])
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let ids = text.split(separator: "<").filter { $0.hasPrefix("node ") }.compactMap { line in
      line.firstRange(of: " id=\"").map { String(line[$0.upperBound...].prefix { $0 != "\"" }) }
    }
    #expect(try sql(store, "SELECT id FROM Element WHERE type = 'node'").sorted() == ids.sorted())
    #expect(ids.contains { Int64($0).map { $0 > Int64(UInt32.max) } ?? false })
  }

  // MARK: - MusicBrainz

  private static let musicBrainz = """
    version: 1
    name: musicbrainz
    entities:
      Artist:
        unique: id
        attributes: { id: { from: "@id", type: uuid }, name: m:name, sortName: m:sort-name, disambiguation: m:disambiguation }
      Credit:
        unique: [release, place]
        attributes: { place: { from: $index, type: int32 }, joinPhrase: "@joinphrase", creditedAs: m:name }
        relationships: { artist: { entity: Artist, kind: toOne, from: m:artist } }
      Recording:
        unique: id
        attributes: { id: { from: "@id", type: uuid }, title: m:title, length: { from: m:length, type: int64 } }
        relationships:
          artists: { entity: Artist, kind: toMany, ordered: true, from: m:artist-credit/m:name-credit/m:artist }
      Track:
        unique: [medium, position]
        attributes: { position: { from: m:position, type: int32 }, number: m:number }
        relationships:
          recording: { entity: Recording, kind: toOne, from: m:recording }
          artists: { entity: Artist, kind: toMany, ordered: true, from: m:artist-credit/m:name-credit/m:artist }
      Medium:
        unique: [release, position]
        attributes: { position: { from: m:position, type: int32 } }
        relationships:
          tracks: { entity: Track, kind: toMany, from: m:track-list/m:track, inverse: medium }
      Release:
        unique: id
        attributes:
          id: { from: "@id", type: uuid }
          title: m:title
          date: m:date
        relationships:
          credits: { entity: Credit, kind: toMany, ordered: true, from: m:artist-credit/m:name-credit, inverse: release }
          media: { entity: Medium, kind: toMany, from: m:medium-list/m:medium, inverse: release }
    sources:
      releases:
        format: xml
        entity: Release
        records: /m:metadata/m:release
        namespaces: { m: "http://musicbrainz.org/ns/mmd-2.0#" }
    """

  @Test("MusicBrainz: artists are as many as ids, thin copies harm nobody, dates stay partial")
  func musicBrainz() async throws {
    let folder = "\(Self.folder)/musicbrainz"
    guard Shared.has(folder) else { return }
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      .filter { $0.hasPrefix("release_") }.map { "\(folder)/\($0)" }
    let store = try await imported(Self.musicBrainz, files)
    var ids: Set<String> = []
    var recordings: Set<String> = []
    var names: [String: String] = [:]
    var dates: [String] = []
    for file in files {
      let text = try String(contentsOfFile: file, encoding: .utf8)
      var artist: String?
      var isTrack = false
      for line in text.split(separator: "<") {
        let id = line.firstRange(of: " id=\"").map {
          String(line[$0.upperBound...].prefix { $0 != "\"" })
        }
        if line.hasPrefix("artist "), let id {
          ids.insert(id)
          artist = id
        }
        if line.hasPrefix("/artist>") { artist = nil }
        if line.hasPrefix("name>"), let artist { names[artist] = String(line.dropFirst(5)) }
        if line.hasPrefix("track-list") { isTrack = !line.contains("/>") }
        if line.hasPrefix("/track-list") { isTrack = false }
        if line.hasPrefix("recording "), isTrack, let id { recordings.insert(id) }
      }
      // The release's own date stands before its events and media.
      let own = text.split(separator: "<").prefix { !$0.hasPrefix("release-event-list") }
      dates.append(
        own.first { $0.hasPrefix("date>") }.map { String($0.dropFirst(5)) } ?? "null"
      )
    }
    #expect(ids.count == 10)
    #expect(Set(try sql(store, "SELECT id FROM Artist")) == ids)
    #expect(Set(try sql(store, "SELECT id FROM Recording")) == recordings)
    #expect(try sql(store, "SELECT date FROM Release").sorted() == dates.sorted())
    #expect(dates.contains("1978") && dates.contains("2013-05"))
    let stored = Set(try sql(store, "SELECT id, name FROM Artist"))
    #expect(stored == Set(names.map { "\($0.key)|\($0.value)" }))
  }

  // MARK: - Presidents

  @Test("Presidents of the United States: 66 roles of 43 people")
  func presidents() async throws {
    let file = "\(Self.folder)/corpora-cc0/us_presidents.json"
    guard Shared.has(file) else { return }
    let store = try await imported(
      """
      version: 1
      entities:
        Person:
          unique: id
          attributes:
            id: { type: int64 }
            firstName: firstname
            lastName: lastname
            born: { from: birthday, type: date }
        Role:
          unique: id
          attributes: { id: { type: int64 }, party: party, start: { from: startdate, type: date } }
          relationships: { person: { entity: Person, kind: toOne, inverse: roles } }
      sources: { json: { format: json, entity: Role, records: /objects } }
      """,
      [file]
    )
    #expect(
      try sql(
        store,
        "SELECT count(*), count(DISTINCT person), (SELECT count(*) FROM Person) FROM Role"
      )
        == ["66|43|43"]
    )
    #expect(
      try sql(
        store,
        "SELECT p.lastName, count(*) FROM Role JOIN Person p ON p._pk = person GROUP BY p._pk"
          + " HAVING count(*) > 2"
      ) == ["Roosevelt|4"]
    )
  }
}
