extension ValueBinding {
  /// Refuses a relationship and its inverse that both hold values: each value would hold itself, by way
  /// of every other one.
  ///
  /// Cycles of other kinds depend on the data and are found when a value is read or saved. The compiler
  /// refuses structs that hold themselves without an array between.
  static func checkCycle<Value: EntityValue>(
    _ type: Value.Type,
    _ field: RelationshipField,
    _ link: RelationshipLayout,
    _ layout: ModelLayout
  ) throws(ValueError) {
    guard field.holdsValues, let inverse = layout.inverse(of: link),
      field.target.holdsValues(of: inverse.name)
    else { return }
    let target = field.target
    throw ValueError(
      .cycle,
      "\(Value.self).\(link.name) and \(target).\(inverse.name) are each other's inverse and both"
        + " hold values: a value would hold itself.",
      entity: Value.schema.name,
      property: link.name,
      help: "declare one of them with Ref, \(target).\(inverse.name) as Ref<\(Value.self)>, say"
    )
  }
}

extension EntityValue {
  /// Whether the relationship of that name holds nested values in this type.
  fileprivate static func holdsValues(of name: String) -> Bool {
    schema.fields.contains { field in
      guard field.schemaName.utf8.elementsEqual(name.utf8),
        case .relationship(let link) = field.schemaDefinition.property
      else { return false }
      return link.holdsValues
    }
  }
}
