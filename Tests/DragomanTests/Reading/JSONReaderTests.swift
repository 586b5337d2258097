import CSimdJSON
import Foundation
import Testing

@testable import Dragoman

/// What a JSON text gave: its records as JSON, their numbers, sources, keys and places.
private struct Reading: Equatable {
  var records: [String] = []
  var numbers: [Int] = []
  var sources: [Int] = []
  var keys: [String] = []
  var places: [String] = []
  var counts: [Int?] = []
}

/// Reads a whole JSON text.
private func read(
  _ source: any ByteSource,
  _ paths: [String?] = [nil],
  limit: Int = 1000,
  keeping: DocumentMembers = .none
) throws -> Reading {
  let parser = ForeignPathParser(format: .json, namespaces: [:], leadsToRecords: true)
  let reader = try JSONReader(
    source: source,
    paths: try paths.map { path in try path.map { try parser.parse($0).steps } ?? [] },
    keeping: keeping
  )
  return try collect(reader, limit: limit)
}

private func collect(_ reader: any RecordReader, limit: Int) throws -> Reading {
  let batch = RecordBatch()
  var reading = Reading()
  var isMore = true
  while isMore {
    isMore = try reader.read(into: batch, limit: limit)
    for record in batch.records {
      var json: [UInt8] = []
      if record.node == RecordBatch.malformedNode {
        json = Array("malformed".utf8)
      } else {
        batch.appendJSON(of: record.node, to: &json)
      }
      reading.records.append(String(decoding: json, as: UTF8.self))
      reading.numbers.append(record.number)
      reading.sources.append(record.source)
      reading.keys.append(batch.text(record.key, record.keyLength))
      reading.places.append("\(batch.origin(at: record.start, record: record.number))")
    }
  }
  reading.counts = reader.recordCounts
  return reading
}

