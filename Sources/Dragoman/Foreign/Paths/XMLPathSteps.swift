import DragomanGraph

/// The steps of an XML path.
struct XMLPathSteps {
  /// Bound by the XML namespaces recommendation itself.
  static let xmlNamespace = "http://www.w3.org/XML/1998/namespace"

  var namespaces: [String: String]

  func parse(_ cursor: inout PathCursor) throws(PathFault) -> [ForeignPath.Step] {
    var steps: [ForeignPath.Step] = []
    while true {
      let start = cursor.offset
      let step = try step(cursor.take { $0 != "/" && $0 != "[" }, at: start)
      steps.append(step)
      while cursor.peek == "[" { steps.append(.having(try filter(&cursor, of: step))) }
      guard cursor.next() != nil else { return steps }
      switch step {
      case .attribute, .text:
        throw PathFault(message: "Nothing can follow an attribute or text().", offset: start)
      default: break
      }
    }
  }

  /// `[@a]`, `[@a="b"]` or `[not(…)]` behind an element.
  private func filter(
    _ cursor: inout PathCursor,
    of step: ForeignPath.Step
  ) throws(PathFault) -> ForeignPath.AttributeTest {
    let start = cursor.offset
    let fault = PathFault(
      message: "An element is chosen by [@a], [@a=\"b\"], [not(@a)] or [not(@a=\"b\")].",
      offset: start
    )
    switch step {
    case .member, .anyMember: break
    default: throw fault
    }
    _ = cursor.next()
    let isNegated = cursor.take("not(")
    guard cursor.take("@") else { throw fault }
    let nameOffset = cursor.offset
    let name = try name(
      cursor.take { !"=)]".unicodeScalars.contains($0) },
      at: nameOffset,
      defaultNamespace: nil
    )
    var value: String?
    if cursor.take("=") {
      guard let quote = cursor.next(), quote == "\"" || quote == "'" else { throw fault }
      value = cursor.take { $0 != quote }
      guard cursor.next() != nil else { throw fault }
    }
    guard !isNegated || cursor.take(")"), cursor.take("]") else { throw fault }
    if let next = cursor.peek, next != "/" && next != "[" { throw fault }
    return ForeignPath.AttributeTest(
      name: name.local,
      namespace: name.namespace,
      value: value,
      isNegated: isNegated
    )
  }

  private func step(_ text: String, at offset: Int) throws(PathFault) -> ForeignPath.Step {
    if text == "*" { return .anyMember }
    if text == "text()" { return .text }
    if text.isEmpty {
      throw PathFault(
        message: "A name is missing here; \"//\" and a \"/\" at the end are no paths.",
        offset: offset
      )
    }
    if text.hasPrefix("@") {
      let name = try name(String(text.dropFirst()), at: offset + 1, defaultNamespace: nil)
      return .attribute(name.local, namespace: name.namespace)
    }
    let name = try name(text, at: offset, defaultNamespace: namespaces[""])
    return .member(name.local, namespace: name.namespace)
  }

  private func name(
    _ text: String,
    at offset: Int,
    defaultNamespace: String?
  ) throws(PathFault) -> (local: String, namespace: String?) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard parts.count <= 2, parts.allSatisfy(isName) else {
      throw PathFault(
        message: "\"\(text)\" is no XML name (steps are a, p:a, @a, *, text() and a[@b]).",
        offset: offset
      )
    }
    guard parts.count == 2 else { return (text, defaultNamespace) }
    if parts[0] == "xml" { return (parts[1], Self.xmlNamespace) }
    guard let namespace = namespaces[parts[0]] else {
      throw PathFault(
        message: "The prefix \"\(parts[0])\" is not declared under namespaces of an XML source.",
        offset: offset,
        suggestion: nearest(to: parts[0], in: namespaces.keys.sorted())
      )
    }
    return (parts[1], namespace)
  }

  /// An NCName, leniently: what XML cannot read is simply never found.
  private func isName(_ text: String) -> Bool {
    guard let first = text.unicodeScalars.first, !"-.0123456789".unicodeScalars.contains(first)
    else { return false }
    return text.unicodeScalars.allSatisfy { scalar in
      guard scalar.isASCII else { return !scalar.properties.isWhitespace }
      return scalar.properties.isAlphabetic || "-_.0123456789".unicodeScalars.contains(scalar)
    }
  }
}
