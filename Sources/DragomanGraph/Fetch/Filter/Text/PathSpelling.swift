/// How paths are written as text: steps with dots between them, `#"first name"` for a name that is no word.
enum PathSpelling {
  /// A step as a predicate reads it.
  static func step(_ name: String) -> String {
    guard FilterLexer.isName(name) else { return "#" + quoted(name) }
    return FilterParser.isKeyword(name.uppercased()) ? "#" + name : name
  }

  /// The steps of a path that is written with a `#` somewhere; nil: the text is no such path.
  static func steps(_ text: String) -> [String]? {
    guard text.utf8.contains(UInt8(ascii: "#")),
      let tokens = try? FilterLexer.tokens(of: text).map(\.token)
    else { return nil }
    var steps: [String] = []
    for (index, token) in tokens.enumerated() {
      switch token {
      case .word(let name, _) where index.isMultiple(of: 2): steps.append(name)
      case .symbol(".") where !index.isMultiple(of: 2): continue
      case .end where index == 2 * steps.count - 1: return steps
      default: return nil
      }
    }
    return nil
  }

  private static func quoted(_ name: String) -> String {
    "\"" + name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}

extension EntityLayout {
  /// A path from the entity as columns, sort keys and groups name it.
  ///
  /// - Parameter steps: The names of the path, at least one.
  /// - Returns: The names with dots between them; where an attribute of the entity is called so, or a name
  ///   has a dot itself, with the `#` that makes a path of it.
  func spelling(of steps: [String]) -> String {
    let plain = steps.joined(separator: ".")
    let isPath =
      property(named: plain) == nil && !steps.contains { $0.contains { ".#".contains($0) } }
    guard steps.count > 1, !isPath else { return plain }
    let words = steps.map(PathSpelling.step)
    return words.contains { $0.hasPrefix("#") }
      ? words.joined(separator: ".") : "#" + words.joined(separator: ".")
  }
}
