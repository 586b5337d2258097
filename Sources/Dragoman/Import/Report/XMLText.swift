import CSimdJSON

/// An element of the tape as XML text that says the same by prefixes of its own.
struct XMLText {
  private(set) var text = ""
  private let batch: RecordBatch

  /// Writes an element, its attributes, its direct text and its children, as far as they are among the parts; it has a
  /// start and an end tag.
  init(of node: UInt32, in batch: RecordBatch, _ parts: DocumentParts = .all) {
    self.batch = batch
    append(node, parts, isRoot: true)
  }

  private mutating func append(_ index: UInt32, _ parts: DocumentParts, isRoot: Bool = false) {
    let node = batch.nodes[Int(index)]
    let space = batch.namespaces[Int(node.space)]
    if space == RejectedRecord.wrapperNamespace { return }
    let name = name(of: node)
    text += "<\(name)"
    if isRoot {
      for (number, uri) in batch.namespaces.enumerated().dropFirst() where !Self.isXML(uri) {
        text += " xmlns:n\(number)=\"\(Self.escaped(uri))\""
      }
    }
    if Int(node.kind) == TAPE_NULL {
      text += " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:nil=\"true\""
    }
    var children: [(node: UInt32, parts: DocumentParts)] = []
    batch.forEachChild(of: index) { child, node in
      guard let parts = parts.parts(of: node, in: batch) else { return }
      guard node.flags & UInt8(TAPE_ATTRIBUTE) != 0 else { return children.append((child, parts)) }
      text += " \(self.name(of: node))=\"\(Self.escaped(batch.text(node.text, node.length)))\""
    }
    text += ">"
    if Int(node.kind) != TAPE_NULL, parts.hasText {
      text += Self.escaped(batch.text(node.text, node.length))
    }
    for child in children { append(child.node, child.parts) }
    text += "</\(name)>"
  }

  private func name(of node: TapeNode) -> String {
    let isXML = Self.isXML(batch.namespaces[Int(node.space)])
    let prefix = node.space == 0 ? "" : isXML ? "xml:" : "n\(node.space):"
    return prefix + batch.text(node.key, node.keyLength)
  }

  /// Whether a namespace is that of the prefix `xml`, which it has everywhere, and no other (Namespaces in XML 1.0, 3).
  private static func isXML(_ uri: String) -> Bool { uri == XMLPathSteps.xmlNamespace }

  static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "\t", "\n", "\r": escaped += "&#\(scalar.value);"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
