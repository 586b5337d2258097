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
    let absent = slots.compactMap { slot -> (attribute: String, column: String)? in
      guard let first = slot.paths.first else { return nil }
      let isFed = slot.paths.contains { candidate in
        guard candidate.path.root == .record, case .member(let name, _) = candidate.path.steps.first
        else { return true }
        return known.contains(Array(name.utf8))
      }
      return isFed ? nil : (slot.attribute.name, first.path.text)
    }
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
    for (attribute, column) in absent {
      if let near = nearest(to: column, in: columns) {
        notices.append(
          "there is no column “\(column)” for \(name).\(attribute); did you mean “\(near)”?"
        )
      } else {
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
