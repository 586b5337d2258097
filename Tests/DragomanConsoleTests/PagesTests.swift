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

  @Test("A name that is none is told with the nearest one")
  func nearestNames() throws {
    #expect(try browser.get("/entities/Person?where=nam==1").text().contains("name"))
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
    #expect(run.contains("<del><bdi>Bo</bdi></del>") && run.contains("<ins><bdi>Bodil</bdi></ins>"))
  }

  @Test("Origins tell values and links as they came and went, without copies of the file")
  func originsOfLinks() async throws {
    try folder.write(
      #"{"people":[{"id": 1, "name": "Ada", "company": 2, "friends": [3]}]}"#,
      to: "second.json"
    )
    try await folder.imports("second.json")
    let page = try browser.page("/objects/Person/1/origins")
    #expect(
      page.contains("<del><bdi>1 · North</bdi></del>")
        && page.contains("<ins><bdi>2 · South</bdi></ins>")
    )
    #expect(page.contains("<del><bdi>2 · Bo</bdi></del>"))
    #expect(!page.contains("hush"))
  }

  @Test("A profile that cannot go on says so in its JSON, which stays whole")
  func brokenProfile() async throws {
    let name = String(repeating: "a", count: 40)
    try folder.write(#"{"people":[{"id": 9, "name": "\#(name)"}]}"#, to: "long.json")
    try await folder.imports("long.json")
    let query = "where=" + WebText.encoded(#"name MATCHES "(a+)+$b""#)
    let json = try browser.json("/entities/Person/profile.json?\(query)")
    #expect((json["error"] as? [String: Any])?["message"] as? String != nil)
    let page = try browser.page("/entities/Person/profile?\(query)")
    #expect(page.components(separatedBy: "role=\"alert\"").count == 2 && page.contains("</html>"))
  }

  @Test(
    "Pages do not wait for their counts: those come when they are known, and stay while nothing changes"
  )
  func counts() async throws {
    let queue = DispatchQueue(label: "counts of a test")
    let counts = CountBoard(folder.path("staff.db"), patience: .nanoseconds(0), queue: queue)
    let browser = try TestBrowser(folder.console(counts: counts))
    // While nothing can be counted, whatever the machine does beside.
    func beforeTheCount(_ look: () throws -> Void) rethrows {
      queue.suspend()
      defer { queue.resume() }
      try look()
    }
    try beforeTheCount {
      let page = try browser.page("/entities/Person")
      #expect(
        page.contains("data-count=\"Person\" data-phrase>counting …")
          && page.contains("http-equiv=\"refresh\"")
      )
      let first = try browser.json("/overview.json")
      #expect((first["entities"] as? [[String: Any]])?.allSatisfy { $0["count"] != nil } == true)
    }
    var told: [String: [String: Any]] = [:]
    repeat {
      told = try #require(
        browser.json("/counts.json?of=Person&of=Nobody")["counts"] as? [String: [String: Any]]
      )
    } while told["Person"]?["isCountComplete"] as? Bool != true
    #expect(told["Person"]?["phrase"] as? String == "3 objects")
    #expect(told["Nobody"]?["count"] is NSNull)
    #expect(try !browser.page("/entities/Person").contains("data-count"))
    try folder.write(#"{"people":[{"id": 4, "name": "Di"}]}"#, to: "more.json")
    try await folder.imports("more.json")
    // The old number is better than none.
    try beforeTheCount {
      let page = try browser.page("/entities/Person")
      #expect(page.contains("data-phrase>3 objects"))
    }
    var number: Int?
    repeat {
      number = try browser.json("/entities/Person.json")["count"] as? Int
    } while number != 4
  }

  @Test(
    "Pages of many objects read as many rows as they show, by an index",
    arguments: [
      ("", "name"), ("", "-name"), ("", ""), ("", "-id,name"), ("name == \"x\"", ""),
      ("id > 5", "id"),
      ("name BEGINSWITH \"p\"", "name"), ("company == nil", ""), ("company.id == 7", ""),
      ("id IN {1, 2, 3}", "-name"),
    ]
  )
  func plans(predicate: String, sort: String) async throws {
    let records = (10..<3_000).map {
      #"{"id":\#($0),"name":"person \#($0)","company":\#($0 % 100)}"#
    }
    try folder.write("{\"people\":[\(records.joined(separator: ","))]}", to: "many.json")
    try await folder.imports("many.json")
    let store = try ConsoleDatabase(folder.path("staff.db")).open()
    let query = try EntityQuery(
      ConsoleRequest(target: WebText.address(["x"], [("where", predicate), ("sort", sort)]))
    )
    let shape = try EntityShape("Person", in: store.model)
    let columns = try EntityTable(shape, [], in: store.model).fetched
    var request = try query.request(of: "Person", columns: columns, in: store)
    request.limit = 51
    var places = [request]
    request.after = try store.forEachRow(inPage: request.with { $0.limit = 1 }) { _ in }
    if request.after != nil { places.append(request) }
    for place in places {
      let steps = try store.explain(place).steps.map(\.text)
      let isSorted = !predicate.isEmpty && sort == "-name"
      // Whoever chooses by one index and sorts by another sorts what is chosen.
      #expect(isSorted || !steps.contains { $0.contains("TEMP B-TREE FOR ORDER BY") }, "\(steps)")
      let reads = steps.filter { $0.hasSuffix(" t0") || $0.contains(" t0 ") }
      let isSearch = !predicate.isEmpty || place.after != nil
      #expect(
        !reads.isEmpty && reads.allSatisfy { !isSearch || $0.hasPrefix("SEARCH") },
        "\(steps)"
      )
      #expect(
        sort.isEmpty || reads.allSatisfy { $0.contains("INDEX") || $0.contains("PRIMARY KEY") },
        "\(steps)"
      )
    }
    guard !predicate.isEmpty else { return }
    let counted = try store.explain(request.with { $0.limit = 10_001 }, counts: true).steps.map(
      \.text
    )
    #expect(!counted.contains { $0.hasPrefix("SCAN t0") }, "\(counted)")
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
    // Which objects come, and in which order, would tell the values letter by letter.
    for query in [
      "sort=secret", "sort=company.name,-secret", "where=secret%20BEGINSWITH%20%22h%22",
      "where=secret==name",
      "where=ANY%20friends.secret==%22hush%22", "where=NOT%20(id==1%20AND%20secret%20!=%20nil)",
    ] {
      for page in [
        "Person.json", "Person/live", "Person/events", "Person/profile.json", "Person/download.csv",
      ] {
        #expect(browser.get("/entities/\(page)?\(query)").status == 400, "\(page) \(query)")
      }
    }
    #expect(
      browser.get("/entities/Company.json?where=ANY%20staff.secret%20CONTAINS%20%22u%22").status
        == 400
    )
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
    let page = try browser.get("/entities/Person?where=\(query)").text()
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
    let page = try browser.get("/entities/Person").text()
    #expect(page.contains("There is no such database") && page.contains("put the file back"))
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
