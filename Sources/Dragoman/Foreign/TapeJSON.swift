import CSimdJSON
import DragomanGraph
import Foundation

/// Writes a value of the tape as JSON text: for attributes of type json, and for reports.
///
/// JSON values come out as they were: numbers keep their digits, members their order and their
/// duplicates; strings escape only what RFC 8259, section 7 wants escaped. What only dictionaries
/// have becomes a string: a date in ISO 8601, bytes in base64, a number that is none by its name.
///
/// XML elements follow this convention:
/// - an element with neither attributes nor child elements is its text, `""` when it is empty;
/// - `xsi:nil="true"` is `null`;
/// - any other element is an object of its attributes (`"@id"`), its child elements (`"name"`) and
///   its direct text (`"text()"`, left out when empty), by their names without prefix;
/// - what has the same name becomes one array, in document order, where the first one stands.
///
/// ```text
/// <p id="1"><name>Ada</name><tel>1</tel><tel>2</tel></p>
/// {"@id":"1","name":"Ada","tel":["1","2"]}
/// ```
extension RecordBatch {
  /// Appends the value at a node, with all it holds, to a JSON text.
  ///
  /// - Parameters:
  ///   - index: The node's index in the tape.
  ///   - json: The UTF-8 bytes to append to.
  func appendJSON(of index: UInt32, to json: inout [UInt8]) {
    let node = nodes[Int(index)]
    switch Int(node.kind) {
    case TAPE_FALSE: json.append(contentsOf: "false".utf8)
    case TAPE_TRUE: json.append(contentsOf: "true".utf8)
    case TAPE_NUMBER where node.flags & UInt8(TAPE_OUTSIDE) == 0:
      json.append(contentsOf: bytes(node.text, node.length))
    case TAPE_NUMBER: JSONString.append(bytes(node.text, node.length), to: &json)
    case TAPE_STRING: JSONString.append(bytes(node.text, node.length), to: &json)
    case TAPE_ARRAY: appendJSONArray(childIndices(of: index), to: &json)
    case TAPE_OBJECT: appendJSONObject(index, to: &json)
    case TAPE_ELEMENT: appendJSONElement(index, to: &json)
    case TAPE_DATE: appendJSONDate(node, to: &json)
    case TAPE_DATA:
      let text = Data(bytes(node.text, node.length)).base64EncodedString()
      json.append(contentsOf: "\"\(text)\"".utf8)
    default: json.append(contentsOf: "null".utf8)
    }
  }

  private func appendJSONDate(_ node: TapeNode, to json: inout [UInt8]) {
    json.append(UInt8(ascii: "\""))
    if node.flags & UInt8(TAPE_OUTSIDE) == 0 {
      let text = bytes(node.text, node.length)
      json.append(contentsOf: text[..<10])
      json.append(UInt8(ascii: "T"))
      json.append(contentsOf: text[11...])
      json.append(UInt8(ascii: "Z"))
    } else {
      json.append(contentsOf: bytes(node.text, node.length))
    }
    json.append(UInt8(ascii: "\""))
  }

  /// The indices of the nodes directly below a node.
  private func childIndices(of index: UInt32) -> [UInt32] {
    var children: [UInt32] = []
    var child = index + 1
    while child < nodes[Int(index)].next {
      children.append(child)
      child = nodes[Int(child)].next
    }
    return children
  }

  private func appendJSONArray(_ elements: [UInt32], to json: inout [UInt8]) {
    json.append(UInt8(ascii: "["))
    for (position, element) in elements.enumerated() {
      if position > 0 { json.append(UInt8(ascii: ",")) }
      appendJSON(of: element, to: &json)
    }
    json.append(UInt8(ascii: "]"))
  }

  private func appendJSONObject(_ index: UInt32, to json: inout [UInt8]) {
    json.append(UInt8(ascii: "{"))
    for (position, member) in childIndices(of: index).enumerated() {
      if position > 0 { json.append(UInt8(ascii: ",")) }
      JSONString.append(bytes(nodes[Int(member)].key, nodes[Int(member)].keyLength), to: &json)
      json.append(UInt8(ascii: ":"))
      appendJSON(of: member, to: &json)
    }
    json.append(UInt8(ascii: "}"))
  }

  private func appendJSONElement(_ index: UInt32, to json: inout [UInt8]) {
    let node = nodes[Int(index)]
    let children = childIndices(of: index)
    guard !children.isEmpty else {
      return JSONString.append(bytes(node.text, node.length), to: &json)
    }
    // Names are grouped by their bytes: as Strings, two Unicode forms would be one name.
    var groups: [(name: [UInt8], members: [UInt32])] = []
    var groupOfName: [[UInt8]: Int] = [:]
    for child in children {
      let name = jsonName(of: nodes[Int(child)])
      if let group = groupOfName[name] {
        groups[group].members.append(child)
      } else {
        groupOfName[name] = groups.count
        groups.append((name, [child]))
      }
    }
    json.append(UInt8(ascii: "{"))
    for (position, group) in groups.enumerated() {
      if position > 0 { json.append(UInt8(ascii: ",")) }
      group.name.withUnsafeBytes { JSONString.append($0, to: &json) }
      json.append(UInt8(ascii: ":"))
      if group.members.count == 1 {
        appendJSON(of: group.members[0], to: &json)
      } else {
        appendJSONArray(group.members, to: &json)
      }
    }
    if node.length > 0 {
      json.append(contentsOf: #","text()":"#.utf8)
      JSONString.append(bytes(node.text, node.length), to: &json)
    }
    json.append(UInt8(ascii: "}"))
  }

  /// The member name of an attribute or a child element.
  private func jsonName(of node: TapeNode) -> [UInt8] {
    let isAttribute = node.flags & UInt8(TAPE_ATTRIBUTE) != 0
    return (isAttribute ? [UInt8(ascii: "@")] : []) + bytes(node.key, node.keyLength)
  }
}
