import CSimdJSON

/// Writes a JSON value as the XML elements that are read as this value again (see TapeJSON.swift).
///
///     {"@id":"1","name":"Ada","tel":["1","2"]}
///     <p id="1"><name>Ada</name><tel>1</tel><tel>2</tel></p>
///
/// XML has only text, so numbers and booleans do not come back, nor do lists of one element, empty
/// objects, or members that are no names of elements.
struct JSONElements {
  let batch: RecordBatch
  let buffer: ExportBuffer
  /// What ends the tag of an element that is null.
  let nilEnd: [UInt8]

  /// XML nests no deeper when it is read.
  private static let maximumDepth = 200

  /// Writes a value at the place of an element; what is written before a fault must be taken back.
  func write(_ node: UInt32, name: UnsafeRawBufferPointer) -> SpellingFault? {
    if Int(batch.nodes[Int(node)].kind) == TAPE_ARRAY { return list(node, name, depth: 0) }
    return element(node, name, depth: 0)
  }

  private func list(
    _ node: UInt32,
    _ name: UnsafeRawBufferPointer,
    depth: Int
  ) -> SpellingFault? {
    let elements = children(of: node)
    guard elements.count > 1 else { return .jsonShape }
    for child in elements {
      if let fault = element(child, name, depth: depth) { return fault }
    }
    return nil
  }

  private func element(
    _ node: UInt32,
    _ name: UnsafeRawBufferPointer,
    depth: Int
  ) -> SpellingFault? {
    guard depth < Self.maximumDepth else { return .jsonShape }
    let value = batch.nodes[Int(node)]
    buffer.append(UInt8(ascii: "<"))
    buffer.append(name)
    switch Int(value.kind) {
    case TAPE_NULL: buffer.append(nilEnd)
    case TAPE_STRING:
      buffer.append(UInt8(ascii: ">"))
      guard buffer.append(batch.bytes(value.text, value.length), escaping: .xmlText) else {
        return .character
      }
      end(name)
    case TAPE_OBJECT: return object(node, name, depth: depth)
    default: return .jsonShape
    }
    return nil
  }

  /// Attributes first, then child elements, then the text: the order in which they are read.
  private func object(
    _ node: UInt32,
    _ name: UnsafeRawBufferPointer,
    depth: Int
  ) -> SpellingFault? {
    let members = children(of: node)
    var known: Set<[UInt8]> = []
    var isInTag = true
    guard !members.isEmpty else { return .jsonShape }
    for (index, member) in members.enumerated() {
      let value = batch.nodes[Int(member)]
      let key = Array(batch.bytes(value.key, value.keyLength))
      guard known.insert(key).inserted else { return .jsonShape }
      if key.first == UInt8(ascii: "@") {
        guard isInTag, Int(value.kind) == TAPE_STRING, Self.isName(key.dropFirst()) else {
          return .jsonShape
        }
        buffer.append(UInt8(ascii: " "))
        buffer.append(Array(key.dropFirst()))
        buffer.append("=\"")
        guard buffer.append(batch.bytes(value.text, value.length), escaping: .xmlAttribute) else {
          return .character
        }
        buffer.append(UInt8(ascii: "\""))
        continue
      }
      if isInTag { buffer.append(UInt8(ascii: ">")) }
      isInTag = false
      if key.elementsEqual("text()".utf8) {
        let text = batch.bytes(value.text, value.length)
        let isLast = index > 0 && index == members.count - 1
        guard isLast, Int(value.kind) == TAPE_STRING, !text.isBlank else { return .jsonShape }
        guard buffer.append(text, escaping: .xmlText) else { return .character }
        continue
      }
      guard Self.isName(key[...]) else { return .jsonShape }
      let isList = Int(value.kind) == TAPE_ARRAY
      let fault = key.withUnsafeBytes {
        isList ? list(member, $0, depth: depth + 1) : element(member, $0, depth: depth + 1)
      }
      if let fault { return fault }
    }
    if isInTag {
      buffer.append("/>")
    } else {
      end(name)
    }
    return nil
  }

  private func end(_ name: UnsafeRawBufferPointer) {
    buffer.append("</")
    buffer.append(name)
    buffer.append(UInt8(ascii: ">"))
  }

  private func children(of node: UInt32) -> [UInt32] {
    var children: [UInt32] = []
    var child = node + 1
    while child < batch.nodes[Int(node)].next {
      children.append(child)
      child = batch.nodes[Int(child)].next
    }
    return children
  }

  /// Only what every parser takes as a name, and what is no declaration of a namespace.
  private static func isName(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard let first = bytes.first, ASCII.isLetter(first) || first == UInt8(ascii: "_") else {
      return false
    }
    return !bytes.elementsEqual("xmlns".utf8)
      && bytes.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || "_-.".utf8.contains($0) }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether there is nothing but XML's white space, which between elements is layout.
  var isBlank: Bool {
    allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
  }
}
