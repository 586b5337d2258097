import DragomanGraph

/// A hash of records: it tells whether a feed is read again as it was.
///
/// It protects nothing. The same records give the same hash however their text is spaced, and wherever batches end.
struct FeedHash {
  private var hash = ContentHash()
  /// The file of the last records.
  private var file: String?

  /// The hash of a text: 16 hexadecimal digits.
  static func text(_ text: String) -> String { ContentHash(ofText: text).digits }

  /// What the records have come to.
  var value: UInt64 { hash.value }

  /// Adds bytes; in how many parts they come makes no difference.
  mutating func addBytes(_ bytes: some Sequence<UInt8>) { hash.addBytes(bytes) }

  /// Adds the records of a batch, with all that they are read from.
  mutating func add(_ batch: RecordBatch) {
    guard !batch.records.isEmpty else { return }
    if file != batch.file {
      file = batch.file
      // A feed that is read on several machines may be in several folders.
      let name = batch.file.split(separator: "/").last ?? ""
      for byte in name.utf8 { hash.add(UInt64(byte)) }
      if let document = batch.document { add(document, of: batch) }
    }
    for record in batch.records {
      hash.add(UInt64(record.source))
      hash.add(batch.bytes(record.key, record.keyLength))
      if record.node == RecordBatch.malformedNode {
        let (start, length) = (Int(record.start), Int(record.length))
        hash.add(UnsafeRawBufferPointer(rebasing: batch.source[start..<start + length]))
      } else {
        add(record.node, of: batch)
      }
    }
  }

  private mutating func add(_ root: UInt32, of batch: RecordBatch) {
    for index in Int(root)..<Int(batch.nodes[Int(root)].next) {
      let node = batch.nodes[index]
      hash.add(
        (UInt64(node.next) - UInt64(index)) << 32 | UInt64(node.space) << 8 | UInt64(node.kind)
      )
      hash.add(batch.bytes(node.key, node.keyLength))
      hash.add(batch.bytes(node.text, node.length))
    }
  }
}
