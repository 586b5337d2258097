@testable import Dragoman

/// The readers: bytes to records.
///
/// Every input is read twice, whole and in small pieces: how many bytes come at once must make no difference.
enum ReaderTargets {
  static let json: Target = { bytes in
    let deep: [[ForeignPath.Step]] = [
      [], [.member("items", namespace: nil)], [.member("a", namespace: nil), .all],
    ]
    for path in deep { check(bytes) { try JSONReader(source: $0, paths: [path]) } }
  }

  static let ndjson: Target = { bytes in check(bytes) { try NDJSONReader(source: $0) } }

  static let xml: Target = { bytes in
    let items = [
      XMLRecordPath.Step.element("items", namespace: nil), .element("item", namespace: nil),
    ]
    for steps in [items, [.any, .any], [.any]] {
      check(bytes) { try XMLReader(source: PeekableSource($0), paths: [XMLRecordPath(steps)]) }
    }
  }

  static let csv: Target = { bytes in
    for separator in [UInt8(ascii: ","), UInt8(ascii: ";"), 9] {
      check(bytes) { CSVReader(source: $0, separator: separator) }
    }
  }

  private static func check(
    _ bytes: UnsafeRawBufferPointer,
    _ make: (any ByteSource) throws -> any RecordReader
  ) {
    let whole = read(MemorySource(Array(bytes)), 1000, make)
    let pieces = read(MemorySource(Array(bytes), stride: 3), 2, make)
    precondition(whole == pieces, "read whole: \(whole)\nread in pieces: \(pieces)")
  }

  /// The records as JSON, and the error that ends them.
  private static func read(
    _ source: any ByteSource,
    _ limit: Int,
    _ make: (any ByteSource) throws -> any RecordReader
  ) -> [String] {
    var found: [String] = []
    let batch = RecordBatch()
    func keep() {
      for (index, record) in batch.records.enumerated() {
        if record.node == RecordBatch.malformedNode {
          found.append(
            "malformed: \(batch.failures[index].map(\.code.rawValue) ?? "without a reason")"
          )
          continue
        }
        var text: [UInt8] = []
        batch.appendJSON(of: record.node, to: &text)
        found.append(String(decoding: text, as: UTF8.self))
        let origin = batch.origin(at: record.start, record: record.number)
        precondition(origin.line > 0 && origin.column > 0 && origin.byte >= 0)
        // What is on the tape can be read again.
        if let value = try? ForeignValue(json: String(decoding: text, as: UTF8.self)) {
          precondition(value.json == String(decoding: text, as: UTF8.self), "\(value.json)")
        }
      }
    }
    do {
      let reader = try make(source)
      var isMore = true
      while isMore {
        batch.removeAll()
        isMore = try reader.read(into: batch, limit: limit)
        keep()
      }
    } catch let error as ReadError {
      keep()
      // Which of two faults at one place is told may depend on the pieces.
      found.append("refused at byte \(error.origin.map { $0.byte } ?? -1)")
    } catch {
      fatalError("\(error)")
    }
    return found
  }
}
