import Testing

@testable import Dragoman

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

@Suite("Text in other encodings") struct TextDecoderTests {
  /// Encodings of one byte, of several, with states, and of wide characters, with a text that each has.
  static let encodings: [(name: String, text: String)] = [
    ("ISO-8859-1", "né ÿ¡ à"), ("ISO-8859-2", "Łódź ž"), ("ISO-8859-7", "αβγ ώ"),
    ("ISO-8859-15", "€ Š ÿ"), ("windows-1250", "Łódź"), ("windows-1251", "Привет"),
    ("windows-1252", "€ “é” ™"), ("KOI8-R", "Привет"), ("IBM850", "né ß"), ("macintosh", "né ß"),
    ("Shift_JIS", "日本語 ｱ ソ表"), ("EUC-JP", "日本語 ｱ"), ("ISO-2022-JP", "a日本b語c"),
    ("EUC-KR", "한국어 a"), ("ISO-2022-KR", "a한국b"), ("Big5", "中文許功蓋"), ("GBK", "中文a"),
    ("GB18030", "中文😀é"), ("TIS-620", "ไทย"), ("VISCII", "Việt"), ("UTF-7", "né😀+"),
    ("UTF-16LE", "é日😀"), ("UTF-16BE", "é日😀"), ("UTF-32LE", "é日😀"), ("UTF-32BE", "é日😀"),
    ("IBM037", "abc né"),
  ]

  /// The text in an encoding, by the same converter the other way round.
  static func encode(_ text: String, _ encoding: String) throws -> [UInt8] {
    let converter = try #require(iconv_open(encoding, "UTF-8"))
    defer { iconv_close(converter) }
    var input = Array(text.utf8).map { CChar(bitPattern: $0) }
    var output = [CChar](repeating: 0, count: 8 * input.count + 64)
    var left = output.count
    let status = input.withUnsafeMutableBufferPointer { source in
      output.withUnsafeMutableBufferPointer { target in
        var (from, count, to) = (source.baseAddress, source.count, target.baseAddress)
        let status = iconv(converter, &from, &count, &to, &left)
        return status == -1 ? status : iconv(converter, nil, nil, &to, &left)
      }
    }
    try #require(status != -1)
    return output.prefix(output.count - left).map { UInt8(bitPattern: $0) }
  }

  private func decode(_ bytes: [UInt8], _ encoding: String, stride: Int, step: Int) throws -> String
  {
    let decoder = try TextDecoder(MemorySource(bytes, stride: stride), encoding: encoding)
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: step, alignment: 1)
    defer { room.deallocate() }
    var decoded: [UInt8] = []
    while true {
      let count = try decoder.read(into: room)
      if count == 0 { return String(decoding: decoded, as: UTF8.self) }
      decoded += room[..<count]
    }
  }

  @Test(
    "Every encoding is read in pieces of any size, into rooms of any size",
    arguments: encodings
  )
  func pieces(encoding: String, text: String) throws {
    let bytes = try Self.encode(text, encoding)
    for stride in 1...9 {
      for step in [1, 2, 3, 4, 7, 64] {
        #expect(try decode(bytes, encoding, stride: stride, step: step) == text)
      }
    }
    let long = String(repeating: text + "\n", count: 8_000)
    let longBytes = try Self.encode(long, encoding)
    for (stride, step) in [(Int.max, 1 << 16), (65_521, 65_521), (8191, 4093)] {
      #expect(try decode(longBytes, encoding, stride: stride, step: step) == long)
    }
  }

  @Test("XML in every encoding is read across the borders of batches", arguments: encodings)
  func documents(encoding: String, text: String) throws {
    // Wide characters and EBCDIC are told by their look; in two the declaration cannot be read.
    let escaped = text.replacing("&", with: "&amp;")
    var document = "<?xml version=\"1.0\" encoding=\"\(encoding)\"?>\n<r>"
    for index in 0..<3 {
      document += "<p>\(String(repeating: escaped, count: 20_000 + index))</p>"
      document += String(repeating: "<p>\(escaped)</p>", count: 2000)
    }
    document += "</r>"
    let bytes = try Self.encode(document, encoding)
    for stride in [Int.max] {
      let reader = try XMLReader(
        source: MemorySource(bytes, stride: stride),
        paths: [recordPath("/r/p")],
        encoding: ["UTF-7", "ISO-2022-KR"].contains(encoding) ? encoding : nil
      )
      let batch = RecordBatch()
      var lengths: [Int: Int] = [:]
      var isMore = true
      while isMore {
        isMore = try reader.read(into: batch, limit: 500)
        for record in batch.records {
          let node = batch.nodes[Int(record.node)]
          let value = batch.text(node.text, node.length)
          lengths[value.utf8.count, default: 0] += 1
          #expect(value.hasPrefix(text) && value.hasSuffix(text))
        }
      }
      #expect(lengths[text.utf8.count] == 6000)
      #expect(lengths.values.reduce(0, +) == 6003)
    }
  }

  @Test(
    "A feed whose map names the encoding is read, in every format",
    arguments: ["ISO-8859-1", "Shift_JIS", "UTF-16LE", "UTF-16BE", "GB18030", "ISO-2022-JP"]
  )
  func maps(encoding: String) async throws {
    let text = encoding == "ISO-8859-1" ? "né" : "日本"
    let xml =
      encoding.hasPrefix("UTF")
      ? "" : "xml: { format: xml, entity: P, records: /r/p, encoding: \(encoding) }"
    let fixture = try ImportFixture(
      """
      version: 1
      entities: { P: { unique: id, attributes: { id: { type: int64 }, v: } } }
      sources:
        json: { format: json, entity: P, encoding: \(encoding) }
        csv: { format: csv, entity: P, encoding: \(encoding) }
        \(xml)
      """
    )
    var inputs: [ImportInput] = [
      .bytes(try Self.encode("id,v\n1,\(text)\n", encoding), name: "a.csv"),
      .bytes(try Self.encode(#"[{"id":2,"v":"\#(text)"}]"#, encoding), name: "a.json"),
    ]
    if !xml.isEmpty {
      let document = "<r><p><id>3</id><v>\(text)</v></p></r>"
      inputs.append(.bytes(try Self.encode(document, encoding), name: "a.xml"))
    }
    _ = try await Importer(map: fixture.map, store: fixture.store).run(ImportRequest(inputs))
    #expect(try fixture.rows() == (1...inputs.count).map { "\($0)|\(text)" })
  }
}
