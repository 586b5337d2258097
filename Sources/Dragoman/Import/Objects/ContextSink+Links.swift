import DragomanGraph

extension ContextSink {
  /// A to-one of a draft, looked up.
  struct Single {
    /// Its column, where the owner's table has it.
    let column: Int?
    /// Its place in `EntityPlan.links`.
    let slot: Int
    /// The target; nil clears the link, or it waits.
    let object: ManagedObject?
    /// The key of a target that is not there yet.
    let waiting: [StoredValue]?
    let node: UInt32
  }

  /// Writes and finds the targets of a draft's to-ones.
  func singleTargets(
    of draft: DraftBatch.Object,
    _ target: ContextTarget,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws -> [Single] {
    var singles: [Single] = []
    for index in draft.links {
      let link = batch.links[index]
      let relationship = target.links[link.slot]
      guard relationship.isToOne else { continue }
      let column = context.column(of: relationship)
      guard let first = link.targets.first else {
        singles.append(
          Single(column: column, slot: link.slot, object: nil, waiting: nil, node: draft.node)
        )
        continue
      }
      switch batch.targets[first] {
      case .object(let nested):
        let object = try write(nested, in: batch, plan, under: nil, isNested: true)
        singles.append(
          Single(column: column, slot: link.slot, object: object, waiting: nil, node: draft.node)
        )
      case .key(let start, let node):
        let (values, object) = try find(target.plan.links[link.slot], start, in: batch)
        singles.append(
          Single(
            column: column,
            slot: link.slot,
            object: object,
            waiting: object == nil ? values : nil,
            node: node
          )
        )
      }
    }
    return singles
  }

  /// Sets what a draft says of its relationships; true if any link changed.
  func setLinks(
    of object: ManagedObject,
    _ draft: DraftBatch.Object,
    _ singles: [Single],
    _ target: ContextTarget,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws -> Bool {
    var isChanged = false
    for single in singles {
      let linkPlan = target.plan.links[single.slot]
      let relationship = target.links[single.slot]
      let former = try context.targets(of: relationship, object).first
      forgetWaiting(object, relationship)
      if let values = single.waiting {
        let origin = origin(of: single.node, in: batch)
        wait(object, relationship, linkPlan, [.key(values, origin)], origin)
        continue
      }
      guard former !== single.object else { continue }
      if let object = single.object, let inverse = context.layout.inverse(of: relationship),
        inverse.isToOne, try !context.targets(of: inverse, object).isEmpty
      {
        countMoved(1, relationship)
      }
      try context.assign(single.object.map { [$0] } ?? [], to: relationship, object)
      isChanged = true
      tally(linkPlan, target, linked: single.object == nil ? 0 : 1, unlinked: former == nil ? 0 : 1)
      if linkPlan.deletesUnlinked, let former { try context.delete(former) }
    }
    for index in draft.links {
      let link = batch.links[index]
      let relationship = target.links[link.slot]
      guard !relationship.isToOne else { continue }
      if try setMany(object, link, relationship, target, in: batch, plan) {
        isChanged = true
      }
    }
    return isChanged
  }

  /// Sets a to-many; true if any link changed.
  private func setMany(
    _ object: ManagedObject,
    _ link: DraftBatch.Link,
    _ relationship: RelationshipLayout,
    _ target: ContextTarget,
    in batch: DraftBatch,
    _ plan: ImportPlan
  ) throws -> Bool {
    let linkPlan = target.plan.links[link.slot]
    let former = try context.targets(of: relationship, object)
    var wanted: [WaitingLink.Target] = []
    var found: [ManagedObject] = []
    var waitingOrigin: Origin?
    for place in link.targets {
      switch batch.targets[place] {
      case .object(let nested):
        var parent: Parent?
        if case .inverseColumn = relationship.storage,
          let inverse = context.layout.inverse(of: relationship),
          let column = context.column(of: inverse)
        {
          parent = Parent(link: relationship, column: column, owner: object)
        }
        let child = try write(nested, in: batch, plan, under: parent, isNested: true)
        wanted.append(.object(child.objectID))
        found.append(child)
      case .key(let start, let place):
        let (values, known) = try find(linkPlan, start, in: batch)
        if let known {
          wanted.append(.object(known.objectID))
          found.append(known)
        } else {
          let origin = origin(of: place, in: batch)
          wanted.append(.key(values, origin))
          waitingOrigin = origin
        }
      }
    }
    // What is joined to a list does not take back what earlier records joined.
    if linkPlan.replaces { forgetWaiting(object, relationship) }
    if let waitingOrigin {
      let targets = linkPlan.replaces ? wanted : joined(wanted, to: former)
      wait(object, relationship, linkPlan, targets, waitingOrigin)
    }
    if !linkPlan.replaces {
      // What is there stays, and stays where it is.
      let old = Set(former.map(\.objectID))
      found = former + found.filter { !old.contains($0.objectID) }
    }
    return try assign(found, to: relationship, object, former, linkPlan, target)
  }

  /// Makes a to-many lead to objects.
  func assign(
    _ wanted: [ManagedObject],
    to relationship: RelationshipLayout,
    _ object: ManagedObject,
    _ former: [ManagedObject],
    _ linkPlan: LinkPlan,
    _ target: ContextTarget
  ) throws -> Bool {
    let old = Set(former.map(\.objectID))
    var wanted = wanted
    if !relationship.relationship.allowsRepeats {
      var seen: Set<ObjectID> = []
      wanted = wanted.filter { seen.insert($0.objectID).inserted }
    }
    let new = Set(wanted.map(\.objectID))
    let gone = former.filter { !new.contains($0.objectID) }
    let isOrdered = relationship.relationship.isOrdered || relationship.relationship.allowsRepeats
    let now = try context.targets(of: relationship, object).map(\.objectID)
    let isSame =
      isOrdered ? former.map(\.objectID) == wanted.map(\.objectID) : gone.isEmpty && old == new
    try countMoved(wanted.filter { !old.contains($0.objectID) }, to: object, relationship)
    if isOrdered ? now != wanted.map(\.objectID) : Set(now) != new {
      try context.assign(wanted, to: relationship, object)
    }
    tally(linkPlan, target, linked: new.subtracting(old).count, unlinked: gone.count)
    if linkPlan.deletesUnlinked { for former in gone { try context.delete(former) } }
    return !isSame
  }

  func tally(_ link: LinkPlan, _ target: ContextTarget, linked: Int, unlinked: Int) {
    let name = "\(target.entity.name).\(link.name)"
    relationships[name, default: .init()].add(linked: linked, unlinked: unlinked)
  }

  /// Counts the targets that another owner has so far, where only one may have them.
  private func countMoved(
    _ targets: [ManagedObject],
    to owner: ManagedObject,
    _ relationship: RelationshipLayout
  ) throws {
    guard case .inverseColumn = relationship.storage,
      let inverse = context.layout.inverse(of: relationship),
      let column = context.column(of: inverse)
    else { return }
    for target in targets {
      let former = try target.value(column)
      if former != .null, former != .integer(owner.place.key) { countMoved(1, relationship) }
    }
  }

  /// Counts links that were removed because another owner got the target.
  func countMoved(_ count: Int, _ relationship: RelationshipLayout) {
    let owner = context.layout.entities[relationship.owner].name
    relationships["\(owner).\(relationship.name)", default: .init()].unlinked += count
  }

  // MARK: - References

  /// Finds the object of a reference.
  private func find(
    _ link: LinkPlan,
    _ start: Int,
    in batch: DraftBatch
  ) throws -> (values: [StoredValue], object: ManagedObject?) {
    let destination = context.layout.entities[link.layout.destination]
    guard let key = link.referenceParts(in: context.layout) else { return ([], nil) }
    let arena = UnsafeRawBufferPointer(batch.records.arena)
    let values = key.indices.map { batch.values[start + $0].stored(in: arena) }
    return (values, try find(destination, key, values))
  }

  /// Finds an object by a key as references give it: a to-one by the key of its target.
  func find(
    _ entity: EntityLayout,
    _ key: [EntityLayout.KeyPart],
    _ values: [StoredValue]
  ) throws -> ManagedObject? {
    var values = values
    for (place, part) in key.enumerated() {
      guard case .relationship(let slot) = part.property else { continue }
      let target = context.layout.entities[entity.relationships[slot].destination]
      guard let identity = target.uniqueKeys.first,
        let object = try find(target, identity, [values[place]])
      else { return nil }
      values[place] = .integer(object.place.key)
    }
    return try context.find(entity, key, values)
  }
}
