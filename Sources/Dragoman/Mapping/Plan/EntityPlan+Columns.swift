import DragomanGraph

extension EntityPlan {
  /// Whether a path of the map is one of the columns, or needs none of them.
  func names(anyOf columns: [String]) -> Bool {
    let known = Set(columns.map { Array($0.utf8) })
    let own = paths.filter { $0.root == .record }
    return own.isEmpty
      || own.contains { path in
        guard case .member(let name, _) = path.steps.first else { return true }
        return known.contains(Array(name.utf8))
      }
  }

  /// What is to be said of the columns that the map names and a CSV file does not have.
  ///
  /// Those that may only be misspelt are told one by one, the others together. Names are compared
  /// byte for byte.
  func absentColumns(in columns: [String]) -> [String] {
    let known = Set(columns.map { Array($0.utf8) })
    func isAbsent(_ paths: [ForeignPath]) -> Bool {
      !paths.isEmpty
        && paths.allSatisfy { path in
          guard path.root == .record, case .member(let name, _) = path.steps.first else {
            return false
          }
          return !known.contains(Array(name.utf8))
        }
    }
    // Relationships, `discriminator` and `deleteWhen` come behind the attributes.
    let links = pathUses.filter { $0.slot >= slots.count && isAbsent($0.paths) }
    let absent =
      slots.filter { isAbsent($0.paths.map(\.path)) }
      .map { ($0.attribute.name, $0.paths[0].path.text, isImplied: false) }
      + links.map { ($0.property, $0.paths[0].text, isImplied: $0.isImplied) }
    guard !absent.isEmpty else { return [] }
    if columns.count == 1, let separator = columns[0].first(where: { ",;\t|".contains($0) }) {
      let name = separator == "\t" ? "\\t" : String(separator)
      return [
        "there is one column only, “\(ForeignText.shortened(columns[0]))”;"
          + " should the source say `separator: \"\(name)\"`?"
      ]
    }
    var notices: [String] = []
    var others: [String] = []
    for (property, column, isImplied) in absent {
      if let near = nearest(to: column, in: columns) {
        notices.append(
          "there is no column “\(column)” for \(name).\(property); did you mean “\(near)”?"
        )
      } else if !isImplied {
        others.append("“\(column)”")
      }
    }
    if !others.isEmpty {
      let shown = others.prefix(10).joined(separator: ", ") + (others.count > 10 ? ", …" : "")
      notices.append(
        "there is no column \(shown) for \(name); there are "
          + ForeignText.shortened(columns.prefix(10).joined(separator: ", "))
      )
    }
    return notices
  }
}
