import Foundation
import Testing

/// What is printed shows no passwords, and moves no terminal.
@Suite("Words of strangers") struct StrangeWordsTests {
  @Test(
    "A password is in no message, however the database or feed is misspelt",
    arguments: [
      "connect_timeout=5 password=secretPW host=h", "application_name=x password = secretPW",
      "host=h sslpassword=secretPW", "postgresql:/u:secretPW@h/x", "postgresql:u:secretPW@h/x",
      "POSTGRES:u:secretPW@h/x", "pg://u:secretPW@h/x", "ftp://u:secretPW@h/x",
    ]
  )
  func databases(database: String) throws {
    let folder = try ToolFolder()
    for arguments in [["info", "-d", database], ["import", "m.yaml", "f.json", "-d", database]] {
      let run = try folder.run(arguments)
      #expect(run.status == 64)
      #expect(!(run.output + run.errors).contains("secretPW"), "\(run.errors)")
    }
    #expect(try folder.files == [])
  }

  @Test(
    "Nor in those of feeds",
    arguments: [
      "ftp://u:secretPW@h/x", "https:/u:secretPW@h/x", "http://u:1/secretPW@127.0.0.1/",
      "http://127.0.0.1:1/?a=1;token=secretPW",
    ]
  )
  func feeds(feed: String) throws {
    let folder = try ToolFolder()
    try folder.write(Self.map, to: "m.yaml")
    let run = try folder.run(["import", "m.yaml", feed, "-d", "x.db", "--retries", "0"])
    #expect(run.status != 0)
    #expect(!(run.output + run.errors).contains("secretPW"), "\(run.errors)")
  }

  private static let map = """
    version: 1
    entities: { T: { unique: k, attributes: { k: k } } }
    sources:
      j: { format: json, entity: T }
      x: { format: xml, entity: T, records: /r/t }
    """

  /// Sequences that a terminal obeys: a title, a bell, an erased screen by one sign (C1), the other direction.
  private static let hostile = "\u{1B}]0;p\u{7}\u{9B}2J\u{202E}"

  @Test(
    "On a terminal values are spelled out in every format",
    arguments: ["csv", "tsv", "json", "ndjson", "table"]
  )
  func values(format: String) throws {
    let folder = try ToolFolder()
    try folder.write(Self.map, to: "m.yaml")
    let value = try #require(String(data: JSONEncoder().encode(Self.hostile), encoding: .utf8))
    try folder.write(#"[{"k":\#(value)}]"#, to: "f.json")
    #expect(try folder.run("import", "m.yaml", "f.json", "-d", "x.db", "-q").status == 0)
    let arguments = ["fetch", "T", "-d", "x.db", "-f", format]
    let screen = try TestTerminal().run(arguments, in: folder, showsOutput: true)
    #expect(screen.status == 0)
    let heads = ["\u{1B}[1m", "\u{1B}[0m"]
    let shown =
      format == "table"
      ? heads.reduce(screen.errors) { $0.replacing($1, with: "") } : screen.errors
    for sign in ["\u{1B}", "\u{7}", "\u{9B}", "\u{202E}"] {
      #expect(!shown.contains(sign), "\(shown.debugDescription)")
    }
    #expect(shown.contains("202e"), "\(shown.debugDescription)")
    // In a pipe or a file values are what they are.
    guard format == "csv" else { return }
    let piped = try folder.run(arguments)
    #expect(piped.output.unicodeScalars.contains("\u{9B}") && piped.output.utf8.contains(0x1B))
  }

  @Test("Messages have no signs that a terminal obeys, wherever the words in them are from")
  func messages() throws {
    let folder = try ToolFolder()
    try folder.write(Self.map, to: "m.yaml")
    try folder.write("[", to: "feed\(Self.hostile).json")
    try folder.write(
      "<?xml version=\"1.0\" encoding=\"\(Self.hostile)\"?><r/>",
      to: "e.xml"
    )
    try folder.write("<r xmlns:a=\"\u{9B}2J\u{1B}\"><t/></r>", to: "n.xml")
    try folder.write(Self.map.replacing("T:", with: "\"\(Self.hostile)\":"), to: "n.yaml")
    for arguments in [
      ["import", "m.yaml", "feed\(Self.hostile).json", "-d", "x.db"],
      ["import", "m.yaml", "e.xml", "-d", "x.db"], ["import", "m.yaml", "n.xml", "-d", "x.db"],
      ["import", "n.yaml", "e.xml", "-d", "x.db"], ["info", "-d", "\(Self.hostile).db"],
    ] {
      let run = try folder.run(arguments)
      #expect(run.status != 0 && !run.errors.isEmpty)
      let signs = run.errors.unicodeScalars.filter {
        $0.value < 0x20 && $0 != "\n" || (0x7F..<0xA0).contains($0.value) || $0 == "\u{202E}"
      }
      #expect(signs.isEmpty, "\(arguments): \(run.errors.debugDescription)")
    }
  }
}
