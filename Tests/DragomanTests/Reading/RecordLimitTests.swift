import CSimdJSON
import Testing

@testable import Dragoman
@testable import DragomanGraph

/// What one record may take, and what stands behind its text in memory.
@Suite("The memory of a record") struct RecordLimitTests {
  @Test(
    "The values of a text are counted as the parser counts them",
    arguments: [
      "1", "null", "\"a\"", "[]", "{}", "[ ]", "[1]", "[1,2,3]", "[[],[],{}]", "[[[]],[ [ ] ]]",
      #"{"a":1}"#, #"{"a":[1,2],"b":{},"c":"x,[{"}"#, #"{"a\"b,":"\\","c":["\"",","]}"#,
      " [ 1 , { \"a\" : [ ] } , \"\" ] ",
    ]
  )
  func counts(text: String) throws {
    let batch = RecordBatch()
    _ = try JSONText().parse(batch, detached: Array(text.utf8))
    let bytes = Array(text.utf8)
    #expect(
      bytes.withUnsafeBufferPointer { jsonCountValues($0.baseAddress, $0.count) } == batch.nodeCount
    )
  }

  @Test("Behind every batch there is the padding that simdjson reads", arguments: [1, 7, 4096])
  func padding(limit: Int) throws {
    let line = #"{"id":1,"text":"some text"}"#
    let texts = [
      ("[" + Array(repeating: line, count: 3000).joined(separator: ",") + "]", false),
      (String(repeating: line + "\n", count: 3000), true),
    ]
    for (text, isLines) in texts {
      let source = MemorySource(text)
      let reader: any RecordReader =
        isLines ? try NDJSONReader(source: source) : try JSONReader(source: source, paths: [[]])
      var isMore = true
      var count = 0
      while isMore {
        // A batch that was never used has no room to spare.
        let batch = RecordBatch()
        isMore = try reader.read(into: batch, limit: limit)
        count += batch.records.count
        #expect(batch.source.count >= batch.sourceCount + jsonPadding())
        if limit == 1, count > 100 { isMore = false }
      }
    }
  }

  @Test(
    "A batch takes two megabytes and a half at most: four of them are under way, in a hundred for all",
    arguments: [ForeignFormat.json, .ndjson, .xml, .csv]
  )
  func batches(format: ForeignFormat) throws {
    let text = String(repeating: "text ", count: 60)
    let (head, record, tail) =
      switch format {
      case .json: ("[{}", #",{"id":1,"text":"\#(text)"}"#, "]")
      case .ndjson: ("{}\n", #"{"id":1,"text":"\#(text)"}"# + "\n", "")
      case .xml: ("<r><p/>", "<p><id>1</id><text>\(text)</text></p>", "</r>")
      case .csv: ("id,text\n1,\n", "1,\(text)\n", "")
      }
    let source = MemorySource(head + String(repeating: record, count: 20_000) + tail)
    let reader: any RecordReader =
      switch format {
      case .json: try JSONReader(source: source, paths: [[]])
      case .ndjson: try NDJSONReader(source: source)
      case .xml: try XMLReader(source: source, paths: [recordPath("/r/p")])
      case .csv: CSVReader(source: source)
      }
    let batch = RecordBatch()
    var (count, most, isMore) = (0, 0, true)
    while isMore {
      isMore = try reader.read(into: batch, limit: 4096)
      count += batch.records.count
      let nodeByteCount = batch.nodes.count * MemoryLayout<TapeNode>.stride
      most = max(most, batch.source.count + batch.arena.count + nodeByteCount)
    }
    #expect(count == 20_001)
    #expect(most < 2_500_000)
  }

  private static let bombs: [(LongText, ForeignFormat)] = [
    (#"[{"id":1,"v":[\#(repeated("[],", 60_000))1]}]"#, .json),
    (#"[{"id":1,"v":"\#(repeated("x", 600_000))"}]"#, .json),
    ("{\"id\":1,\"v\":[\(repeated("0,", 60_000))0]}\n{}\n", .ndjson),
    ("{\"id\":1,\"v\":\"\(repeated("x", 600_000))\"}\n", .ndjson),
    ("<r><p id='1'>\(repeated("<a/>", 60_000))</p></r>", .xml),
    ("<r><p id='1'><v>\(repeated("<![CDATA[xxxxxxxx]]>x<b/>", 60_000))</v></p></r>", .xml),
    ("id,v\n1,\"\(repeated("x", 600_000))\"\n", .csv),
  ]

  private static func repeated(_ text: String, _ count: Int) -> String {
    String(repeating: text, count: count)
  }

  @Test(
    "A record beyond the bound ends the import, with its place and what to do",
    arguments: bombs
  )
  func bounds(feed: LongText, format: ForeignFormat) async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: { type: int64, from: { json: id, xml: "@id", csv: id } }, v: { type: json } } } }
      sources:
        s: { format: \(format.rawValue), entity: P\(format == .xml ? ", records: /r/p" : "") }
      import: { maxRecordSize: 1 }
      """
    )
    let error = await #expect(throws: ImportFailure.self) { try await fixture.run(feed.text) }
    let cause = try #require(error?.cause as? ReadError)
    #expect(cause.code == .limit)
    #expect(
      cause.message
        == "One record takes more than 1 MB of memory, with its text and all its values."
    )
    #expect(cause.help?.contains("`maxRecordSize` under `import:`") == true)
    #expect(cause.origin?.line == (format == .csv ? 2 : 1))
    // What the request says comes before what the map says.
    let report = try await fixture.run(feed.text) { $0.options.maximumRecordByteCount = 64 << 20 }
    #expect(report.counts.inserted >= 1)
  }

  @Test(
    "White space without end is refused with its place, wherever it stands",
    arguments: [("[", "{\"id\":1}]"), ("[{\"id\":1}", "]"), ("[{\"id\":1}]", "")]
  )
  func whiteSpace(before: String, behind: String) async throws {
    let fixture = try ImportFixture(attributes: "v: { type: json }")
    func feed(_ count: Int) -> String { before + String(repeating: " ", count: count) + behind }
    let error = await #expect(throws: ImportFailure.self) {
      try await fixture.run(feed(900_000)) { $0.options.maximumRecordByteCount = 1 << 20 }
    }
    let cause = try #require(error?.cause as? ReadError)
    #expect(cause.code == .limit && cause.message == "More than 512 kB of white space stand here.")
    #expect(cause.origin?.column == before.count + 1)
    let report = try await fixture.run(feed(500_000)) {
      $0.options.maximumRecordByteCount = 1 << 20
    }
    #expect(report.counts.inserted == 1)
  }

  @Test("So are empty lines of CSV without end")
  func emptyLines() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: { type: int64 } } } }
      sources: { s: { format: csv, entity: P } }
      """
    )
    func feed(_ count: Int) -> String { "id\n1\n" + String(repeating: "\n", count: count) + "2\n" }
    let error = await #expect(throws: ImportFailure.self) {
      try await fixture.run(feed(900_000)) { $0.options.maximumRecordByteCount = 1 << 20 }
    }
    let cause = try #require(error?.cause as? ReadError)
    #expect(cause.code == .limit && cause.message == "More than 512 kB of white space stand here.")
    #expect(cause.origin?.line == 3)
    let report = try await fixture.run(feed(500_000)) {
      $0.options.maximumRecordByteCount = 1 << 20
    }
    #expect(report.counts.inserted == 2)
  }

  @Test("Records of all sizes below the bound are read one after the other")
  func sizes() async throws {
    let fixture = try ImportFixture(attributes: "v: { type: json }")
    let sizes = [1, 40_000, 1, 200_000, 2, 90_000]
    let records = sizes.enumerated().map { index, size in
      "{\"id\":\(index),\"v\":[" + Array(repeating: "1", count: size).joined(separator: ",") + "]}"
    }
    for text in [
      "[" + records.joined(separator: ",") + "]", records.joined(separator: "\n") + "\n",
    ] {
      try await fixture.run(text) { $0.options.maximumRecordByteCount = 8 << 20 }
      let lengths = try sql(fixture.store, "SELECT length(v) FROM P ORDER BY id")
      #expect(lengths == sizes.map { String(2 * $0 + 1) })
    }
  }

  @Test("Exponents of a record do not fill memory with zeros")
  func exponents() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities:
        P: { unique: id, attributes: { id: { type: int64 } }, relationships: { ns: { entity: N, kind: toMany, from: ns } } }
        N: { attributes: { n: { type: decimal } } }
      sources: { s: { format: json, entity: P } }
      """
    )
    let numbers = Array(repeating: "{\"n\":1e999}", count: 3000).joined(separator: ",")
    let feed = "[{\"id\":1,\"ns\":[\(numbers)]}]"
    let report = try await fixture.run(feed) { $0.options.maximumRecordByteCount = 1 << 20 }
    #expect(report.issueSummary == ["value.range 1"])
    #expect(try await fixture.run(feed).summary == "read 1, inserted 1")
  }

  @Test("Members before the records are kept for `$root` up to a bound, and beyond it told")
  func documents() async throws {
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: { type: int64 }, a: { from: $root.a.x }, b: { from: $root.b } } } }
      sources:
        p: { format: json, entity: P, records: p }
        q: { format: json, entity: P, records: q }
      """
    )
    let large = String(repeating: "x", count: 200_000)
    let other = String(repeating: "1,", count: 2_000_000) + "1"
    let feed =
      #"{"z":[\#(other)],"a":{"y":"\#(large)","x":"here"},"p":[{"id":1}],"b":"\#(large)","q":[{"id":2}]}"#
    try await fixture.run(feed)
    #expect(
      try sql(fixture.store, "SELECT id, a, length(b) FROM P ORDER BY id")
        == ["1|here|null", "2|here|200000"]
    )
    let huge = String(repeating: "x", count: 1 << 20)
    let error = await #expect(throws: ImportFailure.self) {
      try await fixture.run(#"{"b":"\#(huge)","p":[{"id":3}],"q":[]}"#)
    }
    let cause = try #require(error?.cause as? ReadError)
    #expect(cause.code == .limit)
    #expect(cause.message.contains("`$root` paths name have more than 1 MB"))
    #expect(cause.origin?.column == 2)
  }
}
