import Dragoman
import DragomanGraph
import Foundation
import Testing

@testable import DragomanConsole

/// One object's page and its twin, and what other pages call it.
@Suite("Pages of objects") struct ObjectPageTests {
  private let folder: ConsoleFolder

  init() async throws {
    folder = try ConsoleFolder()
    try await folder.imports()
  }

  private var browser: TestBrowser { get throws { try TestBrowser(folder.console()) } }

  private func imports(_ records: String) async throws {
    try folder.write("{\"people\":[\(records)]}", to: "more.json")
    try await folder.imports("more.json")
  }

  @Test("The twin of an object leads to the links that it does not tell")
  func nextLinks() async throws {
    let friends = (1000..<1030).map(String.init)
    let people = friends.map { #"{"id":\#($0)}"# }.joined(separator: ",")
    try await imports(#"\#(people),{"id":9,"friends":[\#(friends.joined(separator: ","))]}"#)
    let browser = try browser
    let row = try #require(
      try (browser.json("/entities/Person.json?where=id==9")["rows"] as? [[String: Any]])?.first
    )
    let number = try #require((row["_id"] as? String)?.split(separator: "/").last)
    func links(_ json: [String: Any]) -> [String] {
      let links = (json["links"] as? [String: [[String: Any]]])?["friends"] ?? []
      return links.compactMap { $0["key"] as? String }
    }
    let json = try browser.json("/objects/Person/\(number).json")
    let next = try #require((json["next"] as? [String: String])?["friends"])
    let rest = try browser.json(next)
    #expect((links(json) + links(rest)).sorted() == friends)
    #expect((rest["next"] as? [String: String])?.isEmpty == true)
  }

  @Test("An object of which only the key is known says so, and the overview counts them")
  func stubs() async throws {
    try await imports(#"{"id":4,"name":"Di","company":77}"#)
    let browser = try browser
    #expect(try browser.page("/objects/Company/3").contains("its record has not come"))
    #expect(try browser.json("/objects/Company/3.json")["isStub"] as? Bool == true)
    #expect(try browser.json("/objects/Company/1.json")["isStub"] as? Bool == false)
    #expect(try browser.page("/").contains("<strong>1 stub</strong>"))
    #expect(try browser.json("/overview.json")["stubs"] as? Int == 1)
  }

  @Test("What is null calls no object, and a key of spaces can be seen")
  func names() async throws {
    try await imports(#"{"id":7,"name":null,"company":1}"#)
    let page = try browser.page("/objects/Person/4")
    #expect(page.contains("<h1>7</h1>") && !page.contains("<p class=\"lead\">null"))
    try folder.write(
      """
      version: 1
      entities: { Word: { unique: id, attributes: { id: id } } }
      sources: { words: { format: json, entity: Word } }
      """,
      to: "words.map.yaml"
    )
    try folder.write(#"[{"id":" "}]"#, to: "words.json")
    try await folder.imports("words.json", by: "words.map.yaml")
    #expect(try browser.page("/objects/Word/1").contains("<h1>&quot; &quot;</h1>"))
  }

  @Test("A value that is too long for a page is shortened there, and there as a whole as a file")
  func longValues() async throws {
    let name = String(repeating: "long ", count: 100_000) + "end"
    try await imports(#"{"id":5,"name":"\#(name)"}"#)
    let browser = try browser
    let page = try browser.page("/objects/Person/4")
    #expect(page.utf8.count < 60_000 && !page.contains("end</td>"))
    let link = try #require(page.firstMatch(of: /href="([^"]+\/value\?of=name)"/)).output.1
    #expect(try browser.page(String(link)) == name)
    #expect(try browser.page("/objects/Person/1/value?of=secret") == "•••")
    #expect(browser.get("/objects/Person/1/value?of=nme").status == 404)
    let values = try browser.json("/objects/Person/4.json")["values"] as? [String: Any]
    #expect(values?["name"] as? String == name)
  }

  @Test("An object that waits is called by its own entity")
  func waitingOfSubEntity() async throws {
    try folder.write(
      """
      version: 1
      entities:
        Thing: { unique: id, attributes: { id: { type: int32 } }, discriminator: { from: kind, values: { boat: Boat } } }
        Boat:
          parent: Thing
          relationships: { port: { entity: Port, kind: toOne, key: { id: port }, onUnresolved: pending } }
        Port: { unique: id, attributes: { id: id } }
      sources: { things: { format: json, entity: Thing } }
      """,
      to: "things.map.yaml"
    )
    try folder.write(#"[{"id":5,"kind":"boat","port":"Bergen"}]"#, to: "things.json")
    try await folder.imports("things.json", by: "things.map.yaml")
    #expect(try browser.page("/").contains("<a href=\"/objects/Boat/1\">Boat 5</a>"))
  }

  @Test("A database is as large as its file and its write-ahead log")
  func size() throws {
    let file = folder.path("sized.db")
    try Data(count: 100).write(to: URL(fileURLWithPath: file))
    try Data(count: 1_000).write(to: URL(fileURLWithPath: file + "-wal"))
    #expect(ConsoleDatabase(file).byteCount == 1_100)
  }

  @Test("A live page that is full says that it shows the first objects, there and in its events")
  func liveCount() async throws {
    let console = folder.console()
    let browser = try TestBrowser(console)
    #expect(try browser.page("/entities/Person/live").contains(">3 objects<"))
    #expect(try browser.page("/entities/Person/live?limit=2").contains(">the first 2 objects<"))
    let response = console.page(ConsoleRequest(target: "/entities/Person/events?limit=2"))
    guard case .events(let start) = response.body else { throw CancellationError() }
    var events = start().makeAsyncIterator()
    let first = try #require(await events.next())
    #expect(first.contains("\"text\":\"the first 2 objects\"") && first.contains("Open Person 1"))
  }
}
