import CSimdJSON

/// Reads records that are in memory already: the same tape as every other reader's, without text.
///
/// Names and values are copied into the batch's arena and nothing else is allocated. Numbers are
/// spelled by their shortest digits, dates as the store spells them but as nodes of a kind of their
/// own: a string that looks like a date is never taken for one.
///
/// Values that are no records go on the tape as well; the mapper refuses them by their number.
final class DictionaryReader: RecordReader {
  private let values: [ForeignValue]
  private let name: String
  private var position = 0

  /// About that many bytes and nodes' worth of them make a batch.
  private static let targetByteCount = 1 << 20
  /// What one record may have, so that offsets stay far within 32 bits.
  private static let maximumByteCount = 1 << 30

  /// Makes a reader.
  ///
  /// - Parameters:
  ///   - values: The records.
  ///   - name: What messages call the input.
  init(_ values: [ForeignValue], name: String) {
    self.values = values
    self.name = name
  }

  let consumedByteCount = 0

  var recordCounts: [Int?] { [position] }

  func read(into batch: RecordBatch, limit: Int) throws(ReadError) -> Bool {
    batch.removeAll()
    batch.file = name
    batch.isText = false
    while position < values.count && batch.records.count < limit
      && batch.arenaEnd < Self.targetByteCount
      && batch.nodeCount < Self.targetByteCount / 32
    {
      let node = UInt32(batch.nodeCount)
      let arenaEnd = batch.arenaEnd
      var record = RecordBatch.Record(
        node: node,
        start: 0,
        length: 0,
        number: position + 1,
        source: 0
      )
      if !Self.append(values[position], to: batch) {
        batch.didAppendNodes(to: Int(node))
        batch.arenaEnd = arenaEnd
        record.node = RecordBatch.malformedNode
        batch.failures[batch.records.count] = ReadError(
          .limit,
          "The record is nested deeper than \(JSON_MAX_DEPTH) levels, or larger than 1 GB."
        )
      }
      batch.records.append(record)
      position += 1
    }
    return position < values.count
  }

  /// Appends one value with all it holds.
  ///
  /// - Returns: false where it is nested too deep or too large; the tape is then cut off in it.
  static func append(_ value: ForeignValue, to batch: RecordBatch) -> Bool {
    append(value, TapeNode(), to: batch, depth: 0)
  }

  /// Appends a value whose node has its key already.
  private static func append(
    _ value: ForeignValue,
    _ keyed: TapeNode,
    to batch: RecordBatch,
    depth: Int
  ) -> Bool {
    // As in JSON, a scalar is a level of its own.
    guard depth < Int(JSON_MAX_DEPTH) else { return false }
    var node = keyed
    switch value {
    case .null: node.kind = UInt8(TAPE_NULL)
    case .bool(let flag):
      node.kind = UInt8(flag ? TAPE_TRUE : TAPE_FALSE)
      return append(flag ? "true" : "false", &node, to: batch)
    case .integer(let integer):
      node.kind = UInt8(TAPE_NUMBER)
      append(integer, &node, to: batch)
    case .double(let double):
      node.kind = UInt8(TAPE_NUMBER)
      if !double.isFinite { node.flags = UInt8(TAPE_OUTSIDE) }
      return append(double.description, &node, to: batch)
    case .number(let digits):
      node.kind = UInt8(TAPE_NUMBER)
      if !digits.isPlainNumber { node.flags = UInt8(TAPE_OUTSIDE) }
      return append(digits, &node, to: batch)
    case .string(let text):
      node.kind = UInt8(TAPE_STRING)
      return append(text, &node, to: batch)
    case .data(let bytes):
      node.kind = UInt8(TAPE_DATA)
      return bytes.withUnsafeBytes { append($0, &node, to: batch) }
    case .instant(let instant):
      node.kind = UInt8(TAPE_DATE)
      return append(instant, &node, to: batch)
    case .array(let elements):
      node.kind = UInt8(TAPE_ARRAY)
      let index = batch.append(node)
      for element in elements {
        guard append(element, TapeNode(), to: batch, depth: depth + 1) else { return false }
      }
      batch.setEnd(of: index)
      return true
    case .object(let record):
      node.kind = UInt8(TAPE_OBJECT)
      let index = batch.append(node)
      for member in record.members {
        var child = TapeNode()
        guard let key = place(member.key, in: batch) else { return false }
        (child.key, child.keyLength) = key
        guard append(member.value, child, to: batch, depth: depth + 1) else { return false }
      }
      batch.setEnd(of: index)
      return true
    }
    finish(&node, in: batch)
    return true
  }

  // MARK: - Scalars

  private static func finish(_ node: inout TapeNode, in batch: RecordBatch) {
    node.next = UInt32(batch.nodeCount + 1)
    batch.append(node)
  }

  @inline(__always)
  private static func place(_ text: String, in batch: RecordBatch) -> (UInt32, UInt32)? {
    var text = text
    return text.withUTF8 { bytes in
      guard bytes.count < maximumByteCount, batch.arenaEnd < maximumByteCount else { return nil }
      return batch.append(UnsafeRawBufferPointer(bytes))
    }
  }

  @inline(__always)
  private static func append(
    _ text: String,
    _ node: inout TapeNode,
    to batch: RecordBatch
  ) -> Bool {
    guard let place = place(text, in: batch) else { return false }
    (node.text, node.length) = place
    finish(&node, in: batch)
    return true
  }

  private static func append(
    _ bytes: UnsafeRawBufferPointer,
    _ node: inout TapeNode,
    to batch: RecordBatch
  ) -> Bool {
    guard bytes.count < maximumByteCount, batch.arenaEnd < maximumByteCount else { return false }
    (node.text, node.length) = batch.append(bytes)
    finish(&node, in: batch)
    return true
  }

  /// Writes the digits where they stay.
  private static func append(_ integer: Int64, _ node: inout TapeNode, to batch: RecordBatch) {
    var rest = integer.magnitude
    var count = integer < 0 ? 2 : 1
    var power: UInt64 = 10
    while rest >= power {
      count += 1
      let (next, overflows) = power.multipliedReportingOverflow(by: 10)
      if overflows { break }
      power = next
    }
    batch.reserveArena(count)
    let start = batch.arenaEnd
    var place = start + count
    repeat {
      place -= 1
      batch.arena[place] = 0x30 &+ UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    } while rest > 0
    if integer < 0 { batch.arena[start] = UInt8(ascii: "-") }
    batch.arenaEnd = start + count
    (node.text, node.length) = (UInt32(start), UInt32(count))
  }

  private static func append(
    _ instant: ForeignInstant,
    _ node: inout TapeNode,
    to batch: RecordBatch
  ) -> Bool {
    let civil = CivilTime(seconds: Int(instant.seconds), microsecond: Int(instant.microsecond))
    guard let civil else {
      node.flags = UInt8(TAPE_OUTSIDE)
      return append(String(instant.seconds), &node, to: batch)
    }
    batch.reserveArena(CivilTime.storedCapacity)
    let start = batch.arenaEnd
    let count = civil.writeTimestamp(
      into: UnsafeMutableRawBufferPointer(
        rebasing: batch.arena[start..<start + CivilTime.storedCapacity]
      )
    )
    batch.arenaEnd = start + count
    (node.text, node.length) = (UInt32(start), UInt32(count))
    finish(&node, in: batch)
    return true
  }
}
