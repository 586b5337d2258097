import CSimdJSON

/// Paths on the tape, step by step.
extension RecordBatch {
  /// Whether a value is of the kind that a step leads into: null and whatever else has no such members
  /// or elements is not.
  ///
  /// Some languages write a dictionary without members as the empty list.
  func holds(_ step: ForeignPath.Step, in node: UInt32, isPointer: Bool) -> Bool {
    switch Int(nodes[Int(node)].kind) {
    case TAPE_ELEMENT: true
    case TAPE_ARRAY: step.isForArrays || (step == .anyMember && isEmptyArray(node))
    case TAPE_OBJECT: !step.isForArrays || (step != .all && isPointer)
    default: false
    }
  }

  /// Whether a value is the list without elements.
  func isEmptyArray(_ node: UInt32) -> Bool {
    Int(nodes[Int(node)].kind) == TAPE_ARRAY && nodes[Int(node)].next == node + 1
  }

  /// Whether a value in a container is one that a step leads to.
  ///
  /// - Parameters:
  ///   - step: The step.
  ///   - value: The value.
  ///   - index: Its place in the container.
  ///   - container: What it stands in.
  ///   - isPointer: Whether the path is a JSON Pointer.
  /// - Returns: Whether the step leads there.
  func leads(
    _ step: ForeignPath.Step,
    to value: TapeNode,
    at index: Int,
    in container: TapeNode,
    isPointer: Bool
  ) -> Bool {
    let isArray = Int(container.kind) == TAPE_ARRAY
    let isAttribute = value.flags & UInt8(TAPE_ATTRIBUTE) != 0
    switch step {
    case .member(let name, let namespace):
      return !isArray && !isAttribute && isNamed(value, name, namespace)
    case .attribute(let name, let namespace):
      return isAttribute && isNamed(value, name, namespace)
    case .index(let wanted) where isArray: return index == wanted
    case .index(let wanted): return isPointer && isNamed(value, String(wanted), nil)
    case .all: return isArray
    case .anyMember: return !isArray && !isAttribute
    case .text, .having: return false
    }
  }

  /// Whether an element's attribute is as a filter wants it.
  func passes(_ test: ForeignPath.AttributeTest, _ element: UInt32) -> Bool {
    var child = element + 1
    while child < nodes[Int(element)].next {
      let value = nodes[Int(child)]
      guard value.flags & UInt8(TAPE_ATTRIBUTE) != 0 else { break }
      if isNamed(value, test.name, test.namespace) {
        let isWanted = test.value?.utf8.elementsEqual(bytes(value.text, value.length)) ?? true
        return isWanted != test.isNegated
      }
      child = value.next
    }
    return test.isNegated
  }

  private func isNamed(_ value: TapeNode, _ name: String, _ namespace: String?) -> Bool {
    name.utf8.elementsEqual(bytes(value.key, value.keyLength))
      && (namespace ?? "").utf8.elementsEqual(namespaces[Int(value.space)].utf8)
  }

  /// The text of a value that is a word: objects, lists and null are none, not the empty one either.
  func word(at node: UInt32) -> UnsafeRawBufferPointer? {
    let value = nodes[Int(node)]
    switch Int(value.kind) {
    case TAPE_OBJECT, TAPE_ARRAY, TAPE_NULL: return nil
    default: return bytes(value.text, value.length)
    }
  }

  /// The values that a value holds: elements, members, child elements; no XML attributes.
  func children(of node: UInt32) -> [UInt32] {
    var found: [UInt32] = []
    var child = node + 1
    let end = nodes[Int(node)].next
    while child < end {
      let value = nodes[Int(child)]
      if value.flags & UInt8(TAPE_ATTRIBUTE) == 0 { found.append(child) }
      child = value.next
    }
    return found
  }
}
