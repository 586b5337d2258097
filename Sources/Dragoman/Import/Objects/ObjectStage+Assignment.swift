import DragomanGraph

/// Lists that are whole, as the links of their owners.
extension ObjectStage {
  /// What the assignment of a list did.
  struct Change {
    var isChanged = false
    var gone: [Int64] = []
    var linked = 0
    var unlinked = 0
  }

  /// Makes a to-many lead to objects.
  func assign(
    _ list: [ManagedObject],
    to object: ManagedObject,
    _ former: [ManagedObject]
  ) throws -> Change {
    var wanted = list
    if !link.relationship.allowsRepeats {
      var seen: Set<Int64> = []
      wanted = list.filter { seen.insert($0.place.key).inserted }
    }
    let old = Set(former.map(\.place.key))
    let new = Set(wanted.map(\.place.key))
    let gone = former.filter { !new.contains($0.place.key) }
    let isListed = link.relationship.isOrdered || link.relationship.allowsRepeats
    var change = Change()
    change.isChanged =
      isListed ? former.map(\.place.key) != wanted.map(\.place.key) : !gone.isEmpty || old != new
    guard change.isChanged else { return change }
    // A target that joins several times makes several links.
    change.linked =
      allowsRepeats && !plan.replaces ? wanted.count - former.count : new.subtracting(old).count
    change.unlinked =
      Set(gone.map(\.place.key)).count
      + (try movedCount(wanted.filter { !old.contains($0.place.key) }, to: object))
    try backend.context.links.assign(wanted, to: link, object)
    change.gone = gone.map(\.place.key)
    return change
  }

  /// How many of the targets another owner has so far, where only one may have them.
  private func movedCount(_ targets: [ManagedObject], to owner: ManagedObject) throws -> Int {
    guard case .inverseColumn = link.storage, let inverse = backend.layout.inverse(of: link) else {
      return 0
    }
    return try targets.count { target in
      try backend.context.links.targets(of: inverse, target).contains { $0 !== owner }
    }
  }
}
