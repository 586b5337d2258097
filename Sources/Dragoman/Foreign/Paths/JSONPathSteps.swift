/// The steps of a JSON path.
enum JSONPathSteps {
  static func parse(_ cursor: inout PathCursor) throws(PathFault) -> [ForeignPath.Step] {
    if cursor.peek == "/" { return try pointer(&cursor) }
    var steps: [ForeignPath.Step] = []
    repeat {
      let start = cursor.offset
      let name = cursor.take { $0 != "." && $0 != "[" && $0 != "]" }
      switch name {
      case "*":
        steps.append(.anyMember)
        let rest = cursor.rest()
        guard rest.isEmpty || rest == "[*]" else { throw notLast(start) }
        if !rest.isEmpty { steps.append(.all) }
      case "":
        guard cursor.peek == "[" else {
          throw PathFault(
            message: "A name is missing here; a key with dots is written as a pointer, /a.b.",
            offset: start
          )
        }
      default:
        steps.append(.member(name, namespace: nil))
      }
      while cursor.peek == "[" { steps.append(try subscriptStep(&cursor)) }
      if let stray = cursor.peek, stray != "." {
        throw PathFault(message: "\"\(stray)\" cannot stand here.", offset: cursor.offset)
      }
    } while cursor.next() != nil
    return steps
  }

  private static func subscriptStep(
    _ cursor: inout PathCursor
  ) throws(PathFault) -> ForeignPath.Step {
    let start = cursor.offset
    _ = cursor.next()
    let content = cursor.take { $0 != "]" }
    guard cursor.next() != nil else {
      throw PathFault(message: "The \"[\" is never closed.", offset: start)
    }
    if content == "*" { return .all }
    guard let index = arrayIndex(content) else {
      throw PathFault(
        message: "\"[\(content)]\" is neither an index such as [0] nor [*].",
        offset: start
      )
    }
    return .index(index)
  }

  /// RFC 6901: `/`, then tokens divided by `/`, in which `~1` is `/` and `~0` is `~`.
  private static func pointer(_ cursor: inout PathCursor) throws(PathFault) -> [ForeignPath.Step] {
    var steps: [ForeignPath.Step] = []
    while cursor.next() != nil {
      let start = cursor.offset
      var name = ""
      while let scalar = cursor.peek, scalar != "/" {
        _ = cursor.next()
        guard scalar == "~" else {
          name.unicodeScalars.append(scalar)
          continue
        }
        switch cursor.next() {
        case "0": name += "~"
        case "1": name += "/"
        default:
          throw PathFault(
            message: "In a pointer \"~\" is written ~0 and \"/\" is written ~1.",
            offset: cursor.offset - 1
          )
        }
      }
      if name == "*" || name == "*[*]" {
        guard cursor.peek == nil else { throw notLast(start) }
        steps.append(.anyMember)
        if name != "*" { steps.append(.all) }
      } else if let index = arrayIndex(name) {
        steps.append(.index(index))
      } else {
        steps.append(.member(name, namespace: nil))
      }
    }
    return steps
  }

  private static func notLast(_ offset: Int) -> PathFault {
    PathFault(
      message: "\"*\" can only be the last step, alone or as *[*] for the elements of all members.",
      offset: offset
    )
  }

  /// Decimal digits without a leading zero, small enough to be an index.
  private static func arrayIndex(_ text: String) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }),
      text == "0" || !text.hasPrefix("0")
    else { return nil }
    return Int(text)
  }
}
