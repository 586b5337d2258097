extension ManagedObjectContext {
  /// Deletes an object, and what its relationships' delete rules take with it.
  ///
  /// `cascade` deletes the targets, `nullify` unlinks them, `deny` is checked by the save (so that
  /// the targets can be deleted or unlinked after the object, too), `noAction` leaves the links to
  /// be judged by SQLite. Nothing is written before the save.
  /// - Throws: `ContextError` `.foreignContext`, `StoreError` where links cannot be read.
  public func delete(_ object: ManagedObject) throws { _ = try deleteCounting(object) }

  /// Deletes an object as `delete(_:)` does.
  ///
  /// - Returns: How many objects went, by the name of their entity.
  package func deleteCounting(_ object: ManagedObject) throws -> [String: Int] {
    try checkOwn(object, "The object belongs to another context and cannot be deleted here.")
    try checkOpen()
    var counts: [String: Int] = [:]
    try records.whole {
      // A list of work and not a recursion: a chain of cascades may be long.
      var doomed: [(object: ManagedObject, cause: RowKey?)] = [(object, nil)]
      while let (next, cause) = doomed.popLast() {
        if try isDeleted(next) || cause != nil && !isAlive(next) { continue }
        doomed += try unlink(next).map { ($0, next.place) }
        try markDeleted(next, cause)
        counts[next.layout.name, default: 0] += 1
      }
    }
    return counts
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
      case .cascade: doomed += try links.targets(of: link, object)
      case .nullify:
        guard layout.inverse(of: link) != nil else { continue }
        for target in try ownTargets(of: link, object) {
          // What a rule leads to may be gone elsewhere.
          if case .inverseColumn = link.storage, try !isAlive(target) { continue }
          try links.disconnect(link, object, target)
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
    let targets = try links.targets(of: link, object)
    if case .column = link.storage { return targets }
    guard hasChangesAbove else { return targets }
    let (stored, layers) = try links.look(at: link, of: object)
    let own = Set(LinkView(layout, [layers[0]], link, object.place.key).targets(stored))
    return targets.filter { own.contains($0.place.key) }
  }

  private func hasColumnLinks(_ object: ManagedObject) -> Bool {
    !layout.linkColumns[object.place.table].isEmpty
  }

  /// An object that is nowhere but here is gone, and the links with it; one that is stored is deleted
  /// there by the next save.
  private func markDeleted(_ object: ManagedObject, _ cause: RowKey?) throws {
    importing.keys?.remove(object.place, in: self)
    try noteDenials(object)
    while !tryMarkDeleted(object, cause) {}
    notices.delete(object.objectID)
  }

  /// Remembers whom relationships with `deny` lead to from an object that is nowhere but here: once it is gone its links
  /// cannot be read any more, and a record of an import may not delete it, as if the one that made it were stored.
  private func noteDenials(_ object: ManagedObject) throws {
    guard own(object)?.kind == .inserted else { return }
    for link in object.layout.relationships where link.relationship.deleteRule == .deny {
      let targets = try links.targets(of: link, object)
      if targets.isEmpty { continue }
      importing.denials.append(
        ImportMemory.Denial(
          place: importing.log.count,
          root: object.layout.root,
          link: link,
          targets: targets
        )
      )
    }
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
  /// Reads them from the store, for the deleted objects that one may lead to.
  func clearedOwners(_ changes: ChangeSet) throws -> [LinkKey] {
    var owners: [LinkKey] = []
    for link in layout.links where link.relationship.isRequired && link.isStoredByOwner {
      if case .column = link.storage, link.inverse != nil { continue }
      let deleted = changes.rows(in: layout.entities[link.destination].tableIndex)
        .filter { $0.value.kind == .deleted }
      guard !deleted.isEmpty else { continue }
      let found = try read { try $0.owners(of: link, Array(deleted.keys)) }
      owners += found.map { LinkKey(link: link.id, owner: $0) }
    }
    return owners
  }
}
