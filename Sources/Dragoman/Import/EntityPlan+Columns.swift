extension EntityPlan {
  /// The attributes that no column of a CSV file feeds, with the column that the map names first.
  ///
  /// Names are compared byte for byte.
  func absentColumns(in columns: [String]) -> [(attribute: String, column: String)] {
    let known = Set(columns.map { Array($0.utf8) })
    return slots.compactMap { slot in
      guard let first = slot.paths.first else { return nil }
      let isFed = slot.paths.contains { candidate in
        guard candidate.path.root == .record, case .member(let name, _) = candidate.path.steps.first
        else { return true }
        return known.contains(Array(name.utf8))
      }
      return isFed ? nil : (slot.attribute.name, first.path.text)
    }
  }
}
