import CSimdJSON
import Testing

@testable import Dragoman

@Suite struct XMLReaderTests {
  @Test(
    "A document becomes this tape",
    arguments: [
      ("<r><p/></r>", ["p"]),
      ("<r><p></p><p> </p></r>", ["p", #"p " ""#]),
      (#"<r><p id="1" b=''>x</p></r>"#, [#"p "x" [@id "1", @b ""]"#]),
      ("<r><p><n>Ada</n><n>Grace</n></p></r>", [#"p [n "Ada", n "Grace"]"#]),
      ("<r>\n <p>\n  <n> a </n>\n  <m/>\n </p>\n</r>", [#"p [n " a ", m]"#]),
      // Mixed content: direct text without the children's, layout dropped, blanks in runs kept.
      ("<r><p> a <b>c</b> d <b/>\n</p></r>", [#"p " a  d " [b "c", b]"#]),
      ("<r><p>a<!-- x -->b<?y z?>c</p></r>", [#"p "abc""#]),
      ("<r><p> <!-- x --> </p></r>", [#"p "  ""#]),
      ("<r><p><![CDATA[<b>& ]]]]><![CDATA[>]]></p></r>", [#"p "<b>& ]]>""#]),
      ("<r><p>a<![CDATA[]]>b</p></r>", [#"p "ab""#]),
      ("<r><p>a &lt;&#65;&#x1F600; b</p></r>", [#"p "a <A😀 b""#]),
      ("<r><p a='&lt;&#10;\n x'/></r>", [#"p [@a "<\n  x"]"#]),
      // Line ends become line feeds (XML 1.0, 2.11), in CDATA too; references stay.
      ("<r><p>a\r\nb\rc&#13;</p></r>", [#"p "a\nb\nc\r""#]),
      ("<r><p><![CDATA[a\r\nb\rc\r]]>\n</p></r>", [#"p "a\nb\nc\n\n""#]),
      ("<r><p>é李</p></r>", [#"p "é李""#]),
      ("<r><é è='ü'/></r>", [#"é [@è "ü"]"#]),
    ]
  )
  func tape(document: String, records: [String]) throws {
    #expect(try readXML(MemorySource(document), ["/r/*"]).records == records)
    let slow = MemorySource(document, stride: 1)
    #expect(try readXML(slow, ["/r/*"]).records == records)
  }

  @Test(
    "xsi:nil makes null, whatever the element holds",
    arguments: [
      (#"<p x:nil="true"/>"#, "p null"),
      (#"<p x:nil="1" id="7"> <n>1</n></p>"#, "p null"),
      (#"<p><n x:nil="true"/><m>1</m></p>"#, #"p [n null, m "1"]"#),
      (
        #"<p x:nil="false"/>"#,
        #"p [@{http://www.w3.org/2001/XMLSchema-instance}nil "false"]"#
      ),
      (#"<p nil="true"/>"#, #"p [@nil "true"]"#),
    ]
  )
  func null(element: String, record: String) throws {
    let document = #"<r xmlns:x="http://www.w3.org/2001/XMLSchema-instance">"# + element + "</r>"
    #expect(try readXML(MemorySource(document), ["/r/p"]).records == [record])
  }

  @Test("Names are compared by namespace, never by prefix")
  func namespaces() throws {
    let document = """
      <r xmlns:a="u" xmlns:b="v"><a:p>1</a:p><p xmlns="u">2</p><p>3</p><b:p>4</b:p>\
      <a:p xmlns:a="v" a:k="x" k="y">5</a:p><b:p xmlns:b="u" b:k="z"/></r>
      """
    let names = ["one": "u", "two": "v"]
    #expect(
      try readXML(MemorySource(document), ["/r/one:p"], namespaces: names).records
        == [#"{u}p "1""#, #"{u}p "2""#, #"{u}p [@{u}k "z"]"#]
    )
    #expect(
      try readXML(MemorySource(document), ["/r/two:p"], namespaces: names).records
        == [#"{v}p "4""#, #"{v}p "5" [@{v}k "x", @k "y"]"#]
    )
    #expect(try readXML(MemorySource(document), ["/r/p"]).records == [#"p "3""#])
  }

  @Test("Internal entities are expanded, in text, attributes and as elements")
  func entities() throws {
    let document = """
      <!DOCTYPE r [<!ENTITY c "ACME"><!ENTITY d "&c; Ltd"><!ENTITY e "<n a='&c;'>x</n>">\
      <!ENTITY p "<p>1</p>"><!ATTLIST p k CDATA "default">]>
      <r><p at="&d;">at &d;!&e;</p>&p;</r>
      """
    let reading = try readXML(MemorySource(document), ["/r/p"])
    #expect(
      reading.records == [
        #"p "at ACME Ltd!" [@at "ACME Ltd", @k "default", n "x" [@a "ACME"]]"#,
        #"p "1" [@k "default"]"#,
      ]
    )
    #expect(reading.texts == [#"<p at="&d;">at &d;!&e;</p>"#, "&p;"])
  }

  @Test("Several record paths are read in one pass, each with its own numbers")
  func severalPaths() throws {
    let document = "<osm><node/><way><nd/><nd/></way><node/><x><node/></x></osm>"
    let paths = ["/osm/node", "/osm/way", "/osm/way/nd", "/osm/*", "/osm/relation"]
    let reader = try XMLReader(source: MemorySource(document), paths: paths.map { recordPath($0) })
    let batch = RecordBatch()
    #expect(try !reader.read(into: batch, limit: 100))
    let found = batch.records.map {
      "\($0.source) \($0.number) \(String(decoding: batch.sourceText(of: $0), as: UTF8.self))"
    }
    #expect(
      found == [
        "0 1 <node/>", "3 1 <node/>",
        "1 1 <way><nd/><nd/></way>", "3 2 <way><nd/><nd/></way>", "2 1 <nd/>", "2 2 <nd/>",
        "0 2 <node/>", "3 3 <node/>", "3 4 <x><node/></x>",
      ]
    )
    #expect(reader.recordCounts == [2, 1, 2, 4, nil])
  }

  @Test("A root element can be the record, and none need be found")
  func rootAndNone() throws {
    #expect(try readXML(MemorySource("<p>1</p>\n"), ["/p"]).records == [#"p "1""#])
    #expect(try readXML(MemorySource("<p>1</p>"), ["/q"]).records.isEmpty)
    #expect(try readXML(MemorySource("<p><p>1</p></p>"), ["/p/p"]).records == [#"p "1""#])
  }

  @Test("Every value knows its line, column and byte, in every batch")
  func origins() throws {
    let text =
      "\u{FEFF}<?xml version='1.0'?>\n<r>\n  <p k='é'><é/><n>1</n></p>\n\n <p/><p\n/>\n</r>"
    let expected = [
      "f.xml:3:3 (record 1, byte 31)", "f.xml:3:3 (record 1, byte 31)",
      "f.xml:3:12 (record 1, byte 41)", "f.xml:3:16 (record 1, byte 46)",
      "f.xml:5:2 (record 2, byte 61)", "f.xml:5:6 (record 3, byte 65)",
    ]
    for limit in [1, 2, 100] {
      for stride in [1, 100_000] {
        let source = MemorySource(Array(text.utf8), name: "f.xml", stride: stride)
        let reader = try XMLReader(source: source, paths: [recordPath("/r/p")])
        let batch = RecordBatch()
        var found: [String] = []
        var hasMore = true
        while hasMore {
          hasMore = try reader.read(into: batch, limit: limit)
          for record in batch.records {
            for node in Int(record.node)..<Int(batch.nodes[Int(record.node)].next) {
              let origin = batch.origin(at: batch.nodes[node].origin, record: record.number)
              found.append(origin.description)
            }
          }
        }
        #expect(found == expected)
      }
    }
  }

  @Test("Batches of any size, from sources of any pace, give the same records")
  func batches() throws {
    let document = mixedDocument(recordCount: 3000)
    let whole = try readXML(MemorySource(document), ["/r/p"], limit: .max)
    #expect(whole.numbers == Array(1...3000))
    for (limit, stride) in [(1, 100_000), (7, 1), (7, 4099), (1000, 1), (1000, .max)] {
      let source = MemorySource(Array(document.utf8), stride: stride)
      var reading = try readXML(source, ["/r/p"], limit: limit)
      #expect(reading.batchCount >= (3000 + limit - 1) / limit)
      reading.batchCount = whole.batchCount
      #expect(reading == whole)
    }
  }

  @Test("A batch never holds more records than asked for", arguments: [1, 2, 7, 63, 64, 65, 1000])
  func limit(limit: Int) throws {
    let source = MemorySource(mixedDocument(recordCount: 2000))
    let reader = try XMLReader(source: source, paths: [recordPath("/r/p")])
    let batch = RecordBatch()
    var counts: [Int] = []
    while try reader.read(into: batch, limit: limit) { counts.append(batch.records.count) }
    #expect(counts.allSatisfy { $0 <= limit })
    #expect(reader.recordCounts == [2000])
  }

  @Test("A record larger than a batch makes the batch larger")
  func largeRecord() throws {
    let field = "<n a='&lt;'>" + String(repeating: "x", count: 1000) + "&amp;</n>"
    let large = "<p>" + String(repeating: field, count: 4000) + "</p>"
    let document = "<r><p/>" + large + "<p>end</p></r>"
    for stride in [4093, .max] {
      let reading = try readXML(MemorySource(document, stride: stride), ["/r/p"])
      let child = #"n "\#(String(repeating: "x", count: 1000))&" [@a "<"]"#
      let children = Array(repeating: child, count: 4000).joined(separator: ", ")
      #expect(reading.records == ["p", "p [\(children)]", #"p "end""#])
      #expect(reading.texts == ["<p/>", large, "<p>end</p>"])
    }
  }

  @Test("A long feed needs no more memory than a short one")
  func constantMemory() throws {
    let record = "<p id='1'><n>é &amp; b</n><m>text</m></p>\n"
    var sizes: [[Int]] = []
    for recordCount in [100_000, 400_000] {
      let source = RepeatingSource(head: "<r>", body: record, count: recordCount, tail: "</r>")
      let reader = try XMLReader(source: source, paths: [recordPath("/r/p")])
      let batch = RecordBatch()
      while try reader.read(into: batch, limit: .max) {}
      #expect(reader.recordCounts == [recordCount])
      sizes.append([batch.source.count, batch.arena.count, batch.nodes.count])
    }
    #expect(sizes[0] == sizes[1])
    #expect(sizes[0][0] < 4 << 20)
  }

  @Test("What stands outside of the records fills no batch")
  func skippedParts() throws {
    let body = "<q><p>not here</p>some text &amp; more</q>\n"
    let source = RepeatingSource(
      head: "<r><p>1</p>",
      body: body,
      count: 100_000,
      tail: "<p>2</p></r>"
    )
    let reading = try readXML(source, ["/r/p"])
    #expect(reading.records == [#"p "1""#, #"p "2""#])
    #expect(reading.batchCount == 2)
  }

  /// Records among everything that may hold a `>` or a quote.
  private func mixedDocument(recordCount: Int) -> String {
    let long = String(repeating: "'> =", count: 5000)
    var document = "<r x='>'>\n"
    for number in 1...recordCount {
      let attribute = number.isMultiple(of: 1000) ? long : ">"
      document += "<p id='\(number)' a=\"\(attribute)\">"
      document += number.isMultiple(of: 3) ? "a > b &gt; <![CDATA[</p> > ]]>" : "<n>é \(number)</n>"
      document += "</p>"
      if number.isMultiple(of: 5) { document += "<!-- > ' <p/> -->\n<?pi > \" ?>it's" }
      if number.isMultiple(of: 1000) { document += "<!--\(long)--><?x \(long)?>" }
    }
    return document + "</r>"
  }
}

/// A source of the same text over and over, of any length, without holding it.
final class RepeatingSource: ByteSource {
  let name = "repeated"
  private(set) var consumedByteCount = 0
  private var pending: ArraySlice<UInt8>
  private let body: [UInt8]
  private let tail: [UInt8]
  private var left: Int

  init(head: String, body: String, count: Int, tail: String) {
    pending = Array(head.utf8)[...]
    self.body = Array(body.utf8)
    self.tail = Array(tail.utf8)
    left = count
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ReadError) -> Int {
    if pending.isEmpty, left > 0 {
      left -= 1
      pending = left == 0 ? (body + tail)[...] : body[...]
    }
    let count = min(buffer.count, pending.count)
    buffer.copyBytes(from: pending.prefix(count))
    pending = pending.dropFirst(count)
    consumedByteCount += count
    return count
  }
}
