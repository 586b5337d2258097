import CSimdJSON
import Testing

@testable import Dragoman

@Suite struct TapeJSONTests {
  @Test(
    "An XML element becomes JSON by the convention",
    arguments: [
      ("<p/>", #""""#),
      ("<p> a\tb </p>", #"" a\tb ""#),
      (
        "<p id='1'><name>Ada</name><tel>1</tel><x/><tel>2</tel></p>",
        #"{"@id":"1","name":"Ada","tel":["1","2"],"x":""}"#
      ),
      ("<p id='1'>text</p>", #"{"@id":"1","text()":"text"}"#),
      ("<p>a<b c='&quot;\\'>é</b>d</p>", #"{"b":{"@c":"\"\\","text()":"é"},"text()":"ad"}"#),
      (
        "<p><n i:nil='1' xmlns:i='http://www.w3.org/2001/XMLSchema-instance'/><n>1</n></p>",
        #"{"n":[null,"1"]}"#
      ),
      ("<p xmlns:a='u' k='1' a:k='2'><a:m/><m/></p>", #"{"@k":["1","2"],"m":["",""]}"#),
    ]
  )
  func elements(document: String, json: String) throws {
    let reader = try XMLReader(
      source: MemorySource(document),
      paths: [XMLRecordPath([.any])]
    )
    let batch = RecordBatch()
    #expect(try !reader.read(into: batch, limit: 10))
    var bytes: [UInt8] = []
    batch.appendJSON(of: batch.records[0].node, to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == json)
  }

  @Test("JSON nodes come out as they came in")
  func values() {
    let batch = RecordBatch()
    let text = Array("k1.50a\u{1}\"/\u{8}\u{C}\r\n\u{1F}é".utf8)
    let (start, _) = text.withUnsafeBytes { batch.append($0) }
    func node(_ kind: Int, _ text: Range<UInt32> = 0..<0, isMember: Bool = false, next: UInt32) {
      batch.append(
        TapeNode(
          text: start + text.lowerBound,
          length: UInt32(text.count),
          key: start,
          keyLength: isMember ? 1 : 0,
          next: next,
          origin: 0,
          space: 0,
          kind: UInt8(kind),
          flags: 0
        )
      )
    }
    node(TAPE_OBJECT, next: 9)
    node(TAPE_NUMBER, 1..<5, isMember: true, next: 2)
    node(TAPE_STRING, 5..<UInt32(text.count), isMember: true, next: 3)
    node(TAPE_ARRAY, isMember: true, next: 8)
    node(TAPE_TRUE, next: 5)
    node(TAPE_FALSE, next: 6)
    node(TAPE_NULL, next: 7)
    node(TAPE_OBJECT, next: 8)
    node(TAPE_ARRAY, isMember: true, next: 9)
    var json: [UInt8] = []
    batch.appendJSON(of: 0, to: &json)
    #expect(
      String(decoding: json, as: UTF8.self)
        == #"{"k":1.50,"k":"a\u0001\"/\b\f\r\n\u001fé","k":[true,false,null,{}],"k":[]}"#
    )
  }
}
