import DragomanGraph

/// Of which objects a record speaks, and which it needs.
extension DraftBatch {
  /// The targets that a record needs, nested records included.
  ///
  /// - Parameters:
  ///   - object: The record's object.
  ///   - plan: The plan of the batch.
  ///   - all: Whether those count, too, that are part of an identity: they are needed in the end, but the
  ///     row itself finds out.
  ///   - isMissing: Which of them are wanted, by their keys.
  /// - Returns: Those that are.
  /// - Throws: What `isMissing` throws.
  func needs(
    of object: Int,
    _ plan: ImportPlan,
    all: Bool,
    where isMissing: (KeyReference, [StoredValue]) throws -> Bool
  ) rethrows -> [HeldRecords.Need] {
    var found: [HeldRecords.Need] = []
    let arena = UnsafeRawBufferPointer(records.arena)
    for index in object..<objects[object].end {
      let draft = objects[index]
      let entity = plan.entities[draft.plan]
      for link in links[draft.links] {
        let linkPlan = entity.links[link.slot]
        let isIdentity = all && entity.isIdentity(linkPlan)
        guard linkPlan.onUnresolved == .reject || isIdentity,
          let reference = linkPlan.reference
        else { continue }
        for place in link.targets {
          guard case .key(let start, _) = targets[place] else { continue }
          let columns = reference.columns
          let values = columns.indices.map { self.values[start + $0].stored(in: arena) }
          guard try isMissing(reference, values) else { continue }
          found.append(
            HeldRecords.Need(
              key: plan.key(of: reference.entity, names: columns.map(\.name), values),
              link: linkPlan,
              reference: reference,
              values: values,
              isIdentity: isIdentity,
              owner: index - object
            )
          )
        }
      }
    }
    return found
  }

  /// Whether a record deletes what one of its lists has lost.
  func deletesUnlinked(by object: Int, _ plan: ImportPlan) -> Bool {
    objects[object..<objects[object].end].contains { draft in
      draft.links.contains { plan.entities[draft.plan].links[links[$0].slot].deletesUnlinked }
    }
  }

  /// The keys of the objects that a record speaks of.
  func keys(
    of object: Int,
    isTombstone: Bool,
    _ plan: ImportPlan
  ) -> HeldRecords.Keys {
    var keys = HeldRecords.Keys()
    for index in object..<(isTombstone ? object + 1 : objects[object].end) {
      let draft = objects[index]
      let entity = plan.entities[draft.plan]
      for (number, unique) in entity.layout.uniqueKeys.enumerated() {
        let values = unique.map { value(of: $0, of: index, plan) }
        var unknown = unique.indices.filter { values[$0] == nil }
        // Of another key than its identity an object may have a part, or get it by a default.
        unknown.removeAll { !plan.tells(unique[$0], of: entity.layout) }
        // What is known as one of the parent becomes one of its own entity.
        let isSub = entity.layout.index != entity.layout.root
        let isPartial = number > 0 && (isSub || unknown.count < unique.count)
        guard unknown.isEmpty || isPartial else { continue }
        let key = plan.key(
          of: entity.layout,
          names: unique.map(\.name),
          values.map { $0 ?? .null }
        )
        if !isTombstone {
          keys.made.append(.init(key: key, entity: entity.layout.index, unknown: unknown))
        }
        guard number == 0 else { continue }
        if index == object {
          keys.own = key
        } else {
          keys.nested.append((key, saysMore(than: unique, draft, entity)))
        }
      }
    }
    return keys
  }

  /// The identity that a record gives its own object, as references have it; nil: not all of it, or only the store
  /// knows whose it is.
  func identity(of object: Int, _ plan: ImportPlan) -> [StoredValue]? {
    let layout = plan.entities[objects[object].plan].layout
    guard let key = layout.uniqueKeys.first, key.allSatisfy({ plan.tells($0, of: layout) }) else {
      return nil
    }
    let values = key.compactMap { value(of: $0, of: object, plan) }
    return values.count == key.count ? values : nil
  }

