import CSimdJSON
import Foundation

/// Reads newline-delimited JSON: one record a line, blank lines skipped.
///
/// Lines are texts of their own: one that is not JSON is a record that the report names, and the
/// others are read. Only a last line without its line feed that ends inside a value refuses the
/// feed: it was cut off.
final class NDJSONReader: RecordReader {
  // Nothing here runs code of others: exclusive access needs no check at run time.
  @exclusivity(unchecked) private var window: SourceWindow
  private let text: JSONText
  @exclusivity(unchecked) private var recordCount = 0

  /// - Throws: `.limit` when there is no memory for a parser.
  init(source: any ByteSource, limit: RecordLimit = .standard) throws(ReadError) {
    window = SourceWindow(source: source, limit: limit)
    text = try JSONText()
  }

  var consumedByteCount: Int { window.source.consumedByteCount }

  var recordCounts: [Int?] { [recordCount] }

  func read(into batch: RecordBatch, limit: Int) throws(ReadError) -> Bool {
    window.open(batch)
    defer { window.close(batch) }
    try window.skipByteOrderMark(batch)
    while batch.records.count < limit && window.position < SourceWindow.targetByteCount {
      guard let (line, isTerminated) = try nextLine(batch) else { return false }
      try append(line, isTerminated: isTerminated, to: batch)
      window.position = isTerminated ? line.upperBound + 1 : line.upperBound
    }
    return true
  }

  /// The next line without its line feed, and whether it had one; nil at the end.
  private func nextLine(
    _ batch: RecordBatch
  ) throws(ReadError) -> (line: Range<Int>, isTerminated: Bool)? {
    var searched = window.position
    while true {
      if let source = batch.source.baseAddress, searched < batch.sourceCount,
        let feed = memchr(source + searched, CInt(UInt8(ascii: "\n")), batch.sourceCount - searched)
      {
        return (window.position..<UnsafeRawPointer(feed) - UnsafeRawPointer(source), true)
      }
      searched = batch.sourceCount
      if try !window.fill(batch) {
        let line = window.position..<batch.sourceCount
        return line.isEmpty ? nil : (line, false)
      }
    }
  }

  private func append(
    _ line: Range<Int>,
    isTerminated: Bool,
    to batch: RecordBatch
  ) throws(ReadError) {
    guard let start = line.first(where: { !isJSONSpace(batch.source[$0]) }) else { return }
    recordCount += 1
    try window.limit.check(batch, start: start, length: line.upperBound - start)
    var node = RecordBatch.malformedNode
    do throws(ReadError) {
      node = try text.parse(batch, start: start, length: line.upperBound - start)
    } catch {
      guard isTerminated || !isCutOff(error, line, batch) else {
        throw ReadError(
          .truncated,
          "The feed was cut off: its last line has no line feed and is not a whole JSON text.",
          at: error.origin,
          help: "fetch the feed again"
        )
      }
      batch.failures[batch.records.count] = error
    }
    batch.records.append(
      RecordBatch.Record(
        node: node,
        start: UInt32(start),
        length: UInt32(line.upperBound - start),
        number: recordCount,
        source: 0
      )
    )
  }

  /// Whether what is refused may be the beginning of something: nothing behind it in the line ends a value.
  private func isCutOff(_ error: ReadError, _ line: Range<Int>, _ batch: RecordBatch) -> Bool {
    switch error.code {
    case .truncated: return true
    case .json, .encoding:
      let start = batch.origin(at: UInt32(line.lowerBound), record: nil).byte
      let place = line.lowerBound + max(0, (error.origin?.byte ?? start) - start)
      guard place < line.upperBound else { return true }
      return !batch.source[place..<line.upperBound].contains { ",]}\"".utf8.contains($0) }
    default: return false
    }
  }
}
