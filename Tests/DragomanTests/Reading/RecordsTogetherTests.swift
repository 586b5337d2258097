import CSimdJSON
import Foundation
import TestSupport
import Testing

@testable import Dragoman

/// Records of a JSON list that are parsed together, against the same records one by one: a batch of one record is
/// read alone.
@Suite("Records of JSON that are parsed together") struct RecordsTogetherTests {
  /// What a reader gave of a text: its records with their places, the text they are cut out of, and how it ended.
  private static func reading(_ text: [UInt8], limit: Int, stride: Int = .max) throws -> [String] {
    let reader = try JSONReader(source: MemorySource(text, stride: stride), paths: [[]])
    let batch = RecordBatch()
    var lines: [String] = []
    var isMore = true
    while isMore {
      var end: String?
      do {
        isMore = try reader.read(into: batch, limit: limit)
      } catch {
        isMore = false
        end = "\(error)"
      }
      for record in batch.records {
        var json: [UInt8] = []
        batch.appendJSON(of: record.node, to: &json)
        let place = batch.origin(at: record.start, record: record.number)
        let source = String(decoding: batch.sourceText(of: record), as: UTF8.self)
        lines.append("\(place) \(record.key) \(source) \(String(decoding: json, as: UTF8.self))")
      }
      if let end { lines.append(end) }
    }
    return lines + ["\(reader.recordCounts)"]
  }

  /// How many values are parsed together of a text that begins behind a value.
  private static func countTogether(behind value: String, _ text: String) throws -> Int {
    let batch = RecordBatch()
    let bytes = Array((value + text).utf8)
    batch.reserveSource(bytes.count)
    batch.source.copyBytes(from: bytes)
    batch.sourceCount = bytes.count
    let length = text.utf8.count
    let found = try JSONText().parseList(
      batch,
      start: bytes.count - length,
      length: length,
      limit: .max
    )
    #expect(Array(batch.source[..<bytes.count]) == bytes)
    return found.count
  }

  private static func space(_ random: inout SplitMix) -> String {
    ["", "", "", " ", "\n", "\r\n\t ", "  "].randomElement(using: &random) ?? ""
  }

