import DragomanGraph
import Testing

@testable import DragomanCLI

@Suite("Writing fetched rows")
struct RowWriterTests {
  private static let attributes = [
    Attribute(name: "id", type: .int64), Attribute(name: "name"),
    Attribute(name: "pay", type: .decimal), Attribute(name: "ok", type: .bool),
    Attribute(name: "at", type: .timestamp), Attribute(name: "x", type: .float),
    Attribute(name: "tags", type: .json), Attribute(name: "raw", type: .data),
  ]
  private static let rows: [[StoredValue]] = [
    [
      .integer(9_007_199_254_740_993), .text("Ann \"A\"\n|,\t\\"),
      .text("12345678901234567890.10"), .integer(1), .text("2024-05-01 12:00:00.5"),
      .real(Double(Float(0.1))), .text("[1,\n\"a\"]"), .blob([0, 255]),
    ],
    [.integer(2), .text(""), .null, .null, .null, .real(.infinity), .null, .null],
  ]

  private func text(
    _ format: FetchFormat,
    _ attributes: [Attribute],
    _ rows: [[StoredValue]],
    width: Int? = nil
  ) throws -> String {
    let output = OutputBuffer(descriptor: nil)
    var writer = format.writer(for: attributes, to: output, columnCount: width)
    for row in rows { try writer.write(row) }
    try writer.finish()
    return String(decoding: output.bytes, as: UTF8.self)
  }

  private static let first =
    #"{"id":9007199254740993,"name":"Ann \"A\"\n|,\t\\","pay":12345678901234567890.10,"ok":true,"#
    + #""at":"2024-05-01T12:00:00.5Z","x":0.1,"tags":[1, "a"],"raw":"AP8="}"#
  private static let second =
    #"{"id":2,"name":"","pay":null,"ok":null,"at":null,"x":9e999,"tags":null,"raw":null}"#

  @Test("NDJSON is one object a line, typed")
  func ndjson() throws {
    #expect(
      try text(.ndjson, Self.attributes, Self.rows) == Self.first + "\n" + Self.second + "\n"
    )
    #expect(try text(.ndjson, Self.attributes, []).isEmpty)
  }

  @Test("JSON is one array")
  func json() throws {
    #expect(
      try text(.json, Self.attributes, Self.rows)
        == "[\n" + Self.first + ",\n" + Self.second + "\n]\n"
    )
    #expect(try text(.json, Self.attributes, []) == "[]\n")
  }

  @Test("CSV is RFC 4180, null and the empty string apart")
  func csv() throws {
    #expect(
      try text(.csv, Self.attributes, Self.rows)
        == "id,name,pay,ok,at,x,tags,raw\r\n"
        + "9007199254740993,\"Ann \"\"A\"\"\n|,\t\\\",12345678901234567890.10,true,"
        + "2024-05-01T12:00:00.5Z,0.1,\"[1,\n\"\"a\"\"]\",AP8=\r\n"
        + "2,\"\",,,,inf,,\r\n"
    )
    #expect(try text(.csv, Self.attributes, []) == "id,name,pay,ok,at,x,tags,raw\r\n")
    #expect(try text(.csv, [Attribute(name: "a")], [[.text("x\r\ny")]]) == "a\r\n\"x\r\ny\"\r\n")
  }

  @Test("TSV is the same with tabs, as imports read it")
  func tsv() throws {
    #expect(
      try text(.tsv, Self.attributes, Self.rows)
        == "id\tname\tpay\tok\tat\tx\ttags\traw\r\n"
        + "9007199254740993\t\"Ann \"\"A\"\"\n|,\t\\\"\t12345678901234567890.10\ttrue\t"
        + "2024-05-01T12:00:00.5Z\t0.1\t\"[1,\n\"\"a\"\"]\"\tAP8=\r\n"
        + "2\t\"\"\t\t\t\tinf\t\t\r\n"
    )
  }

  @Test("Markdown escapes what would be markup")
  func markdown() throws {
    let attributes = [Attribute(name: "n", type: .int32), Attribute(name: "a_b")]
    let rows: [[StoredValue]] = [[.integer(1), .text("x|*y*\n<b>\u{1B}[0m")], [.null, .null]]
    #expect(
      try text(.markdown, attributes, rows) == """
        | n | a\\_b |
        | ---: | --- |
        | 1 | x\\|\\*y\\*<br>&lt;b>\\\\u{1b}\\[0m |
        |  |  |

        """
    )
  }

  @Test("Lines are aligned at the equals sign")
  func line() throws {
    let attributes = [Attribute(name: "id", type: .int32), Attribute(name: "名前")]
    #expect(
      try text(.line, attributes, [[.integer(1), .text("a\nb")], [.integer(2), .null]]) == """
          id = 1
        名前 = a\\nb

          id = 2
        名前 = ∅

        """
    )
  }

  @Test("A table aligns wide and combining characters, numbers to the right")
  func table() throws {
    let attributes = [
      Attribute(name: "city"), Attribute(name: "n", type: .int32), Attribute(name: "note"),
    ]
    let rows: [[StoredValue]] = [
      [.text("東京"), .integer(5), .text("a\tb\u{202E}")],
      [.text("Mu\u{308}nchen"), .integer(12_345), .null],
      [.text("👩‍👩‍👧🇳🇴"), .null, .text("")],
    ]
    #expect(
      try text(.table, attributes, rows)
        == """
        city         n  note
        ───────  ─────  ────────────
        東京         5  a\\tb\\u{202e}
        Mu\u{308}nchen  12345  ∅
        👩‍👩‍👧🇳🇴         ∅  \


        """.replacing("\n\n", with: "\n")
    )
  }

  @Test("A table fits the terminal: wide columns give way, what is cut ends in an ellipsis")
  func narrow() throws {
    let attributes = [
      Attribute(name: "id", type: .int32), Attribute(name: "a"), Attribute(name: "b"),
    ]
    let long = String(repeating: "x", count: 100)
    let rows: [[StoredValue]] = [[.integer(1), .text(long), .text("日本語日本語日本語日本語")]]
    #expect(
      try text(.table, attributes, rows, width: 26) == """
        id  a           b
        ──  ──────────  ──────────
         1  xxxxxxxxx…  日本語日…

        """
    )
    #expect(try text(.table, attributes, rows).contains(long))
    #expect(
      try text(.table, attributes, [], width: 26) == "id  a  b\n──  ─  ─\n"
    )
  }

  @Test("Rows behind the first window keep its columns")
  func window() throws {
    let attributes = [Attribute(name: "a"), Attribute(name: "b")]
    let short: [StoredValue] = [.text("x"), .text("y")]
    let rows = Array(repeating: short, count: 500) + [[.text("longer"), .text("z")]]
    #expect(
      try text(.table, attributes, rows)
        == "a  b\n─  ─\n" + String(repeating: "x  y\n", count: 500) + "longer  z\n"
    )
  }

  @Test("JSON with line ends of two bytes stays on one line")
  func lineEnds() throws {
    let rows: [[StoredValue]] = [[.text("{\r\n\"a\":\r1\n}")]]
    #expect(
      try text(.ndjson, [Attribute(name: "doc", type: .json)], rows)
        == "{\"doc\":{  \"a\": 1 }}\n"
    )
  }
}
