import DragomanGraph

/// The end of an import: references that waited are linked to who came, or given up.
extension ObjectStage {
  func finish(
    _ policy: LinkStage.Unresolved,
    exampleCount: Int,
    asking isAsked: @escaping (Int64) -> Bool
  ) throws -> LinkStage.Finish {
    var result = LinkStage.Finish(asking: isAsked)
    endLists()
    try giveUp(policy, try owners(), exampleCount, &result)
    try adopt()
    let lists = try owners()
    let last = try lastOwners(lists)
    for (object, list) in lists {
      let key = object.place.key
      let taken = try taken(list, from: key).count
      if taken > 0 {
        result.linked += taken
        result.unlinked += taken
        result.change(key)
      }
      var resolved = try resolved(list, of: key)
      guard resolved.contains(where: \.isLate) else { continue }
      let overtaken = Set(
        resolved.filter { $0.isLate && !$0.isNamedLast(by: key, last) }.map(\.object.place.key)
      )
      if !overtaken.isEmpty {
        // It has had them in between, as if each record came in an import of its own.
        result.linked += overtaken.count
        result.unlinked += overtaken.count
        result.change(key)
        resolved.removeAll { overtaken.contains($0.object.place.key) }
        guard resolved.contains(where: \.isLate) else { continue }
      }
      let former = try backend.context.links.targets(of: link, object)
      if link.isToOne {
        guard let found = resolved.last?.object, former.first !== found else { continue }
        if let inverse = backend.layout.inverse(of: link), inverse.isToOne,
          try !backend.context.links.targets(of: inverse, found).isEmpty
        {
          result.unlinked += 1
        }
        try backend.context.links.assign([found], to: link, object)
        result.linked += 1
        result.change(key)
      } else {
        let change = try assign(joined(resolved, former), to: object, former)
        result.linked += change.linked
        result.unlinked += change.unlinked
        if change.isChanged { result.change(key) }
      }
    }
    waiting.removeAll()
    return result
  }

  func dropLinked() throws {
    guard link.isToOne, link.relationship.inverse != nil, try hasPending || !adopted().isEmpty
    else { return }
    let references = try backend.context.records.waitingReferences().filter {
      hasSameBytes($0.relationship, name)
    }
    let owners = references.map(\.owner.key)
    let linked = try backend.context.links.mayHaveTargets(of: link, owners)
    for reference in references where linked.contains(reference.owner.key) {
      let object = try backend.object(reference.owner.key, of: owner)
      guard try backend.context.existingObject(with: object.objectID) != nil,
        try !backend.context.links.targets(of: link, object).isEmpty
      else { continue }
      try backend.context.records.forget(reference)
    }
  }

  /// Takes the references that wait from earlier imports, where something becomes of them now.
  private func adopt() throws {
    let names = plan.key.map { Array($0.name.utf8) }
    let references = try adopted().filter { !isForgotten($0.key) }.values.joined().sorted {
      ($0.id ?? .max, $0.owner.key) < ($1.id ?? .max, $1.owner.key)
    }
    for (index, reference) in references.enumerated() {
      let owner = reference.owner.key
      let parts = Dictionary(
        reference.key.map { (Array($0.name.utf8), $0.value) },
        uniquingKeysWith: { $1 }
      )
      let values = names.compactMap { parts[$0] }
      guard values.count == names.count, parts.count == names.count else { continue }
      // Whatever becomes of those of this import, they wait on.
      guard let target = try find(values) else { continue }
      // Whose owner was deleted since, is deleted with it.
      let object = try backend.object(owner, of: self.owner)
      guard try backend.context.existingObject(with: object.objectID) != nil else { continue }
      // Who came since may have been given to another by a later record.
      if backend.layout.isExclusive(link), let inverse = backend.layout.inverse(of: link),
        try !backend.context.links.targets(of: inverse, target).isEmpty
      {
        try backend.context.records.forget(reference)
        continue
      }
      // They came before all records of this import, in their own order.
      let place = WaitingPlace(
        file: "",
        line: 0,
        column: 0,
        byte: 0,
        record: 0,
        ordinal: index - references.count
      )
      waiting[owner, default: []].append(.key(values, place))
      try backend.context.records.forget(reference)
    }
  }

