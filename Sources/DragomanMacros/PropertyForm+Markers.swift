import SwiftDiagnostics
import SwiftSyntax

/// Markers that contradict each other or the type.
extension PropertyForm {
  /// Tells what the markers say that has no meaning, and what they must say.
  func checkMarkers(_ faults: inout EntityFaults) {
    if let attribute, kind == .relationship || relationship != nil {
      let why =
        kind == .relationship
        ? "'\(name)' is a relationship" : "a property is an attribute or a relationship, not both"
      faults.add(
        .marker,
        at: attribute.node,
        why,
        fixIts: [FixIt("remove @Attribute", .remove(attribute.node))]
      )
    } else if let relationship, kind == .attribute {
      faults.add(
        .marker,
        at: relationship.node,
        "'\(name)' is an attribute: \(type.trimmedDescription) is no entity",
        fixIts: [FixIt("remove @Relationship", .remove(relationship.node))]
      )
    }
    if let unique = variable.marker("Unique"), isMany {
      faults.add(
        .marker,
        at: unique.node,
        "'\(name)' is a list, and a unique key finds one object by one value",
        fixIts: [FixIt("remove @Unique", .remove(unique.node))]
      )
    }
    checkInverse(&faults)
    checkRelationshipOptions(&faults)
    checkAttributeOptions(&faults)
  }

  /// References make a graph, and links that are seen from both sides are stored in another way than
  /// those that are seen from one: the declaration must say which these are.
  private func checkInverse(_ faults: inout EntityFaults) {
    guard kind == .relationship, isMany, relationship?.names("inverse") != true else { return }
    let inverse = "inverse: \"<#property of the other side#>\""
    func change(to argument: String) -> SourceChange {
      guard let relationship else {
        return .insert("@Relationship(\(argument)) ", before: variable.node)
      }
      if case .argumentList(let list) = relationship.node.arguments, let first = list.first {
        return .insert("\(argument), ", before: first)
      }
      return .replace(relationship.node, by: "@Relationship(\(argument))")
    }
    faults.add(
      .inverse,
      at: type,
      """
      '\(name)' does not say which relationship leads back, and the links are stored by that; name \
      it, or say inverse: nil where none does
      """,
      fixIts: [
        FixIt("name the inverse", change(to: inverse)),
        FixIt("say that there is none", change(to: "inverse: nil")),
      ]
    )
  }

  private func checkRelationshipOptions(_ faults: inout EntityFaults) {
    guard let relationship else { return }
    let ofMany = ["isOrdered", "allowsRepeats", "maximumCount"]
    if case .reference = form {
      for label in ofMany where relationship.names(label) {
        tell(label, of: relationship, "'\(name)' leads to one object", &faults)
      }
    } else if case .set = form {
      for label in ofMany.prefix(2) where relationship.isTrue(label) {
        tell(label, of: relationship, "a Set has no order and no repeats; use an array", &faults)
      }
    }
  }

  private func checkAttributeOptions(_ faults: inout EntityFaults) {
    guard let attribute, let scalar = form.scalar else { return }
    checkStoredType(attribute, scalar, &faults)
    if TypeForm.types(ofNumber: scalar) != nil, let range = attribute["range"],
      range.tokens(viewMode: .sourceAccurate).contains(where: { $0.tokenKind == .stringQuote })
    {
      faults.add(.marker, at: range, "'\(name)' is of type \(scalar), so its limits are numbers")
    }
    let isText = scalar == "String" || scalar == "URL"
    for label in ["length", "pattern", "oneOf"] where attribute.names(label) && !isText {
      tell(label, of: attribute, "'\(name)' is of type \(scalar), not String", &faults)
    }
    if attribute.names("scale"), scalar != "Decimal" {
      tell("scale", of: attribute, "'\(name)' is of type \(scalar), not Decimal", &faults)
    }
  }

  /// A `Date` is an instant or a day, and no time of day; a number is a number.
  private func checkStoredType(
    _ attribute: MarkerArguments,
    _ scalar: String,
    _ faults: inout EntityFaults
  ) {
    guard kind == .attribute, transform == nil, let type = attribute["type"],
      let name = type.as(MemberAccessExprSyntax.self)?.declName.baseName.text,
      let known = scalar == "Date" ? ["timestamp", "date"] : TypeForm.types(ofNumber: scalar),
      !known.contains(name)
    else { return }
    let list = known.map { ".\($0)" }
    let names = list.dropLast().joined(separator: ", ") + " or " + list[list.count - 1]
    faults.add(
      .marker,
      at: type,
      "'\(self.name)' is of type \(scalar), which is stored as \(names), not as .\(name)",
      fixIts: [FixIt("write \(list[0])", .replace(type, by: list[0]))]
    )
  }

  private func tell(
    _ label: String,
    of marker: MarkerArguments,
    _ reason: String,
    _ faults: inout EntityFaults
  ) {
    let node = marker[label].map { Syntax($0) } ?? Syntax(marker.node)
    faults.add(.marker, at: node, "\(reason), so \(label) has no meaning")
  }
}
