extension ManagedObjectContext {
  /// Deletes an object, and what its relationships' delete rules take with it.
  ///
  /// `cascade` deletes the targets, `nullify` unlinks them, `deny` is checked by the save (so that
  /// the targets can be deleted or unlinked after the object, too), `noAction` leaves the links to
  /// be judged by SQLite. Nothing is written before the save.
  /// - Throws: `ContextError` `.foreignContext`, `StoreError` where links cannot be read.
  public func delete(_ object: ManagedObject) throws {
    guard object.context === self else {
      throw ContextError(
        .foreignContext,
        "The object belongs to another context and cannot be deleted here.",
        object: object.objectID,
        help: "look the object up in this context: context.object(with: id)"
      )
    }
    try checkOpen()
    try whole {
      // A list of work and not a recursion: a chain of cascades may be long.
      var doomed: [(object: ManagedObject, cause: RowKey?)] = [(object, nil)]
      while let (next, cause) = doomed.popLast() {
        if try isDeleted(next) || cause != nil && !isAlive(next) { continue }
        doomed += try unlink(next).map { ($0, next.place) }
        markDeleted(next, cause)
      }
    }
  }

  /// Deletes the objects of a request, with their delete rules, and returns how many there were.
  ///
  /// - Throws: as `fetch(_:)` and `delete(_:)`.
  @discardableResult
  public func deleteAll(_ request: FetchRequest) throws -> Int {
    var request = request
    request.returnsFaults = true
    let objects = try fetch(request)
    for object in objects { try delete(object) }
    return objects.count
  }

  /// Applies the delete rules of an object that is about to go; returns what goes with it.
  private func unlink(_ object: ManagedObject) throws -> [ManagedObject] {
    var doomed: [ManagedObject] = []
    if case .fault = object.content, object.layout.hasEntityColumn || hasColumnLinks(object) {
      try fire(object)
    }
    for link in object.layout.relationships {
      let rule = link.relationship.deleteRule
      switch rule {
      case .cascade: doomed += try targets(of: link, object)
      case .nullify:
        guard layout.inverse(of: link) != nil else { continue }
        for target in try ownTargets(of: link, object) {
          // What a rule leads to may be gone elsewhere.
          if case .inverseColumn = link.storage, try !isAlive(target) { continue }
          try disconnect(link, object, target)
        }
      case .deny, .noAction: break
      }
    }
    return doomed
  }

  /// The targets that are linked here or in the store: links that are unsaved above stay there, and go
  /// with the object once its deletion is stored.
  private func ownTargets(
    of link: RelationshipLayout,
    _ object: ManagedObject
  ) throws -> [ManagedObject] {
    let targets = try targets(of: link, object)
    if case .column = link.storage { return targets }
    guard hasChangesAbove else { return targets }
    let stored = try storedTargets(of: link, object)
    let own = Set(
      LinkView(layout, [overlay.changes], link, object.place.key).targets(stored)
    )
    return targets.filter { own.contains($0.place.key) }
  }

  private func hasColumnLinks(_ object: ManagedObject) -> Bool {
    !layout.linkColumns[object.place.table].isEmpty
  }

  /// An object that is nowhere but here is gone, and the links with it; one that is stored is deleted
  /// there by the next save.
  private func markDeleted(_ object: ManagedObject, _ cause: RowKey?) {
    importing.keys?.remove(object.place, in: self)
    while !tryMarkDeleted(object, cause) {}
    noteDeletion(of: object)
  }

  /// Marks an object as deleted, unless somebody has stored a part of the changes meanwhile.
  private func tryMarkDeleted(_ object: ManagedObject, _ cause: RowKey?) -> Bool {
    let place = object.place
    let settles = overlay.settles
    let own = own(object)
    if let own, own.kind == .inserted {
      var cleared: [RowKey] = []
      let isGone = overlay.change(ifSettles: settles) { [layout] changes in
        changes.set(nil, at: place, layout)
        cleared = changes.dropLinks(of: place, layout)
      }
      guard isGone else { return false }
      let buffer = RowBuffer(columnCount: layout.tables[place.table].columns.count, capacity: 1)
      buffer.append(own.row, changes: own.values)
      object.content = .row(RowPlace(buffer: buffer, row: 0))
      log(place, isDeletion: true)
      object.status = .gone
      didClear(cleared)
    } else {
      var change = own ?? RowChange(.deleted, object.layout.index, version: object.version)
      change.kind = .deleted
      if case .row(let row) = object.content { change.row = row }
      guard put(change, object, ifSettles: settles) else { return false }
      if let cause { overlay.change { $0.note(cause, for: place) } }
    }
    return true
  }

  /// To-ones of these rows were cleared, since what they led to is gone.
  func didClear(_ places: [RowKey]) {
    for place in places { log(place) }
    follow(places)
  }

  /// The owners of required relationships whose stored links go with a deletion that no inverse tells of.
  ///
  /// Runs `SELECT` over the column or the table of links, for each deleted object that one may lead to.
  func clearedOwners(_ changes: ChangeSet) throws -> [LinkKey] {
    var owners: [LinkKey] = []
    for link in layout.links where link.relationship.isRequired {
      let sql: String
      switch link.storage {
      case .column(let column) where link.inverse == nil:
        let table = Schema.quoted(layout.entities[link.owner].table)
        sql = "SELECT _pk FROM \(table) WHERE \(Schema.quoted(column)) = ?1"
      case .joinTable(let join, isOwner: true):
        sql = "SELECT owner FROM \(Schema.quoted(join.name)) WHERE target = ?1"
      default: continue
      }
      let deleted = changes.rows(in: layout.entities[link.destination].tableIndex)
        .filter { $0.value.kind == .deleted }
      guard !deleted.isEmpty else { continue }
      try read { database in
        let statement = try RawStatement(sql, in: database)
        for key in deleted.keys.sorted() {
          statement.bind(integer: key, 1)
          try statement.forEachRow { row in
            owners.append(LinkKey(link: link.id, owner: columnInteger(row, 0)))
          }
        }
      }
    }
    return owners
  }
}