  /// Whether a draft gives more than the key.
  private func saysMore(
    than key: [EntityLayout.KeyPart],
    _ draft: DraftBatch.Object,
    _ entity: EntityPlan
  ) -> Bool {
    entity.slots.indices.contains {
      !entity.slots[$0].isKey && values[draft.start + $0].kind != .absent
    } || draft.links.contains { !entity.isIdentity(entity.links[links[$0].slot]) }
  }

  /// The value of a part of a key that a draft gives, as references have it; nil: it gives none.
  private func value(
    of part: EntityLayout.KeyPart,
    of index: Int,
    _ plan: ImportPlan,
    depth: Int = 0
  ) -> StoredValue? {
    let draft = objects[index]
    let entity = plan.entities[draft.plan]
    let arena = UnsafeRawBufferPointer(records.arena)
    let isNamed = { (name: String) in name.utf8.elementsEqual(part.name.utf8) }
    guard case .relationship = part.property else {
      guard let slot = entity.slots.firstIndex(where: { isNamed($0.attribute.name) }) else {
        return nil
      }
      let value = values[draft.start + slot]
      return value.kind == .absent || value.kind == .null ? nil : value.stored(in: arena)
    }
    /// The identity of another object of the record; a chain that leads back to itself has no end.
    func identity(of other: Int) -> StoredValue? {
      guard let key = plan.entities[objects[other].plan].layout.uniqueKeys.first,
        depth <= plan.entities.count
      else { return nil }
      return Self.joined(key.map { value(of: $0, of: other, plan, depth: depth + 1) })
    }
    for link in draft.links.map({ links[$0] }) where isNamed(entity.links[link.slot].name) {
      guard let first = link.targets.first else { return nil }
      switch targets[first] {
      case .object(let nested): return identity(of: nested)
      case .key(let start, _):
        guard let count = entity.links[link.slot].reference?.columns.count else { return nil }
        return Self.joined(values[start..<start + count].map { $0.stored(in: arena) })
      }
    }
    // It may be the object that this one is nested in.
    guard draft.parent >= 0 else { return nil }
    let parent = objects[draft.parent]
    let isNestedBy = parent.links.map { links[$0] }.contains { link in
      let inverse = plan.entities[parent.plan].links[link.slot].layout.relationship.inverse
      return (inverse.map(isNamed) ?? false)
        && link.targets.contains {
          if case .object(index) = targets[$0] { true } else { false }
        }
    }
    return isNestedBy ? identity(of: draft.parent) : nil
  }
}

extension DraftBatch {
  /// The parts of an identity as one value: the only one, or all of them, each with its length.
  private static func joined(_ parts: [StoredValue?]) -> StoredValue? {
    let known = parts.compactMap(\.self)
    guard known.count == parts.count else { return nil }
    if known.count == 1 { return known[0] }
    return .text(known.map(\.text).map { "\($0.utf8.count):\($0)" }.joined())
  }
}

extension ImportPlan {
  /// A key of an object as records are compared by it.
  fileprivate func key(
    of entity: EntityLayout,
    names: [String],
    _ values: [StoredValue]
  ) -> HeldRecords.Key {
    let unique = entity.uniqueKeys.first { key in
      key.count == names.count && zip(key, names).allSatisfy { $0.name.utf8.elementsEqual($1.utf8) }
    }
    let told = zip(values, unique ?? []).map { tells($1, of: entity) ? $0 : .null }
    return HeldRecords.Key(entity, names, told)
  }

  /// Whether a part of a key is what a record says of it.
  ///
  /// A to-one may be named by another key than the identity of its target: then only the store knows whom it leads to.
  fileprivate func tells(_ part: EntityLayout.KeyPart, of entity: EntityLayout) -> Bool {
    guard case .relationship(let slot) = part.property else { return true }
    return !relationshipsByOtherKeys.contains(entity.relationships[slot].id)
  }
}

extension EntityPlan {
  /// Whether a to-one is a part of the identity.
  func isIdentity(_ link: LinkPlan) -> Bool {
    layout.uniqueKeys.first?.contains { $0.name.utf8.elementsEqual(link.name.utf8) } ?? false
  }
}
