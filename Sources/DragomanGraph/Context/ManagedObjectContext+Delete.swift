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
    // A list of work and not a recursion: a chain of cascades may be long.
    var doomed = [object]
    while let next = doomed.popLast() {
      guard !next.isDeleted else { continue }
      doomed += try unlink(next)
      markDeleted(next)
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
        for target in try targets(of: link, object) { try disconnect(link, object, target) }
      case .deny, .noAction: break
      }
    }
    return doomed
  }

  private func hasColumnLinks(_ object: ManagedObject) -> Bool {
    object.layout.relationships.contains { column(of: $0) != nil }
  }

  private func markDeleted(_ object: ManagedObject) {
    keyIndex?.remove(object)
    undoLog?.steps.append(.status(object, object.status))
    setDeleted(object)
    for link in object.layout.relationships {
      let key = LinkKey(link: link.id, owner: object.place.key)
      guard let links = pendingLinks.removeValue(forKey: key) else { continue }
      undoLog?.steps.append(.links(key, links))
      publish(key)
    }
    noteDeletion(of: object)
    publish(object)
  }

  /// An object that is nowhere but here is gone; one that is stored, or being stored, is deleted there
  /// by the next save.
  func setDeleted(_ object: ManagedObject) {
    let isNowhere =
      object.status == .inserted && !(kind == .main && root.mainChanges.isAway(object.place))
    object.status = isNowhere ? .gone : .deleted
    changed[object.place] = isNowhere ? nil : object
  }
}
