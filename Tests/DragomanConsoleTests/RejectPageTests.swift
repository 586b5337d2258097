import Dragoman
import DragomanGraph
import Foundation
import Testing

@testable import DragomanConsole

/// The page of a rejected record: what is marked, and what can be mended.
@Suite("Pages of rejects") struct RejectPageTests {
  private static let map = """
    version: 1
    entities:
      O:
        unique: no
        attributes:
          no:
          n: { type: int32, from: { json: n, xml: n, csv: n } }
          a: { type: int32, from: { json: s.a, xml: s/@a, csv: a } }
          t: { from: t, length: { max: 20 } }
        relationships:
          lines: { entity: L, kind: toMany, from: { json: lines, xml: lines/line }, inverse: o }
      L:
        unique: [o, pos]
        attributes: { pos: { type: int32 }, qty: { type: int32, min: 10 } }
        relationships: { o: { entity: O, kind: toOne, inverse: lines } }
    sources:
      j: { format: json, entity: O, records: /o }
      n: { format: ndjson, entity: O }
      x: { format: xml, entity: O, records: /os/o }
      c: { format: csv, entity: O }
    """

  private let folder: ConsoleFolder

  init() throws {
    folder = try ConsoleFolder()
    try folder.write(Self.map, to: "o.map.yaml")
  }

  private func browser(_ feed: String, named name: String) async throws -> TestBrowser {
    try folder.write(feed, to: name)
    try await folder.imports(name, by: "o.map.yaml", rejects: "rejects.ndjson")
    return try TestBrowser(
      folder.console(writes: true, rejects: ["rejects.ndjson"], maps: ["o.map.yaml"])
    )
  }

  private func mend(_ browser: TestBrowser, _ record: String) async throws -> ConsoleResponse {
    let mark = try RejectShelf.line("1", of: folder.path("rejects.ndjson")).mark
    return await browser.post("/rejects/0/1", ["mark": mark, "map": "0", "record": record])
  }

  @Test(
    "The offending value is marked where it is, and nothing where it is nowhere",
    arguments: [
      ("j.json", #"{"o":[{"no":"x","lines":[{"pos":1,"qty":105},{"pos":2,"qty":5}]}]}"#, "5"),
      ("j.json", #"{"o":[{"no":"n","n":"n"}]}"#, "&quot;n&quot;"),
      ("j.json", #"{"o":[{"no":"a","s":{"a":"a"}}]}"#, "&quot;a&quot;"),
      ("j.json", #"{"o":[{"n":1}]}"#, nil),
      ("x.xml", "<os><o><no>seven</no><n>seven</n></o></os>", "seven"),
      ("x.xml", "<os><o><no>ä</no><s b='a=' a='zz'/></o></os>", "zz"),
      (
        "x.xml",
        "<os><o><no>1</no><lines><line><pos>1</pos><qty>105</qty></line><line><pos>2</pos><qty>5</qty></line></lines></o></os>",
        "5"
      ),
      ("n.ndjson", "{\"no\":\"a\",\"n\":1}\n{\"no\":\"b\",\"n\":tru}\n", "tru}"),
      ("c.csv", "no,n\n1,x\n", "&quot;x&quot;"),
    ]
  )
  func marks(name: String, feed: String, mark: String?) async throws {
    let page = try await browser(feed, named: name).page("/rejects/0/1")
    let marked = page.matches(of: /<mark>(.*?)<\/mark>/.dotMatchesNewlines()).map {
      String($0.output.1)
    }
    #expect(marked == [mark].compactMap { $0 })
    if feed.contains("qty") { #expect(page.contains("105")) }
    if name == "x.xml", mark == "seven" { #expect(page.contains("&lt;n&gt;<mark>seven")) }
  }

  @Test("A record that is a string of JSON is mended as one that is a number")
  func string() async throws {
    let browser = try await browser("\"text\"\n", named: "n.ndjson")
    let page = try browser.page("/rejects/0/1")
    #expect(page.contains(">&quot;text&quot;</textarea>"))
    #expect(try browser.json("/rejects/0/1.json")["record"] as? String == "text")
    #expect(try await mend(browser, #"{"no":"z","n":1}"#).status == 303)
    #expect(try browser.json("/entities/O.json")["count"] as? Int == 1)
  }

  @Test("What turns the direction of reading stands by its number, and comes back as it was")
  func direction() async throws {
    let feed = #"{"no":"h","t":"much too long a name \u202e \u0000 end"}"# + "\n"
    let browser = try await browser(feed, named: "n.ndjson")
    let page = try browser.page("/rejects/0/1")
    #expect(!page.unicodeScalars.contains("\u{202E}"))
    #expect(page.contains(#"\u202e \u0000 end"#))
    #expect(try await mend(browser, #"{"no":"h","t":"short \u202e"}"#).status == 303)
    let rows = try browser.json("/entities/O.json")["rows"] as? [[String: Any]]
    #expect(rows?.first?["t"] as? String == "short \u{202E}")
  }

  @Test("What was typed for a reject that is gone is shown, and not lost")
  func gone() async throws {
    let browser = try await browser("5\n", named: "n.ndjson")
    let form = ["mark": "none", "map": "0", "record": #"{"no":"typed"}"#]
    let response = await browser.post("/rejects/0/1", form)
    #expect(response.status == 409)
    #expect(try response.text().contains("<pre>{&quot;no&quot;:&quot;typed&quot;}</pre>"))
  }
}
