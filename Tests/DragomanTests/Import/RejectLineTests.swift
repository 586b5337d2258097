import Dragoman
import DragomanGraph
import Foundation
import Testing

/// Lines of rejects files, read and mended by a program.
@Suite struct RejectLineTests {
  private func lines(_ text: String) throws -> [RejectLine] {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try Data(text.utf8).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    let reader = try RejectLines(url.path)
    var lines: [RejectLine] = []
    while let line = try reader.next() { lines.append(line) }
    return lines
  }

  private static let line =
    #"{"file":"a.json","line":3,"byte":40,"index":2,"entity":"P","key":"7","code":"value.date","attribute":"d","path":"d","value":"\"x\"","message":"No.","record":{"n":1.50,"d":"x"},"source":"s","format":"json","root":{"a":[1]}}"#

  @Test("A line tells what was rejected, where and why, and the record with its numbers as spelled")
  func reading() throws {
    let line = try #require(try lines(Self.line + "\n").first)
    #expect(line.file == "a.json" && line.line == 3 && line.index == 2)
    #expect(line.entity == "P" && line.attribute == "d" && line.code == "value.date")
    #expect(line.path == "d" && line.value == "\"x\"" && line.key == "7")
    #expect(try line.record() == #"{"n":1.50,"d":"x"}"#)
    #expect(!line.isSourceText)
  }

  @Test("Another record takes the place of the old one; all else stays as it is")
  func mending() throws {
    let line = try #require(try lines(Self.line + "\n").first)
    let bytes = try line.replacingRecord(with: "{\n \"n\": 2.500,\n \"d\": null }")
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(
      text == Self.line.replacing(#"{"n":1.50,"d":"x"}"#, with: #"{"n":2.500,"d":null}"#) + "\n"
    )
  }

  @Test("Source text of XML is a string before and after")
  func sourceText() throws {
    let xml = Self.line.replacing(#"{"n":1.50,"d":"x"}"#, with: #""<p a=\"1\">\n</p>""#)
      .replacing(#""format":"json""#, with: #""format":"xml""#)
    let line = try #require(try lines(xml).first)
    #expect(line.isSourceText)
    #expect(try line.record() == "<p a=\"1\">\n</p>")
    let mended = try line.replacingRecord(with: "<p a=\"2\"/>")
    let again = try #require(try lines(String(decoding: mended, as: UTF8.self)).first)
    #expect(try again.record() == "<p a=\"2\"/>")
  }

  @Test("A string that is JSON is edited as JSON; what could not be read of JSON is text")
  func string() throws {
    let string = Self.line.replacing(#"{"n":1.50,"d":"x"}"#, with: #""text""#)
    let line = try #require(try lines(string).first)
    #expect(try !line.isSourceText && line.record() == #""text""#)
    let mended = try line.replacingRecord(with: #"{"n":1}"#)
    #expect(String(decoding: mended, as: UTF8.self).contains(#""record":{"n":1},"#))
    let unread = string.replacing("value.date", with: "record.syntax")
    let other = try #require(try lines(unread).first)
    #expect(try other.isSourceText && other.record() == "text")
  }

  @Test(
    "What is no JSON is refused with its place",
    arguments: ["", "{", "{\"a\":1}}", "nope", "{\"a\":01}"]
  )
  func malformed(text: String) throws {
    let line = try #require(try lines(Self.line).first)
    #expect {
      try line.replacingRecord(with: text)
    } throws: { [.json, .truncated].contains(($0 as? ReadError)?.code) }
  }

  @Test(
    "Bytes that are no UTF-8 are told by their numbers, and stay until another record takes their place"
  )
  func bytes() throws {
    let bytes = Array("{\"t\":\"Andr".utf8) + [0xE9] + Array("\"}".utf8)
    let member = "\"recordBytes\":\"\(Data(bytes).base64EncodedString())\""
    let line = try #require(
      try lines(
        Self.line.replacing(#""record":{"n":1.50,"d":"x"}"#, with: member)
          .replacing("value.date", with: "record.syntax") + "\n"
      ).first
    )
    #expect(line.isSourceText && line.recordBytes == bytes)
    #expect(try line.record() == #"{"t":"Andr\xE9"}"#)
    #expect(try line.replacingRecord(with: #"{"t":"Andr\xE9"}"# + "\n") == line.bytes)
    let mended = try line.replacingRecord(with: #"{"t":"André"}"#)
    let text = String(decoding: mended, as: UTF8.self)
    #expect(text.contains(#""record":"{\"t\":\"André\"}""#) && !text.contains("recordBytes"))
  }

  @Test("A root that cannot be read is told with its record, and not taken for one without members")
  func brokenRoot() async throws {
    let fixture = try ImportFixture(attributes: "v: $root/a")
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: url) }
    let whole =
      #"{"file":"a.json","line":3,"byte":40,"index":2,"entity":"P","code":"value.date","message":"No.","record":{"id":1},"format":"json","root":{"a":"x"}}"#
    let broken = whole.replacing("\"id\":1", with: "\"id\":2").replacing(
      #"{"a":"x"}"#,
      with: "\"{a\""
    )
    try Data((broken + "\n" + whole + "\n").utf8).write(to: url)
    let report = try await Importer(map: fixture.map, store: fixture.store)
      .run(ImportRequest([.rejects(url.path)]))
    #expect(report.summary == "read 2, inserted 1, rejected 1")
    #expect(try sql(fixture.store, "SELECT id, v FROM P") == ["1|x"])
  }
}
