import Foundation
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Where records stand, what identifies them, and how they are related.
@Suite struct GuessShapesTests {
  private func circle(_ text: String, _ name: String) async throws -> MapGuess {
    try await GuessCircle([.bytes(Array(text.utf8), name: name)]).guess
  }

  @Test("Dictionaries of records are keyed by the members' names, at the root and below")
  func dictionaries() async throws {
    let inner =
      #""NOK":{"name":"Krone","digits":2},"EUR":{"name":"Euro","digits":2},"JPY":{"name":"Yen","digits":0}"#
    let root = try await circle("{\(inner)}", "currencies.json")
    #expect(root.map.sources[0].records?.text == "/*")
    #expect(root.map.entities[0].uniqueKeys == [["key"]])
    let below = try await circle("{\"date\":\"2024-01-01\",\"currencies\":{\(inner)}}", "c.json")
    #expect(below.map.sources[0].records?.text == "/currencies/*")
    #expect(below.map.entities.map(\.name) == ["Currency"])
  }

  @Test("Lists in a dictionary are one list, with the dictionary's names as an attribute")
  func dictionaryOfLists() async throws {
    let text =
      #"{"2023":[{"id":1,"n":"a"}],"2024":[{"id":2,"n":"b"},{"id":3,"n":"c"}],"2025":[{"id":4,"n":"d"}]}"#
    // An export cannot write records there.
    let guess = try await GuessCircle(
      [.bytes(Array(text.utf8), name: "years.json")],
      exports: false
    ).guess
    #expect(guess.map.sources.map { $0.records?.text } == ["/*[*]"])
    #expect(guess.map.entities[0].attributes.map(\.name) == ["key", "id", "n"])
  }