  /// The owners that are still there, in the order of the records that have their references.
  private func owners() throws -> [(object: ManagedObject, list: [Target])] {
    func ordinal(_ list: [Target]) -> Int {
      for case .key(_, let place) in list { return place.ordinal }
      return 0
    }
    let inOrder = waiting.sorted {
      (ordinal($0.value), $0.key) < (ordinal($1.value), $1.key)
    }
    return try inOrder.compactMap { key, list in
      let object = try backend.object(key, of: owner)
      return try backend.context.existingObject(with: object.objectID).map { ($0, list) }
    }
  }

  /// Where only one object may have a target, who named it last, by the target.
  private func lastOwners(
    _ lists: [(object: ManagedObject, list: [Target])]
  ) throws -> [Int64: (owner: Int64, ordinal: Int)] {
    var last: [Int64: (owner: Int64, ordinal: Int)] = [:]
    guard backend.layout.isExclusive(link) else { return last }
    for (object, list) in lists {
      for case .key(let values, let place) in list {
        guard let target = try find(values)?.place.key,
          place.ordinal >= last[target]?.ordinal ?? .min
        else { continue }
        last[target] = (object.place.key, place.ordinal)
      }
    }
    return last
  }

  /// Applies the policy to the references that nobody has.
  private func giveUp(
    _ policy: LinkStage.Unresolved,
    _ owners: [(object: ManagedObject, list: [Target])],
    _ exampleCount: Int,
    _ result: inout LinkStage.Finish
  ) throws {
    var missing: [(values: [StoredValue], place: WaitingPlace)] = []
    func clear(_ values: [StoredValue], _ place: WaitingPlace) {
      result.cleared += 1
      if result.examples.count < exampleCount { result.examples.append((values, place)) }
    }
    for (object, list) in owners {
      // A list names a target once, unless it may have it several times: what joins a list that has it, does not.
      var kept = try allowsRepeats && plan.replaces ? [] : stored(of: object.place.key)
      var ordinals: [WaitingReference: Int] = [:]
      for case .key(let values, let place) in list where try find(values) == nil {
        let reference = WaitingReference(
          relationship: name,
          owner: object.place,
          entity: target.name,
          key: zip(plan.key, values).map { WaitingReference.Part($0.name, $1) }
        )
        if allowsRepeats, !plan.replaces {
          let first = ordinals[reference, default: place.ordinal]
          guard !kept.contains(reference), first == place.ordinal else { continue }
          ordinals[reference] = first
        }
        result.unresolved += 1
        switch policy {
        case .clear: clear(values, place)
        case .stub: missing.append((values, place))
        case .pending:
          guard allowsRepeats || kept.insert(reference).inserted else { continue }
          try backend.context.records.wait(reference)
          hasPending = true
        }
      }
    }
    let names = plan.key.map { Array($0.name.utf8) }
    let entity = backend.layout.entities[target.index]
    guard
      let key = entity.uniqueKeys.first(where: { $0.map { Array($0.name.utf8) } == names })
    else { return }
    // Two objects cannot both have the default of a unique attribute.
    let unique = Set(entity.uniqueKeys.flatMap(entity.columns)).subtracting(entity.columns(key))
    let blank = unique.sorted().map { (column: $0, value: StoredValue.null) }
    let root = backend.layout.entities[entity.root]
    for (values, place) in missing where try find(values) == nil {
      // A part that is the key of nobody makes no key, nor does one that a relative of another entity has, or that the
      // store cannot hold.
      guard let stored = try backend.stored(values, of: key, entity),
        backend.context.records.holdNUL
          || !stored.contains(where: { $0.value.string?.utf8.contains(0) == true }),
        try backend.find(root, key.map(\.name), values) == nil,
        try !backend.context.finder.isHeldByDeleted(entity, key, stored.map(\.value))
      else {
        clear(values, place)
        continue
      }
      _ = try backend.context.records.insertStub(of: entity, stored + blank)
      result.stubs += 1
    }
  }

