import Testing

@testable import Dragoman
@testable import DragomanGraph

/// Keys that tomorrow's records do not share: a guess rather takes the place, and says where it is unsure.
@Suite("Safe keys of a guess") struct GuessSafeKeysTests {
  private func guess(_ text: String, _ name: String = "feed.json") throws -> MapGuess {
    try MapGuess(of: [.bytes(Array(text.utf8), name: name)])
  }

  /// The keys of all entities, each as `Order: id`.
  private func keys(_ guess: MapGuess) -> [String] {
    guess.map.entities.map { "\($0.name): \(($0.uniqueKeys.first ?? []).joined(separator: " "))" }
  }

  @Test(
    "Texts, amounts and times that differ in a few records name none of them",
    arguments: [
      ("comment,city\nfine,Oslo\nbad,Oslo\nso so,Rome\n", "feed.csv"),
      ("amount,city\n5,Oslo\n6,Oslo\n7,Rome\n", "feed.csv"),
      ("phone_number,city\na1,Oslo\nb2,Oslo\nc3,Rome\n", "feed.csv"),
      (#"[{"created":"2024-01-01T10:00:00Z"},{"created":"2024-01-02T10:00:00Z"}]"#, "feed.json"),
      (#"[{"ts":1700000000123,"m":"a"},{"ts":1700000000123,"m":"a"}]"#, "feed.json"),
      (#"[{"user":{"id":1},"text":"a"},{"user":{"id":2},"text":"b"}]"#, "feed.json"),
    ]
  )
  func nothingNames(text: String, name: String) throws {
    let guess = try guess(text, name)
    #expect(keys(guess) == ["Feed: file place"])
    #expect(guess.text.contains("# unsure: nothing names a record"))
    #expect(guess.warnings.count == 1)
    #expect(guess.warnings.first?.contains("1 key is unsure") == true)
    #expect(guess.warnings.first?.contains("Feed (file, place)") == true)
  }

  @Test(
    "The address of a page names its record, also where a time would",
    arguments: ["loc", "url", "link"]
  )
  func pages(name: String) throws {
    let urls = (1...12).map { day in
      let time = "2024-01-\(day < 10 ? "0" : "")\(day)T10:00:00+00:00"
      return "<url><\(name)>https://a.example/\(day)</\(name)><lastmod>\(time)</lastmod></url>"
    }
    let guess = try guess("<urlset>\(urls.joined())</urlset>", "map.xml")
    #expect(keys(guess) == ["Url: \(name)"])
    #expect(guess.warnings.isEmpty)
  }

  @Test("A name is a key, but an unsure one; an id is a sure one")
  func names() throws {
    let named = try guess(#"[{"name":"Ann","city":"Oslo"},{"name":"Bo","city":"Oslo"}]"#)
    #expect(keys(named) == ["Feed: name"])
    #expect(named.text.contains("# unsure: unique in all 2"))
    #expect(named.warnings.first?.contains("Feed (name)") == true)
    let numbered = try guess(#"[{"id":1,"name":"Ann"},{"id":2,"name":"Bo"}]"#)
    #expect(keys(numbered) == ["Feed: id"])
    #expect(!numbered.text.contains("unsure") && numbered.warnings.isEmpty)
  }

  @Test(
    "Children have a key of their own only where a name speaks for it, or many show it",
    arguments: [
      (#"{"art":"A","n":1},{"art":"B","n":2}"#, "place"),
      (#"{"type":"Point","n":1}"#, "place"), (#"{"value":"x","city":"Oslo"}"#, "place"),
      (#"{"sku":"A","n":1},{"sku":"B","n":1}"#, "place"),
      (#"{"code":"A","n":1},{"code":"B","n":1}"#, "place"),
      (#"{"no":5,"n":1},{"no":7,"n":1}"#, "no"),
      (#"{"position":1,"n":5},{"position":2,"n":5}"#, "position"),
      (#"{"id":1,"n":5},{"id":2,"n":5}"#, "id"),
      ((0..<20).map { #"{"k":"k\#($0)","v":"x"}"# }.joined(separator: ","), "k"),
    ]
  )
  func children(lines: String, key: String) throws {
    let guess = try guess(#"[{"no":1,"lines":[\#(lines)]}]"#)
    #expect(keys(guess) == ["Feed: no", "Line: feed \(key)"])
    #expect(guess.text.contains("unsure") == (key == "k"))
  }

  @Test("A code of something else is a child's key where several lists show it, and an unsure one")
  func shownChildren() throws {
    let lines = #"[{"sku":"A","n":1},{"sku":"B","n":1}]"#
    let guess = try guess(#"[{"no":1,"lines":\#(lines)},{"no":2,"lines":\#(lines)}]"#)
    #expect(keys(guess) == ["Feed: no", "Line: feed sku"])
    #expect(guess.warnings.first?.contains("Line (feed, sku)") == true)
  }

  @Test(
    "The id or code of something else is a key with the time beside it, and an unsure one",
    arguments: [
      ("station_id,time,temp\n1,10:00,20\n2,10:00,21\n", "stationId time"),
      ("date,customer_no,amount\n2024-01-01,5,10\n2024-01-01,6,11\n", "date customerNo"),
      ("Date,Payee,IBAN,Amount\n2024-01-01,Ann,DE1,10\n2024-01-02,Bo,DE2,11\n", "date iban"),
      ("symbol,date,close\nAAPL,2024-01-01,1.5\nMSFT,2024-01-01,2.5\n", "symbol date"),
      ("time,username\n2024-01-01T10:00:00Z,ann\n2024-01-01T10:00:01Z,bo\n", "time username"),
      ("country_code,year,n\nNO,2020,5\nSE,2020,6\n", "file place"),
      ("store_code,year,n\nNO,2020,5\nSE,2020,6\n", "storeCode year"),
      (
        "sensor_id,ts,t\nA,2024-01-01T10:00:01Z,1\nB,2024-01-01T10:00:02Z,1\nA,2024-01-01T10:05:01Z,2\n",
        "sensorId ts"
      ),
      ("customer_id,n\n1,x\n2,x\n", "customerId"),
      ("position,team\n1,A\n2,B\n", "file place"),
      ("feed,n\n1,2\n2,2\n", "file place"),
      ("avatar_url,n\nhttp://a/1,x\nhttp://a/2,x\n", "file place"),
    ]
  )
  func otherIDs(text: String, key: String) throws {
    let guess = try guess(text, "feed.csv")
    #expect(keys(guess) == ["Feed: \(key)"])
    #expect(guess.warnings.first?.contains("1 key is unsure") == true)
  }

  @Test("The name in a wrapper is one, and a text beside attributes is none")
  func wrapped() throws {
    let features = #"{"features":[{"properties":{"name":"A"}},{"properties":{"name":"B"}}]}"#
    #expect(keys(try guess(features)) == ["Feature: name"])
    let readings = #"<r><reading sensor="a">17</reading><reading sensor="a">18</reading></r>"#
    #expect(keys(try guess(readings, "r.xml")) == ["Reading: file place"])
  }

  @Test("Equal children of a later delivery are all stored")
  func equalChildren() async throws {
    let first = #"[{"no":1,"lines":[{"art":"A","qty":1},{"art":"B","qty":2}]}]"#
    let second = #"[{"no":3,"lines":[{"art":"A","qty":1},{"art":"A","qty":1}]}]"#
    let map = try guess(first).map
    let store = try SQLiteStore(at: .inMemory)
    for text in [first, second] {
      let request = ImportRequest([.bytes(Array(text.utf8), name: "feed.json")])
      _ = try await Importer(map: map, store: store).run(request)
    }
    #expect(try store.count(FetchRequest("Line")) == 4)
  }

  private static let lines = "<Line><ID>1</ID><n>a</n></Line><Line><ID>2</ID><n>b</n></Line>"

  @Test(
    "A document with an id is the record, and its lines are told apart within it",
    arguments: [
      ("xml", "<Invoice id=\"NR\">\(lines)</Invoice>"),
      ("xml", "<Invoice><ID>NR</ID>\(lines)</Invoice>"),
      ("json", #"{"number":"NR","lines":[{"no":1,"n":"a"},{"no":2,"n":"b"}]}"#),
    ]
  )
  func documents(format: String, text: String) async throws {
    let inputs = ["one", "two"].map { id in
      ImportInput.bytes(Array(text.replacing("NR", with: id).utf8), name: "\(id).\(format)")
    }
    let map = try MapGuess(of: inputs).map
    // One of them tells it, too.
    let single = try MapGuess(of: [inputs[0]]).map
    #expect(single.entities.map(\.uniqueKeys) == map.entities.map(\.uniqueKeys))
    let store = try SQLiteStore(at: .inMemory)
    let report = try await Importer(map: map, store: store).run(ImportRequest(inputs))
    #expect(report.counts.inserted == 2, "\(report.counts)")
    #expect(try store.count(FetchRequest("Line")) == 4)
  }

  @Test(
    "An invoice is the record, also with lists that have no ids beside its lines, and of one sample"
  )
  func invoices() throws {
    let inputs = (1...2).map { number in
      let lines = (1...2).map { "<Line><ID>\($0)</ID><Item>x\(number * $0)</Item></Line>" }.joined()
      let text = "<Invoice><ID>INV-\(number)</ID><Note>a</Note><Note>b</Note>\(lines)</Invoice>"
      return ImportInput.bytes(Array(text.utf8), name: "\(number).xml")
    }
    for samples in [inputs, [inputs[0]]] {
      #expect(
        keys(try MapGuess(of: samples)) == [
          "Invoice: id", "Note: invoice place", "Line: invoice id",
        ]
      )
    }
    let items =
      #"{"number":"N1","taxes":[{"rate":1}],"line_items":[{"id":1,"sku":"A"},{"id":2,"sku":"B"}]}"#
    #expect(keys(try guess(items)) == ["Feed: number", "Tax: feed place", "LineItem: feed id"])
  }

  @Test("The number of a delivery makes no record of it, whose customers would be doubled")
  func deliveryNumbers() throws {
    let inputs = (1...2).map { night in
      let customers =
        #"<customer id="1"><n>Ann</n></customer><customer id="2"><n>Bo</n></customer>"#
      return ImportInput.bytes(
        Array("<export id=\"2024010\(night)\">\(customers)</export>".utf8),
        name: "n\(night).xml"
      )
    }
    for samples in [inputs, [inputs[0]]] {
      #expect(keys(try MapGuess(of: samples)) == ["Customer: id"])
    }
  }

  @Test(
    "Lists with ids of their own stay the records, and --records may name the whole",
    arguments: [
      (#"<shop id="s"><item id="a1"/><item id="b2"/></shop>"#, "shop.xml", "/shop"),
      (#"{"code":200,"items":[{"id":1},{"id":2}]}"#, "shop.json", "/"),
    ]
  )
  func lists(text: String, name: String, whole: String) throws {
    #expect(try keys(guess(text, name)).count == 1)
    let input = ImportInput.bytes(Array(text.utf8), name: name)
    let chosen = try MapGuess(of: [input], .init(records: whole))
    #expect(chosen.map.entities.map(\.name) == ["Shop", "Item"])
  }

  @Test("Objects of several kinds that are numbered within their kind have both as their key")
  func kindAndID() throws {
    let text = #"[{"no":1,"owner":{"type":"user","id":9}},{"no":2,"owner":{"type":"team","id":4}}]"#
    #expect(keys(try guess(text)) == ["Feed: no", "Owner: type id"])
  }

  @Test("A reference waits for who comes a day later")
  func pending() throws {
    let text = #"{"customers":[{"id":1},{"id":2}],"orders":[{"no":7,"customer_id":2}]}"#
    #expect(
      try guess(text).text.contains(
        "customer: { entity: Customer, kind: toOne, key: { id: customer_id }, onUnresolved: pending }"
      )
    )
  }
}
