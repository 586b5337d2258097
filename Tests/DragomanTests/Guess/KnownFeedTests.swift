import Testing

@testable import Dragoman

/// Feeds that are guessed beside a map: which of its sources reads them, or that it needs another one.
@Suite("Feeds that a guessed map knows") struct KnownFeedTests {
  /// A file.
  struct Feed: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    var testDescription: String { name }
    var input: ImportInput { .bytes(Array(text.utf8), name: name) }

    init(_ name: String, _ text: String) {
      self.name = name
      self.text = text
    }
  }

  /// Guesses a map for a feed, and then what the next one is to it.
  private func guess(_ first: Feed, _ next: Feed) throws -> MapGuess {
    let known = try MapGuess(of: [first.input])
    return try MapGuess(of: [next.input], addingTo: known.map, text: known.text, store: nil)
  }

  private static let customers = Feed(
    "customers.csv",
    "id,name,city,phone\n1,Ann,Oslo,+4711111111\n2,Bob,Bergen,+4722222222\n"
  )

  @Test(
    "Another name, or another key, is another feed, whatever the records have in common",
    arguments: [
      (customers, Feed("suppliers.csv", "id,name,city,vat\n1,Acme,Paris,FR1\n2,Blix,Rome,IT2\n")),
      (
        customers,
        Feed("suppliers.csv", "id,name,city,phone\n1,Acme,Paris,+331\n2,Blix,Rome,+392\n")
      ),
      (
        customers,
        Feed("customers.csv", "number,name,city,phone\n1,Ann,Oslo,+471\n2,Bob,Rome,+472\n")
      ),
      (customers, Feed("data.csv", "id,name,city,vat\n1,Acme,Paris,FR1\n2,Blix,Rome,IT2\n")),
      (
        Feed(
          "product_images.json",
          #"[{"id":1,"name":"a","url":"http://a/1","width":1},{"id":2,"name":"b","url":"http://a/2","width":2}]"#
        ),
        Feed(
          "product.json",
          #"[{"id":1,"name":"Chair","price":10.5},{"id":2,"name":"Table","price":20.5}]"#
        )
      ),
    ]
  )
  func others(first: Feed, next: Feed) throws {
    let guess = try guess(first, next)
    #expect(guess.isNew && guess.map.entities.count == 2, "\(guess.text)")
  }

  @Test("Records that only their place names are told to replace those of a file of the same name")
  func places() throws {
    let log = Feed("log.ndjson", "{\"m\":\"a\"}\n{\"m\":\"a\"}\n")
    let guess = try guess(log, Feed("log.ndjson", "{\"m\":\"b\"}\n"))
    #expect(!guess.isNew)
    #expect(guess.warnings.contains { $0.contains("replace those of an earlier log.ndjson") })
    #expect(try self.guess(Self.customers, Self.customers).warnings.isEmpty)
  }

  @Test(
    "The next delivery of a feed is known, and what nothing reads of it is told",
    arguments: [
      (
        Feed("articles.json", #"[{"sku":"A","title":"Chair"},{"sku":"B","title":"Table"}]"#),
        Feed(
          "articles-2.json",
          #"[{"sku":"A","title":"Chair","price":10.5,"stock":3,"colour":"red"}]"#
        ),
        ["Article.colour", "Article.price", "Article.stock"]
      ),
      (
        Feed("a.json", #"{"users":[{"id":1,"name":"x"},{"id":2,"name":"y"}]}"#),
        Feed("b.json", #"{"users":[{"id":1,"name":"x"}],"groups":[{"id":7,"title":"g"}]}"#),
        ["/groups"]
      ),
      (
        Feed("orders.json", #"{"shop":"s","orders":[{"id":1,"a":2,"b":3},{"id":2,"a":2,"b":3}]}"#),
        Feed("orders.json", #"{"shop":"s","orders":[{"id":1,"a":2}]}"#),
        []
      ),
      (customers, Feed("customers_2024.csv", "id,name\n1,Ann\n2,Bob\n"), []),
      (
        Feed("o.xml", #"<r><o id="1"><tag>a</tag></o><o id="2"><tag>b</tag></o></r>"#),
        Feed("o.xml", #"<r><o id="1"><tag>a</tag><tag>b</tag></o><o id="2"/></r>"#),
        []
      ),
      (
        Feed("o.xml", #"<r><o id="2"><tag>a</tag></o></r>"#),
        Feed("o.xml", #"<r><o id="2"><tag>a</tag><tag>b</tag></o></r>"#),
        []
      ),
    ]
  )
  func deliveries(first: Feed, next: Feed, unread: [String]) throws {
    let guess = try guess(first, next)
    #expect(!guess.isNew && guess.sources.count == 1, "\(guess.text)")
    #expect(guess.unread.sorted() == unread)
    #expect(guess.warnings == [])
  }

  @Test("Members that are gone beside new ones are told of a feed of the same name")
  func changed() throws {
    let next = Feed("customers.csv", "id,name,city,vat\n1,Ann,Oslo,N1\n2,Bob,Bergen,N2\n")
    let guess = try guess(Self.customers, next)
    #expect(!guess.isNew)
    #expect(
      guess.warnings == [
        "customers.csv is taken for what the source csv reads, but lacks phone, and has vat besides."
      ]
    )
  }

  @Test("Kinds of records that the map does not know are told")
  func kinds() throws {
    let books = """
      {"model":"author","pk":1,"name":"Aina Berg","born":1970}
      {"model":"author","pk":2,"name":"Bo Lund","born":1980}
      {"model":"book","pk":1,"title":"Fjords","pages":12,"isbn":"a"}
      {"model":"book","pk":2,"title":"Tides","pages":14,"isbn":"b"}

      """
    let shelves = "{\"model\":\"shelf\",\"pk\":1,\"floor\":1,\"room\":\"x\"}\n"
    let guess = try guess(Feed("library.ndjson", books), Feed("library.ndjson", books + shelves))
    #expect(!guess.isNew)
    #expect(guess.warnings.count == 1)
    #expect(guess.warnings.first?.hasPrefix("The map does not know the kind shelf:") == true)
  }

  @Test(
    "Patterns for the files of one source leave those of the others alone",
    arguments: [false, true]
  )
  func files(isReversed: Bool) throws {
    let images = Feed("product_images.csv", "id,product_id,url\n1,P1,http://a/1\n2,P2,http://a/2\n")
    let products = Feed("product.csv", "id,title,price\nP1,Chair,10.50\nP2,Table,20.00\n")
    let map = try (isReversed ? guess(products, images) : guess(images, products)).map
    let sources = Dictionary(uniqueKeysWithValues: map.sources.map { ($0.entity, $0.name) })
    let files = [
      ("product_images.csv", "ProductImage"), ("product_images-2.csv", "ProductImage"),
      ("product.csv", "Product"), ("in/product_2024-01-01.csv.gz", "Product"),
    ]
    #expect(map.sources.contains { $0.files.contains("product_images*.csv") })
    for (file, entity) in files {
      let found = InputSources.candidates(of: map, ImportRequest([]), for: file).map(\.name)
      #expect(found == [sources[entity]], "\(file)")
    }
  }

  @Test(
    "Files are declared of sources on a line and of such in lines, and nothing else is touched",
    arguments: [
      (
        "sources:\n  a: { format: csv, entity: \"}\" }  # mine }\n",
        "sources:\n  a: { format: csv, entity: \"}\", files: \"a*.csv\" }  # mine }\n"
      ),
      (
        "sources:\n    a:\n        format: csv\n    b: {}\n",
        "sources:\n    a:\n        files: \"a*.csv\"\n        format: csv\n    b: {}\n"
      ),
      ("sources:\n  a: {\n    format: csv }\n", "sources:\n  a: {\n    format: csv }\n"),
    ]
  )
  func declared(text: String, wanted: String) throws {
    let sections = try MapSections(text, file: nil).declaring(files: ["a*.csv"], of: "a")
    #expect(try sections.adding([:]) == wanted)
  }
}