@Suite struct JSONReaderTests {
  @Test(
    "Records are found where the path says",
    arguments: [
      ("[{\"a\":1},{\"a\":2}]", nil, [#"{"a":1}"#, #"{"a":2}"#]),
      (" \n[ ] ", nil, []),
      ("{\"a\":1}", nil, [#"{"a":1}"#]),
      (#"{"m":{"x":[1]},"d":{"p":[{"a":1}],"q":2},"z":[]}"#, "/d/p", [#"{"a":1}"#]),
      (#"{"m":1,"p":[{"a":1}]}"#, "p", [#"{"a":1}"#]),
      (#"{"c":{"USD":{"r":1},"EUR":{"r":2}}}"#, "/c/*", [#"{"r":1}"#, #"{"r":2}"#]),
      (#"{"p":null}"#, "p", []),
      (#"{"p":{"a":1}}"#, "p", [#"{"a":1}"#]),
      (#"[[{"a":1}],[{"a":2}]]"#, "[1]", [#"{"a":2}"#]),
      (#"{"a.b":[{"x":1}],"a":{"b":[{"x":2}]}}"#, "/a.b", [#"{"x":1}"#]),
      (
        #"[1,"two",null,true,[],{"a":1}]"#, nil,
        ["1", "\"two\"", "null", "true", "[]", #"{"a":1}"#]
      ),
    ] as [(String, String?, [String])]
  )
  func paths(text: String, path: String?, records: [String]) throws {
    #expect(try read(MemorySource(text), [path]).records == records)
  }

  @Test("Several paths are followed in one pass, each with its own numbers")
  func severalPaths() throws {
    let text = #"{"b":[{"y":1}],"skip":[{"z":0}],"a":[{"x":1},{"x":2}]}"#
    let reading = try read(MemorySource(text), ["a", "b", "c"])
    #expect(reading.records == [#"{"y":1}"#, #"{"x":1}"#, #"{"x":2}"#])
    #expect(reading.sources == [1, 0, 0])
    #expect(reading.numbers == [1, 1, 2])
    #expect(reading.counts == [2, 1, nil])
  }

  @Test("Members of a dictionary are records with their names as keys")
  func keys() throws {
    let reading = try read(MemorySource(#"{"A\u0042":{"r":1},"é":{"r":2}}"#), ["/*"])
    #expect(reading.keys == ["AB", "é"])
  }

  @Test("Line, column, byte and record tell where a record stands, batch after batch")
  func places() throws {
    let text = "\u{FEFF}[\n  {\"ä\":1},\n  {\"b\":2}, {\"c\":3}\n]"
    for limit in [1, 2, 100] {
      #expect(
        try read(MemorySource(text), limit: limit).places == [
          "memory:2:3 (record 1, byte 7)", "memory:3:3 (record 2, byte 19)",
          "memory:3:12 (record 3, byte 28)",
        ]
      )
    }
  }

  @Test("Neither the size of batches nor that of reads changes anything", arguments: [1, 7, 1000])
  func batches(limit: Int) throws {
    let text =
      #"{"meta":{"a":[1,2,{"b":"}]"}]},"rows":["#
      + (0..<50).map { #"{"id":\#($0),"t":"a\"b\\[{","n":{"x":[\#($0)]}}"# }.joined(
        separator: " ,\n"
      )
      + "]}"
    let whole = try read(MemorySource(text), ["rows"])
    #expect(whole.records.count == 50)
    #expect(try read(MemorySource(text, stride: 1), ["rows"], limit: limit) == whole)
    #expect(try read(MemorySource(text), ["rows"], limit: limit) == whole)
  }

  @Test("Every proper prefix of a text is refused")
  func prefixes() throws {
    let text = Array(#"{"m":[1.5e3,"é\n"],"p":[{"a":true},{"b":{"c":null}}],"z":0}"#.utf8)
    #expect(try read(MemorySource(text), ["p"]).records.count == 2)
    for length in 0..<text.count {
      #expect(throws: ReadError.self, "\(length) bytes") {
        try read(MemorySource(Array(text[..<length])), ["p"])
      }
    }
  }

  @Test(
    "Text that is not JSON is refused wherever it stands",
    arguments: [
      "tru", "nul", "01", "1.", ".5", "+1", "0x1", "NaN", "1e", "-", "\"\\x\"", "\"\\u12g4\"",
      "\"\\ud800\"", "\"\\udc00\\ud800\"", "\"a\tb\"", "{\"a\" 1}", "{\"a\":1,}", "{a:1}", "[1,]",
      "[1 2]", "{\"a\":1 \"b\":2}", "'a'", "/*c*/1", "]", "}", "{]", "[}", "\"", "",
    ]
  )
  func malformed(value: String) throws {
    // In a record, in a member that is on no path, before and behind the records.
    for text in [
      "[{\"a\":\(value)}]", "{\"skip\":\(value),\"p\":[]}", "{\"p\":[{\"a\":1}],\"skip\":\(value)}",
      "{\"p\":[{\"a\":1},\(value)]}",
    ] {
      #expect(throws: ReadError.self, "\(text)") { try read(MemorySource(text), ["p"]) }
    }
  }

  @Test(
    "What stands outside of the value is refused",
    arguments: ["[] x", "[][]", "[]\u{0}", "[]]", "{}{}", ",[]", "[],", "x", "\u{FEFF}\u{FEFF}[]"]
  )
  func outside(text: String) {
    #expect(throws: ReadError.self) { try read(MemorySource(text)) }
  }

  @Test("Bytes that are not UTF-8 are refused with their place")
  func encoding() {
    let text = Array("[{\"a\":\"xy".utf8) + [0xFF] + Array("\"}]".utf8)
    let error = #expect(throws: ReadError.self) { try read(MemorySource(text)) }
    #expect(error?.code == .encoding)
    #expect(error?.origin?.byte == 9)
  }

  @Test("A scalar where records should be is no feed")
  func scalars() {
    for (text, path) in [("42", nil), ("\"a\"", nil), ("null", nil), (#"{"p":7}"#, "p")]
      as [(String, String?)]
    {
      let error = #expect(throws: ReadError.self) { try read(MemorySource(text), [path]) }
      #expect(error?.code == .noRecords)
    }
  }

  @Test("Values nested deeper than the limit are refused, not followed")
  func depth() throws {
    let deep = { (depth: Int) in
      "[{\"v\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        + "}]"
    }
    #expect(try read(MemorySource(deep(900))).records.count == 1)
    for text in [deep(1001), deep(100_000), String(repeating: "[", count: 200_000)] {
      let error = #expect(throws: ReadError.self) { try read(MemorySource(text)) }
      #expect(error?.code == .limit)
    }
  }

  @Test("A record and a skipped value may be larger than the window")
  func large() throws {
    let long = String(repeating: "x", count: 3 << 20)
    let skipped = "[" + (0..<200_000).map { #"{"n":\#($0)}"# }.joined(separator: ",") + "]"
    let text = #"{"skip":\#(skipped),"p":[{"a":"\#(long)"},{"b":1}]}"#
    let reading = try read(MemorySource(text), ["p"])
    #expect(reading.records.map(\.utf8.count) == [long.utf8.count + 8, 7])
    #expect(throws: ReadError.self) {
      try read(MemorySource(text.replacing(#"{"n":199999}"#, with: #"{"n":tru}"#)), ["p"])
    }
  }

  @Test("Memory does not grow with the feed")
  func constantMemory() throws {
    var sizes: [[Int]] = []
    for count in [100_000, 400_000] {
      let body = (0..<count).map { #"{"id":\#($0 % 10),"name":"a name"}"# }.joined(separator: ",")
      let reader = try JSONReader(source: MemorySource("[\(body)]"), paths: [[]])
      let batch = RecordBatch()
      while try reader.read(into: batch, limit: .max) {}
      #expect(reader.recordCounts == [count])
      sizes.append([batch.source.count, batch.arena.count, batch.nodes.count])
    }
    #expect(sizes[0] == sizes[1])
  }
}

@Suite struct NDJSONReaderTests {
  private func read(_ text: String, limit: Int = 1000, stride: Int = .max) throws -> Reading {
    try collect(try NDJSONReader(source: MemorySource(text, stride: stride)), limit: limit)
  }

  @Test("Every line is a record; blank lines and line ends do not matter")
  func lines() throws {
    for text in [
      "{\"a\":1}\n{\"b\":2}\n", "{\"a\":1}\r\n\r\n  {\"b\":2}", "\u{FEFF}{\"a\":1}\n{\"b\":2}",
    ] {
      for limit in [1, 1000] {
        for stride in [1, Int.max] {
          let reading = try read(text, limit: limit, stride: stride)
          #expect(reading.records == [#"{"a":1}"#, #"{"b":2}"#])
          #expect(reading.numbers == [1, 2])
        }
      }
    }
  }

  @Test("A line that is not JSON is one malformed record; its neighbours are read")
  func malformedLine() throws {
    let reading = try read("{\"a\":1}\n{\"b\":2\n{\"c\":3}\n1,2\n\"x\ny\"\n")
    #expect(
      reading.records == [
        #"{"a":1}"#, "malformed", #"{"c":3}"#, "malformed", "malformed", "malformed",
      ]
    )
    #expect(reading.places[2] == "memory:3:1 (record 3, byte 15)")
  }

  @Test("A feed that was cut off in its last line is refused")
  func cutOff() throws {
    let error = #expect(throws: ReadError.self) { try read("{\"a\":1}\n{\"b\":2,\"c") }
    #expect(error?.code == .truncated)
    #expect(error?.origin?.line == 2)
  }
}

@Suite struct JSONTestSuiteTests {
  private static let folder = "../shared/hostile/JSONTestSuite/test_parsing"

  @Test("JSONTestSuite: every y_ file is well-formed, every n_ file is not")
  func conformance() throws {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: Self.folder) else {
      print("skipped: \(Self.folder) is not here")
      return
    }
    var counts = (accepted: 0, refused: 0)
    for name in names.sorted() {
      let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(Self.folder)/\(name)")))
      // What is looked for is the verdict on the text; records are anything that is an element.
      var code: ReadError.Code?
      do throws(ReadError) {
        let reader = try JSONReader(source: MemorySource(bytes), paths: [[]])
        let batch = RecordBatch()
        while try reader.read(into: batch, limit: 1000) {}
      } catch {
        code = error.code
      }
      if name.hasPrefix("y_") {
        #expect(code == nil || code == .noRecords, "\(name)")
        counts.accepted += 1
      } else if name.hasPrefix("n_") {
        #expect(code != nil, "\(name)")
        counts.refused += 1
      }
    }
    #expect(counts == (95, 188))
  }

  /// libFuzzer found it, with the address sanitizer: a name is compared with that of the record before.
  @Test("A member's name is not looked for behind the end of the text")
  func longNames() throws {
    for length in [1, 63, 64, 65, 4000] {
      let long = "n" + String(repeating: "V", count: length)
      let value = try ForeignValue(json: #"[{"\#(long)":1},{"n":2}]"#)
      #expect(value == [[long: 1], ["n": 2]])
      #expect(throws: ReadError.self) { try ForeignValue(json: #"[{"\#(long)":1},{"nV"#) }
    }
  }
}
