import Dragoman
import DragomanGraph
import Foundation
import Testing

@testable import DragomanConsole

/// What pages say of what cannot be seen, and of what was asked wrongly.
@Suite("What the console says plainly") struct ClarityTests {
  private let folder: ConsoleFolder

  init() async throws {
    folder = try ConsoleFolder()
    try await folder.imports()
  }

  private var browser: TestBrowser { get throws { try TestBrowser(folder.console()) } }

  @Test("Control characters are spelled, and an empty text is told from a missing one")
  func invisible() async throws {
    try folder.write(
      #"{"people":[{"id":7,"name":"a\#u{5C}u0000b\#u{5C}u0085c"},{"id":8,"name":""}]}"#,
      to: "nul.json"
    )
    try await folder.imports("nul.json")
    let browser = try browser
    for target in [
      "/entities/Person", "/objects/Person/4", "/entities/Person/profile", "/history/2",
    ] {
      let page = try browser.page(target)
      #expect(page.contains(#"a\u{0}b\u{85}c"#), "\(target)")
      #expect(!page.utf8.contains(0), "\(target)")
    }
    #expect(try browser.page("/objects/Person/5").contains("(empty)"))
    #expect(try !browser.page("/objects/Person/1").contains("(empty)"))
  }

  @Test("A faulty predicate stays in its box, with a mark at the fault; its JSON says the column")
  func faultyPredicate() throws {
    let browser = try browser
    let faulty = browser.get("/entities/Person?where=pay%20%3E%3E%203")
    #expect(faulty.status == 400)
    let page = try faulty.text()
    #expect(page.contains("value=\"pay &gt;&gt; 3\""))
    #expect(page.contains("<span>pay &gt;</span><mark>&gt;</mark><span> 3</span>"))
    let response = browser.get("/entities/Person.json?where=pay%20%3E%3E%203")
    #expect(response.status == 400)
    #expect(try response.text().contains("\"column\":6"))
  }

  @Test("A page with a faulty predicate has the status of a fault, as its twin")
  func faultyPage() throws {
    for target in ["/entities/Person?where=bad%3E%3E", "/entities/Person.json?where=bad%3E%3E"] {
      #expect(try browser.get(target).status == 400)
    }
  }

  @Test(
    "Errors of pages have codes, too",
    arguments: [
      ("/nothing.json", "console.missing"), ("/entities/Persn.json", "console.missing"),
      ("/objects/Person/77.json", "console.missing"),
      ("/entities/Person.json?columns=nme", "console.request"),
      ("/entities/Person.json?where=secret==%22h%22", "console.request"),
      ("/entities/Person.json?limit=-1", "console.request"),
      ("/entities/Person.json?limit=abc", "console.request"),
      ("/entities/Person.json?limit=1001", "console.request"),
    ]
  )
  func codes(target: String, code: String) throws {
    let response = try browser.get(target)
    #expect(response.status >= 400)
    #expect(try response.text().contains("\"code\":\"\(code)\""))
  }

  @Test("An address with another ending is no page, and says where the download is")
  func endings() throws {
    let response = try browser.get("/entities/Person.csv")
    #expect(response.status == 404)
    #expect(try response.text().contains("/entities/Person/download.csv"))
    #expect(try browser.get("/model.xml").status == 404)
  }