  private static func value(_ depth: Int, _ random: inout SplitMix) -> String {
    switch Int.random(in: 0..<(depth > 3 ? 6 : 9), using: &random) {
    case 0: return "\(Int.random(in: -99...99, using: &random))"
    case 1: return ["true", "false", "null", "1.5e3", "-0.0"].randomElement(using: &random) ?? "0"
    case 2: return #""a\"},{\\""#
    case 3: return #""],[ é \u00e9 \ud83d\ude00""#
    case 4: return "\"\""
    case 5: return "\"some plain text, \(Int.random(in: 0...9, using: &random))\""
    case 6:
      let all = (0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth + 1, &random) }
      return "[" + all.joined(separator: ",\(space(&random))") + "]"
    default: return object(depth + 1, &random)
    }
  }

  private static func object(_ depth: Int, _ random: inout SplitMix) -> String {
    let names = ["id", "name", "a\\\"b", "\\u0061", "é", "lines", "a much longer name", "i", ""]
    let members = names.filter { _ in Int.random(in: 0..<4, using: &random) > 0 }.map {
      "\(space(&random))\"\($0)\"\(space(&random)):\(space(&random))\(value(depth, &random))"
    }
    return "{" + members.joined(separator: ",") + space(&random) + "}"
  }

  @Test("A random list, whole, cut off or with a fault, gives the same records, places and errors")
  func agree() throws {
    for seed in Seeds.seeds(25) {
      var random = SplitMix(state: seed)
      let isMixed = Int.random(in: 0..<4, using: &random) == 0
      let values = (0..<Int.random(in: 2...400, using: &random)).map { _ in
        isMixed ? Self.value(0, &random) : Self.object(0, &random)
      }
      var text = Array("[".utf8)
      for (index, value) in values.enumerated() {
        if index > 0 { text += Array("\(Self.space(&random)),\(Self.space(&random))".utf8) }
        text += Array(value.utf8)
      }
      text += Array("]".utf8)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: break
      case 1: text.removeLast(Int.random(in: 1...text.count - 1, using: &random))
      default:
        let place = Int.random(in: 1..<text.count, using: &random)
        let bytes = Array("\"\\{}[],:x0\u{1}\n".utf8) + [0xFF, 0xC3]
        text[place] = bytes.randomElement(using: &random) ?? 0
      }
      let expected = try Self.reading(text, limit: 1)
      let stride = Int.random(in: 1...20_000, using: &random)
      for (limit, stride) in [(10_000, Int.max), (7, .max), (10_000, stride)] {
        let found = try Self.reading(text, limit: limit, stride: stride)
        let place = zip(found, expected).enumerated().first { $0.element.0 != $0.element.1 }
        let difference = place.map { "\($0.offset): \($0.element)".prefix(2000) } ?? ""
        #expect(found.count == expected.count, "DRAGOMAN_SEED=\(seed), \(limit), \(stride)")
        #expect(difference == "", "DRAGOMAN_SEED=\(seed), \(limit), \(stride)")
      }
    }
  }

  @Test(
    "Records are parsed together up to the last one that is whole, and the text stays as it was"
  )
  func whole() throws {
    let records = (0..<300).map { #"{"id":\#($0),"a":[{"n":{}},{"n":{}}]}"# }
    let text = records.map { "," + $0 }.joined() + "]"
    #expect(try Self.countTogether(behind: "{}", text) == 299)
    #expect(try Self.countTogether(behind: "{} \n", String(text.dropLast(60))) == 298)
    #expect(try Self.countTogether(behind: "[]", text) == 0)
    #expect(try Self.countTogether(behind: "{}", #",{"a":1}"#) == 0)
    #expect(try Self.countTogether(behind: "{}", #"{"a":1},{"a":1},"#) == 0)
    #expect(try Self.countTogether(behind: "{}", #",{"a":1},{"a":tru},{"a":1},"#) == 1)
    // What looks like the end of a value stands in a text that is not whole.
    let texts = String(repeating: #", "},{[\",""#, count: 300) + #", "},{[\", "#
    #expect(try Self.countTogether(behind: "\"a\"", texts) == 300)
  }

  @Test("What is wrong with a text does not depend on what memory holds behind it")
  func behind() throws {
    let whole = Array(#"{"id" :{"a":[1,{"b":"x"}],"n":null},"o":{}}"#.utf8)
    for count in 1...whole.count {
      for end in ["", "]", "}", ",", "\"", ",\n{}]"] {
        let text = Array(whole[..<count] + end.utf8)
        let found = Set(Array("\0}]\",:0 {[n".utf8).map { Self.answer(to: text, before: $0) })
        #expect(found.count == 1, "\(String(decoding: text, as: UTF8.self)): \(found)")
      }
    }
  }

  /// What a text is parsed to that lies in memory full of a byte.
  private static func answer(to text: [UInt8], before byte: UInt8) -> String {
    let batch = RecordBatch()
    batch.reserveSource(1000)
    for place in batch.source.indices { batch.source[place] = byte }
    batch.source.copyBytes(from: text)
    batch.sourceCount = text.count
    var json: [UInt8] = []
    do {
      try batch.appendJSON(of: JSONText().parse(batch, start: 0, length: text.count), to: &json)
    } catch {
      return "\(error)"
    }
    return String(decoding: json, as: UTF8.self)
  }

  @Test("A full tape grows, and nothing is read twice")
  func fullTape() throws {
    let record = "{\"a\":[" + Array(repeating: "0", count: 30_000).joined(separator: ",") + "]}"
    let text = "[" + Array(repeating: record, count: 12).joined(separator: ",") + "]"
    let lines = try Self.reading(Array(text.utf8), limit: 1000)
    #expect(lines.count == 13)
    #expect(lines == (try Self.reading(Array(text.utf8), limit: 1)))
  }
}
