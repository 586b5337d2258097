/// What a row of a shape does not give, and its object must have.
extension EntityStatements {
  /// A required attribute that the shape lacks, so that it can make no object; nil: none.
  func missing(from present: [Int]) -> String? { lacking(present).first?.name }

  private func lacking(_ present: [Int]) -> [Attribute] {
    let given = columns(of: present)
    return entity.attributes.filter {
      $0.isRequired && $0.defaultValue == nil && !given.contains($0.column)
    }
  }

  /// The test that an object has the required attributes that the shape lacks: those of some more general entities
  /// do not.
  func hasLacking(_ present: [Int]) -> String {
    let lacking = lacking(present)
    let others = ancestors.filter { ancestor in
      lacking.contains { part in
        !ancestor.attributes.contains { hasSameBytes($0.column, part.column) }
      }
    }
    return others.isEmpty ? "" : " AND NOT \(Self.isOne(of: others.map(\.name)))"
  }
}
