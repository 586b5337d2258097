import TestSupport
import Testing

@testable import Dragoman

/// Where a byte of a batch stands in its feed, in whatever order it is asked for.
@Suite("Places in a feed") struct RecordOriginTests {
  /// Lines and columns of each byte, counted from the beginning.
  private static func places(_ bytes: [UInt8], line: Int, column: Int) -> [(line: Int, column: Int)]
  {
    var (line, column) = (line, column)
    var places: [(Int, Int)] = []
    for byte in bytes {
      places.append((line, column))
      if byte == UInt8(ascii: "\n") {
        (line, column) = (line + 1, 1)
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    return places + [(line, column)]
  }

  @Test("Places are those of a count from the beginning, forwards and back, batch after batch")
  func places() throws {
    var random = SplitMix(state: Seeds.seed())
    let batch = RecordBatch()
    for (line, column) in [(1, 1), (7, 12)] {
      batch.removeAll()
      (batch.line, batch.column) = (line, column)
      let words = ["a", "é", "€", "😀", "\n", "\r\n"]
      let text = (0..<30_000).map { _ in words.randomElement(using: &random) ?? "" }.joined()
      let bytes = Array(text.utf8)
      _ = batch.appendSource(bytes)
      let places = Self.places(bytes, line: line, column: column)
      var offsets = [0, bytes.count, 4095, 4096, 4097, 8192, 4096, 0]
      offsets += (0..<2000).map { _ in Int.random(in: 0...bytes.count, using: &random) }
      for offset in offsets {
        let origin = batch.origin(at: UInt32(offset), record: nil)
        #expect(
          origin.line == places[offset].line && origin.column == places[offset].column,
          "\(offset)"
        )
      }
    }
  }
}
