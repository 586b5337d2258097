import CSimdJSON
import DragomanGraph
import Foundation
import TestSupport
import Testing

@testable import Dragoman

/// What a CSV text gave: its records as JSON, and what was said of those that are malformed.
private struct Reading: Equatable {
  var records: [String] = []
  var failures: [String] = []
  var places: [String] = []
}

private func read(
  _ source: any ByteSource,
  separator: Character = ",",
  limit: Int = 1000
) throws -> Reading {
  let reader = CSVReader(source: source, separator: separator.asciiValue ?? 0)
  let batch = RecordBatch()
  var reading = Reading()
  var isMore = true
  while isMore {
    isMore = try reader.read(into: batch, limit: limit)
    for (index, record) in batch.records.enumerated() {
      var json: [UInt8] = []
      if record.node == RecordBatch.malformedNode {
        json = batch.sourceText(of: record)
        if let failure = batch.failures[index] { reading.failures.append("\(failure)") }
      } else {
        batch.appendJSON(of: record.node, to: &json)
      }
      reading.records.append(String(decoding: json, as: UTF8.self))
      let origin = batch.origin(at: record.start, record: record.number)
      reading.places.append("\(origin.line):\(origin.column) record \(record.number)")
    }
  }
  return reading
}

@Suite struct CSVReaderTests {
  /// Texts, and the records in them.
  static let texts: [(String, Character, [String])] = [
    ("a,b\n1,2\n3,4\n", ",", [#"{"a":"1","b":"2"}"#, #"{"a":"3","b":"4"}"#]),
    ("a,b\r\n1,2\r\n3,4\r\n", ",", [#"{"a":"1","b":"2"}"#, #"{"a":"3","b":"4"}"#]),
    ("a,b\r1,2\r3,4\r", ",", [#"{"a":"1","b":"2"}"#, #"{"a":"3","b":"4"}"#]),
    ("a,b\n1,2\r\n3,4\r5,6", ",", [1, 3, 5].map { #"{"a":"\#($0)","b":"\#($0 + 1)"}"# }),
    ("a,b\n1,2", ",", [#"{"a":"1","b":"2"}"#]),
    ("a,b", ",", []),
    ("\u{FEFF}a,b\n1,2\n", ",", [#"{"a":"1","b":"2"}"#]),
    ("\u{FEFF}\"a\",b\n1,2\n", ",", [#"{"a":"1","b":"2"}"#]),
    // Quotes.
    ("\"a\",\"b\"\n\"1\",\"2\"\n", ",", [#"{"a":"1","b":"2"}"#]),
    ("a,b\n\"x,y\",\"l1\nl2\"\n", ",", [#"{"a":"x,y","b":"l1\nl2"}"#]),
    ("a,b\n\"l1\r\nl2\rl3\",2\n", ",", [#"{"a":"l1\r\nl2\rl3","b":"2"}"#]),
    ("a,b\n\"say \"\"hi\"\"\",\"\"\"\"\n", ",", [#"{"a":"say \"hi\"","b":"\""}"#]),
    ("a,b\n\"\"\"\"\"\",\"x\"\"\"", ",", [#"{"a":"\"\"","b":"x\""}"#]),
    ("\"a\"\"b\",\"c\nd\"\n1,2", ",", [#"{"a\"b":"1","c\nd":"2"}"#]),
    ("a,b\n5\" nail,x\"y\"\n", ",", [#"{"a":"5\" nail","b":"x\"y\""}"#]),
    ("a,b\n \"1,2\"\n", ",", [#"{"a":" \"1","b":"2\""}"#]),
    ("a\n\"1\"", ",", [#"{"a":"1"}"#]),
    // Nothing, empty, and space.
    (
      "a,b\n,\n\"\",\n,\"\"", ",",
      [
        #"{"a":null,"b":null}"#, #"{"a":"","b":null}"#, #"{"a":null,"b":""}"#,
      ]
    ),
    ("a,b\n1,", ",", [#"{"a":"1","b":null}"#]),
    ("a,b\n ,\t\n", ",", [#"{"a":" ","b":"\t"}"#]),
    (
      "\n\r\n\na,b\n\n1,2\n\r\n\r3,4\n\n", ",",
      [
        #"{"a":"1","b":"2"}"#, #"{"a":"3","b":"4"}"#,
      ]
    ),
    ("a\n\n1\n\n\"\"\n", ",", [#"{"a":"1"}"#, #"{"a":""}"#]),
    // Separators.
    ("a;b\n1,5;2\n", ";", [#"{"a":"1,5","b":"2"}"#]),
    ("a\tb\n\"1\t5\"\t2\n", "\t", [#"{"a":"1\t5","b":"2"}"#]),
    ("a|b\n1|\n", "|", [#"{"a":"1","b":null}"#]),
    ("a b\n1 2\n", " ", [#"{"a":"1","b":"2"}"#]),
    // Signs of many bytes; names are kept as they are.
    ("ключ, naïve \nзначение,🙂\n", ",", [#"{"ключ":"значение"," naïve ":"🙂"}"#]),
  ]

  @Test("Rows become objects of their cells", arguments: texts)
  func records(text: String, separator: Character, records: [String]) throws {
    let reading = try read(MemorySource(text), separator: separator)
    #expect(reading.records == records)
    #expect(reading.failures == [])
  }

  @Test("It makes no difference in what pieces the text comes", arguments: texts, [1, 2, 3, 7])
  func pieces(
    text: (String, Character, [String]),
    step: Int
  ) throws {
    let reading = try read(MemorySource(text.0, stride: step), separator: text.1, limit: step)
    #expect(reading.records == text.2)
  }

  @Test(
    "A row that does not fit the header is one malformed record",
    arguments: [
      (
        "a,b\n1\n3,4\n", 2,
        "csv.syntax: m:2:1 (record 1, byte 4): The row has 1 cell, and the header names 2 columns."
      ),
      (
        "a,b\n1,2,3,4\n3,4\n", 2,
        "csv.syntax: m:2:5 (record 1, byte 8): The row has 4 cells, and the header names 2 columns."
      ),
      (
        "a\n1\n\"x\" y\n3\n", 3,
        "csv.syntax: m:3:4 (record 2, byte 7): Something stands between a closing quote and the end"
          + " of its cell: found “ y”."
      ),
      (
        "a\n1\n\"x\"y\"z\"\n3\n", 3,
        "csv.syntax: m:3:4 (record 2, byte 7): Something stands between a closing quote and the end"
          + " of its cell: found “y\"z\"”."
      ),
      (
        "a,b\nx\0y,2\n3,4\n", 2,
        "input.encoding: m:2:1 (record 1, byte 4): The text holds a NUL byte; CSV is text."
      ),
    ]
  )
  func malformed(text: String, count: Int, failure: String) throws {
    let reading = try read(MemorySource(Array(text.utf8), name: "m"))
    #expect(reading.failures == [failure])
    #expect(reading.records.count == count)
    #expect(reading.records.last == (count == 3 ? #"{"a":"3"}"# : #"{"a":"3","b":"4"}"#))
  }

  @Test("Bytes that are not UTF-8 reject their record only")
  func invalidUTF8() throws {
    let bytes = Array("a,b\n1,".utf8) + [0xE9] + Array("\n\"3\"\"\",4\n".utf8)
    let reading = try read(MemorySource(bytes, name: "m"))
    #expect(reading.records == ["1,\u{FFFD}", #"{"a":"3\"","b":"4"}"#])
    #expect(
      reading.failures == [
        "input.encoding: m:2:1 (record 1, byte 4): The text is not valid UTF-8."
      ]
    )
  }

  @Test(
    "What refuses a feed, with its place",
    arguments: [
      (
        "a,b\n1,2\n3,\"x\n4,5\n",
        "csv.syntax: m:3:3 (record 2, byte 10): The quote that opens here"
          + " is never closed."
      ),
      (
        "a,b\n\"",
        "csv.syntax: m:2:1 (record 1, byte 4): The quote that opens here is never closed."
      ),
      (
        "a,b\n\"\"\"",
        "csv.syntax: m:2:1 (record 1, byte 4): The quote that opens here is never"
          + " closed."
      ),
      ("\"a,b", "csv.syntax: m:1:1 (byte 0): The quote that opens here is never closed."),
      (
        "a,b,a,a\n",
        "csv.syntax: m:1:1 (byte 0): The header does not name the columns: “a” is the"
          + " name of the columns 1, 3 and 4."
      ),
      (
        "a,,b,\"\"\n",
        "csv.syntax: m:1:1 (byte 0): The header does not name the columns: the columns"
          + " 2 and 4 have no name."
      ),
      (
        "\n\nx,x,\n",
        "csv.syntax: m:3:1 (byte 2): The header does not name the columns: “x” is the"
          + " name of the columns 1 and 2; column 3 has no name."
      ),
      (
        "\"a\"b\n",
        "csv.syntax: m:1:4 (byte 3): Something stands between a closing quote and the"
          + " end of its cell: found “b”."
      ),
      ("a\0b\n1", "input.encoding: m:1:1 (byte 0): The text holds a NUL byte; CSV is text."),
      (
        "\n\r\n",
        "input.truncated: m:3:1 (byte 3): The input has no header: not even the names of"
          + " the columns are in it."
      ),
    ]
  )
  func refused(text: String, error: String) {
    let found = #expect(throws: ReadError.self) {
      try read(MemorySource(Array(text.utf8), name: "m"))
    }
    #expect(found.map { "\($0)" } == error)
  }

  @Test("Composed and decomposed names are two columns")
  func unicodeNames() throws {
    let reading = try read(MemorySource("\u{E9},e\u{301}\n1,2"))
    #expect(
      reading.records.map { Array($0.utf8) } == [
        Array("{\"\u{E9}\":\"1\",\"e\u{301}\":\"2\"}".utf8)
      ]
    )
  }

  @Test(
    "Lines are counted by the line end that the text has",
    arguments: ["\n", "\r\n", "\r"]
  )
  func places(lineEnd: String) throws {
    let text = ["a,b", "1,2", "", "3", "5,6"].joined(separator: lineEnd)
    let places = ["2:1 record 1", "4:1 record 2", "5:1 record 3"]
    #expect(try read(MemorySource(text)).places == places)
    #expect(try read(MemorySource(text), limit: 1).places == places)
  }

  @Test("Records before an open quote are delivered before the fault")
  func deliversBeforeFault() throws {
    let reader = CSVReader(source: MemorySource("a\n1\n\"2\"\"\"\n\"3"))
    let batch = RecordBatch()
    #expect(throws: ReadError.self) { try reader.read(into: batch, limit: 10) }
    let records = batch.records.map { record in
      var json: [UInt8] = []
      batch.appendJSON(of: record.node, to: &json)
      return String(decoding: json, as: UTF8.self)
    }
    #expect(records == [#"{"a":"1"}"#, #"{"a":"2\""}"#])
  }

  @Test("A cell of several megabytes is read whole")
  func largeCell() throws {
    let cell = String(repeating: "x\"\"\n", count: 1 << 20)
    let reader = CSVReader(source: MemorySource("a,b\n\"\(cell)\",2\n3,4\n"))
    let batch = RecordBatch()
    var lengths: [UInt32] = []
    while try reader.read(into: batch, limit: 10) || !batch.records.isEmpty {
      lengths += batch.records.map { batch.nodes[Int($0.node) + 1].length }
    }
    #expect(lengths == [3 << 20, 1])
  }

  @Test("A row of a million cells too many is one malformed record")
  func hostileRow() throws {
    let text = "a,b\n" + String(repeating: ",", count: 1 << 20) + "\n1,2\n"
    let reading = try read(MemorySource(text))
    #expect(reading.failures.count == 1)
    #expect(reading.records.last == #"{"a":"1","b":"2"}"#)
  }

  @Test("A million rows are read in batches of bounded size")
  func manyRows() throws {
    let rows = 200_000
    let text = "id,name\n" + (0..<rows).map { "\($0),\"n \($0)\"\n" }.joined()
    let reader = CSVReader(source: MemorySource(text))
    let batch = RecordBatch()
    var count = 0
    var largest = 0
    var isMore = true
    while isMore {
      isMore = try reader.read(into: batch, limit: .max)
      count += batch.records.count
      largest = max(largest, batch.sourceCount)
    }
    #expect(count == rows)
    #expect(largest < 3 << 20)
    #expect(reader.recordCounts == [rows])
  }

  @Test("What is written by RFC 4180 is read back")
  func roundTrip() throws {
    let seed = Seeds.seed()
    var random = SplitMix(state: seed)
    let alphabet = ["a", "é", "\"", ",", "\n", "\r", "\r\n", " ", "🙂", "\t", ";", "0"]
    for _ in 0..<300 {
      let width = Int.random(in: 1...4, using: &random)
      let table = (0..<Int.random(in: 0...6, using: &random)).map { _ in
        (0..<width).map { _ in
          (0..<Int.random(in: 0...5, using: &random)).map { _ in
            alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
          }.joined()
        }
      }
      let lineEnd = ["\n", "\r\n", "\r"][Int.random(in: 0..<3, using: &random)]
      var text = (0..<width).map { "c\($0)" }.joined(separator: ",") + lineEnd
      for row in table {
        text += row.map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }.joined(separator: ",")
        text += lineEnd
      }
      let source = MemorySource(text, stride: Int.random(in: 1...20, using: &random))
      let expected = table.map { row in
        let members = row.enumerated().map { "\"c\($0)\":\(json($1))" }
        return "{\(members.joined(separator: ","))}"
      }
      let records = try read(source, limit: 2).records
      #expect(records == expected, "seed \(seed)")
      if records != expected { return }
    }
  }

  /// A string as the tape writes it.
  private func json(_ text: String) -> String {
    var bytes: [UInt8] = []
    var text = text
    text.withUTF8 { JSONString.append(UnsafeRawBufferPointer($0), to: &bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
