import Foundation
import Testing

/// What the tool prints and what the console serves of one database say the same, and keep the same from being read.
@Suite("The tool and the console") struct ConsoleTwinTests {
  private let folder: ToolFolder
  private static let turning = "\u{202E}"
  private static let accent = "\u{301}"

  /// Values that two writers spell otherwise when one of them does not think of it.
  init() throws {
    folder = try ToolFolder()
    try folder.write(
      """
      version: 1
      entities:
        P:
          unique: id
          attributes:
            id: id
            f: { type: float }
            d: { type: double }
            n: { type: decimal, scale: 30 }
            j: { type: json }
            t: { type: timestamp }
            b: { type: bool }
            x: { type: data }
            s: s
            secret: { from: secret, sensitive: true, default: SECRET-DEFAULT }
            level: { type: int32, sensitive: true, min: 41, max: 4242 }
          relationships:
            ps: { entity: P, kind: toMany, key: { id: ps }, ordered: true }
      sources: { j: { format: json, entity: P } }
      """,
      to: "m.map.yaml"
    )
    try folder.write(
      #"""
      [{"id":"A\#(Self.turning)xyz","f":0.1,"d":1e300,"n":0.123456789012345678901234567890,"j":{"a":
      ["<b>"]},"t":"2026-01-02T03:04:05Z","b":true,"x":"AAH/","s":"","secret":"hush","level":42},
       {"id":"B","f":-0.5,"s":null,"n":-7,"ps":["A\#(Self.turning)xyz","B"]},
       {"id":"C,\"\#(Self.accent) d","s":" x\ty\r\nz ","secret":"hush"}]
      """#,
      to: "one.json"
    )
    try folder.write(
      #"[{"id":"B","s":"","f":null,"ps":["B","A\#(Self.turning)xyz"]},{"id":"D","s":"n"}]"#,
      to: "two.json"
    )
    for feed in ["one.json", "two.json"] {
      let run = try folder.run("import", "m.map.yaml", feed, "-d", "a.db", "-q")
      #expect(run.status == 0, "\(run.errors)")
    }
  }

  @Test("A key of several parts is told whole")
  func wholeKeys() throws {
    try folder.write(
      """
      version: 1
      entities:
        City: { unique: [land, name], attributes: { land: land, name: name } }
        P:
          unique: id
          attributes: { id: id }
          relationships: { city: { entity: City, kind: toOne, from: city } }
      sources: { p: { format: json, entity: P } }
      """,
      to: "k.map.yaml"
    )
    try folder.write(#"[{"id": "1", "city": {"land": "NO", "name": "Oslo"}}]"#, to: "k.json")
    let made = try folder.run("import", "-q", "k.map.yaml", "k.json", "-d", "k.db")
    #expect(made.status == 0, "\(made.errors)")
    let run = try folder.run("serve", "-d", "k.db", "--get", "/entities/P.json?columns=city")
    #expect(run.output.contains(#""key":"NO · Oslo""#), "\(run.output)")
  }

  private func page(_ target: String, _ more: String...) throws -> String {
    let run = try folder.run(["serve", "-d", "a.db", "--get", target] + more)
    #expect(run.status == 0, "\(target): \(run.errors)")
    return run.output
  }

  private func fetched(_ format: String, _ columns: String) throws -> String {
    try folder.run("fetch", "P", "-d", "a.db", "-f", format, "--columns", columns).output
  }

  @Test(
    "Rows of a download are those of a fetch, byte for byte",
    arguments: ["csv", "ndjson", "json"],
    ["id,f,d,n,j,t,b,x,s", "s"]
  )
  func downloads(format: String, columns: String) throws {
    #expect(
      try page("/entities/P/download.\(format)?columns=\(columns)") == fetched(format, columns)
    )
  }

  @Test("No row is lost in a file of one column")
  func oneColumn() throws {
    let lines = try fetched("csv", "s").components(separatedBy: "\r\n")
    #expect(lines == ["s", "\"\"", "\"\"", "\" x\ty", "z \"", "n", ""])
  }

  @Test("Imports and their changes are the same documents")
  func history() throws {
    let tool = try object(folder.run("history", "-d", "a.db", "--json").output)
    let console = try object(page("/history.json"))
    #expect((tool["imports"] as? NSArray) == (console["imports"] as? NSArray))
    let lines = try folder.run("history", "-d", "a.db", "--changes", "2", "--json")
      .output
    let told = try lines.split(separator: "\n").map { try object(String($0)) as NSDictionary }
    let changes = try object(page("/history/2.json"))["changes"] as? [NSDictionary]
    #expect(told == changes && told.count == 2, "\(lines)")
    // A list in another order has no links that came or went.
    #expect(try page("/history/2").contains("in another order"))
  }

  @Test("What is sensitive of a model is masked on pages as in text, its bounds too")
  func sensitive() throws {
    for text in [
      try page("/model"), try page("/model.json"), try page("/entities/P"),
      try page("/entities/P.json"), try page("/objects/P/1"), try page("/objects/P/1.json"),
      try page("/entities/P/profile"), try page("/entities/P/profile.json"),
      try page("/entities/P/download.csv"), try page("/history/1.json"),
      try page("/objects/P/1/origins"),
      try folder.run("schema", "-d", "a.db").output, try folder.run("info", "-d", "a.db").output,
      try folder.run("history", "-d", "a.db", "--changes", "1").output,
    ] {
      for secret in ["SECRET-DEFAULT", "hush", "4242"] {
        #expect(!text.contains(secret), "\(text)")
      }
    }
  }

  @Test(
    "Nothing turns the direction of reading of a page",
    arguments: [
      "/entities/P", "/objects/P/1", "/objects/P/1/origins", "/objects/P/2",
      "/history/1", "/entities/P/profile",
    ]
  )
  func direction(target: String) throws {
    let text = try page(target)
    #expect(!text.unicodeScalars.contains("\u{202E}") && text.contains("\\u{202e}"))
  }

  @Test("Help says what who reads it can do")
  func help() throws {
    let page = try folder.run("serve", "-d", "a.db", "--get", "/entities/P.json?where=id==$N")
    #expect(page.status == 64)
    #expect((page.output + page.errors).contains("write a value in place of $N"))
    let tool = try folder.run("fetch", "P", "-d", "a.db", "--where", "id == $N")
    #expect(tool.errors.contains("give it one: -p N=…"))
  }

  private func object(_ json: String) throws -> [String: Any] {
    let value = try JSONSerialization.jsonObject(with: Data(json.utf8))
    return try #require(value as? [String: Any])
  }
}
