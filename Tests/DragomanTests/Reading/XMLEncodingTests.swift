import Testing

@testable import Dragoman

@Suite struct XMLEncodingTests {
  /// Bytes of a text in an encoding whose characters are those of Unicode, in two or four bytes.
  private static func wide(_ text: String, width: Int, isBig: Bool) -> [UInt8] {
    let units = width == 2 ? text.utf16.map(UInt32.init) : text.unicodeScalars.map(\.value)
    return units.flatMap { unit in
      let bytes = (0..<width).map { UInt8(truncatingIfNeeded: unit >> (8 * UInt32($0))) }
      return isBig ? bytes.reversed() : bytes
    }
  }

  private static func document(_ encoding: String, _ text: [UInt8]) -> [UInt8] {
    Array("<?xml version=\"1.0\" encoding=\"\(encoding)\"?><r><p>".utf8) + text
      + Array("</p></r>".utf8)
  }

  private static let plain = "<r><p>é😀</p></r>"
  private static let utf16 = "<?xml version='1.0' encoding='UTF-16'?><r><p>é😀</p></r>"

  /// `<?xml version='1.0' encoding='IBM037'?><r><p>é</p></r>`, which is EBCDIC.
  static let ebcdic: [UInt8] = [
    0x4C, 0x6F, 0xA7, 0x94, 0x93, 0x40, 0xA5, 0x85, 0x99, 0xA2, 0x89, 0x96,
    0x95, 0x7E, 0x7D, 0xF1, 0x4B, 0xF0, 0x7D, 0x40, 0x85, 0x95, 0x83, 0x96,
    0x84, 0x89, 0x95, 0x87, 0x7E, 0x7D, 0xC9, 0xC2, 0xD4, 0xF0, 0xF3, 0xF7,
    0x7D, 0x6F, 0x6E, 0x4C, 0x99, 0x6E, 0x4C, 0x97, 0x6E, 0x51, 0x4C, 0x61,
    0x97, 0x6E, 0x4C, 0x61, 0x99, 0x6E,
  ]

  private static let documents: [([UInt8], String)] = [
    (ebcdic, "é"),
    ([0xEF, 0xBB, 0xBF] + Array(plain.utf8), "é😀"),
    (document("utf-8", Array("é😀".utf8)), "é😀"),
    ([0xFF, 0xFE] + wide(plain, width: 2, isBig: false), "é😀"),
    ([0xFE, 0xFF] + wide(plain, width: 2, isBig: true), "é😀"),
    ([0xFF, 0xFE] + wide(utf16, width: 2, isBig: false), "é😀"),
    (wide(utf16, width: 2, isBig: true), "é😀"),
    ([0xFF, 0xFE, 0, 0] + wide(plain, width: 4, isBig: false), "é😀"),
    (wide(plain, width: 4, isBig: true), "é😀"),
    (document("ISO-8859-1", [0xE9]), "é"),
    (document("windows-1252", [0x80, 0xE9]), "€é"),
    (document("ISO-8859-15", [0xA4]), "€"),
    (document("Shift_JIS", [0x93, 0xFA, 0x96, 0x7B]), "日本"),
    (document("EUC-JP", [0xC6, 0xFC]), "日"),
    (document("ISO-2022-JP", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x1B, 0x28, 0x42]), "日"),
    (document("GB18030", [0xC8, 0xD5]), "日"),
    (document("KOI8-R", [0xC4, 0xC1]), "да"),
  ]

  @Test("Every encoding is read, however it is told", arguments: documents)
  func encodings(document: [UInt8], text: String) throws {
    for stride in [1, .max] {
      let source = MemorySource(document, stride: stride)
      let reading = try readXML(source, ["/r/p"])
      #expect(reading.records == ["p \(text.debugDescription)"])
      #expect(reading.texts == ["<p>\(text)</p>"])
    }
  }

  @Test("A map may name the encoding of a document that does not")
  func fallback() throws {
    let document = Array("<r><p>".utf8) + [0xE9] + Array("</p></r>".utf8)
    let reader = try XMLReader(
      source: MemorySource(document),
      paths: [recordPath("/r/p")],
      encoding: "ISO-8859-1"
    )
    let batch = RecordBatch()
    #expect(try !reader.read(into: batch, limit: 10))
    #expect(batch.records.map { tapeText(batch, Int($0.node)) } == [#"p "é""#])
  }

  @Test(
    "Of a fault of the text and one of its encoding behind it the first is told",
    arguments: [1, 2, 1000]
  )
  func faults(limit: Int) throws {
    let before =
      "<?xml version=\"1.0\" encoding=\"UTF-7\"?>\n<r>\n <p>x</p>\n <p Z\">\n <p a=\"1\">\n >\n <p>y</p> <p b"
    let document = Array(before.utf8) + [0xD6] + Array("=\"true\">z</p>\n</r>".utf8)
    for stride in [1, 3, .max] {
      let error = #expect(throws: ReadError.self) {
        let source = PeekableSource(MemorySource(document, stride: stride))
        let reader = try XMLReader(source: source, paths: [XMLRecordPath([.any])])
        let batch = RecordBatch()
        while try reader.read(into: batch, limit: limit) {}
      }
      #expect(error?.code == .xml)
      #expect(error?.origin?.line == 4)
    }
  }

  /// Documents, and what is said about them.
  private static let liars: [([UInt8], String)] = [
    (document("UTF-8", [0xE9]), "The text is not valid UTF-8."),
    (
      document("US-ASCII", [0xE9]),
      "The text holds bytes that are not valid in US-ASCII, at byte 47 of its encoded form."
    ),
    (
      document("UTF-16", [0x41]),
      """
      The XML declaration of memory names the encoding "UTF-16", but the text is written in \
      single bytes.
      """
    ),
    (
      [0xEF, 0xBB, 0xBF] + document("ISO-8859-1", [0x41]),
      """
      The XML declaration of memory names the encoding "ISO-8859-1", but the text is written in \
      UTF-8.
      """
    ),
    (
      [0xFF, 0xFE] + wide("<?xml version='1.0' encoding='UTF-8'?><r/>", width: 2, isBig: false),
      """
      The XML declaration of memory names the encoding "UTF-8", but the text is written in \
      UTF-16LE.
      """
    ),
    (
      [0xFF, 0xFE] + wide("<r/>", width: 2, isBig: false) + [0x41],
      "The text ends in the middle of a character in UTF-16LE, at byte 8 of its encoded form."
    ),
    (
      [0xFF, 0xFE] + [0x3C, 0, 0x3C, 0xD8, 0x3C, 0],
      "The text holds bytes that are not valid in UTF-16LE, at byte 2 of its encoded form."
    ),
    (document("x-nope", [0x41]), "The encoding \"x-nope\" of memory is not known."),
    (
      document("UTF-8//IGNORE", [0xE9]),
      "The encoding \"UTF-8//IGNORE\" of memory is not known."
    ),
  ]

  @Test("A document that lies about its encoding is refused", arguments: liars)
  func lies(document: [UInt8], message: String) {
    let error = #expect(throws: ReadError.self) {
      try readXML(MemorySource(document), ["/r/p"])
    }
    #expect(error?.code == .encoding)
    #expect(error?.message == message)
  }

  @Test("An XML declaration has to end early")
  func longDeclaration() {
    let spaces = String(repeating: " ", count: 2000)
    let error = #expect(throws: ReadError.self) {
      try readXML(MemorySource("<?xml version='1.0'\(spaces)encoding='x'?><r/>"), ["/r"])
    }
    #expect(error?.code == .limit)
  }
}
