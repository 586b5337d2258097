/// A hash of records: it tells whether a feed is read again as it was.
///
/// It protects nothing. The same records give the same hash however their text is spaced, and wherever batches end.
struct FeedHash {
  private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325
  /// The file of the last records.
  private var file: String?

  /// The hash of a text: 16 hexadecimal digits.
  ///
  /// FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/).
  static func text(_ text: String) -> String {
    var hash = FeedHash()
    hash.addBytes(text.utf8)
    let digits = String(hash.value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Adds bytes; in how many parts they come makes no difference.
  mutating func addBytes(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
  }

  /// Adds the records of a batch, with all that they are read from.
  mutating func add(_ batch: RecordBatch) {
    guard !batch.records.isEmpty else { return }
    if file != batch.file {
      file = batch.file
      for byte in batch.file.utf8 { add(UInt64(byte)) }
      if let document = batch.document { add(document, of: batch) }
    }
    for record in batch.records {
      add(UInt64(record.source))
      add(batch.bytes(record.key, record.keyLength))
      if record.node == RecordBatch.malformedNode {
        let (start, length) = (Int(record.start), Int(record.length))
        add(UnsafeRawBufferPointer(rebasing: batch.source[start..<start + length]))
      } else {
        add(record.node, of: batch)
      }
    }
  }

  private mutating func add(_ root: UInt32, of batch: RecordBatch) {
    for index in Int(root)..<Int(batch.nodes[Int(root)].next) {
      let node = batch.nodes[index]
      add((UInt64(node.next) - UInt64(index)) << 32 | UInt64(node.space) << 8 | UInt64(node.kind))
      add(batch.bytes(node.key, node.keyLength))
      add(batch.bytes(node.text, node.length))
    }
  }

  private mutating func add(_ bytes: UnsafeRawBufferPointer) {
    add(UInt64(bytes.count))
    var place = 0
    while place + 8 <= bytes.count {
      add(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
      place += 8
    }
    var rest: UInt64 = 0
    while place < bytes.count {
      rest = rest << 8 | UInt64(bytes[place])
      place += 1
    }
    add(rest)
  }

  @inline(__always)
  private mutating func add(_ word: UInt64) {
    value = (value ^ word) &* 0x9e37_79b9_7f4a_7c15
    value ^= value >> 29
  }
}
