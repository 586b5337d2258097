import Dragoman
import DragomanGraph
import Foundation
import Testing

@testable import DragomanConsole

/// What the pages show.
@Suite("The console's pages") struct PagesTests {
  private let folder: ConsoleFolder

  init() async throws {
    folder = try ConsoleFolder()
    try await folder.imports()
  }

  private var browser: TestBrowser { get throws { try TestBrowser(folder.console()) } }

  @Test(
    "Every page has a twin in JSON that says the same version",
    arguments: [
      "/overview", "/entities/Person", "/entities/Person/profile", "/entities/Person/live",
      "/objects/Person/1", "/objects/Person/1/origins", "/model", "/history", "/history/1",
      "/rejects",
      "/import",
    ]
  )
  func twins(target: String) throws {
    let json = try browser.json(target + ".json")
    #expect(json["v"] as? Int == 1)
    let page = try browser.page(target)
    #expect(page.contains("href=\"\(target).json\""))
  }

  @Test("The overview counts objects, what waits, and the last import")
  func overview() throws {
    let json = try browser.json("/overview.json")
    let entities = try #require(json["entities"] as? [[String: Any]])
    #expect(entities.map { $0["name"] as? String } == ["Company", "Person"])
    #expect(entities.map { $0["count"] as? Int } == [2, 3])
    #expect(json["waiting"] as? Int == 1)
    let page = try browser.page("/")
    #expect(page.contains("1 reference") && page.contains("staff.json"))
  }

  @Test("Objects come with what they are linked to, by its key and name")
  func rows() throws {
    let json = try browser.json("/entities/Person.json?sort=-name&limit=1")
    let rows = try #require(json["rows"] as? [[String: Any]])
    #expect(rows.count == 1)
    #expect(rows[0]["name"] as? String == "Cy")
    #expect(rows[0]["pay"] is NSNull)
    let company = try #require(rows[0]["company"] as? [String: Any])
    #expect(company["key"] as? String == "2")
    #expect(json["count"] as? Int == 3)
  }

