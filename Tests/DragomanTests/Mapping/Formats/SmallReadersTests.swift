import DragomanGraph
import Testing

@testable import Dragoman

@Suite("Booleans, UUIDs, bytes, URLs and white space")
struct SmallReadersTests {
  @Test("Booleans are the declared words, byte for byte")
  func booleans() throws {
    let reader = try BooleanReader(trueValues: ["Y", "ja"], falseValues: ["N", "n\u{E9}"])
    let words = ["Y", "ja", "N", "n\u{E9}", "ne\u{301}", "y", "", "Y ", "true", "j"]
    let meanings = words.map { word in withBytes(of: word) { reader.read($0) } }
    #expect(meanings == [true, true, false, false, nil, nil, nil, nil, nil, nil])
  }

  @Test("Without words no string is a boolean; the plain ones are four")
  func plainBooleans() throws {
    let none = try BooleanReader()
    let words = ["true", "1", "false", "0", "TRUE", "yes", "", "01"]
    #expect(words.map { word in withBytes(of: word) { none.read($0) } } == words.map { _ in nil })
    #expect(
      words.map { word in withBytes(of: word) { BooleanReader.plain.read($0) } }
        == [true, true, false, false, nil, nil, nil, nil]
    )
  }

  @Test("A word cannot mean true and false")
  func ambiguousBooleans() {
    #expect(throws: FormatFault("\"x\" is a word for true and for false.")) {
      try BooleanReader(trueValues: ["y", "x"], falseValues: ["x"])
    }
  }

  @Test(
    "UUIDs are 8-4-4-4-12 in any case and become lowercase",
    arguments: [
      ("123E4567-e89B-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"),
      ("00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000000"),
      ("{123e4567-e89b-12d3-a456-426614174000}", nil),
      ("urn:uuid:123e4567-e89b-12d3-a456-426614174000", nil),
      ("123e4567e89b12d3a456426614174000", nil), ("123e4567-e89b-12d3-a456-42661417400", nil),
      ("123e4567-e89b-12d3-a456-42661417400g", nil), ("123e4567-e89b-12d3-a45-6426614174000", nil),
      ("", nil), (" 23e4567-e89b-12d3-a456-426614174000", nil),
    ]
  )
  func uuids(text: String, expected: String?) {
    #expect(converted(text) { UUIDText.read($0, into: $1) } == expected)
  }

  private func bytes(_ text: String) -> [UInt8]? {
    withBytes(of: text) { bytes in
      let capacity = BinaryText.capacity(byteCount: bytes.count)
      return withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 1) { output in
        BinaryText.read(bytes, into: output).map { Array(output[..<$0]) }
      }
    }
  }

  @Test(
    "Base64 and marked hexadecimal give their bytes",
    arguments: [
      ("", []), ("AA==", [0]), ("AA", [0]), ("AAE=", [0, 1]), ("AAE", [0, 1]), ("AAEC", [0, 1, 2]),
      ("+/+/", [0xFB, 0xFF, 0xBF]), ("-_-_", [0xFB, 0xFF, 0xBF]), ("\\x00ffA0", [0, 0xFF, 0xA0]),
      ("\\x", []), ("abcd", [0x69, 0xB7, 0x1D]),
    ] as [(String, [UInt8])]
  )
  func data(text: String, expected: [UInt8]) {
    #expect(bytes(text) == expected)
  }

  @Test(
    "Anything else is no data",
    arguments: [
      "A", "A===", "AA=", "AAE==", "AAAA=", "=", "==", "AB==", "AAF=", "AA==AA==", "AA EC",
      "AAEC\n",
      "+_+_", "ÅAAA", "\\x0", "\\xzz", "A=AA",
    ]
  )
  func noData(text: String) {
    #expect(bytes(text) == nil)
  }

  @Test("Every byte comes back from its hexadecimal spelling")
  func hexadecimal() {
    let text = "\\x" + (0...255).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    #expect(bytes(text) == Array(0...255))
  }

  @Test(
    "Absolute URLs are URLs",
    arguments: [
      "https://example.org", "https://example.org/a?b=c&d=%20#e", "HTTP://EXAMPLE.ORG:8080/",
      "http://[::1]/x", "mailto:a@example.org", "urn:isbn:0451450523", "file:///tmp/x",
      "https://no.wikipedia.org/wiki/Bodø", "ftp://u:p@h/", "tel:+4790000001", "https://例え.jp/",
      "data:text/plain,hi", "https://example.org/?q[]=1",
    ]
  )
  func urls(text: String) {
    #expect(withBytes(of: text) { URLText.isURL($0) })
  }

  @Test(
    "Relative, broken and dangerous-looking text is no URL",
    arguments: [
      "", ":", "a:", "://x", "www.example.org", "/path", "//host/x", "example", "http:", "http://",
      "http:///x", "http:x", "https://?x", "http://a b", "http://a\n", "1http://x", "ht tp://x",
      "http://x/%", "http://x/%2", "http://x/%zz", "http://x/<y>", "http://x/\"", "http://x/{y}",
      "http://x/\u{A0}", "http://x/\u{7F}", " http://x", "http://x/\\y", "ø://x", "http://:80/",
    ]
  )
  func noURLs(text: String) {
    #expect(!withBytes(of: text) { URLText.isURL($0) })
  }

  @Test("Bytes that are no UTF-8 are no URL and no white space")
  func invalidUTF8() {
    let url: [UInt8] = Array("http://x/".utf8) + [0xFF]
    #expect(!url.withUnsafeBytes { URLText.isURL($0) })
    let text: [UInt8] = [0x20, 0xC2, 0x20]
    #expect(text.withUnsafeBytes { Array($0.trimmed) } == [0xC2])
    let overlong: [UInt8] = [0xE0, 0x80, 0xA0]
    #expect(overlong.withUnsafeBytes { Array($0.trimmed) } == overlong)
  }

  @Test(
    "White space of all kinds is trimmed at both ends only",
    arguments: [
      ("", ""), (" ", ""), (" a b\t", "a b"), ("\r\n\u{B}\u{C}x\n", "x"),
      ("\u{A0}\u{3000}é\u{2003}", "é"),
      ("\u{85}\u{2028}\u{202F}", ""), ("\u{200B}x", "\u{200B}x"), ("\u{FEFF}x", "\u{FEFF}x"),
    ]
  )
  func trimming(text: String, expected: String) {
    let trimmed = withBytes(of: text) { String(decoding: $0.trimmed, as: UTF8.self) }
    #expect(trimmed.utf8.elementsEqual(expected.utf8))
  }
}
