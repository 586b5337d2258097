extension ManagedObjectContext {
  /// What relationships of its objects lead to, and how that is changed.
  package var links: ContextLinks { ContextLinks(context: self) }
}

/// The links of a context's objects: what is stored, with everything unsaved here and above.
package struct ContextLinks {
  let context: ManagedObjectContext

  var layout: ModelLayout { context.layout }
  var overlay: Overlay { context.overlay }

  /// The relationship of that name.
  func link(
    _ name: String,
    of object: ManagedObject,
    isToOne: Bool
  ) throws -> RelationshipLayout {
    var slot = object.layout.linkSlot(named: name)
    if slot == nil, case .fault = object.content, object.layout.hasEntityColumn {
      try context.fire(object)
      slot = object.layout.linkSlot(named: name)
    }
    guard let slot else { throw context.unknownProperty(name, of: object.layout, "relationship") }
    let link = object.layout.relationships[slot]
    guard link.isToOne == isToOne else {
      throw ContextError(
        .type,
        "\(object.layout.name).\(name) is \(link.isToOne ? "a to-one" : "a to-many").",
        object: object.objectID,
        help: link.isToOne ? "use object[one: \"\(name)\"]" : "use object[many: \"\(name)\"]"
      )
    }
    return link
  }

  /// The objects that a relationship leads to, without those deleted.
  package func targets(of link: RelationshipLayout, _ object: ManagedObject) throws
    -> [ManagedObject]
  {
    let keys = try targetKeys(of: link, object)
    guard !keys.isEmpty else { return [] }
    let entity = layout.entities[link.destination]
    var targets: [ManagedObject] = []
    targets.reserveCapacity(keys.count)
    let batches = FaultBatch.batches(of: keys)
    let mayBeGone =
      !context.linkMemory.goneRows.isEmpty
      || context.layers.contains { $0.hasRows(in: entity.tableIndex) }
    for (index, key) in keys.enumerated() {
      let place = RowKey(table: entity.tableIndex, key: key)
      if mayBeGone, context.isDeleted(place) { continue }
      let target = try context.register(place, entity)
      if case .fault(nil) = target.content {
        target.content = .fault(batches[index / FaultBatch.size])
      }
      if !target.isDeleted { targets.append(target) }
    }
    return targets
  }

  /// The column of a to-one in the table of its owner.
  package func column(of link: RelationshipLayout) -> Int? { layout.column(of: link)?.column }

  /// The `_pk` of the objects that a relationship leads to; deleted ones may be among them.
  package func targetKeys(of link: RelationshipLayout, _ object: ManagedObject) throws -> [Int64] {
    if let column = column(of: link) {
      return try object.value(column).integer.map { [$0] } ?? []
    }
    let (stored, layers) = try look(at: link, of: object)
    if layers.allSatisfy(\.isEmpty) { return stored.keys }
    return LinkView(layout, layers, link, object.place.key).targets(stored)
  }

  /// The objects among some of which something is stored or unsaved that a to-one may lead to: one look for all.
  ///
  /// - Throws: What reading throws.
  package func mayHaveTargets(
    of link: RelationshipLayout,
    _ owners: [Int64]
  ) throws -> Set<Int64> {
    let table = layout.entities[link.owner].tableIndex
    while true {
      let settles = context.settles
      let stored = try context.read { try $0.targets(of: link, owners) }
      let layers = context.layers
      guard context.settles == settles else { continue }
      return Set(
        owners.filter { owner in
          stored[owner] != nil
            || layers.contains { changes in
              guard let inverse = link.inverse, case .inverseColumn = link.storage else {
                return changes[RowKey(table: table, key: owner)] != nil
              }
              return changes.touched[LinkKey(link: inverse, owner: owner)] != nil
            }
        }
      )
    }
  }

  /// What is stored of a to-many and what is unsaved, the nearest first, of one moment.
  ///
  /// Others may store a part of the changes at any moment, and then it is no more among these: what was read before
  /// does not have it either.
  func look(
    at link: RelationshipLayout,
    of object: ManagedObject
  ) throws -> (stored: StoredTargets, layers: [ChangeSet]) {
    while true {
      let settles = context.settles
      let stored = try storedTargets(of: link, object)
      let layers = context.layers
      if context.settles == settles { return (stored, layers) }
    }
  }

  /// Whether what a to-many leads to is changed here.
  func hasChangedTargets(of link: RelationshipLayout, _ object: ManagedObject) -> Bool {
    let key = object.place.key
    return overlay.read { changes in
      switch link.storage {
      case .column: false
      case .inverseColumn:
        link.inverse.map { changes.touched[LinkKey(link: $0, owner: key)] != nil } ?? false
      case .joinTable(_, isOwner: true):
        changes.links.has(owner: LinkKey(link: link.id, owner: key))
      case .joinTable(_, isOwner: false):
        link.inverse.map { changes.links.has(target: LinkKey(link: $0, owner: key)) } ?? false
      }
    }
  }

  /// The targets in the store; read once, until links are stored again.
  private func storedTargets(
    of link: RelationshipLayout,
    _ object: ManagedObject
  ) throws -> StoredTargets {
    if context.own(object)?.kind == .inserted { return StoredTargets() }
    context.linkMemory.check(context.settles)
    if object.targetsRound != context.linkMemory.round {
      object.targets = [:]
      object.targetsRound = context.linkMemory.round
    }
    if let known = object.targets[link.id] { return known }
    if case .column = link.storage { return StoredTargets() }
    let owner = object.place.key
    let found = try context.read { try $0.targets(of: link, [owner])[owner] } ?? StoredTargets()
    object.targets[link.id] = found
    return found
  }

  /// Whether a link without a place is there beneath this context's changes.
  func isLinkedBeneath(
    _ link: RelationshipLayout,
    _ owner: LinkKey,
    _ target: Int64
  ) throws -> Bool {
    for changes in context.upper {
      if let isThere = changes.links.pair(owner, target) { return isThere }
    }
    return try context.read { try !$0.targets(of: link, owner.owner, among: [target]).isEmpty }
  }

  /// The owners, by each relationship, of links that are unsaved above and go once changes are merged:
  /// these changes, compared with what is stored, do not name them.
  func endsAbove(_ changes: ChangeSet) -> Set<LinkKey> {
    let upper = context.upper.filter { !$0.isEmpty }
    var ends: Set<LinkKey> = []
    if upper.isEmpty { return ends }
    for (place, change) in changes.sorted {
      for column in layout.linkColumns[place.table] {
        guard change.kind == .deleted || change.values[column.column] != nil,
          let inverse = layout.links[column.link].inverse,
          let owner = context.changeAbove(place)?.value(column.column)?.integer
        else { continue }
        ends.insert(LinkKey(link: inverse, owner: owner))
      }
      guard change.kind == .deleted else { continue }
      for link in layout.links where link.isStoredByOwner {
        for layer in upper { ends.formUnion(layer.ends(of: link, at: place, layout)) }
      }
    }
    return ends
  }

  // MARK: - Changing

  /// Makes a relationship lead to exactly these objects.
  package func assign(
    _ targets: [ManagedObject],
    to link: RelationshipLayout,
    _ object: ManagedObject
  ) throws {
    for target in targets { try check(target, for: link, of: object) }
    if link.isToOne {
      let known = try self.targets(of: link, object).first
      if known === targets.first {
        guard try isOnlyAbove(link, object, known) else {
          return try clearDangling(link, object, unless: known)
        }
        if let known { try connect(link, object, known) } else { try clear(link, object) }
        return
      }
      try context.records.whole {
        if let known { try disconnect(link, object, known) }
        if let target = targets.first { try connect(link, object, target) }
      }
      return
    }
    var list = targets
    if !link.relationship.allowsRepeats {
      var seen: Set<Int64> = []
      list = targets.filter { seen.insert($0.place.key).inserted }
    }
    let wanted = Set(list.map(\.place.key))
    let known = try self.targets(of: link, object)
    let old = Set(known.map(\.place.key))
    try context.records.whole {
      for target in known where !wanted.contains(target.place.key) {
        try disconnect(link, object, target)
      }
      for target in list {
        let isNew = try !old.contains(target.place.key) || isOnlyAbove(link, object, target)
        if isNew { try connect(link, object, target) }
      }
      if link.isListed { try setOrder(list.map(\.place.key), of: link, object) }
    }
  }

  /// Clears the column of a to-one, and the place in the list that the object was in.
  private func clear(_ link: RelationshipLayout, _ object: ManagedObject) throws {
    guard let column = layout.column(of: link) else { return }
    try context.set(.null, column: column.column, of: object)
    if let order = column.order { try context.set(.null, column: order, of: object) }
  }

  /// A to-one that leads to a deleted object is null to its readers: make it so.
  private func clearDangling(
    _ link: RelationshipLayout,
    _ object: ManagedObject,
    unless target: ManagedObject?
  ) throws {
    guard target == nil, let column = column(of: link), try object.value(column) != .null
    else { return }
    try clear(link, object)
  }

  private func check(
    _ target: ManagedObject,
    for link: RelationshipLayout,
    of object: ManagedObject
  ) throws {
    try context.checkOwn(
      target,
      "\(object.layout.name).\(link.name) cannot lead to an object of another context."
    )
    guard !context.isDeleted(target) else {
      throw ContextError(
        .deleted,
        "\(object.layout.name).\(link.name) cannot lead to \(target.layout.name)"
          + " \(target.place.key), which was deleted.",
        object: target.objectID
      )
    }
    try checkEntity(of: target, for: link, of: object)
  }

  /// Refuses an object of an entity that a relationship does not lead to.
  func checkEntity(
    of target: ManagedObject,
    for link: RelationshipLayout,
    of object: ManagedObject
  ) throws {
    let family = layout.entities[link.destination].family
    // What a fault is an object of is not known for sure, unless every object of its table will do.
    let isAny = layout.entities[link.destination].root == link.destination
    if !isAny || !family.contains(target.layout.index) { try context.fire(target) }
    guard family.contains(target.layout.index) else {
      throw ContextError(
        .type,
        "\(object.layout.name).\(link.name) leads to \(layout.entities[link.destination].name), not"
          + " to \(target.layout.name).",
        object: target.objectID
      )
    }
  }

  /// Links two objects, on both sides.
  package func connect(
    _ link: RelationshipLayout,
    _ object: ManagedObject,
    _ target: ManagedObject
  ) throws {
    try check(target, for: link, of: object)
    try context.checkOpen()
    switch link.storage {
    case .column:
      guard let column = layout.column(of: link) else { return }
      let inverse = layout.inverse(of: link)
      if let inverse {
        if let known = try targets(of: link, object).first, known !== target {
          context.notices.change(known.objectID, inverse.name)
        }
        // A one-to-one takes its target away from whoever had it.
        if inverse.isToOne, let other = try targets(of: inverse, target).first, other !== object {
          try disconnect(inverse, target, other)
        }
      }
      let isThere = try object.value(column.column) == .integer(target.place.key)
      guard try !isThere || isOnlyAbove(link, object, target) else { return }
      let end = try column.order.flatMap { _ in try inverse.map { try takeEnd(of: $0, target) } }
      try context.set(.integer(target.place.key), column: column.column, of: object)
      if let order = column.order, let end {
        try context.set(.integer(end), column: order, of: object)
      }
      if let inverse { context.notices.change(target.objectID, inverse.name) }
    case .inverseColumn:
      guard let inverse = layout.inverse(of: link) else { return }
      if link.isToOne, let known = try targets(of: link, object).first, known !== target {
        try disconnect(link, object, known)
      }
      try connect(inverse, target, object)
    case .joinTable(let join, let isOwner):
      let inverse = layout.inverse(of: link)
      if isOwner {
        try add(link, join, object, target)
        if join.isSymmetric, target !== object { try add(link, join, target, object) }
      } else if let inverse {
        try add(inverse, join, target, object)
      }
      noteLink(link, inverse, object, target)
      try touchOwner(of: link, object, target)
    }
  }

  /// Unlinks two objects, on both sides.
  package func disconnect(
    _ link: RelationshipLayout,
    _ object: ManagedObject,
    _ target: ManagedObject
  ) throws {
    try context.checkOpen()
    switch link.storage {
    case .column:
      guard let column = column(of: link),
        try object.value(column) == .integer(target.place.key)
      else { return }
      try clear(link, object)
      if let inverse = layout.inverse(of: link) {
        context.notices.change(target.objectID, inverse.name)
      }
    case .inverseColumn:
      guard let inverse = layout.inverse(of: link) else { return }
      try disconnect(inverse, target, object)
    case .joinTable(let join, let isOwner):
      let inverse = layout.inverse(of: link)
      if isOwner {
        try remove(link, join, object, target)
        if join.isSymmetric, target !== object { try remove(link, join, target, object) }
      } else if let inverse {
        try remove(inverse, join, target, object)
      }
      noteLink(link, inverse, object, target)
      try touchOwner(of: link, object, target)
    }
  }

  private func noteLink(
    _ link: RelationshipLayout,
    _ inverse: RelationshipLayout?,
    _ object: ManagedObject,
    _ target: ManagedObject
  ) {
    context.notices.change(object.objectID, link.name)
    if let inverse, inverse.id != link.id || target !== object {
      context.notices.change(target.objectID, inverse.name)
    }
  }

  /// The row of the side that owns the table of links gets a new version.
  private func touchOwner(
    of link: RelationshipLayout,
    _ object: ManagedObject,
    _ target: ManagedObject
  ) throws {
    guard case .joinTable(_, let isOwner) = link.storage else { return }
    let owner = isOwner ? object : target
    guard !context.isDeleted(owner) else { return }
    context.tryFire(owner)
    if context.hasOwnLinks(owner) { context.touch(owner) } else { context.untouch(owner) }
  }
}

extension RelationshipLayout {
  /// Whether links are changed as a whole list, because their order or number counts.
  var isListed: Bool {
    !isToOne && (relationship.isOrdered || relationship.allowsRepeats)
  }
}