  @Test(
    "Pages lead through all objects, each once, in the order asked for",
    arguments: ["", "name", "-pay", "-active,name"]
  )
  func paging(sort: String) throws {
    let browser = try browser
    var names: [String] = []
    var after: String?
    repeat {
      let place = after.map { "&after=\($0)" } ?? ""
      let json = try browser.json("/entities/Person.json?limit=1&sort=\(sort)\(place)")
      names += (json["rows"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
      after = json["next"] as? String
    } while after != nil && names.count < 10
    #expect(names.sorted() == ["Ada", "Bo", "Cy"])
    if sort == "-pay" { #expect(names.prefix(2) == ["Ada", "Bo"]) }
  }

  @Test("A faulty predicate stays in its box, with a mark at the fault; its JSON says the column")
  func faultyPredicate() throws {
    let browser = try browser
    let page = try browser.page("/entities/Person?where=pay%20%3E%3E%203")
    #expect(page.contains("value=\"pay &gt;&gt; 3\""))
    #expect(page.contains("<span>pay &gt;</span><mark>&gt;</mark><span> 3</span>"))
    let response = browser.get("/entities/Person.json?where=pay%20%3E%3E%203")
    #expect(response.status == 400)
    #expect(try response.text().contains("\"column\":6"))
  }

  @Test("A name that is none is told with the nearest one")
  func nearestNames() throws {
    #expect(try browser.page("/entities/Person?where=nam==1").contains("name"))
    let response = try browser.get("/entities/Persn")
    #expect(response.status == 404)
    #expect(try response.text().contains("did you mean Person?"))
    #expect(try browser.get("/entities/Person?columns=nme").status == 400)
  }

  @Test("A predicate and columns choose what is shown")
  func selection() throws {
    let json = try browser.json(
      "/entities/Person.json?where=company.name==%22North%22&columns=name,pay"
    )
    let rows = try #require(json["rows"] as? [[String: Any]])
    #expect(rows.map { $0["name"] as? String } == ["Ada", "Bo"])
    #expect(Set(rows[0].keys) == ["_id", "_entity", "name", "pay"])
  }

  @Test("An object shows its values, and links in both directions")
  func object() throws {
    let browser = try browser
    let ada = try browser.json("/objects/Person/1.json")
    let values = try #require(ada["values"] as? [String: Any])
    #expect(values["born"] as? String == "1979-01-31")
    #expect(values["seen"] as? String == "2026-01-02T03:04:05Z")
    #expect(values["active"] as? Bool == true)
    let links = try #require(ada["links"] as? [String: [[String: Any]]])
    #expect(links["company"]?.map { $0["name"] as? String } == ["North"])
    #expect(links["friends"]?.map { $0["name"] as? String } == ["Bo", "Cy"])
    // Nobody declared who calls somebody a friend.
    #expect(links["Person.friends"]?.map { $0["name"] as? String } == ["Cy"])
    let north = try browser.json("/objects/Company/1.json")
    let staff = try #require(north["links"] as? [String: [[String: Any]]])
    #expect(staff["staff"]?.map { $0["name"] as? String } == ["Ada", "Bo"])
  }

  @Test(
    "An object that is not there is told",
    arguments: ["/objects/Person/77", "/objects/Person/x", "/objects/Nobody/1"]
  )
  func missingObject(target: String) throws { #expect(try browser.get(target).status == 404) }

  @Test("The history names what an import did to an object")
  func origins() async throws {
    try folder.write(#"{"people":[{"id": 2, "name": "Bodil"}]}"#, to: "second.json")
    try await folder.imports("second.json")
    let json = try browser.json("/objects/Person/2/origins.json")
    #expect(json["imports"] as? [String] == ["2", "1"])
    let run = try browser.page("/history/2")
    #expect(run.contains("<del>Bo</del>") && run.contains("<ins>Bodil</ins>"))
  }

  @Test("The profile tells nulls, distinct values, bounds and a histogram that counts every value")
  func profile() throws {
    let json = try browser.json("/entities/Person/profile.json")
    let attributes = try #require(json["attributes"] as? [[String: Any]])
    let pay = try #require(attributes.first { $0["name"] as? String == "pay" })
    #expect(pay["nulls"] as? Int == 1 && pay["distinct"] as? Int == 2)
    #expect(pay["smallest"] as? Double == 7 && pay["largest"] as? Double == 10.5)
    let bars = try #require(pay["histogram"] as? [[String: Any]])
    #expect(bars.compactMap { $0["count"] as? Int }.reduce(0, +) == 2)
    let page = try browser.page("/entities/Person/profile?where=pay%20!=%20nil")
    #expect(page.contains("never null") && page.contains("</html>"))
  }

  @Test("Values of sensitive attributes are on no page and in no download")
  func sensitive() throws {
    let browser = try browser
    for target in [
      "/entities/Person", "/entities/Person.json", "/objects/Person/1", "/objects/Person/1.json",
      "/entities/Person/profile", "/entities/Person/profile.json", "/entities/Person/live",
      "/history/1", "/history/1.json", "/entities/Person/download.csv",
      "/entities/Person/download.ndjson",
    ] {
      #expect(try !browser.page(target).contains("hush"), "\(target)")
    }
    // The place of the next page would hold the values.
    #expect(browser.get("/entities/Person.json?sort=secret").status == 400)
  }

  @Test("Downloads have all rows that the predicate admits, whatever the page shows")
  func downloads() throws {
    let browser = try browser
    let csv = try browser.page("/entities/Person/download.csv?sort=name&columns=name,pay,company")
    #expect(csv == "name,pay,company.id\r\nAda,10.50,1\r\nBo,7.00,1\r\nCy,,2\r\n")
    let lines = try browser.page("/entities/Person/download.ndjson?where=pay%3E8&columns=name,pay")
    #expect(lines == "{\"name\":\"Ada\",\"pay\":10.50}\n")
    let array = try browser.page("/entities/Person/download.json?columns=name")
    #expect(try (JSONSerialization.jsonObject(with: Data(array.utf8)) as? [Any])?.count == 3)
    #expect(browser.get("/entities/Person/download.exe").status == 404)
  }

  @Test("Text of the database, of names and of maps is text on the page, and no markup")
  func hostileText() async throws {
    let evil = "<script>alert(1)</script>\"'&"
    let record: [String: Any] = ["id": 66, "name": evil]
    let feed = try JSONSerialization.data(withJSONObject: ["people": [record]])
    try feed.write(to: folder.url.appendingPathComponent("evil<b>.json"))
    try await folder.imports("evil<b>.json")
    let browser = try browser
    for target in [
      "/entities/Person", "/objects/Person/4", "/entities/Person/profile", "/history", "/",
      "/entities/Person/live",
    ] {
      let page = try browser.page(target)
      #expect(!page.contains("<script>alert") && !page.contains("evil<b>"), "\(target)")
    }
    let query = WebText.encoded("name == \"\(evil)")
    let page = try browser.page("/entities/Person?where=\(query)")
    #expect(!page.contains("<script>alert"))
    #expect(try !browser.get("/entities/%3Cscript%3Ealert(1)").text().contains("<script>alert"))
    #expect(try !browser.page("/entities/Person.json").contains("<script"))
  }

  @Test("A database that goes away is told, and a file that comes back is shown")
  func vanishing() throws {
    let browser = try browser
    let (file, aside) = (folder.path("staff.db"), folder.path("aside.db"))
    try FileManager.default.moveItem(atPath: file, toPath: aside)
    #expect(browser.get("/").status == 404)
    #expect(try browser.get("/entities/Person").text().contains("staff.db"))
    try FileManager.default.moveItem(atPath: aside, toPath: file)
    #expect(browser.get("/").status == 200)
    try Data("no database at all, whatever it is called".utf8).write(to: URL(fileURLWithPath: file))
    #expect(browser.get("/").status == 500)
  }

  @Test("A model that grows meanwhile is shown as it is, with counts that are new")
  func growing() async throws {
    let browser = try browser
    #expect(try browser.page("/entities/Person").contains("3 objects"))
    try folder.write(
      ConsoleFolder.map.replacing(
        "born: { type: date }",
        with: "born: { type: date }\n      shoe: { type: int16 }"
      ),
      to: "wider.map.yaml"
    )
    try folder.write(#"{"people":[{"id": 4, "name": "Di", "shoe": 38}]}"#, to: "more.json")
    try await folder.imports("more.json", by: "wider.map.yaml")
    let page = try browser.page("/entities/Person")
    #expect(page.contains("4 objects") && page.contains(">shoe"))
  }

  @Test("The model's page draws every entity, and shows a map with its faults beside it")
  func model() throws {
    try folder.write("version: 1\nentities: { Person: { atributes: {} } }\n", to: "bad.map.yaml")
    let browser = try TestBrowser(folder.console(maps: ["staff.map.yaml", "bad.map.yaml"]))
    let page = try browser.page("/model")
    #expect(page.contains("Person.company") || page.contains("Company.staff / Person.company"))
    #expect(page.contains("did you mean attributes?"))
    let maps = try #require(try browser.json("/model.json")["maps"] as? [[String: Any]])
    #expect(maps.map { ($0["faults"] as? [Any])?.isEmpty } == [true, false])
  }

  @Test("An empty database says what to do")
  func empty() throws {
    let store = try SQLiteStore(at: .file(folder.path("empty.db")))
    try store.grow(to: Model(entities: []))
    try store.close()
    let console = Console(ConsoleOptions(database: folder.path("empty.db")))
    for target in ["/", "/model", "/history", "/rejects", "/import"] {
      let response = console.page(ConsoleRequest(target: target))
      #expect(response.status == 200)
      #expect(try response.text().contains("class=\"empty\""), "\(target)")
    }
  }

  @Test("Live pages tell the rows, and again when they change")
  func live() async throws {
    let console = folder.console()
    let response = console.page(ConsoleRequest(target: "/entities/Person/events?sort=name"))
    guard case .events(let start) = response.body else { throw CancellationError() }
    var events = start().makeAsyncIterator()
    let first = try #require(await events.next())
    #expect(first.hasPrefix("data: {") && first.hasSuffix("\n\n") && first.contains("Ada"))
    #expect(!first.contains("hush"))
    try folder.write(#"{"people":[{"id": 4, "name": "Di"}]}"#, to: "more.json")
    try await folder.imports("more.json")
    var last = first
    while !last.contains("\"Di\""), let next = await events.next() { last = next }
    #expect(last.contains("\"Di\""))
  }
}
