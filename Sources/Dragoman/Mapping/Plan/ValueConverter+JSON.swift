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
    if !batch.isText, let fault = outside(index, batch) { return .invalid(fault) }
    var bytes: [UInt8] = []
    batch.appendJSON(of: index, to: &bytes)
    let (start, length) = bytes.withUnsafeBytes { batch.append($0) }
    return .value(.text(at: start, length: length))
  }

  /// What is wrong with a number or a date of a dictionary that JSON could not write; nil: it can write all.
  private func outside(_ index: UInt32, _ batch: RecordBatch) -> Fault? {
    for place in index..<batch.nodes[Int(index)].next {
      let node = batch.nodes[Int(place)]
      guard node.flags & UInt8(TAPE_OUTSIDE) != 0 else { continue }
      switch Int(node.kind) {
      case TAPE_NUMBER: return .notFinite
      case TAPE_DATE: return .farDate
      default: continue
      }
    }
    return nil
  }

  /// Text of a textual format in a JSON attribute is a JSON string.
  func jsonString(_ start: UInt32, _ length: UInt32, _ batch: RecordBatch) -> Conversion {
    var bytes: [UInt8] = []
    JSONString.append(batch.bytes(start, length), to: &bytes)
    let (place, count) = bytes.withUnsafeBytes { batch.append($0) }
    return .value(.text(at: place, length: count))
  }
}
