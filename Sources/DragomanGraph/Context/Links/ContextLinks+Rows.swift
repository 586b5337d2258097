/// Changing the rows of tables of links, and places in ordered lists.
extension ContextLinks {
  /// The one way in which links are changed: others may store a part of the changes at any moment, and
  /// what was looked at is no truth any more then.
  ///
  /// - Parameter look: Looks, and returns what to change; nil: nothing.
  private func change(
    _ look: () throws -> ((inout LinkRows) -> Void)?
  ) rethrows {
    while true {
      let settles = overlay.settles
      guard let body = try look() else { return }
      if overlay.change(ifSettles: settles, { body(&$0.links) }) { return }
    }
  }

  /// Whether the contexts above alone say where a column leads, and it is not stored so.
  ///
  /// Not of places in ordered lists: which place it is depends on what else is unsaved above.
  package func isOnlyAbove(
    _ link: RelationshipLayout,
    _ object: ManagedObject,
    _ target: ManagedObject? = nil
  ) throws -> Bool {
    guard context.hasChangesAbove else { return false }
    switch link.storage {
    case .column:
      guard let column = layout.column(of: link), column.order == nil, !context.isDeleted(object)
      else { return false }
      try context.fire(object)
      return context.isOnlyAbove(column.column, of: object)
    case .inverseColumn:
      guard let target, let inverse = layout.inverse(of: link) else { return false }
      return try isOnlyAbove(inverse, target, object)
    case .joinTable: return false
    }
  }

  func add(
    _ link: RelationshipLayout,
    _ join: RelationshipLayout.JoinTable,
    _ owner: ManagedObject,
    _ target: ManagedObject
  ) throws {
    let key = LinkKey(link: link.id, owner: owner.place.key)
    let targetKey = target.place.key
    let inverse = join.hasInversePosition ? layout.inverse(of: link) : nil
    try change {
      let list = join.hasPosition ? try newList(link, owner) : nil
      let said =
        list.map { $0.base.contains(targetKey) }
        ?? overlay.read { $0.links.pair(key, targetKey) }
      if said == true, list == nil, !link.relationship.allowsRepeats { return nil }
      let isNew = said != true || link.relationship.allowsRepeats
      let isBack =
        try said == false && !join.hasPosition && isLinkedBeneath(link, key, targetKey)
      let end = isNew ? try inverse.map { try takeEnd(of: $0, target) } : nil
      return { links in
        if let list { links.set(list, key) }
        if !join.hasPosition {
          links.set(isBack ? nil : true, key, targetKey)
        } else if isNew {
          links.append(targetKey, key)
        }
        if let end {
          links.setPlace(end, of: key.owner, LinkKey(link: link.id, owner: targetKey))
        }
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
    try change {
      if join.hasPosition {
        let list = try newList(link, owner)
        return { links in
          if let list { links.set(list, key) }
          links.remove(targetKey, key)
        }
      }
      let said = overlay.read { $0.links.pair(key, targetKey) }
      if said == false { return nil }
      let isNew = context.own(owner)?.kind == .inserted || context.own(target)?.kind == .inserted
      let isThere = try !isNew && (said == nil || isLinkedBeneath(link, key, targetKey))
      return { $0.set(isThere ? false : nil, key, targetKey) }
    }
  }

  /// Where the order or the number of links counts, an owner's rows stand in the changes all together;
  /// nil: they do already.
  private func newList(
    _ link: RelationshipLayout,
    _ owner: ManagedObject
  ) throws -> LinkRows.List? {
    let key = LinkKey(link: link.id, owner: owner.place.key)
    guard overlay.read({ $0.links.lists[key] == nil }) else { return nil }
    let known = try targetKeys(of: link, owner)
    return LinkRows.List(known, over: known, allowsRepeats: link.relationship.allowsRepeats)
  }

  /// The place behind the last one of an ordered list, which is taken with that.
  func takeEnd(of link: RelationshipLayout, _ owner: ManagedObject) throws -> Int64 {
    let key = LinkKey(link: link.id, owner: owner.place.key)
    let end: Int64
    context.linkMemory.check(context.settles)
    if let known = context.linkMemory.ends[key] {
      end = known
    } else {
      let (stored, layers) = try look(at: link, of: owner)
      end = LinkView(layout, layers, link, owner.place.key).end(stored)
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
      try change {
        let known = try targetKeys(of: link, object)
        let isRepeating = link.relationship.allowsRepeats
        let list = LinkRows.List(keys, over: known, allowsRepeats: isRepeating)
        return { $0.set(list, LinkKey(link: link.id, owner: owner)) }
      }
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
