import Testing

@testable import Dragoman

@Suite("Encodings that a text may not have") struct EncodingDoubtTests {
  private func doubt(_ bytes: [UInt8], _ encoding: String, stride: Int = 1 << 16) throws -> String?
  {
    let doubt = EncodingDoubt()
    let decoder = try TextDecoder(
      MemorySource(bytes, stride: stride),
      encoding: encoding,
      doubt: doubt
    )
    try withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { room in
      while try decoder.read(into: room) > 0 {}
    }
    return doubt.notice
  }

  @Test("What is in its encoding is in no doubt", arguments: TextDecoderTests.encodings)
  func sound(encoding: String, text: String) throws {
    let bytes = try TextDecoderTests.encode(text, encoding)
    #expect(try doubt(bytes, encoding) == nil)
  }

  @Test(
    "UTF-8 is told, however it is cut and whatever signs it has",
    arguments: ["ISO-8859-1", "KOI8-R", "windows-1252", "IBM850"],
    [1, 2, 3, 1000]
  )
  func misread(encoding: String, stride: Int) throws {
    for text in ["é", "naïve", "日本語", "a😀", "Größe\n€"] {
      let notice = try #require(try doubt(Array(text.utf8), encoding, stride: stride), "\(text)")
      #expect(notice.hasPrefix("it was read as \(encoding), but all of it is UTF-8, too"))
    }
    for text in ["", "abc"] {
      #expect(try doubt(Array(text.utf8), encoding, stride: stride) == nil)
    }
    for bytes in [[0xC3], [0xC3, 0x41], [0xE9], [0xC3, 0xA9, 0xE9], [0xC3, 0xA9, 0xA9]] as [[UInt8]]
    {
      #expect(try doubt(bytes, encoding, stride: stride) == nil, "\(bytes)")
    }
  }

  @Test(
    "An import says which of its inputs may have come in wrong",
    arguments: [
      ("csv", "id,n\n1,", "\n"), ("ndjson", #"{"id":"1","n":""#, "\"}\n"),
      ("json", #"[{"id":"1","n":""#, "\"}]"),
      ("xml", #"<?xml version="1.0" encoding="windows-1252"?><r><p><id>1</id><n>"#, "</n></p></r>"),
    ]
  )
  func told(format: String, head: String, tail: String) async throws {
    let records = format == "xml" ? ", records: /r/p" : ""
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { T: { unique: id, attributes: { id: id, n: n } } }
      sources: { s: { format: \(format), entity: T, encoding: windows-1252\(records) } }
      """
    )
    let names: [[UInt8]] = [Array("Zoë".utf8), [0x5A, 0x6F, 0xEB], Array("Zoe".utf8)]
    let inputs = names.enumerated().map { number, name in
      ImportInput.bytes(Array(head.utf8) + name + Array(tail.utf8), name: "\(number).\(format)")
    }
    let report = try await Importer(map: fixture.map, store: fixture.store).run(
      ImportRequest(inputs)
    )
    #expect(report.counts.read == 3)
    #expect(
      report.notices == [
        "0.\(format): it was read as windows-1252, but all of it is UTF-8, too: if it is, “é” has come in as “Ã©”"
      ]
    )
  }

  @Test("A text that is not in its encoding is refused, with what it is as far as it goes")
  func refused() throws {
    // 0x81 means nothing in windows-1252, and ends "Á" in UTF-8.
    let error = #expect(throws: ReadError.self) {
      _ = try doubt(Array("né Álvaro".utf8), "windows-1252")
    }
    #expect(
      error?.help == "name the encoding that the file really has: as far as it was read it is UTF-8"
    )
  }
}
