import Testing

@testable import DragomanGraph

@Suite struct CompactJSONTests {
  @Test(
    "JSON is spelled as an import stores it",
    arguments: [
      (#" { "a" : [ 1 , 2.50 , "b c" ] } "#, #"{"a":[1,2.50,"b c"]}"#),
      ("{\r\n\"a\":\t1}", #"{"a":1}"#), (#""\u0041\/\u00e9""#, "\"A/é\""),
      (#""\ud83d\ude00""#, "\"😀\""), (#""\n\u000a\u001F\"\\""#, #""\n\n\u001f\"\\""#),
      (" null ", "null"), ("1e5", "1e5"), (#""\ud800""#, nil), (#""\ud800\u0041""#, nil),
      (#""a"#, nil), (#""a\"#, nil), ("", ""),
    ]
  )
  func compact(text: String, compact: String?) {
    #expect(CompactJSON.text(text).map { Array($0.utf8) } == compact.map { Array($0.utf8) })
  }

  @Test("What a program sets is stored so")
  func admitted() {
    let attribute = Attribute(name: "doc", type: .json)
    #expect(attribute.admitted(.text("{\r\n\"a\": 1}")) == .text(#"{"a":1}"#))
    #expect(attribute.admitted(.text("{")) == nil)
  }
}
