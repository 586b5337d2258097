import CSimdJSON

/// Checks stored JSON before it becomes part of a file, where a fault would spoil the whole.
final class JSONProbe {
  /// What a text is.
  enum Kind {
    /// No JSON.
    case none
    /// `null`, which an attribute of type json cannot keep apart from having no value.
    case null
    /// Any other value.
    case value
  }

  private var parser: JSONText?
  /// Holds the value that was looked at last.
  let batch = RecordBatch()
  /// Its node.
  private(set) var root: UInt32 = 0

  /// Parses the text, and keeps its tape until the next one.
  func kind(of bytes: UnsafeRawBufferPointer) -> Kind {
    batch.removeAll()
    do throws(ReadError) {
      if parser == nil { parser = try JSONText() }
      root = try parser?.parse(batch, detached: Array(bytes)) ?? 0
    } catch {
      return .none
    }
    return Int(batch.nodes[Int(root)].kind) == TAPE_NULL ? .null : .value
  }
}

extension JSONProbe {
  /// The text of the last value, where it is a string; valid until the next one.
  var string: UnsafeRawBufferPointer? {
    let node = batch.nodes[Int(root)]
    return Int(node.kind) == TAPE_STRING ? batch.bytes(node.text, node.length) : nil
  }
}
