import Testing

@testable import Dragoman

@Suite struct FormatDetectionTests {
  private func format(_ bytes: [UInt8], stride: Int = .max) throws -> ForeignFormat {
    let source = PeekableSource(MemorySource(bytes, name: "feed", stride: stride))
    let map = SourceMap(name: "s", format: .json, entity: "P")
    return try FormatDetection.format(of: source, name: "feed", sources: [map])
  }

  private static let large = String(repeating: "x", count: 100_000)

  private static let lines: [LongText] = [
    "{\"a\":1}\n{\"b\":2}\n", "\n\n{\"a\":1}\n\n \n{\"b\":2}", "\u{FEFF}{\"a\":1}\r\n{\"b\":2}\r\n",
    "[1,2]\n{\"b\":2}\n", "[]\n[]", "\"text\"\n{\"b\":2}\n", "17\n{\"b\":2}\n", "-1.5e3\n{}",
    "null\n{\"b\":2}\n", "true\nfalse\n", "{\"a\":1}\n[1]\n", "{\"a\":1}\nnull\n", "{}\n\"x\"",
    "{\"a\":\"\(large)\"}\n{\"b\":2}\n", "[\"\(large)\",\"\(large)\"]\n{}\n", "\"\(large)\"\n1\n",
    "{\"a\":1}\(String(repeating: " ", count: 70_000))\n{\"b\":2}\n",
    "{\"a\":1}\n\(String(repeating: "\n", count: 70_000)){\"b\":2}\n",
    "{\"a\":\"\\\"}{\"}\n{\"b\":2}\n",
  ]

  @Test("A line of JSON and another behind it are NDJSON, whatever they hold", arguments: lines)
  func lineDelimited(argument: LongText) throws {
    let text = argument.text
    for stride in [1000, .max] { #expect(try format(Array(text.utf8), stride: stride) == .ndjson) }
    let units = text.drop { $0 == "\u{FEFF}" }.utf16
    let little = units.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
    // Of wide characters no more than the first window is looked at.
    if units.count < 10_000 { #expect(try format([0xFF, 0xFE] + little) == .ndjson) }
  }

  private static let texts: [LongText] = [
    "{\"a\":1}", "{\"a\":1}\n", "[{\"a\":1},\n{\"b\":2}]", "{\n\"a\":1}\n", "[\n1\n]\n\n", "{}",
    "\"a\"\n", "1", "{\"a\":\n1}\n{\"b\":2}\n", "{\"a\":1} {\"b\":2}\n", "{\"a\":1}\nrest",
    "{\"a\":\"\(large)\"}", "[\(String(repeating: "1,\n", count: 50_000))1]",
    "[\(String(repeating: "[1,2],", count: 1_000_000))1]", "{\"a\":1", "[1,2\n",
  ]

  @Test("One value, or one that goes over lines, is JSON", arguments: texts)
  func json(argument: LongText) throws {
    #expect(try format(Array(argument.text.utf8)) == .json)
  }

  @Test(
    "XML in EBCDIC is XML, also where a map reads CSV, and under a name of CSV what the name says"
  )
  func ebcdic() throws {
    #expect(try format(XMLEncodingTests.ebcdic) == .xml)
    let maps = [ForeignFormat.xml, .csv].map { SourceMap(name: "s", format: $0, entity: "P") }
    for (name, wanted) in [("feed", ForeignFormat.xml), ("feed.csv", .csv)] {
      let source = PeekableSource(MemorySource(XMLEncodingTests.ebcdic, name: name))
      #expect(try FormatDetection.format(of: source, name: name, sources: maps) == wanted)
    }
  }

  @Test("Where one line is read as JSON and has no records there, the source of lines is named")
  func singleLine() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { A: { unique: id, attributes: { id: { type: int64 } } } }
      sources:
        whole: { format: json, entity: A, records: /items }
        lines: { format: ndjson, entity: A }
      """
    )
    let error = await #expect(throws: ImportFailure.self) { try await fixture.run(#"{"id":1}"#) }
    let cause = try #require(error?.cause as? ReadError)
    #expect(cause.code == .noRecords && cause.help?.contains("= [\"lines\"]` says so") == true)
  }

  @Test("Where members of an object are wanted and a list stands, that is told")
  func listForMembers() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: { type: int64 } } } }
      sources: { ps: { format: json, entity: P, records: /p/* } }
      """
    )
    let error = await #expect(throws: ImportFailure.self) {
      try await fixture.run(#"{"p":[{"id":1}]}"#)
    }
    let help = (error?.cause as? ReadError)?.help
    #expect(
      help?.contains("/p/* means the members of an object, not the elements of a list") == true
    )
  }

  @Test("Lines behind a long one, or one of another kind, are imported")
  func imports() async throws {
    let fixture = try ImportFixture(attributes: "v:")
    let long = #"{"id":1,"v":"\#(Self.large)"}"#
    let first = try await fixture.run("\(long)\n{\"id\":2}\n")
    #expect(first.summary == "read 2, inserted 2")
    let second = try await fixture.run("[]\n{\"id\":3}\n\"x\"\n{\"id\":4}\n")
    #expect(second.summary == "read 4, inserted 2, rejected 2")
  }
}
