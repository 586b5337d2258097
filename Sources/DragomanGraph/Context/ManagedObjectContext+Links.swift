import GRDB

extension ManagedObjectContext {
  /// The relationship of that name.
  func link(
    _ name: String,
    of object: ManagedObject,
    isToOne: Bool
  ) throws -> RelationshipLayout {
    var slot = object.layout.linkSlot(named: name)
    if slot == nil, case .fault = object.content, object.layout.hasEntityColumn {
      try fire(object)
      slot = object.layout.linkSlot(named: name)
    }
    guard let slot else { throw unknownProperty(name, of: object.layout, "relationship") }
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
    for (index, key) in keys.enumerated() {
      let place = RowKey(table: entity.tableIndex, key: key)
      if goneRows.contains(place) { continue }
      let target = try register(place, entity)
      if case .fault(nil) = target.content {
        target.content = .fault(batches[index / FaultBatch.size])
      }
      if !target.isDeleted { targets.append(target) }
    }
    return targets
  }

  /// The `_pk` of the objects that a relationship leads to; deleted ones may be among them.
  package func targetKeys(of link: RelationshipLayout, _ object: ManagedObject) throws -> [Int64] {
    if let column = column(of: link) {
      return try object.value(column).integer.map { [$0] } ?? []
    }
    let base = try knownTargets(of: link, object)
    let key = LinkKey(link: link.id, owner: object.place.key)
    return pendingLinks[key]?.applied(to: base) ?? base
  }

  /// The column of a to-one in the table of its owner.
  package func column(of link: RelationshipLayout) -> Int? {
    guard case .column = link.storage else { return nil }
    let owner = layout.entities[link.owner]
    guard let slot = owner.linkSlot(named: link.name) else { return nil }
    return owner.linkColumns[slot]
  }

  /// The targets as the contexts above see them.
  private func knownTargets(
    of link: RelationshipLayout,
    _ object: ManagedObject
  ) throws -> [Int64] {
    if object.targetsRound != linkRound {
      object.targets = [:]
      object.targetsRound = linkRound
    }
    if let known = object.targets[link.id] { return known }
    var keys: [Int64] = []
    if object.status != .inserted { keys = try storedTargets(of: link, object.place.key) }
    keys = targetsBeneath(LinkKey(link: link.id, owner: object.place.key), keys)
    object.targets[link.id] = keys
    return keys
  }

  /// The changes of the contexts above, from main down.
  private func targetsBeneath(_ key: LinkKey, _ stored: [Int64]) -> [Int64] {
    guard let parent else {
      if kind == .main { return stored }
      return root.mainChanges.links(key)?.applied(to: stored) ?? stored
    }
    let above = parent.targetsBeneath(key, stored)
    return parent.pendingLinks[key]?.applied(to: above) ?? above
  }

  /// Runs `SELECT … FROM` the target's table or the table of links, by the owner's key.
  private func storedTargets(of link: RelationshipLayout, _ owner: Int64) throws -> [Int64] {
    let sql: String
    switch link.storage {
    case .column: return []
    case .inverseColumn(let column, let order):
      let table = Schema.quoted(layout.entities[link.destination].table)
      let first = order.map { "\(Schema.quoted($0)) IS NULL, \(Schema.quoted($0)), " } ?? ""
      sql = "SELECT _pk FROM \(table) WHERE \(Schema.quoted(column)) = ?1 ORDER BY \(first)_pk"
    case .joinTable(let join, isOwner: true):
      let order = join.hasPosition ? "position" : "target"
      sql = "SELECT target FROM \(Schema.quoted(join.name)) WHERE owner = ?1 ORDER BY \(order)"
    case .joinTable(let join, isOwner: false):
      let order =
        join.hasInversePosition ? "inverse_position IS NULL, inverse_position, owner" : "owner"
      sql =
        "SELECT DISTINCT owner FROM \(Schema.quoted(join.name)) WHERE target = ?1 ORDER BY \(order)"
    }
    return try read { database in
      let statement = try RawStatement(sql, in: database)
      statement.bind(integer: owner, 1)
      var keys: [Int64] = []
      try statement.forEachRow { keys.append(columnInteger($0, 0)) }
      return keys
    }
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
      if known === targets.first { return try clearDangling(link, object, unless: known) }
      if let known { try disconnect(link, object, known) }
      if let target = targets.first { try connect(link, object, target) }
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
    for target in known where !wanted.contains(target.place.key) {
      try disconnect(link, object, target)
    }
    for target in list where !old.contains(target.place.key) {
      try connect(link, object, target)
    }
    if link.isListed { try setOrder(list.map(\.place.key), of: link, object) }
  }

  /// A to-one that leads to a deleted object is null to its readers: make it so.
  private func clearDangling(
    _ link: RelationshipLayout,
    _ object: ManagedObject,
    unless target: ManagedObject?
  ) throws {
    guard target == nil, let column = column(of: link),
      let key = try object.value(column).integer
    else { return }
    try set(.null, column: column, of: object)
    let place = RowKey(table: layout.entities[link.destination].tableIndex, key: key)
    if let inverse = layout.inverse(of: link), let deleted = registered(place) {
      edit(inverse, deleted, .remove, object)
    }
  }

