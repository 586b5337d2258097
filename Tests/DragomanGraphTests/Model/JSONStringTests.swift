import Testing

@testable import DragomanGraph

@Suite("Strings of JSON") struct JSONStringTests {
  @Test(
    "Each spelling escapes what it has to, and what it promises",
    arguments: [
      (.short, #""a\"\\/\b\t\n\f\r\u0000\u001f\u{7F}<é\u{2028}𝄞""#),
      (.lines, #""a\"\\/\u0008\t\n\u000c\r\u0000\u001f\u{7F}<é\u{2028}𝄞""#),
      (.codes, #""a\"\\/\u0008\u0009\u000a\u000c\u000d\u0000\u001f\u{7F}<é\u{2028}𝄞""#),
      (.script, #""a\"\\/\u0008\t\n\u000c\r\u0000\u001f\u{7F}\u003cé\u2028𝄞""#),
    ] as [(JSONString.Spelling, String)]
  )
  func spellings(spelling: JSONString.Spelling, json: String) {
    let text = "a\"\\/\u{8}\t\n\u{C}\r\0\u{1F}\u{7F}<é\u{2028}𝄞"
    let wanted = json.replacing(#"\u{7F}"#, with: "\u{7F}").replacing(
      #"\u{2028}"#,
      with: "\u{2028}"
    )
    #expect(JSONString.quoted(text, spelling) == wanted)
  }

  @Test(
    "What looks like a line separator at the end of a text is none",
    arguments: ["", "…", "\u{2030}"]
  )
  func ends(end: String) {
    #expect(JSONString.quoted("x" + end, .script) == "\"x\(end)\"")
  }

  @Test("A text in several pieces of bytes is appended behind what is there")
  func appending() {
    var json = Array("[".utf8)
    Array("a\nb".utf8).withUnsafeBytes { JSONString.append($0, to: &json) }
    #expect(String(decoding: json, as: UTF8.self) == #"["a\nb""#)
  }
}