  /// The references of an owner that wait since earlier imports, as ones that are not stored yet.
  private func stored(of owner: Int64) throws -> Set<WaitingReference> {
    if isForgotten(owner) { return [] }
    return Set(
      try adopted()[owner, default: []].map { reference in
        var reference = reference
        reference.id = nil
        return reference
      }
    )
  }

  /// A target of a reference that waited, or of one in the same list.
  struct Resolved {
    let object: ManagedObject
    /// Whether it was not there when its record came.
    let isLate: Bool
    /// Whether that was a record of an earlier import, of which nobody knows the other targets.
    var isAdopted = false

    /// Whether no other owner has named it later, where only one may have it.
    func isNamedLast(by owner: Int64, _ last: [Int64: (owner: Int64, ordinal: Int)]) -> Bool {
      last[object.place.key].map { $0.owner == owner } ?? true
    }
  }

  /// The targets that are there and another's since: they were this owner's in between, as if each record came in
  /// an import of its own.
  func taken(_ list: [Target], from owner: Int64) throws -> Set<Int64> {
    var keys: Set<Int64> = []
    for case .key(let values, let place) in list where place.ordinal > 0 {
      if let key = try find(values)?.place.key, isTaken(key, from: owner) { keys.insert(key) }
    }
    return keys
  }

  /// The targets that are there, and not another's since.
  func resolved(_ list: [Target], of owner: Int64) throws -> [Resolved] {
    try list.compactMap { target in
      switch target {
      case .object(let key):
        let object = try backend.object(key, of: self.target)
        return try backend.context.existingObject(with: object.objectID).map {
          Resolved(object: $0, isLate: false)
        }
      case .key(let values, let place):
        guard let object = try find(values), !isTaken(object.place.key, from: owner) else {
          return nil
        }
        return Resolved(object: object, isLate: true, isAdopted: place.ordinal <= 0)
      }
    }
  }

  /// A list with those of its targets that came late.
  ///
  /// Where the record gives the whole list, they stand where it has them, and what came to the list
  /// by other ways stands behind; what left it since does not come back. What is joined comes behind
  /// what stands before it in its record, or behind what the list had then; what an earlier import waited for,
  /// behind everything.
  func joined(_ resolved: [Resolved], _ former: [ManagedObject]) -> [ManagedObject] {
    let own = resolved.filter { !$0.isAdopted }
    let list = own.isEmpty ? former : joinedOwn(own, former)
    let isThere = Set(list.map(\.place.key))
    return list
      + resolved.filter {
        $0.isAdopted && (allowsRepeats || !isThere.contains($0.object.place.key))
      }.map(\.object)
  }

  /// The same for what this import waited for.
  private func joinedOwn(_ resolved: [Resolved], _ former: [ManagedObject]) -> [ManagedObject] {
    if plan.replaces {
      if allowsRepeats { return resolved.map(\.object) }
      let isThere = Set(former.map(\.place.key))
      let named = Set(resolved.map(\.object.place.key))
      return resolved.filter { $0.isLate || isThere.contains($0.object.place.key) }.map(\.object)
        + former.filter { !named.contains($0.place.key) }
    }
    let late = Set(resolved.filter(\.isLate).map(\.object.place.key))
    let others = former.filter { !late.contains($0.place.key) }
    let isThere = Set(others.map(\.place.key))
    var behind: [Int64?: [ManagedObject]] = [:]
    var last: Int64?
    for target in resolved {
      if target.isLate {
        behind[last, default: []].append(target.object)
      } else if isThere.contains(target.object.place.key) {
        last = target.object.place.key
      }
    }
    return (behind[nil] ?? []) + others.flatMap { [$0] + (behind[$0.place.key] ?? []) }
  }
}
