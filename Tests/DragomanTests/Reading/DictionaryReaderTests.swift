import CSimdJSON
import Foundation
import Testing

@testable import Dragoman

@Suite struct DictionaryReaderTests {
  /// What the reader puts on the tape, batch after batch, read back.
  private func read(_ values: [ForeignValue], limit: Int) throws -> ([ForeignValue], [Int], Int) {
    let reader = DictionaryReader(values, name: "memory")
    let batch = RecordBatch()
    var found: [ForeignValue] = []
    var numbers: [Int] = []
    var batchCount = 0
    var isMore = true
    while isMore {
      isMore = try reader.read(into: batch, limit: limit)
      batchCount += 1
      for record in batch.records {
        found.append(ForeignValue(batch, record.node))
        numbers.append(record.number)
      }
    }
    #expect(reader.recordCounts == [values.count])
    return (found, numbers, batchCount)
  }

  @Test("Values come back from the tape as they were", arguments: [1, 2, 1000])
  func roundTrip(limit: Int) throws {
    let values: [ForeignValue] = [
      ["id": 7, "b": [true, false, nil], "s": "a\u{0}é\u{1F600}", "n": .number("1e400")],
      ["d": .data([0, 1, 255]), "t": .instant(ForeignInstant(seconds: -1, microsecond: 999_999))],
      ["far": .instant(ForeignInstant(seconds: .max)), "nan": .double(.nan), "e": [:], "f": []],
      7, "text", nil, [1, [2]], ["": "", "i": .integer(.min), "j": .integer(.max)],
      ["k": 1, "k": 2], .double(.infinity), .double(-.infinity), true,
    ]
    let (found, numbers, batchCount) = try read(values, limit: limit)
    #expect(found == values)
    #expect(numbers == Array(1...values.count))
    #expect(batchCount == (values.count + limit - 1) / limit)
  }

  @Test("Every number of digits is written whole")
  func digits() throws {
    var numbers: [ForeignValue] = [0, .integer(.min), .integer(.max)]
    var power: Int64 = 1
    for _ in 0..<18 {
      power *= 10
      numbers += [.integer(power), .integer(power - 1), .integer(-power), .integer(1 - power)]
    }
    #expect(try read([.array(numbers)], limit: 1).0 == [.array(numbers)])
    let texts = numbers.compactMap { $0.int64.map(String.init) }
    #expect(ForeignValue.array(numbers).json == "[\(texts.joined(separator: ","))]")
  }

  @Test("A batch ends at about a megabyte, and none is lost")
  func batches() throws {
    let text = ForeignValue.string(String(repeating: "x", count: 300_000))
    let (found, _, batchCount) = try read(Array(repeating: ["t": text], count: 10), limit: 1000)
    #expect(found.count == 10)
    #expect(batchCount == 3)
  }

  @Test("A record nested too deep is refused alone, as in JSON")
  func depth() throws {
    func nested(_ depth: Int) -> ForeignValue {
      (0..<depth).reduce(ForeignValue.null) { value, _ in [value] }
    }
    let reader = DictionaryReader(
      [["id": 1], nested(1000), nested(999), ["id": 2]],
      name: "memory"
    )
    let batch = RecordBatch()
    #expect(try reader.read(into: batch, limit: 10) == false)
    #expect(batch.failures.keys.sorted() == [1])
    #expect(batch.failures[1]?.code == .limit)
    #expect(batch.records[1].node == RecordBatch.malformedNode)
    #expect(ForeignValue(batch, batch.records[3].node) == ["id": 2])
    let deepText = String(repeating: "[", count: 1000) + "1" + String(repeating: "]", count: 1000)
    #expect(try ForeignValue(json: nested(999).json) == nested(999))
    #expect(throws: ReadError.self) { try ForeignValue(json: deepText) }
  }

  @Test("An empty array of records is a batch of none")
  func empty() throws {
    let (found, _, batchCount) = try read([], limit: 10)
    #expect(found.isEmpty)
    #expect(batchCount == 1)
  }
}
