import Foundation
import Testing

/// Names and values in which a combining mark stands behind what SQL, CSV, Markdown and paths go by.
@Suite("Signs of syntax under accents") struct AccentedSyntaxTests {
  private let folder: ToolFolder

  init() throws { folder = try ToolFolder() }

  private static let accent = "\u{301}"
  private static let value = #"a"\#(accent)b'\#(accent)c|\#(accent)d,\#(accent)e\\#(accent)"#

  /// A map whose names have quotes with accents: as they stood they ended a name or a text of SQL.
  private func writeMap(_ more: String = "") throws {
    try folder.write(
      #"""
      version: 1
      entities:
        "E'\#(Self.accent); DROP TABLE F; --":
          table: 'T"\#(Self.accent); DROP TABLE F; --'
          unique: id
          attributes:
            id: { type: int64 }
            'n"\#(Self.accent)': { from: n }
            \#(more)
        F:
          parent: "E'\#(Self.accent); DROP TABLE F; --"
          attributes: { f: { type: string } }
      sources:
        e: { format: json, entity: "E'\#(Self.accent); DROP TABLE F; --", records: /e }
        f: { format: json, entity: F, records: /f }
      """#,
      to: "m.map.yaml"
    )
    let record: [String: Any] = ["id": 1, "n": Self.value]
    let feed = ["e": [record], "f": [["id": 2, "n": "x", "f": Self.value]]]
    try JSONSerialization.data(withJSONObject: feed)
      .write(to: folder.url.appendingPathComponent("feed.json"))
  }

  @Test("Names with such quotes are names, in every statement")
  func names() throws {
    try writeMap()
    for arguments in [
      ["import", "m.map.yaml", "feed.json", "-d", "a.db", "--json"],
      ["import", "m.map.yaml", "feed.json", "-d", "a.db", "--commit", "batch", "--prune"],
    ] {
      let run = try folder.run(arguments)
      #expect(run.status == 0, "\(run.errors)")
    }
    let entity = "E'\(Self.accent); DROP TABLE F; --"
    let rows = try folder.run("fetch", entity, "-d", "a.db", "-f", "json", "--sort", "id")
    #expect(
      rows.output
        == "[\n{\"id\":1,\"n\\\"\(Self.accent)\":\"\(Self.value.json)\"},\n"
        + "{\"id\":2,\"n\\\"\(Self.accent)\":\"x\"}\n]\n",
      "\(rows.errors)"
    )
    let found = try folder.run(
      "fetch",
      entity,
      "-d",
      "a.db",
      "--where",
      "id == $E",
      "-p",
      "E=1",
      "--count"
    )
    #expect(found.output == "1\n", "\(found.errors)")
    // Attributes that come and go, with a default that has such a quote, too.
    try writeMap(#"d: { default: "it'\#(Self.accent)s", required: true }"#)
    for arguments in [
      ["migrate", "m.map.yaml", "-d", "a.db"], ["import", "m.map.yaml", "feed.json", "-d", "a.db"],
      ["info", "-d", "a.db"], ["history", "-d", "a.db"],
    ] {
      let run = try folder.run(arguments)
      #expect(run.status == 0, "\(arguments): \(run.errors)")
    }
    let defaults = try folder.run("fetch", "F", "-d", "a.db", "--columns", "d", "-f", "csv")
    #expect(defaults.output == "d\r\nit'\(Self.accent)s\r\n", "\(defaults.errors)")
    for arguments in [
      ["backup", "-d", "a.db", "b.db"], ["delete", entity, "-d", "b.db", "--all", "--yes"],
      ["undo", "1", "-d", "a.db"],
    ] {
      let run = try folder.run(arguments)
      #expect(run.status == 0, "\(arguments): \(run.errors)")
    }
  }

  @Test("What is printed can be read back: the quote is doubled, the bar escaped")
  func printed() throws {
    try writeMap()
    #expect(try folder.run("import", "m.map.yaml", "feed.json", "-d", "a.db", "-q").status == 0)
    func printed(_ format: String) throws -> String {
      try folder.run("fetch", "F", "-d", "a.db", "--columns", "f", "-f", format).output
    }
    let (accent, value) = (Self.accent, Self.value)
    #expect(try printed("csv") == "f\r\n\"\(value.escaped("\""))\"\r\n")
    #expect(try printed("tsv") == "f\r\n\"\(value.escaped("\""))\"\r\n")
    #expect(
      try printed("markdown")
        == "| f |\n| --- |\n| a\"\(accent)b'\(accent)c\\|\(accent)d,\(accent)e\\\\\(accent) |\n"
    )
    let dot = try folder.run("schema", "-d", "a.db", "--format", "dot")
    #expect(dot.output.contains("n\\\"\(accent): string"), "\(dot.output)\(dot.errors)")
  }

  @Test("A value of a parameter may begin with an accent")
  func parameters() throws {
    try writeMap()
    try folder.write(#"{"f":[{"id":3,"f":"\#(Self.accent)x"}]}"#, to: "more.json")
    #expect(try folder.run("import", "m.map.yaml", "more.json", "-d", "a.db", "-q").status == 0)
    let run = try folder.run(
      "fetch",
      "F",
      "-d",
      "a.db",
      "--where",
      "f == $V",
      "-p",
      "V=\(Self.accent)x",
      "--count"
    )
    #expect(run.output == "1\n", "\(run.errors)")
  }

  @Test(
    "A map's rejects file stays in its folder, whatever its path looks like",
    arguments: ["../\u{301}x", "..", "a/../\u{301}b", "/\u{301}x", "~\u{301}/x", "a/"]
  )
  func rejects(path: String) throws {
    try folder.write(
      """
      version: 1
      entities: { E: { unique: id, attributes: { id: { type: int64 } } } }
      sources: { j: { format: json, entity: E } }
      import: { rejects: { file: "\(path)" } }
      """,
      to: "r.map.yaml"
    )
    let run = try folder.run("check", "r.map.yaml")
    #expect(run.status == 65 && run.errors.contains("map.output"), "\(run.output)\(run.errors)")
  }
}

extension String {
  /// The text within a string of JSON.
  fileprivate var json: String { escaped("\\", by: "\\").escaped("\"", by: "\\") }

  /// The text with another sign before each of some.
  fileprivate func escaped(_ sign: Unicode.Scalar, by other: Unicode.Scalar? = nil) -> String {
    String(
      String.UnicodeScalarView(
        unicodeScalars.flatMap { $0 == sign ? [other ?? sign, $0] : [$0] }
      )
    )
  }
}
