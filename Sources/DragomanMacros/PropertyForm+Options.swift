import SwiftSyntax

/// The arguments of the field, in the order of its initializers.
extension PropertyForm {
  /// The arguments of `Field` besides slot, name and path, and what its closure sets.
  func options(_ faults: inout EntityFaults) -> (arguments: [String], settings: [String]) {
    var arguments: [String] = []
    var settings: [String] = []
    func add(_ label: String, _ text: String?) {
      if let text { arguments.append("\(label): \(text)") }
    }
    func set(_ member: String, _ text: String?) {
      if let text { settings.append("$0.\(member) = \(text)") }
    }
    func said(_ label: String, by marker: MarkerArguments?) -> String? {
      marker?[label]?.trimmedDescription
    }
    add("by", transform)
    add("isUnique", variable.marker("Unique") == nil ? nil : "true")
    if let relationship {
      for label in ["inverse", "deleteRule"] { add(label, said(label, by: relationship)) }
      for label in ["isOrdered", "allowsRepeats", "isRequired", "maximumCount"] {
        set(label, said(label, by: relationship))
      }
      set("renamedFrom", oldName(in: relationship, &faults))
      return (arguments, settings)
    }
    let oneOf = said("oneOf", by: attribute)
    let type = said("type", by: attribute)
    set("type", type ?? (oneOf == nil ? nil : ".enum"))
    set("isRequired", said("isRequired", by: attribute))
    // A type that is not known may be an entity: the field of a relationship takes a default, too.
    add("default", initialValue)
    let values = limits("range", &faults)
    let length = limits("length", &faults)
    let rules = [
      ("minimum", values.lower), ("maximum", values.upper), ("minimumLength", length.lower),
      ("maximumLength", length.upper), ("pattern", said("pattern", by: attribute)),
      ("scale", said("scale", by: attribute)),
    ].compactMap { label, text in text.map { "\(label): \($0)" } }
    add("rules", rules.isEmpty ? nil : ".init(\(rules.joined(separator: ", ")))")
    set("isIndexed", said("isIndexed", by: attribute))
    if let column = attribute?.literal("column", called: "A column", instead: name, &faults) {
      set("column", column.source)
    }
    set("allowedValues", oneOf)
    set("isSensitive", said("isSensitive", by: attribute))
    if let attribute { set("renamedFrom", oldName(in: attribute, &faults)) }
    return (arguments, settings)
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
