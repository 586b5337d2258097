import Dragoman
import DragomanGraph
import Foundation
import Testing

@testable import DragomanConsole

/// What forms of pages send, and what becomes of it.
@Suite("Forms of the console") struct FormTests {
  private let folder: ConsoleFolder

  init() async throws {
    folder = try ConsoleFolder()
    try await folder.imports()
  }

  private var browser: TestBrowser { get throws { try TestBrowser(folder.console(writes: true)) } }

  /// An entity with more attributes than a page shows.
  private func importWide() async throws {
    let names = (1...14).map { "a\($0)" }
    try folder.write(
      """
      version: 1
      entities: { Wide: { unique: id, attributes: { id: id, \(names.map { "\($0): \($0)" }.joined(separator: ", ")) } } }
      sources: { wide: { format: json, entity: Wide } }
      """,
      to: "wide.map.yaml"
    )
    try folder.write(#"[{"id":"x","a14":"last"}]"#, to: "wide.json")
    try await folder.imports("wide.json", by: "wide.map.yaml")
  }

  @Test(
    "Columns that a page shows anyway nobody chose: its form leads to a short address and to all of them"
  )
  func usualColumns() async throws {
    try await importWide()
    let browser = try browser
    let page = try browser.page("/entities/Wide")
    let columns = page.matches(of: /name="columns" value="([^"]+)" checked/).map { $0.output.1 }
    #expect(columns.count == 12)
    let sent = columns.map { "&columns=\($0)" }.joined() + "&sort=&limit=50"
    let shown = browser.get("/entities/Wide?form=1&where=id+!%3D+nil\(sent)")
    let address = try #require(shown.header("Location"))
    #expect(shown.status == 303 && address == "/entities/Wide?where=id%20%21%3D%20nil")
    let download = try #require(
      browser.page(address).firstMatch(of: /href="([^"]+download\.csv[^"]*)"/)
    )
    #expect(try browser.page(String(download.output.1)).contains("last"))
    let chosen = browser.get(
      "/entities/Wide?form=1&where=&columns=id&columns=a14&sort=-a1&limit=25"
    )
    #expect(chosen.header("Location") == "/entities/Wide?sort=-a1&columns=id%2Ca14&limit=25")
  }

  @Test("A fault is told at the field that has it, and the predicate is cleared alone")
  func faults() throws {
    let browser = try browser
    let order = browser.get("/entities/Person?where=id%3E1&sort=nme")
    let page = try order.text()
    #expect(order.status == 400 && page.contains("aria-describedby=\"sort-fault\""))
    #expect(page.contains("<details class=\"more\" open>") && !page.contains("id=\"where-fault\""))
    let predicate = try browser.get("/entities/Person?where=nme%3E1&sort=name&limit=25").text()
    #expect(predicate.contains("aria-describedby=\"where-fault\""))
    #expect(!predicate.contains("id=\"sort-fault\""))
    #expect(predicate.contains("href=\"/entities/Person?sort=name&amp;limit=25\">Clear"))
  }

  @Test("Names of sensitive attributes are not offered to predicates, which may not have them")
  func offeredNames() throws {
    let page = try browser.page("/entities/Company")
    let names = try #require(page.firstMatch(of: /data-names="([^"]*)"/)).output.1
    #expect(names.contains("ANY staff.name") && !names.contains("secret"))
  }

  @Test("An import that cannot begin leaves in its form what was typed")
  func importForm() async throws {
    let form = [
      "map": "0", "path": folder.path("none.json"), "source": "people", "mode": "replace",
    ]
    let response = await (try browser).post("/import", form)
    let page = try response.text()
    #expect(response.status == 404 && page.contains("role=\"alert\""))
    #expect(page.contains("value=\"\(folder.path("none.json"))\""))
    #expect(page.contains("value=\"people\"") && page.contains("value=\"replace\" selected"))
  }

  @Test("The first page has a twin at /.json, too")
  func firstPage() throws {
    let browser = try browser
    #expect(try browser.json("/.json")["waiting"] as? Int == 1)
    #expect(browser.get("/nothing/.json").status == 404)
  }
}
