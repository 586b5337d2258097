import DragomanGraph

/// Places that lie inside of each other: `width: sizes.large.w` beside `sizes: json`.
///
/// The wider one is written, as it holds the narrower one. Whether it does in a given record is found
/// out by reading the record back (`ExportProof`).
extension ExportPlanner {
  /// What stands at a place with all that is inside of it.
  struct Claim {
    let name: String
    let steps: [ForeignPath.Step]
    let kind: Kind

    enum Kind {
      /// A value; `isWhole`: of an XML element with its attributes and children.
      case value(isWhole: Bool)
      /// The targets of a relationship; `isWhole`: with more than their identity.
      case targets(isWhole: Bool)
      /// The keys of the targets of a to-many; `isInside`: each a member of something.
      case keys(isInside: Bool)
      /// The targets of a relationship, under a name each.
      case dictionary
    }
  }

  /// What the attributes and relationships of an entity claim.
  func claims(of visit: Visit) -> [Claim] {
    var claims: [Claim] = []
    for attribute in placedAttributes(of: visit) {
      guard let steps = path(of: attribute, in: visit) else { continue }
      let isWhole = attribute.type == .json
      claims.append(Claim(name: attribute.name, steps: steps, kind: .value(isWhole: isWhole)))
    }
    for relationship in relationships(of: visit) {
      guard let form = form(of: relationship, visit) else { continue }
      switch form {
      case .nested(let isReference):
        guard let place = nestedPlace(of: relationship, visit) else { continue }
        let kind =
          place.arrangement == .dictionary
          ? Claim.Kind.dictionary : .targets(isWhole: !isReference)
        claims.append(Claim(name: relationship.name, steps: place.steps, kind: kind))
      case .keys(let parts):
        for case .path(let from, let separator) in parts.values {
          let isMany = relationship.kind == .toMany && separator == nil
          guard let path = keyPath(from, isMany: isMany) else { continue }
          claims.append(
            Claim(
              name: relationship.name,
              steps: isMany ? path.prefix : path.suffix,
              kind: isMany ? .keys(isInside: !path.suffix.isEmpty) : .value(isWhole: false)
            )
          )
        }
      }
    }
    return claims
  }

  /// Whether keys are members of the targets that another relationship has at the same place.
  func isHeld(_ claim: Claim, by claims: [Claim]) -> Bool {
    guard case .keys(isInside: true) = claim.kind else { return false }
    return claims.contains { other in
      guard case .targets(isWhole: true) = other.kind else { return false }
      return other.steps == claim.steps && !hasSameBytes(other.name, claim.name)
    }
  }

  /// Whether a place lies inside of what something else claims.
  func isCovered(_ steps: [ForeignPath.Step], of name: String, by claims: [Claim]) -> Bool {
    claims.contains { claim in
      let width = claim.steps.count
      guard width > 0, steps.count > width, steps.starts(with: claim.steps),
        !claim.name.utf8.elementsEqual(name.utf8)
      else { return false }
      guard format == .xml else { return true }
      switch claim.kind {
      // An element has a text beside its attributes and children.
      case .value(let isWhole): return isWhole
      case .targets, .keys: return true
      case .dictionary:
        if case .member = steps[width] { return true }
        return false
      }
    }
  }
}