  @Test("The twin of a wide entity has all columns, the page the first twelve")
  func wide() async throws {
    let names = (1...30).map { "a\($0)" }
    try folder.write(
      """
      version: 1
      entities: { Wide: { unique: a1, attributes: { \(names.map { "\($0): { type: int32 }" }.joined(separator: ", ")) } } }
      sources: { rows: { format: json, entity: Wide, records: /rows } }
      """,
      to: "wide.map.yaml"
    )
    try folder.write(#"{"rows":[{"a1":1,"a30":30}]}"#, to: "wide.json")
    try await folder.imports("wide.json", by: "wide.map.yaml")
    for view in ["", "/live"] {
      let rows = try browser.json("/entities/Wide\(view).json")["rows"] as? [[String: Any]]
      #expect(rows?.first?["a30"] as? Int == 30)
    }
    let page = try browser.page("/entities/Wide")
    #expect(page.contains("18 more columns") && page.contains("placeholder=\"a2 &gt; 100\""))
  }

  @Test("One record is not called records")
  func oneRecord() async throws {
    let folder = try ConsoleFolder()
    try folder.write(#"{"people":[{"id":1,"name":"Ada"}]}"#, to: "one.json")
    try await folder.imports("one.json")
    #expect(try TestBrowser(folder.console()).page("/").contains("most: 1 record<"))
  }

  @Test("Forms with a feed too many, or a mode that there is not, are refused")
  func forms() async throws {
    let browser = try TestBrowser(folder.console(writes: true))
    let path = folder.path("staff.json")
    let mode = await browser.post("/import", ["map": "0", "path": path, "mode": "xxx"])
    #expect(mode.status == 400)
    #expect(try mode.text().contains("xxx"))
    var body = ""
    let fields = [("csrf", browser.console.sources.formToken), ("path", path), ("map", "0")]
    for (name, value) in fields {
      body += "--m\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
    }
    body +=
      "--m\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.json\"\r\n\r\n{}\r\n--m--\r\n"
    let both = browser.console.respond(
      to: browser.form("/import", body, type: "multipart/form-data; boundary=m")
    )
    #expect(both.status == 400)
    #expect(try both.text().contains("the file, or the path?"))
  }

  @Test("Faulty maps, a missing database, and a console that only shows are told in sentences")
  func words() async throws {
    try folder.write("version: 1\nentities: { Person: { atributes: {} } }\n", to: "bad.map.yaml")
    let writer = try TestBrowser(folder.console(writes: true, maps: ["bad.map.yaml"]))
    let faulty = await writer.post("/import", ["map": "0", "path": folder.path("staff.json")])
    let text = try faulty.text()
    #expect(text.contains("atributes") && text.contains("The map has faults:"))
    #expect(!text.contains("error["))

    let reader = try browser
    let refused = await reader.post("/import", ["csrf": "old"])
    #expect(try refused.text().contains("only shows"))
    try FileManager.default.removeItem(atPath: folder.path("staff.db"))
    #expect(try reader.get("/").text().contains("no such database: \(folder.path("staff.db"))"))
  }

  @Test("An address that is none of this machine's is told in words")
  func foreignAddress() throws {
    let options = ConsoleOptions(database: folder.path("staff.db"))
    #expect {
      try ConsoleServer(options, address: "192.0.2.1", port: 0)
    } throws: { error in
      (error as? ConsoleServer.Failure)?.description.contains("no such address") == true
    }
  }

  @Test("Lines of the diagram have their names beside them")
  func namedEdges() throws {
    let page = try browser.page("/model")
    #expect(page.contains("class=\"edge-name\"") && page.contains(">staff / company</text>"))
  }

  @Test(
    "What has no number is no address to listen at",
    arguments: ["localhost", "127.0.0", "::g"]
  )
  func noAddress(text: String) throws {
    let options = ConsoleOptions(database: folder.path("staff.db"))
    #expect {
      try ConsoleServer(options, address: text, port: 0)
    } throws: { error in
      (error as? ConsoleServer.Failure)?.description.hasPrefix("\(text) is no IP address") == true
    }
  }

  @Test(
    "Null and the empty text are told from texts that look like them; directions are kept apart"
  )
  func lookalikes() async throws {
    try folder.write(
      #"{"people":[{"id":1,"name":"null"},{"id":2,"name":""},{"id":3,"name":"(empty)"},{"id":4,"name":"ab\#u{5C}u202Ec"}]}"#,
      to: "second.json"
    )
    try await folder.imports("second.json")
    try folder.write(
      #"{"people":[{"id":1,"name":null},{"id":2,"name":"(empty)"},{"id":3,"name":""}]}"#,
      to: "third.json"
    )
    try await folder.imports("third.json")
    let browser = try browser
    let second = try browser.page("/history/2")
    #expect(second.contains("<ins><bdi>null</bdi></ins>"))
    #expect(second.contains(#"<ins><bdi class="null">(empty)</bdi></ins>"#))
    #expect(second.contains("<ins><bdi>(empty)</bdi></ins>"))
    // What turns the direction of reading is spelled.
    #expect(second.contains(#"ab\u{202e}c"#))
    #expect(try browser.page("/objects/Person/4").contains(#"ab\u{202e}c"#))
    let third = try browser.page("/history/3")
    #expect(third.contains(#"<del><bdi>null</bdi></del> <ins><bdi class="null">null</bdi></ins>"#))
  }

  @Test("Records that are skipped stand in the history")
  func skipped() async throws {
    let store = try SQLiteStore(at: .file(folder.path("staff.db")))
    let map = try ImportMap(contentsOf: folder.path("staff.map.yaml"))
    _ = try await Importer(map: map, store: store).run(
      ImportRequest([.file(folder.path("staff.json"))], mode: .ignore)
    )
    try store.close()
    let browser = try browser
    #expect(try browser.page("/history/2").contains("<b>5</b><span>skipped</span>"))
    #expect(try browser.page("/").contains(">Skipped</th>"))
  }

