import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Feeds of well-known forms, and records of several kinds in one list.
@Suite struct GuessKindsTests {
  private func circle(_ text: String, _ name: String, exports: Bool = true) async throws
    -> ImportMap
  {
    try await GuessCircle([.bytes(Array(text.utf8), name: name)], exports: exports).guess.map
  }

  /// Entities with what they are read from: attributes by path and type, relationships by target.
  private func outline(_ map: ImportMap) -> [String] {
    map.entities.map { entity in
      let parent = entity.parent.map { ": \($0)" } ?? ""
      let keys = (entity.uniqueKeys.first ?? []).joined(separator: "+")
      let attributes = entity.attributes.map { "\($0.name) \($0.type.rawValue)" }
      let links = entity.relationships.map {
        "\($0.name) \($0.kind == .toMany ? "[\($0.entity)]" : $0.entity)"
      }
      return "\(entity.name)\(parent) {\(keys)} " + (attributes + links).joined(separator: ", ")
    }
  }

  @Test("Two kinds in one array are sub-entities, with what both have in their parent")
  func kinds() async throws {
    let map = try await circle(
      """
      {"things":[{"id":1,"type":"book","title":"A","isbn":"x1","pages":10},
       {"id":2,"type":"film","title":"B","minutes":90,"director":"D"},
       {"id":3,"type":"book","title":"C","isbn":"x2","pages":20}]}
      """,
      "shop.json"
    )
    #expect(
      outline(map) == [
        "Thing {id} id int64, type string, title string", "Book: Thing {} isbn string, pages int64",
        "Film: Thing {} minutes int64, director string",
      ]
    )
    #expect(map.entities[0].discriminator?.values == ["book": "Book", "film": "Film"])
  }

  @Test("Words that tell no difference are an attribute")
  func noKinds() async throws {
    let records = (0..<3000).map {
      "{\"type\":\"\($0 % 3 == 0 ? "a" : "b")\",\"id\":\($0),\"name\":\"n\($0)\",\"at\":\"2024-01-0\($0 % 9 + 1)\"}"
    }
    let map = try await circle("[\(records.joined(separator: ","))]", "visits.json")
    #expect(outline(map) == ["Visit {id} type string, id int64, name string, at date"])
    // One more member of one kind is an optional attribute.
    let some = #"[{"type":"a","id":1,"x":1},{"type":"b","id":2,"x":2,"y":3},{"id":4}]"#
    #expect(
      outline(try await circle(some, "visits.json")) == [
        "Visit {id} type string, id int64, x int64, y int64"
      ]
    )
  }

  @Test("The place as a key has a name that no kind has")
  func placeOfKinds() async throws {
    let map = try await circle(
      """
      [{"type":"walk","place":"Oslo","km":1},{"type":"walk","place":"Oslo","km":1},
       {"type":"swim","laps":2,"lane":3,"pool":"x"}]
      """,
      "sports.json"
    )
    #expect(map.entities[0].uniqueKeys == [["file", "place2"]])
    #expect(map.entities[1].attributes.map(\.name) == ["place", "km"])
  }

  @Test(
    "Words that a map cannot tell apart tell no kinds",
    arguments: [("\u{E9}", "e\u{301}"), ("\u{FEFF}", "x")]
  )
  func wordsOfMaps(first: String, second: String) async throws {
    let map = try await circle(
      """
      [{"id":1,"kind":"\(first)","a":1,"b":2},{"id":2,"kind":"\(second)","c":1,"d":2}]
      """,
      "things.json"
    )
    #expect(map.entities.map(\.name) == ["Thing"])
  }

  @Test(
    "The word of a kind is a text, whatever it looks like",
    arguments: [
      ("1.0", "2.0"), ("24 %", "7 %"), ("$5", "$6"), ("2024-01-01 10:00:00", "2024-01-02 10:00:00"),
      ("yes", "no"),
    ]
  )
  func words(first: String, second: String) async throws {
    let map = try await circle(
      """
      [{"id":1,"type":"\(first)","a":1,"b":2},{"id":2,"type":"\(second)","c":1,"d":2}]
      """,
      "things.json"
    )
    #expect(map.entities.count == 3)
    #expect(map.entities[0].attribute(named: "type")?.type == .string)
  }

  @Test("A name that several kinds have with another meaning is a column each")
  func columns() async throws {
    let map = try await circle(
      """
      [{"kind":"a","id":1,"value":5,"p":1,"q":1},{"kind":"b","id":2,"value":"x","r":1,"s":1},
       {"kind":"a","id":3,"value":6,"p":1,"q":2},{"kind":"b","id":4,"value":"y","r":1,"s":2}]
      """,
      "mixed.json"
    )
    #expect(map.entities.map(\.name) == ["Mixed", "A", "B"])
    #expect(map.entities[1].attributes.map(\.column) == [nil, nil, nil])
    #expect(map.entities[2].attributes.map(\.column) == ["bValue", nil, nil])
  }

  @Test("What is null in all records of a kind stays common to the kinds")
  func nulls() async throws {
    let map = try await circle(
      """
      {"type":"x","id":1,"note":null,"b":1,"c":1,"d":3}
      {"type":"y","id":2,"note":"t","e":1,"f":2,"g":3}

      """,
      "notes.ndjson"
    )
    #expect(map.entities.map(\.name) == ["Note", "X", "Y"])
    #expect(map.entities[0].attributes.map(\.name) == ["type", "id", "note"])
  }

  @Test("NDJSON of several kinds, each with members of its own")
  func lines() async throws {
    let map = try await circle(
      """
      {"event":"login","id":"e1","at":"2024-05-01T10:00:00Z","user":"ada","browser":"x"}
      {"event":"order","id":"e2","at":"2024-05-01T10:05:00Z","total":12.50,"lines":[{"sku":"a","n":1},{"sku":"b","n":2}]}
      {"event":"login","id":"e3","at":"2024-05-01T11:00:00Z","user":"bo","browser":"y"}

      """,
      "events.ndjson"
    )
    #expect(
      outline(map) == [
        "Event {id} event string, id string, at timestamp",
        "Login: Event {} user string, browser string",
        "Order: Event {} total decimal, lines [Line]",
        "Line {order+place} place int64, sku string, n int64",
      ]
    )
  }

  @Test("Django fixtures: a sub-entity a model, keys beside the model, references by field")
  func django() async throws {
    let map = try await circle(
      """
      [{"model":"library.author","pk":1,"fields":{"name":"A","born":"1920-01-02"}},
       {"model":"library.author","pk":2,"fields":{"name":"B","born":null}},
       {"model":"library.tag","pk":1,"fields":{"word":"x"}},
       {"model":"library.tag","pk":2,"fields":{"word":"y"}},
       {"model":"library.book","pk":1,"fields":{"name":"T","author":2,"tags":[1,2],"price":"12.50"}},
       {"model":"library.book","pk":2,"fields":{"name":"U","author":1,"tags":[],"price":"9.00"}}]
      """,
      "dump.json"
    )
    #expect(
      outline(map) == [
        "Dump {model+pk} model string, pk int64", "Author: Dump {} name string, born date",
        "Tag: Dump {} word string",
        "Book: Dump {} name string, price decimal, author Author, tags [Tag]",
      ]
    )
    #expect(map.entities[3].relationships[0].key?["model"] == .value("library.author"))
  }

  @Test("Atom: entries with their authors, links and ids")
  func atom() async throws {
    let map = try await circle(
      """
      <?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>F</title><id>urn:f</id>
      <updated>2024-05-01T10:00:00Z</updated>
      <entry><id>urn:1</id><title type="text">A</title><updated>2024-05-01T10:00:00Z</updated>
      <author><name>X</name></author><link rel="alternate" href="https://a.example/1"/>
      <link rel="self" href="https://a.example/1.atom"/><category term="p"/><summary>s</summary></entry>
      <entry><id>urn:2</id><title type="html">B</title><updated>2024-05-02T10:00:00Z</updated>
      <author><name>Y</name></author><link rel="alternate" href="https://a.example/2"/>
      <category term="p"/><category term="q"/><summary>t</summary></entry></feed>
      """,
      "atom.xml"
    )
    #expect(map.sources[0].records?.text == "/atom:feed/atom:entry")
    #expect(
      outline(map) == [
        "Entry {id} id string, title string, titleType string, updated timestamp, authorName string, summary string, links [Link], categories [Category]",
        "Link {entry+place} place int64, rel string, href url",
        "Category {entry+place} place int64, term string",
      ]
    )
  }

  @Test("GeoJSON: properties and coordinates are attributes of features")
  func geoJSON() async throws {
    let map = try await circle(
      """
      {"type":"FeatureCollection","features":[
       {"type":"Feature","id":"a","properties":{"name":"A","pop":5},"geometry":{"type":"Point","coordinates":[10.5,59.1]}},
       {"type":"Feature","id":"b","properties":{"name":"B","pop":7},"geometry":{"type":"Point","coordinates":[5.3,60.4]}}]}
      """,
      "places.geojson"
    )
    #expect(
      outline(map) == [
        "Feature {id} type string, id string, name string, pop int64, geometryType string, longitude double, latitude double"
      ]
    )
  }

  @Test(
    "An envelope with data, pages and links has its records at data; one object with an id is one record"
  )
  func envelopes() async throws {
    let page = try await circle(
      """
      {"data":[{"id":"1","type":"articles","attributes":{"title":"A"},"links":{"self":"https://x.example/1"}},
       {"id":"2","type":"articles","attributes":{"title":"B"},"links":{"self":"https://x.example/2"}}],
       "meta":{"total":2,"page":1},"links":{"next":null}}
      """,
      "articles.json"
    )
    #expect(page.sources.map { $0.records?.text } == ["/data"])
    #expect(outline(page) == ["Article {id} id string, type string, title string, linksSelf url"])
    let single = try await circle(
      #"{"result":{"id":7,"name":"N","items":[{"sku":"a"},{"sku":"b"}]},"took":3}"#,
      "order.json"
    )
    #expect(single.sources.map { $0.records?.text } == ["/result"])
    #expect(single.entities.map(\.name) == ["Order", "Item"])
  }

  @Test("Names of digits alone lead to records that come back, named as the file is")
  func digits() async throws {
    let map = try await circle(#"{"4217":[{"code":"NOK"},{"code":"EUR"}]}"#, "iso_4217.json")
    #expect(map.entities.map(\.name) == ["Iso4217"])
    #expect(map.sources[0].records?.text == "/4217")
  }

  @Test(
    "Keys in one text are a relationship, whatever stands between them",
    arguments: [
      ("a,b", "c", ","), ("a;b", "c", ";"), ("a | b", "c", "|"), ("a b", "c", "whitespace"),
      ("c", "a, b,", ","), ("a,b", "", ","),
    ]
  )
  func lists(first: String, second: String, split: String) async throws {
    let text = """
      {"tags":[{"id":"a","n":"A"},{"id":"b","n":"B"},{"id":"c","n":"C"}],
       "books":[{"isbn":"x","tags":"\(first)"},{"isbn":"y","tags":"\(second)"}]}
      """
    let map = try await circle(text, "library.json")
    let book = try #require(map.entity(named: "Book"))
    #expect(book.relationships.map { "\($0.name) \($0.entity)" } == ["tags Tag"])
    guard case .path(_, let found) = book.relationships.first?.key?["id"] else {
      Issue.record("\(book)")
      return
    }
    #expect(found == split)
    // One key that nobody has, and it is a text.
    let torn = try await circle(text.replacing("\"\(first)\"", with: "\"a,z\""), "library.json")
    #expect(torn.entity(named: "Book")?.attributes.map(\.name) == ["isbn", "tags"])
  }

  @Test("Ids in a list of numbers in text are keys, too")
  func numberLists() async throws {
    let map = try await circle(
      """
      {"tags":[{"id":1,"n":"A"},{"id":2,"n":"B"},{"id":30,"n":"C"}],
       "books":[{"isbn":"x","tag_ids":"1,2"},{"isbn":"y","tag_ids":"30"},{"isbn":"z","tag_ids":"1,2,30"}]}
      """,
      "library.json"
    )
    #expect(
      map.entity(named: "Book")?.relationships.map { "\($0.name) \($0.entity)" } == ["tags Tag"]
    )
  }

  @Test(
    "An element that is there once and has an id is a record, and what else stands beside is told"
  )
  func single() async throws {
    let text = """
      <metadata created="2024-05-01"><release id="r1"><title>T</title><media><medium><position>1</position></medium>
      <medium><position>2</position></medium></media></release></metadata>
      """
    let guess = try MapGuess(of: [.bytes(Array(text.utf8), name: "release.xml")])
    #expect(guess.map.entities.map(\.name) == ["Release", "Medium"])
    #expect(guess.map.entities[0].relationships.map(\.name) == ["mediums"])
    #expect(guess.text.contains("# beside the records, not mapped: $root/@created"))
  }

  @Test("An element that is a list in one place is one where it stands alone, too")
  func alikeElsewhere() async throws {
    let map = try await circle(
      """
      <osm><node id="1"><tag k="a" v="x"/></node><node id="2"/><node id="3"/><way id="5"><nd ref="1"/><nd ref="2"/>
      <tag k="a" v="y"/><tag k="b" v="z"/></way><way id="6"><nd ref="1"/><nd ref="3"/></way></osm>
      """,
      "map.osm"
    )
    #expect(
      outline(map) == [
        "Node {id} id int64, tags [Tag]", "Tag {node+place} place int64, k string, v string",
        "Way {id} id int64, nds [Nd], tags [WayTag]", "Nd {way+ref} ref Node",
        "WayTag {way+place} place int64, k string, v string",
      ]
    )
  }

  @Test(
    "What all records of today have is not required of tomorrow's; a text beside children is one"
  )
  func required() async throws {
    let zones = (0..<12).map {
      "<zone id=\"z\($0)\">\($0 < 6 ? "t\($0)" : "<a>\($0)</a>")<b>\($0)</b></zone>"
    }
    let map = try await circle("<zones>\(zones.joined())</zones>", "zones.xml")
    #expect(outline(map) == ["Zone {id} text string, id string, b int64, a int64"])
    #expect(map.entities[0].attributes.allSatisfy { $0.isRequired != true })
  }
}
