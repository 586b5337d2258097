import SwiftSyntax

/// The arguments of the field, in the order of its initializers.
extension PropertyForm {
  /// The arguments of `Field` besides slot, name and path.
  func options(_ faults: inout EntityFaults) -> [String] {
    var options: [String] = []
    func add(_ label: String, _ text: String?) {
      if let text { options.append("\(label): \(text)") }
    }
    func pass(_ labels: [String], of marker: MarkerArguments?) {
      for label in labels { add(label, marker?[label]?.trimmedDescription) }
    }
    add("by", transform)
    let isText = attribute?["oneOf"] != nil && attribute?["type"] == nil
    add("type", isText ? ".enum" : attribute?["type"]?.trimmedDescription)
    add("isUnique", variable.marker("Unique") == nil ? nil : "true")
    if let relationship {
      pass(["inverse", "deleteRule", "isOrdered", "allowsRepeats"], of: relationship)
      pass(["isRequired", "maximumCount"], of: relationship)
      add("renamedFrom", oldName(in: relationship, &faults))
      return options
    }
    pass(["isRequired"], of: attribute)
    // A type that is not known may be an entity: the field of a relationship takes a default, too.
    add("default", initialValue)
    pass(["isIndexed"], of: attribute)
    if let column = attribute?.literal("column", called: "A column", instead: name, &faults) {
      add("column", column.source)
    }
    pass(["scale"], of: attribute)
    add("allowedValues", attribute?["oneOf"]?.trimmedDescription)
    let values = limits("range", &faults)
    add("minimum", values.lower)
    add("maximum", values.upper)
    let length = limits("length", &faults)
    add("minimumLength", length.lower)
    add("maximumLength", length.upper)
    pass(["pattern", "isSensitive"], of: attribute)
    if let attribute { add("renamedFrom", oldName(in: attribute, &faults)) }
    return options
  }

  private func oldName(in marker: MarkerArguments, _ faults: inout EntityFaults) -> String? {
    marker.literal("renamedFrom", called: "A name", instead: name, &faults)?.source
  }

  var transform: String? {
    if let transform = attribute?["by"] { return transform.trimmedDescription }
    guard attribute?.isTrue("codable") == true else { return nil }
    return "DragomanEntities.CodableTransform<\(listType)>.self"
  }

  /// The initial value, where it is the same for every value.
  private var initialValue: String? {
    guard let value = variable.binding.initializer?.value, value.isConstant else { return nil }
    if value.is(MemberAccessExprSyntax.self), form.scalar == "Date" { return nil }
    return kind == .relationship || transform != nil ? nil : value.trimmedDescription
  }

  /// The ends of a range that is written with `...`.
  private func limits(
    _ label: String,
    _ faults: inout EntityFaults
  ) -> (lower: String?, upper: String?) {
    guard let range = attribute?[label] else { return (nil, nil) }
    guard let limits = range.closedLimits else {
      faults.add(
        .marker,
        at: range,
        "write \(label) in place, with its ends: \(label): 1...9, 1... or ...9"
      )
      return (nil, nil)
    }
    return limits
  }
}

extension ExprSyntax {
  /// What stands around `...`; nil when it is no such range.
  fileprivate var closedLimits: (lower: String?, upper: String?)? {
    switch self.as(ExprSyntaxEnum.self) {
    case .infixOperatorExpr(let range) where range.operator.trimmedDescription == "...":
      (range.leftOperand.trimmedDescription, range.rightOperand.trimmedDescription)
    case .sequenceExpr(let sequence):
      sequence.elements.map(\.trimmedDescription).closedLimits
    case .postfixOperatorExpr(let range) where range.operator.text == "...":
      (range.expression.trimmedDescription, nil)
    case .prefixOperatorExpr(let range) where range.operator.text == "...":
      (nil, range.expression.trimmedDescription)
    default: nil
    }
  }
}

extension [String] {
  fileprivate var closedLimits: (lower: String?, upper: String?)? {
    count == 3 && self[1] == "..." ? (self[0], self[2]) : nil
  }
}
