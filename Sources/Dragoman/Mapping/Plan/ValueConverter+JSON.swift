import CSimdJSON
import DragomanGraph

/// JSON as a value.
extension ValueConverter {
  /// A text for a JSON attribute, of an element that may be more than a text.
  func jsonText(_ index: UInt32, _ batch: RecordBatch) -> Conversion {
    let node = batch.nodes[Int(index)]
    let isText = node.next == index + 1
    guard isText, trims || emptyIsNull || !nulls.isEmpty else { return json(index, batch) }
    guard let (start, length) = cleaned(node.text, node.length, batch) else { return .null }
    return length == node.length ? json(index, batch) : jsonString(start, length, batch)
  }

  func json(_ index: UInt32, _ batch: RecordBatch) -> Conversion {
    if !batch.isText && holdsNoNumber(index, batch) { return .invalid(.notFinite) }
    var bytes: [UInt8] = []
    batch.appendJSON(of: index, to: &bytes)
    let (start, length) = bytes.withUnsafeBytes { batch.append($0) }
    return .value(.text(at: start, length: length))
  }

  /// Whether JSON could not write some number of a dictionary.
  private func holdsNoNumber(_ index: UInt32, _ batch: RecordBatch) -> Bool {
    (index..<batch.nodes[Int(index)].next).contains { place in
      let node = batch.nodes[Int(place)]
      return Int(node.kind) == TAPE_NUMBER && node.flags & UInt8(TAPE_OUTSIDE) != 0
    }
  }

  /// Text of a textual format in a JSON attribute is a JSON string.
  func jsonString(_ start: UInt32, _ length: UInt32, _ batch: RecordBatch) -> Conversion {
    var bytes: [UInt8] = []
    JSONString.append(batch.bytes(start, length), to: &bytes)
    let (place, count) = bytes.withUnsafeBytes { batch.append($0) }
    return .value(.text(at: place, length: count))
  }
}
