/// Changing the rows of tables of links, and places in ordered lists.
extension ContextLinks {
  func add(
    _ link: RelationshipLayout,
    _ join: RelationshipLayout.JoinTable,
    _ owner: ManagedObject,
    _ target: ManagedObject
  ) throws {
    let key = LinkKey(link: link.id, owner: owner.place.key)
    let targetKey = target.place.key
    guard join.hasPosition else {
      let said = overlay.read { $0.links.pair(key, targetKey) }
      if said == true { return }
      let isBack = try said == false && isLinkedBeneath(link, key, targetKey)
      let end: Int64? =
        join.hasInversePosition
        ? try layout.inverse(of: link).map { try takeEnd(of: $0, target) } : nil
      overlay.change { changes in
        changes.links.set(isBack ? nil : true, key, targetKey)
        if let end {
          changes.links.setPlace(end, of: key.owner, LinkKey(link: link.id, owner: targetKey))
        }
      }
      return
    }
    try loadList(link, owner)
    let isThere = overlay.read { $0.links.pair(key, targetKey) == true }
    if isThere, !link.relationship.allowsRepeats { return }
    overlay.change { $0.links.append(targetKey, key) }
    if join.hasInversePosition, let inverse = layout.inverse(of: link) {
      let end = try takeEnd(of: inverse, target)
      overlay.change { changes in
        changes.links.setPlace(end, of: key.owner, LinkKey(link: link.id, owner: targetKey))
      }
    }
  }

  func remove(
    _ link: RelationshipLayout,
    _ join: RelationshipLayout.JoinTable,
    _ owner: ManagedObject,
    _ target: ManagedObject
  ) throws {
    let key = LinkKey(link: link.id, owner: owner.place.key)
    let targetKey = target.place.key
    if join.hasPosition {
      try loadList(link, owner)
      let allowsRepeats = link.relationship.allowsRepeats
      overlay.change { $0.links.remove(targetKey, key, allowsRepeats: allowsRepeats) }
      return
    }
    let said = overlay.read { $0.links.pair(key, targetKey) }
    if said == false { return }
    let isNew = context.own(owner)?.kind == .inserted || context.own(target)?.kind == .inserted
    let isThere: Bool
    if isNew {
      isThere = false
    } else if said == true {
      isThere = try isLinkedBeneath(link, key, targetKey)
    } else {
      isThere = true
    }
    overlay.change { $0.links.set(isThere ? false : nil, key, targetKey) }
  }

  /// Where the order or the number of links counts, an owner's rows stand in the changes all together.
  private func loadList(_ link: RelationshipLayout, _ owner: ManagedObject) throws {
    let key = LinkKey(link: link.id, owner: owner.place.key)
    guard overlay.read({ $0.links.lists[key] == nil }) else { return }
    let list = LinkRows.List(try targetKeys(of: link, owner))
    overlay.change { $0.links.set(list, key) }
  }

  /// The place behind the last one of an ordered list, which is taken with that.
  func takeEnd(of link: RelationshipLayout, _ owner: ManagedObject) throws -> Int64 {
    let key = LinkKey(link: link.id, owner: owner.place.key)
    let end: Int64
    context.linkMemory.check(overlay.settles)
    if let known = context.linkMemory.ends[key] {
      end = known
    } else {
      let stored = try storedTargets(of: link, owner)
      end = LinkView(layout, context.layers, link, owner.place.key).end(stored)
    }
    context.linkMemory.ends[key] = end + 1
    return end
  }

  func setOrder(
    _ keys: [Int64],
    of link: RelationshipLayout,
    _ object: ManagedObject
  ) throws {
    guard try targetKeys(of: link, object) != keys else { return }
    // Never lower than it was: an undone record may bring back what was there.
    let key = LinkKey(link: link.id, owner: object.place.key)
    if let end = context.linkMemory.ends[key] {
      context.linkMemory.ends[key] = max(end, Int64(keys.count))
    }
    try setPlaces(keys, of: link, object)
    context.notices.change(object.objectID, link.name)
    if case .joinTable = link.storage {
      context.tryFire(object)
      context.touch(object)
    }
  }

  /// The targets of an ordered list get the places 0, 1, ….
  func setPlaces(
    _ keys: [Int64],
    of link: RelationshipLayout,
    _ object: ManagedObject
  ) throws {
    let owner = object.place.key
    switch link.storage {
    case .column: return
    case .inverseColumn:
      guard let inverse = layout.inverse(of: link), let order = layout.column(of: inverse)?.order
      else { return }
      let entity = layout.entities[link.destination]
      context.visitCount += keys.count
      for (place, key) in keys.enumerated() {
        let target = try context.register(RowKey(table: entity.tableIndex, key: key), entity)
        if !context.isDeleted(target) {
          try context.set(.integer(Int64(place)), column: order, of: target)
        }
      }
    case .joinTable(let join, isOwner: true):
      guard join.hasPosition else { return }
      overlay.change { $0.links.set(LinkRows.List(keys), LinkKey(link: link.id, owner: owner)) }
    case .joinTable(_, isOwner: false):
      guard let inverse = link.inverse else { return }
      overlay.change { changes in
        let target = LinkKey(link: inverse, owner: owner)
        for (place, key) in keys.enumerated() {
          changes.links.setPlace(Int64(place), of: key, target)
        }
      }
    }
  }
}