  @Test("Plain values are records with one attribute")
  func plainValues() async throws {
    #expect(
      try await circle(#"["a","b","c"]"#, "words.json").map.entities[0].uniqueKeys == [["value"]]
    )
    #expect(
      try await circle("1\n2\n3\n", "numbers.ndjson").map.entities[0].uniqueKeys == [["value"]]
    )
  }

  @Test("Several samples of a feed are one; of another kind or format they are refused")
  func severalSamples() throws {
    func input(_ text: String, _ name: String) -> ImportInput {
      .bytes(Array(text.utf8), name: name)
    }
    let first = input(#"[{"id":1,"a":"x"}]"#, "one.json")
    let both = try MapGuess(of: [first, input(#"[{"id":1,"a":"y","b":2}]"#, "two.json")])
    #expect(both.map.entities[0].uniqueKeys == [["id"]])
    #expect(both.map.entities[0].attributes.map(\.name) == ["id", "a", "b"])
    for other in [input(#"[{"genre":1,"title":"x"}]"#, "b.json"), input("a,b\n1,2\n", "c.csv")] {
      let error = #expect(throws: ReadError.self) { try MapGuess(of: [first, other]) }
      #expect(error?.code == .format)
    }
  }

  @Test("A nested object is an entity of its own where its id means the same object everywhere")
  func shared() async throws {
    let text = """
      [{"id":1,"by":{"id":"u1","name":"Ada"}},{"id":2,"by":{"id":"u2","name":"Bo"}},
       {"id":3,"by":{"id":"u1","name":"Ada"}}]
      """
    let guess = try await circle(text, "posts.json")
    #expect(guess.map.entities.map(\.name) == ["Post", "By"])
    #expect(guess.map.entities[1].uniqueKeys == [["id"]])
    // One id with two names is no object of its own: nothing is lost where it stays in its record.
    let torn = try await circle(
      text.replacing("\"u2\",\"name\":\"Bo\"", with: "\"u1\",\"name\":\"Bo\""),
      "posts.json"
    )
    #expect(torn.map.entities.map(\.name) == ["Post"])
    #expect(torn.map.entities[0].attributes.map(\.name) == ["id", "byId", "byName"])
  }

  @Test("Lists of objects are children with a key inside of their parent, or with their place")
  func children() async throws {
    let text = """
      [{"id":1,"lines":[{"sku":"a","n":1},{"sku":"b","n":1}],"notes":[{"t":"x"},{"t":"x"}]},
       {"id":2,"lines":[{"sku":"a","n":2}],"notes":[]}]
      """
    let guess = try await circle(text, "orders.json")
    #expect(guess.map.entities.map(\.name) == ["Order", "Line", "Note"])
    #expect(guess.map.entities[1].uniqueKeys == [["order", "place"]])
    #expect(guess.map.entities[2].uniqueKeys == [["order", "place"]])
  }

  @Test("Keys of another entity are references, by their names and all of their values")
  func references() async throws {
    let text = """
      {"authors":[{"id":1,"name":"A"},{"id":2,"name":"B"}],
       "tags":[{"id":"x"},{"id":"y"},{"id":"z"}],
       "books":[{"isbn":"b1","author_id":2,"tag_ids":["x","z"],"pages":1},
                {"isbn":"b2","author_id":null,"tag_ids":[],"pages":2}]}
      """
    let guess = try await circle(text, "library.json")
    let book = try #require(guess.map.entity(named: "Book"))
    #expect(
      book.relationships.map { "\($0.name) \($0.entity) \($0.kind)" } == [
        "author Author toOne", "tags Tag toMany",
      ]
    )
    // The pages are keys of authors by chance: their name does not say so.
    #expect(book.attributes.map(\.name) == ["isbn", "pages"])
    // One value that is no key, and it stays what it is.
    let torn = try await circle(
      text.replacing("\"author_id\":2", with: "\"author_id\":9"),
      "library.json"
    )
    #expect(
      torn.map.entity(named: "Book")?.attributes.map(\.name) == ["isbn", "authorId", "pages"]
    )
  }

  @Test(
    "Lists of keys that are all of one length are references, and pairs of other numbers attributes"
  )
  func listsOfOneLength() async throws {
    let text = """
      {"tags":[{"id":1,"n":"a"},{"id":2,"n":"b"},{"id":3,"n":"c"}],
       "posts":[{"id":10,"tag_ids":[1,2],"size":[4,5]},{"id":11,"tag_ids":[3,1],"size":[4,6]},
                {"id":12,"tag_ids":[2,3],"size":[4,7]}]}
      """
    let post = try #require(try await circle(text, "blog.json").map.entity(named: "Post"))
    #expect(post.relationships.map { "\($0.name) \($0.entity) \($0.kind)" } == ["tags Tag toMany"])
    #expect(post.attributes.map(\.name) == ["id", "size1", "size2"])
    let django = """
      [{"model":"library.author","pk":1,"fields":{"name":"A","born":1}},
       {"model":"library.author","pk":2,"fields":{"name":"B","born":2}},
       {"model":"library.book","pk":1,"fields":{"title":"x","authors":[1,2]}}]
      """
    let book = try #require(try await circle(django, "library.json").map.entity(named: "Book"))
    #expect(book.relationships.map(\.name) == ["authors"])
  }

  @Test(
    "What has members that no path leads to is one value",
    arguments: [
      (
        #"[{"id":1,"m":{"2024":{"a.b":"x"},"name":"q"}},{"id":2,"m":{"2024":{"a.b":"x"},"name":"q"}}]"#,
        ["id string", "m2024 json", "mName string"]
      ),
      (#"[{"id":1,"":{"1":"x"}},{"id":2,"":{"1":"y"}}]"#, ["id string", "value json"]),
    ]
  )
  func digits(text: String, expected: [String]) async throws {
    let input = ImportInput.bytes(Array(text.utf8), name: "d.json")
    let map = try await GuessCircle([input]).guess.map
    #expect(
      map.entities[0].attributes.map { "\($0.name) \($0.type.rawValue)" }
        == expected.map { $0.replacing("id string", with: "id int64") }
    )
    let store = try SQLiteStore(at: .inMemory)
    _ = try await Importer(map: map, store: store).run(ImportRequest([input]))
    let request = ExportRequest(entity: map.entities[0].name, format: .json)
    let bytes = try await Exporter(map: map, store: store).bytes(request)
    let written = try JSONSerialization.jsonObject(with: Data(bytes)) as? NSArray
    #expect(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSArray == written)
  }

  @Test("Plain elements of a list with a word for nothing among them stay texts")
  func plainListWithNull() async throws {
    let text =
      "<r><row><i>1</i><code>5</code><code>6</code></row><row><i>2</i><code>-</code></row></r>"
    let map = try await circle(text, "r.xml").map
    #expect(map.entities[1].attributes.map(\.type) == [.int64, .string])
  }

  @Test("What leads back from children of children is declared once")
  func inverses() throws {
    // Of ids that no other order's line has, the order is no part of the key.
    func lines(_ first: Int) -> String {
      (first...first + 1).map { #"{"id":\#($0),"parts":[{"id":\#($0)1},{"id":\#($0)2}]}"# }
        .joined(separator: ",")
    }
    let orders = [1, 3, 5].map { #"{"id":\#($0),"lines":[\#(lines($0))]}"# }
    let text = "[\(orders.joined(separator: ","))]"
    let map = try MapGuess(of: [.bytes(Array(text.utf8), name: "orders.json")]).map
    #expect(map.entities.map(\.uniqueKeys) == [[["id"]], [["id"]], [["id"]]])
    #expect(
      map.entities.map { $0.relationships.map(\.name) } == [
        ["lines"], ["parts", "order"], ["line"],
      ]
    )
  }

  @Test("A text with several keys in it is no reference where it is part of a key itself")
  func splitKey() async throws {
    let text = #"""
      [{"kind":"B-4","tags":[{"item_id":"a "},{"item_id":" a"},{"item_id":"a"}]},
       {"kind":"B-10","tags":[{"item_id":"a"},{"item_id":" "}]},{"items":{},"kind":"B-11"}]
      """#
    _ = try await circle(text, "split.json")
  }

  @Test("Without an id several attributes together are the key, or the place in the feed")
  func keys() async throws {
    let pairs = (0..<9).map { #"{"a":"x\#($0 / 3)","b":"y\#($0 % 3)"}"# }.joined(separator: ",")
    #expect(try await circle("[\(pairs)]", "p.json").map.entities[0].uniqueKeys == [["a", "b"]])
    let twins = #"[{"a":"x"},{"a":"x"}]"#
    #expect(try await circle(twins, "p.json").map.entities[0].uniqueKeys == [["file", "place"]])
    // An empty id is none.
    let empty = #"[{"id":"","name":"a"},{"id":"1","name":"b"}]"#
    #expect(try await circle(empty, "p.json").map.entities[0].uniqueKeys == [["name"]])
  }

  @Test(
    "Names that paths, YAML or SQLite could take for something else are spelled so that they come back",
    arguments: [
      #"[{"id":1,"a.b":1,"a/b":2,"$x":3,"y#":4,"no":5,"":6,"a[0]":7,"~":8,"null":9,"A":10,"a":11}]"#,
      #"[{"id":1,"é":"x","e\u0301":"y","order":1,"select":2,"_pk":3,"class":4}]"#,
      #"[{"id":1,"quote\"d":"x","new\nline":"y","tab\t":"z","back\\slash":1,"comma, colon: #":2}]"#,
    ]
  )
  func names(text: String) async throws {
    _ = try await circle(text, "names.json")
  }

  @Test("XML: attributes, texts, namespaces, repeated children, and items below a channel")
  func xml() async throws {
    let feed = """
      <rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>News</title>
      <item><guid isPermaLink="false">1</guid><title>A</title><dc:creator>X</dc:creator>
      <pubDate>Mon, 05 Jan 1998 15:59:20 +0000</pubDate><category>c</category><category>d</category></item>
      <item><guid isPermaLink="false">2</guid><title>B</title><dc:creator>Y</dc:creator>
      <pubDate>Tue, 06 Jan 1998 15:59:20 +0000</pubDate></item></channel></rss>
      """
    let guess = try await circle(feed, "news.xml")
    #expect(guess.map.sources[0].records?.text == "/rss/channel/item")
    #expect(guess.map.entities.map(\.name) == ["News", "Category"])
    #expect(guess.map.entities[0].uniqueKeys == [["guid"]])
    #expect(guess.map.entities[0].attribute(named: "pubDate")?.type == .timestamp)
    #expect(guess.map.entities[0].attribute(named: "creator") != nil)
  }

  @Test("CSV tells its separator and its encoding, whatever its name")
  func csv() async throws {
    let rows = "Nummer;Ort;Betrag\n001;K\u{F6}ln;1.234,50\n002;Bonn;12,00\n"
    let bytes = rows.unicodeScalars.map { UInt8($0.value) }
    let circle = try await GuessCircle(
      [.bytes(bytes, name: "orte.txt")],
      // What is written is UTF-8, which a source with an encoding does not read.
      exports: false
    )
    let source = circle.guess.map.sources[0]
    #expect(source.format == .csv)
    #expect(source.separator == ";")
    #expect(source.encoding == "windows-1252")
    #expect(circle.guess.map.entities[0].attribute(named: "nummer")?.type == .string)
  }

  @Test(
    "What is no feed is told what it looks like",
    arguments: [
      ("a.json", "", "empty"), ("a.json", "  \n", "white space"), ("a.json", "[]", "no records"),
      ("a.json", "{}", "no records"), ("a.json", "<!DOCTYPE html><html></html>", "HTML"),
      ("a.json", #"{"error":"not found","status":404}"#, "its members are error, status"),
      ("a.json", #"{"errors":[{"message":"x"}]}"#, "error message"),
      ("a.json", #"{"data":[{}]}"#, "no records"), ("a.json", #"{"items":[]}"#, "no records"),
      ("a.json", #"{"total":0,"items":[]}"#, "no records"), ("a.json", "[{}]", "no records"),
      ("a.xml", "<error><code>5</code><message>x</message></error>", "error message"),
      (
        "a.xml",
        #"<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><s:Fault><faultcode>x</faultcode><faultstring>y</faultstring></s:Fault></s:Body></s:Envelope>"#,
        "error message"
      ),
      ("a.json", "[[1,2],[3,4]]", "array of arrays"), ("a.json", "hello world", "plain text"),
      ("a.json", "\u{1}\u{0}\u{2}\u{0}xx", "binary"), ("a.json", #"[{"a":1}"#, "ends"),
      ("a.json", #"[{"a":1},{"a":}]"#, "JSON"), ("a.json", #"{"a":1} x"#, "behind the end"),
      ("a.xml", "<a/>", "no elements"),
    ]
  )
  func noFeed(name: String, text: String, expected: String) throws {
    let error = #expect(throws: ReadError.self) {
      try MapGuess(of: [.bytes(Array(text.utf8), name: name)])
    }
    #expect(error?.message.contains(expected) == true, "\(error?.message ?? "")")
  }

  @Test(
    "--records and --entity choose, --sample bounds, and a wrong path is told with the right ones"
  )
  func options() throws {
    let text = #"{"a":[{"id":1},{"id":1}],"b":[{"id":"x"}]}"#
    let input = ImportInput.bytes(Array(text.utf8), name: "two.json")
    let chosen = try MapGuess(of: [input], .init(entity: "Beta", records: "/b"))
    #expect(chosen.map.sources.map { "\($0.entity) \($0.records?.text ?? "")" } == ["Beta /b"])
    // Of the first record alone the id is unique.
    let bounded = try MapGuess(of: [input], .init(records: "/a", sampleCount: 1))
    #expect(bounded.map.entities[0].uniqueKeys == [["id"]])
    let error = #expect(throws: ReadError.self) { try MapGuess(of: [input], .init(records: "/c")) }
    #expect(error?.help == "records stand at /a, /b")
  }

  @Test("What is nested without end is refused, also where it is larger than the window")
  func depth() {
    for count in [2_000, 400_000] {
      let text = [UInt8](repeating: UInt8(ascii: "["), count: count)
      let error = #expect(throws: ReadError.self) {
        try MapGuess(of: [.bytes(text, name: "deep.json")])
      }
      #expect(error?.code == .limit || error?.code == .truncated)
    }
  }

  @Test(
    "Of a long list a faulty element is told with its place, and so many are looked at as are wanted"
  )
  func longList() throws {
    let records = (0..<2000).map { #"{"id":\#($0),"name":"n\#($0)"}"# }
    let faulty = Array("[\(records.joined(separator: ",\n")),\n{\"id\":01}]".utf8)
    let error = #expect(throws: ReadError.self) {
      try MapGuess(of: [.bytes(faulty, name: "f.json")])
    }
    #expect(error?.code == .json && error?.origin?.line == 2001)
    let late = (1...2).map { #"{"id":-\#($0),"late":1}"# }
    for (count, names) in [(2000, ["id", "name"]), (2001, ["id", "name", "late"])] {
      let text = "[\((records + late).joined(separator: ","))]"
      let options = MapGuess.Options(sampleCount: count)
      let guess = try MapGuess(of: [.bytes(Array(text.utf8), name: "f.json")], options)
      #expect(guess.map.entities[0].attributes.map(\.name) == names)
    }
  }

  @Test("A text larger than the window is read in parts, with the same outcome")
  func large() throws {
    let record = #"{"id":%,"name":"n%","at":"2024-05-01","tags":[{"k":"a"},{"k":"b"}]}"#
    func text(_ count: Int) -> [UInt8] {
      let records = (0..<count).map { record.replacing("%", with: String($0)) }
      return Array("{\"x\":{\"items\":[\(records.joined(separator: ",\n"))],\"z\":1}}".utf8)
    }
    let small = try MapGuess(of: [.bytes(text(50), name: "big.json")])
    let large = try MapGuess(of: [.bytes(text(30_000), name: "big.json")])
    func entities(_ guess: MapGuess) -> [EntityMap] { guess.map.entities }
    #expect(entities(small) == entities(large), "\(large.text)")
  }
}