  @Test("What an object waits for is named, there and in the overview")
  func waiting() async throws {
    let browser = try browser
    #expect(try browser.page("/objects/Person/3").contains("waits for 99"))
    let json = try browser.json("/objects/Person/3.json")
    #expect((json["waiting"] as? [String: [[String: Int]]]) == ["friends": [["id": 99]]])
    #expect(try !browser.page("/objects/Person/1").contains("waits for"))
    let overview = try browser.page("/")
    #expect(overview.contains("Person.friends") && overview.contains("Person 99"))
  }

  @Test("All links of an object can be seen, page by page, in both directions")
  func manyLinks() async throws {
    let people = (10..<460).map { #"{"id":\#($0),"name":"p\#($0)","company":7}"# }
    try folder.write(
      #"{"people":[\#(people.joined(separator: ",")),{"id":9,"friends":[\#((10..<460).map(String.init).joined(separator: ","))]}]}"#,
      to: "many.json"
    )
    try await folder.imports("many.json")
    let browser = try browser
    let store = try SQLiteStore(at: .file(folder.path("staff.db")))
    func key(of entity: String, _ condition: String) throws -> Int64 {
      var key: Int64 = 0
      try store.forEachRow(FetchRequest(entity, filter: Filter(parsing: condition))) {
        key = $0.objectID.primaryKey
      }
      return key
    }
    let (company, person) = (try key(of: "Company", "id == 7"), try key(of: "Person", "id == 9"))
    try store.close()
    for (start, title) in [
      ("/objects/Company/\(company)", "staff"), ("/objects/Person/\(person)", "friends"),
    ] {
      #expect(try browser.page(start).contains("1 to 20 are shown"))
      var address: String? = start
      var seen: Set<Substring> = []
      var pages = 0
      while let next = address, pages < 9 {
        let page = try browser.page(next)
        seen.formUnion(page.matches(of: /<b>([0-9]+)<\/b>/).map(\.output.1))
        pages += 1
        address = page.firstMatch(of: /<a href="([^"]+)">More of them/).map {
          String($0.output.1).replacing("&amp;", with: "&")
        }
      }
      #expect(
        pages == 4 && seen.isSuperset(of: (10..<460).map { Substring(String($0)) }),
        "\(title)"
      )
    }
    let behind = try browser.page("/objects/Company/\(company)?links=staff&from=999999")
    #expect(behind.contains("none behind the first 999,999"))
  }

  @Test("What is invisible in a form stays as it was typed")
  func typedForms() async throws {
    let text = "ab\u{200E}c\u{AD}d"
    let query = try #require(
      "name == \"\(text)\"".addingPercentEncoding(withAllowedCharacters: .alphanumerics)
    )
    #expect(
      try browser.page("/entities/Person?where=\(query)").contains(
        "value=\"name == &quot;\(text)&quot;\""
      )
    )
    try folder.write(#"{"people":[{"id":7,"name":"\#(text)","born":"soon"}]}"#, to: "dirty.json")
    try await folder.imports("dirty.json", rejects: "rejects.ndjson")
    let writer = try TestBrowser(folder.console(writes: true, rejects: ["rejects.ndjson"]))
    let page = try writer.page("/rejects/0/1")
    let form = try #require(page.firstMatch(of: /<textarea[^>]*>([^<]*)<\/textarea>/)).output.1
      .replacing("&quot;", with: "\"").replacing("soon", with: "2020-01-02")
    let mark = try RejectShelf.line("1", of: folder.path("rejects.ndjson")).mark
    let sent = await writer.post(
      "/rejects/0/1",
      ["mark": mark, "map": "0", "record": String(form)]
    )
    #expect(sent.status == 303)
    #expect(try writer.page("/entities/Person.json?where=id%20==%207").contains(text))
  }

  @Test("A download tells the empty text from null, as an import reads it")
  func emptyText() async throws {
    try folder.write(#"{"people":[{"id":1,"name":""},{"id":2,"name":null}]}"#, to: "second.json")
    try await folder.imports("second.json")
    let text = try browser.page("/entities/Person/download.csv?columns=id,name&sort=id")
    #expect(text == "id,name\r\n1,\"\"\r\n2,\r\n3,Cy\r\n")
  }
}