  private func check(
    _ target: ManagedObject,
    for link: RelationshipLayout,
    of object: ManagedObject
  ) throws {
    guard target.context === self else {
      throw ContextError(
        .foreignContext,
        "\(object.layout.name).\(link.name) cannot lead to an object of another context.",
        object: target.objectID,
        help: "look the object up in this context: context.object(with: id)"
      )
    }
    guard !target.isDeleted else {
      throw ContextError(
        .deleted,
        "\(object.layout.name).\(link.name) cannot lead to \(target.layout.name)"
          + " \(target.place.key), which was deleted.",
        object: target.objectID
      )
    }
    let family = layout.entities[link.destination].family
    if !family.contains(target.layout.index) { try fire(target) }
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
    try checkOpen()
    switch link.storage {
    case .column:
      guard let column = column(of: link) else { return }
      let inverse = layout.inverse(of: link)
      if let inverse {
        if let known = try targets(of: link, object).first, known !== target {
          try disconnect(link, object, known)
        }
        // A one-to-one takes its target away from whoever had it.
        if inverse.isToOne, let other = try targets(of: inverse, target).first, other !== object {
          try disconnect(inverse, target, other)
        }
      }
      guard try object.value(column) != .integer(target.place.key) else { return }
      if let inverse { try load(inverse, target) }
      try set(.integer(target.place.key), column: column, of: object)
      if let inverse { edit(inverse, target, .add, object) }
    case .inverseColumn:
      guard let inverse = layout.inverse(of: link) else { return }
      if link.isToOne, let known = try targets(of: link, object).first, known !== target {
        try disconnect(link, object, known)
      }
      try connect(inverse, target, object)
    case .joinTable:
      let inverse = layout.inverse(of: link)
      try load(link, object)
      if let inverse { try load(inverse, target) }
      if link.isListed, !link.relationship.allowsRepeats {
        let key = LinkKey(link: link.id, owner: object.place.key)
        guard pendingLinks[key]?.holds(target.place.key) != true else { return }
      }
      edit(link, object, .add, target)
      if let inverse, inverse.id != link.id || target !== object {
        edit(inverse, target, .add, object)
      }
      touchOwner(of: link, object, target)
    }
  }

  /// Unlinks two objects, on both sides.
  package func disconnect(
    _ link: RelationshipLayout,
    _ object: ManagedObject,
    _ target: ManagedObject
  ) throws {
    try checkOpen()
    switch link.storage {
    case .column:
      guard let column = column(of: link),
        try object.value(column) == .integer(target.place.key)
      else { return }
      let inverse = layout.inverse(of: link)
      if let inverse { try load(inverse, target) }
      try set(.null, column: column, of: object)
      if let inverse { edit(inverse, target, .remove, object) }
    case .inverseColumn:
      guard let inverse = layout.inverse(of: link) else { return }
      try disconnect(inverse, target, object)
    case .joinTable:
      let inverse = layout.inverse(of: link)
      try load(link, object)
      if let inverse { try load(inverse, target) }
      edit(link, object, .remove, target)
      if let inverse, inverse.id != link.id || target !== object {
        edit(inverse, target, .remove, object)
      }
      touchOwner(of: link, object, target)
    }
  }

  /// An ordered list is changed as a whole: it has to be here first.
  private func load(_ link: RelationshipLayout, _ owner: ManagedObject) throws {
    guard link.isListed, !owner.isDeleted else { return }
    let key = LinkKey(link: link.id, owner: owner.place.key)
    guard pendingLinks[key]?.isList != true else { return }
    undoLog?.steps.append(.links(key, pendingLinks[key]))
    pendingLinks[key] = PendingLinks(list: try targetKeys(of: link, owner))
  }

  /// Adds or removes one target.
  ///
  /// What was there before is not copied, neither to undo it nor for others to read: the cost does not
  /// depend on how many targets there are.
  private func edit(
    _ link: RelationshipLayout,
    _ owner: ManagedObject,
    _ change: PendingLinks.Change,
    _ target: ManagedObject
  ) {
    guard column(of: link) == nil else { return }
    let key = LinkKey(link: link.id, owner: owner.place.key)
    let keepsReturns = kind == .main && root.mainChanges.isAway(key)
    let undo = pendingLinks[key]?.mark(change, target.place.key)
    let before = pendingLinks[key]?.signature
    pendingLinks[key, default: PendingLinks()].make(change, target.place.key, keepsReturns)
    undoLog?.steps.append(undo.map { .link(key, $0) } ?? .links(key, nil))
    noteChange(of: owner, link.name)
    guard kind == .main else { return }
    let isDone = root.mainChanges.make(change, target.place.key, keepsReturns, key, from: before)
    if !isDone { publish(key) }
  }

  private func setOrder(
    _ keys: [Int64],
    of link: RelationshipLayout,
    _ object: ManagedObject
  ) throws {
    let key = LinkKey(link: link.id, owner: object.place.key)
    guard try targetKeys(of: link, object) != keys else { return }
    undoLog?.steps.append(.links(key, pendingLinks[key]))
    pendingLinks[key] = PendingLinks(list: keys)
    noteChange(of: object, link.name)
    publish(key)
    if case .joinTable = link.storage {
      undoLog?.steps.append(.status(object, object.status))
      touch(object)
      publish(object)
    }
  }

  /// The row of the side that owns the table of links gets a new version.
  private func touchOwner(
    of link: RelationshipLayout,
    _ object: ManagedObject,
    _ target: ManagedObject
  ) {
    guard case .joinTable(_, let isOwner) = link.storage else { return }
    let owner = isOwner ? object : target
    guard !owner.isDeleted else { return }
    tryFire(owner)
    undoLog?.steps.append(.status(owner, owner.status))
    touch(owner)
    publish(owner)
  }
}

extension RelationshipLayout {
  /// Whether links are changed as a whole list, because their order or number counts.
  var isListed: Bool {
    !isToOne && (relationship.isOrdered || relationship.allowsRepeats)
  }
}
